package ifneeded player 1.0 [list source [file join $dir player.tcl]]
package ifneeded player::simulation 1.0 [list source [file join $dir simulation.tcl]]
