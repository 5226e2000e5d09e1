// Package pilot runs a subsumption stack on a robot over the network: any Player,
// real or simulated.
//
//	err = robot.Request(ctx, "pasrmr") // wheels and odometry, sonars, bumpers
//	err = pilot.Run(ctx, robot, stack)
package pilot

import (
	"context"
	"time"

	"player/client"
	"player/codec"
	"player/subsumption"
	"player/subsumption/sense"
)

// Period is a cycle: 20 Hz, as on SR04, jBot and LEGOBot.
const Period = 50 * time.Millisecond

// Task is what else a robot does in a cycle, after its sensors were read and
// before its layers act: it may add to s, say what a human's stick wants, move
// the camera, or switch layers and jobs.
type Task func(now time.Duration, s *subsumption.Sensors)

// Run drives the robot until ctx ends or the connection does, and stops it then.
// In every cycle it asks for data, runs the tasks, lets the stack decide, and
// sends one command; then it sleeps for what is left of the period. The caller
// has requested the devices: the layers see those that are open for reading, and
// position must be open for writing.
//
// It changes the connection to request/reply mode, and waits for what was
// streamed before. The error is never nil: it wraps ctx.Err(), or is what
// client.Request, client.Read or client.SetSpeed say.
func Run(ctx context.Context, robot *client.Client, stack *subsumption.Stack, tasks ...Task) error {
	if err := robot.SetDataMode(client.RequestReply); err != nil {
		return err
	}
	defer robot.SetSpeed(0, 0) // whatever happens
	// What was streamed before the switch would else be read cycle by cycle, and
	// every cycle see data that is as old as all of that. The reply comes behind it.
	if err := robot.Request(ctx, ""); err != nil {
		return err
	}
	sleep := time.NewTimer(0)
	defer sleep.Stop()
	start := time.Now()
	for due := time.Duration(0); ; due = next(due, time.Since(start)) {
		sleep.Reset(due - time.Since(start))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-sleep.C:
		}
		if err := cycle(ctx, robot, stack, start, tasks); err != nil {
			return err
		}
	}
}

// next returns when the cycle after the one that was due begins: one period
// later, or at once if that is past. A cycle that took too long shifts those
// behind it, for there is nothing to be made up.
func next(due, now time.Duration) time.Duration { return max(due+Period, now) }

func cycle(ctx context.Context, robot *client.Client, stack *subsumption.Stack, start time.Time, tasks []Task) error {
	if err := robot.RequestData(); err != nil {
		return err
	}
	if err := robot.Read(ctx); err != nil {
		return err
	}
	now, s := time.Since(start), subsumption.NewSensors()
	read(robot, &s)
	for _, task := range tasks {
		task(now, &s)
	}
	command := stack.Cycle(now, &s)
	return robot.SetSpeed(command.Speed, command.Turn)
}

// read adds what the robot's devices report.
func read(robot *client.Client, s *subsumption.Sensors) {
	if robot.Has(codec.Position) {
		sense.Position(s, &robot.Position)
	}
	if robot.Has(codec.Sonar) {
		sense.Sonar(s, &robot.Sonar)
	}
	if robot.Has(codec.Laser) {
		sense.Laser(s, &robot.Laser)
	}
	if robot.Has(codec.Misc) {
		sense.Misc(s, &robot.Misc)
	}
}

// Watch is a task that looks for a light with the camera, and turns it. Vision
// must be open for reading, ptz for both.
func Watch(robot *client.Client, eye *sense.Eye) Task {
	told := 0 // degrees
	return func(_ time.Duration, s *subsumption.Sensors) {
		if !robot.Has(codec.Vision) || !robot.Has(codec.PTZ) {
			return
		}
		light, pan := eye.Look(&robot.Vision, int(robot.PTZ.Pan))
		s.Light = light
		if pan != told && robot.SetPTZ(pan, 0, 0) == nil { // an error comes again with the wheels
			told = pan
		}
	}
}
