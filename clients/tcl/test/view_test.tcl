# The geometry of the viewer.
source [file join [file dirname [file normalize [info script]]] common.tcl]
source [file join [file dirname [file dirname [file normalize [info script]]]] examples view.tcl]

proc rounded {figure} { return [lmap v $figure {expr {round($v)}}] }

test sonar-none "a sonar that has not fired" {view::sonar 3 0} {}

test sonar-left "sonar 0 looks to the left" {
    lassign [rounded [view::sonar 0 1000]] x y x1 y1 x2 y2
    list $x $y [expr {$x1 - $x}] [expr {$y1 - $y}] [expr {$x2 - $x}] [expr {$y2 - $y}]
} {69 136 131 991 -131 991}

test sonar-symmetric "each sonar has one on the other side" {
    set wrong {}
    foreach {left right} {0 7 1 6 2 5 3 4 15 8 14 9 13 10 12 11} {
        lassign [lindex $view::sonars $left] x y direction
        if {[lindex $view::sonars $right] ne [list $x [expr {-$y}] [expr {-$direction}]]} {
            lappend wrong $left
        }
    }
    set wrong
} {}

test scan "right, ahead, left" {
    set figure [rounded [view::scan [concat 1000 [lrepeat 179 1] 2000 [lrepeat 179 1] 3000]]]
    list [llength $figure] [lrange $figure 0 3] [lrange $figure 362 363] [lrange $figure end-1 end]
} {724 {80 0 80 -1000} {2080 0} {80 3000}}

test pixels "forward is up, left is left" {view::pixels {1000 0 0 1000} 320 400 0.1} {320.0 300.0 220.0 400.0}

test drive "forward and to the left, limited" {
    list [view::drive 0 0 100] [view::drive -50 -100 100] [view::drive 1000 1000 100]
} {{0 0} {300 30} {-300 -60}}

test summary "devices with data only" -setup serve -cleanup finish -body {
    say [reply yrprsrmr] [y 100000 2000 3000 -1] $P $S [block m ""]
    player::Request robot yrprsrmr
    player::Read robot
    view::summary robot
} -result {position 2, -3 mm, 4 deg, 5 mm/s, -6 deg/s (2 ms old)}

test summary-all "every device" -setup serve -cleanup finish -body {
    say [reply prmrgrzr] $P [block m [hex 01107D]] [block g [hex 0101]] [block z [hex 000100020003]]
    player::Request robot prmrgrzr
    player::Read robot
    view::summary robot
} -result {position 2, -3 mm, 4 deg, 5 mm/s, -6 deg/s
battery 12.5 V, bumpers front 00001 rear 10000
gripper gripLimitReached, paddlesOpen
camera pan 1 deg, tilt 2 deg, zoom 3}

tcltest::cleanupTests
