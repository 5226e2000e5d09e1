// Package vfh plans how a robot drives to a point around obstacles, from its odometry and its
// lasers, rangers or sonars. It is pure: devices/driveto is the driver that asks it.
//
//	way.Aim(3000, 1500) // mm, as the odometry counts
//	way.Report(&position, beams)      // ten times a second
//	for !way.Plan(portion) {          // a few times a second there is something to plan
//	}
//	speed, turn := way.Command()
//
// It is the Vector Field Histogram of I. Ulrich and J. Borenstein ("VFH+: Reliable Obstacle
// Avoidance for Fast Mobile Robots", ICRA 1998) for a robot that turns on the spot, so
// directions are not masked by a turning circle. The map that the beams draw is kept, and
// the histogram steers to the next corner of the shortest way through it: alone it is
// trapped in dead ends. Unseen cells count as free.
package vfh

import (
	"errors"
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
	// than border, the robot's least distance from the map's edge.
	widest = 4000
	// furthest is the largest distance of a goal in each direction, mm. The sum of two of them, and the diagonal of a
	// square of it, are numbers of 32 bits.
	furthest = 500_000_000
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
	pivot   = 45  // degrees: the robot turns on the spot
	near    = 500 // mm from the goal, below which it turns on the spot
	nearBy  = 20  // degrees
	front   = 30  // degrees to each side, in which obstacles slow it down
	creep   = 40  // mm/s, the least speed towards a free direction
	retreat = 10  // rounds backwards, after a stall
	back    = 150 // mm/s
	aligned = 1   // degrees from the heading at the goal, which odometry has: it rounds to one. Programs of Player 2 and 3 wait for 0.03 rad
	slowest = 5   // deg/s towards that heading, so that the robot gets there
)

// Config is a robot and how it is to drive.
type Config struct {
	Radius    int // mm: half of the narrowest gap that it is to pass, 0 to 4000
	Front     int // mm from the centre of rotation to the front
	MaxSpeed  int // mm/s
	MaxTurn   int // deg/s
	Tolerance int // mm from the goal, where the robot has arrived
}

// Pioneer returns the configuration of a Pioneer 2-DX, which is 380 mm wide.
func Pioneer() Config {
	return Config{Radius: 250, Front: 180, MaxSpeed: 400, MaxTurn: 60, Tolerance: 50}
}

// Of returns the configuration of a robot whose body has these parts (PROTOCOL 8.9.3), or, if they have no size, of a
// Pioneer.
func Of(body []codec.Part) Config {
	c := Pioneer()
	for _, p := range body {
		if p.Width > 0 && p.Length > 0 {
			c.Radius, c.Front = int(p.Width/2)+margin, int(p.X+p.Length/2)
		}
	}
	return c
}

// ErrWide is the error of a robot that has no room in a map.
var ErrWide = errors.New("a robot that is wider than 8 m has no room in a map of 40 m")

// check returns ErrWide unless a robot has room.
func (c Config) check() error {
	if c.Radius < 0 || c.Radius > widest {
		return ErrWide
	}
	return nil
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
	x, y, heading := whole(mount.X), whole(mount.Y), whole(2*mount.Heading)
	for i := 0; i < codec.LaserCount; i += 2 {
		r := int(scan[i])
		dst = append(dst, Beam{x, y, heading - 180 + i, min(r, laserFar), r < laserFar})
	}
	return dst
}

// AppendSonar appends the beams of sonars with these mounts.
func AppendSonar(dst []Beam, mounts []codec.Part, ranges *codec.SonarData) []Beam {
	for _, m := range mounts {
		if m.Number >= 0 && m.Number < codec.SonarCount {
			r := int(ranges[m.Number])
			dst = append(dst, Beam{whole(m.X), whole(m.Y), whole(2 * m.Heading), min(r, sonarFar), r < sonarFar})
		}
	}
	return dst
}

const (
	// cone is the width of a beam in degrees from which on it is as wide as a sonar's, and not used beyond sonarFar.
	cone = 5
	// mostBeams is how many beams a ranger has at most, so that the time of a report is bounded. All around that is
	// one for each half degree: at laserFar they are less than a cell apart.
	mostBeams = 720
)

// AppendRanger appends the beams of a ranger whose readings look along rays: at most one for each degree, and mostBeams in
// all.
func AppendRanger(dst []Beam, rays []codec.Rays, data *codec.RangerData) []Beam {
	all := 1 // so that each is never 0
	for _, r := range rays {
		all += r.Count
	}
	for _, r := range rays {
		far := laserFar
		if r.Cone >= cone {
			far = sonarFar
		}
		each := (all + mostBeams - 1) / mostBeams
		if r.Step != 0 {
			each = max(each, int(min(1/math.Abs(r.Step), mostBeams)))
		}
		x, y := whole(r.X), whole(r.Y)
		// The number of the reading counts, so that rings of many sonars, one in a line, are thinned out as well.
		for i := (each - r.First%each) % each; i < r.Count && r.First+i < len(data.Ranges); i += each {
			b := Beam{X: x, Y: y, Bearing: whole(2 * (r.Heading + float64(i)*r.Step)), Range: far}
			if mm, is := data.MM(r.First + i); is {
				b.Range, b.Echo = min(mm, far), mm < far
			} else if data.Ranges[r.First+i] != codec.NothingInRange {
				continue
			} else if r.Far > 0 {
				b.Range = min(far, whole(r.Far))
			}
			dst = append(dst, b)
		}
	}
	return dst
}

// Way is the way of a robot to its goals. Its map takes 2.1 MB.
type Way struct {
	c            Config
	goalX, goalY int // mm
	cos          [720]int

	begun    bool
	x, y     int // mm, of the robot
	heading  int
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

	planning    bool // a plan is not complete
	noWay       bool // the last one has found none
	start, goal int  // cells of the plan
	checked     int  // cells that it has checked
	cost        []int32
	parent      []int32 // of the way to a cell
	open        queue
}

// New returns a Way for a robot. ErrWide is the error of one that is too wide.
func New(c Config) (*Way, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	reach := (c.Radius + soft) / cell
	w := &Way{c: c, horizon: max(sight, c.Radius+soft), room: reach}
	w.cells, w.hard, w.soft = make([]uint8, side*side), make([]uint16, side*side), make([]uint16, side*side)
	w.cost, w.parent = make([]int32, side*side), make([]int32, side*side)
	for i := range w.cos {
		w.cos[i] = whole(math.Cos(float64(i)*math.Pi/360) * 65536)
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
	return w, nil
}

// Radius returns the radius of the robot, which never changes.
func (w *Way) Radius() int { return w.c.Radius }

// Limit changes the other numbers of the robot.
func (w *Way) Limit(maxSpeed, maxTurn, tolerance int) {
	w.c.MaxSpeed, w.c.MaxTurn, w.c.Tolerance = maxSpeed, maxTurn, tolerance
}

// CanAim reports whether a point is near enough to be a goal.
func CanAim(x, y int) bool { return max(abs(x), abs(y)) <= furthest }

// Aim sets the goal, in mm as the odometry counts. CanAim must be true. The map is kept.
func (w *Way) Aim(x, y int) {
	w.goalX, w.goalY = x, y
	w.wait, w.planning, w.noWay = 0, false, false
	w.aimX, w.aimY = x, y
}

// Forget has the next report begin a new map: the robot was somewhere else meanwhile, or things have moved.
func (w *Way) Forget() {
	w.begun, w.backing, w.last, w.pivoting, w.blocked = false, 0, 0, false, [sectors]bool{}
}

// Report takes the robot's odometry and the beams of its sensors. It expects ten reports in a second. It is done in
// a time that has a bound, and may begin a plan.
func (w *Way) Report(p *codec.PositionData, beams []Beam) {
	w.x, w.y, w.heading = int(p.X), int(p.Y), int(p.Heading)
	if i := w.index(w.x, w.y); i < 0 || !w.begun || w.atBorder(i) {
		w.begin()
	}
	w.see(beams)
	if w.Arrived() {
		w.planning, w.noWay = false, false
		return
	}
	if w.backing > 0 {
		w.backing--
	}
	if p.Stall != 0 && w.backing == 0 { // it has met something that the beams do not show
		w.backing = retreat
		cx, cy := w.turned(w.c.Front+cell, 2*w.heading)
		w.set(w.index(w.x+cx, w.y+cy), certain)
	}
	if w.backing > 0 {
		w.wait = 0
		return
	}
	if w.planning {
		return
	}
	if w.wait--; w.wait < 0 || !w.pivoting && w.wait < turning-period {
		w.beginPlan()
		w.wait = turning - 1
	}
}

// Distance returns how far the robot is from its goal, mm.
func (w *Way) Distance() int { return distance(w.goalX-w.x, w.goalY-w.y) }

// Arrived reports whether the robot is at its goal.
func (w *Way) Arrived() bool { return w.Distance() <= w.c.Tolerance }

// Blocked reports whether the last plan has found no way: obstacles are all around the robot or its goal, or each way
// is so long that it has given up. The robot then aims at the goal.
func (w *Way) Blocked() bool { return w.noWay }

// Command returns the next command after a report: a speed in mm/s and a turn rate in deg/s. While a plan is not complete
// the robot steers for the point of the one before.
func (w *Way) Command() (speed, turn int) {
	switch {
	case w.Arrived():
		return 0, 0
	case w.backing > 0:
		return -min(back, w.c.MaxSpeed), 0
	}
	return w.steer()
}

// Turn returns the turn rate, deg/s, with which the robot turns to a heading on the spot. It is 0 when the robot has it.
func (w *Way) Turn(heading int) int {
	wrong := wrap(heading - w.heading)
	switch {
	case abs(wrong) <= aligned:
		return 0
	case wrong < 0:
		return -min(max(-wrong*3/2, slowest), w.c.MaxTurn)
	}
	return min(max(wrong*3/2, slowest), w.c.MaxTurn)
}

// ---- The map ----

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

// ---- The way ----

// neighbours are the steps to the cells around one.
var neighbours = [8][3]int{{1, 0, straight}, {0, 1, straight}, {-1, 0, straight}, {0, -1, straight}, {1, 1, diagonal}, {-1, 1, diagonal}, {-1, -1, diagonal}, {1, -1, diagonal}}

// beginPlan begins to choose the point to steer for: the furthest place on the shortest way (A*) that can
// be reached in a straight line, or the goal if there is no way.
func (w *Way) beginPlan() {
	w.start, w.goal = w.index(w.x, w.y), w.inMap(w.goalX, w.goalY)
	clear(w.cost)
	w.open = w.open[:0]
	w.open.push(0, w.goal)
	w.cost[w.goal] = 1 // 0: not reached
	w.checked, w.planning = 0, true
}

// Plan goes on with a plan that a report has begun. It checks so many cells at most, about 0.2 us each on a fast
// computer, and reports whether the plan is complete, or there is none.
func (w *Way) Plan(cells int) (done bool) {
	if !w.planning {
		return true
	}
	for ; cells > 0; cells-- {
		if len(w.open) == 0 || w.checked == patience {
			w.endPlan(w.goalX, w.goalY, true)
			return true
		}
		w.checked++
		at := w.open.pop()
		if at == w.start {
			x, y := w.follow()
			w.endPlan(x, y, false)
			return true
		}
		if w.cost[at] < 0 {
			continue // done
		}
		g := w.cost[at]
		w.cost[at] = -g
		for _, n := range neighbours {
			next := at + n[1]*side + n[0]
			if w.atEdge(next) || w.cost[next] < 0 || !w.passable(next) {
				continue
			}
			step := int32(n[2])
			if w.soft[next] > 0 || w.hard[next] > 0 {
				step *= detour
			}
			if w.cost[next] == 0 || g+step < w.cost[next] {
				w.cost[next] = g + step
				w.parent[next] = int32(at)
				w.open.push(int(g+step)+estimate(next, w.start), next)
			}
		}
	}
	return false
}

func (w *Way) endPlan(x, y int, noWay bool) {
	w.aimX, w.aimY, w.noWay, w.planning = x, y, noWay, false
}

// inMap returns the cell of a place, or the map's nearest cell.
func (w *Way) inMap(x, y int) int {
	cx := min(max((x-w.x0)/cell, w.room), side-1-w.room)
	cy := min(max((y-w.y0)/cell, w.room), side-1-w.room)
	return cy*side + cx
}

// passable reports whether the robot's centre may be in a cell.
func (w *Way) passable(i int) bool {
	if w.hard[i] == 0 {
		return true
	}
	return w.cells[i] < occupied && (apart(i, w.start) < own || apart(i, w.goal) < own)
}

// apart returns the distance of two cells, mm.
func apart(a, b int) int { return cell * distance(a%side-b%side, a/side-b/side) }

// estimate returns the least cost between two cells.
func estimate(a, b int) int {
	dx, dy := abs(a%side-b%side), abs(a/side-b/side)
	return straight*max(dx, dy) + (diagonal-straight)*min(dx, dy)
}

// follow returns the furthest place of the way that is in sight.
func (w *Way) follow() (x, y int) {
	best := w.start
	for i := w.start; ; i = int(w.parent[i]) {
		cx, cy := w.centre(i)
		if distance(cx-w.x, cy-w.y) > ahead {
			break
		}
		if w.inSight(cx, cy) {
			best = i
		}
		if i == w.goal {
			break
		}
	}
	if best == w.start && w.start != w.goal {
		best = int(w.parent[w.start])
	}
	if best == w.goal {
		return w.goalX, w.goalY
	}
	return w.centre(best)
}

// inSight reports whether the robot's centre may move in a straight line.
func (w *Way) inSight(toX, toY int) bool {
	n := distance(toX-w.x, toY-w.y)/leg + 1
	for k := 1; k <= n; k++ {
		// Numerators are positive, so that each is rounded down.
		i := w.index(w.x0+((w.x-w.x0)*(n-k)+(toX-w.x0)*k)/n, w.y0+((w.y-w.y0)*(n-k)+(toY-w.y0)*k)/n)
		if i < 0 || !w.passable(i) {
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
func (w *Way) steer() (speed, turn int) {
	target, room := direction(w.aimX-w.x, w.aimY-w.y), w.histogram()
	d := w.choose(target, w.heading)
	w.last = d
	wrong := wrap(d - w.heading)
	remaining := w.Distance()
	spot := pivot
	if remaining < near {
		spot = nearBy
	}
	turn = min(max(wrong*3/2, -w.c.MaxTurn), w.c.MaxTurn)
	if w.pivoting = abs(wrong) >= spot; w.pivoting {
		return 0, turn
	}
	speed = min(w.c.MaxSpeed, max(room-w.c.Front-cell, creep), max(remaining, creep))
	return speed * (spot - abs(wrong)) / spot, turn
}

// histogram blocks the directions in which the robot would meet obstacles. It returns the
// distance of the nearest obstacle ahead, from the robot's centre.
func (w *Way) histogram() (room int) {
	x, y, heading := w.x, w.y, w.heading
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
				half = whole(math.Asin(float64(w.c.Radius)/float64(d)) * 180 / math.Pi)
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

// whole rounds a number.
func whole(v float64) int { return int(math.Floor(v + 0.5)) }

// distance returns the length of a vector, rounded down.
func distance(x, y int) int { return int(math.Sqrt(float64(x)*float64(x) + float64(y)*float64(y))) }

// direction returns the angle of a vector, 0 to 359 degrees.
func direction(x, y int) int {
	return (whole(math.Atan2(float64(y), float64(x))*180/math.Pi) + 360) % 360
}

// wrap returns an angle as -180 to 179 degrees.
func wrap(d int) int { return ((d+180)%360+360)%360 - 180 }
