package sickcola

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"player/e2e/must"
	"player/simulation/emulator/line"
	"player/simulation/emulator/room"
)

// sensor returns a sensor without a network. Its room is round.
func sensor(t *testing.T, opts Options) *Sensor {
	t.Helper()
	if opts.Model.Name == "" {
		opts.Model = TiM551
	}
	opts.Room = room.Or(func(float64) float64 { return 1000 })
	return &Sensor{End: line.End{Line: must.Get(line.Open(line.Options{TCP: "none", Clock: line.NewVirtual(1)}))(t)}, opts: opts, values: newVariables(opts.Model), ready: 1}
}

// answers returns the sensor's answers to a request.
func answers(s *Sensor, request string) string { return string(s.telegram(s.answer(0, request))) }

// bytesOf decodes hex with spaces.
func bytesOf(t *testing.T, text string) string {
	t.Helper()
	return string(must.Get(hex.DecodeString(strings.ReplaceAll(text, " ", "")))(t))
}

// exchanges of CoLa A are as SICK's "Telegram Listing" has them, without STX and ETX.
var exchanges = []struct {
	opts        Options
	ask, answer string
}{
	{Options{}, "sRN DeviceIdent", "sRA DeviceIdent 6 TiM551 E V2.50-10.04.13"},
	{Options{Model: LMS111}, "sRN DeviceIdent", "sRA DeviceIdent 10 LMS10x_FieldEval 10 V1.36-21.10.2010"},
	{Options{}, "sEN LMDscandata 1", "sEA LMDscandata 1"},
	{Options{}, "sEN LMDscandata 0", "sEA LMDscandata 0"},
	{Options{}, "sMN SetAccessMode 03 F4724744", "sAN SetAccessMode 1"},
	{Options{}, "sMN SetAccessMode 03 00000000", "sAN SetAccessMode 0"},
	{Options{Locked: true}, "sMN SetAccessMode 03 F4724744", "sAN SetAccessMode 0"},
	{Options{}, "sMN Run", "sAN Run 1"},
	{Options{}, "sMN LMCstartmeas", "sFA 1"}, // without a login
	{Options{}, "sRN Nothing", "sFA B"},
	{Options{Refuse: "LMDscandata"}, "sEN LMDscandata 1", "sFA 4"},
}

func TestAnswersASCII(t *testing.T) {
	for _, tt := range exchanges {
		s := sensor(t, tt.opts)
		got := answers(s, tt.ask)
		if got != "\x02"+tt.answer+"\x03" {
			t.Errorf("%s: %q, want %q", tt.ask, got, tt.answer)
		}
		if want := tt.answer == "sEA LMDscandata 1"; s.scans != want {
			t.Errorf("%s: scans: %v", tt.ask, s.scans)
		}
		if want := tt.answer == "sAN SetAccessMode 1"; s.LoggedIn() != want {
			t.Errorf("%s: logged in: %v", tt.ask, s.LoggedIn())
		}
	}
}

// Telegrams of CoLa B equal the "Telegram Listing", byte for byte.
func TestAnswersBinary(t *testing.T) {
	for _, tt := range []struct{ ask, answer string }{
		{"02 02 02 02 00 00 00 17 73 4D 4E 20 53 65 74 41 63 63 65 73 73 4D 6F 64 65 20 03 F4 72 47 44 B3",
			"02 02 02 02 00 00 00 13 73 41 4E 20 53 65 74 41 63 63 65 73 73 4D 6F 64 65 20 01 38"},
		{"02 02 02 02 00 00 00 07 73 4D 4E 20 52 75 6E 19", "02 02 02 02 00 00 00 09 73 41 4E 20 52 75 6E 20 01 34"},
		{"02 02 02 02 00 00 00 11 73 45 4E 20 4C 4D 44 73 63 61 6E 64 61 74 61 20 01 33",
			"02 02 02 02 00 00 00 11 73 45 41 20 4C 4D 44 73 63 61 6E 64 61 74 61 20 01 3C"},
		{"02 02 02 02 00 00 00 0F 73 52 4E 20 44 65 76 69 63 65 49 64 65 6E 74 25",
			"02 02 02 02 00 00 00 28 73 52 41 20 44 65 76 69 63 65 49 64 65 6E 74 20" +
				" 00 06 54 69 4D 35 35 31 00 0E 56 32 2E 35 30 2D 31 30 2E 30 34 2E 31 33 26"},
	} {
		s := sensor(t, Options{Binary: true})
		ask := []byte(bytesOf(t, tt.ask))
		for cut := range ask {
			if content, size := s.content(ask[:cut]); content != nil || size != 0 {
				t.Fatalf("%d bytes of % X: %q, %d", cut, ask, content, size)
			}
		}
		content, size := s.content(ask)
		if size != len(ask) {
			t.Fatalf("% X: framed %d", ask, size)
		}
		if got := answers(s, string(content)); got != bytesOf(t, tt.answer) {
			t.Errorf("% X: % X, want %s", ask, got, tt.answer)
		}
	}
}

// In CoLa A a telegram begins with the last STX before its ETX. In both, junk before a telegram is left out.
func TestContent(t *testing.T) {
	for _, tt := range []struct {
		binary  bool
		in      string
		content string // empty: none
		size    int
	}{
		{false, "\x02sRN a\x03\x02sRN b\x03", "sRN a", 7},
		{false, "junk\x02sRN a\x03", "sRN a", 11},
		{false, "\x02sRN\x02sRN a\x03", "sRN a", 11},
		{false, "\x02sRN a", "", 0},
		{false, "junk\x03\x02sRN a\x03", "", 5},
		{false, "", "", 0},
		{true, "\x02\x02\x02\x02\x00\x00\x00\x01as", "a", 10},
		{true, "x\x02\x02\x02\x02\x00\x00\x00\x01as", "", 1},
		{true, "\x02\x02\x02\x02\x00\x00\x00\x02a", "", 0},
	} {
		s := sensor(t, Options{Binary: tt.binary})
		if content, size := s.content([]byte(tt.in)); string(content) != tt.content || size != tt.size {
			t.Errorf("%q: %q, %d; want %q, %d", tt.in, content, size, tt.content, tt.size)
		}
	}
}

// The sensor starts after a login and the request to start, and measures when the host has logged out.
func TestStart(t *testing.T) {
	s := sensor(t, Options{Standby: true})
	s.ready = 0
	for _, tt := range []struct{ ask, answer string }{
		{"sMN SetAccessMode 03 F4724744", "sAN SetAccessMode 1"}, {"sMN LMCstartmeas", "sAN LMCstartmeas 0"},
		{"sMN Run", "sAN Run 1"},
	} {
		if got := answers(s, tt.ask); got != "\x02"+tt.answer+"\x03" {
			t.Fatalf("%s: %q", tt.ask, got)
		}
	}
	if s.ready == 0 || s.LoggedIn() {
		t.Errorf("ready %v, logged in: %v", s.ready, s.LoggedIn())
	}
}

// Telegrams of scans have the fields of the "Telegram Listing" in its order: hexadecimal words, or numbers with the
// most significant byte first. Angles are in 1/10000 deg.
func TestScan(t *testing.T) {
	small := Model{Name: "small", First: -45, Last: -43, Step: 1, Rate: 15, Intensities: 1, Echoes: 1}
	s := sensor(t, Options{Model: small})
	s.sent, s.turns = 0x1A, 0x9A
	const at = 0x13C8E59 * time.Microsecond
	const begin, rest = "sSN LMDscandata 1 1 B96518 0 0 1A 9A 13C8E59 13C9CBE 0 0 8 0 0 5DC 36 0 ",
		" 1 B not defined 0 0 0"
	want := begin + "1 DIST1 3F800000 0 FFF92230 2710 3 3E8 3E8 3E8 1 RSSI1 3F800000 0 FFF92230 2710 3 0 1 2 0" + rest
	if got := s.scan(at); got != want {
		t.Errorf("one byte of intensities:\n%s, want\n%s", got, want)
	}
	small.Intensities, small.Echoes = 2, 2
	s.opts.Model, s.values = small, newVariables(small)
	want = begin + "3 DIST2 3F800000 0 FFF92230 2710 3 270F 270F 270F DIST1 3F800000 0 FFF92230 2710 3 3E8 3E8 3E8" +
		" RSSI1 3F800000 0 FFF92230 2710 3 0 1 2 0 0" + rest
	if got := s.scan(at); got != want {
		t.Errorf("two echoes:\n%s, want\n%s", got, want)
	}
	small.Intensities, small.Echoes = 0, 1
	s.opts.Model, s.opts.Binary, s.opts.Status, s.values = small, true, 2, newVariables(small)
	want = "sSN LMDscandata " + bytesOf(t, "0001 0001 00B96518 00 02 001A 009A 013C8E59 013C9CBE 00 00 08 00 0000"+
		" 000005DC 00000036 0000 0001") + "DIST1" +
		bytesOf(t, "3F800000 00000000 FFF92230 2710 0003 03E8 03E8 03E8 0000 0000 0001") +
		"\x00\x0Bnot defined" + bytesOf(t, "0000 0000 0000")
	if got := s.scan(at); got != want {
		t.Errorf("CoLa B:\n% X, want\n% X", got, want)
	}
}

// Each model has as many samples as its data sheet says.
func TestSamples(t *testing.T) {
	for _, tt := range []struct {
		model Model
		count string
	}{{TiM551, " 2710 10F "}, {TiM571, " D05 32B "}, {TiM781, " D05 32B "}, {LMS111, " 1388 21D "},
		{LMS511, "DIST1 40000000 0 FFFF3CB0 1388 17D "}, {LMS1000, " 1D4C 16F "}} {
		if got := sensor(t, Options{Model: tt.model}).scan(0); !strings.Contains(got, tt.count) {
			t.Errorf("%s: no%sin %.200s", tt.model.Name, tt.count, got)
		}
	}
}

// sessions are the questions of SICK's own host, sick_scan_xd 3.9.0, in its order, with the answers. Those to a TiM5xx
// in CoLa B are as a TiM571 gave them in a start that SICK recorded, apart from its version and its counters.
var sessions = []struct {
	name      string
	opts      Options
	exchanges [][2]string
}{
	{"TiM571, CoLa B", Options{Model: TiM571, Binary: true}, [][2]string{
		{"sMN SetAccessMode \x03\xF4\x72\x47\x44", "sAN SetAccessMode \x01"},
		{"sWN EIHstCola \x01", "sWA EIHstCola "},
		{"sRN FirmwareVersion", "sRA FirmwareVersion \x00\x05V2.61"},
		{"sRN SCdevicestate", "sRA SCdevicestate \x00"},
		{"sRN ODoprh", "sRA ODoprh \x00\x00\x06\x8c"},
		{"sRN ODpwrc", "sRA ODpwrc \x00\x00\x00\x79"},
		{"sRN LocationName", "sRA LocationName \x00\x0bnot defined"},
		{"sRN LMPoutputRange", "sRA LMPoutputRange \x00\x01\x00\x00\x0d\x05\xff\xf9\x22\x30\x00\x22\x55\x10"},
		{"sWN LMPoutputRange \x00\x01\x00\x00\x0d\x05\xff\xf9\x22\x30\x00\x22\x55\x10", "sWA LMPoutputRange "},
		{"sRN LMPoutputRange", "sRA LMPoutputRange \x00\x01\x00\x00\x0d\x05\xff\xf9\x22\x30\x00\x22\x55\x10"},
		{"sWN LMDscandatacfg \x01\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01", "sWA LMDscandatacfg "},
		{"sRN LMDscandatacfg", "sRA LMDscandatacfg \x01\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01"},
		{"sMN LMCstartmeas", "sAN LMCstartmeas \x00"},
		{"sMN Run", "sAN Run \x01"},
		{"sRN SCdevicestate", "sRA SCdevicestate \x01"},
		{"sEN LMDscandata \x01", "sEA LMDscandata \x01"},
	}},
	{"TiM551, CoLa A", Options{}, [][2]string{
		{"sRN SCdevicestate", "sRA SCdevicestate 1"},
		{"sMN SetAccessMode 3 F4724744", "sAN SetAccessMode 1"},
		{"sWN EIHstCola 0", "sWA EIHstCola"},
		{"sRN FirmwareVersion", "sRA FirmwareVersion 5 V2.50"},
		{"sRN SCdevicestate", "sRA SCdevicestate 0"},
		{"sRN ODoprh", "sRA ODoprh 68C"},
		{"sRN ODpwrc", "sRA ODpwrc 79"},
		{"sRN LocationName", "sRA LocationName B not defined"},
		{"sRN LMPoutputRange", "sRA LMPoutputRange 1 2710 FFF92230 225510"},
		{"sWN LMPoutputRange 1 2710 FFF92230 225510", "sWA LMPoutputRange"},
		{"sWN LMDscandatacfg 1 0 1 1 0 0 0 0 0 0 1 1", "sWA LMDscandatacfg"},
		{"sRN LMDscandatacfg", "sRA LMDscandatacfg 1 0 1 1 0 0 0 0 0 0 1 1"},
		{"sMN LMCstartmeas", "sAN LMCstartmeas 0"},
		{"sMN Run", "sAN Run 1"},
		{"sEN LMDscandata 1", "sEA LMDscandata 1"},
	}},
	{"LMS111, CoLa B", Options{Model: LMS111, Binary: true}, [][2]string{
		{"sMN SetAccessMode \x03\xF4\x72\x47\x44", "sAN SetAccessMode \x01"},
		{"sWN LMPoutputRange \x00\x01\x00\x00\x13\x88\xff\xf9\x22\x33\x00\x22\x55\x0d", "sWA LMPoutputRange "},
		{"sRN field029", "sRA field029 \x3f\x80" + strings.Repeat("\x00", 8) + "\x13\x88\xff\xf9\x22\x30\x02\x1d" + strings.Repeat("\x00", 12)},
		{"sRN LIDinputstate", "sRA LIDinputstate " + strings.Repeat("\x00", 12)},
		{"sMN mLMPsetscancfg \x00\x00\x13\x88\x00\x01\x00\x00\x13\x88\xff\xf9\x22\x30\x00\x22\x55\x10",
			"sAN mLMPsetscancfg \x00\x00\x00\x13\x88\x00\x01\x00\x00\x13\x88\xff\xf9\x22\x30\x00\x22\x55\x10"},
		{"sRN LMPscancfg", "sRA LMPscancfg \x00\x00\x13\x88\x00\x01\x00\x00\x13\x88\xff\xf9\x22\x30\x00\x22\x55\x10"},
		{"sEN LFErec \x01", "sEA LFErec \x01"},
		{"sEN LIDoutputstate \x01", "sEA LIDoutputstate \x01"},
		{"sEN LIDinputstate \x01", "sEA LIDinputstate \x01"},
		{"sMN LMCstopmeas", "sAN LMCstopmeas \x00"},
	}},
	// In CoLa A that host writes the bytes of mLMPsetscancfg as text. Its number is none: the sensor keeps its settings.
	{"LMS111, CoLa A", Options{Model: LMS111}, [][2]string{
		{"sMN SetAccessMode 3 F4724744", "sAN SetAccessMode 1"},
		{`sMN mLMPsetscancfg \x00\x00\x13\x88\x00\x01\x00\x00\x13\x88\xff\xf9\x22\x30\x00\x22\x55\x10`,
			"sAN mLMPsetscancfg 1 9C4 1 1388 FFF92230 225510"},
		{"sMN mLMPsetscancfg +5000 +1 +5000 -450000 +2250000", "sAN mLMPsetscancfg 0 1388 1 1388 FFF92230 225510"},
		{"sMN mLMPsetscancfg 9C4 1 9C4 FFF92230 225510", "sAN mLMPsetscancfg 0 9C4 1 9C4 FFF92230 225510"},
		{"sMN mLMPsetscancfg 1388 1 9C4 FFF92230 225510", "sAN mLMPsetscancfg 1 9C4 1 9C4 FFF92230 225510"}, // too fast
		{"sRN LMPoutputRange", "sRA LMPoutputRange 1 9C4 FFF92230 225510"},
		{"sWN FREchoFilter 1", "sWA FREchoFilter"},
	}},
	{"old hosts and refusals", Options{}, [][2]string{
		{"sRI 0", "sRA 0 6 TiM551 E V2.50-10.04.13"},
		{"sRN SerialNumber", "sRA SerialNumber 8 12130584"},
		{"sWN LMDscandatacfg 1 0 1 1 0 0 0 0 0 0 1 1", "sFA 1"}, // no host is logged in
		{"sMN LMCstandby", "sFA 1"},
		{"sRN LMPscancfg", "sFA B"}, // an LMS1xx has it
		{"sEN LFErec 1", "sFA B"},
		{"sEN LMDscandata", "sFA 5"},
		{"sMN SetAccessMode +3 F4724744", "sAN SetAccessMode 1"},
		{"sWN EIHstCola 1", "sFA 5"},
		{"sWN SerialNumber 1 A", "sFA 2"},
		{"sWN LMPoutputRange 1 2710 FFF92230", "sFA 5"},
		{"sWN LocationName 4 shed", "sWA LocationName"},
		{"sWN LocationName 5 shed", "sFA 5"},
		{"sRN LocationName", "sRA LocationName 4 shed"},
	}},
}

func TestSessions(t *testing.T) {
	for _, tt := range sessions {
		s := sensor(t, tt.opts)
		for _, e := range tt.exchanges {
			if got := s.answer(1, e[0]); got != e[1] {
				t.Errorf("%s: %q: %q, want %q", tt.name, e[0], got, e[1])
			}
		}
	}
}

// Settings change the sensor's data: its angles, its intensities, their size, its name.
func TestSettings(t *testing.T) {
	for _, tt := range []struct{ write, has, hasNot string }{
		{"sWN LMPoutputRange 1 2710 -100000 +100000", "DIST1 3F800000 0 FFFE7960 2710 15 ", "1A "},
		{"sWN LMPoutputRange 1 2710 -99997 +99999", "DIST1 3F800000 0 FFFE7960 2710 15 ", ""}, // rounded by a host
		{"sWN LMDscandatacfg 1 0 0 0 0 0 0 0 0 0 1 1", " 0 0 0 0 0 0", "RSSI1"},
		{"sWN LMDscandatacfg 1 0 1 1 0 0 0 0 1 0 1 1", " 2 DIST1", "10E"},
		{"sWN LMDscandatacfg 1 0 1 0 0 1 0 0 1 0 1 1", " 1 1234 56 1 DIST1", ""},
	} {
		s := sensor(t, Options{})
		s.loggedIn = true
		if got := s.answer(1, tt.write); !strings.HasPrefix(got, "sWA ") {
			t.Errorf("%s: %s", tt.write, got)
		}
		if got := s.scan(0); !strings.Contains(got, tt.has) || tt.hasNot != "" && strings.Contains(got, tt.hasNot) {
			t.Errorf("%s: %s", tt.write, got)
		}
	}
}

// Numbers in CoLa A are hexadecimal, or decimal behind a sign.
func TestNumbers(t *testing.T) {
	for word, want := range map[string]uint32{
		"0": 0, "1": 1, "01": 1, "0010": 16, "FFF92230": 0xFFF92230, "fff92230": 0xFFF92230, "+100": 100, "+0": 0,
		"-450000": 0xFFF92230, "+4294967295": 0xFFFFFFFF,
	} {
		if got, ok := numberIn(word); got != want || !ok {
			t.Errorf("%s: %d, %v; want %d", word, got, ok, want)
		}
	}
	for _, word := range []string{"", "+", "-", "+1A", "G", "1.5", "+4294967296", "-2147483649", "100000000", "--1"} {
		if got, ok := numberIn(word); ok {
			t.Errorf("%q: %d", word, got)
		}
	}
}
