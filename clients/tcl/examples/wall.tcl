#!/usr/bin/env tclsh
# Follows walls with the laser: it keeps the nearest wall half a metre to its right.
#
# usage: wall.tcl [host [port [rounds]]]
lappend auto_path [file dirname [file dirname [file normalize [info script]]]]
package require player

set wanted 500  ;# mm from the laser to the wall
set far 1500    ;# mm; a wall beyond is not followed yet
set cruise 250  ;# mm/s
set maxturn 40  ;# deg/s

# speed returns mm/s: slower the nearer an obstacle ahead, 20 degrees to each side. Range i points to i/2 - 90 degrees.
proc speed {laser} {
    set ahead [tcl::mathfunc::min {*}[lrange $laser 140 220]]
    return [expr {max(0, min(($ahead - 350) / 2, $::cruise))}]
}

# turn returns deg/s: turns until the wall is at the right (index 0), and towards the wanted distance.
proc turn {laser} {
    set ranges [lrange $laser 0 270] ;# everything but the left
    set range [tcl::mathfunc::min {*}$ranges]
    if {$range > $::far} {
        return 0 ;# straight on to the next wall
    }
    # A wall ahead must come to the right.
    set direction [expr {[lsearch -exact $ranges $range] / 2}] ;# deg from the right
    set distance [expr {max(-20, min(($::wanted - $range) / 10, 20))}] ;# too near: to the left
    return [expr {max(-$::maxturn, min($direction + $distance, $::maxturn))}]
}

lassign [concat $argv [lrange {localhost 6665 1000} [llength $argv] end]] host port rounds
player::Connect robot $host $port
player::SetCommandLifetime robot 500 ;# ms: if this script hangs, the robot stops
player::Request robot {laser read position write}
for {set i 0} {$i < $rounds} {incr i} {
    player::Read robot
    if {[player::Has robot laser]} {
        player::SetSpeed robot [speed $robot(laser)] [turn $robot(laser)]
    }
}
player::Close robot
