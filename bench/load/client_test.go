package load

import (
	"testing"
	"time"
)

const ms = time.Millisecond

// A window from 1000 to 1500 ms; frames of a 10 Hz client arrive 5 ms after
// their stamp, one of them 20 ms late, and the last one is missing.
func TestClientCountsTheWindow(t *testing.T) {
	c := &client{}
	const period = 100 * ms
	c.arrived(950*ms, 945*ms, period, false)
	c.begin(1000 * ms)
	c.arrived(1050*ms, 1045*ms, period, true)
	c.arrived(1170*ms, 1165*ms, period, true)
	c.arrived(1250*ms, 1245*ms, period, true)
	c.tooth(1500 * ms)

	if c.frames != 3 || c.interval.Count != 3 {
		t.Errorf("%d frames, %d intervals, want 3 and 3: the first interval began before the window", c.frames, c.interval.Count)
	}
	if c.interval.Min != -20*ms || c.interval.Max != 20*ms || c.interval.Mean() != 0 {
		t.Errorf("errors from %v to %v, mean %v", c.interval.Min, c.interval.Max, c.interval.Mean())
	}
	if c.latency.Mean() != 5*ms {
		t.Errorf("latency %v", c.latency.Mean())
	}
	// Teeth: 55..105, 5..125, 5..85, 5..255 ms.
	want := (50*80 + 120*65 + 80*45 + 250*130) * ms / 500
	if c.age.Mean() != want {
		t.Errorf("mean age %v, want %v", c.age.Mean(), want)
	}
}

func TestSum(t *testing.T) {
	g := &group{Group: Group{Name: "g", Clients: 2}}
	clients := []client{{group: g}, {group: g, closed: true}}
	for i := range 5 {
		clients[0].arrived(time.Duration(1+i)*101*ms, time.Duration(1+i)*101*ms-ms, 100*ms, true)
	}
	r := sum(g, clients)
	if r.Frames != 5 || r.Closed != 1 || r.Jain != 0.5 {
		t.Errorf("%+v", r)
	}
	if r.WorstMean != ms || r.Interval.Mean != ms || r.Latency.Max != ms {
		t.Errorf("worst mean %v, mean %v, latency %v, want 1ms each", r.WorstMean, r.Interval.Mean, r.Latency.Max)
	}
}
