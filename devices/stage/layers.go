package stage

import "fmt"

const (
	// maxStored bounds the tiles that the grids of a world store, together: 16384 are
	// 64 MB, ten kilometres of walls at the default resolution.
	maxStored = 1 << 14
	// maxTiles bounds all tiles of the grids of a world, together: 16 million are 64
	// MB, six grids of 2000 m by 2000 m at the default resolution. A larger world is
	// refused, as is one with more walls.
	maxTiles = 1 << 24
)

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
	// What the next grids may have, see maxStored and maxTiles.
	stored int
	tiles  float64
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
	if side := s.resolution * tileSide; !s.extent.empty() {
		size := s.extent.max.sub(s.extent.min)
		if s.tiles -= (size.X/side + 2) * (size.Y/side + 2); !(s.tiles > 0) || !(s.extent.min.length()+s.extent.max.length() < maxCoordinate) {
			return nil, fmt.Errorf("%.0f x %.0f m at a resolution of %v m is too large: increase the resolution value",
				size.X, size.Y, s.resolution)
		}
	}
	grid := newLayer(s.extent, s.resolution, s.stored)
	for i, p := range s.parts {
		if key[i] == 1 {
			for _, outline := range p.shapes {
				if grid.draw(outline); grid.budget < 0 {
					break
				}
			}
		}
	}
	if grid.finish(); grid.budget < 0 {
		return nil, fmt.Errorf("too much wall at a resolution of %v m: increase the resolution value", s.resolution)
	}
	s.stored = grid.budget
	s.made[string(key)] = grid
	return grid, nil
}

// drawLayers assigns grids to robots and sensors.
func (l *loader) drawLayers() error {
	w := l.world
	set := layerSet{extent: w.floor(), resolution: w.resolution, made: map[string]*layer{}, stored: maxStored, tiles: maxTiles}
	for _, b := range w.fixtures {
		for i := range b.parts {
			set.parts = append(set.parts, &b.parts[i])
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
