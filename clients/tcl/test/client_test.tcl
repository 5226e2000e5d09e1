# The client against a server that sends what the test states. The cases of clients/conformance have the others.
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
