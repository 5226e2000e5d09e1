# The client against a server that sends what the test states, and may send before it is asked.
source [file join [file dirname [file normalize [info script]]] common.tcl]

proc served {name description body result} {
    uplevel #0 [list test $name $description -setup serve -cleanup finish -body $body -result $result]
}

served request "the reply, then data" {
    say [reply srpa] $S $P
    player::Request robot srpa
    set before [player::Has robot s]
    player::Read robot
    list [received 8] $before $robot(position,ypos) [lindex $robot(sonar) 15] [player::Has robot p] \
        [player::IsNew robot p] [player::Has robot l] [player::IsNew robot l] [string length [player::Raw robot s]] \
        [player::Raw robot l] [player::Age robot s]
} {6472000473727061 0 -3 1 1 1 0 0 32 {} {}}

served refused "the granted pairs are in force" {
    say [reply srpe] "Y\0\21e\np used by a cat" [reply ""]
    try {
        player::Request robot srpa
    } trap {PLAYER REFUSED} {text options} {}
    say $S
    player::Read robot
    say [reply lr]
    list [dict get $options -errorcode] $text [kind {player::SetSpeed robot 1 1}] [kind {player::Request robot sr}]
} {{PLAYER REFUSED srpe {p {used {by a cat}}}} {asked for "srpa", granted "srpe"; device p: by a cat} USAGE PROTOCOL}

served upgrade "more than asked for is a success" {
    say [reply srpr] [reply pa]
    list [player::Request robot srpr] [player::Request robot pw] [player::Access robot p] [player::Access robot l]
} {srpr pa a {}}

served messages "their bytes" {
    say [reply pazwgwyr]
    player::Request robot pazwgwyr
    received 12
    set bytes {}
    foreach {size script} {
        8 {player::SetSpeed robot 100 -20}
        8 {player::SetSpeed robot 40000 -40000}
        10 {player::SetPTZ robot -100 25 1023}
        6 {player::GripperCommand robot GRIPclose}
        6 {player::GripperCommand robot 16 200}
        7 {player::SetFrequency robot 1000}
        6 {player::SetDataMode robot REQUESTREPLY}
        5 {player::RequestData robot}
        6 {player::SetFresh robot yes}
        6 {player::ChangeMotorState robot 1}
        6 {player::ChangeVelocityControl robot SEPARATETRANSROT}
        5 {player::ResetPosition robot}
        6 {player::Command robot p ab}
        6 {player::Config robot l ab}
    } {
        eval $script
        lappend bytes [received $size]
    }
    set bytes
} {637000040064ffec 637000047fff8000 637a0006ff9c001903ff 636700020200 6367000210c8 787900036603e8 787900027201\
    7879000164 787900026e01 787000026d01 787000027601 7870000152 637000026162 786c00026162}

served usage "nothing is sent" {
    set kinds {}
    foreach script {
        {player::Read robot} {player::SetFresh robot 1} {player::SetSpeed robot 1 1} {player::SetFrequency robot 0}
        {player::SetFrequency robot 65536} {player::SetFrequency robot fast} {player::SetDataMode robot NEVER}
        {player::GripperCommand robot GRIPopne} {player::Request robot srp}
        {player::Config robot p [string repeat x 513]} {player::Read nobody}
    } {
        lappend kinds [kind $script]
    }
    player::RequestData robot
    list $kinds [received 5]
} {{USAGE USAGE USAGE USAGE USAGE USAGE USAGE USAGE USAGE USAGE USAGE} 7879000164}

# Numbers that are none, and letters that are none, are errors of usage; large ones keep their sign.
served numbers "nothing wrong is sent" {
    say [reply pwgw]
    player::Request robot pwgw
    received 8
    set kinds {}
    foreach script {
        {player::SetSpeed robot NaN 0} {player::SetSpeed robot 0 Inf} {player::SetSpeed robot fast 0} {player::SetSpeed robot "" 0}
        {player::SetCommandLifetime robot NaN} {player::SetFrequency robot Inf} {player::GripperCommand robot GRIPpress hard} {player::GripperCommand robot 256}
        {player::Config robot position R} {player::Config robot "" R} {player::Config robot p \u0442}
    } {
        lappend kinds [kind $script]
    }
    player::SetSpeed robot 1e30 -18446744073709551615
    list $kinds [received 8]
} {{USAGE USAGE USAGE USAGE USAGE USAGE USAGE USAGE USAGE USAGE USAGE} 637000047fff8000}

served timeout "in the middle of a round; the next Read continues it" {
    say [reply srpr]
    player::Request robot srpr
    say $S [string range $P 0 4]
    set robot(timeout) 20
    set kind [kind {player::Read robot}]
    set robot(timeout) $limit
    say [string range $P 5 end]
    player::Read robot
    list $kind $robot(position,ypos)
} {TIMEOUT -3}

served late-reply "a reply after the timeout is taken by Read" {
    set robot(timeout) 20
    set kind [kind {player::Request robot sr}]
    set robot(timeout) $limit
    say [reply sr] $S
    player::Read robot
    say $S [reply pr] $S $P
    player::Request robot pr
    player::Read robot
    list $kind [player::Has robot s] [player::Has robot p]
} {TIMEOUT 1 1}

served freshness "ages in us" {
    say [reply yrsrpr] [y 4096 16 -1] $S [block p ""]
    player::Request robot yrsrpr
    player::SetFresh robot 1
    player::Read robot
    set first [list $robot(server,time) [player::Age robot s] [player::Age robot p] [player::Has robot p]]
    say [y 8192 3] $P
    player::Read robot
    list $first [player::IsNew robot p] [player::IsNew robot s] [player::Age robot s] [player::Age robot p]
} {{4096 16 {} 0} 1 0 4112 3}

served fresh-without-y "y was closed" {
    say [reply yr] [reply ycsr]
    player::Request robot yr
    player::SetFresh robot 1
    player::Request robot ycsr
    kind {player::Read robot}
} USAGE

foreach {name rest} [list "between messages" "" "in a header" "s" "in a block" [string range $S 0 9] "in a round" $S] {
    served gone-$name "the server closes the connection" {
        say [reply srpr] $rest
        player::Request robot srpr
        close $peer
        list [kind {player::Read robot}] [kind {player::Read robot}]
    } {CLOSED CLOSED}
}

# Otherwise each message of a backlog converts all that follow.
served bytes "what was received remains bytes" {
    say [reply sr] $S $S $S
    player::Request robot sr
    player::Read robot
    regexp {bytearray.*no string representation} [tcl::unsupported::representation $player::private(::robot,buffer)]
} 1

served nobody "no server" {
    kind {player::Connect other 127.0.0.1 1} ;# a port of the listener's range may connect to itself
} CLOSED

served closed "after Close" {
    player::Close robot
    list [kind {player::Request robot sr}] [kind {player::RequestData robot}] [player::Close robot]
} {CLOSED CLOSED {}}

served reconnect "settings and devices are restored" {
    say [reply yrsrlrpa] [reply lc]
    player::Request robot yrsrlrpa
    player::Request robot lc
    player::SetFrequency robot 50
    player::SetName robot me
    player::SetFresh robot 1
    close $peer
    set kind [kind {player::Read robot}]
    set greeting [reply yrsrpa][y 4096 16]$S
    player::Reconnect robot
    set restored [received 30]
    set has [player::Has robot s]
    player::Read robot
    list $kind $restored $has [player::IsNew robot s]
} {CLOSED 78790003776d657879000366003264720006797273727061787900026e01 0 1}

served reconnect-refused "what is not granted is asked for again" {
    say [reply srpa]
    player::Request robot srpa
    set results {}
    set greeting [reply srpe][reply ""]
    foreach i {1 2} {
        lappend results [kind {player::Reconnect robot}] [received 18]
    }
    set results
} {REFUSED 647200047372706178790002716564720000 REFUSED 647200047372706178790002716564720000}

served reconnect-nobody "it tries until the timeout" {
    close $peer
    close $listener
    set robot(timeout) 250
    kind {player::Reconnect robot}
} CLOSED

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

test exported {a program imports what is for programs, and nothing else} -body {
    namespace eval importing {
        namespace import ::player::*
        lmap name {Connect Read SetSpeed Config Reset Choice Robot Await} {expr {[llength [info commands $name]] == 1}}
    }
} -cleanup {
    namespace delete importing
} -result {1 1 1 1 0 0 0 0}

tcltest::cleanupTests
