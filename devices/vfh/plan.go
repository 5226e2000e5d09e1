package vfh

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
