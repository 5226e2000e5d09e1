package stage

import (
	"time"

	"player/codec"
	"player/devices"
	"player/formats/syntax"
)

// overhead is a camera on the ceiling with a vision system that tracks one robot.
type overhead struct {
	name  string
	port  int // TCP port in the world file, zero if there is none
	robot *Robot
}

// overhead reads the section of an overhead camera. The robots have been read.
func (l *loader) overhead(s *syntax.Section) {
	w := l.world
	robot := w.Robot(s.String("robot", ""))
	if robot == nil {
		l.fail(s, "robot", "there is no robot of the name %q: write the name of the robot to track", s.String("robot", ""))
		return
	}
	o := &overhead{name: s.String("name", "overhead "+robot.Name), port: s.Int("port", 0), robot: robot}
	if o.port < 0 || o.port > 65535 {
		l.fail(s, "port", "port %d: write 1 to 65535", o.port)
	}
	w.overheads = append(w.overheads, o)
}

// trackedPosition is the position of a robot as seen by an overhead camera: it takes no commands.
func trackedPosition() devices.Spec {
	spec := devices.Position()
	spec.CommandSize, spec.Stop = 0, ""
	return spec
}

// Tracking provides the true position of one robot to the server: as a position
// device without wheels, on a port of its own.
type Tracking struct {
	schedule
	overhead *overhead
	position *devices.Device
	buf      []byte
}

func newTracking(w *World, o *overhead) *Tracking {
	return &Tracking{schedule: schedule{world: w, robot: o.robot}, overhead: o, buf: make([]byte, 0, codec.PositionSize)}
}

// Name returns the name of the overhead camera.
func (t *Tracking) Name() string { return t.overhead.name }

// Setup is done at once.
func (t *Tracking) Setup(now time.Duration, link *devices.Link) {
	t.position = link.Device(codec.Position)
	t.join(now, link)
}

func (t *Tracking) Shutdown(now time.Duration) {
	t.world.leave(now, &t.schedule)
	t.link.Stopped(now)
}

// Tick advances the world to now and reports when a report is due.
func (t *Tracking) Tick(now time.Duration) time.Duration {
	return t.tick(now, t.publish)
}

// publish publishes the robot's true pose in the frame of the world, and its true
// velocity. A camera does not see a stall.
func (t *Tracking) publish(now time.Duration) {
	seen := t.overhead.robot.positionData(t.overhead.robot.body.pose)
	t.buf = seen.Append(t.buf[:0])
	t.position.Publish(now, t.buf)
}
