package stage

import (
	"errors"
	"fmt"
	"slices"

	"player/devices/stage/floor"
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
	// maxTiles bounds all tiles of the grids of a world: 16 million are 64 MB, six grids of
	// 2000 m by 2000 m at the default resolution. A larger world is refused, and so is one
	// with more walls.
	maxTiles = 1 << 24
	// draftStored and draftTiles are the same limits for a draft, because visitors make
	// drafts on the robot's computer. A draft may exceed them if it is less than twice as
	// large as the file that the server has loaded. They allow some hundred metres of walls,
	// and three grids of 350 m by 350 m. A desktop draws them in 0.1 s.
	draftStored = 1 << 10
	draftTiles  = 1 << 18
)

// errTooLarge is the error of a world without room for its grids.
var errTooLarge = errors.New("too much wall or floor")

// maxCoordinate bounds the distance of fixtures from the origin, metres: cell
// numbers must stay exact.
const maxCoordinate = 1e6

// layerSet draws fixtures into grids. Sensors that detect the same fixtures
// have one grid: most worlds have one.
type layerSet struct {
	extent  floor.Box
	parts   []*part // of all fixtures
	keys    []string
	demands []demand
}

// demand is where a grid is wanted.
type demand struct {
	to  **floor.Grid
	key int // in keys
}

// demand asks for the grid of the selected parts.
func (s *layerSet) demand(to **floor.Grid, wanted func(*part) bool) {
	selected := make([]byte, len(s.parts))
	for i, p := range s.parts {
		if wanted(p) {
			selected[i] = 1
		}
	}
	key := slices.Index(s.keys, string(selected))
	if key < 0 {
		key, s.keys = len(s.keys), append(s.keys, string(selected))
	}
	s.demands = append(s.demands, demand{to, key})
}

// size returns how large all grids would be, without drawing them. Where fixtures
// overlap, it may be somewhat more than necessary.
func (s *layerSet) size(resolution float64, most size) (all size) {
	all.tiles = float64(len(s.keys)) * floor.Tiles(s.extent, resolution)
	for _, key := range s.keys {
		if !all.within(most) {
			break
		}
		all.stored += floor.StoredTiles(s.extent, resolution, most.stored, s.shapes(key))
	}
	return all
}

// within reports whether grids of that size may be made.
func (s size) within(most size) bool { return s.stored <= most.stored && s.tiles <= most.tiles }

// shapes returns the shapes of a key.
func (s *layerSet) shapes(key string) (list []floor.Shape) {
	for i, p := range s.parts {
		if key[i] == 1 {
			list = append(list, floor.Shape{Outlines: p.shapes, Disjoint: p.bitmap})
		}
	}
	return list
}

// draw makes the grids, and reports whether there was room for them.
func (s *layerSet) draw(resolution float64, left size) bool {
	made := make([]*floor.Grid, len(s.keys))
	for k, key := range s.keys {
		if made[k] = floor.Draw(s.extent, resolution, left.stored, s.shapes(key)); made[k] == nil {
			return false
		}
		left.stored -= made[k].Stored()
	}
	for _, d := range s.demands {
		*d.to = made[d.key]
	}
	return true
}

// drawLayers assigns grids to robots and sensors. They may have the given size.
func (l *loader) drawLayers(most size) error {
	w := l.world
	set := layerSet{extent: w.floor()}
	for _, b := range w.fixtures {
		w.scenery = append(w.scenery, b.figure())
		for i := range b.parts {
			set.parts = append(set.parts, &b.parts[i])
		}
	}
	set.demand(&w.plan, func(p *part) bool { return p.solid || p.echo })
	drawn := map[*ranger]bool{}
	for _, b := range w.bodies {
		set.demand(&b.walls, func(p *part) bool { return p.solid && p.bottom < b.hullTop && b.hullBottom < p.top })
		if r := b.robot; r != nil && r.sonars != nil {
			set.demand(&r.sonars.walls, echoes(r.sonars.height))
		}
		if r := b.robot; r != nil {
			for _, s := range r.lasers {
				set.demand(&s.walls, echoes(s.height))
			}
			for _, g := range r.rangers {
				if !drawn[g] { // robots of one kind have the same
					drawn[g] = true
					g.demand(&set)
				}
			}
		}
	}
	for _, p := range set.parts {
		if p.bitmap {
			w.pictures = append(w.pictures, &picture{part: p})
			set.demand(&w.pictures[len(w.pictures)-1].cells, func(o *part) bool { return o == p })
		}
	}
	if !set.extent.Empty() && !(set.extent.Min.Length()+set.extent.Max.Length() < maxCoordinate) {
		return fmt.Errorf("%s: a thing is %.0f km or more from the origin", l.file.Name, maxCoordinate/2e3)
	}
	w.size = set.size(w.resolution, most)
	if w.size.within(most) && set.draw(w.resolution, most) {
		return nil
	}
	return l.tooLarge(&set, most)
}

// echoes returns whether a beam at a height detects a part.
func echoes(height float64) func(*part) bool {
	return func(p *part) bool { return p.echo && p.at(height) }
}

// tooLarge returns the error for a world without room for its grids. It names a resolution
// that is coarse enough.
func (l *loader) tooLarge(set *layerSet, most size) error {
	size := set.extent.Size()
	help := "not even resolution 1 is coarse enough"
	for _, r := range [...]float64{0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1} {
		if r > l.world.resolution && set.size(r, most).within(most) {
			help = fmt.Sprintf("write resolution %v", r)
			break
		}
	}
	const text = "%w for cells of %v m on %.0f m by %.0f m: %s"
	args := []any{errTooLarge, l.world.resolution, size.X, size.Y, help}
	if l.file.Global.Field("resolution") == nil {
		return fmt.Errorf("%s: "+text, append([]any{l.file.Name}, args...)...)
	}
	return l.file.Global.Errorf("resolution", text, args...)
}
