// Package page has the files of the dashboard's page.
package page

import "embed"

// Files are all of them.
//
//go:embed *.css *.html *.js *.svg
var Files embed.FS

// Floor has the modules that show a piece of the floor, for other pages: View in view.js,
// and floor plans in floor.js.
//
//go:embed floor.js view.js viewport.js
var Floor embed.FS
