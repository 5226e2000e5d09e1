package p2os

import (
	"encoding/binary"
	"errors"
	"math"
)

// robotSonars is how many sonars a robot can number: 0 to 31.
const robotSonars = 32

// Layout of a SIP, offsets from its type byte.
const (
	sipFirst, sipLast = 0x30, 0x34 // types; robots send 32 stopped, 33 moving

	sipSonars     = 20 // start of the sonar list
	sipSonarSize  = 3  // index byte, range
	sipTrailer    = 5  // after the list: analog port, gripper, analog input, digital input and output
	sipCharge     = 7  // after the list, of AROS and ARCOS: behind the voltage in 2 bytes
	sipSonarCount = sipSonars - 1
)

// Errors of SIP.Decode.
var (
	ErrNotSIP   = errors.New("not a server information packet")
	ErrShortSIP = errors.New("server information packet is too short for its sonar count")
)

// SIP has the fields of a standard server information packet that the driver uses, in the
// robot's units. A connected robot sends its state in one every 100 ms. All packets are decoded
// into one value, since sonar ranges stay valid until overwritten.
type SIP struct {
	X, Y            uint16 // encoder units, see Odometry
	Heading         int16  // Model.Angle, counterclockwise
	Left, Right     int16  // wheel velocities, Model.Velocity, forward
	Battery         byte   // decivolt
	LeftStallRear   byte   // bit 0 left wheel stalled, bits 1 to 7 rear bumpers
	RightStallFront byte   // bit 0 right wheel stalled, bits 1 to 7 front bumpers
	Flags           uint16 // bit 0 the motors have power
	Compass         byte   // see CompassDegrees
	Charge          byte   // 1 + RECHARGESTAGE, see ChargeState; 0: not reported

	Sonar [robotSonars]uint16 // latest raw ranges, Model.Range, by the robot's numbers

	// GripperState and Digital are the two bytes of the gripper data (manual
	// table 7), which the original server passes on unchanged. Clients depend
	// on that, so the table is met by passing these on as well.
	//
	// GripperState agrees with the table's first byte: paddles open 01, closed 02, moving
	// 04, lift up 10, down 20, moving 40. The table's error bits 08 and 80 have no known
	// source in the robot and are passed on unchanged; the robot shows an error as a
	// contradiction, 01 and 02 without 04 (10 and 20 without 40 is a lift halfway).
	//
	// Digital is the port of user inputs, to which the gripper is wired. It agrees with the
	// table's second byte if the table is right about the beams, 04 and 08; another account
	// has them at 02 and 04. Bits 40 and 80 are not in the table and are passed on
	// unchanged.
	GripperState byte
	Digital      byte

	Analog byte // the user's analogue input: 255 is 5 V
	Output byte // the port of user outputs
}

// Decode reads a SIP. Sonar readings with an index above 31 are ignored; bytes
// after the known fields, which later robots also send. On error (ErrNotSIP,
// ErrShortSIP) s is unchanged.
func (s *SIP) Decode(p Packet) error {
	b := p.Body()
	if b[0] < sipFirst || b[0] > sipLast {
		return ErrNotSIP
	}
	if len(b) < sipSonars {
		return ErrShortSIP
	}
	readings := int(b[sipSonarCount])
	end := sipSonars + readings*sipSonarSize
	if len(b) < end+sipTrailer {
		return ErrShortSIP
	}

	le := binary.LittleEndian
	s.X, s.Y = le.Uint16(b[1:]), le.Uint16(b[3:])
	s.Heading = int16(le.Uint16(b[5:]))
	s.Left, s.Right = int16(le.Uint16(b[7:])), int16(le.Uint16(b[9:]))
	s.Battery = b[11]
	s.LeftStallRear, s.RightStallFront = b[12], b[13]
	s.Flags = le.Uint16(b[16:])
	s.Compass = b[18]
	for list := b[sipSonars:end]; len(list) > 0; list = list[sipSonarSize:] {
		if i := list[0]; i < robotSonars {
			s.Sonar[i] = le.Uint16(list[1:])
		}
	}
	s.GripperState, s.Analog, s.Digital, s.Output = b[end+1], b[end+2], b[end+3], b[end+4]
	s.Charge = 0
	if len(b) > end+sipCharge {
		s.Charge = b[end+sipCharge] + 1 // the robot sends -1 if it does not know
	}
	return nil
}

// ChargeState returns the charger's state, in a word; empty: the robot does not report it.
func (s *SIP) ChargeState() string {
	words := [...]string{"", "no", "bulk", "overcharge", "float", "balance"}
	if int(s.Charge) >= len(words) {
		return ""
	}
	return words[s.Charge]
}

// Motors reports whether the motors have power.
func (s *SIP) Motors() bool { return s.Flags&1 != 0 }

// CompassDegrees returns the compass heading in degrees, 0 to 358, or previous if the robot
// has no reading: it then sends 0, 181 or 255. The codes between 181 and 255 would be more
// than a revolution and also count as no reading. The manuals count from 0, so the result is
// 2 degrees less than the compass's heading, as in the original server.
func (s *SIP) CompassDegrees(previous int) int {
	if s.Compass < 1 || s.Compass > 180 {
		return previous
	}
	return (int(s.Compass) - 1) * 2
}

// RangeMM returns the latest range at one of Player's 16 places, in mm, 0 if the
// model has no sonar there.
func (m *Model) RangeMM(s *SIP, place int) uint16 {
	n := m.Sonars[place]
	if n == noSonar {
		return 0
	}
	return uint16(min(math.Round(float64(s.Sonar[n])*m.Range), math.MaxUint16))
}

// Speed returns the forward speed in mm/s, truncated toward zero.
func (m *Model) Speed(s *SIP) int { return int(m.Velocity * float64(int(s.Left)+int(s.Right)) / 2) }

// TurnRate returns the turn rate in deg/s, counterclockwise, truncated toward zero.
func (m *Model) TurnRate(s *SIP) int {
	return int(m.Velocity * float64(int(s.Right)-int(s.Left)) / m.Axle * 180 / math.Pi)
}

// LeftStall reports whether the left wheel is blocked.
func (s *SIP) LeftStall() bool { return s.LeftStallRear&1 != 0 }

// RightStall reports whether the right wheel is blocked.
func (s *SIP) RightStall() bool { return s.RightStallFront&1 != 0 }

// bumperBits: a P2-DX has five bumpers at either end (manual table 7).
const bumperBits = 0x1F

// FrontBumpers returns the front bumpers, lowest five bits, set while pressed.
func (s *SIP) FrontBumpers() byte { return s.RightStallFront >> 1 & bumperBits }

// RearBumpers returns the rear bumpers, lowest five bits, set while pressed.
func (s *SIP) RearBumpers() byte { return s.LeftStallRear >> 1 & bumperBits }
