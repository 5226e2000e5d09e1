# The simulation, against a server that answers what the test states. The conformance suite has the real one.
source [file join [file dirname [file normalize [info script]]] common.tcl]
package require player::simulation

# answering runs a script with the address of a server that answers requests with a status and a text.
proc answering {status text script} {
    global asked
    set listener [socket -server [list answer $status $text] -myaddr 127.0.0.1 0]
    set address 127.0.0.1:[lindex [chan configure $listener -sockname] 2]
    set asked ""
    try {
        uplevel #0 [list set address $address]
        return [uplevel #0 $script]
    } finally {
        close $listener
    }
}

proc answer {status text chan args} {
    chan configure $chan -blocking 0 -translation crlf -buffering none
    chan event $chan readable [list answered $status $text $chan]
}

proc answered {status text chan} {
    global asked
    if {[gets $chan line] < 0} {
        if {[eof $chan]} { close $chan }
    } elseif {$asked eq ""} {
        set asked $line
    } elseif {$line eq ""} {
        if {$status eq "never"} { return }
        set text [encoding convertto utf-8 $text]
        puts -nonewline $chan "HTTP/1.1 $status\nContent-Length: [string length $text]\nConnection: close\n\n"
        chan configure $chan -translation binary
        puts -nonewline $chan $text
        close $chan
    }
}

set STATE [string map [list @ \u00e9] {{"time":1.5,"speed":0,"paused":true,"finished":false,"seed":7,"movers":[{"name":"a \"b@\u00e9","robot":true,"x":1,"y":-2.5,"heading":90,"sees":[{"name":"c, d","id":3,"range":2,"bearing":-90}]},{"name":"e","robot":false,"x":0,"y":0,"heading":0}]}}]

test state "its fields, and names with all letters" -body {
    answering "200 OK" $STATE {
        set state [player::Simulation $address]
        list $asked [dict get $state time] [dict get $state seed] [dict keys [dict get $state movers]] \
            [dict get $state movers "a \"b\u00e9\u00e9"] [dict exists $state movers e sees]
    }
} -result [list {GET /simulation HTTP/1.1} 1.5 7 [list "a \"b\u00e9\u00e9" e] {robot true x 1 y -2.5 heading 90 sees {{name {c, d} id 3 range 2 bearing -90}}} 0]

test order "its words, in their order" -body {
    answering "200 OK" $STATE {
        player::Simulation $address -reset 1 -seed 7 -move {{a "b} {1 2.5 -90} c {0 0 0}} -speed 0 -pause no -step 5
        set text [regsub {^POST /simulation\?order=(.*) HTTP/1.1$} $asked {\1}]
        encoding convertfrom utf-8 [subst -novariables [regsub -all {%(..)} [string map {[ \\[ + " "} $text] {[format %c 0x\1]}]]
    }
} -result {{"reset":true,"seed":7,"move":[{"name":"a \u0022b","x":1.0,"y":2.5,"heading":-90.0},{"name":"c","x":0.0,"y":0.0,"heading":0.0}],"speed":0.0,"pause":false,"step":5}}

test errors "refusals, and servers that are none" -body {
    set kinds {}
    foreach {status text} {
        "409 Conflict" "there is no room for r0" "400 Bad Request" "write step" "403 Forbidden" "your computer may read"
        "404 Not Found" "404 page not found" "503 Service Unavailable" "stopped" "200 OK" "<html>" "200 OK" {[1,2]} "200 OK" \x7b
    } {
        lappend kinds [answering $status $text { kind { player::Simulation $address -reset 1 } }]
    }
    lappend kinds [answering never "" { kind { player::Simulation $address -timeout 50 } }]
    lappend kinds [kind { player::Simulation 127.0.0.1:1 }] [kind { player::Simulation 127.0.0.1:1 -jump 1 }]
    lappend kinds [kind { player::Simulation 127.0.0.1:1 -seed x }]
} -result {REFUSED REFUSED USAGE USAGE PROTOCOL PROTOCOL PROTOCOL PROTOCOL TIMEOUT CLOSED USAGE USAGE}

test printable "a refusal that a terminal would obey" -body {
    answering "409 Conflict" "no\x1b\[2J" { catch { player::Simulation $address -reset 1 } text; set text }
} -result {no?[2J}

tcltest::cleanupTests
