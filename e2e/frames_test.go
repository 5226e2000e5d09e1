package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
	"player/e2e/ports"
)

var framesFor = flag.Duration("frames", 0, "how long TestFleetFrames measures the page of a fleet; 0: not at all")

// frames is a browser's measurements of a page. Times are in ms.
type frames struct {
	Robots    int       `json:"robots"`
	Hz        int       `json:"hz"` // of the robots' odometry
	CPU       int       `json:"cores"`
	Seconds   float64   `json:"seconds"`
	Frames    float64   `json:"frames_s"`
	Draws     float64   `json:"draws_s"`
	Messages  float64   `json:"messages_s"`
	DrawMean  float64   `json:"draw_mean_ms"`
	P50       float64   `json:"interval_p50_ms"`
	P99       float64   `json:"interval_p99_ms"`
	Max       float64   `json:"interval_max_ms"`
	Intervals []float64 `json:"intervals_ms"` // between two animation frames
}

// measure is an expression: the frames of the page in some ms.
const measure = `(async (duration) => {
	const intervals = [], {map} = fleet, draw = map.draw;
	let drawing = 0, messages = 0, draws = map.draws;
	map.draw = function (c) { const began = performance.now(); draw.call(this, c); drawing += performance.now() - began; };
	const parse = JSON.parse;
	JSON.parse = (text) => { messages++; return parse(text); };
	const began = await new Promise(requestAnimationFrame);
	let last = began;
	while (last - began < duration) {
		const now = await new Promise(requestAnimationFrame);
		intervals.push(Math.round(10 * (now - last)) / 10);
		last = now;
	}
	delete map.draw;
	JSON.parse = parse;
	draws = map.draws - draws;
	const seconds = (last - began) / 1000;
	return {seconds, frames_s: intervals.length / seconds, draws_s: draws / seconds, messages_s: messages / seconds, draw_mean_ms: drawing / draws, intervals_ms: intervals};
})(%d)`

// TestFleetFrames measures how often the page of a fleet draws robots that all move, and
// prints a line of JSON for each number of robots.
func TestFleetFrames(t *testing.T) {
	if *framesFor == 0 {
		t.Skip("-frames says for how long")
	}
	chromium := startBrowser(t)
	for _, c := range []struct{ robots, hz int }{{100, 10}, {1000, 10}, {1000, 30}} {
		t.Run(fmt.Sprintf("%dx%dHz", c.robots, c.hz), func(t *testing.T) {
			fleet := startFleet(t, "-robot", fmt.Sprintf("unit0=127.0.0.1:%d", ports.Free(t, 1)))
			fleet.publish(t, c.robots, movingFleet(c.robots, c.hz))
			b := chromium.openWith(t, fleet.url, "")
			b.resize(screen{1360, 850})
			b.until(fmt.Sprintf(`fleet.robots.size === %d && fleet.map.robots.length === %d`, c.robots, c.robots-1))
			evaluate[bool](b, `new Promise((done) => setTimeout(done, 3000, true))`) // what opens is not measured
			m := evaluate[frames](b, fmt.Sprintf(measure, framesFor.Milliseconds()))
			m.Robots, m.Hz, m.CPU = c.robots, c.hz, runtime.NumCPU()
			sorted := slices.Sorted(slices.Values(m.Intervals))
			m.P50, m.P99, m.Max = sorted[len(sorted)/2], sorted[len(sorted)*99/100], sorted[len(sorted)-1]
			text := must.Get(json.Marshal(m))(t)
			fmt.Println(string(text))
		})
	}
}

// movingFleet publishes robots that all drive in circles: odometry and battery at a rate, spread
// over time, and the status once a second.
func movingFleet(robots, hz int) func(io.Writer, int) {
	const slot = time.Second / 30
	parts := max(1, 30/hz)
	next := time.Now()
	return func(out io.Writer, round int) {
		for i := 1; i < robots; i++ {
			if (i+round)%30 == 0 {
				var holders map[string]string
				if i%10 == 0 {
					holders = map[string]string{"position": "anna"}
				}
				publishStatus(out, i, "http://127.0.0.1:1/", map[string]int{"x": 2 * (i % 40), "y": 2 * (i / 40), "heading": 37 * i % 360}, holders)
			}
			if (i+round)%parts == 0 {
				turn := float64(round+i) / 30
				publishData(out, i, round, codec.PositionData{
					X: int32(800 * math.Cos(turn)), Y: int32(800 * math.Sin(turn)), Heading: uint16(int(turn*180/math.Pi+90) % 360), Speed: 800,
				})
			}
		}
		next = next.Add(slot)
		time.Sleep(time.Until(next))
	}
}
