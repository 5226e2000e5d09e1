// Package recording reads what a run of the scenario has recorded: the true positions
// and the map. Its test is that of the whole scenario.
package recording

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"image"
	"image/png"
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

// Cell is what a map says about a place.
type Cell int

// The values of a cell.
const (
	Unknown Cell = iota
	Free
	Wall
)

// CellSize is the size of a cell of the map, m.
const CellSize = 0.05

// Map is a picture of the mapper, with the origin in its middle.
type Map struct{ picture image.Image }

// ReadMap reads a picture of the mapper.
func ReadMap(path string) (Map, error) {
	file, err := os.Open(path)
	if err != nil {
		return Map{}, err
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		return Map{}, fmt.Errorf("%s: %w", path, err)
	}
	return Map{picture}, nil
}

// Size returns the number of columns and rows.
func (m Map) Size() (columns, rows int) { return m.picture.Bounds().Dx(), m.picture.Bounds().Dy() }

// Center returns the middle of a cell, m. Row 0 is in the north.
func (m Map) Center(column, row int) (x, y float64) {
	columns, rows := m.Size()
	return (float64(column) + 0.5 - float64(columns)/2) * CellSize, (float64(rows)/2 - float64(row) - 0.5) * CellSize
}

// At returns a cell. Outside of the map nothing is known.
func (m Map) At(column, row int) Cell {
	columns, rows := m.Size()
	if column < 0 || row < 0 || column >= columns || row >= rows {
		return Unknown
	}
	switch grey, _, _, _ := m.picture.At(column, row).RGBA(); {
	case grey < 0x4000:
		return Wall
	case grey > 0xC000:
		return Free
	}
	return Unknown
}
