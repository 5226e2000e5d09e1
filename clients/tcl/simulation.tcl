# Experiments in a simulated world (docs/STAGE.md), on the address of the dashboard: its true state, read and changed.
#
#   package require player::simulation
#   player::Simulation localhost:8080 -seed 7 -move {r0 {1 0.5 90}}
#   dict get [player::Simulation localhost:8080] movers r0 x
#
# It needs the right to read, and to change something the right to write. A world in step changes between two of its
# steps: right before its client requests the next data. The call runs the event loop while it waits.

package require Tcl 8.6-
package require http 2
package provide player::simulation 1.1.0

namespace eval player {
    namespace export Simulation
}

# Simulation changes the world at an address and returns the state afterwards; without options it changes nothing. It
# goes through the options in this order, without another change in between:
#
#   -reset 1                    all is as at the start, also the time; clients stay connected
#   -seed N                     the same with another seed
#   -move {name {x y heading} ...}   robots and things, m and deg: all of them or, without room, none
#   -speed N                    0 to 1000 simulated seconds a second, 0 as fast as possible
#   -pause 1|0
#   -step N                     0 to 1000 steps of 10 ms, also while the world is paused
#   -timeout MS                 of the call, by default 60000
#   -authority FILE             asks by https: as tls,authority, tls,certificate, tls,key and tls,server of a robot
#   -certificate FILE, -key FILE, -server NAME
#
# The state is a dict: time (simulated seconds), speed, paused, finished, seed, and movers, a dict of the robots and the
# things that can move by name. These are dicts of robot (true or false), x, y, heading, and for a robot with a
# fiducial finder that sees something, sees: a list of dicts of name, id, range (m) and bearing (deg).
#
# A change that is not possible is an error PLAYER REFUSED, the others are PLAYER TIMEOUT, CLOSED, PROTOCOL and USAGE.
proc player::Simulation {address args} {
    set timeout 60000
    set order {}
    set tls {}
    foreach {option value} $args {
        try {
            switch -- $option {
                -reset - -pause { lappend order [string range $option 1 end] [expr {$value ? "true" : "false"}] }
                -seed - -step { lappend order [string range $option 1 end] [expr {entier($value)}] }
                -speed { lappend order speed [expr {double($value)}] }
                -move {
                    set moves {}
                    dict for {name pose} $value {
                        lassign $pose x y heading
                        lappend moves [simulation::Object name [simulation::Quote $name] x [expr {double($x)}] \
                            y [expr {double($y)}] heading [expr {double($heading)}]]
                    }
                    lappend order move \[[join $moves ,]\]
                }
                -authority - -certificate - -key - -server { dict set tls tls,[string range $option 1 end] $value }
                -timeout { set timeout [expr {entier($value)}] }
                default { error "-reset, -seed, -move, -speed, -pause, -step, -timeout, -authority, -certificate, -key or -server" }
            }
        } on error {text} {
            throw {PLAYER USAGE} "$option $value: $text"
        }
    }
    set url [expr {[dict exists $tls tls,authority] ? "playerhttps" : "http"}]://$address/simulation
    set simulation::sealing [dict replace $tls timeout $timeout]
    set simulation::failure ""
    set options [list -timeout $timeout -binary 1]
    if {$order ne ""} {
        append url ? [http::formatQuery order [simulation::Object {*}$order]]
        lappend options -method POST -query ""
    }
    try {
        set token [http::geturl $url {*}$options]
    } on error {text} {
        if {$simulation::failure ne ""} {
            throw $simulation::failure $text
        }
        throw {PLAYER CLOSED} "$address: $text"
    }
    set status [http::status $token]
    set code [http::ncode $token]
    set data [http::data $token]
    set error [http::error $token]
    http::cleanup $token
    try {
        set text [string trim [encoding convertfrom utf-8 $data]]
    } on error {} { ;# of Tcl 9, for bytes that are no UTF-8
        throw {PLAYER PROTOCOL} "$address is no dashboard of Player"
    }
    switch -- $status {
        ok {}
        timeout { throw {PLAYER TIMEOUT} "$address did not answer within $timeout ms" }
        default { throw {PLAYER CLOSED} "$address: $status [lindex $error 0]" }
    }
    set reason [regsub -all {[^[:print:]]} $text ?] ;# people see it on terminals
    switch -- $code {
        200 {}
        400 - 409 { throw {PLAYER REFUSED} $reason }
        403 { throw {PLAYER USAGE} $reason }
        404 { throw {PLAYER USAGE} "$address serves no simulation: start the server with -stage and -http" }
        default { throw {PLAYER PROTOCOL} "$address: $code $reason" }
    }
    try {
        set state [simulation::Parse $text]
        set movers {}
        foreach mover [dict get $state movers] {
            dict set movers [dict get $mover name] [dict remove $mover name]
        }
        dict set state movers $movers
        return $state
    } on error {} {
        throw {PLAYER PROTOCOL} "$address is no dashboard of Player"
    }
}

# Procedures for JSON.
namespace eval player::simulation {
    # Object returns an object of names and values that are JSON.
    proc Object {args} {
        set members {}
        foreach {name value} $args {
            lappend members "\"$name\":$value"
        }
        return "{[join $members ,]}"
    }

    proc Quote {text} {
        set quoted ""
        foreach c [split $text ""] {
            append quoted [expr {[string is control $c] || $c in {\" \\} ? [format {\u%04x} [scan $c %c]] : $c}]
        }
        return "\"$quoted\""
    }

    # Parse returns an object as a dict, an array as a list, and everything else as itself.
    proc Parse {text} {
        set tokens [regexp -all -inline {"(?:[^"\\]|\\.)*"|[][{}:,]|[^][{}:,"\s]+} $text]
        set at 0
        return [Value $tokens at]
    }

    proc Value {tokens at} {
        upvar 1 $at i
        set token [lindex $tokens $i]
        incr i
        switch -glob -- $token {
            \{ {
                set object {}
                while {[lindex $tokens $i] ne "\}"} {
                    set name [Value $tokens i]
                    Skip $tokens i :
                    dict set object $name [Value $tokens i]
                    if {[lindex $tokens $i] ne "\}"} { Skip $tokens i , }
                }
                incr i
                return $object
            }
            \\[ {
                set array {}
                while {[lindex $tokens $i] ne "\]"} {
                    lappend array [Value $tokens i]
                    if {[lindex $tokens $i] ne "\]"} { Skip $tokens i , }
                }
                incr i
                return $array
            }
            \"* { return [subst -nocommands -novariables [string range $token 1 end-1]] }
            {[-0-9a-z]*} { return $token }
        }
        error "no value: $token"
    }

    proc Skip {tokens at want} {
        upvar 1 $at i
        if {[lindex $tokens $i] ne $want} {
            error "no $want"
        }
        incr i
    }
}

# Sealed returns a channel of TLS to a server: the server of a robot which was given the elements in sealing. The last
# arguments are the server's host and port.
proc player::simulation::Sealed {args} {
    package require player
    upvar #0 player::private private
    variable sealing
    variable failure
    variable line
    unset -nocomplain line
    array set line $sealing
    try {
        player::Connect line {*}[lrange $args end-1 end]
    } on error {text options} {
        set failure [dict get $options -errorcode] ;# package http of Tcl 9 passes on the text alone
        return -options $options $text
    }
    set robot [namespace current]::line
    set chan $private($robot,chan)
    set private($robot,chan) "" ;# not the robot's any more
    return $chan
}

http::register playerhttps 443 player::simulation::Sealed
