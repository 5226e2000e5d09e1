package latency

import (
	"strings"
	"testing"
	"time"
)

const msec = time.Millisecond

func TestReport(t *testing.T) {
	// The clocks differ by an hour. The second round is 30 ms late.
	m := measurement{[]round{
		{time.Hour, 10 * msec, 5 * msec}, {time.Hour + 100*msec, 140 * msec, 5 * msec},
		{time.Hour + 200*msec, 210 * msec, 5 * msec}, {time.Hour + 300*msec, 310 * msec, 5 * msec},
	}}
	if rate, jitter := m.evenness(); rate != 10 || jitter != 20*msec {
		t.Errorf("%v Hz, jitter %v", rate, jitter)
	}
	want := `
4 rounds, 10.00 Hz, jitter 20.000 ms

time between rounds: median 100.000 ms, 95 % below 100.000, 99 % below 100.000, longest 130.000
       100 ms       2 ########################################
       200 ms       1 ####################

age of the newest data, as seen from here: median 7.000 ms, 95 % below 7.000, 99 % below 7.000, longest 37.000
        10 ms       3 ########################################
        20 ms       0
        50 ms       1 ##############
`
	if got := m.report(4 * msec); got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
}

func TestHistogramBounds(t *testing.T) {
	var b strings.Builder
	histogram(&b, "x", []time.Duration{20 * msec, time.Microsecond, 10 * msec, 11 * msec, 0, 10*msec + 1})
	for _, want := range []string{"    0.01 ms       2 ##", "\n        10 ms       1 ####", "\n        20 ms       3 ####"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s\nwant %s", b.String(), want)
		}
	}
}
