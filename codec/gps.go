package codec

import (
	"encoding/binary"
	"math"
)

// GPSSize is the size of the payload in bytes.
const GPSSize = 2 + 7*4 + 8

// UnknownAmount is the value of a field of GPSData that has no sign and is not known.
const UnknownAmount = math.MaxUint32

// Fix is how a receiver has found its position.
type Fix uint8

const (
	NoFix      Fix = iota // it has no position
	PlainFix              // from satellites alone
	DGPSFix               // with corrections of a base station or of other satellites
	FloatFix              // RTK, not settled: some decimetres
	RTKFix                // RTK, settled: some centimetres
	DeadReckon            // estimated from the last fix
	UnknownFix Fix = 255
)

// UnknownSatellites is the value of GPSData.Satellites if their number is not known.
const UnknownSatellites = 255

// GPSData is where a satellite receiver is (PROTOCOL 7.11).
type GPSData struct {
	Fix        Fix    `json:"fix"`
	Satellites uint8  `json:"satellites"`     // used; or UnknownSatellites
	Latitude   int32  `json:"latitude_e7"`    // 1e-7 deg (11 mm), WGS 84, north; or Unknown
	Longitude  int32  `json:"longitude_e7"`   // 1e-7 deg, WGS 84, east; or Unknown
	Height     int32  `json:"height_mm"`      // above mean sea level; or Unknown
	Horizontal uint32 `json:"horizontal_mm"`  // standard deviation of the place; or UnknownAmount
	Vertical   uint32 `json:"vertical_mm"`    // standard deviation of the height; or UnknownAmount
	Time       uint64 `json:"time_ms"`        // UTC, ms since 1970; 0: not known
	Speed      uint32 `json:"speed_mm_per_s"` // over ground; or UnknownAmount
	Course     uint32 `json:"course_mdeg"`    // over ground, 0..359999 clockwise from north; or UnknownAmount
}

// UnknownGPS returns data of which no field is known.
func UnknownGPS() GPSData {
	return GPSData{Fix: UnknownFix, Satellites: UnknownSatellites, Latitude: Unknown, Longitude: Unknown, Height: Unknown,
		Horizontal: UnknownAmount, Vertical: UnknownAmount, Speed: UnknownAmount, Course: UnknownAmount}
}

// HasPlace reports whether the receiver knows where it is.
func (d *GPSData) HasPlace() bool {
	return d.Fix != NoFix && d.Latitude != Unknown && d.Longitude != Unknown
}

// Append appends the 38 payload bytes.
func (d *GPSData) Append(dst []byte) []byte {
	be := binary.BigEndian
	dst = append(dst, byte(d.Fix), d.Satellites)
	dst = be.AppendUint32(dst, uint32(d.Latitude))
	dst = be.AppendUint32(dst, uint32(d.Longitude))
	dst = be.AppendUint32(dst, uint32(d.Height))
	dst = be.AppendUint32(dst, d.Horizontal)
	dst = be.AppendUint32(dst, d.Vertical)
	dst = be.AppendUint64(dst, d.Time)
	dst = be.AppendUint32(dst, d.Speed)
	return be.AppendUint32(dst, d.Course)
}

// Decode reads the 38 payload bytes; another size is an error.
func (d *GPSData) Decode(b []byte) error {
	if err := checkSize("gps", b, GPSSize); err != nil {
		return err
	}
	be := binary.BigEndian
	*d = GPSData{
		Fix:        Fix(b[0]),
		Satellites: b[1],
		Latitude:   int32(be.Uint32(b[2:])),
		Longitude:  int32(be.Uint32(b[6:])),
		Height:     int32(be.Uint32(b[10:])),
		Horizontal: be.Uint32(b[14:]),
		Vertical:   be.Uint32(b[18:]),
		Time:       be.Uint64(b[22:]),
		Speed:      be.Uint32(b[30:]),
		Course:     be.Uint32(b[34:]),
	}
	return nil
}
