package sweep

import (
	"math"
	"slices"
	"strconv"

	"player/tools/strips"
)

// plot draws a strip for each column of numbers: a dot for each seed, and a line at the
// mean. The table has a line. The result is SVG.
func plot(names []string, table [][]string) string {
	var seeds []string
	for _, line := range table {
		seeds = append(seeds, "seed "+line[slices.Index(names, "seed")])
	}
	var all []strips.Strip
	for column, name := range names {
		if name == "seed" {
			continue
		}
		strip := strips.Strip{Name: name, Titles: seeds}
		for _, line := range table {
			v, err := strconv.ParseFloat(line[column], 64)
			if err != nil || math.IsInf(v, 0) {
				v = math.NaN()
			}
			strip.Values = append(strip.Values, v)
		}
		all = append(all, strip)
	}
	return strips.Draw(all, seeds[0], seeds[len(seeds)-1])
}
