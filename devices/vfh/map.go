package vfh

// The map: a square of cells around the place where the robot was when it was begun.
const (
	cell     = 100 // mm
	side     = 400 // cells: 40 m; with more a detour takes more time
	border   = 50  // cells: a robot that comes nearer to the edge begins a new map
	certain  = 15  // value of a cell after an echo; each beam through it takes 1
	occupied = 8   // from here on there is an obstacle
	shadow   = 150 // mm: a beam clears no cells that are so close before its echo
	laserFar = 4000
	sonarFar = 1400 // mm: further away the cone of a sonar is wider than a door
	// widest is the largest radius, mm: the area near an obstacle is wider than the radius by soft, and must be less
	// than border, the robot's least distance from the map's edge.
	widest = 4000
	// furthest is the largest distance of a goal in each direction, mm. The sum of two of them, and the diagonal of a
	// square of it, are numbers of 32 bits.
	furthest = 500_000_000
)

func (w *Way) begin() {
	w.begun = true
	w.x0, w.y0 = w.x-side*cell/2, w.y-side*cell/2
	clear(w.cells)
	clear(w.hard)
	clear(w.soft)
	w.wait, w.planning = 0, false
}

// index returns the cell of a place, or -1 outside of the map.
func (w *Way) index(x, y int) int {
	x, y = x-w.x0, y-w.y0
	if x < 0 || y < 0 || x >= side*cell || y >= side*cell {
		return -1
	}
	return y/cell*side + x/cell
}

func (w *Way) atBorder(i int) bool {
	x, y := i%side, i/side
	return x < border || y < border || x >= side-border || y >= side-border
}

// centre returns the middle of a cell.
func (w *Way) centre(i int) (x, y int) {
	return w.x0 + i%side*cell + cell/2, w.y0 + i/side*cell + cell/2
}

// turned returns a vector of a length that points to a bearing in half degrees.
func (w *Way) turned(length, bearing int) (x, y int) {
	bearing = (bearing%720 + 720) % 720
	return (length*w.cos[bearing] + 32768) >> 16, (length*w.cos[(bearing+540)%720] + 32768) >> 16
}

// see draws beams into the map: first the free cells, then the echoes.
func (w *Way) see(beams []Beam) {
	for _, b := range beams {
		sx, sy := w.from(b)
		for r := 0; r <= b.Range-shadow; r += cell {
			dx, dy := w.turned(r, b.Bearing+2*w.heading)
			if i := w.index(sx+dx, sy+dy); i >= 0 && w.cells[i] > 0 {
				w.set(i, w.cells[i]-1)
			}
		}
	}
	for _, b := range beams {
		if b.Echo && b.Range > 0 {
			sx, sy := w.from(b)
			dx, dy := w.turned(b.Range, b.Bearing+2*w.heading)
			w.set(w.index(sx+dx, sy+dy), certain)
		}
	}
}

// from returns where the sensor of a beam is.
func (w *Way) from(b Beam) (sx, sy int) {
	ax, ay := w.turned(b.X, 2*w.heading)
	bx, by := w.turned(b.Y, 2*w.heading+180)
	return w.x + ax + bx, w.y + ay + by
}

// set changes a cell, and updates the counts of the cells near it if it is an obstacle.
func (w *Way) set(i int, value uint8) {
	if i < 0 || w.atEdge(i) {
		return
	}
	before := w.cells[i] >= occupied
	w.cells[i] = value
	if now := value >= occupied; now && !before {
		for _, o := range w.inner {
			w.hard[i+o]++
		}
		for _, o := range w.outer {
			w.soft[i+o]++
		}
	} else if before && !now {
		for _, o := range w.inner {
			w.hard[i+o]--
		}
		for _, o := range w.outer {
			w.soft[i+o]--
		}
	}
}

// atEdge reports whether the area near a cell does not fit the map.
func (w *Way) atEdge(i int) bool {
	x, y := i%side, i/side
	return x < w.room || y < w.room || x >= side-w.room || y >= side-w.room
}
