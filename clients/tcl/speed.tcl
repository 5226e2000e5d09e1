# Reads many robots in the event loop, for the benchmarks (docs/CLIENTS.md).

lappend auto_path [file dirname [file normalize [info script]]]
package require player

set RATE 50 ;# Hz
set LIMIT 10000 ;# ms for each call that waits

if {[llength $argv] != 5} {
    puts stderr "usage: speed.tcl HOST PORT COUNT WARMUP SECONDS"
    exit 2
}
lassign $argv host port count warmup seconds

# arrived counts a round of a robot.
proc arrived {i event text} {
    global intervals last window
    if {$event ne "round"} {
        puts stderr "robot $i: $event: $text"
        exit 1
    }
    set now [clock microseconds]
    if {$window && [info exists last($i)]} {
        lappend intervals [expr {$now - $last($i)}]
    }
    set last($i) $now
}

set intervals {}
set window 0
for {set i 0} {$i < $count} {incr i} {
    set robot${i}(timeout) $LIMIT
    player::Connect robot$i $host [expr {$port + $i}]
    player::SetFrequency robot$i $RATE
    player::Request robot$i lrsrprgrmrvrzr
}
# Only now: a call that waits runs the event loop, and the frames of the robots before would keep it busy.
for {set i 0} {$i < $count} {incr i} {
    player::OnData robot$i [list arrived $i]
}
chan configure stdout -buffering line
after [expr {round(1000 * $warmup)}] {
    puts begin
    set window 1
    after [expr {round(1000 * $seconds)}] {
        set window 0
    }
}
vwait window
vwait window
puts end
read stdin
set intervals [lsort -integer $intervals]
set n [llength $intervals]
if {$n == 0} {
    set intervals 0
}
puts [format {{"runtime":"Tcl %s","frames":%d,"p50_us":%d,"p99_us":%d,"max_us":%d}} [info patchlevel] $n \
    [lindex $intervals [expr {$n / 2}]] [lindex $intervals [expr {$n * 99 / 100}]] [lindex $intervals end]]
