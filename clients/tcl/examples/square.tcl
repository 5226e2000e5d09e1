#!/usr/bin/env tclsh
# Drives a square of one metre by the odometry, to the left, and ends where it began. It looks at no sensor: give it room.
#
# usage: square.tcl [host [port [rounds]]]
lappend auto_path [file dirname [file dirname [file normalize [info script]]]]
package require player

set side 1000       ;# mm
set fast 200        ;# mm/s
set maxturn 30      ;# deg/s
set near 20         ;# mm, and
set exact 2         ;# deg: there

# limited returns a speed that falls towards the end of the way, so that the robot does not drive too far.
proc limited {value most} {
    return [expr {round(max(-$most, min($value, $most)))}]
}

lassign [concat $argv [lrange {localhost 6665 1200} [llength $argv] end]] host port rounds
player::Connect robot $host $port
player::SetCommandLifetime robot 500 ;# ms: if this script hangs, the robot stops
player::Request robot {position all} ;# read the odometry, write the wheels
set sides 0
set turning 0
for {set i 0} {$i < $rounds && ($sides < 4 || $turning)} {incr i} {
    player::Read robot
    set pose [player::Data robot position]
    lassign [list [dict get $pose xpos] [dict get $pose ypos] [dict get $pose heading]] xpos ypos heading
    if {$i == 0} {
        lassign [list $xpos $ypos $heading] x y wanted ;# of the corner where this side began
    }
    set wrong [expr {($wanted - $heading + 180) % 360 - 180}] ;# deg to turn to the left
    if {$turning && abs($wrong) <= $exact} {
        lassign [list 0 $xpos $ypos] turning x y
    }
    set left [expr {$side - hypot($xpos - $x, $ypos - $y)}] ;# mm
    if {$turning} {
        player::SetSpeed robot 0 [limited $wrong $maxturn]
    } elseif {$left > $near} {
        player::SetSpeed robot [limited $left $fast] [limited $wrong $maxturn]
    } else {
        player::SetSpeed robot 0 0
        incr sides
        set turning 1
        set wanted [expr {($wanted + 90) % 360}]
    }
}
puts "$sides sides; x $xpos mm, y $ypos mm, heading $heading deg"
player::Close robot
