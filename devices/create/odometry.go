package create

import (
	"math"
	"time"

	"player/codec"
	"player/devices/wheels"
)

const (
	// mmPerCount is the distance that a wheel drives for one count of its encoder: 72.0 mm
	// of diameter and 508.8 counts a revolution (specification, packet 43).
	mmPerCount = math.Pi * 72.0 / 508.8
	// wheelBase is the distance between the wheels in mm (specification).
	wheelBase = 235

	// period is the time between two reports.
	period = 15 * time.Millisecond
	// fastest is the speed of a wheel, in mm/s, above which a report is ignored: twice the
	// highest commanded speed. The checksum of a frame has only eight bits.
	fastest = 2 * maxWheelSpeed
)

// WheelSpeeds converts a command to speeds of the wheels in mm/s.
func WheelSpeeds(c codec.PositionCommand) (left, right int16) {
	l, r := wheels.Speeds(float64(c.Speed), float64(c.TurnRate), wheelBase, maxWheelSpeed)
	return int16(math.Round(l)), int16(math.Round(r))
}

// newOdometry returns the odometry of a robot in an unknown state.
func newOdometry() wheels.Counts {
	return wheels.Counts{Odometry: wheels.Odometry{Base: wheelBase}, MMPerCount: mmPerCount, Fastest: fastest, Period: period}
}
