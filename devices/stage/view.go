package stage

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"player/devices/stage/floor"
)

// This file is for user interfaces that show and change the world. Like the rest
// of the package, it is called on the server's loop.

// Model is a thing in the world, for drawing from above.
type Model struct {
	Name  string
	Robot bool
	Color Color // of its first part; black without parts
	Parts []ModelPart
}

// ModelPart is a prism of one colour. Outlines are in metres, in the model's
// frame; fixtures use the world's frame.
type ModelPart struct {
	Color       Color
	Outlines    [][]Vec
	Bottom, Top float64 // metres above the floor
}

// Movers returns the movable models: the robots in the order of Robots, then
// the objects. AppendPoses returns their poses in the same order.
func (w *World) Movers() []Model { return models(w.bodies) }

// Fixtures returns the fixed models, except floor plans read from pictures:
// see Plan.
func (w *World) Fixtures() []Model { return models(w.fixtures) }

func models(bodies []*body) []Model {
	list := make([]Model, len(bodies))
	for i, b := range bodies {
		list[i] = Model{Name: b.name, Robot: b.robot != nil}
		if len(b.parts) > 0 {
			list[i].Color = b.parts[0].color
		}
		for _, p := range b.parts {
			if !p.bitmap {
				list[i].Parts = append(list[i].Parts, ModelPart{p.color, p.shapes, p.bottom, p.top})
			}
		}
	}
	return list
}

// AppendPoses appends the present poses of the movers.
func (w *World) AppendPoses(dst []Pose) []Pose {
	for _, b := range w.bodies {
		dst = append(dst, b.pose)
	}
	return dst
}

// Plan is the floor plan: everything that robots collide with or detect.
type Plan struct {
	Origin        Vec     // lower left corner, metres
	Resolution    float64 // metres per cell
	Width, Height int     // in cells
	grid          *floor.Grid
}

// Plan returns the floor plan.
func (w *World) Plan() Plan {
	g := w.plan
	width, height := g.Size()
	return Plan{g.Origin(), g.Resolution(), width, height, g}
}

// Wall reports whether a cell is occupied; (0,0) is at the origin, x to the
// right, y up.
func (p Plan) Wall(x, y int) bool { return p.grid.Hint(x, y) == 0 }

// Clear returns how many cells from (x,y) to the right are free, or fewer, so that
// the plan of a large world need not be read cell by cell. It is 0 for an occupied
// cell.
func (p Plan) Clear(x, y int) int { return p.grid.Hint(x, y) }

// SetPose moves a mover as a person would: its wheels do not turn, so its odometry does not
// change. It returns an error if there is no room.
func (w *World) SetPose(mover int, at Pose) error {
	if mover < 0 || mover >= len(w.bodies) {
		return fmt.Errorf("there is no mover %d", mover)
	}
	b := w.bodies[mover]
	if err := checkPose(at); err != nil {
		return err
	}
	w.moved++
	old := b.pose
	b.place(at)
	if w.blocked(b) {
		b.place(old)
		return noRoom(b, at)
	}
	b.letGo()
	return nil
}

// SetPoses is SetPose for movers by their names, all at one moment: either all are moved or
// none. Each must have room where the others are in the end.
func (w *World) SetPoses(poses map[string]Pose) error {
	moved := map[*body]Pose{} // from where
	defer func() {
		for b, from := range moved { // some was refused
			b.place(from)
		}
	}()
	w.moved++
	for name, at := range poses {
		if !slices.ContainsFunc(w.bodies, func(b *body) bool { return b.name == name }) {
			return fmt.Errorf("there is no robot and no thing that moves of the name %.40q", name)
		}
		if err := checkPose(at); err != nil {
			return err
		}
	}
	for _, b := range w.bodies { // in their order, so that runs are repeatable
		if at, ok := poses[b.name]; ok {
			moved[b] = b.pose
			b.place(at)
		}
	}
	for _, b := range w.bodies {
		if _, ok := moved[b]; ok && w.blocked(b) {
			return noRoom(b, b.pose)
		}
	}
	for _, b := range w.bodies {
		if _, ok := moved[b]; ok {
			b.letGo()
		}
	}
	clear(moved)
	return nil
}

// ErrNoRoom refuses a pose, or a change of the world, for which there is no room.
var ErrNoRoom = errors.New("there is no room")

func noRoom(b *body, at Pose) error {
	return fmt.Errorf("%w for %s at (%.2f, %.2f)", ErrNoRoom, b.name, at.X, at.Y)
}

// checkPose returns an error if a pose is none, or not in the world.
func checkPose(at Pose) error {
	if math.Abs(at.X) < maxCoordinate && math.Abs(at.Y) < maxCoordinate && math.Abs(at.Heading) < maxCoordinate {
		return nil
	}
	return fmt.Errorf("(%v, %v, %v) is not a pose", at.X, at.Y, at.Heading)
}

// letGo is called when a body was moved by hand: a gripper that holds it drops it, and the
// thing in its own gripper moves with it.
func (b *body) letGo() {
	if b.holder != nil {
		b.holder.drop()
	}
	b.robot.carry()
}

// Robot returns the robot of that name, nil if there is none.
func (w *World) Robot(name string) *Robot {
	i := slices.IndexFunc(w.robots, func(r *Robot) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return w.robots[i]
}

// Pose returns the robot's true pose.
func (r *Robot) Pose() Pose { return r.body.pose }
