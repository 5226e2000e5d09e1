package app

import (
	"strings"
	"testing"

	"player/config"
)

// Programs make paths and topics of the name of a camera, and a log can have any.
func TestCamerasOfALog(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"front-left": "front-left", "../evil\x1b[2J": "evil_2J", "": "camera", "a b?#": "a_b", "日": "camera",
		strings.Repeat("x.", 32): strings.Repeat("x_", 16)} {
		if got := legalCamera(name); got != want || !config.IsCameraName(got) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
