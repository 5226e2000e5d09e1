#!/usr/bin/env tclsh
# Writes a run of the robot into a table: where it is and how near things are, while other programs drive it. `player
# record` writes everything that the robot sends (docs/LOGS.md).
#
# usage: log.tcl [host [port [rounds]]] > run.csv
lappend auto_path [file dirname [file dirname [file normalize [info script]]]]
package require player

lassign [concat $argv [lrange {localhost 6665 600} [llength $argv] end]] host port rounds
player::Connect robot $host $port
player::Request robot {position read sonar read} ;# it reads only: the robot does what others command
puts "time_ms,x_mm,y_mm,heading_deg,speed_mm_per_s,nearest_mm"
for {set i 0} {$i < $rounds} {incr i} {
    player::Read robot
    set fired [lsearch -all -inline -not -exact $robot(sonar) 0]
    set nearest [expr {$fired eq "" ? "" : [tcl::mathfunc::min {*}$fired]}]
    puts [join [list $robot(position,time) $robot(position,xpos) $robot(position,ypos) $robot(position,heading) \
        $robot(position,speed) $nearest] ,]
}
player::Close robot
