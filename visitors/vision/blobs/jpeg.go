package blobs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"sync"
)

// Markers of JPEG (ITU-T T.81, B.1.1.3).
const (
	startOfImage  = 0xD8
	huffmanTables = 0xC4
	startOfScan   = 0xDA
)

// maxPixels is the largest picture that is decoded: 12 megapixels, the size of the largest
// cameras of a Raspberry Pi. Decoded it takes 18 MB, and the finder takes 8 bytes a pixel. A
// header of a few bytes may claim 4,000 megapixels.
const maxPixels = 4056 * 3040

// Decode decodes a JPEG, also one without Huffman tables: many USB cameras leave out the
// standard tables, which MJPEG then implies (T.81, K.3). Its size is bounded.
func Decode(picture []byte) (*image.YCbCr, error) {
	if at := scanWithoutTables(picture); at > 0 {
		picture = bytes.Join([][]byte{picture[:at], usualTables(), picture[at:]}, nil)
	}
	head, err := jpeg.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	if int64(head.Width)*int64(head.Height) > maxPixels {
		return nil, fmt.Errorf("the picture has %d x %d pixels, at most %d are looked at: set a smaller size at the camera", head.Width, head.Height, maxPixels)
	}
	m, err := jpeg.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	colored, ok := m.(*image.YCbCr)
	if !ok {
		return nil, fmt.Errorf("the picture is %T: colours are looked for in pictures in YCbCr, as cameras send them", m)
	}
	return colored, nil
}

// scanWithoutTables returns where the first scan of a picture begins, if no Huffman tables
// come before it, else 0.
func scanWithoutTables(picture []byte) int {
	for at := 2; at+4 <= len(picture) && picture[at] == 0xFF; {
		switch picture[at+1] {
		case huffmanTables:
			return 0
		case startOfScan:
			return at
		}
		at += 2 + int(binary.BigEndian.Uint16(picture[at+2:]))
	}
	return 0
}

// usualTables returns the segments with the Huffman tables of the standard: those that the
// encoder of Go writes.
var usualTables = sync.OnceValue(func() []byte {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, image.NewYCbCr(image.Rect(0, 0, 8, 8), image.YCbCrSubsampleRatio420), nil); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	tables, err := segments(out.Bytes(), huffmanTables)
	if err != nil {
		panic(err) // it is a JPEG
	}
	return tables
})

// segments returns the segments of one kind that come before the first scan of a picture.
func segments(picture []byte, kind byte) (found []byte, err error) {
	for at := 2; at+4 <= len(picture); {
		size := 2 + int(binary.BigEndian.Uint16(picture[at+2:]))
		switch picture[at+1] {
		case startOfScan:
			return found, nil
		case kind:
			found = append(found, picture[at:at+size]...)
		}
		at += size
	}
	return nil, errors.New("the picture has no scan")
}
