//go:build !race

package acceptance

// Detector reports whether the race detector is in this program.
const Detector = false
