// Player is a robot device server: every sensor and actuator of a robot is a
// device that programs can read and command over TCP. docs/ARCHITECTURE.md shows
// where everything is.
package main

import (
	"os"

	"player/app"
)

func main() { os.Exit(app.Main(os.Args, os.Stdout, os.Stderr)) }
