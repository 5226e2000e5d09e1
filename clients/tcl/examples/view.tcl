# The geometry of the viewer, without Tk: the data of sensors, in mm on the floor. x is forward of the robot's centre of
# rotation and y to the left. Figures are flat lists of coordinates: x y x y ...

namespace eval view {
    # The sonars of a Pioneer 2-DX: x mm, y mm, direction deg.
    variable sonars {
        {69 136 90} {114 119 50} {148 78 30} {166 27 10} {166 -27 -10} {148 -78 -30} {114 -119 -50} {69 -136 -90}
        {-157 -136 -90} {-203 -119 -130} {-237 -78 -150} {-255 -27 -170} {-255 27 170} {-237 78 150} {-203 119 130}
        {-157 136 90}
    }
    variable cone 15 ;# deg, opening of a sonar's beam
    variable laser 80 ;# mm from the centre of rotation forward to the laser
    # The outline of a Pioneer 2-DX.
    variable robot {180 80 90 190 -170 190 -260 80 -260 -80 -170 -190 90 -190 180 -80}
}

proc view::radians {degrees} {
    return [expr {$degrees * acos(-1) / 180}]
}

# along returns the point at a distance in a direction from x, y.
proc view::along {x y degrees mm} {
    set a [radians $degrees]
    return [list [expr {$x + $mm * cos($a)}] [expr {$y + $mm * sin($a)}]]
}

# sonar returns the triangle that the beam of sonar i covers up to its range, or {} if it has none.
proc view::sonar {i range} {
    variable sonars
    variable cone
    if {$range == 0} {
        return {}
    }
    lassign [lindex $sonars $i] x y direction
    return [concat $x $y [along $x $y [expr {$direction - $cone / 2.0}] $range] \
        [along $x $y [expr {$direction + $cone / 2.0}] $range]]
}

# scan returns the area that a laser scan of 361 ranges found free.
proc view::scan {ranges} {
    variable laser
    set figure [list $laser 0]
    set i 0
    foreach range $ranges {
        lappend figure {*}[along $laser 0 [expr {$i / 2.0 - 90}] $range]
        incr i
    }
    return $figure
}

# pixels maps a figure to the screen: forward is up. The robot is at column cx and row cy; scale is in pixels per mm.
proc view::pixels {figure cx cy scale} {
    set pixels {}
    foreach {x y} $figure {
        lappend pixels [expr {$cx - $y * $scale}] [expr {$cy - $x * $scale}]
    }
    return $pixels
}

# drive maps a point on the screen, dx pixels right and dy below the robot, to speed in mm/s and turn rate in deg/s. The
# greatest ones are at reach pixels.
proc view::drive {dx dy reach} {
    set speed [expr {round(-300.0 * $dy / $reach)}]
    set turnrate [expr {round(-60.0 * $dx / $reach)}]
    return [list [expr {max(-300, min($speed, 300))}] [expr {max(-60, min($turnrate, 60))}]]
}

# summary returns the numbers of a robot's data as text, a line for each device that has data.
proc view::summary {name} {
    upvar #0 $name r
    set lines {}
    foreach {device text} {
        p {position $r(position,xpos), $r(position,ypos) mm, $r(position,heading) deg, $r(position,speed) mm/s,\
            $r(position,turnrate) deg/s[expr {$r(position,stalls) ? " STALLED" : ""}]}
        m {battery [format %.1f [expr {$r(misc,voltage) / 10.0}]] V, bumpers front\
            [format %05b $r(misc,frontbumpers)] rear [format %05b $r(misc,rearbumpers)]}
        g {gripper [join [lsearch -all -inline -not [lmap n [lsort [array names r gripper,*]] {
            expr {$r($n) ? [string range $n 8 end] : ""}}] {}] ", "]}
        z {camera pan $r(ptz,pan) deg, tilt $r(ptz,tilt) deg, zoom $r(ptz,zoom)}
    } {
        if {[player::Has ::$name $device]} {
            set age [player::Age ::$name $device]
            lappend lines [subst $text]
            if {$age ne ""} {
                lset lines end "[lindex $lines end] ([expr {$age / 1000}] ms old)"
            }
        }
    }
    return [join $lines \n]
}
