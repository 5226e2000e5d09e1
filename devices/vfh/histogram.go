package vfh

import "math"

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
