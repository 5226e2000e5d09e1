package gps

import (
	"testing"
	"time"

	"player/e2e/must"
)

// The sentences are the examples of u-blox's manual, with their checksums.
func TestSentences(t *testing.T) {
	at := Place{Height: 499.6, Quality: 1, Satellites: 8, Speed: 0.004 * 1852 / 3600, Course: 77.52, North: 1.7, East: 1.3, Up: 2.2}
	r := &Receiver{opts: Options{Talker: "GP", Place: func(time.Duration) Place { return at }}}
	for _, tt := range []struct {
		kind        string
		north, east float64 // minutes
		clock       string
		want        string
	}{
		{"GGA", 17.11399, 33.91590, "09:27:25", "$GPGGA,092725.00,4717.11399,N,00833.91590,E,1,08,1.01,499.6,M,48.0,M,,*5B\r\n"},
		{"RMC", 17.11437, 33.91522, "08:35:59", "$GPRMC,083559.00,A,4717.11437,N,00833.91522,E,0.004,77.52,091202,,,A*57\r\n"},
		{"GST", 0, 0, "08:23:56", "$GPGST,082356.00,1.8,,,,1.7,1.3,2.2*7E\r\n"},
	} {
		at.Latitude, at.Longitude = 47+tt.north/60, 8+tt.east/60
		r.opts.Start = must.Get(time.Parse(time.DateTime, "2002-12-09 "+tt.clock))(t)
		if got := r.sentence(tt.kind, 0); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	at.Quality = 0
	if got, want := r.sentence("RMC", 0), "$GPRMC,082356.00,V,,,,,0.004,77.52,091202,,,A*"; got[:len(want)] != want {
		t.Errorf("without a fix: %q", got)
	}
}

func TestCoordinates(t *testing.T) {
	for degrees, want := range map[float64]string{0: "00000.00000,E", -0.5: "00030.00000,W", 179.9999999999: "18000.00000,E", 9.1: "00906.00000,E"} {
		if got := coordinate(degrees, 3, "E", "W"); got != want {
			t.Errorf("%v: %s, want %s", degrees, got, want)
		}
	}
}
