// Package compact is the compact form of a frame (PROTOCOL 8.4): smaller, and
// without loss. It is pure: bytes in, bytes out. Each frame decodes by itself.
// Numbers in comments are clauses of docs/PROTOCOL.md.
package compact

// The range coder (8.4.4). It codes decisions, each with a probability that adapts: an
// expected decision takes a small part of a bit.

const (
	// certain is a probability of 1; probabilities are below.
	certain = 1 << 16
	// rarest keeps a probability from 0 and 1, where the other outcome could not be
	// coded.
	rarest = 32
	// settled is the number of decisions after which a probability adapts no slower:
	// it follows changes within a scan.
	settled = 40
	// full is the smallest range between two decisions.
	full = 1 << 24
)

// chance is the probability that a decision is 1, learnt from those before it.
type chance struct {
	p uint32 // of certain; zero means a half
	n uint32 // decisions so far
}

// rates are how far a probability moves with the n-th decision, of certain: 5/(5n+8).
// The first ones count most.
var rates = func() (r [settled + 1]uint32) {
	for n := range r {
		r[n] = uint32(certain * 5 / (5*n + 8))
	}
	return r
}()

// odds returns the probability.
func (c *chance) odds() uint32 {
	if c.n == 0 {
		return certain / 2
	}
	return c.p
}

// learn adapts to an outcome.
func (c *chance) learn(one bool) {
	p, rate := c.odds(), rates[c.n]
	if one {
		p += (certain - p) * rate >> 16
	} else {
		p -= p * rate >> 16
	}
	c.p = max(rarest, min(p, certain-rarest))
	c.n = min(c.n+1, settled)
}

// encoder appends the code of decisions to dst.
type encoder struct {
	dst   []byte
	start int // of the code in dst
	low   uint64
	width uint32
}

func newEncoder(dst []byte) encoder {
	return encoder{dst: dst, start: len(dst), width: 1<<32 - 1}
}

// split returns the part of the range that stands for 1.
func split(width, odds uint32) uint32 { return uint32(uint64(width) * uint64(odds) >> 16) }

// put codes a decision.
func (e *encoder) put(c *chance, one bool) {
	bound := split(e.width, c.odds())
	c.learn(one)
	if one {
		e.width = bound
	} else {
		e.low += uint64(bound)
		e.width -= bound
	}
	e.normalize()
}

// putEven codes the lowest n bits of v, 16 at most, all as likely as their opposites.
func (e *encoder) putEven(v uint32, n int) {
	e.width >>= n
	e.low += uint64(v&(1<<n-1)) * uint64(e.width)
	e.normalize()
}

// normalize moves the decided bytes to dst, and adds a carry to the bytes before them.
func (e *encoder) normalize() {
	if e.low >= 1<<32 {
		e.carry()
	}
	for e.width < full {
		e.dst = append(e.dst, byte(e.low>>24))
		e.low = e.low << 8 & (1<<32 - 1)
		e.width <<= 8
	}
}

// carry adds 1 to the bytes that are in dst already.
func (e *encoder) carry() {
	e.low -= 1 << 32
	i := len(e.dst) - 1
	for e.dst[i]++; e.dst[i] == 0; e.dst[i]++ {
		i--
	}
}

// finish ends the code and returns dst. The decoder reads zeros behind the end, so
// the code is the value of the range with the most zeros at its end, without these.
func (e *encoder) finish() []byte {
	top := e.low + uint64(e.width) - 1
	for shift := 24; shift >= 0; shift -= 8 {
		v := top >> shift << shift
		if v >= e.low {
			e.low = v
			break
		}
	}
	if e.low >= 1<<32 {
		e.carry()
	}
	for shift := 24; shift >= 0; shift -= 8 {
		e.dst = append(e.dst, byte(e.low>>shift))
	}
	for len(e.dst) > e.start && e.dst[len(e.dst)-1] == 0 {
		e.dst = e.dst[:len(e.dst)-1]
	}
	return e.dst
}

// decoder reads decisions from a code.
type decoder struct {
	src   []byte
	code  uint32 // the first 4 bytes of the code, less the low end of the range
	width uint32
}

func newDecoder(src []byte) decoder {
	d := decoder{src: src, width: 1<<32 - 1}
	for range 4 {
		d.code = d.code<<8 | d.next()
	}
	return d
}

// next returns the next byte of the code, zero behind its end.
func (d *decoder) next() uint32 {
	if len(d.src) == 0 {
		return 0
	}
	b := d.src[0]
	d.src = d.src[1:]
	return uint32(b)
}

// get reads a decision.
func (d *decoder) get(c *chance) (one bool) {
	if bound := split(d.width, c.odds()); d.code < bound {
		d.width, one = bound, true
	} else {
		d.code -= bound
		d.width -= bound
	}
	c.learn(one)
	d.normalize()
	return one
}

// getEven reads a number of n bits.
func (d *decoder) getEven(n int) (v uint32) {
	d.width >>= n
	v = min(d.code/d.width, 1<<n-1)
	d.code -= v * d.width
	d.normalize()
	return v
}

func (d *decoder) normalize() {
	for d.width < full {
		d.code = d.code<<8 | d.next()
		d.width <<= 8
	}
}
