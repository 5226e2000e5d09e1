package sick

import (
	"encoding/binary"
	"math"
)

// A Unit is the unit of a measured value.
type Unit int

const (
	MM Unit = iota
	CM
	DM // 10 cm
)

// units holds the code in the configuration and in a scan, and the size in mm.
var units = map[Unit]struct{ code, mm int }{MM: {1, 1}, CM: {0, 10}, DM: {2, 100}}

// A variant is the angle and resolution of a scan: degrees, and hundredths of
// a degree.
type variant struct{ angle, resolution int }

// variants are those that an LMS 200 supports.
var variants = map[variant]bool{
	{180, 100}: true, {180, 50}: true, {100, 100}: true, {100, 50}: true, {100, 25}: true,
}

// values returns the number of values in a scan, both ends included.
func (v variant) values() int { return v.angle*100/v.resolution + 1 }

// Values is the number of values in a scan of 180 degrees in steps of half a degree, right to left.
const Values = 361

const (
	valueBits = 13 // of a value; the three above are flags
	maxValue  = 1<<valueBits - 1
)

// appendScan appends the body of the measurement telegram for all values (B0),
// or, if first > 0, for values first to last, counted from 1 (B7).
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
		// Ranges are set per half degree: a finer scan uses each twice, a
		// narrower one uses the middle.
		at := (180-l.variant.angle)*100/2 + i*l.variant.resolution // 1/100 degree from the right
		v := min(int(l.ranges[at/50])/unit.mm, maxValue) | int(l.flags[at/50])<<valueBits
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v))
	}
	if l.config[configAvailable]&2 != 0 { // indices of the scan and of the telegram (sicktoolbox, _parseSickScanProfileB0)
		dst = append(dst, byte(l.scans), byte(l.scans))
	}
	return append(dst, l.status)
}

// corridor returns the default ranges: walls 1.5 m to the left and right, and
// one 3 m ahead, in mm.
func corridor() (mm [Values]uint16) {
	for i := range mm {
		sin, cos := math.Sincos(float64(i) / 2 * math.Pi / 180) // from the right
		mm[i] = uint16(math.Round(min(1500/math.Abs(cos), 3000/math.Abs(sin))))
	}
	return mm
}
