package sick

import (
	"encoding/binary"
	"math"
)

// A Unit is what a measured value counts.
type Unit int

const (
	MM Unit = iota
	CM
	DM // 10 cm
)

// units are the code in the configuration and in a scan, and the size in mm.
var units = map[Unit]struct{ code, mm int }{MM: {1, 1}, CM: {0, 10}, DM: {2, 100}}

// A variant is what the laser scans: degrees, and hundredths of a degree.
type variant struct{ angle, resolution int }

// variants are those a LMS 200 can do.
var variants = map[variant]bool{
	{180, 100}: true, {180, 50}: true, {100, 100}: true, {100, 50}: true, {100, 25}: true,
}

// values is how many values a scan has: the fence and one post.
func (v variant) values() int { return v.angle*100/v.resolution + 1 }

// Values is the number of values in a scan of 180 degrees in steps of half a degree, right to left.
const Values = 361

const (
	valueBits = 13 // of a value; the three above are flags
	maxValue  = 1<<valueBits - 1
)

// appendScan makes the body of the measurement telegram for all values (B0), or with first > 0 for values first to
// last, counted from 1 (B7).
func (l *Laser) appendScan(dst []byte, first, last int) []byte {
	unit := units[l.unit]
	if first == 0 {
		dst, first, last = append(dst, 0xB0), 1, l.variant.values()
	} else {
		dst = append(dst, 0xB7)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(first))
		dst = binary.LittleEndian.AppendUint16(dst, uint16(last))
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(last-first+1|unit.code<<14))
	for i := first - 1; i < last; i++ {
		// What was set are half degrees: a finer scan sees each twice, a narrower one the middle of it.
		at := (180-l.variant.angle)*100/2 + i*l.variant.resolution // 1/100 degree from the right
		v := min(int(l.ranges[at/50])/unit.mm, maxValue) | int(l.flags[at/50])<<valueBits
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v))
	}
	return append(dst, l.status)
}

// corridor is what a laser sees that nobody has set: walls 1.5 m to the left and right, and one 3 m ahead, in mm.
func corridor() (mm [Values]uint16) {
	for i := range mm {
		sin, cos := math.Sincos(float64(i) / 2 * math.Pi / 180) // from the right
		mm[i] = uint16(math.Round(min(1500/math.Abs(cos), 3000/math.Abs(sin))))
	}
	return mm
}
