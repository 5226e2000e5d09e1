package detect

import (
	"slices"
	"testing"

	"player/devices"
)

func TestSpeedsOf(t *testing.T) {
	kinds := []devices.Kind{
		{Name: "a", Probe: &devices.Probe{Speeds: []int{9600, 38400, 115200}}},
		{Name: "b", Probe: &devices.Probe{Speeds: []int{38400, 500000}}},
	}
	if got := speedsOf(kinds); !slices.Equal(got, []int{9600, 38400, 500000, 115200}) {
		t.Error(got)
	}
}
