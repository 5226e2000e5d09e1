package sick

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"player/e2e/needs"
	"player/simulation/emulator/internal/rawhost"
	"player/simulation/emulator/line"
)

// wire is a cable that records the bytes sent.
type wire struct {
	baud int
	sent []string // "baud hex"
	busy bool
}

func (w *wire) Send(p []byte, _ string) { w.sent = append(w.sent, fmt.Sprintf("%d % X", w.baud, p)) }
func (w *wire) SetBaud(baud int)        { w.baud = baud }
func (w *wire) Busy() bool              { return w.busy }

const (
	hStop      = "02 00 02 00 20 25 35 08"
	hStream    = "02 00 02 00 20 24 34 08"
	h38400     = "02 00 02 00 20 40 50 08"
	hConfigure = "02 00 0A 00 20 00 53 49 43 4B 5F 4C 4D 53 BE C5"
	hPLS       = "02 00 0A 00 20 00 53 49 43 4B 5F 50 4C 53 CC FC"
	hVariant50 = "02 00 05 00 3B B4 00 32 00 3B 1F"
	hVariant1  = "02 00 05 00 3B B4 00 64 00 97 49"
	hGetConfig = "02 00 01 00 74 50 12"
	hSetConfig = "02 00 08 00 77 00 00 70 00 00 01 01 C7 7D"
	hType      = "02 00 01 00 3A 1E 12"
	hReset     = "02 00 01 00 10 34 12"

	dACK     = "02 80 03 00 A0 00 10 16 0A"
	dDenied  = "02 80 03 00 A0 01 10 14 0B"
	dNACK    = "02 80 02 00 92 10 7F 33"
	dVariant = "02 80 07 00 BB 01 B4 00 32 00 10 03 9D"
	dRefused = "02 80 07 00 BB 00 B4 00 64 00 10 7B 20"
	dType    = "02 80 16 00 BA 4C 4D 53 32 30 30 3B 33 30 31 30 36 3B 56 30 32 2E 31 30 20 10 99 AB"
)

func TestAnswers(t *testing.T) {
	tests := []struct {
		name string
		opts Options
		say  []string
		want []string // with the speed
		then func(s State) bool
	}{
		{"stop", Options{Streaming: true}, []string{hStop}, []string{"9600 " + dACK},
			func(s State) bool { return !s.Streaming }},
		{"stream", Options{}, []string{hStream}, []string{"9600 " + dACK},
			func(s State) bool { return s.Streaming && s.First == 0 }},
		{"stream a range", Options{}, []string{"02 00 06 00 20 27 5B 00 0F 01 B2 58"}, []string{"9600 " + dACK},
			func(s State) bool { return s.Streaming && s.First == 91 && s.Last == 271 }},
		{"range beyond the scan", Options{Resolution: 100}, []string{"02 00 06 00 20 27 5B 00 0F 01 B2 58"}, []string{"9600 " + dNACK},
			func(s State) bool { return !s.Streaming }},
		{"speed: ACK at the old one", Options{}, []string{h38400, hType}, []string{"9600 " + dACK, "38400 " + dType},
			func(s State) bool { return s.Counts["20 40"] == 1 && s.Counts["3A"] == 1 }},
		{"500000", Options{}, []string{"02 00 02 00 20 48 58 08", hType}, []string{"9600 " + dACK, "500000 " + dType}, nil},
		{"password", Options{Streaming: true}, []string{hConfigure}, []string{"9600 " + dACK},
			func(s State) bool { return s.Configuring && !s.Streaming }},
		{"password of another model", Options{Streaming: true}, []string{hPLS}, []string{"9600 " + dDenied},
			func(s State) bool { return !s.Configuring && s.Streaming }},
		{"no password is right", Options{Faults: Faults{WrongPassword: true}}, []string{hConfigure}, []string{"9600 " + dDenied},
			func(s State) bool { return !s.Configuring }},
		{"variant", Options{Resolution: 100}, []string{hConfigure, hVariant50}, []string{"9600 " + dACK, "9600 " + dVariant},
			func(s State) bool { return s.Resolution == 50 }},
		{"variant without configuration mode", Options{Resolution: 100}, []string{hVariant50}, []string{"9600 " + dVariant},
			func(s State) bool { return s.Resolution == 50 }},
		{"no variant without configuration mode", Options{Resolution: 100, Faults: Faults{LockVariant: true}}, []string{hVariant50, hConfigure, hVariant50},
			[]string{"9600 " + dRefused, "9600 " + dACK, "9600 " + dVariant}, func(s State) bool { return s.Resolution == 50 }},
		{"variant refused", Options{Resolution: 100, Faults: Faults{RefuseVariant: true}}, []string{hConfigure, hVariant50},
			[]string{"9600 " + dACK, "9600 " + dRefused}, func(s State) bool { return s.Resolution == 100 }},
		{"streaming ends configuration mode", Options{}, []string{hConfigure, hStream}, []string{"9600 " + dACK, "9600 " + dACK},
			func(s State) bool { return !s.Configuring }},
		{"understands nothing", Options{Faults: Faults{NackAll: true}}, []string{hStop, hType}, []string{"9600 " + dNACK, "9600 " + dNACK}, nil},
		{"does not answer two", Options{Faults: Faults{Nack: []byte{0x31, 0x74}}}, []string{"02 00 01 00 31 15 12", hGetConfig, hType},
			[]string{"9600 " + dNACK, "9600 " + dNACK, "9600 " + dType}, nil},
		{"unknown command", Options{}, []string{"02 00 01 00 30 14 12"}, []string{"9600 " + dNACK}, nil},
		{"unknown mode", Options{}, []string{"02 00 02 00 20 50 40 08"}, []string{"9600 " + dNACK}, nil},
		{"no mode", Options{}, []string{"02 00 01 00 20 04 12"}, []string{"9600 " + dNACK}, nil},
		{"wrong CRC", Options{}, []string{"02 00 01 00 31 15 13", hType}, []string{"9600 " + dType}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.opts.Resolution == 0 {
				tt.opts.Resolution = 50
			}
			tt.opts.Angle = 180
			w := &wire{baud: 9600}
			l := newLaser(tt.opts, w)
			for _, hex := range tt.say {
				l.Receive(0, rawhost.Bytes(t, hex))
			}
			if !slices.Equal(w.sent, tt.want) {
				t.Errorf("\n got %q\nwant %q", w.sent, tt.want)
			}
			if tt.then != nil && !tt.then(l.State()) {
				t.Errorf("%+v", l.State())
			}
		})
	}
}

// ask sends one telegram to the laser and returns the body of the answer.
func ask(t *testing.T, l *Laser, w *wire, hex string) []byte {
	t.Helper()
	w.sent = nil
	l.Receive(0, rawhost.Bytes(t, hex))
	if len(w.sent) != 1 {
		t.Fatalf("%s: answers %q", hex, w.sent)
	}
	b := rawhost.Bytes(t, w.sent[0][len("9600 "):])
	return b[header : len(b)-2]
}

func TestConfiguration(t *testing.T) {
	w := &wire{baud: 9600}
	l := newLaser(Options{Angle: 180, Resolution: 50, Unit: CM}, w)
	if b := ask(t, l, w, hGetConfig); b[0] != 0xF4 || b[3] != 0x70 || b[6] != 0 || b[7] != 0 || len(b) != 1+34+1 {
		t.Errorf("configuration % X", b)
	}
	if b := ask(t, l, w, hSetConfig); b[0] != 0xF7 || b[1] != 0 || l.State().Unit != CM {
		t.Errorf("outside configuration mode: % X", b)
	}
	ask(t, l, w, hConfigure)
	l.SetFaults(Faults{RefuseConfig: true})
	if b := ask(t, l, w, hSetConfig); b[1] != 0 || l.State().Unit != CM {
		t.Errorf("refusing: % X", b)
	}
	l.SetFaults(Faults{})
	if b := ask(t, l, w, hSetConfig); b[1] != 1 || b[7] != 1 || b[8] != 1 || len(b) != 2+34+1 || l.State().Unit != MM {
		t.Errorf("accepted: % X, %+v", b, l.State())
	}
	if b := ask(t, l, w, hGetConfig); b[6] != 1 || b[7] != 1 {
		t.Errorf("configuration after: % X", b)
	}
	bad := appendTelegram(nil, toLaser, []byte{0x77, 0, 0, 0x70, 0, 0, 0, 9})
	if b := ask(t, l, w, fmt.Sprintf("% X", bad)); b[1] != 0 || b[8] != 1 {
		t.Errorf("unknown unit: % X", b)
	}
}

func TestStatus(t *testing.T) {
	w := &wire{baud: 9600}
	l := newLaser(Options{Angle: 100, Resolution: 25}, w)
	for _, mode := range []struct {
		say  string
		mode byte
	}{{hStop, 0x25}, {hConfigure, 0x00}, {hStream, 0x24}} {
		ask(t, l, w, mode.say)
		b := ask(t, l, w, "02 00 01 00 31 15 12")
		if len(b) != 153 || b[0] != 0xB1 || b[8] != mode.mode || fmt.Sprintf("% X", b[107:111]) != "64 00 19 00" || b[122] != 1 {
			t.Errorf("status % X", b)
		}
	}
	l.status = 0x90
	if b := ask(t, l, w, "02 00 01 00 31 15 12"); b[152] != 0x90 {
		t.Errorf("ends with %02X", b[152])
	}
}

func TestScanTimes(t *testing.T) {
	w := &wire{baud: 38400}
	l := newLaser(Options{Angle: 180, Resolution: 50, Streaming: true, Rate: 10, Faults: Faults{BadCRC: 3}}, w)
	for now := time.Duration(0); now <= time.Second; {
		next := l.Advance(now)
		if next%(100*time.Millisecond) != 0 || next <= now {
			t.Fatalf("at %v: next at %v", now, next)
		}
		now = next
	}
	if len(w.sent) != 10 {
		t.Errorf("%d scans in a second", len(w.sent))
	}
	for i, hex := range w.sent {
		good := hex == w.sent[0]
		if good == (i%3 == 2) {
			t.Errorf("scan %d: right %v", i, good)
		}
	}
	w.busy = true
	if next := l.Advance(1950 * time.Millisecond); next != 2*time.Second || l.State().Scans != 10 {
		t.Errorf("busy: next at %v, %d scans", next, l.State().Scans)
	}
}

func TestReset(t *testing.T) {
	w := &wire{baud: 38400}
	l := newLaser(Options{Angle: 180, Resolution: 50, Streaming: true, Unit: CM}, w)
	l.Receive(time.Second, rawhost.Bytes(t, hReset))
	booted := l.Advance(time.Second)
	if booted != time.Second+bootTime || len(w.sent) != 1 || w.sent[0][:20] != "38400 02 80 02 00 91" {
		t.Fatalf("after the command: %q, next at %v", w.sent, booted)
	}
	l.Receive(time.Second+1, rawhost.Bytes(t, hType)) // ignored while booting
	if next := l.Advance(booted); next != 0 || len(w.sent) != 2 || w.sent[1][:19] != "9600 02 80 16 00 90" {
		t.Errorf("booted: %q, next at %v", w.sent, next)
	}
	if s := l.State(); s.Streaming || s.Boots != 1 || s.Unit != CM || w.baud != 9600 {
		t.Errorf("%+v at %d", s, w.baud)
	}
}

func TestStartRefuses(t *testing.T) {
	needs.Programs(t)
	for _, opts := range []Options{{Angle: 200}, {Resolution: 10}, {Unit: 7}, {Rate: -1}, {Line: line.Options{Link: "/no/such/place"}}} {
		if opts.Line.Link == "" {
			opts.Line.Link = rawhost.Link(t)
		}
		if l, err := Start(opts); err == nil {
			l.Close()
			t.Errorf("%+v: started", opts)
		}
	}
}

// start plugs a laser into a cable.
func start(t *testing.T, opts Options) *Laser {
	t.Helper()
	needs.Programs(t)
	opts.Line.Link = rawhost.Link(t)
	l, err := Start(opts)
	return rawhost.Plugged(t, l, err)
}

// readScan reads telegrams until a complete scan has arrived.
func readScan(h *rawhost.Host) {
	for window := [7]byte{}; window != [7]byte{0x02, 0x80, 0xD6, 0x02, 0xB0, 0x69, 0x41}; {
		copy(window[:], window[1:])
		window[6] = h.Read(1)[0]
	}
	h.Read(725)
}

func TestSessionOnTheCable(t *testing.T) {
	l := start(t, Options{Rate: 50, Unit: CM, Resolution: 100})
	h := rawhost.Open(t, l.Port(), 9600)
	h.Ask(hStop, dACK)
	h.Ask(h38400, dACK)
	h.Say(hType) // still at 9600
	rawhost.Until(t, l, "the question", func() bool { return len(l.Heard(line.HostToDevice)) == 8+8+7 })
	h.Speed(38400)
	h.Ask(hType, dType)
	h.Ask(hConfigure, dACK)
	h.Ask(hVariant50, dVariant)
	h.Say(hSetConfig)
	h.Read(43)
	h.Ask(hStream, dACK)
	for range 3 {
		readScan(h)
	}
	l.Reboot()
	h.Speed(9600)
	rawhost.Until(t, l, "the boot", func() bool { return l.State().Boots == 1 && l.Baud() == 9600 })
}

func TestLeftStreaming(t *testing.T) {
	l := start(t, Options{Line: line.Options{Baud: 38400}, Streaming: true, Rate: 50})
	h := rawhost.Open(t, l.Port(), 9600)
	h.Say(hStop) // ignored while booting
	rawhost.Until(t, l, "the command", func() bool { return len(l.Heard(line.HostToDevice)) == 8 })
	h.Speed(38400)
	readScan(h)
	h.Say(hStop)
	rawhost.Until(t, l, "the end of the stream", func() bool { return !l.State().Streaming })
}
