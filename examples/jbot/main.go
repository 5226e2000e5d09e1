// Jbot seeks targets behind obstacles that are larger than its sensors reach.
// It has two jobs, orders of priority over the same layers, and switches
// between them while it drives. When it gets no nearer to its target it
// follows the perimeter of the obstacle; when it has come around and the way
// is clear, it crosses again. See docs/SUBSUMPTION.md.
//
//	go run . -stage simulation/worlds/subsumption-building.world
//	go run ./examples/jbot -targets "6.5,0 0,0"
//
// With -joystick a human can take over the wheels at any time; the server then
// needs a joystick device.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/signal"
	"time"

	"player/client"
	"player/client/subsumption"
	"player/client/subsumption/pilot"
	"player/client/subsumption/sense"
	"player/codec"
)

func main() {
	addr := flag.String("addr", "localhost:6665", "`host:port` of the Player server")
	places := flag.String("targets", "6.5,0 0,0", "where to go, in `metres` from where the robot stands, forward and left: x,y x,y ...")
	stick := flag.Bool("joystick", false, "the server has a joystick: let it drive")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()

	targets, err := subsumption.ParseTargets(*places)
	if err != nil {
		log.Fatal(err)
	}
	robot, err := client.Dial(ctx, *addr)
	if err != nil {
		log.Fatal(err)
	}
	devices := "pasrmr" // wheels, sonars, bumpers
	if *stick {
		devices += "jr"
	}
	if err := robot.Request(ctx, devices); err != nil {
		log.Fatal(err)
	}
	jbot := newJBot(targets)
	err = pilot.Run(ctx, robot, jbot.stack, radio(robot), jbot.navmode, report(jbot.stack))
	if ctx.Err() == nil {
		log.Fatal(err)
	}
}

// jBot is the robot's layers and the state of its navigation.
type jBot struct {
	stack         *subsumption.Stack
	cross, follow []*subsumption.Layer // the jobs

	prowl     *subsumption.Prowl
	xlate     *subsumption.Xlate
	perimeter *subsumption.Layer

	left      int           // targets left, to notice that one was reached
	nearest   int           // smallest distance to the target so far, mm
	since     time.Duration // time of that distance
	following bool
}

func newJBot(targets []subsumption.Target) *jBot {
	b := &jBot{prowl: &subsumption.Prowl{Targets: targets}, xlate: &subsumption.Xlate{}}
	var (
		user     = subsumption.NewLayer("user", subsumption.User{})
		radio    = subsumption.NewLayer("radio", subsumption.Radio{})
		escape   = subsumption.NewLayer("escape", &subsumption.Escape{})
		bump     = subsumption.NewLayer("bump", &subsumption.Bump{})
		ir       = subsumption.NewLayer("ir", &subsumption.IR{})
		xlate    = subsumption.NewLayer("xlate", b.xlate)
		obstacle = subsumption.NewLayer("obstacle", &subsumption.Sonar{Range: 800})
		prowl    = subsumption.NewLayer("prowl", b.prowl)
		stop     = subsumption.NewLayer("stop", subsumption.Stop{})
	)
	b.perimeter = subsumption.NewLayer("perimeter", &subsumption.Perimeter{Keep: 450, Search: 6 * time.Second})
	prowl.Inverted = true // without a target it rests
	b.cross = []*subsumption.Layer{user, radio, escape, bump, ir, xlate, obstacle, prowl, stop}
	b.follow = []*subsumption.Layer{user, radio, escape, bump, ir, xlate, b.perimeter, obstacle, prowl, stop}
	b.stack = subsumption.New(b.follow...)
	b.stack.Switch(b.cross...)
	return b
}

const (
	// patience is how long the robot tries to get nearer to its target before
	// it goes around the obstacle.
	patience = 15 * time.Second
	// nearer in mm is the smallest change that counts as getting nearer.
	nearer = 200
	// clear in mm is the free distance towards the target at which it crosses
	// again.
	clear = 1500
)

// navmode selects the job, before the layers act.
func (b *jBot) navmode(now time.Duration, s *subsumption.Sensors) {
	if len(b.prowl.Targets) == 0 {
		return
	}
	distance, off := subsumption.LocateTarget(s.Pose, b.prowl.Targets[0])
	if b.left != len(b.prowl.Targets) { // a new target
		b.left, b.nearest, b.since = len(b.prowl.Targets), distance, now
	}
	better := distance < b.nearest-nearer
	switch {
	case !b.following && better:
		b.nearest, b.since = distance, now
	case !b.following && now-b.since > patience:
		b.following = true
		b.xlate.Scan()
		b.stack.Switch(b.follow...)
	case b.following && better && ahead(s, off) > clear:
		b.following = false
		b.nearest, b.since = distance, now
		b.stack.Switch(b.cross...)
	}
}

// ahead returns the free distance at an angle, mm: the smallest range within
// 30 degrees of it.
func ahead(s *subsumption.Sensors, angle int) int {
	room := subsumption.Far
	for i, r := range s.Range {
		if off := math.Remainder(float64(subsumption.Bearing(i)-angle), 360); math.Abs(off) <= 30 {
			room = min(room, r)
		}
	}
	return room
}

// radio is a task that takes the joystick's axes as motion.
func radio(robot *client.Client) pilot.Task {
	var stick codec.JoystickData
	return func(_ time.Duration, s *subsumption.Sensors) {
		if robot.Has(codec.Joystick) && stick.Decode(robot.Raw(codec.Joystick)) == nil {
			s.Radio = sense.Joystick(&stick, 400, 60)
		}
	}
}

// report is a task that prints which layer controls the wheels.
func report(stack *subsumption.Stack) pilot.Task {
	var last *subsumption.Layer
	return func(now time.Duration, s *subsumption.Sensors) {
		if w := stack.Winner(); w != nil && w != last {
			last = w
			fmt.Printf("%7.2f s  %-9s at (%.2f, %.2f)\n", now.Seconds(), w.Name, float64(s.Pose.X)/1000, float64(s.Pose.Y)/1000)
		}
	}
}
