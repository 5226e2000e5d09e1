#!/usr/bin/env tclsh
# Prints one line for each round of new data from all sensors, with its age. If the connection is lost, it waits for the
# server to return. It never drives the robot.
#
# usage: watch.tcl [host [port [rounds]]]
lappend auto_path [file dirname [file dirname [file normalize [info script]]]]
package require player

proc text {device} {
    upvar #0 robot r
    switch -- $device {
        p {
            set stall [expr {$r(position,stalls) ? " STALLED" : ""}]
            return "at $r(position,xpos),$r(position,ypos) mm $r(position,heading) deg$stall"
        }
        s { return "sonar ahead [expr {min([lindex $r(sonar) 3], [lindex $r(sonar) 4])}] mm" }
        l { return "laser ahead [lindex $r(laser) 180] mm" }
        m { return "[expr {$r(misc,voltage) / 10.0}] V" }
        g { return [expr {$r(gripper,paddlesOpen) ? "paddles open" : "paddles not open"}] }
        z { return "camera pan $r(ptz,pan) deg" }
        v { return "[llength [lsearch -all -not -exact $r(vision,NumBlobs) 0]] colours" }
        j { return "joystick $r(joystick,axes)" }
    }
}

lassign [concat $argv [lrange {localhost 6665 0} [llength $argv] end]] host port rounds ;# 0: for ever
set devices {p s l m g z v j}
player::Connect robot $host $port
try {
    player::Request robot yr[join $devices r]r
} trap {PLAYER REFUSED} {text} {
    puts $text ;# the rest is read
}
player::SetFresh robot 1
for {set i 0} {$rounds == 0 || $i < $rounds} {incr i} {
    try {
        player::Read robot
    } trap {PLAYER CLOSED} {text} {
        puts $text
        player::Reconnect robot
        continue
    }
    set line [format "%.3f s" [expr {$robot(server,time) / 1e6}]]
    foreach device $devices {
        if {[player::IsNew robot $device] && [player::Has robot $device]} {
            append line [format "  %s (%.1f ms old)" [text $device] [expr {[player::Age robot $device] / 1e3}]]
        }
    }
    puts $line
}
player::Close robot
