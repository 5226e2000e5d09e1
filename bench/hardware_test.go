package main

import (
	"strings"
	"testing"
	"time"

	"player/e2e/acceptance"
	"player/simulation/emulator/line"
)

// Each arrival is compared with the newest packet with news before it.
func TestAgesOf(t *testing.T) {
	const us = time.Microsecond
	record := []line.Entry{
		{At: 100 * us, Dir: line.DeviceToHost, Note: "SIP"},
		{At: 150 * us, Dir: line.DeviceToHost, Note: "something else"},
		{At: 160 * us, Dir: line.HostToDevice, Note: "SIP"},
		{At: 1000 * us, Dir: line.DeviceToHost, Note: "SIP"},
	}
	d, err := agesOf([]time.Duration{300 * us, 1400 * us}, record, "SIP")
	if err != nil || d.Mean != 300*us || d.Max != 400*us {
		t.Errorf("%+v, %v", d, err)
	}
	for _, arrivals := range [][]time.Duration{nil, {99 * us}} {
		if d, err := agesOf(arrivals, record, "SIP"); err == nil {
			t.Errorf("arrivals %v: %+v", arrivals, d)
		}
	}
}

// News of all hardware come through the real server. A test does not check how
// fast.
func TestInside(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	w := buildForTest(t)
	for _, c := range realTime() {
		for _, s := range c.Servers {
			r, err := w.measure(t.Context(), s, c, 300*time.Millisecond)
			if err != nil {
				t.Fatalf("%s, %s: %v", c.Name, s, err)
			}
			if r.Inside.P50 <= 0 || r.Inside.Max < r.Inside.P99 {
				t.Errorf("%s, %s: %+v", c.Name, s, r.Inside)
			}
		}
	}
}

func TestReportOfRealTime(t *testing.T) {
	r := resultsOf(t, "real-time/robot", "real-time/camera")
	text := rendered(t, r)
	has(t, text, "| robot | player | 100 us | 200 us | 250 us | 1.00 ms |", "Real time: p99 of the age inside the robot under 300 us | yes | 2 of 2; 200 us")
	r.find("real-time/robot").Runs[0].Inside.P99 = 2 * ms
	if text := rendered(t, r); !strings.Contains(text, "**no** | 1 of 2; 2.00 ms in real-time/robot") {
		t.Error("a missed target is not shown")
	}
}
