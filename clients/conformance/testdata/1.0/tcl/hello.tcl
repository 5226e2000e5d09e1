#!/usr/bin/env tclsh
# Prints the sonar ranges in mm and drives with very limited obstacle avoidance: the program of figure 3 of the manual.
#
# usage: hello.tcl [host [port [rounds]]]
lappend auto_path [file dirname [file dirname [file normalize [info script]]]]
package require player

lassign [concat $argv [lrange {localhost 6665 1000} [llength $argv] end]] host port rounds
player::Connect robot $host $port
player::Request robot srpw ;# sonar read, position write
for {set i 0} {$i < $rounds} {incr i} {
    player::Read robot ;# waits for data, ten times a second
    puts $robot(sonar)
    lassign $robot(sonar) s0 s1 s2 s3 s4 s5 s6 s7
    set turnrate [expr {$s0 + $s1 < $s6 + $s7 ? -20 : 20}] ;# deg/s
    set speed [expr {$s3 < 500 ? 0 : 100}] ;# mm/s
    player::SetSpeed robot $speed $turnrate
}
player::Request robot scpc ;# close both; the robot stops
player::Close robot
