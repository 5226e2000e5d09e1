package dashboard

import (
	"math"
	"net/http"

	"player/codec"
	"player/devices/stage"
	"player/server/status"
)

// Shape is the outline of a robot that is not simulated, in metres and radians in its frame.
// A field is nil if it is unknown.
type Shape struct {
	Outline []stage.Vec
	Sonars  []stage.Pose // in the order of the ranges
	Laser   *stage.Pose
	Camera  *stage.Pose
}

// shape replies with the shape of a robot as its drivers and the configuration know it now,
// or with no content. In place of unknown fields the page draws a Pioneer 2-DX.
func (s *server) shape(w http.ResponseWriter, r *http.Request) {
	address, devices := r.URL.Query().Get("robot"), map[string]status.Device{}
	now, err := s.config.Status(r.Context())
	if err != nil {
		http.Error(w, explain(err), http.StatusServiceUnavailable)
		return
	}
	for _, reported := range now.Robots {
		for _, robot := range s.config.Robots {
			if robot.Address == address && robot.Port == reported.Port {
				devices = reported.Devices
			}
		}
	}
	switch shape := shapeOf(devices); {
	case shape.Outline == nil && shape.Laser == nil && shape.Camera == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		sendJSON(w, http.StatusOK, shape)
	}
}

// shapeOf returns a robot's body, an octagon, and where its sensors are. Sonars are known
// only with a body.
func shapeOf(devices map[string]status.Device) (s Shape) {
	const metre, radian, bevel = 1000, 180 / math.Pi, 0.25 // in mm, in degrees; the part of the width that a corner lacks
	for _, b := range devices["position"].Parts {
		front, rear, left, right := b.X+b.Length/2, b.X-b.Length/2, b.Y+b.Width/2, b.Y-b.Width/2
		cut := b.Width * bevel
		if cut == 0 {
			break
		}
		s.Outline = []stage.Vec{
			{X: front, Y: left - cut}, {X: front - cut, Y: left}, {X: rear + cut, Y: left}, {X: rear, Y: left - cut},
			{X: rear, Y: right + cut}, {X: rear + cut, Y: right}, {X: front - cut, Y: right}, {X: front, Y: right + cut},
		}
		for i, v := range s.Outline {
			s.Outline[i] = stage.Vec{X: v.X / metre, Y: v.Y / metre}
		}
	}
	pose := func(p codec.Part) stage.Pose {
		return stage.Pose{X: p.X / metre, Y: p.Y / metre, Heading: p.Heading / radian}
	}
	for _, p := range devices["sonar"].Parts {
		if s.Outline != nil && s.Sonars == nil {
			s.Sonars = make([]stage.Pose, codec.SonarCount)
		}
		if p.Number < len(s.Sonars) {
			s.Sonars[p.Number] = pose(p)
		}
	}
	// A part without a pose is at the centre: no laser or camera is mounted there.
	mounted := func(device string) *stage.Pose {
		for _, p := range devices[device].Parts {
			if at := pose(p); at != (stage.Pose{}) {
				return &at
			}
		}
		return nil
	}
	s.Laser, s.Camera = mounted("laser"), mounted("ptz")
	return s
}
