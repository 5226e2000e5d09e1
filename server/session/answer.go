package session

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/config/rights"
	"player/devices"
)

// errRight is the error of a device to which the client has no right (2.10).
var errRight = errors.New("the client has no right to it")

// answer answers a question (4.11, 8.9).
func (s *Session) answer(now time.Duration, question byte) {
	var lines []string
	switch question {
	case codec.QuestionRefusals:
		lines = s.refusals()
	case codec.QuestionObstacles:
		lines = s.obstacles(now)
	case codec.QuestionGeometry:
		lines = s.describe(appendParts)
	case codec.QuestionCharge:
		lines = s.charge()
	case codec.QuestionDevices:
		s.knowsCodes = true
		s.output = codec.AppendAnswers(s.output, question, s.devices())
		return
	case codec.QuestionRays:
		s.output = codec.AppendAnswers(s.output, question, s.describe(appendRays))
		return
	case codec.QuestionChannels:
		s.output = codec.AppendAnswers(s.output, question, s.describe(appendChannels))
		return
	case codec.QuestionColors:
		s.output = codec.AppendAnswers(s.output, question, s.describe(appendColors))
		return
	default:
		s.complain(now, "unknown question", zap.Uint8("letter", question))
		return
	}
	s.output = codec.AppendAnswer(s.output, question, lines)
}

// isStranger reports whether the client has no rights. Its questions are not answered.
func (s *Session) isStranger() bool { return s.rights&(rights.Read|rights.Write) == 0 }

// rightsText describes the rights of the client for people.
func (s *Session) rightsText() string {
	return "the robot's access rules give this client: " + s.rights.String()
}

// refusals returns a line for each device whose access is e in the last reply. The next call
// returns none of them: a flood of questions must not cost more than its bytes.
func (s *Session) refusals() (lines []string) {
	var answered [256]bool
	for i := 0; i+1 < len(s.request); i += 2 {
		code, access := s.request[i], s.request[i+1]
		device := s.table.Device(code)
		key := string(rune(code))
		switch {
		case access != codec.AccessError || answered[code]:
			continue
		case device != nil:
			key = device.Key()
		case code <= ' ' || code > '~':
			key = s.table.Removed(code)
		}
		if key == "" {
			continue // a byte that no device has had
		}
		answered[code] = true
		lines = append(lines, s.refusal(code, device).Line(key))
	}
	s.request = s.request[:0]
	return lines
}

// NoSuchDevice is the reason of a refusal, for people.
const NoSuchDevice = "the robot has no such device"

// refusal returns why a device is refused.
func (s *Session) refusal(code byte, device *devices.Device) codec.Reason {
	sl := s.slots.of(device)
	switch {
	case s.isStranger():
		return codec.Reason{Device: code, Why: codec.WhyRight, Text: s.rightsText()}
	case device == nil && code != codec.Server:
		return codec.Reason{Device: code, Why: codec.WhyMissing, Text: NoSuchDevice}
	case sl == nil || sl.why == nil:
		return codec.Reason{Device: code, Why: codec.WhyClosed, Text: "it was not open, or the access is unknown"}
	case errors.Is(sl.why, errRight):
		return codec.Reason{Device: code, Why: codec.WhyRight, Text: s.rightsText()}
	}
	return reasonOf(device, sl.why)
}

// reasonOf returns the reason of the protocol for an error of a device's link.
func reasonOf(d *devices.Device, err error) codec.Reason {
	r := codec.Reason{Device: d.Code(), Why: codec.WhyHardware, Text: err.Error()}
	switch {
	case errors.Is(err, devices.ErrSwitchedOff):
		r.Why = codec.WhyOff
	case errors.Is(err, devices.ErrRing):
		r.Why = codec.WhyRing
	case errors.Is(err, syscall.EBUSY):
		r.Why = codec.WhyUsed
	}
	return r
}

// obstacles returns a line for each condition that keeps the client's commands from taking effect,
// or its data from coming.
func (s *Session) obstacles(now time.Duration) (lines []string) {
	if s.isStranger() {
		return []string{"right " + s.rightsText()}
	}
	if s.table.Stopped() {
		lines = append(lines, "stopped the emergency stop holds")
	}
	if s.control.refuses(now, s) {
		holder := s.control.commander
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("control %v %s", holder.owner, holder.name)))
	}
	for _, l := range s.table.Links() {
		for _, d := range l.Devices() {
			if !s.knows(d) {
				continue
			}
			if d.Letter() == codec.Position && d.MotorsOff(now) {
				lines = append(lines, "motors the motors are off")
			}
			if r, is := obstacle(now, d); is {
				lines = append(lines, r.Line(d.Key()))
			}
		}
	}
	return lines
}

// describe returns the lines about each device of the robot.
func (s *Session) describe(appendLines func(dst []string, d *devices.Device) []string) (lines []string) {
	if s.isStranger() {
		return nil
	}
	for _, l := range s.table.Links() {
		for _, d := range l.Devices() {
			if s.knows(d) {
				lines = appendLines(lines, d)
			}
		}
	}
	return lines
}

// appendParts appends a line for each part of a device that is known.
func appendParts(dst []string, d *devices.Device) []string {
	for _, p := range d.AppendParts(nil) {
		dst = append(dst, p.Line(d.Key()))
	}
	return dst
}

// appendRays appends a line for the readings of a range sensor that look from one point.
func appendRays(dst []string, d *devices.Device) []string {
	for _, r := range d.AppendRays(nil) {
		dst = append(dst, r.Line(d.Key()))
	}
	return dst
}

// appendChannels appends a line for each input, output or joint.
func appendChannels(dst []string, d *devices.Device) []string {
	for _, c := range d.AppendChannels(nil) {
		dst = append(dst, c.Line(d.Key()))
	}
	return dst
}

// appendColors appends a line for each channel whose colour is known.
func appendColors(dst []string, d *devices.Device) []string {
	for _, c := range d.AppendColors(nil) {
		dst = append(dst, c.Line(d.Key()))
	}
	return dst
}

// devices returns a line for each device that clients can open.
func (s *Session) devices() (lines []string) {
	if s.isStranger() {
		return nil
	}
	for _, l := range s.table.Links() {
		for _, d := range l.Devices() {
			if d.Code() != 0 {
				spec := d.Spec()
				lines = append(lines, codec.Entry{Code: d.Code(), Interface: spec.Name, Index: spec.Index, Driver: l.Name()}.Line())
			}
		}
	}
	return lines
}

// knows reports whether answers to this client name a device: it has a letter, or the client has asked which devices
// there are. An older client would not understand the others.
func (s *Session) knows(d *devices.Device) bool {
	return d.Code() != 0 && (s.knowsCodes || d.Code() == d.Letter())
}

// charge returns a line with the state of the charger, if a device knows it.
func (s *Session) charge() []string {
	if d := s.table.Device(codec.Misc); d != nil && !s.isStranger() {
		if state := d.Charge(); state != "" {
			return []string{string(codec.Misc) + " " + state}
		}
	}
	return nil
}

// obstacle returns why a device does not work. It reports false if the device works, or
// was never started.
func obstacle(now time.Duration, d *devices.Device) (r codec.Reason, is bool) {
	l := d.Link()
	switch err := l.SetupError(); {
	case err != nil:
		return reasonOf(d, err), true
	case l.State() == devices.Lost:
		return codec.Reason{Device: d.Code(), Why: codec.WhyHardware, Text: "its driver has panicked, and is started again"}, true
	case l.State() == devices.Ready && l.Subscribed(d) && !d.IsFresh(now):
		return codec.Reason{Device: d.Code(), Why: codec.WhySilent, Text: "it is open, and sends nothing"}, true
	}
	return r, false
}
