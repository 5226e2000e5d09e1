package codec

import (
	"encoding/binary"
	"fmt"
)

const (
	// NoAge is the age of a device that has no data yet (PROTOCOL 8.1).
	NoAge uint32 = 0xFFFFFFFF
	// MaxAge is the greatest age that fits, in us: 71 minutes. Older data is
	// reported with this age.
	MaxAge uint32 = NoAge - 1

	freshnessBase = 8 // bytes of the time field
)

// FreshnessData is the block of device y (PROTOCOL 8.1): the time of the frame
// and the age of its data at that time.
type FreshnessData struct {
	Time uint64   // us since the server started
	Ages []uint32 // us, one for every other block of the frame, in frame order; NoAge if there is no data yet
}

// Append appends the payload: 8 bytes, then 4 for each age.
func (d *FreshnessData) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, d.Time)
	for _, age := range d.Ages {
		dst = binary.BigEndian.AppendUint32(dst, age)
	}
	return dst
}

// Decode reads a payload, reusing d.Ages.
func (d *FreshnessData) Decode(b []byte) error {
	if len(b) < freshnessBase || (len(b)-freshnessBase)%4 != 0 {
		return fmt.Errorf("freshness payload has %d bytes, want 8 plus 4 for each age", len(b))
	}
	d.Time = binary.BigEndian.Uint64(b)
	d.Ages = d.Ages[:0]
	for b = b[freshnessBase:]; len(b) > 0; b = b[4:] {
		d.Ages = append(d.Ages, binary.BigEndian.Uint32(b))
	}
	return nil
}
