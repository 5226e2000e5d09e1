package stage

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// mapFile is the file map.yaml of a map of ROS (wiki.ros.org/map_server).
type mapFile struct {
	Image      string    `yaml:"image"`      // the picture; relative to the map file
	Resolution float64   `yaml:"resolution"` // side of a pixel, metres
	Origin     []float64 `yaml:"origin"`     // of the lower left corner in the world: metres, and radians
	Negate     any       `yaml:"negate"`     // 1 or true: walls are light
	Occupied   float64   `yaml:"occupied_thresh"`
	Mode       string    `yaml:"mode"`
}

// maxMapPixel bounds the side of a pixel in a map file, metres.
const maxMapPixel = 100

// readMapFile reads a map file. What is neither a wall nor free is free.
func readMapFile(path string, data []byte) (*mapFile, error) {
	m := &mapFile{Negate: 0, Occupied: 0.65, Mode: "trinary"}
	if err := yaml.Unmarshal(data, m); err != nil {
		return nil, err
	}
	switch {
	case m.Image == "":
		return nil, errors.New("image is missing: write the name of the picture")
	case !(m.Resolution > 0 && m.Resolution <= maxMapPixel):
		return nil, fmt.Errorf("resolution is %v: write metres for each pixel", m.Resolution)
	case m.Mode == "raw":
		return nil, errors.New("mode raw is not supported: write mode: trinary")
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

// origin returns the pose of the picture's lower left corner.
func (m *mapFile) origin() Pose { return Pose{m.Origin[0], m.Origin[1], m.Origin[2]} }

// isWall reports whether a pixel is a wall: its darkness is above the threshold.
func (m *mapFile) isWall(luminance uint32) bool {
	darkness := 1 - float64(luminance)/0xffff
	if m.Negate == 1 || m.Negate == true {
		darkness = 1 - darkness
	}
	return darkness > m.Occupied
}
