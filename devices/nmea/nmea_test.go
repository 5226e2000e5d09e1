package nmea

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

// The examples of u-blox's manual.
const (
	fix     = "$GPGGA,092725.00,4717.11399,N,00833.91590,E,1,08,1.01,499.6,M,48.0,M,,*5B\r\n"
	minimum = "$GPRMC,083559.00,A,4717.11437,N,00833.91522,E,0.004,77.52,091202,,,A*57\r\n"
	errs    = "$GPGST,082356.00,1.8,,,,1.7,1.3,2.2*7E\r\n"
)

// signed returns a sentence with its checksum.
func signed(text string) string {
	var sum byte
	for _, c := range []byte(text) {
		sum ^= c
	}
	return fmt.Sprintf("$%s*%02X\r\n", text, sum)
}

// read returns the data that the driver publishes for sentences.
func read(t *testing.T, sentences ...string) (published []codec.GPSData) {
	t.Helper()
	d := must.Get(Kind().New(devices.Args{Name: "nmea", Values: Kind().Defaults()}))(t)
	b := transporttest.NewBench(t, Kind().Instance(d))
	r := &record{t: t}
	b.Client.AddObserver(b.Link, r)
	b.Subscribe()
	for _, s := range sentences {
		b.Port().Say([]byte(s))
	}
	return r.published
}

// record is an Observer.
type record struct {
	t         *testing.T
	published []codec.GPSData
}

func (r *record) Published(d *devices.Device) {
	var data codec.GPSData
	must.Do(r.t, data.Decode(d.Data()))
	r.published = append(r.published, data)
}

func TestSentences(t *testing.T) {
	twice := func(d codec.GPSData) []codec.GPSData { return []codec.GPSData{d, d} } // at the end of one, and with the next
	for name, tt := range map[string]struct {
		sentences []string
		want      []codec.GPSData
	}{
		"the fix of the manual": {[]string{fix, fix}, twice(codec.GPSData{Fix: codec.PlainFix, Satellites: 8, Latitude: 472852332, Longitude: 85652650, Height: 499600,
			Horizontal: codec.UnknownAmount, Vertical: codec.UnknownAmount, Speed: codec.UnknownAmount, Course: codec.UnknownAmount})},
		"the minimum of the manual": {[]string{minimum, minimum}, twice(codec.GPSData{Fix: codec.UnknownFix, Satellites: codec.UnknownSatellites,
			Latitude: 472852395, Longitude: 85652537, Height: codec.Unknown, Horizontal: codec.UnknownAmount, Vertical: codec.UnknownAmount,
			Time: uint64(time.Date(2002, 12, 9, 8, 35, 59, 0, time.UTC).UnixMilli()), Speed: 2, Course: 77520})},
		"the errors of the manual alone": {[]string{errs, errs}, nil},
		"south and west": {[]string{signed("GNGGA,010203.45,0130.00000,S,17900.60000,W,5,12,1,-3.25,M,,M,,"), signed("GNGGA,010204.45,,,,,0,00,99,,,,,,"), signed("GNGGA,010205.45,,,,,0,00,99,,,,,,")},
			[]codec.GPSData{{Fix: codec.FloatFix, Satellites: 12, Latitude: -15000000, Longitude: -1790100000, Height: -3250, Horizontal: codec.UnknownAmount,
				Vertical: codec.UnknownAmount, Speed: codec.UnknownAmount, Course: codec.UnknownAmount}, none(0), none(0)}},
		"one measurement of three sentences, in any order": {[]string{
			signed("GPGST,120000.00,1,,,,0.3,0.4,0.5"), signed("GPGGA,120000.00,0100.0,N,00200.0,E,4,09,1,10,M,,M,,"), signed("GPRMC,120000.00,A,0100.0,N,00200.0,E,1,,271126,,,A"),
			signed("GPRMC,120001.00,A,0100.0,N,00200.0,E,1,,271126,,,A"), signed("GPGST,120001.00,1,,,,0.3,0.4,0.5"), signed("GPGGA,120001.00,0100.0,N,00200.0,E,4,09,1,10,M,,M,,")},
			[]codec.GPSData{three(0), three(1)}},
		"a latitude of 91 degrees, 60 minutes, no hemisphere": {[]string{
			signed("GPGGA,120000.00,9100.0,N,00200.0,E,1,09,1,10,M,,M,,"), signed("GPGGA,120001.00,1060.0,N,00200.0,X,1,09,1,10,M,,M,,"), signed("GPGGA,120002.00,x,N,,E,1,09,1,10,M,,M,,")},
			[]codec.GPSData{unplaced(20000000), unplaced(codec.Unknown), unplaced(codec.Unknown)}},
		"another talker": {[]string{signed("PUBX,00,1"), signed("WIMWV,1,R"), signed("IIGGA,120000.00,0100.0,N,00200.0,E,4,09,1,10,M,,M,,")}, nil},
	} {
		if got := read(t, tt.sentences...); !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n%+v, want\n%+v", name, got, tt.want)
		}
	}
}

func none(satellites uint8) codec.GPSData {
	d := codec.UnknownGPS()
	d.Fix, d.Satellites = codec.NoFix, satellites
	return d
}

func three(second int) codec.GPSData {
	return codec.GPSData{Fix: codec.RTKFix, Satellites: 9, Latitude: 10000000, Longitude: 20000000, Height: 10000, Horizontal: 500, Vertical: 500,
		Time: uint64(time.Date(2026, 11, 27, 12, 0, second, 0, time.UTC).UnixMilli()), Speed: 514, Course: codec.UnknownAmount}
}

func unplaced(longitude int32) codec.GPSData {
	d := codec.UnknownGPS()
	d.Fix, d.Satellites, d.Longitude, d.Height = codec.PlainFix, 9, longitude, 10000
	return d
}

// Behind midnight the date is unknown until a sentence has it.
func TestMidnight(t *testing.T) {
	gga := func(clock string) string { return signed("GPGGA," + clock + ",0100.0,N,00200.0,E,1,09,1,10,M,,M,,") }
	got := read(t, signed("GPRMC,235959.00,A,0100.0,N,00200.0,E,1,,261126,,,A"), gga("235959.00"), gga("000000.00"), gga("000001.00"),
		signed("GPRMC,000001.00,A,0100.0,N,00200.0,E,1,,271126,,,A"), gga("000002.00"))
	var seconds []uint64
	for _, d := range got {
		seconds = append(seconds, d.Time/1000)
	}
	before := uint64(time.Date(2026, 11, 26, 23, 59, 59, 0, time.UTC).Unix())
	for _, s := range seconds {
		if s != 0 && s != before && s != before+2 && s != before+3 {
			t.Errorf("times %d, before midnight it was %d", seconds, before)
		}
	}
	if !slices.Contains(seconds, before) || !slices.Contains(seconds, 0) || !slices.Contains(seconds, before+2) {
		t.Errorf("times %d, before midnight it was %d", seconds, before)
	}
}

// A sentence cut at each byte is the same sentence, and a damaged one is none.
func TestInspect(t *testing.T) {
	whole := []byte(fix)
	for i := range whole {
		if size, v := inspect(whole[:i]); size != 0 || v != transport.Partial {
			t.Errorf("%d bytes: %d, %v", i, size, v)
		}
		broken := slices.Clone(whole)
		broken[i] ^= 1
		if _, v := inspect(broken); v == transport.Whole && i < len(whole)-len(end) {
			t.Errorf("%q is a sentence", broken)
		}
	}
	for _, behind := range []string{"", "$", "\rX"} {
		if size, v := inspect([]byte(fix + behind)); size != len(fix) || v != transport.Whole {
			t.Errorf("%d bytes, %v", size, v)
		}
		if size, v := inspect([]byte(fix[:len(fix)-2] + behind)); behind != "" && (size != len(fix)-2 || v != transport.Whole) {
			t.Errorf("without the end of its line: %d bytes, %v", size, v)
		}
	}
	long := make([]byte, longest)
	for i := range long {
		long[i] = 'A'
	}
	long[0] = '$'
	for n := range long {
		if _, v := inspect(long[:n]); v != transport.Partial {
			t.Errorf("%d bytes of a long line: %v", n, v)
		}
	}
	if _, v := inspect(long); v != transport.Damaged {
		t.Errorf("a line that is too long: %v", v)
	}
}

func FuzzSentence(f *testing.F) {
	for _, s := range []string{fix, minimum, errs, "$*00", "$,*2C", "$GPGGA*56"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		size, v := inspect(b)
		if (v == transport.Whole) != (size > 0) || size > min(len(b), packetSize) {
			t.Fatalf("%q: %d bytes, %v", b, size, v)
		}
		if v != transport.Whole {
			return
		}
		s := split(nil, b[:size])
		e := epoch{data: codec.UnknownGPS()}
		for k := gga; k <= gst; k++ {
			e.add(k, s, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		}
		d := e.data
		if d.Latitude != codec.Unknown && (d.Latitude < -900000000 || d.Latitude > 900000000) || d.Course != codec.UnknownAmount && d.Course >= 360000 {
			t.Errorf("%q: %+v", b, d)
		}
	})
}
