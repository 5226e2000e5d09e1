package main

import "testing"

func TestPush(t *testing.T) {
	for _, c := range []struct {
		name   string
		ranges []uint16
		want   int
	}{
		{"at the wall", []uint16{5000, 1, 5000}, -100},
		{"neither nor", []uint16{300, 5000, 5000}, 0},
		{"half a metre", []uint16{5000, 5000, 600}, 100},
		{"enough room", []uint16{750, 751, 5000}, 150},
		{"one has not fired yet", []uint16{0, 600, 5000}, 100},
		{"another has not", []uint16{600, 5000, 0}, 100},
		{"one has fired", []uint16{0, 0, 600}, 100},
		{"none has", []uint16{0, 0, 0}, 0},
	} {
		if got := push(nearest(c.ranges)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
