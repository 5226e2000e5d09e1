##nagelfar variable dir
package ifneeded player 1.1.0 [list source [file join $dir player.tcl]]
package ifneeded player::secure 1.1.0 [list source [file join $dir secure.tcl]]
package ifneeded player::simulation 1.1.0 [list source [file join $dir simulation.tcl]]
