# How examples steer around obstacles with the sonars, as in C.4 of the manual: the nearer an obstacle, the slower the robot
# drives; it turns towards the side with more room; without room it backs off.

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

# around returns a speed in mm/s and a turn rate in deg/s.
proc around {sonar} {
    set left [push [nearest [lrange $sonar 1 3]]]
    set right [push [nearest [lrange $sonar 4 6]]]
    # Room on both sides adds up to speed, the difference to turning.
    return [list [expr {$left + $right}] [expr {$left - $right}]]
}
