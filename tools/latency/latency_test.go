package latency

import (
	"encoding/json"
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

time between rounds:
     1 % up to     70.000 ms
     5 % up to     70.000 ms
    25 % up to     70.000 ms
    50 % up to    100.000 ms
    75 % up to    130.000 ms
    95 % up to    130.000 ms
    99 % up to    130.000 ms
  99.9 % up to    130.000 ms
   longest         130.000 ms

            70.985 ms       1 ########################################
           101.208 ms       1 ########################################
           130.000 ms       1 ########################################

age of the newest data, as seen from here:
     1 % up to      7.000 ms
     5 % up to      7.000 ms
    25 % up to      7.000 ms
    50 % up to      7.000 ms
    75 % up to      7.000 ms
    95 % up to     37.000 ms
    99 % up to     37.000 ms
  99.9 % up to     37.000 ms
   longest          37.000 ms

             7.077 ms       3 ########################################
            37.000 ms       1 ##############
`
	if got := m.report(4 * msec); got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
}

func TestResult(t *testing.T) {
	m := measurement{[]round{{0, 10 * msec, 5 * msec}, {100 * msec, 110 * msec, 5 * msec}, {200 * msec, 230 * msec, 5 * msec}}}
	text, err := json.Marshal(m.result(4 * msec))
	const want = `{"round_trip_ms":4,"rounds":3,"rate_hz":9.090909090909092,"jitter_ms":10,` +
		`"interval_ms":{"max":120,"p1":100,"p25":100,"p5":100,"p50":100,"p75":120,"p95":120,"p99":120,"p99.9":120},` +
		`"age_ms":{"max":27,"p1":7,"p25":7,"p5":7,"p50":7,"p75":27,"p95":27,"p99":27,"p99.9":27}}`
	if string(text) != want || err != nil {
		t.Errorf("%s, %v\nwant %s", text, err, want)
	}
}

// The bound of each value's bin is at most 3 % above the value, and all bins fit on a
// screen.
func TestBins(t *testing.T) {
	for v := leastBin; v < time.Hour; v += v/100 + 1 {
		if bound := boundOf(binOf(v)); float64(bound) < 0.999999*float64(v) || float64(bound) > 1.030001*float64(v) {
			t.Fatalf("%v is in the bin up to %v", v, bound)
		}
	}
	if bin := binOf(-time.Second); bin != 0 {
		t.Errorf("bin %d", bin)
	}
	var spread []time.Duration
	for v := leastBin; v < time.Hour; v = v * 104 / 100 {
		spread = append(spread, v)
	}
	var b strings.Builder
	histogram(&b, "x", spread)
	if n := strings.Count(b.String(), "#\n"); n > maxBins || n < maxBins/2 {
		t.Errorf("%d bins", n)
	}
}
