package strips

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	picture := Draw([]Strip{
		{Name: "memory <KiB>", Values: []float64{10000, 12000, math.NaN(), 11000}},
		{Name: "nothing", Values: []float64{math.NaN()}},
		{Name: "goals", Values: []float64{1, 3}, Titles: []string{"seed 0", "seed 1"}},
	}, "0 s", "1h0m0s")
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v:\n%s", err, picture)
		}
	}
	for part, n := range map[string]int{
		"memory &lt;KiB&gt;, mean 11000": 1, ">12000</text>": 1, "<circle": 2, "seed 1: 3": 1, "nothing": 0, ">1h0m0s</text>": 1,
		// From zero, at 111 of 120 pixels, to 12,000, at 39: 10,000 is at 51, 11,000 at 45.
		`<polyline points="148.8,51.0 286.2,39.0 561.2,45.0"`: 1,
	} {
		if got := strings.Count(picture, part); got != n {
			t.Errorf("%q: %d times, want %d:\n%s", part, got, n, picture)
		}
	}
}
