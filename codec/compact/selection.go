package compact

import (
	"encoding/binary"

	"player/codec"
)

// Part of a laser scan (8.4.7): the numbers of readings in the whole scan, of the
// first selected one, of the step and of the selected ones; the unit; and the ranges.

// centimetre is the unit of a scan in centimetres, in mm.
const centimetre = 10

// appendSelected appends the code of the selected readings of a scan.
func appendSelected(dst, payload []byte, scan codec.Scan) []byte {
	total := len(payload) / 2
	step, last, unit := max(int(scan.Step), 1), min(int(scan.Last), total-1), 1
	if scan.Centimetres {
		unit = centimetre
	}
	count := 0
	if last >= int(scan.First) {
		count = (last-int(scan.First))/step + 1
	}
	for _, v := range []int{total, int(scan.First), step, count} {
		dst = binary.AppendUvarint(dst, uint64(v))
	}
	dst = append(dst, byte(unit))
	var ranges [codec.LaserSize]byte // on the stack; larger scans allocate
	selected := ranges[:0]
	for i := range count {
		r := int(binary.BigEndian.Uint16(payload[2*(int(scan.First)+i*step):]))
		selected = binary.BigEndian.AppendUint16(selected, uint16((r+unit/2)/unit))
	}
	return AppendRanges(dst, selected)
}

// decodeSelected returns the whole scan. Readings that were not selected are 0.
func (r *Reader) decodeSelected(code []byte) (payload []byte, ok bool) {
	var head [4]uint64
	for i := range head {
		v, n := binary.Uvarint(code)
		if n <= 0 || v > maxReadings {
			return nil, false
		}
		head[i], code = v, code[n:]
	}
	total, first, step, count := int(head[0]), int(head[1]), int(head[2]), int(head[3])
	if len(code) == 0 || step == 0 || count > 0 && first+(count-1)*step >= total {
		return nil, false
	}
	unit := int(code[0])
	r.grow(2 * (total + count)) // the selected ones behind the scan
	selected := r.payload[2*total:]
	if !DecodeRanges(selected, code[1:]) {
		return nil, false
	}
	for i := range count {
		mm := int(binary.BigEndian.Uint16(selected[2*i:])) * unit
		if mm > 1<<16-1 {
			mm = 1<<16 - 1 // rounded up
		}
		binary.BigEndian.PutUint16(r.payload[2*(first+i*step):], uint16(mm))
	}
	return r.payload[:2*total], true
}
