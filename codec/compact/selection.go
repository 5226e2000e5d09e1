package compact

import (
	"encoding/binary"
	"math"

	"player/codec"
)

// Part of a laser scan (8.4.7): the numbers of the first selected reading, of the step,
// of the selected readings, and of mm in a unit; and the ranges in units.

// appendSelected appends the code of the selected readings of a scan.
func appendSelected(dst, payload []byte, scan codec.Scan) []byte {
	first, last := int(scan.First), min(int(scan.Last), codec.LaserCount-1)
	step, unit := max(int(scan.Step), 1), max(int(scan.Unit), 1)
	count := 0
	if last >= first {
		count = (last-first)/step + 1
	}
	for _, v := range []int{first, step, count, unit} {
		dst = binary.AppendUvarint(dst, uint64(v))
	}
	var ranges [codec.LaserSize]byte
	selected := ranges[:0]
	for i := range count {
		r := int(binary.BigEndian.Uint16(payload[2*(first+i*step):]))
		selected = binary.BigEndian.AppendUint16(selected, uint16((r+unit/2)/unit))
	}
	return AppendRanges(dst, selected)
}

// decodeSelected returns the complete scan. Unselected readings are 0.
func (r *Reader) decodeSelected(code []byte) (payload []byte, ok bool) {
	var head [4]int
	for i := range head {
		v, n := binary.Uvarint(code)
		if n <= 0 || v > math.MaxUint16 {
			return nil, false
		}
		head[i], code = int(v), code[n:]
	}
	first, step, count, unit := head[0], head[1], head[2], head[3]
	if step == 0 || count > 0 && first+(count-1)*step >= codec.LaserCount {
		return nil, false
	}
	var ranges [codec.LaserSize]byte
	selected := ranges[:2*count]
	if !DecodeRanges(selected, code) {
		return nil, false
	}
	r.grow(codec.LaserSize)
	for i := range count {
		mm := int(binary.BigEndian.Uint16(selected[2*i:])) * unit
		binary.BigEndian.PutUint16(r.payload[2*(first+i*step):], uint16(min(mm, math.MaxUint16)))
	}
	return r.payload, true
}
