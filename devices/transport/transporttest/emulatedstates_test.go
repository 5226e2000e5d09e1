package transporttest_test

import (
	"fmt"
	"testing"
	"time"

	"player/devices"
	"player/e2e/must"
	"player/simulation/emulator/line"
)

// TestStates: hardware is found at any of its speeds also if it is not as a new one.
func TestStates(t *testing.T) {
	for _, p := range products() {
		for name, start := range p.states {
			for _, baud := range p.speeds {
				t.Run(fmt.Sprint(p.kind.Name, " ", name, " ", baud), func(t *testing.T) {
					p.start = start
					r := newRig(t, p, line.Options{Baud: baud, Garble: true})
					r.strict = true
					r.connect()
					if !r.still() {
						t.Error("it moves")
					}
					if len(r.Done) != 1 || r.Link.Counts.Errors > 0 {
						t.Errorf("setups ended with %v, counts %+v", r.Done, r.Link.Counts)
					}
					r.run(worked(10*time.Second), p.period)
					r.stand()
				})
			}
		}
	}
}

// TestLastClientLeaves: hardware at work stops, and is left as it should be.
func TestLastClientLeaves(t *testing.T) {
	for _, p := range products() {
		for _, baud := range p.speeds {
			t.Run(fmt.Sprint(p.kind.Name, " ", baud), func(t *testing.T) {
				for seed := range *seeds {
					r := newRig(t, p, line.Options{Baud: baud, Latency: 3 * ms, Noise: line.Noise{Seed: seed}})
					r.strict = true
					r.connect()
					r.run(worked(5*time.Second)+time.Duration(r.random.IntN(10))*100*ms, p.period+3*ms)
					r.Unsubscribe()
					r.Pass(time.Second)
					if r.Link.State() != devices.Idle || !r.Port().Closed {
						t.Errorf("link is %s, port closed %v", r.Link.State(), r.Port().Closed)
					}
					if r.Pass(3 * time.Second); !r.still() {
						t.Error("it moves on")
					}
					if h, sends := r.hardware.(interface{ resting() bool }); sends && !h.resting() {
						t.Error("it sends on")
					}
					if l, ok := r.hardware.(interface{ left() error }); ok {
						if err := l.left(); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
	}
}

// TestSwitchedOnLate: hardware that is unplugged at the first request, then silent, then there.
func TestSwitchedOnLate(t *testing.T) {
	for _, p := range products() {
		t.Run(p.kind.Name, func(t *testing.T) {
			r := newRig(t, p, line.Options{})
			r.strict = true
			r.Unplug()
			for _, then := range []func(){func() { must.Do(t, r.Plug()); r.Silence() }, r.Speak} {
				r.Done = nil
				r.Subscribe()
				r.Until(func() bool { return len(r.Done) > 0 }, 20*time.Second)
				if len(r.Done) != 1 || r.Done[0] == nil || r.Link.State() != devices.Idle {
					t.Fatalf("setups ended with %v, link is %s", r.Done, r.Link.State())
				}
				then()
			}
			r.connect()
			if len(r.Done) != 1 {
				t.Errorf("setups ended with %v", r.Done)
			}
			r.run(worked(5*time.Second), p.period)
			r.stand()
		})
	}
}
