package evidence

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/e2e/must"
)

// A text has one form, which people compare and programs read.
func TestWrite(t *testing.T) {
	run := Run{
		Version: "1.1.0 abcdef0", System: "linux/arm64 6.1.0", Board: "Raspberry Pi Zero 2 W",
		Drivers: []Driver{{Name: "rplidar", Options: map[string]any{"range": 8000, "heading": 0}, Setups: 1, Noise: 2}},
		Devices: []Device{
			{Name: "laser:0", Driver: "rplidar", Setup: 1234500 * time.Microsecond, Rate: 7.04, Frames: [][]byte{{1, 0xFF}, {2, 0}}},
			{Name: "gps:0", Driver: "nmea", Setup: time.Second, Rate: 1, Frames: [][]byte{{9}}, Secret: "they say where you live"},
			{Name: "ptz:0", Driver: "evid30", Setup: time.Second, Failed: "no camera answers at /dev/ttyUSB0 of lab7"},
		},
		Log: []string{"info laser scanner model=RPLIDAR A1 firmware 1.29 serial 0123456789ABCDEF"},
	}
	const want = `player evidence 1
version 1.1.0 abcdef0
system linux/arm64 6.1.0
board Raspberry Pi Zero 2 W

driver rplidar: 1 setups, 0 errors, 0 retries, 2 damaged packets
  option heading 0
  option range 8000

device laser:0 of rplidar: ready after 1.235s, 7.0 Hz, 2 frames
  01ff
  0200

device gps:0 of nmea: ready after 1s, 1.0 Hz, 1 frames
  frames left out: they say where you live

device ptz:0 of evid30: failed after 1s: no camera answers at PATH of PRIVATE

log
  info laser scanner model=RPLIDAR A1 firmware 1.29 serial NUMBER
`
	var out strings.Builder
	must.Do(t, run.Write(&out, NewCleaner("lab7")))
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", &out, want)
	}
}

// Private words go, and words that describe the hardware stay.
func TestClean(t *testing.T) {
	c := NewCleaner("ann", "ann-desk", "pi", "")
	for text, want := range map[string]string{
		"/dev/serial/by-id/usb-FTDI_A600-if00":     "PATH",
		`open "/home/ann/robot.cfg": no such file`: `open "PATH": no such file`,
		"~/x ./y ../z":                          "PATH PATH PATH",
		"http://10.0.0.5/x":                     "PATH",
		"dial tcp 192.168.0.1:2112: refused":    "dial tcp ADDRESS refused",
		"fe80::1 [fd00::5]:4001 robot.lab:2112": "ADDRESS ADDRESS ADDRESS",
		"serial 23A19BD6C4E29FC8B69C9FF5 of it": "serial NUMBER of it",
		"on ann-desk by ann":                    "on PRIVATE by PRIVATE",
		"a\x1b[31mb\nc":                         "a?[31mb?c",
		"SICK TiM551 V2.50-10.04.13":            "SICK TiM551 V2.50-10.04.13",
		"laser:1 position:0 at 115200 baud":     "laser:1 position:0 at 115200 baud",
		"Hokuyo URG-04LX 3.3.00 pinout":         "Hokuyo URG-04LX 3.3.00 pinout",
		"angle -135 deg, 12.5 deg/s":            "angle -135 deg, 12.5 deg/s",
		"faced decade-effaced":                  "faced decade-effaced",
		"":                                      "",
	} {
		if got := c.Line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A log has messages with their fields, but for those that people have named, and no more than 500.
func TestLog(t *testing.T) {
	l := NewLog()
	log := zap.New(l)
	log.Debug("not kept")
	log.With(zap.String("driver", "p2os")).Info("robot found", zap.String("name", "Daisy"), zap.String("class", "Pioneer"), zap.Int("baud", 9600))
	if got := l.Lines(); len(got) != 1 || got[0] != "info robot found baud=9600 class=Pioneer driver=p2os" {
		t.Errorf("%q", got)
	}
	for range 2 * most {
		log.Warn("noise")
	}
	if got := len(l.Lines()); got != most {
		t.Errorf("%d lines", got)
	}
}

// FuzzClean: a cleaned line has no control character, and no private word.
func FuzzClean(f *testing.F) {
	f.Add("open /dev/ttyUSB0 on ann-desk:1")
	f.Add("xann-deskann")
	f.Fuzz(func(t *testing.T, text string) {
		got := NewCleaner("ann-desk").Line(text)
		if strings.Contains(got, "ann-desk") || strings.ContainsAny(got, "\x00\n\r\x1b") {
			t.Errorf("%q: %q", text, got)
		}
	})
}
