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
	"player/client/subsumption"
	"player/client/subsumption/sense"
	"player/codec"
)

// Period is the length of a cycle: 20 Hz, as on SR04, jBot and LEGOBot.
const Period = 50 * time.Millisecond

// lifetime is the lifetime of the commands. With one, the stop at the end stops only a robot
// that the stack drives, not one that another client has taken over. It is long: in
// lockstep, a cycle takes as long as the slowest of all clients.
const lifetime = time.Minute

// Task runs in every cycle, after the sensors were read and before the layers
// act. It may add to s, set a human's stick, move the camera, or switch layers
// and jobs.
type Task func(now time.Duration, s *subsumption.Sensors)

// Run drives the robot until ctx or the connection ends, and then stops it. In
// every cycle it asks for data, runs the tasks, lets the stack decide, and
// sends one command; then it sleeps for the rest of the period. The caller has
// requested the devices: the layers see those open for reading, and position
// must be open for writing.
//
// It changes the connection to request/reply mode, and waits for data streamed
// before. The error is never nil: it wraps ctx.Err(), or is an error of
// client.Request, client.Read or client.SetSpeed.
func Run(ctx context.Context, robot *client.Client, stack *subsumption.Stack, tasks ...Task) error {
	if err := robot.SetDataMode(client.RequestReply); err != nil {
		return err
	}
	if err := robot.SetCommandLifetime(lifetime); err != nil {
		return err
	}
	defer robot.SetSpeed(0, 0) // in every case
	// Data streamed before the switch would otherwise be read cycle by cycle,
	// so that every cycle saw old data. The reply comes after that data.
	if err := robot.Request(ctx, ""); err != nil {
		return err
	}
	sleep := time.NewTimer(0)
	defer sleep.Stop()
	start := time.Now()
	var payloads sense.Payloads
	for due := time.Duration(0); ; due = next(due, time.Since(start)) {
		sleep.Reset(due - time.Since(start))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-sleep.C:
		}
		if err := cycle(ctx, robot, stack, &payloads, start, tasks); err != nil {
			return err
		}
	}
}

// next returns the start of the cycle after the one due: one period later, or
// now if that has passed. A cycle that took too long shifts the later ones;
// nothing is made up.
func next(due, now time.Duration) time.Duration { return max(due+Period, now) }

func cycle(ctx context.Context, robot *client.Client, stack *subsumption.Stack, payloads *sense.Payloads, start time.Time, tasks []Task) error {
	if err := robot.RequestData(); err != nil {
		return err
	}
	if err := robot.Read(ctx); err != nil {
		return err
	}
	now, s := time.Since(start), subsumption.NewSensors()
	for _, letter := range []byte{codec.Position, codec.Sonar, codec.Laser, codec.Misc} {
		if robot.Has(letter) {
			payloads.Add(&s, letter, robot.Raw(letter))
		}
	}
	for _, task := range tasks {
		task(now, &s)
	}
	command := stack.Cycle(now, &s)
	return robot.SetSpeed(command.Speed, command.Turn)
}

// Watch returns a task that searches for a light with the camera, and turns the camera to
// it. Vision must be open for reading, ptz for both.
func Watch(robot *client.Client, eye *sense.Eye) Task {
	commanded := 0 // degrees
	return func(_ time.Duration, s *subsumption.Sensors) {
		if !robot.Has(codec.Vision) || !robot.Has(codec.PTZ) {
			return
		}
		light, pan := eye.Look(&robot.Vision, int(robot.PTZ.Pan))
		s.Light = light
		if pan != commanded && robot.SetPTZ(pan, 0, 0) == nil { // the command to the wheels returns the error again
			commanded = pan
		}
	}
}
