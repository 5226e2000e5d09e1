package compact

import (
	"encoding/binary"
	"math/bits"
)

// Range readings (8.4.5): u16, high byte first. Each is predicted from those before
// it, and the difference is coded.
//
// The constants were chosen on scans of a simulated robot that drives through an
// office, with noise of 0, 5 and 10 mm. They are part of the protocol.

const (
	// steps is how many steps are counted one by one; longer differences have a
	// number of bits.
	steps = 4
	// levels is the number of classes of spread.
	levels = 18
	// jump is the difference beyond which another object begins. It is no evidence
	// of the spread or the slope of either.
	jump = 400
	// spread0 is the spread with which a scan begins, in 1/16 of a reading's unit.
	spread0 = 30 * 16
	// longest is the most bits of the number of steps of a difference.
	longest = 16
)

// predictor predicts the next reading. Encoder and decoder run it on the same
// readings.
type predictor struct {
	straight bool  // from the last two readings: best without noise
	last     int32 // the reading before; 0 before the first
	before   int32 // the reading before that, or last behind a jump
	slope    int32 // change from reading to reading, smoothed, in 1/256
	spread   int32 // mean size of the differences, smoothed, in 1/16
}

func (p *predictor) next() int32 {
	r := p.last + (p.slope+128)>>8
	if p.straight {
		r = 2*p.last - p.before
	}
	return max(0, min(r, 1<<16-1))
}

// level returns the class of the spread: two for each doubling.
func (p *predictor) level() int {
	if p.spread < 16 {
		return 0
	}
	n := bits.Len32(uint32(p.spread)) - 5 // doublings
	half := int(p.spread>>(n+3)) & 1
	return min(2*n+half, levels-1)
}

// learn adapts to a reading and its difference from next.
func (p *predictor) learn(r, difference int32) {
	size := difference
	if size < 0 {
		size = -size
	}
	if size > jump {
		p.slope, p.before = 0, r
	} else {
		p.spread += (16*size - p.spread) * 3 >> 3
		p.slope += (256*(r-p.last) - p.slope) >> 2
		p.before = p.last
	}
	p.last = r
}

// chances are the probabilities of a difference. The unit of the difference is a power of
// two near the spread.
type chances struct {
	same  [levels]chance      // it is zero; by level
	count [2][steps]chance    // it has n steps, not more; by level modulo 2
	long  [longest + 1]chance // the number of steps has n bits, not more
}

// AppendRanges appends the code of the readings in src, u16 each. The size of src is
// even.
func AppendRanges(dst, src []byte) []byte {
	straight := cost(src, true) < cost(src, false)
	e := newEncoder(dst)
	var c chances
	p := predictor{straight: straight, spread: spread0}
	v := uint32(0)
	if straight {
		v = 1
	}
	e.putEven(v, 1)
	for ; len(src) >= 2; src = src[2:] {
		r := int32(binary.BigEndian.Uint16(src))
		d := r - p.next()
		e.difference(&c, p.level(), d)
		p.learn(r, d)
	}
	return e.finish()
}

// cost estimates the size of the code in bits.
func cost(src []byte, straight bool) (total int) {
	p := predictor{straight: straight, spread: spread0}
	for ; len(src) >= 2; src = src[2:] {
		r := int32(binary.BigEndian.Uint16(src))
		d := r - p.next()
		total += bits.Len32(uint32(max(d, -d)))
		p.learn(r, d)
	}
	return total
}

// difference codes a difference: whether it is zero, its sign, and its size.
func (e *encoder) difference(c *chances, level int, d int32) {
	if e.put(&c.same[level], d == 0); d == 0 {
		return
	}
	size, sign := uint32(d), uint32(0)
	if d < 0 {
		size, sign = uint32(-d), 1
	}
	e.putEven(sign, 1)
	size-- // it is not zero
	low := level / 2
	count := int(size >> low)
	for i := range min(count, steps) {
		e.put(&c.count[level%2][i], false)
	}
	if count < steps {
		e.put(&c.count[level%2][count], true)
	} else { // the number of bits, then the bits
		rest := uint32(count - steps + 1)
		n := bits.Len32(rest)
		for i := 1; i < n; i++ {
			e.put(&c.long[i], false)
		}
		e.put(&c.long[n], true)
		e.putEven(rest, n-1)
	}
	e.putEven(size, low)
}

// DecodeRanges decodes the readings in the code src into dst, which has an even size. It
// reports whether src codes readings of u16.
func DecodeRanges(dst, src []byte) bool {
	d := newDecoder(src)
	var c chances
	p := predictor{straight: d.getEven(1) == 1, spread: spread0}
	for ; len(dst) >= 2; dst = dst[2:] {
		difference, ok := d.difference(&c, p.level())
		r := p.next() + difference
		if !ok || r < 0 || r > 1<<16-1 {
			return false
		}
		binary.BigEndian.PutUint16(dst, uint16(r))
		p.learn(r, difference)
	}
	return true
}

// difference reads a difference. ok is false if its number of bits has no code.
func (d *decoder) difference(c *chances, level int) (difference int32, ok bool) {
	if d.get(&c.same[level]) {
		return 0, true
	}
	negative := d.getEven(1) == 1
	low := level / 2
	count := uint32(0)
	for count < steps && !d.get(&c.count[level%2][count]) {
		count++
	}
	if count == steps {
		n := 1
		for !d.get(&c.long[n]) {
			if n++; n > longest {
				return 0, false
			}
		}
		count += (1<<(n-1) | d.getEven(n-1)) - 1
	}
	difference = int32(count<<low|d.getEven(low)) + 1
	if negative {
		difference = -difference
	}
	return difference, true
}
