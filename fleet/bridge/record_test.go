package bridge

import (
	"slices"
	"testing"

	"player/devices"
)

func TestRecorded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ choices, want []string }{
		{nil, nil},
		{[]string{"laser"}, []string{"player.lab.*.laser.*.data"}},
		{[]string{"a.laser", "b.sonar", "a.laser"}, []string{"player.lab.a.laser.*.data", "player.lab.b.sonar.*.data"}},
		{[]string{"a.laser", "laser", "b.sonar"}, []string{"player.lab.*.laser.*.data", "player.lab.b.sonar.*.data"}},
	} {
		if got, err := Recorded("lab", c.choices); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v, want %q", c.choices, got, err, c.want)
		}
	}
	kinds := len(devices.Interfaces())
	// Of a, all but the laser, which is recorded of all robots.
	if got, err := Recorded("lab", []string{"a.all", "laser"}); err != nil || len(got) != kinds || !slices.Contains(got, "player.lab.*.laser.*.data") || slices.Contains(got, "player.lab.a.laser.*.data") {
		t.Errorf("a.all and laser: %q, %v", got, err)
	}
	if got, err := Recorded("lab", []string{"all", "a.all"}); err != nil || len(got) != kinds {
		t.Errorf("all and a.all: %q, %v", got, err)
	}
	for _, choice := range []string{"", "lazer", "a.", ".laser", "a.b.laser", "*.laser", "*"} {
		if got, err := Recorded("lab", []string{choice}); err == nil {
			t.Errorf("%q is accepted: %q", choice, got)
		}
	}
}
