# Procedures of the tests: bytes, and a server that sends the bytes of a test.

lappend auto_path [file dirname [file dirname [file normalize [info script]]]]
package require player
package require tcltest 2.5
namespace import tcltest::test

set limit 20000 ;# ms: bounds waits for events that must happen; long, because machines may be slow

# Server messages, and the payloads of some devices.
proc hex {digits} { return [binary decode hex [string map {" " "" "\n" ""} $digits]] }
proc block {device payload} { return $device[binary format S [string length $payload]]$payload }
proc reply {pairs} { return [block r $pairs] }

set S [block s [hex [string repeat 0001 16]]]
set P [block p [hex "00000001 00000002 FFFFFFFD 0004 0005 FFFA 0007 00"]]
set L [block l [hex [string repeat 0102 361]]]
set M [block m [hex "00 00 7D"]]
proc y {time args} { return [block y [binary format WI* $time $args]] }

# kind returns the kind of a script's PLAYER error, or "none".
proc kind {script} {
    try {
        uplevel 1 $script
    } trap PLAYER {text options} {
        return [lindex [dict get $options -errorcode] 1]
    }
    return none
}

# serve starts a server and connects a client, the array robot. It sets the global variables listener, port, and peer,
# the server's end of the newest connection, on which it sends the variable greeting at once. finish ends all.
proc serve {} {
    global listener port peer robot limit greeting
    array unset robot
    set greeting ""
    set listener [socket -server accepted -myaddr 127.0.0.1 0]
    set port [lindex [chan configure $listener -sockname] 2]
    set robot(timeout) $limit
    set peer ""
    player::Connect robot 127.0.0.1 $port
    await {$peer ne ""}
}

proc accepted {chan args} {
    chan configure $chan -blocking 0 -translation binary -buffering none
    puts -nonewline $chan $::greeting
    set ::peer $chan
}

proc finish {} {
    global listener peer robot
    catch {player::Close robot}
    catch {close $peer}
    catch {close $listener}
}

# await runs the event loop until a global expression is true.
proc await {condition} {
    set late [after $::limit {set ::tick late}]
    while {![uplevel #0 [list expr $condition]]} {
        set timer [after 1 {set ::tick 1}]
        vwait ::tick
        after cancel $timer
        if {$::tick eq "late"} {
            error "never: $condition"
        }
    }
    after cancel $late
}

proc say {args} { puts -nonewline $::peer [join $args ""] }

# received returns the next bytes that the client sent, as hex digits.
proc received {count} {
    set ::arrived ""
    set ::count $count
    await {[string length [append arrived [read $peer [expr {$count - [string length $arrived]}]]]] == $count}
    return [binary encode hex $::arrived]
}
