package stage

import (
	"errors"
	"fmt"
)

// size is how large the grids of a world are, together.
type size struct {
	stored int     // tiles that are stored: the length of the walls
	tiles  float64 // all tiles: the floor
}

const (
	// maxStored bounds the tiles that the grids of a world store: 16384 are 64 MB, ten
	// kilometres of walls at the default resolution.
	maxStored = 1 << 14
	// maxTiles bounds all tiles of the grids of a world: 16 million are 64 MB, six grids
	// of 2000 m by 2000 m at the default resolution. A larger world is refused, as is one
	// with more walls.
	maxTiles = 1 << 24
	// draftStored and draftTiles are the same for a draft, which visitors make on the
	// robot's computer, unless it is less than twice as large as the file that the server
	// has loaded: some hundred metres of walls, and three grids of 350 m by 350 m. To
	// draw it takes a desktop 0.1 s.
	draftStored = 1 << 10
	draftTiles  = 1 << 18
)

// errTooLarge is the error of a world without room for its grids.
var errTooLarge = errors.New("increase the resolution value")

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
	left       size // for the next grids
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
		if s.left.tiles -= (size.X/side + 2) * (size.Y/side + 2); !(s.left.tiles > 0) || !(s.extent.min.length()+s.extent.max.length() < maxCoordinate) {
			return nil, fmt.Errorf("%.0f x %.0f m at a resolution of %v m is too large: %w",
				size.X, size.Y, s.resolution, errTooLarge)
		}
	}
	grid := newLayer(s.extent, s.resolution, s.left.stored)
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
		return nil, fmt.Errorf("too much wall at a resolution of %v m: %w", s.resolution, errTooLarge)
	}
	s.left.stored = grid.budget
	s.made[string(key)] = grid
	return grid, nil
}

// drawLayers assigns grids to robots and sensors. They may have the given size.
func (l *loader) drawLayers(most size) error {
	w := l.world
	set := layerSet{extent: w.floor(), resolution: w.resolution, made: map[string]*layer{}, left: most}
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
	w.size = size{most.stored - set.left.stored, most.tiles - set.left.tiles}
	return failure
}
