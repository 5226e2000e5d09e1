// Package vfh drives a robot to a point around obstacles, from its odometry and its
// laser or its sonars:
//
//	way := vfh.New(vfh.Pioneer(), 3000, 1500) // mm, as the odometry counts
//	for robot.Read(ctx) == nil {
//		beams = vfh.AppendLaser(beams[:0], mount, &robot.Laser)
//		speed, turn, arrived := way.Next(&robot.Position, beams)
//		...
//
// It is the Vector Field Histogram of I. Ulrich and J. Borenstein ("VFH+: Reliable Obstacle
// Avoidance for Fast Mobile Robots", ICRA 1998) for a robot that turns on the spot, so
// directions are not masked by a turning circle. The map that the beams draw is kept, and
// the histogram steers to the next corner of the shortest way through it: alone it is
// trapped in dead ends. Unseen cells count as free.
//
// The same algorithm is in clients/cpp/vfh.hpp and clients/python/playerclient/vfh.py. All
// arithmetic is in integers, so that the three give the same commands; a test of
// clients/conformance compares them.
package vfh

import (
	"fmt"
	"math"

	"player/codec"
)

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
	// than border, the robot's least distance from the map's edge. C++ has a density of 100 times its square in 32 bits.
	widest = 4000
)

// The way through the map.
const (
	period   = 5     // rounds between two plans
	turning  = 40    // and while the robot turns on the spot: it scans before it decides anew
	patience = 40000 // cells that a plan may check: a fourth of the map
	straight = 10    // cost of a step to the next cell
	diagonal = 14    // and across
	soft     = 300   // mm beyond the radius: there a step costs three times as much
	detour   = 3
	own      = 400  // mm around the robot and its goal: obstacles may be this near
	ahead    = 1500 // mm to the corner steered for, at most
	leg      = 50   // mm between two checks whether the straight line to it is free
)

// The histogram.
const (
	width   = 5 // degrees of a sector
	sectors = 360 / width
	sight   = 1200 // mm: obstacles beyond it are not in the histogram, unless the robot is wider
	least   = 400  // mm: those within it always are
	high    = 30   // percent of the density of an obstacle at the robot: a sector is blocked
	low     = 15   // below it is free again
	wide    = 80   // degrees: a wider opening is passed on one side
	toGoal  = 5    // costs of a degree from the direction of the goal,
	toTurn  = 2    // from the robot's heading,
	toLast  = 2    // and from the latest direction: together less than the first
)

// The commands.
const (
	maxTurn = 60  // deg/s
	pivot   = 45  // degrees: the robot turns on the spot
	near    = 500 // mm from the goal, below which it turns on the spot
	nearBy  = 20  // degrees
	front   = 30  // degrees to each side, in which obstacles slow it down
	creep   = 40  // mm/s, the least speed towards a free direction
	retreat = 10  // rounds backwards, after a stall
	back    = 150 // mm/s
)

// Config is a robot and how it is to drive.
type Config struct {
	Radius    int // mm: half of the narrowest gap that it is to pass, 0 to 4000
	Front     int // mm from the centre of rotation to the front
	MaxSpeed  int // mm/s
	Tolerance int // mm from the goal, where the robot has arrived
}

// Pioneer returns the configuration of a Pioneer 2-DX, which is 380 mm wide.
func Pioneer() Config { return Config{Radius: 250, Front: 180, MaxSpeed: 400, Tolerance: 50} }

// Of returns the configuration of a robot with these parts, or, without a part for position,
// of a Pioneer. The part of position is the robot's body (PROTOCOL 8.9.3).
func Of(parts []codec.Part) Config {
	c := Pioneer()
	for _, p := range parts {
		if p.Device == codec.Position && p.Width > 0 && p.Length > 0 {
			c.Radius, c.Front = int(p.Width/2)+margin, int(p.X+p.Length/2)
		}
	}
	return c
}

// margin is how far from obstacles a robot is to pass, in mm. Cells are made of echoes, so a
// door seems up to two cells narrower than it is: with 100 mm a door of 1 m closes at times.
const margin = 60

// Beam is a reading of a sensor, in mm and half degrees in the robot's frame.
type Beam struct {
	X, Y    int // of the sensor
	Bearing int
	Range   int // of the free space; 0: it is unknown
	Echo    bool
}

// AppendLaser appends the beams of a scan by a laser with this mount: one for each degree,
// which at laserFar is less than a cell.
func AppendLaser(dst []Beam, mount codec.Part, scan *codec.LaserData) []Beam {
	x, y, heading := int(math.Floor(mount.X+0.5)), int(math.Floor(mount.Y+0.5)), int(math.Floor(2*mount.Heading+0.5))
	for i := 0; i < codec.LaserCount; i += 2 {
		r := int(scan[i])
		dst = append(dst, Beam{x, y, heading - 180 + i, min(r, laserFar), r < laserFar})
	}
	return dst
}

// AppendSonar appends the beams of sonars. Sonars without a mount are left out.
func AppendSonar(dst []Beam, mounts []codec.Part, ranges *codec.SonarData) []Beam {
	for _, m := range mounts {
		if m.Device == codec.Sonar && m.Number >= 0 && m.Number < codec.SonarCount {
			x, y, heading := int(math.Floor(m.X+0.5)), int(math.Floor(m.Y+0.5)), int(math.Floor(2*m.Heading+0.5))
			r := int(ranges[m.Number])
			dst = append(dst, Beam{x, y, heading, min(r, sonarFar), r < sonarFar})
		}
	}
	return dst
}

// Way is the way of a robot to a goal.
type Way struct {
	c            Config
	goalX, goalY int // mm
	cos          [720]int

	begun    bool
	x0, y0   int // mm, of the map's corner
	horizon  int // mm: sight, or the area near a wide robot
	room     int // cells between an obstacle and the edge of the map, for the area near it
	cells    []uint8
	hard     []uint16 // obstacles within the radius of a cell: for the widest robot there are 5025
	soft     []uint16 // and within soft of that
	inner    []int    // offsets of cells within the radius
	outer    []int    // and beyond it
	aimX     int      // mm: the point steered for
	aimY     int
	wait     int // rounds until the next plan
	blocked  [sectors]bool
	last     int // direction
	pivoting bool
	backing  int // rounds

	cost   []int // of the way to a cell
	parent []int
	open   queue
}

// New returns the way to a goal, in mm as the odometry counts. It panics if the robot is too
// wide for its map: no command would be safe.
func New(c Config, goalX, goalY int) *Way {
	if c.Radius < 0 || c.Radius > widest {
		panic(fmt.Sprintf("vfh: a radius of %d mm is not 0 to %d", c.Radius, widest))
	}
	reach := (c.Radius + soft) / cell
	w := &Way{c: c, goalX: goalX, goalY: goalY, horizon: max(sight, c.Radius+soft), room: reach}
	for i := range w.cos {
		w.cos[i] = int(math.Floor(math.Cos(float64(i)*math.Pi/360)*65536 + 0.5))
	}
	for y := -reach; y <= reach; y++ {
		for x := -reach; x <= reach; x++ {
			switch d := (x*x + y*y) * cell * cell; {
			case d <= c.Radius*c.Radius:
				w.inner = append(w.inner, y*side+x)
			case d <= (c.Radius+soft)*(c.Radius+soft):
				w.outer = append(w.outer, y*side+x)
			}
		}
	}
	return w
}

// Next takes the robot's report and returns its next command: a speed in mm/s and a turn
// rate in deg/s. It expects ten reports in a second.
func (w *Way) Next(p *codec.PositionData, beams []Beam) (speed, turn int, arrived bool) {
	x, y, heading := int(p.X), int(p.Y), int(p.Heading)
	if i := w.index(x, y); i < 0 || !w.begun || w.atBorder(i) {
		w.begin(x, y)
	}
	w.see(x, y, heading, beams)
	if distance(w.goalX-x, w.goalY-y) <= w.c.Tolerance {
		return 0, 0, true
	}
	if p.Stall != 0 && w.backing == 0 { // it has met something that the beams do not show
		w.backing = retreat
		cx, cy := w.turned(w.c.Front+cell, 2*heading)
		w.set(w.index(x+cx, y+cy), certain)
	}
	if w.backing > 0 {
		w.backing--
		w.wait = 0
		return -back, 0, false
	}
	if w.wait--; w.wait < 0 || !w.pivoting && w.wait < turning-period {
		w.plan(x, y)
		w.wait = turning - 1
	}
	speed, turn = w.steer(x, y, heading)
	return speed, turn, false
}

// ---- The map ----

func (w *Way) begin(x, y int) {
	w.begun = true
	w.x0, w.y0 = x-side*cell/2, y-side*cell/2
	w.cells, w.hard, w.soft = make([]uint8, side*side), make([]uint16, side*side), make([]uint16, side*side)
	w.wait = 0
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
func (w *Way) see(x, y, heading int, beams []Beam) {
	for _, b := range beams {
		sx, sy := w.from(x, y, heading, b)
		for r := 0; r <= b.Range-shadow; r += cell {
			dx, dy := w.turned(r, b.Bearing+2*heading)
			if i := w.index(sx+dx, sy+dy); i >= 0 && w.cells[i] > 0 {
				w.set(i, w.cells[i]-1)
			}
		}
	}
	for _, b := range beams {
		if b.Echo && b.Range > 0 {
			sx, sy := w.from(x, y, heading, b)
			dx, dy := w.turned(b.Range, b.Bearing+2*heading)
			w.set(w.index(sx+dx, sy+dy), certain)
		}
	}
}

// from returns where the sensor of a beam is.
func (w *Way) from(x, y, heading int, b Beam) (sx, sy int) {
	ax, ay := w.turned(b.X, 2*heading)
	bx, by := w.turned(b.Y, 2*heading+180)
	return x + ax + bx, y + ay + by
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

// ---- The way ----

// neighbours are the steps to the cells around one.
var neighbours = [8][3]int{{1, 0, straight}, {0, 1, straight}, {-1, 0, straight}, {0, -1, straight}, {1, 1, diagonal}, {-1, 1, diagonal}, {-1, -1, diagonal}, {1, -1, diagonal}}

// plan chooses the point to steer for: the furthest place on the shortest way (A*) that can
// be reached in a straight line, or the goal if there is no way.
func (w *Way) plan(x, y int) {
	w.aimX, w.aimY = w.goalX, w.goalY
	start, goal := w.index(x, y), w.inMap(w.goalX, w.goalY)
	if w.cost == nil {
		w.cost, w.parent = make([]int, side*side), make([]int, side*side)
	}
	clear(w.cost)
	w.open = w.open[:0]
	w.open.push(0, goal)
	w.cost[goal] = 1 // 0: not reached
	for checked := 0; len(w.open) > 0 && checked < patience; checked++ {
		at := w.open.pop()
		if at == start {
			w.follow(x, y, start, goal)
			return
		}
		if w.cost[at] < 0 {
			continue // done
		}
		g := w.cost[at]
		w.cost[at] = -g
		for _, n := range neighbours {
			next := at + n[1]*side + n[0]
			if w.atEdge(next) || w.cost[next] < 0 || !w.passable(next, start, goal) {
				continue
			}
			step := n[2]
			if w.soft[next] > 0 || w.hard[next] > 0 {
				step *= detour
			}
			if w.cost[next] == 0 || g+step < w.cost[next] {
				w.cost[next] = g + step
				w.parent[next] = at
				w.open.push(g+step+estimate(next, start), next)
			}
		}
	}
}

// inMap returns the cell of a place, or the map's nearest cell.
func (w *Way) inMap(x, y int) int {
	cx := min(max((x-w.x0)/cell, w.room), side-1-w.room)
	cy := min(max((y-w.y0)/cell, w.room), side-1-w.room)
	return cy*side + cx
}

// passable reports whether the robot's centre may be in a cell.
func (w *Way) passable(i, start, goal int) bool {
	if w.hard[i] == 0 {
		return true
	}
	return w.cells[i] < occupied && (apart(i, start) < own || apart(i, goal) < own)
}

// apart returns the distance of two cells, mm.
func apart(a, b int) int { return cell * distance(a%side-b%side, a/side-b/side) }

// estimate returns the least cost between two cells.
func estimate(a, b int) int {
	dx, dy := abs(a%side-b%side), abs(a/side-b/side)
	return straight*max(dx, dy) + (diagonal-straight)*min(dx, dy)
}

// follow steers for the furthest cell of the way that is in sight.
func (w *Way) follow(x, y, start, goal int) {
	best := start
	for i := start; ; i = w.parent[i] {
		cx, cy := w.centre(i)
		if distance(cx-x, cy-y) > ahead {
			break
		}
		if w.inSight(x, y, cx, cy, start, goal) {
			best = i
		}
		if i == goal {
			break
		}
	}
	if best == start && start != goal {
		best = w.parent[start]
	}
	if best != goal {
		w.aimX, w.aimY = w.centre(best)
	}
}

// inSight reports whether the robot's centre may move in a straight line.
func (w *Way) inSight(x, y, toX, toY, start, goal int) bool {
	n := distance(toX-x, toY-y)/leg + 1
	for k := 1; k <= n; k++ {
		// Numerators are made positive: languages divide negative numbers differently.
		i := w.index(w.x0+((x-w.x0)*(n-k)+(toX-w.x0)*k)/n, w.y0+((y-w.y0)*(n-k)+(toY-w.y0)*k)/n)
		if i < 0 || !w.passable(i, start, goal) {
			return false
		}
	}
	return true
}

// queue is a heap of cells that are to be checked: of the least cost of a way through each,
// times the cells of a map, and the cell. So the cheapest is first, and of equal ones the first cell.
type queue []int64

func (q *queue) push(cost, cell int) {
	*q = append(*q, int64(cost)*side*side+int64(cell))
	h := *q
	for i := len(h) - 1; i > 0 && h[i] < h[(i-1)/2]; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (q *queue) pop() (cell int) {
	h := *q
	first, last := h[0], len(h)-1
	h[0], h = h[last], h[:last]
	for i, next := 0, 1; next < last; i, next = next, 2*next+1 {
		if next+1 < last && h[next+1] < h[next] {
			next++
		}
		if h[i] <= h[next] {
			break
		}
		h[i], h[next] = h[next], h[i]
	}
	*q = h
	return int(first % (side * side))
}

// ---- The histogram ----

// steer returns the command that drives towards the point steered for.
func (w *Way) steer(x, y, heading int) (speed, turn int) {
	target, room := direction(w.aimX-x, w.aimY-y), w.histogram(x, y, heading)
	d := w.choose(target, heading)
	w.last = d
	wrong := wrap(d - heading)
	remaining := distance(w.goalX-x, w.goalY-y)
	spot := pivot
	if remaining < near {
		spot = nearBy
	}
	turn = min(max(wrong*3/2, -maxTurn), maxTurn)
	if w.pivoting = abs(wrong) >= spot; w.pivoting {
		return 0, turn
	}
	speed = min(w.c.MaxSpeed, max(room-w.c.Front-cell, creep), max(remaining, creep))
	return speed * (spot - abs(wrong)) / spot, turn
}

// histogram blocks the directions in which the robot would meet obstacles. It returns the
// distance of the nearest obstacle ahead, from the robot's centre.
func (w *Way) histogram(x, y, heading int) (room int) {
	radius := min(max(distance(w.aimX-x, w.aimY-y)+cell, least), w.horizon)
	var density [sectors]int
	room = w.horizon
	cx, cy := (x-w.x0)/cell, (y-w.y0)/cell
	reach := radius/cell + 1
	for j := cy - reach; j <= cy+reach; j++ {
		for i := cx - reach; i <= cx+reach; i++ {
			if w.cells[j*side+i] < occupied {
				continue
			}
			px, py := w.centre(j*side + i)
			d := max(distance(px-x, py-y), 1)
			if d > radius {
				continue
			}
			at := direction(px-x, py-y)
			if abs(wrap(at-heading)) <= front {
				room = min(room, d)
			}
			// The obstacle is enlarged by the robot's size: the robot becomes a point.
			half := 90
			if d > w.c.Radius {
				half = int(math.Floor(math.Asin(float64(w.c.Radius)/float64(d))*180/math.Pi + 0.5))
			}
			for s := range sectors {
				if abs(wrap(s*width-at)) <= half {
					density[s] += 100 - 100*d*d/(w.horizon*w.horizon)
				}
			}
		}
	}
	for s, m := range density {
		if m > high {
			w.blocked[s] = true
		} else if m < low {
			w.blocked[s] = false
		}
	}
	return room
}

// choose returns the best direction: in the middle of a narrow opening, at one side of
// a wide one, or straight to the target.
func (w *Way) choose(target, heading int) int {
	first := 0
	for first < sectors && !w.blocked[first] {
		first++
	}
	if first == sectors {
		return target
	}
	best, least := target, math.MaxInt
	try := func(d int) {
		cost := toGoal*abs(wrap(d-target)) + toTurn*abs(wrap(d-heading)) + toLast*abs(wrap(d-w.last))
		if cost < least {
			best, least = (d%360+360)%360, cost
		}
	}
	for i := 0; i < sectors; i++ {
		begin := first + i
		if w.blocked[begin%sectors] {
			continue
		}
		n := 0
		for !w.blocked[(begin+n)%sectors] {
			n++
		}
		i += n
		from, to := begin*width, (begin+n-1)*width
		if to-from < wide {
			try((from + to) / 2)
			continue
		}
		try(from + wide/2)
		try(to - wide/2)
		if into := (target - from%360 + 360) % 360; into >= wide/2 && into <= to-from-wide/2 {
			try(target)
		}
	}
	return best
}

// ---- Numbers ----

func abs(v int) int { return max(v, -v) }

// distance returns the length of a vector, rounded down.
func distance(x, y int) int { return int(math.Sqrt(float64(x*x + y*y))) }

// direction returns the angle of a vector, 0 to 359 degrees.
func direction(x, y int) int {
	d := int(math.Floor(math.Atan2(float64(y), float64(x))*180/math.Pi + 0.5))
	return (d + 360) % 360
}

// wrap returns an angle as -180 to 179 degrees.
func wrap(d int) int { return ((d+180)%360+360)%360 - 180 }
