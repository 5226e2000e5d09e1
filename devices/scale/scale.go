// Package scale finds scales that a person has set and that cannot be right: a robot would be ten times as fast as its
// command, have a battery of 1000 V, or see farther than its sensors do. It changes no data. Callers pass the time.
package scale

import (
	"math"
	"time"

	"go.uber.org/zap"
)

// LogScale is a message of the log, by which tests find lines.
const LogScale = "a scale may be wrong"

// A scale is wrong by a factor of 10, 100 or 1000, in most cases: a board sends another unit. A smaller factor
// than 5 may come from a worn tyre, a slope or a robot that slips.
const least = 5

// wrong returns by which factor reported values are too large, for the factor that was found. A factor near 10, 100 or
// 1000, or near their reciprocals, is that. radians: so is one near 180/pi, of angles.
func wrong(found float64, radians bool) (factor float64, plain bool) {
	const near = 2.5
	if perRadian := 180 / math.Pi; radians && math.Abs(math.Log(found*perRadian)) < 0.2 {
		return 1 / perRadian, true
	}
	power := math.Pow10(int(math.Round(math.Log10(found))))
	if found > power/near && found < power*near && power >= 1e-3 && power <= 1e3 {
		return power, true
	}
	digits := math.Pow10(int(math.Floor(math.Log10(found))))
	return math.Round(found/digits) * digits, false
}

// Way compares the way that hardware reports with the speed that it was commanded. Both have one unit, mm or degrees.
type Way struct {
	Slow    float64 // units/s; slower commands are not judged: a robot may not obey them
	Fast    float64 // units/s; faster than this it is never commanded
	Radians bool    // the units are degrees

	begun    bool
	found    bool          // there was a factor; no other is searched
	speed    float64       // commanded
	since    time.Duration // this command is judged from then on; in the future: it is accelerating
	at       time.Duration // of the last Update
	halves   [2]float64    // reported in the first and the second half of a window
	jump     float64       // the largest way of one Update in the window: a counter may have begun anew
	way      float64       // reported in the last second
	wayJump  float64       // the largest way of one Update in that second
	wayBegan time.Duration
}

const (
	settle = time.Second     // acceleration: 300 mm/s² reach the usual speeds
	window = 3 * time.Second // 1 m at a usual speed: a count or a whole cm more or less does not matter
)

// Update takes the way since the last Update, and the commanded speed. It returns by which factor ways are too large, when
// that is certain for the first time; 0: it is not.
func (w *Way) Update(now time.Duration, way, speed float64) (factor float64) {
	steady := w.begun && math.Abs(speed-w.speed) <= math.Abs(w.speed)/10
	gap := now - w.at
	w.at = now
	if w.found {
		return 0
	}
	if !w.begun || gap > settle { // it was gone
		w.begun, w.way, w.wayJump, w.wayBegan = true, 0, 0, now
		steady = false
	} else {
		factor = w.impossible(now, way)
	}
	if !steady {
		w.speed, w.since, w.halves, w.jump = speed, now+settle, [2]float64{}, 0
	}
	if now <= w.since || math.Abs(speed) < w.Slow {
		w.found = factor != 0 && math.Abs(speed) < w.Slow
		if !w.found {
			factor = 0
		}
		return factor
	}
	half := 0
	if now-w.since > window/2 {
		half = 1
	}
	w.halves[half] += way
	w.jump = max(w.jump, math.Abs(way))
	if now-w.since < window {
		return 0
	}
	factor = w.judge((now - w.since).Seconds())
	w.found, w.since, w.halves, w.jump = factor != 0, now, [2]float64{}, 0
	return factor
}

// judge returns the factor of a window, 0 if there is none. A robot that is blocked reports too little, but not evenly by
// a factor that a wrong unit would give.
func (w *Way) judge(seconds float64) float64 {
	a, b := math.Abs(w.halves[0]), math.Abs(w.halves[1])
	way, told := math.Abs(w.halves[0]+w.halves[1]), math.Abs(w.speed)*seconds
	if way == 0 {
		return 0
	}
	factor, plain := wrong(way/told, w.Radians)
	if way-w.jump >= least*told || way*least <= told && plain && min(a, b) > max(a, b)/2 {
		return factor
	}
	return 0
}

// impossible returns a factor if the hardware was ten times faster than its highest speed for a second, also if it was
// pushed.
func (w *Way) impossible(now time.Duration, way float64) (factor float64) {
	w.way += way
	w.wayJump = max(w.wayJump, math.Abs(way))
	if seconds := (now - w.wayBegan).Seconds(); seconds >= 1 {
		if fast := (math.Abs(w.way) - w.wayJump) / seconds / w.Fast; w.Fast > 0 && fast >= 10 {
			factor, _ = wrong(2*fast, false) // at half of its speed, which is usual
		}
		w.way, w.wayJump, w.wayBegan = 0, 0, now
	}
	return factor
}

// Battery judges the voltage of a battery.
type Battery struct {
	found bool
	since time.Duration // when it began to be impossible; 0: it is not
}

const (
	// Robots have one cell of 3 V to the 80 V of fork lifts. Without a battery, a board that is fed by USB measures next to
	// nothing.
	mostVolts, leastVolts, noVolts = 120, 2, 0.005
	batteryTime                    = 5 * time.Second // a board that boots may measure anything
)

// Update takes a voltage. It returns by which factor voltages are too large, when that is certain for the first time.
func (b *Battery) Update(now time.Duration, volts float64) (factor float64) {
	possible := volts <= mostVolts && volts >= leastVolts || volts < noVolts
	switch {
	case b.found:
	case possible:
		b.since = 0
	case b.since == 0:
		b.since = max(now, 1)
	case now-b.since >= batteryTime:
		b.found = true
		for _, factor := range [...]float64{10, 100, 1000, 0.1, 0.01, 0.001} {
			if v := volts / factor; v >= 5 && v <= 60 {
				return factor
			}
		}
	}
	return 0
}

// Ranges judges distances. A distance of which the sensor itself says that nothing is in range is no distance.
type Ranges struct {
	found       bool
	since       time.Duration
	count       int
	far, near   int     // readings beyond the sensor's limit, and nearer than any sensor measures
	least, most float64 // mm
	limit       float64 // mm, the smallest one of these readings
}

const (
	rangesTime = 10 * time.Second // a robot may look into the sky for as long
	fewRanges  = 20
	nearest    = 20 // mm: sonars and lidars measure no less
)

// Update takes a distance in mm, and the largest one that its sensor measures. It returns by which factor distances are too
// large, when that is certain for the first time: all of them have been beyond the limit, and they are not the same, which
// would be how the sensor says that it sees nothing.
func (r *Ranges) Update(now time.Duration, mm, limit float64) (factor float64) {
	if r.found || !(mm > 0) || math.IsInf(mm, 0) {
		return 0
	}
	if r.count == 0 {
		*r = Ranges{since: now, least: mm, most: mm, limit: limit}
	}
	r.count++
	r.least, r.most, r.limit = min(r.least, mm), max(r.most, mm), min(r.limit, limit)
	if mm > limit {
		r.far++
	}
	if mm < nearest {
		r.near++
	}
	if r.far < r.count && r.near < r.count {
		r.count, r.far, r.near = 0, 0, 0 // at least one is possible
		return 0
	}
	if now-r.since < rangesTime || r.count < fewRanges || r.most < 1.1*r.least {
		return 0
	}
	r.found = true
	for _, factor := range [...]float64{10, 100, 1000} {
		if r.far > 0 && r.most/factor <= 1.2*r.limit {
			return factor
		}
	}
	for _, factor := range [...]float64{1e-3, 1e-2, 1e-1} {
		if r.near > 0 && r.most/factor <= 1.2*r.limit {
			return factor
		}
	}
	return 0
}

// Warn says that a scale may be wrong: its place, its value, a value that fits, and the reason.
func Warn(log *zap.Logger, place, is, fits, why string) {
	log.Warn(LogScale, zap.String("place", place), zap.String("is", is), zap.String("would fit", fits), zap.String("because", why))
}
