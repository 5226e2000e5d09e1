#!/usr/bin/env tclsh
# Drives to a point, in metres from where the robot started, around obstacles: the server's goto device plans the way, so
# start the server with -goto.
#
# usage: goto.tcl [host [port [x [y]]]]
lappend auto_path [file dirname [file dirname [file normalize [info script]]]]
package require player

lassign [concat $argv [lrange {localhost 6665 1 0} [llength $argv] end]] host port x y
player::Connect robot $host $port
player::SetCommandLifetime robot 1000 ;# ms: if this script hangs, the robot stops
player::Request robot {goto all position read}
try {
    player::GoTo robot [dict create x [expr {1000 * $x}] y [expr {1000 * $y}]]
    puts "arrived at x $robot(position,xpos) mm, y $robot(position,ypos) mm"
} trap {PLAYER GOTO} {text} {
    puts $text
    exit 1
}
player::Close robot
