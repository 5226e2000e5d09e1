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

test noise "random messages are never more than a PROTOCOL error" {
    fresh
    expr {srand(1)}
    set kinds {}
    for {set i 0} {$i < 2000} {incr i} {
        set letter [string index plsmgvzjyrX [expr {int(rand() * 11)}]]
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

test freshness "time and ages unsigned" {
    fresh
    player::Decode ::robot y [hex "0123456789ABCDEF 000000FA FFFFFFFF FFFFFFFE 00000000"]
    list $robot(server,time) $player::private(::robot,ages)
} {81985529216486895 {250 4294967295 4294967294 0}}

tcltest::cleanupTests
