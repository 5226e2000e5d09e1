#!/usr/bin/env tclsh
# Drives around obstacles with the sonars, as in C.4 of the manual: the nearer an obstacle, the slower it drives; it
# turns towards the side with more room; without room it backs off.
#
# usage: avoid.tcl [host [port [rounds]]]
lappend auto_path [file dirname [file dirname [file normalize [info script]]]]
package require player
source [file join [file dirname [file normalize [info script]]] steering.tcl]

lassign [concat $argv [lrange {localhost 6665 400} [llength $argv] end]] host port rounds
player::Connect robot $host $port
player::SetCommandLifetime robot 500 ;# ms: if this script hangs, the robot stops
player::Request robot {sonar read position write}
for {set i 0} {$i < $rounds} {incr i} {
    player::Read robot
    player::SetSpeed robot {*}[around $robot(sonar)]
}
player::Close robot
