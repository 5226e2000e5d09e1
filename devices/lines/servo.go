package lines

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"player/codec"
	"player/devices"
)

// thousand is how many units of PROTOCOL 7.13 are in a unit of the configuration: mdeg in a degree, um in a mm.
const thousand = 1000

// servos are the joints of a board. Their commands wait here until the line is free.
type servos struct {
	device *devices.Device // nil: no client can open it
	joints []codec.Channel // as declared
	move   template        // moves a joint; nil: they cannot be moved
	hold   template        // stops a joint where it is; nil: it is moved to where it is

	data    codec.ServoData
	speeds  [maxJoint]uint32 // of the newest command to each joint
	pending [maxJoint]bool   // the newest command is to be sent
}

// newJoint reads the declaration of a joint: the unit, the smallest and the largest position, and the name.
func newJoint(number int, text string) (codec.Channel, error) {
	c := codec.Channel{Number: number, Role: codec.Jointed}
	words := strings.Fields(text)
	if len(words) < 3 {
		return c, fmt.Errorf("joints %q: want a unit, the smallest and the largest position, and a name", text)
	}
	switch words[0] {
	case "deg":
		c.Unit = "mdeg"
	case "mm":
		c.Unit = "um"
	default:
		return c, fmt.Errorf("joints %q: the unit is deg or mm", text)
	}
	least, wrongLeast := strconv.ParseFloat(words[1], 64)
	most, wrongMost := strconv.ParseFloat(words[2], 64)
	const bound = math.MaxInt32 / thousand
	if wrongLeast != nil || wrongMost != nil || !(-bound <= least && least < most && most <= bound) {
		return c, fmt.Errorf("joints %q: want the smallest position before the largest, at most %d", text, bound)
	}
	c.Min, c.Max = int32(math.Round(least*thousand)), int32(math.Round(most*thousand))
	c.Name = strings.Join(words[3:], " ")
	return c, nil
}

// begin forgets commands and measurements: nothing moves by itself.
func (s *servos) begin() {
	s.data.Joints, s.pending = s.data.Joints[:0], [maxJoint]bool{}
	for range s.joints {
		s.data.Joints = append(s.data.Joints, codec.Joint{Position: codec.Unknown, Goal: codec.Unknown})
	}
}

// command notes the newest command to one joint, or to all.
func (s *servos) command(payload []byte) {
	var c codec.ServoCommand
	if s.move == nil || c.Decode(payload) != nil {
		return
	}
	for i, joint := range s.joints {
		if int(c.Joint) != i && c.Joint != codec.AllJoints {
			continue
		}
		goal := c.Goal
		if goal != codec.Unknown {
			goal = max(joint.Min, min(goal, joint.Max))
		}
		s.data.Joints[i].Goal, s.speeds[i], s.pending[i] = goal, c.Speed, true
	}
}

// flush appends the lines of the commands that wait. lines is how many.
func (s *servos) flush(dst []byte) (out []byte, lines int) {
	for i := range s.joints {
		if !s.pending[i] {
			continue
		}
		s.pending[i] = false
		joint, line, goal := s.data.Joints[i], s.move, s.data.Joints[i].Goal
		if goal == codec.Unknown {
			if goal = joint.Position; s.hold != nil {
				line = s.hold
			} else if goal == codec.Unknown {
				continue // it ends its movement
			}
		}
		dst = line.append(dst, &[args]float64{
			argJoint: float64(i), argGoal: float64(goal) / thousand, argJointSpeed: float64(s.speeds[i]) / thousand})
		lines++
	}
	return dst, lines
}

// halt appends the lines that stop the joints.
func (s *servos) halt(dst []byte) []byte {
	for i := range s.joints {
		if s.hold != nil {
			dst = s.hold.append(dst, &[args]float64{argJoint: float64(i)})
		}
	}
	return dst
}

// publish publishes the joints if the line has any, and with every line if no line reports joints.
func (s *servos) publish(now time.Duration, d *Driver) {
	v := &d.values
	if s.device == nil || !v.seen(fieldJoint, lastState) && d.has(fieldJoint, lastState) {
		return
	}
	for i := range s.data.Joints {
		joint := &s.data.Joints[i]
		v.number[fieldJoint+i] *= thousand
		take(v, fieldJoint+i, &joint.Position, math.MinInt32+1, math.MaxInt32)
		if v.has[fieldState+i] {
			joint.State = uint8(v.number[fieldState+i]) | codec.JointKnown
		}
	}
	d.out = s.data.Append(d.out[:0])
	s.device.Publish(now, d.out)
}
