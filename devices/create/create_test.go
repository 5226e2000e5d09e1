package create

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/devicetest"
	"player/devices/transport"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

const ms = time.Millisecond

// frame is a frame of the stream, written from the specification and not from the
// table of the package.
func frame(bumps, cliffs byte, overcurrent byte, millivolt uint16, mode byte, left, right uint16) []byte {
	f := []byte{19, 23, 7, bumps, 9, cliffs & 1, 10, cliffs >> 1 & 1, 11, cliffs >> 2 & 1, 12, cliffs >> 3 & 1, 14, overcurrent,
		22, byte(millivolt >> 8), byte(millivolt), 35, mode, 43, byte(left >> 8), byte(left), 44, byte(right >> 8), byte(right)}
	return seal(f)
}

// withButtons returns a frame with the packet of buttons behind its others.
func withButtons(f []byte, buttons byte) []byte {
	f = append(slices.Clone(f[:len(f)-1]), 18, buttons)
	f[1] += 2
	return seal(f)
}

func seal(f []byte) []byte {
	sum := byte(0)
	for _, b := range f {
		sum += b
	}
	return append(f, -sum)
}

// The checksum of the specification's example of a stream.
func TestChecksumOfTheSpecification(t *testing.T) {
	if got := seal([]byte{19, 5, 29, 2, 25, 13, 0}); got[7] != 163 {
		t.Errorf("checksum %d, want 163", got[7])
	}
}

func TestGoldenCommands(t *testing.T) {
	for _, tt := range []struct {
		name      string
		got, want []byte
	}{
		{"stream", AppendStream(nil, false), []byte{148, 10, 7, 9, 10, 11, 12, 14, 22, 35, 43, 44}},
		{"stream with buttons", AppendStream(nil, true), []byte{148, 11, 7, 9, 10, 11, 12, 14, 22, 35, 43, 44, 18}},
		{"LEDs", AppendLEDs(nil, 4, 0, 128), []byte{139, 4, 0, 128}}, // the specification's example
		{"drive", AppendDrive(nil, -2, 0x0123), []byte{145, 0x01, 0x23, 0xFF, 0xFE}},
	} {
		if !bytes.Equal(tt.got, tt.want) {
			t.Errorf("%s: % d, want % d", tt.name, tt.got, tt.want)
		}
	}
}

// parsesCut tests whether frames that are cut at each byte are the wanted reports.
func parsesCut(t *testing.T, whole []byte, want []Report) {
	t.Helper()
	for cut := range len(whole) {
		var p Parser
		var got []Report
		for _, part := range [][]byte{whole[:cut], whole[cut:]} {
			for r, rest, ok := p.Next(part); ok; r, rest, ok = p.Next(rest) {
				got = append(got, r)
			}
		}
		if !slices.Equal(got, want) || p.Stats.Garbage != 0 {
			t.Fatalf("cut at %d: %+v", cut, got)
		}
	}
}

func TestReportCutAtEveryByte(t *testing.T) {
	whole := slices.Concat(frame(2, 0b1000, 0x10, 15600, 2, 0xFFFE, 3), frame(0x0D, 0b0001, 0x07, 14000, 1, 7, 8))
	want := []Report{
		{Bumps: 2, Cliffs: 8, Stalled: true, Battery: 15600, Mode: ModeSafe, Left: 0xFFFE, Right: 3},
		{Bumps: 13, Cliffs: 1, Battery: 14000, Mode: Passive, Left: 7, Right: 8},
	}
	parsesCut(t, whole, want)
}

func TestDamagedFramesAreDropped(t *testing.T) {
	good := frame(0, 0, 0, 15000, 2, 1, 2)
	for i := range good {
		bad := slices.Clone(good)
		bad[i]++
		var p Parser
		n := 0
		for _, part := range [][]byte{bad, good, good} {
			for _, rest, ok := p.Next(part); ok; _, rest, ok = p.Next(rest) {
				n++
			}
		}
		if n != 2 {
			t.Errorf("byte %d damaged: %d reports, want 2", i, n)
		}
	}
}

// Lines of text between frames are no noise, wherever the stream is cut.
func TestText(t *testing.T) {
	report := frame(2, 0, 0, 15600, 1, 7, 8)
	const charging = "bat:   min 3  sec 12  mV 16380  mA 1230  tenths-deg-C 263  mAH 2068  state 5\r\n"
	for _, tt := range []struct {
		in      string
		garbage uint64
	}{
		{charging, 0},
		{"bl-start\x032004-05-26-1037-L   \x03Roomba by iRobot!\r\nstm32\r2018-07-19-1005-L\nbattery-current-zero 253\r\n", 0},
		{"bat:", 4},    // cut off by a frame
		{"abc\r\n", 5}, // too short to be more than noise
		{strings.Repeat("x", maxText+1) + "\n", 1}, // too long by one
		{"text with \xff in it\r\n", 11},
	} {
		whole := slices.Concat(report, []byte(tt.in), report)
		for cut := range len(whole) {
			var p Parser
			n := 0
			for _, part := range [][]byte{whole[:cut], whole[cut:]} {
				for r, rest, ok := p.Next(part); ok; r, rest, ok = p.Next(rest) {
					if n++; r.Left != 7 {
						t.Errorf("%+v", r)
					}
				}
			}
			if n != 2 || p.Stats.Garbage != tt.garbage || p.Stats.Broken != 0 {
				t.Fatalf("%q cut at %d: %d reports, %+v", tt.in, cut, n, p.Stats)
			}
		}
	}
}

// A robot at its charger is not noisy: no warning, and nothing that /status counts.
func TestCharging(t *testing.T) {
	b := newBench(t, false)
	b.Ready()
	for range 5 {
		b.Pass(time.Second)
		b.Port().Say([]byte("bat:   min 3  sec 12  mV 16380  mA 1230  tenths-deg-C 263  mAH 2068  state 5\r\n"))
	}
	if n := b.Log.FilterMessage(transport.LogDamaged).Len(); n != 0 || b.position.Link().Counts.Dropped != 0 {
		t.Errorf("%d warnings, %d bytes dropped", n, b.position.Link().Counts.Dropped)
	}
}

// FuzzParser: each parsed frame is a frame in the bytes of the specification.
func FuzzParser(f *testing.F) {
	f.Add(frame(1, 2, 3, 15000, 2, 1, 2), 3)
	f.Add(withButtons(frame(0, 1, 0, 15000, 2, 1, 2), 0x81), 9)
	f.Add([]byte("bat:   min 3\r\n\x13\x17"), 7)
	f.Add(slices.Concat([]byte{19, 19, 23}, frame(0, 0, 0, 0, 0, 0, 0)), 1)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		var p Parser
		cut = max(0, min(cut, len(in)))
		reports, buttons := 0, 0
		for _, part := range [][]byte{in[:cut], in[cut:]} {
			for r, rest, ok := p.Next(part); ok; r, rest, ok = p.Next(rest) {
				reports++
				back := frame(r.Bumps, 0, 0, r.Battery, byte(r.Mode), r.Left, r.Right)
				if r.HasButtons {
					buttons++
				}
				if !bytes.Contains(in, back[14:25]) { // the packets that decode leaves complete
					t.Fatalf("%+v is not in % x", r, in)
				}
			}
		}
		framed := uint64(reports*frameSize + buttons*buttonsSize)
		if total := framed + p.Text + p.Stats.Garbage + uint64(len(p.Waiting(p.buf[:]))); total != uint64(len(in)) {
			t.Fatalf("%d bytes of %d are accounted for", total, len(in))
		}
	})
}

func TestOdometry(t *testing.T) {
	o := newOdometry()
	var d codec.PositionData
	now := time.Second
	update := func(after time.Duration, left, right uint16) bool {
		now += after
		return o.Update(now, left, right, math.NaN())
	}
	update(0, 65500, 10)
	for i := range uint16(100) {
		if !update(15*ms, 65500+(i+1)*20, 10+(i+1)*20) || update(0, 65500, 40000) {
			t.Fatal("a report is wrongly believed or not")
		}
	}
	update(2*time.Second, 65500+2249-65536, 10+2249) // over the end of the counter, and a gap
	if o.Fill(&d); d.X != 1000 || d.Y != 0 || d.Heading != 0 {
		t.Fatalf("after a metre: %+v", d)
	}
	o.Restart()
	update(15*ms, 7, 30000)
	update(time.Second, 7, 30000+1660)
	if o.Fill(&d); d.Heading != 180 || d.X != 1000 || d.Y != 235 {
		t.Fatalf("after a restart and half a turn around the left wheel: %+v", d)
	}
	// A restart that the driver has not seen: nothing moves, and further movement counts.
	if update(15*ms, 20000, 0) {
		t.Error("counts that cannot be are believed at once")
	}
	for range 10 {
		update(15*ms, 20000, 0)
	}
	if o.Fill(&d); d.Heading != 180 || d.X != 1000 || d.Y != 235 || d.Speed != 0 {
		t.Fatalf("after another restart: %+v", d)
	}
	update(0, 20000+225, 225) // delayed, with all lost counts
	if o.Fill(&d); d.X != 900 || d.Y != 235 {
		t.Fatalf("after ten centimetres: %+v", d)
	}
}

// bench is a driver with a client, and a robot that the test plays.
type bench struct {
	*transporttest.Bench
	position *devices.Device
	misc     *devices.Device

	heard       []byte
	streams     bool
	mode        byte
	baud        int
	left, right uint16
	bumps       byte // with a wheel dropped it stays in mode Passive
	latency     time.Duration
}

func newBench(t *testing.T, full bool) *bench {
	b := &bench{Bench: transporttest.NewBench(t, Kind().Instance(New("/dev/robot", full))), baud: 115200}
	b.position, b.misc = b.Link.Device(codec.Position), b.Link.Device(codec.Misc)
	b.Heard = b.hear
	b.After(15*ms, b.speak)
	return b
}

func (b *bench) hear(p *transporttest.Port, c []byte) {
	if p.Baud != b.baud {
		return
	}
	b.heard = append(b.heard, c...)
	for _, op := range c {
		switch op { // arguments of these tests are no opcodes
		case 128:
			b.mode = 1
		case 131:
			if b.bumps&0b1100 == 0 {
				b.mode = 2
			}
		case 132:
			b.mode = 3
		case 148:
			b.streams = true
		}
	}
}

func (b *bench) speak() {
	if b.streams && len(b.Ports) > 0 && b.Port().Baud == b.baud {
		report := frame(b.bumps, 0, 0, 15600, b.mode, b.left, b.right)
		b.After(b.latency, func() { b.Port().Say(report) })
	}
	b.After(15*ms, b.speak)
}

// open has the client open its device. It returns how the setup has ended.
func (b *bench) open() error {
	b.Subscribe()
	if !b.Until(func() bool { return len(b.Done) > 0 }, 10*time.Second) {
		b.T.Fatal("the setup does not end")
	}
	return b.Done[0]
}

func TestHandshake(t *testing.T) {
	for _, full := range []bool{false, true} {
		for _, baud := range []int{115200, 19200} {
			b := newBench(t, full)
			b.baud = baud
			b.Ready()
			mode := byte(131)
			if full {
				mode = 132
			}
			want := slices.Concat([]byte{128, mode, 145, 0, 0, 0, 0}, AppendStream(nil, false))
			if !bytes.Equal(b.heard, want) {
				t.Errorf("at %d baud the robot heard % d, want % d", baud, b.heard, want)
			}
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	b := newBench(t, false)
	b.baud = 9600
	begin := b.Now()
	err := b.open()
	if err == nil || !strings.Contains(err.Error(), "/dev/robot: no robot answers at 115200 or 19200 baud") {
		t.Fatalf("error %v", err)
	}
	if took := b.Now() - begin; took > Kind().SetupLimit {
		t.Errorf("told after %v", took)
	}
}

func TestNewestCommand(t *testing.T) {
	b := newBench(t, false)
	b.Ready()
	b.Pass(50 * ms)
	b.heard = nil
	for speed := range int16(20) {
		b.position.SetCommand(b.Now(), codec.PositionCommand{Speed: speed + 1}.Append(nil))
	}
	b.Pass(0)
	b.Pass(100 * ms)
	if want := []byte{145, 0, 1, 0, 1, 145, 0, 20, 0, 20}; !bytes.Equal(b.heard, want) {
		t.Errorf("the robot heard % d, want % d", b.heard, want)
	}
}

// A command that noise has damaged is carried out a moment later: a stop above all.
func TestCommandIsRepeated(t *testing.T) {
	b := newBench(t, false)
	b.Ready()
	b.position.SetCommand(b.Now(), codec.PositionCommand{Speed: 20}.Append(nil))
	b.Pass(50 * ms)
	b.position.SetCommand(b.Now(), codec.PositionCommand{}.Append(nil))
	b.Pass(50 * ms)
	b.heard = nil // without the stop
	b.Pass(repeatTime)
	if want := []byte{145, 0, 0, 0, 0}; !bytes.Equal(b.heard, want) {
		t.Errorf("the robot heard % d, want % d", b.heard, want)
	}
	must.Do(t, b.position.Configure(b.Now(), []byte{codec.ConfigMotors, 0}))
	b.Pass(50 * ms)
	b.heard = nil
	b.Pass(2 * repeatTime)
	if len(b.heard) != 0 {
		t.Errorf("with its motors off the robot heard % d", b.heard)
	}
}

// A robot that switches its motors off by itself stays off until a client asks.
func TestCliff(t *testing.T) {
	b := newBench(t, false)
	b.Ready()
	b.Pass(obeyTime)
	b.position.SetCommand(b.Now(), codec.PositionCommand{Speed: 20}.Append(nil))
	b.Pass(50 * ms)
	b.mode, b.bumps, b.heard = 1, 0b0100, nil // the right wheel drops
	b.Pass(50 * ms)
	if n := b.Log.FilterMessageSnippet("switched its motors off").Len(); n != 1 {
		t.Errorf("%d log lines", n)
	}
	if b.position.Command() != nil || !b.position.MotorsOff(b.Now()) {
		t.Error("the command is still there, or the motors count as on")
	}
	if got := b.misc.Data(); got[0] != 0b10000 || got[2] != 156 {
		t.Errorf("misc % d", got)
	}
	// It is still off the floor.
	must.Do(t, b.position.Configure(b.Now(), []byte{codec.ConfigMotors, 1}))
	b.position.SetCommand(b.Now(), codec.PositionCommand{Speed: 20}.Append(nil))
	b.Pass(obeyTime + 50*ms)
	if n := b.Log.FilterMessageSnippet("switched its motors off").Len(); n != 2 || b.position.Command() != nil || !b.position.MotorsOff(b.Now()) {
		t.Errorf("%d log lines; the command is still there, or the motors count as on", n)
	}
	b.bumps, b.heard = 0, nil
	must.Do(t, b.position.Configure(b.Now(), []byte{codec.ConfigMotors, 1}))
	b.Pass(obeyTime + 50*ms)
	if b.position.MotorsOff(b.Now()) {
		t.Error("the motors count as off")
	}
	if want := []byte{145, 0, 0, 0, 0, 131}; !bytes.Equal(b.heard, want) {
		t.Errorf("the robot heard % d, want % d", b.heard, want)
	}
	must.Do(t, b.position.Configure(b.Now(), []byte{codec.ConfigMotors, 0}))
	b.Pass(50 * ms)
	if n := b.Log.FilterMessageSnippet("switched its motors off").Len(); n != 2 {
		t.Error("motors that a client switched off are complained about")
	}
}

// A robot that streamed before the handshake reports the modes that it had in front of and during it, and an adapter
// brings that later.
func TestLateReports(t *testing.T) {
	b := newBench(t, false)
	b.streams, b.mode, b.latency = true, byte(ModeSafe), 60*ms
	b.Ready()
	b.Pass(obeyTime + 50*ms)
	if b.position.MotorsOff(b.Now()) {
		t.Error("the motors count as off")
	}
}

func TestReportsAllocateNothing(t *testing.T) {
	b := newBench(t, false)
	b.Ready()
	f := frame(0, 0, 0, 15600, 2, 0, 0)
	if n := testing.AllocsPerRun(1000, func() { b.Port().Say(f) }); n != 0 {
		t.Errorf("%v allocations a report", n)
	}
}

func TestProbe(t *testing.T) {
	report := string(frame(0, 0, 0, 15000, 1, 2, 3))
	answers := devicetest.Probe(t, probe())
	answers("a report behind garbage", "\x00\x13\x01"+report, true, "", "")
	answers("half a report", report[:20], false, "", "")
	answers("a robot's packet", "\xFA\xFB\x03\x00\x00\x00", false, "", "")
}

// Buttons are in the stream if the block names device io, and a frame with them is found wherever it is cut.
func TestButtons(t *testing.T) {
	plain := frame(0x0C, 0b0101, 0, 15600, 2, 5, 6)
	whole := slices.Concat(withButtons(plain, 0x82), plain)
	want := []Report{
		{Bumps: 12, Cliffs: 5, Battery: 15600, Mode: ModeSafe, Left: 5, Right: 6, HasButtons: true, Buttons: 0x82},
		{Bumps: 12, Cliffs: 5, Battery: 15600, Mode: ModeSafe, Left: 5, Right: 6},
	}
	parsesCut(t, whole, want)
}

func TestHotPathAllocatesNothing(t *testing.T) {
	instance := Kind().Instance(New("/dev/robot", false))
	instance.Select([]devices.Spec{devices.Position(), devices.Misc(), devices.IO()})
	b := &bench{Bench: transporttest.NewBench(t, instance), baud: 115200}
	b.position, b.misc = b.Link.Device(codec.Position), b.Link.Device(codec.Misc)
	b.Heard = b.hear
	b.After(15*ms, b.speak)
	b.Ready()
	if !bytes.Contains(b.heard, AppendStream(nil, true)) {
		t.Error("no stream with buttons is asked for")
	}
	io := b.Link.Device(codec.IO)
	_ = must.Get(io.Subscribe(b.Now(), b))(t)
	b.streams, b.Heard = false, nil
	b.Pass(100 * ms)
	p, in, before := b.Port(), withButtons(frame(0, 0, 0, 15600, 2, 0, 0), 1), io.Seq()
	command := codec.IOCommand{Channel: firstLED, Value: 1}.Append(nil)
	if n := testing.AllocsPerRun(100, func() {
		p.Say(in)
		io.SetCommand(b.Now(), command)
		b.Skip(15 * ms)
		p.Wrote = p.Wrote[:0]
	}); n != 0 || io.Seq() < before+100 {
		t.Errorf("%v allocations a report", n)
	}
}
