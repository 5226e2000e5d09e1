# Orders that are not sent. TestSimulation of clients/conformance has the others.
source [file join [file dirname [file normalize [info script]]] common.tcl]
package require player::simulation

test usage "words and numbers that are none" {
    list [kind { player::Simulation 127.0.0.1:1 -jump 1 }] [kind { player::Simulation 127.0.0.1:1 -seed x }]
} {USAGE USAGE}

tcltest::cleanupTests
