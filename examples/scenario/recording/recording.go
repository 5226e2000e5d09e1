// Package recording reads the recording of a run of the scenario: the true positions
// and the map. Its test is the test of the whole scenario.
package recording

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
)

// Sample is where a robot truly was.
type Sample struct {
	Time    float64 // s since the server started
	X, Y    float64 // m
	Heading float64 // degrees
}

// Track is the samples of one robot, by time.
type Track []Sample

// ReadTruth reads the file of logger.py: a track for each robot, by its name.
func ReadTruth(path string) (map[string]Track, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	tracks := map[string]Track{}
	for i, row := range rows {
		if i == 0 { // names of the columns
			continue
		}
		var v [4]float64
		for k, column := range []int{0, 2, 3, 4} {
			if v[k], err = strconv.ParseFloat(row[column], 64); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
			}
		}
		tracks[row[1]] = append(tracks[row[1]], Sample{v[0], v[1], v[2], v[3]})
	}
	return tracks, nil
}

// At returns where the robot was at a time, between two samples if need be. It reports
// whether the track covers the time.
func (t Track) At(time float64) (Sample, bool) {
	i, exact := slices.BinarySearchFunc(t, time, func(s Sample, time float64) int { return cmp.Compare(s.Time, time) })
	switch {
	case exact:
		return t[i], true
	case i == 0 || i == len(t):
		return Sample{}, false
	}
	a, b := t[i-1], t[i]
	share := (time - a.Time) / (b.Time - a.Time)
	turn := math.Remainder(b.Heading-a.Heading, 360)
	return Sample{time, a.X + share*(b.X-a.X), a.Y + share*(b.Y-a.Y), a.Heading + share*turn}, true
}

// CellSize is the size of a cell of the map, m.
const CellSize = 0.05
