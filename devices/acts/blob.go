package acts

const (
	maxDigit = 63        // six bits
	maxArea  = 1<<24 - 1 // four digits of six bits
)

// Blob is one patch of a channel's colour in the camera image. Coordinates are
// pixels from the top left.
type Blob struct {
	Channel                        int // 0 to 31
	Area                           int // pixels, 0 to 16777215
	X, Y, Left, Right, Top, Bottom int // 0 to 254 in V10, to 4095 in V12
}

// coordinates are the numbers of a blob in the order of the wire.
func (b *Blob) coordinates() [6]*int {
	return [...]*int{&b.X, &b.Y, &b.Left, &b.Right, &b.Top, &b.Bottom}
}

// AppendBlobs appends the blobs of a packet that a Parser of this version
// returned, in channel order.
func (v Version) AppendBlobs(dst []Blob, p Packet) []Blob {
	blobs := p[v.headerSize():]
	for channel := range Channels {
		count, _ := v.number(p[(2*channel+1)*v.width():])
		for range count {
			b, _ := v.decodeBlob(blobs)
			b.Channel = channel
			dst = append(dst, b)
			blobs = blobs[v.blobSize():]
		}
	}
	return dst
}

// AppendPacket appends the packet of blobs, which are in channel order. Blobs
// of a channel beyond the tenth are left out, numbers beyond what the version
// can carry are clipped to that. It holds for a channel's index, too, from the
// 255th blob on in V10, where the counts alone then tell where blobs are.
func (v Version) AppendPacket(dst []byte, blobs []Blob) []byte {
	var counts [Channels]int
	for _, b := range blobs {
		counts[b.Channel]++
	}
	index := 0
	for _, count := range counts {
		count = min(count, MaxBlobs)
		dst = v.appendNumber(dst, index)
		dst = v.appendNumber(dst, count)
		index += count
	}
	for i := range blobs {
		// The tenth before this one of the same channel makes this the eleventh.
		if i >= MaxBlobs && blobs[i-MaxBlobs].Channel == blobs[i].Channel {
			continue
		}
		dst = v.appendBlob(dst, blobs[i])
	}
	return dst
}

// AppendV10 appends to dst, for Player's clients, the version 1.0 of a packet
// that a V12 Parser returned. Coordinates beyond 254 are clipped to that.
func AppendV10(dst []byte, p Packet) []byte {
	var room [Channels * MaxBlobs]Blob
	return V10.AppendPacket(dst, V12.AppendBlobs(room[:0], p))
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

// appendNumber appends a number, clipped to maxNumber.
func (v Version) appendNumber(dst []byte, n int) []byte {
	n = max(0, min(n, v.maxNumber()))
	if v == V10 {
		return append(dst, byte(n+1))
	}
	return appendDigits(dst, n, 2)
}

// decodeBlob reads the blob at the start of b but for its channel.
func (v Version) decodeBlob(b []byte) (blob Blob, ok bool) {
	blob.Area, ok = digits(b[:areaSize])
	b = b[areaSize:]
	for _, n := range blob.coordinates() {
		var good bool
		*n, good = v.number(b)
		ok = ok && good
		b = b[v.width():]
	}
	return blob, ok
}

func (v Version) appendBlob(dst []byte, b Blob) []byte {
	dst = appendDigits(dst, max(0, min(b.Area, maxArea)), areaSize)
	for _, n := range b.coordinates() {
		dst = v.appendNumber(dst, *n)
	}
	return dst
}

// digits reads b as digits of six bits, the highest first.
func digits(b []byte) (n int, ok bool) {
	for _, d := range b {
		if d == 0 || d > maxDigit+1 {
			return 0, false
		}
		n = n<<6 | int(d-1)
	}
	return n, true
}

// appendDigits appends n in count digits of six bits, the highest first.
func appendDigits(dst []byte, n, count int) []byte {
	for shift := 6 * (count - 1); shift >= 0; shift -= 6 {
		dst = append(dst, byte(n>>shift&maxDigit)+1)
	}
	return dst
}
