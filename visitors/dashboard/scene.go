package dashboard

import (
	"encoding/binary"
	"math"
	"net/http"
	"runtime"
	"time"

	"player/devices/stage"
	"player/visitors"
)

// maxPlan is the largest floor plan for a page, in cells: a quarter of the largest canvas of
// browsers. Larger plans are sent with larger cells.
const maxPlan = 1 << 22

// scene is the constant part of the world. Lengths are metres, angles radians.
type scene struct {
	Name     string  `json:"name"`
	Fixtures []model `json:"fixtures"`
	Movers   []model `json:"movers"` // robots first, in the order of stage.World.Robots
}

type model struct {
	Name   string        `json:"name"`
	Parts  []part        `json:"parts"`
	Mounts *stage.Mounts `json:"mounts,omitempty"` // of a robot
}

type part struct {
	Color    string        `json:"color"` // #rrggbb
	Top      float64       `json:"top"`   // above the floor
	Outlines [][]stage.Vec `json:"outlines"`
}

func planOf(world *stage.World, _ time.Duration) *stage.Plan { return new(world.Plan()) }

func sceneOf(world *stage.World, _ time.Duration) *scene { return new(newScene(world)) }

func newScene(world *stage.World) scene {
	s := scene{world.Name(), models(world.Fixtures()), models(world.Movers())}
	for i, robot := range world.Robots() {
		s.Movers[i].Mounts = new(robot.Mounts())
	}
	return s
}

func models(from []stage.Model) []model {
	list := make([]model, len(from))
	for i, m := range from {
		list[i] = model{Name: m.Name, Parts: make([]part, len(m.Parts))}
		for k, p := range m.Parts {
			list[i].Parts[k] = part{p.Color.String(), p.Top, p.Outlines}
		}
	}
	return list
}

func (s *server) plan(w http.ResponseWriter, r *http.Request) {
	plan, err := s.encoded()
	if err != nil {
		http.Error(w, explain(err), http.StatusServiceUnavailable)
		return
	}
	plan.send(w, r)
}

func (s *server) encodeWorld() (asset, error) {
	plan, err := visitors.OnLoop(s.ctx, s.world, planOf)
	if err != nil {
		return asset{}, err
	}
	return newAsset("application/octet-stream", encodePlan(*plan, maxPlan))
}

// encodePlan encodes a floor plan with at most the given number of cells, all
// big-endian:
//
//	f64 x, y of the lower left corner, metres
//	f64 metres per cell
//	u32 width, height in cells
//	a bit for each cell, the highest first, 1: wall; rows from below, each in
//	whole bytes
//
// The plan is constant and needs no loop. After each row the loop may run.
func encodePlan(p stage.Plan, most int) []byte {
	coarse := 1
	for ((p.Width+coarse-1)/coarse)*((p.Height+coarse-1)/coarse) > most {
		coarse++
	}
	width, height := (p.Width+coarse-1)/coarse, (p.Height+coarse-1)/coarse
	row := (width + 7) / 8
	const header = 3*8 + 2*4
	out := make([]byte, 0, header+row*height)
	for _, v := range []float64{p.Origin.X, p.Origin.Y, p.Resolution * float64(coarse)} {
		out = binary.BigEndian.AppendUint64(out, math.Float64bits(v))
	}
	out = binary.BigEndian.AppendUint32(out, uint32(width))
	out = binary.BigEndian.AppendUint32(out, uint32(height))
	out = out[:cap(out)]
	for y := range p.Height {
		cells := out[header+y/coarse*row:]
		for x := 0; x < p.Width; x++ {
			if n := p.Clear(x, y); n > 0 {
				x += n - 1
				continue
			}
			cells[x/coarse/8] |= 0x80 >> (x / coarse % 8)
		}
		runtime.Gosched()
	}
	return out
}
