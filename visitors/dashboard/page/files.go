// Package page has what pages share that show a piece of the floor.
package page

import "embed"

// Floor has the modules: View in view.js, and floor plans in floor.js.
//
//go:embed floor.js view.js viewport.js
var Floor embed.FS
