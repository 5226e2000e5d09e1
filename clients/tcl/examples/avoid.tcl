#!/usr/bin/env tclsh
# Drives around obstacles with the sonars, as in C.4 of the manual: the nearer an obstacle, the slower it drives; it
# turns towards the side with more room; without room it backs off.
#
# usage: avoid.tcl [host [port [rounds]]]
lappend auto_path [file dirname [file dirname [file normalize [info script]]]]
package require player

# nearest returns the smallest of some ranges in mm. Sonars at 0 have not fired yet.
proc nearest {ranges} {
    set fired [lsearch -all -inline -not -exact $ranges 0]
    if {$fired eq ""} {
        return 300 ;# neither forward nor back
    }
    return [tcl::mathfunc::min {*}$fired]
}

# push returns how much one side drives the robot on: -100 at the wall, 0 at 300 mm, 150 from 750 mm on.
proc push {mm} {
    return [expr {min(100 * $mm / 300 - 100, 150)}]
}

lassign [concat $argv [lrange {localhost 6665 400} [llength $argv] end]] host port rounds
player::Connect robot $host $port
player::Request robot srpw ;# sonar read, position write
for {set i 0} {$i < $rounds} {incr i} {
    player::Read robot
    set left [push [nearest [lrange $robot(sonar) 1 3]]]
    set right [push [nearest [lrange $robot(sonar) 4 6]]]
    # Room on both sides adds up to speed, the difference to turning.
    player::SetSpeed robot [expr {$left + $right}] [expr {$left - $right}]
}
player::Close robot
