package p2os

import (
	"encoding/binary"
	"math"

	"player/simulation/emulator/line"
)

const (
	sipStopped = 0x32 // Server Information Packet, wheels stopped
	sipMoving  = 0x33
)

// liar is the battery reading, in 0.1 V, of a SIP with a wrong checksum. A host that shows
// it has not verified the checksum.
const liar = 99

// appendSIP appends the body of a standard Server Information Packet. Positions are counted
// from SETO, in units of the model, and wrap, like the heading; the other fields are as set.
func (r *Robot) appendSIP(dst []byte) []byte {
	d := &r.drive
	kind := byte(sipStopped)
	if d.moving() {
		kind = sipMoving
	}
	dst = append(dst, kind)
	m := r.model
	dst = appendInt(dst, wrap(d.odometry.X/m.unit, 1<<m.bits))
	dst = appendInt(dst, wrap(d.odometry.Y/m.unit, 1<<m.bits))
	dst = appendInt(dst, wrap(d.odometry.Heading/360*float64(m.turn), m.turn))
	dst = appendInt(dst, int(math.Round(d.left/m.velocity)))
	dst = appendInt(dst, int(math.Round(d.right/m.velocity)))
	dst = append(dst, r.battery)
	dst = append(dst, r.rear<<1|line.Bit(r.stallLeft), r.front<<1|line.Bit(r.stallRight))
	dst = append(dst, 0, 0) // heading set-point
	dst = append(dst, line.Bit(r.motors), 0)
	dst = append(dst, r.compass)
	dst = r.appendSonars(dst)
	dst = append(dst, byte(r.sips), r.gripper.state()) // timer
	dst = append(dst, r.analog, r.digitalIn, r.digitalOut)
	if !r.model.later {
		return dst
	}
	// AROS and ARCOS: BATTERYX10, RECHARGESTAGE, ROTVEL in 0.1 deg/s, FAULTFLAGS (ARIA,
	// Pioneer LX User's Guide, "SIP contents").
	dst = append(appendInt(dst, int(r.battery)), r.charge)
	dst = appendInt(dst, int(math.Round((d.right-d.left)/d.axle*1800/math.Pi)))
	return appendInt(dst, 0)
}

// appendSonars appends the count and the readings of the sonars in this
// packet.
func (r *Robot) appendSonars(dst []byte) []byte {
	if !r.sonarOn {
		return append(dst, 0)
	}
	dst = append(dst, sonarsPerSIP)
	for range sonarsPerSIP {
		for math.IsNaN(r.model.sonars[r.nextSonar].X) {
			r.nextSonar++ // none of that number; the last one is there
		}
		raw := r.sonar[r.nextSonar]
		if r.opts.Room > 0 {
			raw = sonarUnits(roomRange(r.opts.Room, r.drive.world, r.model.sonars[r.nextSonar]), r.model.echo)
		}
		dst = append(dst, byte(r.nextSonar))
		dst = binary.LittleEndian.AppendUint16(dst, raw)
		r.nextSonar = (r.nextSonar + 1) % len(r.model.sonars)
	}
	return dst
}

// wrap rounds to a whole number below limit, a power of two.
func wrap(v float64, limit int) int { return int(math.Round(v)) & (limit - 1) }

func appendInt(dst []byte, v int) []byte { return binary.LittleEndian.AppendUint16(dst, uint16(v)) }
