package create

import (
	"math"

	"player/simulation/emulator/line"
)

// A field is a sensor packet: its number and its size in bytes. The order is the
// specification's, and groups have the same order.
type field struct{ packet, size byte }

// fields are all packets with one value. 16, 32 and 33 are "unused", and zero.
var fields = []field{
	{7, 1}, {8, 1}, {9, 1}, {10, 1}, {11, 1}, {12, 1}, {13, 1}, {14, 1}, {15, 1}, {16, 1},
	{17, 1}, {18, 1}, {19, 2}, {20, 2},
	{21, 1}, {22, 2}, {23, 2}, {24, 1}, {25, 2}, {26, 2},
	{27, 2}, {28, 2}, {29, 2}, {30, 2}, {31, 2}, {32, 1}, {33, 2}, {34, 1},
	{35, 1}, {36, 1}, {37, 1}, {38, 1}, {39, 2}, {40, 2}, {41, 2}, {42, 2},
	{43, 2}, {44, 2}, {45, 1}, {46, 2}, {47, 2}, {48, 2}, {49, 2}, {50, 2}, {51, 2}, {52, 1}, {53, 1},
	{54, 2}, {55, 2}, {56, 2}, {57, 2}, {58, 1},
}

// groups are the first and last packet of each group packet.
var groups = map[byte][2]byte{
	0: {7, 26}, 1: {7, 16}, 2: {17, 20}, 3: {21, 26}, 4: {27, 34}, 5: {35, 42}, 6: {7, 42},
	100: {7, 58}, 101: {43, 58}, 106: {46, 51}, 107: {54, 58},
}

// data appends the bytes of a packet, high byte first. For an unspecified packet it appends
// nothing (assumed).
func (r *Robot) data(to []byte, packet byte) []byte {
	bounds, group := groups[packet]
	if !group {
		bounds = [2]byte{packet, packet}
	}
	for _, f := range fields {
		if f.packet < bounds[0] || f.packet > bounds[1] {
			continue
		}
		v := r.sensor(f.packet)
		if f.size == 2 {
			to = append(to, byte(v>>8))
		}
		to = append(to, byte(v))
	}
	return to
}

// The readings of a robot in an empty room some time after charging (assumed).
const (
	millivolts  = 15600
	milliamps   = -300
	celsius     = 25
	charge      = 2100 // mAh
	capacity    = 2696 // mAh
	floorSignal = 2500 // of a cliff sensor over a floor
)

// sensor returns the value of a packet. A distance or an angle is reported once.
func (r *Robot) sensor(packet byte) (v int) {
	bit := func(b bool) int { return int(line.Bit(b)) }
	s := &r.state
	switch packet {
	case 7:
		return int(r.bumps)
	case 9, 10, 11, 12:
		return bit(r.cliffs[packet-9])
	case 18:
		return int(r.buttons)
	case 19:
		v, r.way = whole(r.way)
	case 20:
		v, r.turn = whole(r.turn)
	case 21:
		return 2 * bit(r.charger)
	case 22:
		return millivolts
	case 23:
		return milliamps
	case 24:
		return celsius
	case 25:
		return charge
	case 26:
		return capacity
	case 28, 29, 30, 31:
		return floorSignal * (1 - bit(r.cliffs[packet-28]))
	case 34:
		return 2 * bit(r.charger)
	case 35:
		return s.Mode
	case 36:
		return r.song
	case 37:
		return bit(r.at < r.songEnds)
	case 38:
		return len(r.packets)
	case 39:
		return r.velocity
	case 40:
		return r.radius
	case 41:
		return s.Right
	case 42:
		return s.Left
	case 43:
		return int(math.Floor(r.counts[0]))
	case 44:
		return int(math.Floor(r.counts[1]))
	case 58:
		return bit(s.Left+s.Right > 0)
	}
	return v
}

// whole returns the part of a sum that fits 16 bits, and the rest, which is reported later: the
// fraction, and the excess over the specification's limit.
func whole(sum float64) (n int, rest float64) {
	n = int(math.Trunc(sum))
	if n > math.MaxInt16 || n < math.MinInt16 {
		return max(math.MinInt16, min(n, math.MaxInt16)), 0
	}
	return n, sum - float64(n)
}
