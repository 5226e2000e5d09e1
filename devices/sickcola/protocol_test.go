package sickcola

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"player/devices/devicetest"
	"player/devices/transport"
)

var parser = devicetest.Framed(inspect, maxSize)

func ascii(content string) []byte { return []byte("\x02" + content + "\x03") }

// header is a TiM551's, up to its channels of two bytes a value.
const header = "sSN LMDscandata 1 1 B96518 0 0 99 9A 13C8E59 13C9CBE 0 0 8 0 0 5DC 36 0 "

// golden is a complete telegram: two values from -45 degrees on, with intensities.
const golden = header + "1 DIST1 3F800000 00000000 FFF92230 2710 2 1B8 F 1 RSSI1 3F800000 00000000 FFF92230 2710 2 FE A0 0 1 B not defined 0 0 0"

// The examples of the listing.
func TestExamples(t *testing.T) {
	for want, got := range map[string]string{
		"02 73 45 4E 20 4C 4D 44 73 63 61 6E 64 61 74 61 20 31 03":                                     scans[formA],
		"02 02 02 02 00 00 00 11 73 45 4E 20 4C 4D 44 73 63 61 6E 64 61 74 61 20 01 33":                scans[formB],
		"02 73 4D 4E 20 53 65 74 41 63 63 65 73 73 4D 6F 64 65 20 30 33 20 46 34 37 32 34 37 34 34 03": login[formA],
	} {
		if got != string(devicetest.Hex(t, want)) {
			t.Errorf("% X, want %s", got, want)
		}
	}
}

// Both forms of a request are complete, and mean the same.
func TestRequests(t *testing.T) {
	for _, r := range []request{identify, login, start, run, scans, quiet} {
		var said [2]string
		for form := range r {
			b := []byte(r[form])
			if size, v := inspect(b); size != len(b) || v != transport.Whole {
				t.Errorf("%q: %d, %v", b, size, v)
			}
			tel := open(b)
			said[form] = string(tel.word()) + " " + string(tel.word())
			for _, size := range [...]int{1, 4} {
				if len(tel.rest) > 0 {
					said[form] += fmt.Sprintf(" %X", tel.number(size))
				}
			}
		}
		if said[formA] != said[formB] {
			t.Errorf("%q", said)
		}
	}
}

func TestIdent(t *testing.T) {
	for name, in := range map[string][]byte{
		"A": ascii("sRA DeviceIdent 10 LMS10x_FieldEval 10 V1.36-21.10.2010"),
		"B": devicetest.Hex(t, "02 02 02 02 00 00 00 34 73 52 41 20 44 65 76 69 63 65 49 64 65 6E 74 20 00 10 4C 4D 53 31 30 78 5F 46 69 65 6C 64 45 76 61 6C 00 10 56 31 2E 33 36 2D 32 31 2E 31 30 2E 32 30 31 30 62"),
	} {
		if size, v := inspect(in); size != len(in) || v != transport.Whole {
			t.Fatalf("%s: %d, %v", name, size, v)
		}
		if a := recognise(slices.Concat([]byte{2, 's', 9, 2}, in)); !a.Found || a.Model != "SICK LMS10x_FieldEval V1.36-21.10.2010" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if a := recognise(ascii("sRA DeviceIdent 9 TiM551\x80\xFF? E V2.50-10.04.13")); !a.Found || a.Model != "SICK TiM551??? V2.50-10.04.13" {
		t.Errorf("%+v", a)
	}
}

func TestKnown(t *testing.T) {
	for name, want := range map[string]bool{
		"TiM551": true, "TIM561-2050101": true, "TiM571": true, "TiM3xx": true, "TiM781S": true, "LMS10x_FieldEval": true, "LMS111-10100": true,
		"LMS1xx": true, "LMS5xx": true, "LMS511": true, "LMS5xx_FieldEval_PRO": true,
		"LMS1104C": false, "LMS1xxx": false, "TiM240": false, "LMS4000": false, "MRS1000": false, "TiM5": false, "": false,
	} {
		if isKnown(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// readings returns the readings in a telegram of measurements.
func readings(content []byte) (text string, ok bool) {
	tel := open(content)
	tel.word()
	tel.word()
	s, ok := tel.scan()
	if ok {
		s.each(func(degrees float64, mm int) { text += fmt.Sprintf("%.4g:%d ", degrees, mm) })
	}
	return text, ok
}

func TestScan(t *testing.T) {
	long := "1 DIST1 3F800000 00000000 FFF92230 2710 2 1B8 F "
	for name, tt := range map[string]struct{ in, want string }{
		"golden":                 {golden, "-135:440 -134:-1 "},
		"no intensities":         {header + long + "0 0 1 B not defined 0 0 0", "-135:440 -134:-1 "},
		"the least valid":        {header + strings.Replace(long, "1B8 F", "10 F", 1) + "0", "-135:16 -134:-1 "},
		"twice the scale":        {header + strings.Replace(long, "3F800000", "40000000", 1) + "0", "-135:880 -134:-1 "},
		"an offset":              {header + strings.Replace(long, "00000000", "41200000", 1) + "0", "-135:450 -134:-1 "},
		"the second channel":     {header + "2 RSSI1 3F800000 0 0 1388 1 7 DIST1 3F800000 0 DBBA0 1388 1 3E8 0", "0:1000 "},
		"an encoder":             {strings.TrimSuffix(header, "0 ") + "1 1234 56 " + long + "0", "-135:440 -134:-1 "},
		"no echo":                {header + strings.Replace(long, "1B8 F", "1B8 0", 1) + "0", "-135:440 -134:0 "},
		"no distances":           {header + "1 RSSI1 3F800000 0 0 1388 1 7 0", ""},
		"no values":              {header + "1 DIST1 3F800000 0 0 1388 0 0", ""},
		"no step":                {header + "1 DIST1 3F800000 0 0 0 1 3E8 0", ""},
		"scale that is no scale": {header + strings.Replace(long, "3F800000", "7FC00000", 1) + "0", ""},
		"negative scale":         {header + strings.Replace(long, "3F800000", "BF800000", 1) + "0", ""},
		"offset without end":     {header + strings.Replace(long, "00000000", "7F800000", 1) + "0", ""},
		"a count too high":       {header + strings.Replace(long, "2710 2", "2710 FFFF", 1) + "0", ""},
		"channels too many":      {header + "F" + long[1:] + "0", ""},
		"a value too large":      {header + strings.Replace(long, "1B8", "1B80F", 1) + "0", ""},
		"no hexadecimal":         {header + strings.Replace(long, "1B8", "1G8", 1) + "0", ""},
		"empty":                  {"sSN LMDscandata", ""},
	} {
		if got, ok := readings(ascii(tt.in)); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
}

// A telegram that ends early has no scan, whichever part is missing.
func TestShort(t *testing.T) {
	need := strings.Index(golden, " A0 0") + 3 // the last intensity
	for n := range need - 1 {                  // A is also a number
		if _, ok := readings(ascii(golden[:n])); ok {
			t.Errorf("%q has a scan", golden[:n])
		}
	}
}

// Telegrams are found however they are cut, and behind whatever is in front of them.
func TestCuts(t *testing.T) {
	a, b := ascii(golden), []byte(scans[formB])
	bad := slices.Clone(b)
	bad[20] ^= 1
	in := slices.Concat([]byte{2, 3, 'x', 2, 2}, a[:20], a, []byte{2, 2, 2}, b, bad, a, []byte{2, 2, 2, 2, 0xFF, 0, 0, 0}, b)
	parser.Cut(t, devicetest.Stream{Name: "telegrams", In: in, Packets: [][]byte{{2, 3}, a, b, a, b}, Garbage: 60, Broken: 8})
}

// A telegram without an end does not delay later telegrams without limit.
func TestEndless(t *testing.T) {
	good := ascii(golden)
	for _, endless := range [][]byte{bytes.Repeat([]byte{'x'}, 2*maxSize), bytes.Repeat([]byte{2}, 2*maxSize)} {
		if got, _, _ := parser.Find([]byte{2}, endless, []byte{0}, good); len(got) != 1 || !bytes.Equal(got[0], good) {
			t.Errorf("%d telegrams", len(got))
		}
	}
}

func TestProbe(t *testing.T) {
	answers := devicetest.Probe(t, Kind().Probe)
	answers("a scan", string(ascii(golden)), false, "", "")
	answers("an LMS1000", string(ascii("sRA DeviceIdent 8 LMS1104C 4 V1.0")), false, "", "")
}

func TestScanAllocatesNothing(t *testing.T) {
	in := ascii(golden)
	sum := 0
	if n := testing.AllocsPerRun(100, func() {
		tel := open(in)
		tel.word()
		tel.word()
		s, _ := tel.scan()
		s.each(func(_ float64, mm int) { sum += mm })
	}); n != 0 || sum == 0 {
		t.Errorf("%v allocations, sum %d", n, sum)
	}
}

// FuzzInspect: recognised bytes can be read, and a telegram that is written again is the same.
func FuzzInspect(f *testing.F) {
	f.Add(ascii(golden))
	f.Add([]byte(scans[formB]))
	f.Add(ascii("sRA DeviceIdent 10 LMS10x_FieldEval 10 V1.36-21.10.2010"))
	f.Add(ascii("sFA 1"))
	f.Fuzz(func(t *testing.T, in []byte) {
		parser.Account(t, in, func(b []byte) {
			tel := open(b)
			again := ascii(string(tel.rest))
			if tel.binary {
				again = append(binary.BigEndian.AppendUint32([]byte{2, 2, 2, 2}, uint32(len(tel.rest))), tel.rest...)
				again = append(again, sum(tel.rest))
			}
			if !bytes.Equal(again, b) {
				t.Fatalf("% X becomes % X", b, again)
			}
			recognise(b)
			tel.word()
			tel.word()
			s, ok := tel.scan()
			if !ok {
				return
			}
			if s.count > len(b) {
				t.Fatalf("%d values in %d bytes", s.count, len(b))
			}
			s.each(func(degrees float64, mm int) {
				if mm < -1 || mm > 1<<27 || math.IsNaN(degrees) || math.Abs(degrees) > 1e6 {
					t.Fatalf("%v degrees, %d mm", degrees, mm)
				}
			})
		})
	})
}
