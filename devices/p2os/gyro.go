package p2os

import (
	"encoding/binary"
	"math"
	"time"
)

const (
	// gyroPacket is the type of a GYROpac, which comes just before a SIP: a count, and that
	// many readings since the last GYROpac, each a rate and a temperature.
	gyroPacket  = 0x98
	gyroHead    = 2 // type, count
	gyroReading = 3 // rate, temperature

	// gyroPeriod is the time between two readings.
	gyroPeriod = 25 * time.Millisecond
	// gyroStep is the turn rate that one count of a reading stands for, before GyroScaler, in
	// deg/s clockwise: 1023 counts are 5 V, and 2.5 V are 300 deg/s.
	gyroStep = 5.0 / 1023 * 300 / 2.5
	// gyroScaler has this value in all parameter files.
	gyroScaler = 1.626
	// gyroRest is how many readings at rest determine the centre: a second of them.
	gyroRest = 40
	// gyroNoise is how far readings at rest differ from their mean. A smaller turn rate counts as none while the robot
	// stands: so a centre that drifts with the temperature does not change its heading.
	gyroNoise = 2
	// gyroTime bounds the wait for the first GYROpac.
	gyroTime = 3 * time.Second
	// gyroCover is the fraction of the time between two SIPs that readings must cover: after
	// a lost packet they cover less.
	gyroCover = 0.7
)

// gyro sums up the readings of the robot's gyroscope between two SIPs.
type gyro struct {
	scale float64 // angle units of the heading for each count of a reading, clockwise
	step  float64 // deg/s for each count of a reading, clockwise

	centre   float64 // the reading at rest; 0: not known yet
	sum      float64 // of readings at rest, for the next centre
	count    int     // of these
	turned   float64 // angle units since the last SIP, counterclockwise
	readings int     // since the last SIP, with a known centre
	latest   float64 // the mean of the last GYROpac's readings; 0: it had none
}

// newGyro returns the gyro of a robot of a model.
func newGyro(m *Model, scaler float64) gyro {
	return gyro{scale: scaler * gyroStep * gyroPeriod.Seconds() * math.Pi / 180 / m.Angle, step: scaler * gyroStep}
}

// read takes the body of a GYROpac. resting: the wheels have stopped. It reports whether the
// packet is complete.
func (g *gyro) read(body []byte, resting bool) bool {
	if len(body) < gyroHead || len(body) < gyroHead+int(body[1])*gyroReading {
		return false
	}
	g.latest = 0
	for list := body[gyroHead:][:int(body[1])*gyroReading]; len(list) > 0; list = list[gyroReading:] {
		reading := float64(binary.LittleEndian.Uint16(list))
		g.latest += reading / float64(body[1])
		g.take(reading, resting)
	}
	return true
}

// rate returns the turn rate of the last GYROpac in thousandths of a degree each second, counterclockwise. It reports
// false if the packet has no readings, or their centre is not known yet.
func (g *gyro) rate() (mdeg int32, ok bool) {
	if g.centre == 0 || g.latest == 0 {
		return 0, false
	}
	return int32(math.Round((g.centre - g.latest) * g.step * 1000)), true
}

func (g *gyro) take(rate float64, resting bool) {
	if resting && (g.count == 0 || math.Abs(g.sum/float64(g.count)-rate) <= gyroNoise) {
		g.sum, g.count = g.sum+rate, g.count+1
	} else {
		g.sum, g.count = 0, 0
	}
	if g.count == gyroRest {
		g.centre, g.sum, g.count = g.sum/gyroRest, 0, 0
	}
	if g.centre == 0 {
		return
	}
	g.readings++
	if off := rate - g.centre; !resting || math.Abs(off) > gyroNoise {
		g.turned -= off * g.scale
	}
}

// turn returns how far the robot has turned since the last SIP, a time of gap ago, in angle
// units. It reports false if there are too few readings.
func (g *gyro) turn(gap time.Duration) (turned float64, ok bool) {
	turned, ok = g.turned, g.readings > 0 && time.Duration(g.readings)*gyroPeriod >= time.Duration(gyroCover*float64(gap))
	g.turned, g.readings = 0, 0
	return turned, ok
}
