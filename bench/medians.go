package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// mediansFile has the figures that pages quote, in the folder of results.
const mediansFile = "medians.json"

// medians are figures of the suite by name, and their origin.
type medians struct {
	// Commits has one commit after a series; cells that were measured again since then have others. None of them had
	// changes: Clean is always true.
	Commits []string          `json:"commits"`
	Clean   bool              `json:"clean"`
	Machine machine           `json:"machine"`
	Date    string            `json:"date"` // UTC, of the newest run
	Figures map[string]median `json:"figures"`
}

// median is the median of the runs of one server in one cell.
type median struct {
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Server server  `json:"server"`
	Cell   string  `json:"cell"`
	N      int     `json:"n"` // runs
	Commit string  `json:"commit"`
}

// unit is a unit of figures and its size in the unit of the suite: ns, bytes or one.
type unit struct {
	name string
	size float64
}

var (
	inMillis = unit{"ms", milli}
	inMicros = unit{"us", micro}
	inMiB    = unit{"MiB", mib}
	inKiB    = unit{"KiB", kib}
	inShares = unit{"%", 0.01}
	// The figure of CPU time is in us.
	asItIs  = unit{"", 1}
	perUsed = unit{"us", 1}
	inRate  = unit{"/s", 1}
)

// quote is a figure that pages quote, by name.
type quote struct {
	name, cell string
	of         figure
	unit       unit
}

// quotes are all of them. The name of another server's figure is Player's name for it and the server's name.
func quotes() []quote {
	all := []quote{
		{"cpu-frame", "scale/50x50Hz", cpuOfFrame, perUsed},
		{"rss-50", "scale/50x50Hz", rss, inMiB},
		{"anonymous-50", "scale/50x50Hz", anonymous, inMiB},
		{"frames-10000", "scale/10000x10Hz", frameRate, inRate},
		{"cpu-10000", "scale/10000x10Hz", cpuShare, inShares},
		{"rss-10000", "scale/10000x10Hz", rss, inMiB},
		{"memory-client", "scale/10000x10Hz", growth, inKiB},
		{"wakes-50", "scale/50x10Hz", loopWakes, inRate},
		{"round", "request/1", roundMean, inMicros},
		{"idle-wakes", "idle", switches, asItIs},
		{"idle-rss", "idle", rss, inMiB},
		{"idle-anonymous", "idle", anonymous, inMiB},
		{"start", "start", startTime, inMillis},
		{"binary", "binary", fileSize, inMiB},

		{"full-age", fullest, age, inMillis},
		{"full-rate", fullest, frameRate, inRate},
		{"compact-rate", compactCell, eachRate, inRate},
		{"compact-age", compactCell, age, inMillis},
		{"beams-rate", beamsCell, eachRate, inRate},
		{"relay-rate", relayCell, eachRate, inRate},
		{"relay-age", relayCell, age, inMillis},
		{"near-rate", "neighbours/program-with-50-far", eachRate, inRate},
		{"near-p99", "neighbours/program-with-50-far", intervalP99, inMillis},

		// The bridge's figures are peer-cpu-bridge and so on.
		{"peer-cpu", peersPrefix + "50x10Hz", cpuOfFrame, perUsed},
		{"peer-bytes", peersPrefix + "50x10Hz", bytesOfFrame, asItIs},
		{"peer-rss", peersPrefix + "50x10Hz", rss, inMiB},
		{"peer-full-age", peersFull, age, inMillis},
		{"peer-full-p99", peersFull, ageP99, inMillis},

		{"whole-peak", wholeCell, peak, inMiB},
		{"whole-cpu", wholeCell, cpuShare, inShares},
		{"program-cpu", viewersPrefix + "programs", ofEach(cpuShare), inShares},
		{"program-rss", viewersPrefix + "programs", ofEach(rss), inMiB},
		{"viewer-cpu", viewersPrefix + "viewers", ofEach(cpuShare), inShares},
		{"browser-cpu", viewersPrefix + "browsers", ofEach(cpuShare), inShares},
		{"fleet-direct", "fleet/direct", ofAsked, inShares},
		{"fleet-100x100", "fleet/100x100", ofAsked, inShares},
		{"fleet-10000x1", "fleet/10000x1", ofAsked, inShares},
		{"population-rss", fmt.Sprint("population/", population), rss, inMiB},
		{"python-parser", parserCell, parsed, inRate},
	}
	for _, c := range kinds() {
		name := kindsPrefix + c.Name[len(kindsPrefix):]
		all = append(all, quote{name + "-cpu", c.Name, cpuOfFrame, perUsed}, quote{name + "-bytes", c.Name, bytesOfFrame, asItIs})
	}
	return all
}

// quoted reports whether pages quote figures of the cell.
func (c cell) quoted() bool {
	return c.Name == "scale/50x10Hz" || slices.ContainsFunc(quotes(), func(q quote) bool { return q.cell == c.Name })
}

// medians are the quoted figures of the results. A result of a tree with changes is an error.
func (r *results) medians() (medians, error) {
	m := medians{Clean: true, Machine: r.Machine, Figures: map[string]median{}}
	commits := map[string]bool{}
	var newest time.Time
	for _, c := range r.Cells {
		if c.changed() {
			return m, fmt.Errorf("%s was measured at %q: pages get figures of commits only", c.Name, c.Commit)
		}
		commits[c.Commit] = true
		if c.Taken.After(newest) {
			newest = c.Taken
		}
	}
	m.Commits = slices.Sorted(maps.Keys(commits))
	m.Date = newest.UTC().Format(time.DateOnly)
	for _, q := range quotes() {
		for _, s := range r.find(q.cell).servers() {
			w := r.row(q.cell).at(s)
			v, ok := w.value(q.of)
			if !ok {
				continue
			}
			name := q.name
			if s != player {
				name += "-" + string(s)
			}
			m.Figures[name] = median{significant(v/q.unit.size, 4), q.unit.name, s, q.cell, len(w.of(s)), w.Commit}
		}
	}
	return m, nil
}

// write writes the file: a line for each figure, so that a change shows as one.
func (m medians) write(dir string) error {
	figures := m.Figures
	m.Figures = map[string]median{}
	head, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(head, []byte("{}\n}")))
	b.WriteString("{")
	for i, name := range slices.Sorted(maps.Keys(figures)) {
		line, err := json.Marshal(figures[name])
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n    %q: %s", name, line)
	}
	b.WriteString("\n  }\n}\n")
	return os.WriteFile(filepath.Join(dir, mediansFile), b.Bytes(), 0o644)
}

func readMedians(dir string) (m medians, err error) {
	text, err := os.ReadFile(filepath.Join(dir, mediansFile))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}

// significant rounds to a number of digits.
func significant(v float64, digits int) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64) // it is a number
	return rounded
}
