package dashboard

import (
	"testing"

	"player/visitors/pictures"
)

// A page gets the view of a picture as far as it is known.
func TestViewOf(t *testing.T) {
	for _, tt := range []struct {
		view pictures.View
		want string
	}{
		{pictures.View{}, ""},
		{pictures.View{Mount: &pictures.Mount{X: 1}}, ""},
		{pictures.View{FOV: 62.5, Z: -40}, "62.500 -40.0"},
		{pictures.View{FOV: 48.8, Z: 250, Mount: &pictures.Mount{X: 80, Y: -1.25, Heading: 12.5, Tilt: -3}}, "48.800 250.0 80.0 -1.2 12.500 -3.000"},
	} {
		if got := viewOf(tt.view); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.view, got, tt.want)
		}
	}
}
