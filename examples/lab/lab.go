// Package lab runs stacks of layers on the robots of a simulated world, with
// the server's devices but without its sockets. The clock jumps from deadline
// to deadline, so a minute of a robot takes a moment, and runs of the same
// program are identical.
package lab

import (
	"fmt"
	"math"
	"time"

	"go.uber.org/zap"

	"player/client/subsumption"
	"player/client/subsumption/pilot"
	"player/client/subsumption/sense"
	"player/codec"
	"player/devices"
	"player/devices/stage"
	"player/timers"
)

// Lab is a world and its robots.
type Lab struct {
	devices.Host // nil: simulated robots open no ports

	World  *stage.World
	Robots []*Robot // in file order
	now    time.Duration
	queue  timers.Queue
	timers map[*devices.Link]*timers.Timer
}

// Robot is a robot, its program, and its track.
type Robot struct {
	Stack *subsumption.Stack
	Tasks []pilot.Task // run before the layers
	Eye   *sense.Eye   // looks for a light with the camera; nil if unused
	Track []Step

	body  *stage.Robot
	table *devices.Table
	pan   int // the camera's commanded pan, degrees

	payloads sense.Payloads
}

// Step is the state of a robot in one cycle.
type Step struct {
	At      time.Duration // simulated time
	Pose    stage.Pose    // the true pose
	Layer   string        // the layer that won
	Command subsumption.Command
}

// Open loads a world file and opens all devices of its robots.
func Open(path string) (*Lab, error) {
	world, err := stage.Load(path)
	if err != nil {
		return nil, err
	}
	if warnings := world.Warnings(); len(warnings) > 0 {
		return nil, fmt.Errorf("%s", warnings[0])
	}
	l := &Lab{World: world, timers: map[*devices.Link]*timers.Timer{}, now: time.Second}
	instances := world.Instances()
	for i, body := range world.Robots() {
		r := &Robot{body: body, table: devices.NewTable(zap.NewNop())}
		if _, err := r.table.Attach(instances[i]); err != nil {
			return nil, err
		}
		l.Robots = append(l.Robots, r)
		r.table.Connect(l)
		for _, device := range r.table.Links()[0].Devices() {
			if pending, err := device.Subscribe(l.now, l); pending || err != nil {
				return nil, fmt.Errorf("device %c of %s: pending %v, error %v", device.Letter(), body.Name, pending, err)
			}
		}
	}
	l.Wait(pilot.Period) // the first reports are immediate
	return l, nil
}

// SetupDone is never called: simulated robots are ready at once.
func (l *Lab) SetupDone(time.Duration, *devices.Device, error) {}

// WakeAt implements devices.Host.
func (l *Lab) WakeAt(link *devices.Link, at time.Duration) {
	timer := l.timers[link]
	if timer == nil {
		timer = timers.NewTimer(link.Wake)
		l.timers[link] = timer
	}
	if at == 0 {
		l.queue.Stop(timer)
		return
	}
	l.queue.Set(timer, at)
}

// Wait lets d pass. The robots keep their last command, and their eyes look
// for their lights.
func (l *Lab) Wait(d time.Duration) {
	l.cycles(d, func(*Robot, *subsumption.Sensors) bool { return true })
}

// Run lets the robots that have a stack drive for d, at 20 Hz.
func (l *Lab) Run(d time.Duration) {
	l.RunUntil(d, func() bool { return false })
}

// RunUntil is Run, but ends when done returns true. It returns the time taken.
func (l *Lab) RunUntil(d time.Duration, done func() bool) time.Duration {
	begin := l.now
	l.cycles(d, func(r *Robot, s *subsumption.Sensors) bool {
		if r.Stack != nil {
			r.cycle(l.now, s, l.World.Time())
		}
		return !done()
	})
	return l.now - begin
}

func (l *Lab) cycles(d time.Duration, do func(*Robot, *subsumption.Sensors) bool) {
	for end := l.now + d; l.now < end; {
		next := l.now + pilot.Period
		for at, armed := l.queue.Next(); armed && at <= next; at, armed = l.queue.Next() {
			l.now = max(at, l.now+1) // a server never wakes twice at the same time
			l.queue.Run(l.now, 0)
		}
		l.now = next
		for _, r := range l.Robots {
			s := r.sense()
			r.see(l.now, &s)
			if !do(r, &s) {
				return
			}
		}
	}
}

// cycle is the article's sensors(): tasks, layers, arbiter, motors.
func (r *Robot) cycle(now time.Duration, s *subsumption.Sensors, at time.Duration) {
	for _, task := range r.Tasks {
		task(now, s)
	}
	c := r.Stack.Cycle(now, s)
	command := codec.PositionCommand{Speed: int16(c.Speed), TurnRate: int16(c.Turn)}
	r.table.Device(codec.Position).SetCommand(now, command.Append(nil))
	r.Track = append(r.Track, Step{at, r.Pose(), r.Stack.Winner().Name, c})
}

// sense reads the robot's data, as package pilot does over the network.
func (r *Robot) sense() subsumption.Sensors {
	s := subsumption.NewSensors()
	for _, letter := range []byte{codec.Position, codec.Sonar, codec.Laser, codec.Misc} {
		if d := r.table.Device(letter); d != nil && d.HasData() {
			r.payloads.Add(&s, letter, d.Data())
		}
	}
	return s
}

// see lets the eye look through the camera, and turns the camera.
func (r *Robot) see(now time.Duration, s *subsumption.Sensors) {
	var vision codec.VisionData
	var ptz codec.PTZData
	if r.Eye == nil || !r.decode(codec.Vision, &vision) || !r.decode(codec.PTZ, &ptz) {
		return
	}
	light, pan := r.Eye.Look(&vision, int(ptz.Pan))
	if s.Light = light; pan != r.pan {
		command := codec.PTZCommand{Pan: int16(pan)}
		r.table.Device(codec.PTZ).SetCommand(now, command.Append(nil))
		r.pan = pan
	}
}

func (r *Robot) decode(letter byte, field interface{ Decode([]byte) error }) bool {
	d := r.table.Device(letter)
	return d != nil && d.HasData() && field.Decode(d.Data()) == nil
}

// Name returns the robot's name in the world.
func (r *Robot) Name() string { return r.body.Name }

// Pose returns the robot's true pose.
func (r *Robot) Pose() stage.Pose { return r.body.Pose() }

// Distance returns the robot's true distance from a place in the world, m.
func (r *Robot) Distance(x, y float64) float64 {
	p := r.Pose()
	return math.Hypot(p.X-x, p.Y-y)
}

// Segment is the part of a track in which one layer won.
type Segment struct {
	Layer string
	Steps []Step
}

// Segments splits a track where the winner changes.
func Segments(track []Step) []Segment {
	var out []Segment
	begin := 0
	for i := range track {
		if i+1 == len(track) || track[i+1].Layer != track[i].Layer {
			out = append(out, Segment{track[i].Layer, track[begin : i+1]})
			begin = i + 1
		}
	}
	return out
}
