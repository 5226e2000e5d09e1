package acts

import "player/codec"

// Decode reads the blobs of a packet that a Parser of this version returned, reusing d.Blobs.
// In V12 coordinates are up to 4095.
func (v Version) Decode(d *codec.VisionData, p Packet) {
	blobs := p[v.headerSize():]
	d.Blobs = d.Blobs[:0]
	for channel := range d.Count {
		count, _ := v.number(p[(2*channel+1)*v.width():])
		for range count {
			b, _ := v.decodeBlob(blobs)
			d.Blobs = append(d.Blobs, b)
			blobs = blobs[v.blobSize():]
		}
		d.Count[channel] = uint8(count)
	}
}

// number reads the number at the start of b; ok is false if one of its bytes
// is zero or too large.
func (v Version) number(b []byte) (n int, ok bool) {
	if v == V10 {
		return int(b[0]) - 1, b[0] != 0
	}
	return digits(b[:2])
}

// maxNumber is the largest number, 254 or 4095.
func (v Version) maxNumber() int {
	if v == V10 {
		return 254
	}
	return 1<<12 - 1
}

// decodeBlob reads the blob at the start of b.
func (v Version) decodeBlob(b []byte) (blob codec.Blob, ok bool) {
	blob.Area, ok = digits(b[:areaSize])
	b = b[areaSize:]
	for _, n := range []*int{&blob.X, &blob.Y, &blob.Left, &blob.Right, &blob.Top, &blob.Bottom} {
		var good bool
		*n, good = v.number(b)
		ok = ok && good
		b = b[v.width():]
	}
	return blob, ok
}

// digits reads b as digits of six bits, the highest first.
func digits(b []byte) (n int, ok bool) {
	const most = 63
	for _, d := range b {
		if d == 0 || d > most+1 {
			return 0, false
		}
		n = n<<6 | int(d-1)
	}
	return n, true
}
