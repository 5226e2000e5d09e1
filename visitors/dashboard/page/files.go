// Package page has the files that several pages with a map of the floor use.
package page

import "embed"

// Floor has the modules: View in view.js, and floor plans in floor.js.
//
//go:embed floor.js view.js viewport.js
var Floor embed.FS
