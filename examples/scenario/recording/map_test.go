package recording

import (
	"fmt"
	"image"
	"image/png"
	"os"
)

// Cell is the value of a map at a place.
type Cell int

// The values of a cell.
const (
	Unknown Cell = iota
	Free
	Wall
)

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
