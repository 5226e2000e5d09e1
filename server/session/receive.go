package session

import (
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/config/rights"
	"player/devices"
)

// Receive carries out input of the client, cut anywhere. The effects are in Output, Period, Asked
// and Err, and the owner is notified. While a setup is in progress, the input behind its request is
// kept (2.7). The input behind a request that has opened or closed devices is kept until the next
// Receive (see More), because such a request may take the loop longer than anything else.
func (s *Session) Receive(now time.Duration, in []byte) {
	if s.err != nil {
		return
	}
	s.dispatch(now, s.input.begin(now, in))
	s.input.stale = s.input.stale && s.input.waits()
}

// More reports whether there is input that the next Receive carries out. The owner
// calls it, without new input, when others have been served.
func (s *Session) More() bool { return s.err == nil && s.input.more() }

// dispatch cuts input into messages, and calls the method for the kind of each.
func (s *Session) dispatch(now time.Duration, in []byte) {
	for s.err == nil {
		if s.input.mustWait(in) {
			s.keep(now, in)
			return
		}
		m, heard, rest, ok := s.input.next(in)
		if !ok {
			return
		}
		in, s.lifetime.heard = rest, heard
		switch {
		case m.Malformed && !s.spoken:
			s.fail(foreign(m))
			return
		case m.Malformed:
			s.skip(now, m)
			continue
		case m.Kind == codec.KindCommand:
			s.command(now, m.Device, m.Payload, in)
		case m.Kind == codec.KindRequest:
			s.open(now, m.Payload)
		case m.Kind == codec.KindConfig && m.Device == codec.Server:
			s.configure(now, m.Payload)
		case m.Kind == codec.KindConfig:
			s.configureDevice(now, m.Device, m.Payload)
		}
		s.malformed, s.spoken = 0, true
	}
}

// foreign returns the error of a connection that begins with a malformed message
// (1.7). Nothing behind it is obeyed: a web page can make a browser send bytes of
// its choice behind an HTTP header.
func foreign(m codec.Message) error {
	first := string([]byte{m.Kind, m.Device, byte(m.Size >> 8), byte(m.Size)})
	return fmt.Errorf("%w: it begins with %q, which is %s", ErrForeign, first, protocol(first))
}

// protocol names the protocol that begins with these four bytes. It knows the protocols that
// browsers and people send to the wrong port: HTTP by its methods (RFC 9110, RFC 5789), HTTP/2 by
// its preface (RFC 9113, 3.4), SSH (RFC 4253, 4.2), and TLS by its record (RFC 8446, 5.1).
func protocol(first string) string {
	switch first {
	case "GET ", "HEAD", "POST", "PUT ", "DELE", "CONN", "OPTI", "TRAC", "PATC":
		return "HTTP"
	case "PRI ":
		return "HTTP/2"
	case "SSH-":
		return "SSH"
	}
	if strings.HasPrefix(first, "\x16\x03") {
		return "TLS"
	}
	return "malformed"
}

// command passes a command to its device (5). Invalid commands are logged and
// dropped; commands are never answered (manual 3.4). rest is the input behind it.
func (s *Session) command(now time.Duration, letter byte, payload, rest []byte) {
	if s.input.stale {
		s.refuse(now, "command from before the client was stopped dropped", zap.Uint8("letter", letter))
		return
	}
	sl := s.slots.of(s.table.Device(letter))
	if sl == nil || !sl.access.writes() {
		s.refuse(now, "command without write access dropped", zap.Uint8("letter", letter))
		return
	}
	spec := sl.device.Spec()
	if spec.CommandSize == 0 {
		s.refuse(now, "command to a device that takes none dropped", zap.String("device", spec.Name))
		return
	}
	if len(payload) != spec.CommandSize {
		s.refuse(now, "command of wrong size dropped", zap.String("device", spec.Name), zap.Int("size", len(payload)), zap.Int("want", spec.CommandSize))
		return
	}
	stops := string(payload) == spec.Stop
	switch {
	case stops && s.lifetime.yields && !sl.isNewest() && !(spec.Wheels && s.control.IsCommander(s)):
		return // another client commands the device: not this one, nor a device that this one has commanded
	case !stops && spec.Stop != "" && s.lifetime.isOver(now):
		s.refuse(now, "command dropped: it waited for a setup until its lifetime was over", zap.String("device", spec.Name))
		return
	case !stops && spec.Stop != "" && s.isAbsent(now):
		s.refuse(now, "command dropped: the client is gone", zap.String("device", spec.Name))
		return
	}
	if s.table.Stopped() {
		s.refuse(now, "command dropped: the emergency stop is active", zap.String("device", spec.Name))
		return
	}
	if spec.Wheels && !s.control.claim(now, s) {
		s.refuse(now, "command dropped: another client has control", zap.String("device", spec.Name))
		return
	}
	s.counts.Commands++
	s.counts.LastCommand = now
	if spec.Stop != "" && !stops && isOverwritten(spec, letter, payload, rest) {
		// Of commands that come together only the last one moves the device (5.3). This one counts as
		// given, so that a stop behind it stops the device (5.5).
		sl.command = sl.device.Commands()
		return
	}
	sl.device.SetCommand(now, payload)
	sl.command = sl.device.Commands()
	if spec.Stop != "" && s.lifetime.begin(stops) {
		s.notify()
	}
}

// isOverwritten reports whether the next message of the input is a command to the same
// device, and to the same part of it.
func isOverwritten(spec devices.Spec, code byte, payload, rest []byte) bool {
	size := spec.CommandSize
	return len(rest) >= codec.ClientHeaderSize+size && rest[0] == codec.KindCommand && rest[1] == code &&
		rest[2] == byte(size>>8) && rest[3] == byte(size) &&
		(!spec.ByPart || rest[codec.ClientHeaderSize] == payload[0])
}

// refuse counts and logs a command that is dropped.
func (s *Session) refuse(now time.Duration, why string, fields ...zap.Field) {
	s.counts.Refused++
	s.complain(now, why, fields...)
}

// skip counts a malformed message (1.5).
func (s *Session) skip(now time.Duration, m codec.Message) {
	s.complain(now, "malformed message skipped", zap.Uint8("first", m.Kind), zap.Uint8("second", m.Device), zap.Int("size", m.Size))
	if s.malformed++; s.malformed >= maxMalformed {
		s.fail(ErrMalformed)
	}
}

// keep keeps input until the setups in progress have ended (2.7), and obeys the emergency
// stops in it (8.5).
func (s *Session) keep(now time.Duration, in []byte) {
	stops, err := s.input.keep(in)
	if err != nil {
		s.fail(err)
		return
	}
	for range stops {
		s.emergencyStop(now, true)
	}
}

// configureDevice passes a configuration to its device (6). It needs no access
// and affects all clients, so a configuration from a client without write
// access is logged.
func (s *Session) configureDevice(now time.Duration, letter byte, payload []byte) {
	device := s.table.Device(letter)
	if device == nil {
		s.complain(now, "configuration of a device that does not exist dropped", zap.Uint8("letter", letter))
		return
	}
	name := zap.String("device", device.Spec().Name)
	if !s.rights.Has(rights.Config) {
		s.complain(now, "configuration refused", name, zap.Stringer("rights", s.rights))
		return
	}
	if err := device.Configure(now, payload); err != nil {
		s.complain(now, "configuration dropped", name, zap.Error(err))
		return
	}
	if sl := s.slots.of(device); sl == nil || !sl.access.writes() {
		s.complain(now, "device configured without write access", name, zap.ByteString("configuration", payload))
	}
}

// configure applies a server configuration for this client (4).
func (s *Session) configure(now time.Duration, payload []byte) {
	c, err := codec.DecodeServerConfig(payload)
	if err != nil {
		s.complain(now, "configuration of the server dropped", zap.Error(err))
		return
	}
	switch c.Code {
	case codec.ConfigFrequency:
		s.setRate(now, int(c.Arg))
	case codec.ConfigMode:
		s.frames.onRequest = c.Arg != 0
		s.frames.asked = 0
	case codec.ConfigFresh:
		s.frames.onlyNew = c.Arg != 0
	case codec.ConfigCompact:
		s.frames.form = c
	case codec.ConfigName:
		s.name = c.Text
	case codec.ConfigPath:
		s.path = c.Text
	case codec.ConfigStop:
		if on := c.Arg != 0; !s.input.wasObeyed(on) {
			s.emergencyStop(now, on)
		}
	case codec.ConfigLifetime:
		s.lifetime.set(c.Arg)
		s.lifetime.renew(s.slots)
	case codec.ConfigQuestion:
		s.answer(now, byte(c.Arg))
	case codec.ConfigData:
		switch {
		case !s.frames.onRequest:
			s.complain(now, "data asked for in continuous mode, ignored")
		case !s.hasBlocks():
			s.complain(now, "data asked for with nothing open for reading, ignored")
		default:
			s.frames.asked++
			s.notifyDevices(now)
		}
	}
	s.awaitNews(now)
	s.notify()
}

// emergencyStop stops the robot until it is released, or releases it (8.5). Both need the right to
// command it.
func (s *Session) emergencyStop(now time.Duration, on bool) {
	switch {
	case !s.rights.Has(rights.Write):
		s.complain(now, "emergency stop refused", zap.Stringer("rights", s.rights))
	case on:
		s.table.Stop(now)
		s.owner.Log().Warn("emergency stop")
	default:
		s.table.Release()
		s.owner.Log().Warn("emergency stop released")
	}
}

func (s *Session) setRate(now time.Duration, hz int) {
	if hz == 0 {
		s.complain(now, "a rate of 0 Hz is refused")
		return
	}
	if hz > s.maxRate {
		s.complain(now, "rate is above the maximum", zap.Int("Hz", hz), zap.Int("served", s.maxRate))
		hz = s.maxRate
	}
	s.frames.period = time.Second / time.Duration(hz)
}
