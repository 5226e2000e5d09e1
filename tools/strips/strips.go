// Package strips draws columns of numbers as SVG: a strip for each, over one another.
package strips

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Strip is a column of numbers.
type Strip struct {
	Name   string
	Values []float64 // NaN where there is none
	// Titles explain the values, each of which is a dot. Without them a line connects the values, and the strip
	// begins at zero.
	Titles []string
}

// Draw draws the strips that have values, each with a line at its mean. First and last explain the ends of the
// horizontal axis. The paper is white: the picture is read on dark pages, also.
func Draw(strips []Strip, first, last string) string {
	const width, height, left, top, foot = 640, 120, 80, 30, 24 // pixels, of a strip; foot is that of the picture
	var out strings.Builder
	drawn := 0
	for _, s := range strips {
		low, high, sum, count := math.Inf(1), math.Inf(-1), 0.0, 0
		for _, v := range s.Values {
			if !math.IsNaN(v) {
				low, high, sum, count = min(low, v), max(high, v), sum+v, count+1
			}
		}
		if count == 0 {
			continue
		}
		if s.Titles == nil {
			low = min(low, 0)
		}
		x := func(i int) float64 { return left + (width-left-10)*(float64(i)+0.5)/float64(len(s.Values)) }
		y := func(v float64) float64 { return top + (height-top)*(0.9-0.8*(v-low)/max(high-low, 1e-12)) }
		mean := sum / float64(count)
		fmt.Fprintf(&out, `<g transform="translate(0 %d)"><text x="%d" y="20">%s, mean %s</text>`, drawn*height, left, html.EscapeString(s.Name), short(mean))
		fmt.Fprintf(&out, `<text x="4" y="%.1f">%s</text><text x="4" y="%.1f">%s</text>`, y(high), short(high), y(low), short(low))
		fmt.Fprintf(&out, `<path d="M%d %.1fH%d" stroke="gray"/>`, left, y(mean), width)
		var line strings.Builder
		for i, v := range s.Values {
			switch {
			case math.IsNaN(v):
			case s.Titles == nil:
				fmt.Fprintf(&line, " %.1f,%.1f", x(i), y(v))
			default:
				fmt.Fprintf(&out, `<circle cx="%.1f" cy="%.1f" r="2"><title>%s: %g</title></circle>`, x(i), y(v), html.EscapeString(s.Titles[i]), v)
			}
		}
		if line.Len() > 0 {
			fmt.Fprintf(&out, `<polyline points="%s" fill="none" stroke="#0072b2" stroke-width="1.5"/>`, line.String()[1:])
		}
		out.WriteString("</g>\n")
		drawn++
	}
	fmt.Fprintf(&out, `<text x="%d" y="%[2]d">%[3]s</text><text x="%[4]d" y="%[2]d" text-anchor="end">%[5]s</text>`+"\n",
		left, drawn*height+foot/2, html.EscapeString(first), width-10, html.EscapeString(last))
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"+
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n%s</svg>\n", width, drawn*height+foot, out.String())
}

// short prints four digits, and all digits of a number from 10,000 to a million.
func short(v float64) string {
	if math.Abs(v) >= 1e4 && math.Abs(v) < 1e6 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
