// Package examples holds the configurations that come with Player, so that the program
// needs no file for a Pioneer.
package examples

import _ "embed" // Pioneer

// Pioneer is the configuration without a file: a Pioneer 2 with laser and camera.
//
//go:embed pioneer.cfg
var Pioneer []byte
