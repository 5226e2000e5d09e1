package ifneeded player 0.9.0 [list source [file join $dir player.tcl]]
package ifneeded player::secure 0.9.0 [list source [file join $dir secure.tcl]]
package ifneeded player::simulation 0.9.0 [list source [file join $dir simulation.tcl]]
