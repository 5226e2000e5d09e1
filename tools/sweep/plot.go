package sweep

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// plot draws a strip for each column of numbers: a dot for each seed, and a line at the
// mean. The result is SVG.
func plot(names []string, table [][]string) string {
	const width, height, left, top = 640, 120, 80, 30 // pixels, of a strip
	var out strings.Builder
	strips := 0
	for column, name := range names {
		if name == "seed" {
			continue
		}
		var values []float64 // NaN where there is none
		low, high, sum, count := math.Inf(1), math.Inf(-1), 0.0, 0
		for _, line := range table {
			v, err := strconv.ParseFloat(line[column], 64)
			if err != nil || math.IsInf(v, 0) {
				v = math.NaN()
			}
			if values = append(values, v); !math.IsNaN(v) {
				low, high, sum, count = min(low, v), max(high, v), sum+v, count+1
			}
		}
		if count == 0 {
			continue
		}
		y := func(v float64) float64 { return top + (height-top)*(0.9-0.8*(v-low)/max(high-low, 1e-12)) }
		mean := sum / float64(count)
		fmt.Fprintf(&out, `<g transform="translate(0 %d)"><text x="%d" y="20">%s, mean %.4g</text>`, strips*height, left, html.EscapeString(name), mean)
		fmt.Fprintf(&out, `<text x="4" y="%.1f">%.4g</text><text x="4" y="%.1f">%.4g</text>`, y(high), high, y(low), low)
		fmt.Fprintf(&out, `<path d="M%d %.1fH%d" stroke="gray"/>`, left, y(mean), width)
		for i, v := range values {
			if !math.IsNaN(v) {
				fmt.Fprintf(&out, `<circle cx="%.1f" cy="%.1f" r="2"><title>seed %s: %g</title></circle>`,
					left+(width-left-10)*(float64(i)+0.5)/float64(len(values)), y(v), html.EscapeString(table[i][0]), v)
			}
		}
		out.WriteString("</g>\n")
		strips++
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n%s</svg>\n",
		width, max(1, strips)*height, out.String())
}
