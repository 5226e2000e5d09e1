package ifneeded player 0.9.0 [list source [file join $dir player.tcl]]
package ifneeded player::simulation 0.9.0 [list source [file join $dir simulation.tcl]]
