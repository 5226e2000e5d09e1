package codec

import (
	"encoding/binary"
	"fmt"
)

const (
	// NoAge is the age of a device that has not had data yet (PROTOCOL 8.1).
	NoAge uint32 = 0xFFFFFFFF
	// MaxAge is the greatest age that can be told, in us: 71 minutes. Older
	// data is told as this old.
	MaxAge uint32 = NoAge - 1

	freshnessBase = 8 // bytes of the time
)

// FreshnessData is the block of device y (PROTOCOL 8.1): when the frame was
// made and how old its data was then.
type FreshnessData struct {
	Time uint64   // us since the server started
	Ages []uint32 // us, one for every other block of the frame, in frame order; NoAge: no data yet
}

// Append appends the payload: 8 bytes and 4 for each age.
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
		return fmt.Errorf("freshness payload has %d bytes, want 8 and 4 for each age", len(b))
	}
	d.Time = binary.BigEndian.Uint64(b)
	d.Ages = d.Ages[:0]
	for b = b[freshnessBase:]; len(b) > 0; b = b[4:] {
		d.Ages = append(d.Ages, binary.BigEndian.Uint32(b))
	}
	return nil
}
