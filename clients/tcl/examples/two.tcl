#!/usr/bin/env tclsh
# Drives two robots in one script, by events, each around obstacles with its sonars.
#
#   player -stage simulation/worlds/subsumption-fleet.world
#
# usage: two.tcl [host [port [rounds [host of the second [its port]]]]]
lappend auto_path [file dirname [file dirname [file normalize [info script]]]]
package require player
source [file join [file dirname [file normalize [info script]]] steering.tcl]

# steer drives a robot by its newest sonar data, and ends after the last round.
proc steer {robot name event text} {
    global left
    if {$event ne "round"} {
        puts "$name: $text"
        exit 1
    }
    if {[$robot has sonar]} {
        $robot setSpeed {*}[around [$robot data sonar]]
    }
    if {[incr left($robot) -1] == 0} {
        set pose [$robot data position]
        puts "$name: x [dict get $pose xpos] mm, y [dict get $pose ypos] mm"
        $robot destroy
        unset left($robot)
    }
}

lassign [concat $argv [lrange {localhost 6665 300 localhost 6666} [llength $argv] end]] host port rounds other otherPort
foreach {host port} [list $host $port $other $otherPort] {
    set robot [player::Client new $host $port]
    $robot setCommandLifetime 500 ;# ms: if this script hangs, the robot stops
    $robot request {sonar read position all}
    set left($robot) $rounds
    $robot onData [list steer $robot $host:$port]
}
while {[array size left] > 0} {
    vwait left
}
