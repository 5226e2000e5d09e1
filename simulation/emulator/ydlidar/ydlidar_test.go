package ydlidar

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"player/e2e/needs"
	"player/simulation/emulator/internal/rawhost"
	"player/simulation/emulator/line"
)

// lidar returns a sensor without a cable, in a round room.
func lidar(model Model, mm float64) *Lidar {
	return &Lidar{opts: Options{Model: model, Rate: 7, Room: func(float64) float64 { return mm }}}
}

// Requests have two bytes; a sensor that only sends has none.
func TestFrame(t *testing.T) {
	for text, want := range map[string]int{"A5": 0, "A5 60": 2, "A5 65 A5": 2, "00 A5 60": 1, "A5 A5 60": 2} {
		if n, _ := lidar(X4, 1000).Frame(rawhost.Bytes(t, text)); n != want {
			t.Errorf("%s: framed %d, want %d", text, n, want)
		}
	}
	if n, _ := lidar(X2, 1000).Frame(rawhost.Bytes(t, "A5 60 00")); n != 3 {
		t.Errorf("an X2 framed %d", n)
	}
}

// The answers are as in YDLIDAR's manuals. While it scans, the sensor accepts only the request to stop.
func TestRequests(t *testing.T) {
	needs.Programs(t)
	d, err := Start(Options{Model: G4, Line: line.Options{Link: rawhost.Link(t)}})
	h := rawhost.Open(t, rawhost.Plugged(t, d, err).Port(), 230400)
	const info = "A5 5A 14 00 00 00 04 05 04 01 01 32 30 32 36 31 31 32 33 30 30 30 30 30 30 30 31"
	h.Ask("A5 90", info)
	h.Ask("A5 65 A5 90", info) // nothing to stop
	h.Ask("A5 91", "A5 5A 03 00 00 00 06 00 00 00")
	// YDLIDAR's SDK 1.2.20 asks so.
	h.Ask("A5 00 A5 65 A5 92", "A5 5A 03 00 00 00 06 00 00 00")
	h.Ask("A5 0D", "A5 5A 04 00 00 00 04 BC 02 00 00")
	h.Ask("A5 D1", "A5 5A 01 00 00 00 04 02")
	h.Ask("A5 60", "A5 5A 05 00 00 40 81 AA 55")
	if !d.Scanning() {
		t.Error("does not scan")
	}
	h.Say("A5 90 A5 65 A5 90")
	for in := []byte{}; !bytes.HasSuffix(in, rawhost.Bytes(t, info)); {
		in = append(in, h.Read(1)...)
		if n := bytes.Count(in, rawhost.Bytes(t, "A5 5A 14")); n > 1 {
			t.Fatal("answered during a scan")
		}
	}
	if d.Scanning() {
		t.Error("still scans")
	}
}

// A packet has its kind, the number of samples, its first and last angle in 1/64 deg with a bit set, the exclusive or
// of all words but itself, and distances in 1/4 mm.
func TestPacket(t *testing.T) {
	d := lidar(G4, 1000)
	// 3 samples at 90.5 deg, 0.5 deg apart: 2D41 is 5792 << 1 | 1, 2DC1 is 5856 << 1 | 1.
	d.angle = 90.5
	want := "AA 55 00 03 41 2D C1 2D 8A 59 A0 0F A0 0F A0 0F"
	if got := d.packet(0, 0.5, 3); !bytes.Equal(got, rawhost.Bytes(t, want)) {
		t.Errorf("% X, want %s", got, want)
	}
	if d.angle != 92 {
		t.Errorf("the next angle is %v", d.angle)
	}
	d.angle = 0
	want = "AA 55 8F 01 01 00 01 00 85 5B A0 0F" // a revolution begins, at 7.1 Hz
	if got := d.packet(71<<1|1, 0.5, 1); !bytes.Equal(got, rawhost.Bytes(t, want)) {
		t.Errorf("% X, want %s", got, want)
	}
}

// A TG30 sends mm, and a T-mini an intensity in front of each distance. Their angles are where the samples were.
func TestOtherPackets(t *testing.T) {
	for model, want := range map[Model]string{
		TG30:  "AA 55 00 02 41 2D 81 2D 6A 57 DC 05 DC 05",
		TMini: "AA 55 00 02 41 2D 81 2D 6A 57 C8 70 17 C8 70 17",
	} {
		d := lidar(model, 1500)
		d.opts.Room = func(degrees float64) float64 { return 1500 + 0.001*(degrees-90.5) }
		d.angle = 90.5
		if got := d.packet(0, 0.5, 2); !bytes.Equal(got, rawhost.Bytes(t, want)) {
			t.Errorf("% X, want %s", got, want)
		}
	}
}

// The checksum is of all words, and far distances stay within a word.
func TestSealed(t *testing.T) {
	for _, mm := range []float64{0, 155.3, 4000, 1e6} {
		d := lidar(X4, mm)
		p := d.packet(0, 0.5, 40)
		sum := uint16(0)
		for at := 0; at < len(p); at += 2 {
			sum ^= binary.LittleEndian.Uint16(p[at:])
		}
		if sum != 0 || len(p) != 10+2*40 {
			t.Errorf("%v mm: %d bytes, all words make %04X: % X", mm, len(p), sum, p)
		}
	}
}

// Hosts correct the angle of a sample by its distance, as the manuals have it. At 155.3 mm there is nothing to correct.
func TestCorrection(t *testing.T) {
	for mm, want := range map[float64]float64{
		155.3: 0,
		1000:  -6.7622, // atan(21.8 * (155.3 - 1000) / (155.3 * 1000)), of the manual
		8000:  -7.8374,
	} {
		if got := correction(mm); math.Abs(got-want) > 0.03 {
			t.Errorf("%v mm: %v deg, want %v", mm, got, want)
		}
	}
	d := lidar(X4, 0)
	d.opts.Room = func(degrees float64) float64 { return 1000 + 10*degrees }
	mm := d.see(90)
	if want := 1000 + 10*(90+correction(mm)); math.Abs(mm-want) > 0.1 {
		t.Errorf("sees %v mm, and a host places that where the room has %v", mm, want)
	}
}
