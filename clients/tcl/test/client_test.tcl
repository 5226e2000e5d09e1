# The client against a server that sends the bytes of the test. The cases of clients/conformance have the others.
source [file join [file dirname [file normalize [info script]]] common.tcl]

proc served {name description body result} {
    uplevel #0 [list test $name $description -setup serve -cleanup finish -body $body -result $result]
}

served refused "the error has the granted pairs and the reasons" {
    say [reply srpe] "Y\0\21e\np used by a cat" [reply ""]
    try {
        player::Request robot srpa
    } trap {PLAYER REFUSED} {text options} {}
    list [dict get $options -errorcode] $text
} {{PLAYER REFUSED srpe {p {used {by a cat}}}} {asked for "srpa", granted "srpe"; device p: by a cat}}

served messages "names of codes, and messages of one's own" {
    say [reply pagw]
    player::Request robot pagw
    received 8
    set bytes {}
    foreach {size script} {
        6 {player::GripperCommand robot GRIPclose}
        6 {player::SetDataMode robot REQUESTREPLY}
        6 {player::ChangeVelocityControl robot SEPARATETRANSROT}
        6 {player::Command robot p ab}
        6 {player::Config robot l ab}
    } {
        eval $script
        lappend bytes [received $size]
    }
    set bytes
} {636700020200 787900027201 787000027601 637000026162 786c00026162}

served usage "nothing is sent" {
    set kinds {}
    foreach script {
        {player::Read robot} {player::SetFresh robot 1} {player::SetSpeed robot 1 1} {player::SetFrequency robot 0}
        {player::SetFrequency robot 65536} {player::SetFrequency robot fast} {player::SetDataMode robot NEVER}
        {player::GripperCommand robot GRIPopne} {player::Request robot srp} {player::SetCompact robot SMALL}
        {player::SetOutput robot io:0 1 1} {player::MoveJoint robot servo:0 1 1.5}
        {player::MoveJoint robot servo:0 1 1 -1}
        {player::Config robot p [string repeat x 513]} {player::Read nobody}
    } {
        lappend kinds [kind $script]
    }
    player::RequestData robot
    list $kinds [received 5]
} [list [lrepeat 15 USAGE] 7879000164]

# Numbers that are none, and letters that are none, are errors of usage; large ones keep their sign.
served numbers "nothing wrong is sent" {
    say [reply pwgw]
    player::Request robot pwgw
    received 8
    set kinds {}
    foreach script {
        {player::SetSpeed robot NaN 0} {player::SetSpeed robot 0 Inf} {player::SetSpeed robot fast 0} {player::SetSpeed robot "" 0}
        {player::SetCommandLifetime robot NaN} {player::SetFrequency robot Inf} {player::GripperCommand robot GRIPpress hard} {player::GripperCommand robot 256}
        {player::Config robot positions R} {player::Config robot "" R} {player::Config robot p \u0442}
    } {
        lappend kinds [kind $script]
    }
    player::SetSpeed robot 1e30 -18446744073709551615
    list $kinds [received 8]
} {{USAGE USAGE USAGE USAGE USAGE USAGE USAGE USAGE USAGE USAGE USAGE} 637000047fff8000}

served fresh-without-y "y was closed" {
    say [reply yr] [reply ycsr]
    player::Request robot yr
    player::SetFresh robot 1
    player::Request robot ycsr
    kind {player::Read robot}
} USAGE

# Otherwise each message of a backlog converts all that follow.
served bytes "what was received remains bytes" {
    say [reply sr] $S $S $S
    player::Request robot sr
    player::Read robot
    regexp {bytearray.*no string representation} [tcl::unsupported::representation $player::private(::robot,buffer)]
} 1

served closed "after Close" {
    player::Close robot
    list [kind {player::Request robot sr}] [kind {player::RequestData robot}] [player::Close robot]
} {CLOSED CLOSED {}}

served names "a robot of a namespace, and one named in a procedure" {
    set first $peer
    namespace eval ant {
        variable robot
        set robot(timeout) $::limit
        player::Connect robot 127.0.0.1 $::port
        player::Close robot
    }
    await {$peer ne $first}
    close $peer
    set peer $first
    proc inside {} {
        global robot
        player::RequestData robot
    }
    inside
    namespace delete ant
    received 5
} 7879000164

# Devices by their names.

proc answer {question args} { return [block Y [join [list $question {*}$args] \n]] }
set listed [answer d "108 laser 0 sick" "128 imu 0 a driver"][answer d "129 servo 2 lines" "130 io 0 x"][reply ""]
set moved [answer d "128 imu 1 x"][reply ""]
set asked 787900027164[binary encode hex dr]0000
set imu [hex "00000001 00000002 FFFFFFFD 80000000 00000005 00000006 00000007 00000008 00002647"]

served open "one question for all names; names are devices" {
    say $listed [reply \u0080r]
    set code [player::Open robot imu r]
    say [reply \u0081a] [block \u0080 $imu]
    player::Open robot servo:2 a
    player::MoveJoint robot servo:2 1 -2 4294967295
    player::StopJoints robot \u0081
    player::Config robot servo:2 R
    say [block \u0080 $imu] [block \u0081 ""]
    player::Read robot
    list [scan $code %c] [received 53] [player::Has robot imu] [player::Has robot servo:2] [player::IsNew robot imu:0] \
        [string length [player::Raw robot \u0080]] [player::Access robot servo:2] \
        [lmap field {yaw roll_rate z} {set robot(imu:0,$field)}] [player::DeviceName robot \u0081]
} [list 128 ${asked}647200028072647200028161[string cat 6381000901fffffffeffffffff 63810009ff8000000000000000 \
    7881000152] 1 0 1 36 a {-3 -2147483648 9799} servo:2]

served open-missing "an error names what there is" {
    say $listed
    try {
        player::Open robot gps r
    } trap {PLAYER REFUSED} {text options} {}
    list [dict get $options -errorcode] [lmap name {laser:0 servo:2 gps:0} {expr {[string first $name $text] >= 0}}]
} {{PLAYER REFUSED {} {}} {1 1 1}}

served open-usage "names that are none" {
    set kinds {}
    foreach name {"" :1 imu: imu:x imu:-1 "imu:1 " imu:2147483648 imu:99999999999} {
        lappend kinds [kind {player::Open robot $name r}]
    }
    player::RequestData robot
    list [lsort -unique $kinds] [received 5]
} {USAGE 7879000164}

served open-refused "why, by name" {
    say $listed [reply \u0080e] [answer e "imu:0 hardware it is unplugged" "imu:0 hardware again"] [reply ""]
    try {
        player::Open robot imu r
    } trap {PLAYER REFUSED} {text options} {}
    list [lindex [dict get $options -errorcode] 3] [string match "*imu:0*it is unplugged" $text]
} {{imu:0 {hardware {it is unplugged}}} 1}

served questions "lines that make no sense are left out, and answers to earlier questions" {
    say $listed
    set devices [player::Devices robot]
    set robot(timeout) 1
    set late [kind {player::Rays robot}]
    set robot(timeout) $limit
    say [answer r "l 0 9 0 0 0 0 0 0 0"] [reply ""] \
        [answer r "l 0 361 80 -10.5 -90 0.5 0 8182 0" "imu:3 0 1 0 0 0 0 0 0 0"] \
        [answer r "l 8191 2 0 0 0 0 0 0 0" "l 8191 1 0 0 0 0 0 0 0 more"] [reply ""]
    set rays [player::Rays robot]
    say [answer i "io:0 3 output mV -2147483648 2147483647 " "io:0 128 input bit 0 1 x" \
        "io:0 0 input bit 0 2147483648 x" "servo:2 08 joint mdeg -9 9 The elbow" "io:0 0 inputs bit 0 1 x" "io:1 0 input bit 0 1 x"] [reply ""]
    set channels [player::Channels robot]
    say [answer g "imu:0 0 1 2 3 4 5 6 7" "gps:0 0 1 2 3 4 5 6 7"] [reply ""]
    list [lindex $devices 1] $late [lmap ray $rays {lrange [dict values $ray] 0 4}] \
        [lmap channel $channels {dict values $channel}] [lmap part [player::Geometry robot] {dict get $part device}]
} [list [list device \u0080 name imu:0 driver {a driver}] TIMEOUT {{l 0 361 80 -10.5} {l 8191 1 0 0}} \
    {{io:0 3 output mV -2147483648 2147483647 {}} {servo:2 8 joint mdeg -9 9 {The elbow}}} imu:0]

served reconnect-names "devices must have the bytes that they had, each time" {
    say $listed [reply \u0080r]
    player::Open robot imu r
    player::SetCompact robot COMPACT
    received 22
    set kinds {}
    foreach greeting [list $moved $moved $listed[reply \u0080r]] {
        set peer ""
        lappend kinds [kind {player::Reconnect robot}]
        await {$peer ne ""}
        lappend kinds [received 16]
        if {[lindex $kinds end-1] eq "PROTOCOL"} {
            await {[read $peer] eq "" && [eof $peer]} ;# nothing is requested
        }
    }
    list $kinds [received 6]
} [list [list PROTOCOL 787900027a01$asked PROTOCOL 787900027a01$asked none 787900027a01$asked] 647200028072]

# Scripts with an event loop of their own.

proc heard {event text} {
    lappend ::events $event
    if {$::act ne ""} {
        uplevel #0 $::act
    }
}

served on-data "rounds, nonsense, the end" {
    lassign {} events act
    player::OnData robot heard
    say [reply sr]
    player::Request robot sr
    say $S$S[block s x]$S
    await {[llength $events] == 4}
    set kind [kind {player::Read robot}]
    close $peer
    await {[llength $events] == 5}
    list $events $kind
} {{round round protocol round closed} USAGE}

served on-data-request "requests from the loop; rounds behind the reply are delivered" {
    set events {}
    set act {set act ""; say [reply pr] $S$P; player::Request robot pr}
    player::OnData robot heard
    say [reply sr] $S
    player::Request robot sr
    await {[llength $events] == 2}
    player::Has robot p
} 1

served on-data-close "Close in the middle of what arrived" {
    set events {}
    set act {player::Close robot}
    say [reply sr] $S$S$S
    player::Request robot sr
    player::OnData robot heard
    await {[llength $events] > 0}
    after 0 {set done 1}
    vwait done
    set events
} round

served on-data-off "Read takes over" {
    lassign {} events act
    player::OnData robot heard
    say [reply sr]
    player::Request robot sr
    player::OnData robot ""
    say $S
    player::Read robot
    set events
} {}

served two-waits "a second wait for the same robot is refused" {
    say [reply sr]
    player::Request robot sr
    after 0 {set inner [kind {player::Read robot}]; say $S}
    player::Read robot
    set inner
} USAGE

# Requests by names.

served names "letters are known without a question, and the reply has the names of the request" {
    say [reply srpwyr]
    set first [player::Request robot {sonar read position write freshness r}]
    say $listed [reply \u0080rla]
    set second [player::Request robot {imu read laser:0 all}]
    list $first $second [received 28] [player::Access robot laser] [player::Access robot position]
} [list {sonar read position write freshness read} {imu read laser:0 all} \
    64720006737270777972787900027164647200006472000480726c61 a w]

served names-wrong "nothing is sent" {
    set kinds {}
    foreach wanted {"sonar maybe" "sonar read laser" "imu:x read" "sonar \{"} {
        lappend kinds [kind {player::Request robot $wanted}]
    }
    lappend kinds [kind {player::Open robot imu both}]
    player::RequestData robot
    list [lsort -unique $kinds] [received 5]
} {USAGE 7879000164}

served names-refused "the reasons have the names of the request" {
    say [reply sepw] [answer e "s off it is off"] [reply ""]
    try {
        player::Request robot {sonar read position write}
    } trap {PLAYER REFUSED} {text options} {}
    list [lindex [dict get $options -errorcode] 3] [string match "*device sonar: it is off" $text]
} {{sonar {off {it is off}}} 1}

served data "dicts and lists" {
    say $listed [reply \u0080rprsr] $P $S [block \u0080 $imu]
    set none [player::Data robot imu]
    player::Request robot {imu read position read sonar read}
    player::Read robot
    list $none [dict get [player::Data robot position] xpos] [dict get [player::Data robot imu] z] \
        [lindex [player::Data robot sonar] 15] [player::Data robot gps]
} {{} 2 9799 1 {}}

served colors "the colours of vision" {
    say [answer v "v 0 FFa500 and more" "v 32 000000" "v 1 red"] [answer v "v 31 00ff00"] [reply ""]
    player::Colors robot
} {{device v channel 0 color #ffa500} {device v channel 31 color #00ff00}}

# Goals. A goto device answers each goal by a script with the payload that it got, and how many there were.
set gotoListed [answer d "130 goto 0 goto"][reply ""]
proc gotoData {goal state {reason 0}} {
    block \u0082 [binary format cc $state $reason][string range $goal 18 19][string range $goal 0 9][binary format I 7]
}
proc driven {script} {
    global robot peer gotoListed
    set ::goals {}
    say $gotoListed [reply \u0082a]
    player::Request robot {goto all}
    received 16
    chan event $peer readable [list apply {{script} {
        set bytes [read $::peer 24]
        if {[string range $bytes 0 1] eq "c\u0082"} {
            lappend ::goals [string range $bytes 4 end]
            say [apply [list {goal n} $script] [lindex $::goals end] [llength $::goals]]
        }
    }} $script]
}

served goal "a drive to a goal" {
    driven { gotoData $goal [lindex {1 3 2} $n-1] }
    player::GoTo robot {x 1500.4 y -2500 heading 359 speed 300}
    set tag [string range [lindex $goals 0] 18 19]
    list [llength $goals] [llength [lsort -unique $goals]] [binary encode hex [string range [lindex $goals 0] 0 17]] \
        $robot(goto:0,state) $robot(goto:0,x) $robot(goto:0,heading) $robot(goto:0,distance) $robot(goto:0,why)
} {3 1 000005dcfffff63c0167012c000000000000 arrived 1500 359 7 {}}

served goal-stopped "the robot gives up, and says why" {
    driven { gotoData $goal 4 8 }
    try {
        player::GoTo robot {x 1 y 2}
    } trap {PLAYER GOTO} {text options} {}
    list [dict get $options -errorcode] $text [llength $goals]
} {{PLAYER GOTO 8} {the robot has not arrived at (1, 2) mm: its motors are off} 1}

served goal-replaced "another goal is not stopped" {
    driven { gotoData [expr {$n == 1 ? $goal : [string repeat \1 20]}] 1 }
    list [kind {player::GoTo robot {x 1 y 2}}] [llength $goals]
} {GOTO 2}

served goal-ended "the robot stops if the drive ends otherwise" {
    driven { expr {$n == 1 ? [gotoData $goal 1] : [block \u0082 x]} }
    set kind [kind {player::GoTo robot {x 1 y 2}}]
    await {[llength $goals] == 3}
    list $kind [binary encode hex [lindex $goals 2]]
} {PROTOCOL 8000000000000000000000000000000000000000}

served goal-usage "goals that are none" {
    driven {}
    set kinds {}
    foreach goal {{} {x 1} {x 1 y} {x NaN y 0} {x 1 y Inf} {x -2147483648 y 0} {x 0 y 0 speed -1} {x 0 y 0 tag 65536}} {
        lappend kinds [kind {player::SetGoal robot $goal}]
    }
    lappend kinds [kind {player::GoTo robot {x 1 y 1} laser}]
    list [lsort -unique $kinds] $goals
} {USAGE {}}

# A robot as an object.

served object "methods are procedures, and the end of the object is that of the connection" {
    close $peer
    set peer ""
    set client [player::Client new 127.0.0.1 $port timeout $limit]
    await {$peer ne ""}
    say [reply sr] $S
    set granted [$client request {sonar read}]
    $client Read
    set result [list $granted [lindex [$client data sonar] 0] [kind {$client reset}] [kind {$client}]]
    received 6
    $client destroy
    await {[read $peer] eq "" && [eof $peer]}
    lappend result [llength [array names player::private *$client*]]
} {{sonar read} 1 USAGE USAGE 0}

served limit "no call waits for ever unless it is asked to" {
    set client [player::Client new 127.0.0.1 $port]
    set limits [list [set [info object namespace $client]::robot(timeout)] [player::Deadline robot]]
    $client destroy
    list [lindex $limits 0] [expr {[lindex $limits 1] ne ""}]
} {60000 1}

test exported {a program imports what is for programs, and nothing else} -body {
    namespace eval importing {
        namespace import ::player::*
        lmap name {Connect Read SetSpeed Config Reset Choice Robot Await} {expr {[llength [info commands $name]] == 1}}
    }
} -cleanup {
    namespace delete importing
} -result {1 1 1 1 0 0 0 0}

tcltest::cleanupTests
