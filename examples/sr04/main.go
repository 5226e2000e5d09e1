// SR04 is the full stack of the robot of that name: nine layers, and masks
// that turn it into different robots without code. See docs/SUBSUMPTION.md.
//
//	go run . -stage simulation/worlds/subsumption-light.world
//	go run ./examples/sr04 -off motion,xlate               a moth: it seeks the light
//	go run ./examples/sr04 -off motion,xlate -invert photo a cockroach: it flees from it
//	go run ./examples/sr04 -off photo -invert prowl        a pet: it moves when disturbed
//	go run ./examples/sr04 -off photo,motion,xlate -invert prowl -targets "3,0 3,3 0,3 0,0"
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"time"

	"player/client"
	"player/client/subsumption"
	"player/client/subsumption/pilot"
	"player/client/subsumption/sense"
)

// lightChannel is the channel of the colour tracker that is trained for the
// light. The simulator reports lights in it.
const lightChannel = 31

func main() {
	addr := flag.String("addr", "localhost:6665", "`host:port` of the Player server")
	off := flag.String("off", "", "`layers` that do not run")
	suppress := flag.String("suppress", "", "`layers` that run and never win")
	invert := flag.String("invert", "", "`layers` that do the opposite")
	targets := flag.String("targets", "", "where to go, in `metres` from where the robot stands, forward and left: x,y x,y ...")
	fence := flag.String("fence", "", "two opposite `corners` of a boundary, as targets")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()

	stack, err := newStack(*targets, *fence)
	if err != nil {
		log.Fatal(err)
	}
	if err := masks(stack, *off, *suppress, *invert); err != nil {
		log.Fatal(err)
	}
	robot, err := client.Dial(ctx, *addr)
	if err != nil {
		log.Fatal(err)
	}
	if err := robot.Request(ctx, "pasrmr"); err != nil { // wheels, sonars, bumpers
		log.Fatal(err)
	}
	if err := robot.Request(ctx, "vrza"); err != nil { // vision, and the camera's head
		log.Print("photo will see no light: ", err)
	}
	err = pilot.Run(ctx, robot, stack, pilot.Watch(robot, &sense.Eye{Channel: lightChannel}), report(stack))
	if ctx.Err() == nil {
		log.Fatal(err)
	}
}

// newStack returns SR04's layers, in priority order.
func newStack(targets, fence string) (*subsumption.Stack, error) {
	prowl, boundary := &subsumption.Prowl{}, &subsumption.Boundary{}
	var err error
	if prowl.Targets, err = subsumption.ParseTargets(targets); err != nil {
		return nil, err
	}
	corners, err := subsumption.ParseTargets(fence)
	if err != nil {
		return nil, err
	}
	switch len(corners) {
	case 0:
	case 2:
		a, b := corners[0], corners[1]
		boundary.Min = subsumption.Target{X: min(a.X, b.X), Y: min(a.Y, b.Y)}
		boundary.Max = subsumption.Target{X: max(a.X, b.X), Y: max(a.Y, b.Y)}
	default:
		return nil, fmt.Errorf("a fence has two corners, not %d", len(corners))
	}
	return subsumption.New(
		subsumption.NewLayer("bump", &subsumption.Bump{}),
		subsumption.NewLayer("motion", &subsumption.Motion{}),
		subsumption.NewLayer("ir", &subsumption.IR{}),
		subsumption.NewLayer("boundary", boundary),
		subsumption.NewLayer("sonar", &subsumption.Sonar{}),
		subsumption.NewLayer("photo", subsumption.Photo{}),
		subsumption.NewLayer("xlate", &subsumption.Xlate{Every: time.Minute}),
		subsumption.NewLayer("prowl", prowl),
		subsumption.NewLayer("stop", subsumption.Stop{}),
	), nil
}

// masks sets the masks of the layers named in comma-separated lists.
func masks(stack *subsumption.Stack, off, suppress, invert string) error {
	for _, mask := range []struct {
		names string
		set   func(*subsumption.Layer)
	}{
		{off, func(l *subsumption.Layer) { l.Disabled = true }},
		{suppress, func(l *subsumption.Layer) { l.Suppressed = true }},
		{invert, func(l *subsumption.Layer) { l.Inverted = true }},
	} {
		for _, name := range strings.FieldsFunc(mask.names, func(r rune) bool { return r == ',' || r == ' ' }) {
			l := stack.Layer(name)
			if l == nil {
				return fmt.Errorf("there is no layer %q", name)
			}
			mask.set(l)
		}
	}
	return nil
}

// report is a task that prints which layer controls the wheels.
func report(stack *subsumption.Stack) pilot.Task {
	var last *subsumption.Layer
	return func(now time.Duration, s *subsumption.Sensors) {
		if w := stack.Winner(); w != nil && w != last {
			last = w
			fmt.Printf("%7.2f s  %-8s at (%.2f, %.2f)\n", now.Seconds(), w.Name, float64(s.Pose.X)/1000, float64(s.Pose.Y)/1000)
		}
	}
}
