package stage

import (
	"fmt"
	"strconv"
)

// maxCells bounds a grid: 32 million cells are 32 MB, 113 m by 113 m at the
// default resolution. A larger world is refused.
const maxCells = 1 << 25

func pointName(i int) string { return "point[" + strconv.Itoa(i) + "]" }

// drawLayers draws the fixtures into the grids that robots and sensors look at.
// Those who see the same fixtures share a grid: in most worlds there is one.
func (l *loader) drawLayers() error {
	w := l.world
	w.extent = emptyBox()
	var parts []*part
	for _, b := range w.fixtures {
		for i := range b.parts {
			parts = append(parts, &b.parts[i])
			for _, outline := range b.parts[i].shapes {
				w.extent.include(outline...)
			}
		}
	}
	if !w.extent.empty() {
		size := w.extent.max.sub(w.extent.min).scale(1 / w.resolution)
		if cells := size.X * size.Y; !(cells < maxCells) || !(w.extent.max.length()+w.extent.min.length() < 1e6) {
			return fmt.Errorf("%s: %.0f x %.0f m at a resolution of %v m is too large: write a larger resolution",
				l.file.Name, size.X*w.resolution, size.Y*w.resolution, w.resolution)
		}
	}
	made := map[string]*layer{}
	draw := func(wanted func(*part) bool) *layer {
		key := make([]byte, len(parts))
		for i, p := range parts {
			if wanted(p) {
				key[i] = 1
			}
		}
		if known := made[string(key)]; known != nil {
			return known
		}
		grid := newLayer(w.extent, w.resolution)
		for i, p := range parts {
			if key[i] == 1 {
				for _, outline := range p.shapes {
					grid.draw(outline)
				}
			}
		}
		grid.finish()
		made[string(key)] = grid
		return grid
	}
	echoes := func(height float64) *layer {
		return draw(func(p *part) bool { return p.echo && p.at(height) })
	}
	for _, b := range w.bodies {
		b.walls = draw(func(p *part) bool { return p.solid && p.bottom < b.hullTop && b.hullBottom < p.top })
		if r := b.robot; r != nil && r.sonars != nil {
			r.sonars.walls = echoes(r.sonars.height)
		}
		if r := b.robot; r != nil && r.laser != nil {
			r.laser.walls = echoes(r.laser.height)
		}
	}
	for _, p := range parts {
		if p.bitmap {
			w.pictures = append(w.pictures, &picture{p, draw(func(o *part) bool { return o == p })})
		}
	}
	w.plan = draw(func(p *part) bool { return p.solid || p.echo })
	return nil
}
