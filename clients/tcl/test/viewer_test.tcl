# The viewer's window, on a display: test.sh starts a virtual one.
source [file join [file dirname [file normalize [info script]]] common.tcl]

# The test's server takes the place of a robot; the viewer uses the variable robot as well.
set greeting [reply yrprsrlrmrgrzrve][reply ""][y 5000 1 2 3 4]$P$S$L$M
set peer ""
set listener [socket -server accepted -myaddr 127.0.0.1 0]
set port [lindex [chan configure $listener -sockname] 2]
set argv [list 127.0.0.1 $port]
source [file join [file dirname [file dirname [file normalize [info script]]]] examples viewer.tk]
set argv {} ;# what follows is for tcltest

test connects "it asks for the sensors and reports what is refused" {
    await {$peer ne "" && $status ni {"" connecting}}
    list [binary decode hex [string range [received 37] 22 53]] [string match "asked for*" $status]
} {yrprsrlrmrgrzrvr 1}

test draws "laser, sonars and numbers" {
    await {[string match position* [.numbers cget -text]]}
    update
    # The laser sees 258 mm everywhere: the figure is a half circle around it.
    set box [.floor bbox laser]
    list [expr {abs([lindex $box 2] - [lindex $box 0] - 2 * 258 * $scale) < 4}] \
        [llength [.floor coords sonar15]] [.floor itemcget sonar0 -state] [lindex [split [.numbers cget -text] \n] 0]
} {1 6 normal {position 2, -3 mm, 4 deg, 5 mm/s, -6 deg/s (0 ms old)}}

test watches "it does not drive unless asked to" {
    event generate .floor <B1-Motion> -x $cx -y [expr {$cy - 75}]
    update
    read $peer
} {}

test drives "dragging sends speeds, releasing stops" {
    say [reply pa]
    .bar.drive invoke
    set asked [received 6]
    event generate .floor <B1-Motion> -x [expr {$cx - 75}] -y [expr {$cy - 75}]
    set speed [received 8]
    say [y 9000 1 1 1 1] $P $S $L $M ;# the round repeats the command, for its lifetime's sake
    set again [received 8]
    event generate .floor <ButtonRelease-1> -x $cx -y 0
    list $asked $speed $again [received 8]
} {647200027061 637000040096001e 637000040096001e 6370000400000000}

test blobs "a rectangle for each" {
    say [reply vr]
    player::Request robot vr
    say [y 9000 1 1 1 1 1] $P $S $L $M [block v [hex "0102[string repeat 0201 31] 01010201 1111 1020 1020"]]
    await {[.image find all] ne ""}
    .image coords [.image find all]
} {15.0 15.0 31.0 31.0}

test reconnects "when the server returns" {
    set retry 1
    set greeting [reply yrprsrlrmrgrzrve][reply ""][y 9000 1 2 3 4]$P$S$L$M
    close $peer
    set peer ""
    await {$peer ne ""}
    set robot(server,time) 0
    await {$robot(server,time) == 9000}
    string match yrpasrlrmr* [binary decode hex [string range [received 37] 22 53]]
} 1

finish
destroy .
tcltest::cleanupTests
