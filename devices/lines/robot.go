package lines

import (
	"fmt"
	"math"
	"slices"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/wheels"
)

// pair keeps left or right of one line until the other has come in another one.
func (d *Driver) pair() {
	v := &d.values
	for i := range d.way {
		if v.has[fieldLeft+i] {
			d.way[i], d.fresh[i] = v.number[fieldLeft+i], true
		}
	}
	both := d.fresh == [2]bool{true, true}
	v.has[fieldLeft], v.has[fieldRight] = both, both
	if both {
		d.fresh = [2]bool{}
	}
}

// publish publishes the devices that have a field in the line.
func (d *Driver) publish(now time.Duration) {
	v := &d.values
	if d.position != nil && v.seen(fieldX, fieldRightSpeed) {
		d.locate(now)
		d.positionData.Time = uint32(now.Milliseconds())
		d.out = d.positionData.Append(d.out[:0])
		d.position.Publish(now, d.out)
	}
	if d.sonar != nil && v.seen(fieldSonar, lastSonar) {
		for i := range d.sonarData {
			take(v, fieldSonar+i, &d.sonarData[i], 0, math.MaxUint16)
		}
		d.out = d.sonarData.Append(d.out[:0])
		d.sonar.Publish(now, d.out)
	}
	if d.misc != nil && v.seen(fieldFront, fieldBattery) {
		take(v, fieldFront, &d.miscData.FrontBumpers, 0, 31)
		take(v, fieldRear, &d.miscData.RearBumpers, 0, 31)
		v.number[fieldBattery] *= 10 // decivolt
		take(v, fieldBattery, &d.miscData.Battery, 0, math.MaxUint8)
		d.out = d.miscData.Append(d.out[:0])
		d.misc.Publish(now, d.out)
	}
	d.sensors.publish(now, d)
	d.servos.publish(now, d)
}

// locate sets the position from the fields of a line.
func (d *Driver) locate(now time.Duration) {
	v, p := &d.values, &d.positionData
	if v.has[fieldLeft] && v.has[fieldRight] {
		d.turn(now, d.way)
		d.odometry.Fill(p)
	}
	if v.has[fieldLeftSpeed] && v.has[fieldRightSpeed] {
		d.roll(now, [2]float64{v.number[fieldLeftSpeed], v.number[fieldRightSpeed]})
	}
	d.guard.pose(now, d)
	take(v, fieldX, &p.X, math.MinInt32, math.MaxInt32)
	take(v, fieldY, &p.Y, math.MinInt32, math.MaxInt32)
	take(v, fieldSpeed, &p.Speed, math.MinInt16, math.MaxInt16)
	take(v, fieldTurn, &p.TurnRate, math.MinInt16, math.MaxInt16)
	take(v, fieldStall, &p.Stall, 0, math.MaxUint8)
	if v.has[fieldHeading] {
		p.Heading = wheels.Degrees(v.number[fieldHeading])
	}
	if v.has[fieldCompass] {
		p.Compass = wheels.Degrees(v.number[fieldCompass])
	}
}

// turn takes the total distances of the wheels, in mm.
func (d *Driver) turn(now time.Duration, way [2]float64) {
	if !d.turned.begun {
		d.turned.begin(now, way)
		d.odometry.Forget() // the board may have begun anew
		return
	}
	p := &d.positionData
	steps, restarted := d.turned.update(now, way, d.values.unit, measured(p.Speed, p.TurnRate, d.opts.Base))
	if restarted {
		d.odometry.Forget()
		d.position.ForgetCommand() // nothing moves by itself
		d.moving, d.due = false, 0
		d.Send(d.greet)
		d.restarts.Warn(now, d.Log(), "the board has restarted: its wheels count from 0 again")
	}
	d.odometry.Move(now, steps[0], steps[1])
	if !restarted {
		d.guard.wheels(now, d, fieldLeft, steps)
	}
}

// roll takes the speeds of the wheels in mm/s. They give the position of a board that does not count.
func (d *Driver) roll(now time.Duration, speed [2]float64) {
	p := &d.positionData
	if !d.has(fieldX, fieldHeading) && !d.measured[fieldLeft] {
		steps := d.drifting.update(now, speed)
		d.odometry.Move(now, steps[0], steps[1])
		d.guard.wheels(now, d, fieldLeftSpeed, steps)
		d.odometry.Fill(p)
	}
	p.Speed = int16(math.Round((speed[0] + speed[1]) / 2))
	p.TurnRate = int16(math.Round(max(math.MinInt16, min((speed[1]-speed[0])/d.opts.Base*180/math.Pi, math.MaxInt16))))
}

// take sets to to a field of the line, rounded and bounded, if the line has it.
func take[T uint8 | uint16 | int16 | int32](v *values, field int, to *T, least, most float64) {
	if v.has[field] {
		*to = T(math.Round(max(least, min(v.number[field], most))))
	}
}

func (d *Driver) Command(now time.Duration, device *devices.Device) {
	switch {
	case !d.IsUp():
	case device == d.position && d.drive != nil:
		d.moving = true
		d.flush(now)
	case device == d.sensors.io && d.output != nil:
		d.set(device.Command())
	case device == d.servos.device:
		d.servos.command(device.Command())
		d.flush(now)
	}
}

// flush sends the newest commands when the line is free: those to the wheels first.
func (d *Driver) flush(now time.Duration) {
	if d.Port().Buffered() > 0 {
		d.free = now + commandGap // the line's buffer is full: try again
	}
	d.flushAt = 0
	if d.drive != nil {
		d.flushWheels(now)
	}
	if slices.Contains(d.servos.pending[:], true) {
		if now >= d.free {
			var lines int
			d.out, lines = d.servos.flush(d.out[:0])
			d.Port().Write(d.out)
			d.free = now + time.Duration(lines)*commandGap
		} else if d.flushAt == 0 || d.free < d.flushAt {
			d.flushAt = d.free
		}
	}
	d.schedule()
}

// flushWheels sends the newest command to the wheels if the line is free. It sets when it is due next.
func (d *Driver) flushWheels(now time.Duration) {
	b := d.position.Command()
	if d.moving && now >= d.free && b != nil {
		var c codec.PositionCommand
		_ = c.Decode(b) // its size was checked
		left, right := wheels.Speeds(float64(c.Speed), float64(c.TurnRate), d.opts.Base, d.opts.Most)
		d.turned.command(now, [2]float64{left, right})
		line := d.drive
		if c == (codec.PositionCommand{}) {
			line = d.stop
		}
		d.out = line.append(d.out[:0], &[args]float64{
			argSpeed: (left + right) / 2, argTurn: (right - left) / d.opts.Base * 180 / math.Pi, argLeft: left, argRight: right})
		d.Port().Write(d.out)
		d.moving, d.free = false, now+commandGap
		if d.due = 0; d.opts.Repeat > 0 {
			d.due = now + d.opts.Repeat
		}
	}
	switch {
	case d.moving && b != nil:
		d.flushAt = d.free
	case b == nil: // it was forgotten
		d.moving, d.due, d.flushAt = false, 0, 0
	default:
		d.flushAt = d.due
	}
}

func (d *Driver) Configure(now time.Duration, _ *devices.Device, payload []byte) error {
	c, err := d.RobotConfig(payload)
	if err != nil {
		return err
	}
	var line template
	switch {
	case c.Code == codec.ConfigMotors && len(d.motors) == 2:
		line = d.motors[1-min(int(c.Arg), 1)]
	case c.Code == codec.ConfigOdometry && (d.measured[fieldLeft] || d.measured[fieldLeftSpeed] && d.reset == nil):
		d.odometry.Reset()
		return nil
	case c.Code == codec.ConfigOdometry && d.reset != nil:
		line = d.reset
	default:
		return fmt.Errorf("configuration %q: %w", c.Code, errUnknown)
	}
	d.out = line.append(d.out[:0], &[args]float64{})
	d.Port().Write(d.out)
	return nil
}
