# The bytes of a connection, from inside. The cases of clients/conformance have the rounds and the payloads.
source [file join [file dirname [file normalize [info script]]] common.tcl]

# fresh makes the robot one that has received nothing.
proc fresh {} {
    upvar #0 robot robot
    array unset robot
    array unset player::private
    player::Reset ::robot
}

test largest-message "the buffer is bounded" {
    fresh
    set bytes [reply Xr][block X [string repeat 7 65535]][block X [string repeat 8 65535]]
    set rounds 0
    set largest 0
    for {set at 0} {$at < [string length $bytes]} {incr at $player::CHUNK} {
        player::Append ::robot [string range $bytes $at [expr {$at + $player::CHUNK - 1}]]
        set largest [expr {max($largest, [string length $player::private(::robot,buffer)])}]
        while {[set event [player::Next ::robot]] ne ""} {
            incr rounds [expr {$event eq "round"}]
        }
    }
    list $rounds [expr {$largest <= 2 * 65536 + 3}]
} {2 1}

test access "what is open, in the order of first opening" {
    fresh
    player::Append ::robot [reply srpwlrpe][reply scpalr][reply zrlc]
    foreach i {1 2 3} {
        player::Next ::robot
        lappend open $player::private(::robot,wanted)
    }
    list $open $player::private(::robot,readers)
} {{srlr palr pazr} 2}

# list_devices lists a device of each interface without a letter, and a second laser and misc.
proc list_devices {} {
    set player::private(::robot,answer) listed
    player::Listed ::robot [player::Entries [list "108 laser 0 sick" "128 laser 1 urg" "later servers say more" \
        "129 ranger 0 a driver" "130 imu 0 x" "131 gps 0 x" "132 io 0 x" "255 servo 12 x" "44 misc 1 x" "0 imu 1 x" \
        "256 imu 1 x" "133 i:u 1 x" "133 imu 2147483648 x" "133 imu 1"]]
}

test noise "random messages are never more than a PROTOCOL error" {
    fresh
    list_devices
    expr {srand(1)}
    set kinds {}
    for {set i 0} {$i < 2000} {incr i} {
        set letter [string index plsmgvzjyrXZY\u0080\u0081\u0082\u0083\u0084\u00FF [expr {int(rand() * 19)}]]
        set payload ""
        for {set n [expr {int(rand() * 80)}]} {$n > 0} {incr n -1} {
            append payload [format %c [expr {int(rand() * 256)}]]
        }
        player::Append ::robot [block $letter $payload]
        set event more
        while {$event ne ""} {
            lappend kinds [kind {set event [player::Next ::robot]}]
        }
    }
    lsort -unique $kinds
} {PROTOCOL none}

test listed "devices, as lines name them and as people see them" {
    fresh
    list_devices
    set known {}
    foreach key {laser:1 misc:1 p laser:2 xx ""} {
        lappend known [player::KeyOf ::robot $key]
    }
    list $known [lmap device {l , \u0082 p \u0007} { player::Label ::robot $device }] \
        [player::Pairs ::robot srlr\u0082r] [lmap name {imu imu:0 servo servo:12 p} { player::Device ::robot $name }] \
        [dict size $player::private(::robot,names)]
} [list [list \u0080 , p "" "" ""] {l misc:1 imu:0 p 7} srlrimu:0=r [list \u0082 \u0082 servo \u00FF p] 8]

test second "a second device has elements of its own" {
    fresh
    list_devices
    set robot(misc,voltage) 1
    player::Decode ::robot , [hex "01027D"]
    list $robot(misc:1,rearbumpers) $robot(misc:1,battery) $robot(misc,voltage)
} {2 125 1}

test limits "payloads above the limits of their data" {
    fresh
    list_devices
    lmap {device size} {\u0081 16388 \u0084 516 \u00FF 585} {
        kind { player::Decode ::robot $device [string repeat \1 $size] }
    }
} {PROTOCOL PROTOCOL PROTOCOL}

# All kinds of items, whose bytes the server's encoder has made: a part of a laser scan is the last.
set frame [hex {
    5a0088794980808080802001a19c01ffffffff0f000203735d46bfedab9928e75fcd0b23a629a37917f0c5a4715c3a79703df0a20409808080
    01e702c7012803017a15c70132fe0f6a3505fdff03feff03020100000000768d01040120020001010101010101010101010101010101010101
    01010101014e01010101016c3209121464524daf35d47f0664
}]

# events takes all input, and returns its events.
proc events {} {
    set events {}
    set event more
    while {$event ne ""} {
        set kind [kind {set event [player::Next ::robot]}]
        lappend events [expr {$kind eq "none" ? $event : $kind}]
    }
    return $events
}

test compact "a compact frame is the plain one" {
    fresh
    player::Append ::robot [reply yrsrprzrjrvrlr]$frame
    set events [events]
    set scan [lrepeat 361 0]
    for {set i 9} {$i < 361} {incr i 18} {
        lset scan $i [expr {(2050 + 10 * $i) / 100 * 100}]
    }
    list $events $robot(server,time) $player::private(::robot,ages) [lrange $robot(sonar) 0 2] $robot(position,xpos) \
        $robot(position,speed) $robot(ptz,pan) $robot(joystick,buttons) $robot(joystick,axes) \
        [lindex $robot(vision,NumBlobs) 31] [dict get [lindex $robot(vision,Blobs) 31 1] x] \
        [expr {$robot(laser) eq $scan}]
} [list {reply block block block block block block block round {}} 1099511627776 {0 20000 4294967294 4294967295 1 2} \
    {7 1007 2007} -5 -100 -100 5 {-32767 32767 1 -1 0 0 0 0} 2 77 1]

test compact-broken "what follows a broken compact frame is understood" {
    fresh
    expr {srand(3)}
    player::Append ::robot [reply srpr]
    events
    set kinds {}
    for {set i 0} {$i < 300} {incr i} {
        set broken $frame
        for {set n 0} {$n < 1 + $i % 3} {incr n} {
            set at [expr {3 + int(rand() * ([string length $frame] - 3))}]
            set broken [string replace $broken $at $at [format %c [expr {int(rand() * 256)}]]]
        }
        player::Append ::robot $broken
        lappend kinds {*}[events]
        player::Append ::robot [reply srpr]$S$P
        if {[lrange [events] end-3 end] ne {reply block round {}}} {
            error "after [binary encode hex $broken]"
        }
    }
    lsort -unique $kinds
} {{} PROTOCOL block round}

test freshness "time and ages unsigned" {
    fresh
    player::Decode ::robot y [hex "0123456789ABCDEF 000000FA FFFFFFFF FFFFFFFE 00000000"]
    list $robot(server,time) $player::private(::robot,ages)
} {81985529216486895 {250 4294967295 4294967294 0}}

tcltest::cleanupTests
