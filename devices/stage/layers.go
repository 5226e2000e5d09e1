package stage

import "fmt"

// maxCells bounds all grids of a world together: 64 million cells are 64 MB,
// one grid of 160 m by 160 m at the default resolution. A larger world is
// refused.
const maxCells = 1 << 26

// maxCoordinate bounds the distance of fixtures from the origin, metres: cell
// numbers must stay exact.
const maxCoordinate = 1e6

// layerSet draws fixtures into grids. Sensors that detect the same fixtures
// share a grid: most worlds have one.
type layerSet struct {
	extent     box
	resolution float64
	parts      []*part // of all fixtures
	made       map[string]*layer
}

// layer returns the grid of the selected parts.
func (s *layerSet) layer(wanted func(*part) bool) (*layer, error) {
	key := make([]byte, len(s.parts))
	for i, p := range s.parts {
		if wanted(p) {
			key[i] = 1
		}
	}
	if known := s.made[string(key)]; known != nil {
		return known, nil
	}
	if !s.extent.empty() {
		size := s.extent.max.sub(s.extent.min)
		cells := (size.X/s.resolution + 4) * (size.Y/s.resolution + 4) * float64(len(s.made)+1)
		if !(cells < maxCells) || !(s.extent.min.length()+s.extent.max.length() < maxCoordinate) {
			return nil, fmt.Errorf("%.0f x %.0f m at a resolution of %v m is too large: increase the resolution value",
				size.X, size.Y, s.resolution)
		}
	}
	grid := newLayer(s.extent, s.resolution)
	for i, p := range s.parts {
		if key[i] == 1 {
			for _, outline := range p.shapes {
				grid.draw(outline)
			}
		}
	}
	grid.finish()
	s.made[string(key)] = grid
	return grid, nil
}

// drawLayers assigns grids to robots and sensors.
func (l *loader) drawLayers() error {
	w := l.world
	set := layerSet{extent: emptyBox(), resolution: w.resolution, made: map[string]*layer{}}
	for _, b := range w.fixtures {
		for i := range b.parts {
			set.parts = append(set.parts, &b.parts[i])
			for _, outline := range b.parts[i].shapes {
				set.extent.include(outline...)
			}
		}
	}
	var failure error
	draw := func(to **layer, wanted func(*part) bool) {
		grid, err := set.layer(wanted)
		if *to = grid; err != nil {
			failure = fmt.Errorf("%s: %w", l.file.Name, err)
		}
	}
	echoes := func(height float64) func(*part) bool {
		return func(p *part) bool { return p.echo && p.at(height) }
	}
	draw(&w.plan, func(p *part) bool { return p.solid || p.echo })
	for _, b := range w.bodies {
		draw(&b.walls, func(p *part) bool { return p.solid && p.bottom < b.hullTop && b.hullBottom < p.top })
		if r := b.robot; r != nil && r.sonars != nil {
			draw(&r.sonars.walls, echoes(r.sonars.height))
		}
		if r := b.robot; r != nil && r.laser != nil {
			draw(&r.laser.walls, echoes(r.laser.height))
		}
	}
	for _, p := range set.parts {
		if p.bitmap {
			w.pictures = append(w.pictures, &picture{part: p})
			draw(&w.pictures[len(w.pictures)-1].cells, func(o *part) bool { return o == p })
		}
	}
	return failure
}
