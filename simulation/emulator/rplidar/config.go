package rplidar

import (
	"encoding/binary"
	"math"
)

// Kinds of data, as descriptors and the configuration name them (sl_lidar_cmd.h).
const (
	dataStandard = 0x81 // samples of 5 bytes
	dataExpress  = 0x82 // packets of 32 samples with angle corrections
	dataUltra    = 0x84 // packets of 96 samples, of which 64 are differences
	dataDense    = 0x85 // packets of 40 distances
)

// sizes are the bytes of a sample or packet of each kind of data.
var sizes = map[byte]byte{dataStandard: 5, dataExpress: 84, dataUltra: 132, dataDense: 84}

// mode is a working mode: an entry of the configuration.
type mode struct {
	name string
	data byte
	rate int // samples a second
}

// The modes by their numbers. Each firmware chooses its own numbers and names (rplidar_sdk,
// getAllSupportedScanModes asks for all of them): these are assumed.
var (
	modesA = []mode{{"Standard", dataStandard, standardRate}, {"Express", dataExpress, expressRate}, {"Boost", dataUltra, ultraRate}}
	modesS = []mode{{"Standard", dataStandard, standardRate}, {"DenseBoost", dataDense, denseRate}, {"Boost", dataUltra, ultraRate}}
)

// metres are how far models see, by their data sheets.
var metres = map[byte]int{A1: 12, A2: 12, A3: 25, C1: 12, S1: 40, S2: 30, S3: 40}

func (d *Lidar) modes() []mode {
	if d.opts.Model < C1 {
		return modesA
	}
	return modesS
}

// Entries of the configuration (sl_lidar_cmd.h, SL_LIDAR_CONF_...).
const (
	confDesiredSpeed = 0x01 // revolutions a minute and pulse width, 2 bytes each
	confSlowest      = 0x04 // revolutions a minute, 2 bytes
	confFastest      = 0x05
	confModes        = 0x70 // how many, 2 bytes
	confMicroseconds = 0x71 // of a sample, of a mode, in 1/256, 4 bytes
	confDistance     = 0x74 // m, of a mode, in 1/256, 4 bytes
	confData         = 0x75 // kind of data of a mode, 1 byte
	confTypical      = 0x7C // the recommended mode, 2 bytes
	confName         = 0x7F // of a mode, text
)

// answerConfiguration answers a request for an entry of the configuration: its number of 4 bytes, and for
// an entry of a mode the mode's number of 2 bytes, which hosts fill up to 36 bytes in all. A missing
// entry gets no answer (assumed).
func (d *Lidar) answerConfiguration(request []byte) {
	if d.opts.NoExpress || len(request) < 4 {
		return
	}
	entry := binary.LittleEndian.Uint32(request)
	var m mode
	switch entry {
	case confMicroseconds, confDistance, confData, confName:
		if len(request) < 6 || int(binary.LittleEndian.Uint16(request[4:])) >= len(d.modes()) {
			return
		}
		m = d.modes()[binary.LittleEndian.Uint16(request[4:])]
	}
	var value []byte
	switch entry {
	case confDesiredSpeed:
		value = append(halfword(600), halfword(660)...) // 660: SDK's default of a pulse width
	case confSlowest:
		value = halfword(300)
	case confFastest:
		value = halfword(900)
	case confModes:
		value = halfword(len(d.modes()))
	case confMicroseconds:
		value = binary.LittleEndian.AppendUint32(nil, uint32(1e6*256/m.rate))
	case confDistance:
		value = binary.LittleEndian.AppendUint32(nil, uint32(metres[d.opts.Model]*256))
	case confData:
		value = []byte{m.data}
	case confTypical:
		value = halfword(int(d.opts.Mode))
	case confName:
		value = append([]byte(m.name), 0)
	default:
		return
	}
	d.answer(0x20, append(append([]byte(nil), request[:4]...), value...), "configuration")
}

// answer sends the one answer to a request, behind its descriptor.
func (d *Lidar) answer(kind byte, payload []byte, note string) {
	d.Send(append([]byte{0xA5, 0x5A, byte(len(payload)), 0, 0, 0, kind}, payload...), note)
}

func halfword(n int) []byte { return binary.LittleEndian.AppendUint16(nil, uint16(n)) }

// ultraSamples are the samples of a packet of the kind ultra.
const ultraSamples = 96

// noReturn is the difference of a sample without a return.
const noReturn = -512

// ultraPacket sends 32 words, each with the distance of one sample in 12 bits and of the next
// two in 10 bits each: the second sample's as the difference to the first, and the third's as
// the difference to the first sample of the next word (rplidar_sdk, _ultraCapsuleToNormal).
func (d *Lidar) ultraPacket() {
	p := d.beginning()
	var mm [ultraSamples + 1]int // and the first one of the next packet
	angle := d.angle
	for i := range mm {
		mm[i] = int(math.Round(d.ultraDistance(angle)))
		angle = math.Mod(angle+d.step(ultraRate), 360)
	}
	for i := 0; i < ultraSamples; i += 3 {
		major, base, shift := scaled(mm[i])
		_, nextBase, nextShift := scaled(mm[i+3])
		if base == 0 && nextBase != 0 {
			base, shift = nextBase, nextShift
		}
		word := uint32(major) | difference(mm[i+1], base, shift)<<12 | difference(mm[i+2], nextBase, nextShift)<<22
		p = binary.LittleEndian.AppendUint32(p, word)
	}
	d.angle = math.Mod(d.angle+ultraSamples*d.step(ultraRate), 360)
	d.seal(p)
}

// ultraDistance returns the distance of a sample at an angle of the head. The laser points
// behind the head's direction, by a lag that depends on the distance, and hosts subtract it:
// so the result is the distance at the angle that hosts compute.
func (d *Lidar) ultraDistance(head float64) (mm float64) {
	lag := 7.5
	for range 8 { // converges: a step changes the lag by less than a hundredth of its previous value
		mm = d.opts.Room(head - lag)
		lag = ultraLag(mm)
	}
	return mm
}

// ultraLag returns the angle in degrees by which hosts correct a sample.
func ultraLag(mm float64) float64 {
	if mm < 50 {
		return 7.5
	}
	k := 98361 / (4 * mm)
	return 8 - (64*k+k*k*k/98304)/65536*180/math.Pi
}

// scaled returns a distance in 12 bits, the distance that the code represents, and the bits by
// which differences to it are shifted.
func scaled(mm int) (code, base int, shift uint) {
	for _, s := range []struct {
		from, code int
		shift      uint
	}{{16384, 3328, 4}, {4096, 1792, 3}, {2048, 1280, 2}, {512, 512, 1}} {
		if mm >= s.from {
			n := min((mm-s.from)>>s.shift, 4095-s.code)
			return s.code + n, s.from + n<<s.shift, s.shift
		}
	}
	return mm, mm, 0
}

// difference returns 10 bits: the difference of a distance to a base.
func difference(mm, base int, shift uint) uint32 {
	n := (mm - base) >> shift
	if mm == 0 || n <= noReturn || n >= 511 {
		n = noReturn
	}
	return uint32(n) & 0x3FF
}
