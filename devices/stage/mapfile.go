package stage

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// mapFile is the file map.yaml of a map of ROS (wiki.ros.org/map_server).
type mapFile struct {
	Image      string    // the picture; relative to the map file
	Resolution float64   // side of a pixel, metres
	Origin     []float64 // of the lower left corner in the world: metres, and radians
	Negate     bool      // walls are light
	Occupied   float64   // darkness above which a pixel is a wall, 0 to 1
	Mode       string
}

// maxMapPixel bounds the side of a pixel in a map file, metres.
const maxMapPixel = 100

// readMapFile reads a map file. Unknown cells are free.
func readMapFile(path string, data []byte) (*mapFile, error) {
	m := &mapFile{Occupied: 0.65, Mode: "trinary"}
	if err := readYAML(string(data), m.set); err != nil {
		return nil, err
	}
	switch {
	case m.Image == "":
		return nil, errors.New("image is missing: write the name of the picture")
	case !(m.Resolution > 0 && m.Resolution <= maxMapPixel):
		return nil, fmt.Errorf("resolution is %v: write metres for each pixel", m.Resolution)
	case m.Mode != "trinary" && m.Mode != "scale" && m.Mode != "raw":
		return nil, fmt.Errorf("mode is %.40q: write trinary, scale or raw", m.Mode)
	case !(m.Occupied > 0 && m.Occupied < 1):
		return nil, fmt.Errorf("occupied_thresh is %v: write a number between 0 and 1", m.Occupied)
	case len(m.Origin) < 2 || len(m.Origin) > 3:
		return nil, errors.New("origin wants [x, y, yaw]")
	}
	for len(m.Origin) < 3 {
		m.Origin = append(m.Origin, 0)
	}
	for _, v := range m.Origin {
		if !(math.Abs(v) < maxCoordinate) {
			return nil, fmt.Errorf("origin has %v: write metres and radians", v)
		}
	}
	if !filepath.IsAbs(m.Image) {
		m.Image = filepath.Join(filepath.Dir(path), m.Image)
	}
	return m, nil
}

// set sets the value of a key, or one item of its list. Other keys are for other programs.
func (m *mapFile) set(key string, value yamlValue, isItem bool) (err error) {
	switch key {
	case "image":
		m.Image = value.text
	case "mode":
		m.Mode = strings.ToLower(value.text)
	case "resolution":
		m.Resolution, err = mapNumber(value.text)
	case "occupied_thresh":
		m.Occupied, err = mapNumber(value.text)
	case "negate":
		m.Negate = value.text == "1" || strings.EqualFold(value.text, "true")
	case "origin":
		items := []yamlValue{value}
		if !isItem {
			m.Origin = nil
		}
		if value.list {
			items = value.items
		}
		for _, item := range items {
			v, err := mapNumber(item.text)
			if err != nil {
				return err
			}
			m.Origin = append(m.Origin, v)
		}
	}
	return err
}

// mapNumber reads a number as YAML writes it.
func mapNumber(text string) (float64, error) {
	switch strings.ToLower(text) {
	case ".nan":
		return math.NaN(), nil
	case ".inf", "-.inf":
		return math.Inf(1), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a number", text)
	}
	return v, nil
}

// origin returns the pose of the picture's lower left corner.
func (m *mapFile) origin() Pose { return Pose{X: m.Origin[0], Y: m.Origin[1], Heading: m.Origin[2]} }

// isWall reports whether a pixel is a wall: its darkness is above the threshold. In mode raw a pixel is
// the occupancy in percent, 0 to 100, and others are unknown.
func (m *mapFile) isWall(luminance uint32) bool {
	if percent := luminance >> 8; m.Mode == "raw" {
		return percent <= 100 && float64(percent) > 100*m.Occupied
	}
	darkness := 1 - float64(luminance)/0xffff
	if m.Negate {
		darkness = 1 - darkness
	}
	return darkness > m.Occupied
}
