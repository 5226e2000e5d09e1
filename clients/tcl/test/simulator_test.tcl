# The examples on a simulated robot. The environment variable PLAYER names the server's binary.
source [file join [file dirname [file normalize [info script]]] common.tcl]

set root [file dirname [file dirname [file normalize [info script]]]]
set beside 1000 ;# mm; a wall at the right is at most this far from the sonars there
tcltest::testConstraint simulator [info exists env(PLAYER)]
if {[info exists env(CI)] && ![info exists env(PLAYER)]} {
    error "the environment has no PLAYER"
}

# simulate starts a server with a simulated robot; the array observer watches it.
proc simulate {world} {
    global env root limit observer server port
    # Below the ports that the kernel gives to others, which may get one as soon as it is closed here.
    while {[catch {socket -server {} -myaddr 127.0.0.1 [set port [expr {10000 + int(rand() * 22000)}]]} s]} {}
    close $s
    set server [exec $env(PLAYER) -stage [file join $root .. .. simulation worlds $world] -http off -bind 127.0.0.1 -gp $port \
        >/dev/null 2>@1 &]
    set end [expr {[clock milliseconds] + $limit}]
    set observer(timeout) $limit
    while {[kind {player::Connect observer 127.0.0.1 $port}] eq "CLOSED" && [clock milliseconds] < $end} {
        after 10
    }
    player::Request observer prsr
}

proc stop {} {
    player::Close observer
    exec kill $::server
}

# run runs an example until it ends. It returns what the observer saw: way in mm, rounds with a stall, and percentage
# of the rounds with a wall at the right; and what the example printed.
proc run {example rounds} {
    global observer port root beside
    set pipe [open |[list [info nameofexecutable] [file join $root examples $example] 127.0.0.1 $port $rounds 2>@1]]
    chan configure $pipe -blocking 0
    lassign {0 0 0 0} way stalls near all
    set output ""
    player::Read observer
    while 1 {
        lassign [list $observer(position,xpos) $observer(position,ypos)] x y
        player::Read observer
        set way [expr {$way + hypot($observer(position,xpos) - $x, $observer(position,ypos) - $y)}]
        incr stalls [expr {$observer(position,stalls) != 0}]
        incr near [expr {min([lindex $observer(sonar) 7], [lindex $observer(sonar) 8]) < $beside}]
        incr all
        append output [read $pipe]
        if {[eof $pipe]} {
            break
        }
    }
    chan configure $pipe -blocking 1
    close $pipe ;# an error if the example failed
    set wall [expr {100 * $near / $all}]
    puts "$example: [expr {round($way)}] mm, a wall at the right for $wall %"
    return [list $way $stalls $wall $output]
}

# How far it is, mm, a third of what it is on an idle machine: on a busy one each command comes later, and a robot that
# avoids a corner late turns longer.
foreach {example world rounds way wall} {
    hello.tcl room.world 50 100 0
    avoid.tcl subsumption-box.world 300 700 0
    wall.tcl room.world 500 5000 50
} {
    if {![info exists env(ACCEPTANCE)]} { # a third is enough to see that it drives
        set rounds [expr {$rounds / 3}]
        set way [expr {$way / 3}]
    }
    test $example "it drives far enough without a stall" -constraints simulator -setup {
        simulate $world
    } -cleanup stop -body {
        lassign [run $example $rounds] driven stalls near
        list $stalls [expr {$driven >= $way}] [expr {$near >= $wall}]
    } -result {0 1 1}
}

test watch.tcl "it prints ages and does not drive" -constraints simulator -setup {
    simulate room.world
} -cleanup stop -body {
    lassign [run watch.tcl 20] driven stalls near output
    list $driven [regexp {sonar ahead \d+ mm \(\d+\.\d ms old\)} $output]
} -result {0.0 1}

tcltest::cleanupTests
