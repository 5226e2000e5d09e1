# A client of the Player robot server (appendix B of the manual).
#
#   package require player
#   player::Connect robot localhost 6665
#   player::SetCommandLifetime robot 500   ;# ms: if this script hangs, the robot stops
#   player::Request robot {sonar read position write}
#   while 1 {
#       player::Read robot                 ;# ten times a second
#       if {[lindex $robot(sonar) 3] < 500} {
#           player::SetSpeed robot 0 20    ;# mm/s, deg/s
#       } else {
#           player::SetSpeed robot 100 0
#       }
#   }
#
# A robot is the name of an array variable, global or of a namespace. Its elements have the names of the manual's C++
# interface. Lengths are in mm and angles in degrees; counterclockwise is positive.
#
#   robot(host), robot(port)  the server, "localhost" and 6665 unless set or given to Connect
#   robot(timeout)            limit of each call that waits, ms, 60000 unless set; 0 for none
#   robot(tls,authority)      file, PEM: if it is set and not "", connections are encrypted, and only servers with a
#                             certificate of this authority are trusted. It needs Tcl's package tls
#   robot(tls,certificate), robot(tls,key)  files, PEM: this client's identity; unset or "" for nothing
#   robot(tls,server)         the name in the server's certificate; unset or "" for the host
#   robot(position,...)       time ms, xpos mm, ypos mm, heading deg 0..359, speed mm/s, turnrate deg/s,
#                             compass deg 0..359, stalls 0 if none
#   robot(sonar)              list of 16 ranges in mm: 0 front left, clockwise, 7 front right, 8 rear right, 15 rear
#                             left; a range of 0 is missing
#   robot(laser)              list of 361 ranges in mm, every half degree from the right counterclockwise to the left
#   robot(misc,...)           frontbumpers, rearbumpers: lowest five bits; voltage, battery dV: one value, two names
#   robot(gripper,...)        paddlesOpen ...: 0 or 1
#   robot(ptz,...)            pan deg, tilt deg, zoom 0..1023
#   robot(vision,NumBlobs)    list of 32 numbers, by channel
#   robot(vision,Blobs)       list of 32 lists of blobs, the largest first; a blob is a dict with area (pixels), x, y,
#                             left, right, top, bottom (pixels from the top left)
#   robot(joystick,...)       buttons: bits; axes: list of 8, -32767..32767
#   robot(server,time)        of the latest round, us since the server started, if device y is read
#
# A device is its name, sonar, imu or laser:1, its letter, or the byte that Open returns; freshness is the server
# itself. Data returns the elements of a device as a dict. Devices without a letter have elements of their names, which
# are there after their first data:
#
#   robot(laser:1), robot(misc:1,...)  like the first device's
#   robot(ranger:0,...)       unit of the ranges, mm; ranges: list, in units, or player::NOTHING_IN_RANGE, or
#                             player::UNKNOWN_RANGE of a reading that was not taken or is no distance
#   robot(imu:0,...)          roll, pitch, yaw: thousandths of a degree; roll_rate, pitch_rate, yaw_rate: thousandths of
#                             a degree each second; x, y, z: mm/s^2 ahead, to the left, up; or player::UNKNOWN
#   robot(gps:0,...)          fix: 0 none, 1 satellites alone, 2 with corrections, 3 and 4 RTK, not settled and settled,
#                             5 estimated, 255 not known; satellites, or 255; latitude, longitude: 1e-7 degrees north
#                             and east; height mm; or player::UNKNOWN; horizontal, vertical: standard deviations, mm;
#                             speed mm/s, course: thousandths of a degree clockwise from north; or
#                             player::UNKNOWN_AMOUNT; time: ms of UTC since 1970, 0 if not known
#   robot(io:0,values)        list of the values of inputs and outputs, in their units, or player::UNKNOWN
#   robot(servo:0,joints)     list of dicts with position, goal, in the units of the joints, or player::UNKNOWN, and
#                             state: bit 0 it moves, 1 it has power, 2 it is at a limit, 3 it has failed, 7 the other
#                             bits are known
#   robot(goto:0,...)         state: idle before the first goal, driving, arrived, blocked: it sees no way and tries on,
#                             stopped: it has given the goal up, because of reason, a number (PROTOCOL 7.14), which why
#                             has as a sentence; tag of the goal; its x, y mm, or player::UNKNOWN; heading deg, or
#                             player::ANY_HEADING; distance to it, mm, or player::UNKNOWN_AMOUNT
#
# A robot may also be an object, whose methods are these procedures:
#
#   set robot [player::Client new localhost 6665]
#   $robot request {sonar read position write}
#   $robot read
#   puts [$robot data sonar]
#
# Errors have an -errorcode of two words or three, for [try ... trap]:
#
#   PLAYER REFUSED pairs      the server granted other access, which is in force
#   PLAYER TIMEOUT            robot(timeout) passed; the next call continues in the middle of the round
#   PLAYER CLOSED             no connection, or it is lost: Reconnect. With TLS also a certificate that one of the two
#                             refuses; a refusal of the server is known by the first Request, with TLS 1.3
#   PLAYER PROTOCOL           bytes that make no sense; the block's device has no data, the connection is usable
#   PLAYER USAGE              the call is wrong now; nothing was sent
#   PLAYER GOTO reason        GoTo: the robot has not arrived; the reason is a number of PROTOCOL 7.14, 0 if it is none
#
# Calls that wait run the event loop. A script that has one itself, as in Tk, uses OnData instead of Read.

package require Tcl 8.6-
package provide player 1.1.0

namespace eval player {
    # The state of each connection: private(ROBOT,NAME).
    #   chan      the socket, or "" after Close
    #   waiting   a call waits for the server
    #   event     the result of the event loop for that call
    #   reason    why a connection by TLS fails, as far as OpenSSL says, or ""
    #   onData    command prefix of OnData, or ""
    #   buffer    bytes received, from "at" on not used yet
    #   awaited   replies still to come
    #   reply     the pairs of the last one
    #   order     devices in the order of their first opening (PROTOCOL 2.8)
    #   readers   number of devices open for reading
    #   round     number of the current round, or of the last one
    #   left      blocks missing from it
    #   time, ages  of the latest block of device y, us
    #   items     the rest of a compact frame: devices and payloads
    #   question, answer  the latest question, and the text of its answers
    #   names, codes      devices that the server has listed: their names by their bytes, and the bytes by the names
    #   name, frequency, lifetime, mode, compact, fresh, wanted   restored by Reconnect; "" for the server's default
    # and by device letter D:
    #   access,D  from the last reply;  raw,D  payload of the newest block;  valid,D  it is neither empty nor wrong
    #   round,D   number of its round;  taken,D  time of its data, us, or ""
    variable private

    variable HEADER 3        ;# bytes of a server message before its payload
    variable CHUNK 65536     ;# bytes read at a time; with a partial message it bounds the buffer to 128 KiB
    variable MAXNAME 64      ;# bytes (PROTOCOL 8.3)
    variable MAXPAYLOAD 512  ;# bytes; a server skips longer messages (PROTOCOL 1.5)
    variable MAXPENDING 65536 ;# bytes of messages that the server has not taken
    variable PAUSE 100       ;# ms between attempts of Reconnect
    variable MAXPIXEL 254    ;# a byte of vision data stores a value plus one
    variable MAXBLOBS 10     ;# of one channel
    variable NOAGE 0xFFFFFFFF ;# the age of a device without data
    variable MAXREADINGS 8192 ;# of a ranger
    variable MAXCHANNELS 128 ;# inputs and outputs of a device
    variable MAXJOINTS 64    ;# of a servo device

    variable UNKNOWN -2147483648        ;# a field with a sign that the hardware does not measure
    variable UNKNOWN_AMOUNT 4294967295  ;# one without a sign
    variable NOTHING_IN_RANGE 65534     ;# a reading of a ranger that has seen nothing
    variable UNKNOWN_RANGE 65535        ;# one that was not taken, or is no distance
    variable ALL_JOINTS 255             ;# of MoveJoint
    variable ANY_HEADING 65535          ;# of a goal without a heading

    variable TIMEOUT 60000 ;# ms, without an element timeout: a laser whose line speed must be found needs 10000
    variable TAKE 3000     ;# ms until data must show that the server has taken a goal: it answers no command

    # States of a goto device, and sentences for the reasons of the last one (PROTOCOL 7.14), by number.
    variable gotoStates {idle driving arrived blocked stopped}
    variable gotoReasons {
        "" "it was commanded to stop, or its client left or was silent" "the wheels got another command"
        "the emergency stop is active" "its sensors give no ranges" "its wheels give no odometry" "it has found no way"
        "the goal is too far, or the robot too wide" "its motors are off"
    }

    # The interfaces whose first devices have letters.
    variable letters {
        laser l sonar s position p gripper g misc m vision v ptz z joystick j
    }
    variable accesses {read r write w all a close c r r w w a a c c}
    variable granted {r read w write a all c close e error}
    variable interfaces [concat [lreverse $letters] y y] ;# by these letters

    # Commands of GripperCommand. GRIPpress and LIFTcarry take a value, in steps of 20 ms.
    variable gripper {
        GRIPopen 1 GRIPclose 2 GRIPstop 3 LIFTup 4 LIFTdown 5 LIFTstop 6 GRIPstore 7 GRIPdeploy 8 GRIPhalt 15
        GRIPpress 16 LIFTcarry 17
    }
}

# --- connection -------------------------------------------------------------------------------------------------------

# Connect connects the robot to a server. An open connection is closed first.
##nagelfar syntax player::Connect n x? x?
proc player::Connect {name {host ""} {port ""}} {
    variable private
    variable TIMEOUT
    set robot [uplevel 1 [list namespace which -variable $name]]
    if {$robot eq ""} {
        set robot ::[string trimleft $name :]
    }
    upvar #0 $robot r
    foreach {field given default} [list host $host localhost port $port 6665 timeout "" $TIMEOUT] {
        if {$given ne ""} {
            set r($field) $given
        } elseif {![info exists r($field)]} {
            set r($field) $default
        }
    }
    Disconnect $robot
    array unset private $robot,*
    foreach field {onData name frequency lifetime mode compact fresh wanted} {
        set private($robot,$field) ""
    }
    Reset $robot
    array set r {
        position,time 0 position,xpos 0 position,ypos 0 position,heading 0 position,speed 0 position,turnrate 0
        position,compass 0 position,stalls 0 misc,frontbumpers 0 misc,rearbumpers 0 misc,voltage 0 misc,battery 0
        ptz,pan 0 ptz,tilt 0 ptz,zoom 0 joystick,buttons 0 joystick,axes {0 0 0 0 0 0 0 0} server,time 0
    }
    set r(sonar) [lrepeat 16 0]
    set r(laser) [lrepeat 361 0]
    SetGripper $robot 0 0
    set r(vision,NumBlobs) [lrepeat 32 0]
    set r(vision,Blobs) [lrepeat 32 {}]
    Dial $robot [Deadline $robot]
}

# Reconnect connects again after a CLOSED error, or at any time. It tries until robot(timeout), and restores name, data
# mode, frequency, command lifetime, form of rounds, freshness mode, OnData and the devices. The elements keep their
# values; Has is 0 until new data. A REFUSED error means that the connection stands, but not all devices could be opened
# again. A PROTOCOL error means that the byte of a device is another one's now, since the server was started anew with
# other devices: Connect, and Open them by their names.
proc player::Reconnect {name} {
    variable private
    variable PAUSE
    set robot [Robot $name]
    set deadline [Deadline $robot]
    set why {} ;# of the last attempt that the timeout has not cut short: its text and options
    while 1 {
        Disconnect $robot
        Reset $robot
        try {
            Dial $robot $deadline
            Restore $robot $deadline
            return
        } trap {PLAYER CLOSED} {text options} {
            set why [list $text $options]
            if {$deadline ne "" && $deadline - [clock milliseconds] <= $PAUSE} {
                return -options $options $text
            }
            Disconnect $robot
            Wait $robot {} $PAUSE
        } trap {PLAYER TIMEOUT} {text options} {
            lassign [expr {$why eq "" ? [list $text $options] : $why}] text options
            return -options $options $text
        }
    }
}

# Restore sets a new connection up as the one before was, and asks for the devices.
proc player::Restore {robot deadline} {
    variable private
    foreach {field code} {name w frequency f lifetime l mode r compact z} {
        if {$private($robot,$field) ne ""} {
            Send $robot x y $code$private($robot,$field)
        }
    }
    set wanted $private($robot,wanted)
    try {
        if {$private($robot,codes) ne ""} {
            ListAgain $robot $deadline
        }
        if {$wanted ne ""} {
            Ask $robot $wanted $deadline
        }
    } finally {
        set private($robot,wanted) $wanted ;# what was not granted now is asked for again next time
        if {$private($robot,fresh) ne "" && [Readable $robot y] && $private($robot,chan) ne ""} {
            Send $robot x y n$private($robot,fresh)
        }
        Resume $robot
    }
}

# Close closes the connection. The server then stops the wheels if this client had write access to them.
proc player::Close {name} {
    variable private
    set robot [Robot $name]
    Disconnect $robot
    set private($robot,onData) ""
    set private($robot,event) closed
    return
}

# Robot returns the full name of the array that the caller of the calling procedure calls so.
proc player::Robot {called} {
    variable private
    set robot [uplevel 2 [list namespace which -variable $called]]
    if {$robot eq "" || ![info exists private($robot,chan)]} {
        throw {PLAYER USAGE} "\"$called\" is not connected: player::Connect it first"
    }
    return $robot
}

# Reset forgets everything about the server.
proc player::Reset {robot} {
    variable private
    array unset private $robot,*,? ;# what is known by device letter
    foreach {field value} {
        chan "" waiting 0 event "" reason "" buffer "" at 0 awaited 0 reply "" order "" readers 0 round 0 left 0 time 0 ages {}
        items {} question none answer ""
    } {
        set private($robot,$field) $value
    }
    foreach field {names codes} { ;# Reconnect compares them
        if {![info exists private($robot,$field)]} {
            set private($robot,$field) {}
        }
    }
}

proc player::Disconnect {robot} {
    variable private
    if {[info exists private($robot,chan)] && $private($robot,chan) ne ""} {
        catch {close $private($robot,chan)} ;# messages that the server did not take do not matter any more
        set private($robot,chan) ""
    }
}

proc player::Dial {robot deadline} {
    variable private
    variable CHUNK
    upvar #0 $robot r
    try {
        set chan [socket -async $r(host) $r(port)]
    } on error {text} {
        throw {PLAYER CLOSED} "no connection to $r(host):$r(port): $text"
    }
    set private($robot,chan) $chan
    try {
        chan configure $chan -blocking 0 -translation binary -buffersize $CHUNK
        set private($robot,event) ""
        while {$private($robot,event) ne "writable"} { ;# else the time is over, which Left tells
            Wait $robot {writable} [Left $robot $deadline]
        }
        set error [chan configure $chan -error]
        if {$error ne ""} {
            throw {PLAYER CLOSED} "no connection to $r(host):$r(port): $error"
        }
        if {[info exists r(tls,authority)] && $r(tls,authority) ne ""} {
            if {[catch {package require player::secure} text]} {
                throw {PLAYER USAGE} "TLS needs Tcl's package tls, in Debian tcl-tls: $text"
            }
            ##nagelfar ignore Unknown command
            secure::Start $robot $deadline
        }
    } on error {text options} {
        Disconnect $robot
        return -options $options $text
    }
}

# Deadline returns the time in ms until which a call that begins now may wait, or "".
proc player::Deadline {robot} {
    upvar #0 $robot r
    if {$r(timeout) == 0} {
        return ""
    }
    return [expr {[clock milliseconds] + $r(timeout)}]
}

# Left returns the ms left until the deadline, or "".
proc player::Left {robot deadline} {
    upvar #0 $robot r
    if {$deadline eq ""} {
        return ""
    }
    set ms [expr {$deadline - [clock milliseconds]}]
    if {$ms <= 0} {
        throw {PLAYER TIMEOUT} "no answer from the server within $r(timeout) ms"
    }
    return $ms
}

# Wait runs the event loop until the socket is as wanted ("readable", "writable"), or for some ms ("" for no limit).
proc player::Wait {robot wanted ms} {
    variable private
    if {$private($robot,waiting)} {
        throw {PLAYER USAGE} "another call waits for this robot already"
    }
    set private($robot,waiting) 1
    set event [namespace current]::private($robot,event)
    set timer ""
    try {
        if {$ms ne ""} {
            set timer [after $ms [list set $event time]]
        }
        if {$wanted ne ""} {
            chan event $private($robot,chan) $wanted [list set $event $wanted]
        }
        vwait $event
        if {$wanted ne "" && $private($robot,chan) eq ""} {
            throw {PLAYER CLOSED} "the connection is closed"
        }
    } finally {
        set private($robot,waiting) 0
        after cancel $timer
        if {$wanted ne "" && $private($robot,chan) ne ""} {
            chan event $private($robot,chan) $wanted {}
        }
    }
}

# Receive appends the input to the buffer and reports whether there was anything.
proc player::Receive {robot} {
    variable private
    variable CHUNK
    set chan $private($robot,chan)
    if {$chan eq ""} {
        throw {PLAYER CLOSED} "the connection is closed"
    }
    try {
        set bytes [read $chan $CHUNK]
    } on error {text} {
        throw {PLAYER CLOSED} "connection lost: [expr {$private($robot,reason) eq "" ? $text : $private($robot,reason)}]"
    }
    if {[string length $bytes] == 0} { ;# a comparison would make a string of the bytes, and slow down what follows
        if {[eof $chan]} {
            set middle [expr {[string length $private($robot,buffer)] > $private($robot,at)}]
            throw {PLAYER CLOSED} "the server closed the connection[lindex {{} { in the middle of a message}} $middle]"
        }
        return 0
    }
    Append $robot $bytes
    return 1
}

# Await waits for one message, stores it and returns the result of Next.
proc player::Await {robot deadline} {
    while {[set event [Next $robot]] eq ""} {
        set left [Left $robot $deadline]
        if {![Receive $robot]} {
            Wait $robot readable $left
        }
    }
    return $event
}

# Send sends one message.
proc player::Send {robot kind device payload} {
    variable private
    variable MAXPAYLOAD
    variable MAXPENDING
    set chan $private($robot,chan)
    if {$chan eq ""} {
        throw {PLAYER CLOSED} "the connection is closed"
    }
    if {[string length $device] != 1 || [regexp {[^\u0000-\u00ff]} $device$payload]} {
        throw {PLAYER USAGE} "device \"$device\" is no letter and not open, or the message is not of bytes"
    }
    set size [string length $payload]
    if {$size > $MAXPAYLOAD} {
        throw {PLAYER USAGE} "message of $size bytes for device \"$device\": a server takes $MAXPAYLOAD"
    }
    if {[chan pending output $chan] > $MAXPENDING} {
        throw {PLAYER TIMEOUT} "the server takes no more messages"
    }
    try {
        puts -nonewline $chan $kind$device[binary format S $size]$payload
        flush $chan
    } on error {text} {
        throw {PLAYER CLOSED} "connection lost: [expr {$private($robot,reason) eq "" ? $text : $private($robot,reason)}]"
    }
    return
}

# --- protocol, without the network ------------------------------------------------------------------------------------

# Append adds bytes of the server, which may be split anywhere.
proc player::Append {robot bytes} {
    variable private
    if {$private($robot,at) > 0} {
        set private($robot,buffer) [string range $private($robot,buffer) $private($robot,at) end]
        set private($robot,at) 0
    }
    append private($robot,buffer) $bytes
}

# Next takes the next message from the buffer and stores it. It returns "block", "round" for the block that completes a
# round, "reply", or "" if there is no whole message. A block that makes no sense is a PROTOCOL error; the next call
# continues after it.
proc player::Next {robot} {
    variable private
    variable HEADER
    if {$private($robot,items) ne ""} {
        set private($robot,items) [lassign $private($robot,items) letter payload]
        if {$letter eq ""} {
            throw {PLAYER PROTOCOL} "a compact frame has an item without a meaning"
        }
        return [expr {[Store $robot $letter $payload] ? "round" : "block"}]
    }
    set at $private($robot,at)
    if {![binary scan $private($robot,buffer) @${at}aSu letter size] || ![info exists size]} {
        return ""
    }
    set begin [expr {$at + $HEADER}]
    set end [expr {$begin + $size}]
    if {[string length $private($robot,buffer)] < $end} {
        return ""
    }
    set private($robot,at) $end
    set payload [string range $private($robot,buffer) $begin $end-1]
    if {$letter eq "r"} {
        Reply $robot $payload
        return reply
    }
    if {$letter eq "Y"} {
        # Answers follow each other. One to an earlier question comes before that reply, which is still to come.
        if {$private($robot,awaited) == 1 && [string index $payload 0] eq $private($robot,question)} {
            append private($robot,answer) [regsub -all {[^\n -~]} [string range $payload 1 end] ?]\n ;# for terminals
        }
        return block
    }
    if {$letter eq "Z"} {
        set private($robot,items) [Items $robot $payload]
        return block
    }
    return [expr {[Store $robot $letter $payload] ? "round" : "block"}]
}

# Reply takes over the granted access. The next block starts a round.
proc player::Reply {robot pairs} {
    variable private
    set private($robot,awaited) [expr {max(0, $private($robot,awaited) - 1)}]
    set private($robot,left) 0
    set private($robot,reply) $pairs
    foreach {device access} [split $pairs ""] {
        set private($robot,access,$device) $access
        if {$access in {r w a} && $device ni $private($robot,order)} {
            lappend private($robot,order) $device
        }
    }
    set private($robot,readers) 0
    set private($robot,wanted) ""
    foreach device $private($robot,order) {
        incr private($robot,readers) [Readable $robot $device]
        if {[Readable $robot $device] || [Writable $robot $device]} {
            append private($robot,wanted) $device$private($robot,access,$device)
        }
    }
}

proc player::Readable {robot device} {
    variable private
    return [expr {[info exists private($robot,access,$device)] && $private($robot,access,$device) in {r a}}]
}

proc player::Writable {robot device} {
    variable private
    return [expr {[info exists private($robot,access,$device)] && $private($robot,access,$device) in {w a}}]
}

# Store stores one block and reports whether it completes a round.
proc player::Store {robot device payload} {
    variable private
    set wrong ""
    set size [string length $payload] ;# without making a string of the bytes
    if {$size > 0} {
        try {
            Decode $robot $device $payload
        } trap {PLAYER PROTOCOL} {wrong} {}
    }
    set private($robot,raw,$device) $payload
    set private($robot,valid,$device) [expr {$size > 0 && $wrong eq ""}]
    set private($robot,taken,$device) ""
    if {[Readable $robot y]} {
        set whole [CountAged $robot $device]
    } else {
        set whole [Count $robot $device]
    }
    if {$wrong ne ""} {
        throw {PLAYER PROTOCOL} $wrong
    }
    return $whole
}

# Count counts a block of a round without device y: a round has as many blocks as devices are read. A second block of
# one device starts the next round.
proc player::Count {robot device} {
    variable private
    if {![Readable $robot $device]} {
        return 0
    }
    if {$private($robot,left) == 0 || [IsOfRound $robot $device]} {
        incr private($robot,round)
        set private($robot,left) $private($robot,readers)
    }
    set private($robot,round,$device) $private($robot,round)
    return [expr {[incr private($robot,left) -1] == 0}]
}

# CountAged counts a block of a round with device y: its block comes first and has an age for each block that follows
# (PROTOCOL 8.1).
proc player::CountAged {robot device} {
    variable private
    variable NOAGE
    if {$device eq "y"} {
        incr private($robot,round)
        set private($robot,left) 0
        if {!$private($robot,valid,y)} {
            throw {PLAYER PROTOCOL} "block of device y has [string length $private($robot,raw,y)] bytes"
        }
        set private($robot,round,y) $private($robot,round)
        set private($robot,left) [llength $private($robot,ages)]
        return [expr {$private($robot,left) == 0}]
    }
    if {$private($robot,left) == 0} {
        throw {PLAYER PROTOCOL} "block of device \"$device\" without a block of device y before it"
    }
    set age [lindex $private($robot,ages) end-[expr {$private($robot,left) - 1}]]
    if {$age != $NOAGE} {
        set private($robot,taken,$device) [expr {$private($robot,time) - $age}]
    }
    set private($robot,round,$device) $private($robot,round)
    return [expr {[incr private($robot,left) -1] == 0}]
}

proc player::IsOfRound {robot device} {
    variable private
    return [expr {
        [info exists private($robot,round,$device)] && $private($robot,round,$device) == $private($robot,round)
    }]
}

# Decode stores a payload in the robot's elements (PROTOCOL 7). Payloads of devices that are not known here are
# available by Raw only.
proc player::Decode {robot device payload} {
    variable private
    variable MAXREADINGS
    variable MAXCHANNELS
    variable MAXJOINTS
    upvar #0 $robot r
    set size [string length $payload]
    set interface [Interface $robot $device]
    set e [expr {[Lettered $robot $device] ? $interface : [dict get $private($robot,names) $device]}] ;# of the elements
    switch -- $interface {
        position {
            Size position $payload 21
            binary scan $payload IuIISuSSSucu r($e,time) r($e,xpos) r($e,ypos) r($e,heading) r($e,speed) \
                r($e,turnrate) r($e,compass) r($e,stalls)
        }
        sonar {
            Size sonar $payload 32
            binary scan $payload Su16 r($e)
        }
        laser {
            Size laser $payload 722
            binary scan $payload Su361 r($e)
        }
        misc {
            Size misc $payload 3
            binary scan $payload cucucu r($e,frontbumpers) r($e,rearbumpers) r($e,voltage)
            set r($e,battery) $r($e,voltage)
        }
        gripper {
            Size gripper $payload 2
            binary scan $payload cucu paddles beams
            SetGripper $robot $paddles $beams $e
        }
        ptz {
            Size ptz $payload 6
            binary scan $payload SSS r($e,pan) r($e,tilt) r($e,zoom)
        }
        vision {
            lassign [Vision $payload] r($e,NumBlobs) r($e,Blobs)
        }
        joystick {
            Size joystick $payload 20
            binary scan $payload IuS8 r($e,buttons) r($e,axes)
        }
        ranger {
            set unit 0
            binary scan $payload SuSu* unit ranges
            if {$unit == 0 || $size % 2 != 0 || $size > 2 + 2 * $MAXREADINGS} {
                throw {PLAYER PROTOCOL} "ranger payload has $size bytes and a unit of $unit mm"
            }
            set r($e,unit) $unit
            set r($e,ranges) $ranges
        }
        imu {
            Size imu $payload 36
            binary scan $payload I9 values
            foreach field {roll pitch yaw roll_rate pitch_rate yaw_rate x y z} value $values {
                set r($e,$field) $value
            }
        }
        gps {
            Size gps $payload 38
            binary scan $payload cucuIIIIuIuWuIuIu r($e,fix) r($e,satellites) r($e,latitude) r($e,longitude) \
                r($e,height) r($e,horizontal) r($e,vertical) r($e,time) r($e,speed) r($e,course)
        }
        io {
            if {$size % 4 != 0 || $size > 4 * $MAXCHANNELS} {
                throw {PLAYER PROTOCOL} "io payload has $size bytes, not 4 for each of at most $MAXCHANNELS channels"
            }
            binary scan $payload I* r($e,values)
        }
        servo {
            if {$size % 9 != 0 || $size > 9 * $MAXJOINTS} {
                throw {PLAYER PROTOCOL} "servo payload has $size bytes, not 9 for each of at most $MAXJOINTS joints"
            }
            set r($e,joints) {}
            for {set at 0} {$at < $size} {incr at 9} {
                binary scan $payload @${at}IIcu position goal state
                lappend r($e,joints) [dict create position $position goal $goal state $state]
            }
        }
        goto {
            variable gotoStates
            variable gotoReasons
            Size goto $payload 18
            binary scan $payload cucuSuIISuIu state r($e,reason) r($e,tag) r($e,x) r($e,y) r($e,heading) r($e,distance)
            set r($e,state) [expr {$state < [llength $gotoStates] ? [lindex $gotoStates $state] : $state}]
            set r($e,why) [lindex $gotoReasons $r($e,reason)]
        }
        y {
            if {$size < 8 || $size % 4 != 0} {
                throw {PLAYER PROTOCOL} "freshness payload has $size bytes, not 8 plus 4 for each age"
            }
            binary scan $payload WuIu* private($robot,time) private($robot,ages)
            set r(server,time) $private($robot,time)
        }
    }
}

# Interface returns the interface of a device, y for device y, and "" if it is not known.
proc player::Interface {robot device} {
    variable private
    variable interfaces
    if {[dict exists $private($robot,names) $device]} {
        return [lindex [split [dict get $private($robot,names) $device] :] 0]
    }
    return [expr {[dict exists $interfaces $device] ? [dict get $interfaces $device] : ""}]
}

# Lettered reports whether a device is the first one of an interface with a letter, or not listed by the server.
proc player::Lettered {robot device} {
    variable private
    variable letters
    if {![dict exists $private($robot,names) $device]} {
        return 1
    }
    set interface [Interface $robot $device]
    return [expr {[dict exists $letters $interface] && [dict get $letters $interface] eq $device}]
}

# Label returns a device for people: its letter, its name in the server's list, or its number.
proc player::Label {robot device} {
    variable private
    if {![Lettered $robot $device]} {
        return [dict get $private($robot,names) $device]
    }
    return [expr {[regexp {^[!-~]$} $device] ? $device : [scan $device %c]}]
}

# KeyOf returns the device that a line of an answer names, "" if it is not known.
proc player::KeyOf {robot key} {
    variable private
    if {[dict exists $private($robot,codes) $key]} {
        return [dict get $private($robot,codes) $key]
    }
    return [expr {[string length $key] == 1 ? $key : ""}]
}

# Device returns the byte of a device by its name: in the server's list, or the letter of the first device of an
# interface. Without one it returns its argument.
proc player::Device {robot device} {
    variable private
    variable letters
    if {[string length $device] > 1} {
        set name [expr {[string first : $device] < 0 ? "$device:0" : $device}]
        if {[dict exists $private($robot,codes) $name]} {
            return [dict get $private($robot,codes) $name]
        }
        if {$device eq "freshness"} {
            return y
        }
        set interface [regsub {:0$} $name {}]
        if {[dict exists $letters $interface]} {
            return [dict get $letters $interface]
        }
    }
    return $device
}

proc player::Size {what payload want} {
    set size [string length $payload]
    if {$size != $want} {
        throw {PLAYER PROTOCOL} "$what payload has $size bytes, not $want"
    }
}

# SetGripper stores the bits of PROTOCOL 7.5.
proc player::SetGripper {robot paddles beams {element gripper}} {
    upvar #0 $robot r
    set bits [expr {$paddles | $beams << 8}]
    foreach name {
        paddlesOpen paddlesClose paddlesMoving paddlesError liftUp liftDown liftMoving liftError
        gripLimitReached liftLimitReached outerBeamObstructed innerBeamObstructed leftPaddleOpen rightPaddleOpen
    } {
        set r($element,$name) [expr {$bits & 1}]
        set bits [expr {$bits >> 1}]
    }
}

# Vision decodes an image of ACTS 1.0 (PROTOCOL 7.7) to the numbers of blobs and the blobs, by channel. The header has
# the index of the first blob and the number of blobs of each channel. An index above 254 does not fit and is sent as
# 254, so blobs are found by the numbers alone.
proc player::Vision {payload} {
    variable MAXPIXEL
    variable MAXBLOBS
    if {![binary scan $payload cu64cu* header bytes]} {
        throw {PLAYER PROTOCOL} "vision payload has [string length $payload] bytes, shorter than the header"
    }
    set counts {}
    set total 0
    set expected 1 ;# the next index, plus one
    foreach {index stored} $header {
        if {$index != $expected || $stored < 1 || $stored > $MAXBLOBS + 1} {
            throw {PLAYER PROTOCOL} "vision channel [llength $counts] has index byte $index, count byte $stored"
        }
        lappend counts [incr stored -1]
        if {$stored > 0} {
            incr total $stored
            set expected [expr {min($total, $MAXPIXEL) + 1}]
        }
    }
    if {[llength $bytes] != 10 * $total} {
        throw {PLAYER PROTOCOL} "vision payload has [string length $payload] bytes for $total blobs"
    }
    set at 0
    set channels {}
    foreach count $counts {
        if {$count == 0} {
            lappend channels {} ;# most are empty
            continue
        }
        set blobs {}
        foreach {a b c d x y left right top bottom} [lrange $bytes $at [expr {$at + 10 * $count - 1}]] {
            foreach digit [list $a $b $c $d] {
                if {$digit < 1 || $digit > 64} {
                    throw {PLAYER PROTOCOL} "vision area digit byte $digit"
                }
            }
            if {0 in [list $x $y $left $right $top $bottom]} {
                throw {PLAYER PROTOCOL} "zero byte in a vision blob"
            }
            lappend blobs [dict create area [expr {($a - 1) << 18 | ($b - 1) << 12 | ($c - 1) << 6 | ($d - 1)}] \
                x [expr {$x - 1}] y [expr {$y - 1}] left [expr {$left - 1}] right [expr {$right - 1}] \
                top [expr {$top - 1}] bottom [expr {$bottom - 1}]]
        }
        lappend channels $blobs
        incr at [expr {10 * $count}]
    }
    return [list $counts $channels]
}

# --- compact frames (PROTOCOL 8.4) ------------------------------------------------------------------------------------

# Items returns the devices and payloads of a compact frame, up to the end or the first item without a meaning, in the
# place of which there are two "".
proc player::Items {robot frame} {
    set items {}
    set at 0
    try {
        while {$at < [string length $frame]} {
            binary scan $frame @${at}acu* device bytes
            set behind 0
            set head [Number bytes behind]
            set begin [expr {$at + 1 + $behind}]
            set at [expr {$begin + ($head >> 2)}]
            if {$at > [string length $frame]} {
                error "the item is longer than the frame"
            }
            set code [string range $frame $begin $at-1]
            switch [expr {$head & 3}] {
                0 { lappend items $device $code }
                1 { lappend items $device [Expand [Interface $robot $device] $code] }
                2 { lappend items $device [ExpandSelected $code] }
                default { error "the item has form 3" }
            }
        }
    } on error {} { ;# also of numbers behind the end
        lappend items "" ""
    }
    return $items
}

# Number reads a number (8.4.2) in a list of bytes, and moves at behind it. Its value is at most 2^64-1.
proc player::Number {bytes at} {
    upvar 1 $bytes list $at i
    set value 0
    for {set shift 0} {$shift < 70} {incr shift 7} {
        set byte [lindex $list $i]
        incr i
        set value [expr {$value | ($byte & 127) << $shift}]
        if {$byte < 128} {
            if {$byte eq "" || $value > 0xFFFFFFFFFFFFFFFF} {
                break
            }
            return $value
        }
    }
    error "no number"
}

# Expand returns the payload of a code of form 1 (8.4.3).
proc player::Expand {interface code} {
    variable MAXREADINGS
    variable MAXPIXEL
    binary scan $code cu* bytes
    set at 0
    switch -- $interface {
        laser { return [binary format S* [Readings $bytes 0 361]] }
        sonar { return [binary format S* [Readings $bytes 0 16]] }
        ranger {
            set unit [Number bytes at]
            set count [Number bytes at]
            if {$unit > 65535 || $count > $MAXREADINGS} {
                error "no ranger"
            }
            return [binary format SS* $unit [Readings $bytes $at $count]]
        }
        position { return [Fields $bytes {Iu 32 I 32 I 32 Su 16 S 16 S 16 Su 16 cu 8}] }
        ptz { return [Fields $bytes {S 16 S 16 S 16}] }
        joystick { return [Fields $bytes {Iu 32 S 16 S 16 S 16 S 16 S 16 S 16 S 16 S 16}] }
        y {
            set payload [binary format W [Number bytes at]]
            while {$at < [llength $bytes]} {
                set age [Number bytes at]
                if {$age > 0xFFFFFFFF} {
                    error "no age"
                }
                append payload [binary format I [expr {$age - 1}]]
            }
            return $payload
        }
        vision {
            set header {}
            set blobs 0
            for {set channel 1} {$channel <= 32} {incr channel} {
                set count 0
                if {[lindex $bytes $at] eq $channel} {
                    set count [lindex $bytes $at+1]
                    incr at 2
                }
                lappend header [expr {min($blobs, $MAXPIXEL) + 1}] [expr {$count + 1}]
                incr blobs $count
            }
            if {[lindex $bytes $at] ne 0 || [llength $bytes] != $at + 1 + 10 * $blobs} {
                error "no vision"
            }
            return [binary format c* $header][string range $code $at+1 end]
        }
    }
    error "device of interface \"$interface\" has no code"
}

# Fields returns the payload of numbers: their formats, of which those without u have signs, and their bits.
proc player::Fields {bytes formats} {
    set at 0
    set payload ""
    foreach {format bits} $formats {
        set value [Number bytes at]
        if {$value >> $bits != 0} {
            error "a number of more than $bits bits"
        }
        if {![string match *u $format]} {
            set value [expr {$value & 1 ? -($value >> 1) - 1 : $value >> 1}]
        }
        append payload [binary format [string index $format 0] $value]
    }
    if {$at != [llength $bytes]} {
        error "bytes behind the numbers"
    }
    return $payload
}

# ExpandSelected returns the scan of which a part was sent (8.4.7). The other readings are 0.
proc player::ExpandSelected {code} {
    binary scan $code cu* bytes
    set at 0
    foreach name {first step count unit} {
        set $name [Number bytes at]
    }
    if {$step == 0 || $unit > 65535 || $count > 361 || ($count > 0 && $first + ($count - 1) * $step > 360)} {
        error "no part of a scan"
    }
    set scan [lrepeat 361 0]
    foreach reading [Readings $bytes $at $count] {
        lset scan $first [expr {min($reading * $unit, 65535)}]
        incr first $step
    }
    return [binary format S* $scan]
}

# Readings decodes readings (8.4.5) from a list of bytes.
proc player::Readings {bytes at count} {
    set size [llength $bytes]
    set width 0xFFFFFFFF
    set code 0
    for {set end [expr {$at + 4}]} {$at < $end} {incr at} {
        set code [expr {$code << 8 | ($at < $size ? [lindex $bytes $at] : 0)}]
    }
    # The chances: 0..17 that a difference is 0, by level; 18..25 of its steps; 26 + b of b bits of them.
    set chances [lrepeat 43 32768]
    set seen [lrepeat 43 0]
    set straight [Bits 1]
    set last 0
    set before 0
    set slope 0
    set spread 480
    set readings {}
    for {} {$count > 0} {incr count -1} {
        set reading [expr {$straight ? 2 * $last - $before : $last + (($slope + 128) >> 8)}]
        set reading [expr {max(0, min($reading, 65535))}]
        set level 0
        if {$spread >= 16} {
            while {$spread >> ($level + 5)} {
                incr level
            }
            set level [expr {min(17, 2 * $level + ($spread >> ($level + 3) & 1))}]
        }
        set difference 0
        if {![Bit $level]} {
            set negative [Bits 1]
            set low [expr {$level >> 1}]
            set steps 0
            while {$steps < 4 && ![Bit [expr {18 + 4 * ($level & 1) + $steps}]]} {
                incr steps
            }
            if {$steps == 4} {
                set bits 1
                while {![Bit [expr {26 + $bits}]]} {
                    if {[incr bits] > 16} {
                        error "no difference"
                    }
                }
                set steps [expr {3 + (1 << ($bits - 1)) + [Bits [expr {$bits - 1}]]}]
            }
            set difference [expr {($steps << $low) + [Bits $low] + 1}]
            if {$negative} {
                set difference [expr {-$difference}]
            }
            incr reading $difference
            if {$reading < 0 || $reading > 65535} {
                error "no reading"
            }
        }
        set off [expr {abs($difference)}]
        if {$off > 400} {
            set slope 0
            set before $reading
        } else {
            incr spread [expr {((16 * $off - $spread) * 3) >> 3}]
            incr slope [expr {(256 * ($reading - $last) - $slope) >> 2}]
            set before $last
        }
        set last $reading
        lappend readings $reading
    }
    return $readings
}

# Bit gets a bit with the chance of a number (8.4.4) for Readings.
proc player::Bit {chance} {
    upvar 1 bytes bytes at at size size width width code code chances chances seen seen
    set p [lindex $chances $chance]
    set n [lindex $seen $chance]
    set bound [expr {($width * $p) >> 16}]
    set rate [expr {327680 / (5 * $n + 8)}]
    set one [expr {$code < $bound}]
    if {$one} {
        set width $bound
        incr p [expr {((65536 - $p) * $rate) >> 16}]
    } else {
        set code [expr {$code - $bound}]
        set width [expr {$width - $bound}]
        incr p [expr {-(($p * $rate) >> 16)}]
    }
    lset chances $chance [expr {max(32, min($p, 65504))}]
    if {$n < 40} {
        lset seen $chance [incr n]
    }
    while {$width < 0x1000000} {
        set code [expr {$code << 8 | ($at < $size ? [lindex $bytes $at] : 0)}]
        set width [expr {$width << 8}]
        incr at
    }
    return $one
}

# Bits gets k plain bits for Readings.
proc player::Bits {k} {
    upvar 1 bytes bytes at at size size width width code code
    set width [expr {$width >> $k}]
    set value [expr {min($code / $width, (1 << $k) - 1)}]
    set code [expr {$code - $value * $width}]
    while {$width < 0x1000000} {
        set code [expr {$code << 8 | ($at < $size ? [lindex $bytes $at] : 0)}]
        set width [expr {$width << 8}]
        incr at
    }
    return $value
}

# --- data -------------------------------------------------------------------------------------------------------------

# Request asks for devices and waits for the server's reply (manual 3.3). The request is a list of the names of devices
# and an access each, {sonar read laser:1 read position write}: read, write, all, which is both, or close. Or it consists of
# pairs of letters: "srpw" is sonar read, position write; "a" is read and write, "c" closes. Setting up a device can take
# seconds. It returns what was granted in the form of the request; a device that is read and then opened for writing is
# granted all. If less was granted, which is then in force, or the robot has no such device, it is a REFUSED error. Rounds
# that arrive meanwhile are stored and not returned by Read again.
proc player::Request {name wanted} {
    variable granted
    set robot [Robot $name]
    set deadline [Deadline $robot]
    try {
        if {[string first " " $wanted] < 0} {
            return [Ask $robot $wanted $deadline]
        }
        set pairs [Wanted $robot $wanted $deadline]
        set names {}
        foreach {device -} $wanted {code -} [split $pairs ""] {
            dict set names $code $device
        }
        set reply [Ask $robot $pairs $deadline $names]
    } finally {
        Resume $robot
    }
    set result {}
    foreach {device -} $wanted {- access} [split $reply ""] {
        lappend result $device [dict get $granted $access]
    }
    return $result
}

# Wanted returns the pairs of a request by names. It asks the server which devices there are if one of them has no letter.
proc player::Wanted {robot wanted deadline} {
    variable accesses
    if {[catch {llength $wanted} size] || $size % 2 != 0} {
        throw {PLAYER USAGE} "\"$wanted\" is no list of devices with an access each"
    }
    set pairs ""
    foreach {device access} $wanted {
        if {![dict exists $accesses $access]} {
            throw {PLAYER USAGE} "access \"$access\" to $device is not read, write, all or close"
        }
        set code [Device $robot $device]
        if {[string length $code] != 1} {
            set code [CodeOf $robot $device $deadline]
        }
        append pairs $code [dict get $accesses $access]
    }
    return $pairs
}

# Ask sends a request, and returns the granted access. names has the devices' names in the reasons of a refusal.
proc player::Ask {robot pairs deadline {names {}}} {
    variable private
    if {[string length $pairs] % 2 != 0} {
        throw {PLAYER USAGE} "request \"$pairs\" does not consist of pairs of device and access"
    }
    set reply [RoundTrip $robot $pairs $deadline]
    set refused ""
    set failed 0
    set same [expr {[string length $pairs] == [string length $reply]}]
    foreach {device access} [split $pairs ""] {other granted} [split $reply ""] {
        if {$device ne $other} {
            set same 0
        }
        if {$granted ne $access && ($granted ne "a" || $access ni {r w})} {
            append refused $device
        }
        incr failed [expr {$granted eq "e" && $access ne "e"}]
    }
    if {!$same} {
        throw {PLAYER PROTOCOL} "the reply \"[regsub -all {[^ -~]} $reply ?]\" does not answer the request \"$pairs\""
    }
    set reasons [expr {$failed ? [Explain $robot $deadline] : ""}]
    if {$refused eq ""} {
        return $reply
    }
    set text "asked for \"[Pairs $robot $pairs]\", granted \"[Pairs $robot $reply]\""
    set why {}
    foreach device [lsort -unique [split $refused ""]] {
        if {[dict exists $reasons $device] && $private($robot,access,$device) eq "e"} {
            set label [expr {[dict exists $names $device] ? [dict get $names $device] : [Label $robot $device]}]
            dict set why $label [dict get $reasons $device]
            append text "; device $label: [lindex [dict get $reasons $device] 1]"
        }
    }
    if {$failed && $why eq ""} {
        append text "; the server's log has the reason"
    }
    throw [list PLAYER REFUSED $reply $why] $text
}

# Pairs returns pairs for people: devices that are no letters by their names.
proc player::Pairs {robot pairs} {
    set text ""
    foreach {device access} [split $pairs ""] {
        set label [Label $robot $device]
        append text [expr {[string length $label] > 1 ? "${label}=" : $label}] $access
    }
    return $text
}

# RoundTrip sends a request and returns its reply.
proc player::RoundTrip {robot pairs deadline} {
    variable private
    Send $robot d r $pairs
    incr private($robot,awaited)
    while {$private($robot,awaited) > 0} {
        try {
            Await $robot $deadline
        } trap {PLAYER PROTOCOL} {} {
            # A wrong block: its device has no data.
        }
    }
    return $private($robot,reply)
}

# Question asks the server a question and returns the lines of its answers (PROTOCOL 8.9). Every server replies to the
# empty request, and the answers come before. If private(ROBOT,answer) is "" then the server does not know the question.
proc player::Question {robot question deadline} {
    variable private
    set private($robot,question) $question
    set private($robot,answer) ""
    try {
        Send $robot x y q$question
        RoundTrip $robot "" $deadline
    } finally {
        set private($robot,question) none ;# what comes later is not for the next call
    }
    return [split $private($robot,answer) \n]
}

# Inquire asks a question for a program, of which OnData may go on afterwards.
proc player::Inquire {robot question} {
    try {
        return [Question $robot $question [Deadline $robot]]
    } finally {
        Resume $robot
    }
}

# Geometry returns the places and the sizes of the parts of the robot, as far as the server knows them (PROTOCOL
# 8.9.3): a list of dictionaries with device, number, x, y, heading, length, width, range and view, in mm and degrees. A
# device that is open is known best. A server without such answers has no parts. The device is a letter, or a name after
# Devices or Open.
proc player::Geometry {name} {
    set robot [Robot $name]
    set parts {}
    foreach line [Inquire $robot g] {
        if {[regexp {^[^ ]+ \d+( -?\d+(\.\d+)?){7}( |$)} $line]} {
            lassign [split $line " "] key number x y heading length width range view
            set device [KeyOf $robot $key]
            if {$device ne ""} {
                lappend parts [dict create device [Label $robot $device] number $number x $x y $y heading $heading \
                    length $length width $width range $range view $view]
            }
        }
    }
    return $parts
}

# Devices returns which devices the robot has (PROTOCOL 8.9.5): a list of dictionaries with device, its byte, name, for
# example laser:1, and driver. An older server, whose devices all have letters, has none.
proc player::Devices {name} {
    set robot [Robot $name]
    set entries [Entries [Inquire $robot d]]
    Listed $robot $entries
    return $entries
}

# Entries returns the devices of lines of an answer.
proc player::Entries {lines} {
    set entries {}
    foreach line $lines {
        if {[regexp {^(\d{1,3}) ([^ :]+) (\d{1,10}) (.*)$} $line -> code interface index driver]} {
            scan "$code $index" "%d %lld" code index
            if {$code > 0 && $code < 256 && $index <= 2147483647} {
                lappend entries [dict create device [format %c $code] name $interface:$index driver $driver]
            }
        }
    }
    return $entries
}

# Listed keeps which devices the server has.
proc player::Listed {robot entries} {
    variable private
    if {$private($robot,answer) eq ""} {
        return
    }
    foreach field {names codes} {
        set private($robot,$field) {}
    }
    foreach entry $entries {
        dict set private($robot,names) [dict get $entry device] [dict get $entry name]
        dict set private($robot,codes) [dict get $entry name] [dict get $entry device]
    }
}

# ListAgain asks for the devices of a new connection, of which those with bytes must equal the devices of the one
# before.
proc player::ListAgain {robot deadline} {
    variable private
    set entries [Entries [Question $robot d $deadline]]
    foreach entry $entries {
        set device [dict get $entry device]
        set name [dict get $entry name]
        foreach {field key value} [list names $device $name codes $name $device] {
            if {[dict exists $private($robot,$field) $key] && [dict get $private($robot,$field) $key] ne $value} {
                Disconnect $robot
                throw {PLAYER PROTOCOL} \
                    "the server was started anew with other devices: connect, and open them by their names"
            }
        }
    }
    foreach entry $entries { ;# a device that is away may come back
        dict set private($robot,names) [dict get $entry device] [dict get $entry name]
        dict set private($robot,codes) [dict get $entry name] [dict get $entry device]
    }
}

# Open opens a device by its name: an interface and an index, for example laser:1, or an interface alone, whose index is
# 0: imu. The access is read, write or all, or its letter. It returns the byte of the device; the other procedures take
# that or the name. It asks the server which devices there are unless it knows the name. If the robot has no such device,
# that is a REFUSED error without pairs; otherwise it has the errors of Request. Another text is a USAGE error.
proc player::Open {name device {access read}} {
    variable accesses
    set robot [Robot $name]
    set deadline [Deadline $robot]
    if {![dict exists $accesses $access]} {
        throw {PLAYER USAGE} "access \"$access\" to $device is not read, write, all or close"
    }
    try {
        set code [CodeOf $robot $device $deadline]
        Ask $robot $code[dict get $accesses $access] $deadline
    } finally {
        Resume $robot
    }
    return $code
}

# CodeOf returns the byte of a device by its name, for Open and Request.
proc player::CodeOf {robot device deadline} {
    variable private
    variable letters
    set index 0
    set is [regexp {^([^:]+)(?::(\d{1,10}))?$} $device -> interface digits]
    if {!$is || [scan $digits %lld index] == 1 && $index > 2147483647} {
        throw {PLAYER USAGE} "\"$device\" is no device: write an interface, or one and an index, for example laser:1"
    }
    set asked $interface:$index
    if {![dict exists $private($robot,codes) $asked]} {
        Listed $robot [Entries [Question $robot d $deadline]]
    }
    if {[dict exists $private($robot,codes) $asked]} {
        return [dict get $private($robot,codes) $asked]
    }
    if {$private($robot,answer) ne ""} {
        set there [lsort -dictionary [dict keys $private($robot,codes)]]
        throw {PLAYER REFUSED {} {}} "no such device: $asked: the robot has $there"
    }
    if {$index == 0 && [dict exists $letters $interface]} {
        return [dict get $letters $interface] ;# which an older server answers with e if it has none
    }
    throw {PLAYER REFUSED {} {}} "no such device: $asked: this server has only devices with letters"
}

# Rays returns where readings of lasers, sonars and rangers look from and to (PROTOCOL 8.9.6): a list of dictionaries
# with device, first and count of readings that follow each other from one point, x and y of that in mm, heading of the
# first and step to the next in degrees counterclockwise, near and far, the smallest and the largest distance in mm, and
# cone, how wide a reading sees in degrees; the last three are 0 if not known. Open the devices first. An older server
# has none.
proc player::Rays {name} {
    variable MAXREADINGS
    set robot [Robot $name]
    set rays {}
    foreach line [Inquire $robot r] {
        if {[regexp {^[^ ]+ \d{1,9} \d{1,9}( -?\d+(\.\d+)?){7}( |$)} $line]} {
            lassign [split $line " "] key first count x y heading step near far cone
            scan "$first $count" "%d %d" first count
            set device [KeyOf $robot $key]
            if {$device ne "" && $count > 0 && $first + $count <= $MAXREADINGS} {
                lappend rays [dict create device [Label $robot $device] first $first count $count x $x y $y \
                    heading $heading step $step near $near far $far cone $cone]
            }
        }
    }
    return $rays
}

# Channels returns what the inputs, outputs and joints are (PROTOCOL 8.9.7): a list of dictionaries with device, number,
# role (input, output, joint), unit of the values, a word, - if not known, min and max, or player::UNKNOWN, and name,
# for people, which may be empty. An older server has none.
proc player::Channels {name} {
    variable MAXCHANNELS
    set robot [Robot $name]
    set channels {}
    foreach line [Inquire $robot i] {
        if {[regexp {^([^ ]+) (\d{1,3}) (input|output|joint) ([^ ]+) (-?\d{1,10}) (-?\d{1,10}) (.*)$} $line -> \
                key number role unit least most text]} {
            scan "$number $least $most" "%d %lld %lld" number least most
            set device [KeyOf $robot $key]
            if {$device ne "" && $number < $MAXCHANNELS && max(abs($least + 0.5), abs($most + 0.5)) < 2147483648} {
                lappend channels [dict create device [Label $robot $device] number $number role $role unit $unit \
                    min $least max $most name $text]
            }
        }
    }
    return $channels
}

# Colors returns the colours of the channels of vision, as far as the server knows them (PROTOCOL 8.9.8): a list of
# dictionaries with device, channel, from 0, and color, for example #ffa500, as Tk takes it. An older server has none.
proc player::Colors {name} {
    set robot [Robot $name]
    set colors {}
    foreach line [Inquire $robot v] {
        if {[regexp {^([^ ]+) (\d{1,2}) ([0-9A-Fa-f]{6})( |$)} $line -> key channel color]} {
            scan $channel %d channel
            set device [KeyOf $robot $key]
            if {$device ne "" && $channel < 32} {
                lappend colors [dict create device [Label $robot $device] channel $channel \
                    color #[string tolower $color]]
            }
        }
    }
    return $colors
}

# Data returns the newest data of a device: a list of ranges of a sonar or a laser, and of the others a dict of its
# elements, for example xpos, ypos, heading of position. It is empty if the device has sent none since Connect.
proc player::Data {name device} {
    variable private
    set robot [Robot $name]
    upvar #0 $robot r
    set code [Device $robot $device]
    if {![info exists private($robot,raw,$code)]} {
        return {}
    }
    if {$code eq "y"} {
        return [dict create time $private($robot,time)]
    }
    set interface [Interface $robot $code]
    set e [expr {[Lettered $robot $code] ? $interface : [dict get $private($robot,names) $code]}]
    if {[info exists r($e)]} {
        return $r($e)
    }
    set data {}
    foreach element [lsort [array names r $e,*]] {
        dict set data [string range $element [string length $e,] end] $r($element)
    }
    return $data
}

# DeviceName returns the name of a device in the server's list, for example laser:1, or "".
proc player::DeviceName {name device} {
    variable private
    set robot [Robot $name]
    set device [Device $robot $device]
    return [expr {[dict exists $private($robot,names) $device] ? [dict get $private($robot,names) $device] : ""}]
}

# Explain asks the server why devices are refused (PROTOCOL 8.9.1). It returns, by device, a word and a text for people.
# Whatever goes wrong, the refusal stands.
proc player::Explain {robot deadline} {
    set lines {}
    try {
        set lines [Question $robot e $deadline]
    } trap PLAYER {} {}
    set reasons {}
    foreach line $lines {
        if {[regexp {^([^ ]+) ([^ ]+) (.*)$} $line -> key word text]} {
            set device [KeyOf $robot $key]
            if {$device ne "" && ![dict exists $reasons $device]} {
                dict set reasons $device [list $word $text]
            }
        }
    }
    return $reasons
}

# Read waits for one whole round: a block of each device that is open for reading. Rounds come at the frequency of this
# connection, or after RequestData. After SetFresh a round contains only new data; IsNew reports which.
proc player::Read {name} {
    variable private
    set robot [Robot $name]
    set deadline [Deadline $robot]
    if {$private($robot,onData) ne ""} {
        throw {PLAYER USAGE} "OnData reads this robot"
    }
    while 1 {
        if {$private($robot,awaited) == 0} {
            if {$private($robot,readers) == 0} {
                throw {PLAYER USAGE} "no device is open for reading: Request one first"
            }
            if {$private($robot,fresh) eq "\1" && ![Readable $robot y]} {
                throw {PLAYER USAGE} "freshness mode needs device y: Request \"yr\" first"
            }
        }
        if {[Await $robot $deadline] eq "round"} {
            return
        }
    }
}

# OnData calls a command from the event loop, with one of these and a text for people appended:
#
#   round      a whole round arrived
#   protocol   bytes arrived that make no sense
#   closed     the connection is lost; there are no more calls until Reconnect
#
# An empty command ends it.
proc player::OnData {name command} {
    variable private
    set robot [Robot $name]
    set private($robot,onData) $command
    if {$command eq "" && $private($robot,chan) ne ""} {
        chan event $private($robot,chan) readable {}
    }
    Resume $robot
}

# Resume lets OnData go on after a call that waited: it needs the socket's event, and finds bytes in the buffer.
proc player::Resume {robot} {
    variable private
    if {$private($robot,onData) ne "" && $private($robot,chan) ne "" && !$private($robot,waiting)} {
        chan event $private($robot,chan) readable [list [namespace current]::Arrived $robot]
        after cancel [list [namespace current]::Deliver $robot]
        after idle [list [namespace current]::Deliver $robot]
    }
}

proc player::Arrived {robot} {
    variable private
    try {
        Receive $robot
    } trap {PLAYER CLOSED} {text} {
        Disconnect $robot
        uplevel #0 $private($robot,onData) [list closed $text]
        return
    }
    Deliver $robot
}

# Deliver calls the command of OnData for each round in the buffer. The command may end OnData, close, reconnect, or destroy
# the Client.
proc player::Deliver {robot} {
    variable private
    while {[info exists private($robot,onData)] && $private($robot,onData) ne "" && $private($robot,chan) ne "" && !$private($robot,waiting)} {
        set text ""
        try {
            set event [Next $robot]
        } trap {PLAYER PROTOCOL} {text} {
            set event protocol
        }
        switch -- $event {
            "" return
            round - protocol {
                uplevel #0 $private($robot,onData) [list $event $text]
            }
        }
    }
}

# Has reports whether a device has data: its newest block was neither empty nor wrong.
proc player::Has {name device} {
    variable private
    set robot [Robot $name]
    set device [Device $robot $device]
    return [expr {[info exists private($robot,valid,$device)] && $private($robot,valid,$device)}]
}

# Access returns the access to a device that the server granted last: r, w, a, c, e, or "" before.
proc player::Access {name device} {
    variable private
    set robot [Robot $name]
    set device [Device $robot $device]
    return [expr {[info exists private($robot,access,$device)] ? $private($robot,access,$device) : ""}]
}

# IsNew reports whether the latest round has a block of this device. Without freshness mode it has all.
proc player::IsNew {name device} {
    set robot [Robot $name]
    return [IsOfRound $robot [Device $robot $device]]
}

# Raw returns the payload of a device's newest block as sent, or "". It is the only access to devices unknown here.
proc player::Raw {name device} {
    variable private
    set robot [Robot $name]
    set device [Device $robot $device]
    return [expr {[info exists private($robot,raw,$device)] ? $private($robot,raw,$device) : ""}]
}

# Age returns the age in us of a device's data when the server made the latest round. It is "" if device y is not read
# or there is no data yet. Ages over 71 minutes are given as 71 minutes.
proc player::Age {name device} {
    variable private
    set robot [Robot $name]
    set device [Device $robot $device]
    if {![Readable $robot y] || ![info exists private($robot,taken,$device)] || $private($robot,taken,$device) eq ""} {
        return ""
    }
    return [expr {$private($robot,time) - $private($robot,taken,$device)}]
}

# --- commands ---------------------------------------------------------------------------------------------------------

# SetSpeed drives the robot until the next call: mm/s, positive is forward, and deg/s, positive is counterclockwise. The
# server and the robot limit both.
proc player::SetSpeed {name speed turnrate} {
    Order [Robot $name] p [Shorts $speed $turnrate]
}

# SetPTZ points the camera: pan -100..100 deg, positive is counterclockwise; tilt -25..25 deg, positive is up; zoom 0
# (wide) .. 1023 (telephoto).
proc player::SetPTZ {name pan tilt zoom} {
    Order [Robot $name] z [Shorts $pan $tilt $zoom]
}

# GripperCommand moves the gripper: GRIPopen ... LIFTcarry, or its number. GRIPpress and LIFTcarry take a value.
proc player::GripperCommand {name command {value 0}} {
    variable gripper
    if {[dict exists $gripper $command]} {
        set command [dict get $gripper $command]
    } elseif {![string is integer -strict $command]} {
        throw {PLAYER USAGE} "gripper command \"$command\" is not one of [join [dict keys $gripper] {, }]"
    }
    foreach byte [list $command $value] {
        if {![string is integer -strict $byte] || $byte < 0 || $byte > 255} {
            throw {PLAYER USAGE} "gripper command \"$command\" with \"$value\": both are bytes"
        }
    }
    Order [Robot $name] g [binary format cc $command $value]
}

# Command sends a command of any layout. It does not wait. Without write access it is a USAGE error.
proc player::Command {name device payload} {
    set robot [Robot $name]
    Order $robot [Device $robot $device] $payload
}

# SetOutput sets an output of an io device to a value in its unit (Channels).
proc player::SetOutput {name device channel value} {
    set robot [Robot $name]
    Whole output $channel 0 255
    Whole value $value -2147483648 2147483647
    Order $robot [Device $robot $device] [binary format cI $channel $value]
}

# MoveJoint moves a joint of a servo device, or player::ALL_JOINTS, to a goal in its unit, at a speed in that unit each
# second; 0: as the driver moves it. A goal of player::UNKNOWN stops it where it is.
proc player::MoveJoint {name device joint goal {speed 0}} {
    set robot [Robot $name]
    Whole joint $joint 0 255
    Whole goal $goal -2147483648 2147483647
    Whole speed $speed 0 4294967295
    Order $robot [Device $robot $device] [binary format cII $joint $goal $speed]
}

# StopJoints stops all joints of a servo device where they are.
proc player::StopJoints {name device} {
    variable ALL_JOINTS
    variable UNKNOWN
    set robot [Robot $name]
    Order $robot [Device $robot $device] [binary format cII $ALL_JOINTS $UNKNOWN 0]
}

# SetGoal has a goto device drive to a goal (PROTOCOL 5.6), around obstacles. The goal is a dict: x and y in mm, in the
# frame of position, and perhaps heading, deg counterclockwise, to which the robot turns in the end; speed and turnrate,
# mm/s and deg/s at most; tolerance, how far from the goal it has arrived, mm; radius, half of the narrowest gap that it is to
# pass, mm; and tag, a number of 16 bits that the data repeats. Of the limits, 0 means the device's own. Numbers are
# rounded. The goal ends when the robot has arrived, with any command to position, and when this client leaves.
proc player::SetGoal {name goal {device goto}} {
    variable ANY_HEADING
    set robot [Robot $name]
    if {[catch {dict merge [list heading $ANY_HEADING speed 0 turnrate 0 tolerance 0 radius 0 tag 0] $goal} all]} {
        throw {PLAYER USAGE} "\"$goal\" is no dict"
    }
    set values {}
    foreach {field least most} {
        x -2147483647 2147483647 y -2147483648 2147483647 heading 0 65535 speed 0 65535 turnrate 0 65535
        tolerance 0 65535 radius 0 65535 tag 0 65535
    } {
        if {![dict exists $all $field]} {
            throw {PLAYER USAGE} "a goal needs $field"
        }
        set value [dict get $all $field]
        if {![string is double -strict $value] || !($value >= $least && $value <= $most)} {
            throw {PLAYER USAGE} "$field \"$value\" of a goal is no number in $least..$most"
        }
        lappend values [expr {round($value)}]
    }
    Order $robot [Device $robot $device] [binary format IIS6 {*}[lrange $values 0 1] [lrange $values 2 end]]
}

# StopGoal has a goto device give its goal up; the wheels stop if it drives.
proc player::StopGoal {name {device goto}} {
    variable UNKNOWN
    set robot [Robot $name]
    Order $robot [Device $robot $device] [binary format Ix16 $UNKNOWN]
}

# GoTo drives to a goal of SetGoal by a goto device, which was requested with all, and returns when the robot has arrived. It
# reads rounds meanwhile, and asks for them after SetDataMode REQUESTREPLY. It chooses the tag, and repeats its command, so
# that the lifetime of commands may be as short as some rounds. robot(timeout) is the limit of each round: the server gives
# up a goal to which it finds no way. If the robot has not arrived that is a GOTO error. After any other error the robot
# stops if it drives to this goal.
proc player::GoTo {name goal {device goto}} {
    variable private
    set robot [Robot $name]
    set code [Device $robot $device]
    if {![Readable $robot $code] || ![Writable $robot $code]} {
        throw {PLAYER USAGE} "GoTo needs its device open for both: Request {$device all} first"
    }
    dict set goal tag [expr {int(65536 * rand())}]
    try {
        Drive $robot $goal $code
    } trap {PLAYER GOTO} {text options} {
        return -options $options $text
    } on error {text options} {
        catch { StopGoal $robot $code }
        return -options $options $text
    }
    return
}

# Drive is GoTo, without the stop after an error.
proc player::Drive {robot goal code} {
    variable private
    variable TAKE
    upvar #0 $robot r
    set e [dict get $private($robot,names) $code]
    set taken 0
    set late [expr {[clock milliseconds] + $TAKE}]
    while 1 {
        SetGoal $robot $goal $code
        if {$private($robot,mode) eq "\1"} {
            RequestData $robot
        }
        Read $robot
        set mine [expr {
            [Has $robot $code] && $r($e,tag) == [dict get $goal tag] && $r($e,state) ne "idle"
            && $r($e,x) == round([dict get $goal x]) && $r($e,y) == round([dict get $goal y])
        }]
        if {$mine} {
            set taken 1
            switch -- $r($e,state) {
                arrived return
                stopped {
                    throw [list PLAYER GOTO $r($e,reason)] \
                        "the robot has not arrived at ($r($e,x), $r($e,y)) mm: $r($e,why)"
                }
            }
        } elseif {$taken} {
            throw {PLAYER GOTO 0} "another goal has replaced this one"
        } elseif {[clock milliseconds] > $late} {
            StopGoal $robot $code
            throw {PLAYER GOTO 0} \
                "the server has not taken the goal: another client has control, or the emergency stop is active"
        }
    }
}

# Whole refuses a value that is no whole number in a range.
proc player::Whole {what value least most} {
    if {![string is entier -strict $value] || $value < $least || $value > $most} {
        throw {PLAYER USAGE} "$what \"$value\" is no whole number in $least..$most"
    }
}

proc player::Order {robot device payload} {
    if {![Writable $robot $device]} {
        set label [expr {[string length $device] == 1 ? [Label $robot $device] : $device}]
        throw {PLAYER USAGE} "no write access to device $label: Request or Open it first"
    }
    Send $robot c $device $payload
}

# Shorts encodes values as 16 bits, limited to their range so that a speed never changes sign.
proc player::Shorts {args} {
    set limited {}
    foreach v $args {
        try {
            set number [expr {double($v)}] ;# 9.0.1 crashes on whole numbers beyond 64 bits
            if {$number != $number || abs($number) == Inf} {
                error "not finite"
            }
            lappend limited [expr {int(max(-32768.0, min($number, 32767.0)))}]
        } on error {text} {
            throw {PLAYER USAGE} "\"$v\" is not a number: $text"
        }
    }
    return [binary format S* $limited]
}

# SetDataMode selects when the server sends rounds: CONTINUOUS, the default, or REQUESTREPLY. Read still returns rounds
# that are on their way.
proc player::SetDataMode {name mode} {
    Setting [Robot $name] mode r [binary format c [Choice $mode CONTINUOUS REQUESTREPLY]]
}

# SetFrequency sets the frequency of rounds in continuous mode, 1..65535 Hz. The default is 10. The server has a
# maximum.
proc player::SetFrequency {name hz} {
    if {![string is integer -strict $hz] || $hz < 1 || $hz > 65535} {
        throw {PLAYER USAGE} "frequency \"$hz\" Hz is not in 1..65535"
    }
    Setting [Robot $name] frequency f [binary format S $hz]
}

# SetCommandLifetime sets for how long a command of SetSpeed is good, in ms, at most 60000: the wheels stop unless it is
# repeated in time, also when this program hangs. A client with a lifetime yields: its zero speeds stop only what it drives
# itself. 0: the commands are good until the client leaves (PROTOCOL 5.5). 0.7.4a ignores it.
proc player::SetCommandLifetime {name ms} {
    if {![string is integer -strict $ms] || $ms < 0 || $ms > 60000} {
        throw {PLAYER USAGE} "a lifetime of \"$ms\" ms is not in 0..60000"
    }
    Setting [Robot $name] lifetime l [binary format S $ms]
}

# SetCompact selects the form of rounds: PLAIN, the default, COMPACT, which is smaller, without loss (PROTOCOL 8.4), or
# WHENFULL: compact while the network is found full. Tcl takes 20 ms to decode a scan. Servers that do not know it
# send plain rounds.
proc player::SetCompact {name form} {
    Setting [Robot $name] compact z [binary format c [Choice $form PLAIN COMPACT WHENFULL]]
}

# SetFresh turns freshness mode on (1) or off (0): a round is sent only if there is new data, and contains only that. It
# needs device y open for reading. Servers before this one do not have it.
proc player::SetFresh {name on} {
    set robot [Robot $name]
    if {$on && ![Readable $robot y]} {
        throw {PLAYER USAGE} "freshness mode needs device y: Request \"yr\" first"
    }
    Setting $robot fresh n [binary format c [expr {!!$on}]]
}

# SetName sets the name by which people see this client: at most 64 bytes of printable ASCII. "" removes it.
proc player::SetName {name client} {
    variable MAXNAME
    if {[string length $client] > $MAXNAME || ![regexp {^[ -~]*$} $client]} {
        throw {PLAYER USAGE} "a name has at most $MAXNAME bytes of printable ASCII"
    }
    Setting [Robot $name] name w $client
}

# EmergencyStop stops the robot for all (1), or releases the stop (0). While it holds, also when this
# client has left, the server drops all commands of all clients. It needs no open device, but the right to write;
# without it the server ignores the call.
proc player::EmergencyStop {name on} {
    Send [Robot $name] x y e[binary format c [expr {!!$on}]]
}

# Setting sends a setting of this connection and keeps it for Reconnect.
proc player::Setting {robot field code value} {
    variable private
    Send $robot x y $code$value
    set private($robot,$field) $value
    return
}

# RequestData asks for one round in request/reply mode. In continuous mode it has no effect.
proc player::RequestData {name} {
    Send [Robot $name] x y d
}

# ChangeMotorState turns the power of the motors on (1) or off (0). Be careful: the robot may start at once. This and
# the two calls below affect all clients, and need an open device of the microcontroller: position, sonar, misc or
# gripper.
proc player::ChangeMotorState {name on} {
    Send [Robot $name] x p m[binary format c [expr {!!$on}]]
}

# ChangeVelocityControl selects how the wheels follow SetSpeed: DIRECTWHEELVELOCITY, the default, is faster and jerkier
# than SEPARATETRANSROT.
proc player::ChangeVelocityControl {name mode} {
    Send [Robot $name] x p v[binary format c [Choice $mode DIRECTWHEELVELOCITY SEPARATETRANSROT]]
}

# ResetPosition sets the odometry to (0, 0, 0).
proc player::ResetPosition {name} {
    Send [Robot $name] x p R
}

# Config sends a configuration of any layout: a code letter and its argument. It needs no access.
proc player::Config {name device payload} {
    set robot [Robot $name]
    Send $robot x [Device $robot $device] $payload
}

proc player::Choice {value args} {
    set i [lsearch -exact $args $value]
    if {$i < 0} {
        throw {PLAYER USAGE} "\"$value\" is not one of [join $args {, }]"
    }
    return $i
}

# Procedures that take the name of a robot are for programs. Those that take the robot itself may change.
namespace eval player {
    foreach procedure [info procs] {
        if {[lindex [info args $procedure] 0] eq "name"} {
            namespace export $procedure
        }
    }
    unset procedure
}

# A Client is a robot as an object, with the methods that are the procedures above, without their first argument, and with a
# small first letter if you like. Further arguments are elements of the robot: timeout 2000 tls,authority lab.pem. To
# destroy it closes the connection.
oo::class create player::Client {
    ##nagelfar ignore Unknown command
    constructor {{host localhost} {port 6665} args} {
        my variable robot
        array set robot $args
        player::Connect [my varname robot] $host $port
    }

    ##nagelfar ignore Unknown command
    destructor {
        set name [my varname robot]
        catch { player::Close $name }
        array unset ::player::private $name,*
    }

    ##nagelfar ignore Unknown command
    method unknown {{method ""} args} {
        set procedure [string toupper $method 0 0]
        if {$procedure ni [namespace eval ::player { namespace export }] || $procedure eq "Simulation"} {
            throw {PLAYER USAGE} "\"$method\" is no method of a robot"
        }
        tailcall ::player::$procedure [my varname robot] {*}$args
    }
}
