package kobuki

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/devicetest"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

// packet makes a packet of parts, by the rules of the specification.
func packet(parts ...byte) []byte {
	p := append([]byte{0xAA, 0x55, byte(len(parts))}, parts...)
	x := byte(0)
	for _, b := range p[2:] {
		x ^= b
	}
	return append(p, x)
}

// full is a packet with all default parts, and want has its fields.
var (
	full = packet(slices.Concat(
		[]byte{1, 15, 0x34, 0x12, 0b100, 0b10, 0b010, 0xFE, 0xFF, 0x01, 0x80, 200, 56, 0, 6, 167, 0b01},
		[]byte{3, 3, 1, 2, 4},
		[]byte{4, 7, 0xB0, 0xB9, 0x18, 0xFC, 0, 0, 0},
		[]byte{13, 14, 9, 6}, make([]byte, 12),
	)...)
	want = report{Time: 0x1234, Bumpers: 4, Dropped: 2, Cliffs: 2, Left: 0xFFFE, Right: 0x8001, Stalled: true,
		Battery: 167, Gyro: true, Angle: -18000, Rate: -1000}
)

var parser = devicetest.Framed(inspect, maxPacket)

// found returns the reports in the parts of a stream.
func found(parts ...[]byte) (all []report) {
	packets, _, _ := parser.Find(parts...)
	for _, p := range packets {
		if r, ok := decode(p); ok {
			all = append(all, r)
		}
	}
	return all
}

// Reports are found however they are cut, and behind whatever is in front of them.
func TestReportCutAtEveryByte(t *testing.T) {
	bad := slices.Clone(full)
	bad[30] ^= 1
	in := slices.Concat([]byte{0xAA, 0xAA, 0x55, 0}, full, full[:20], full, packet(11, 4, 0, 2, 1, 0), bad, full)
	for cut := range len(in) + 1 {
		if all := found(in[:cut], in[cut:]); !slices.Equal(all, []report{want, want, want}) {
			t.Fatalf("cut at %d: %+v", cut, all)
		}
	}
}

func TestDamagedReportsAreDropped(t *testing.T) {
	for i := range full {
		bad := slices.Clone(full)
		bad[i] ^= 4
		all := found(bad, full, full, full, full, full) // a damaged size may take up to 255 bytes
		if len(all) < 3 || slices.ContainsFunc(all, func(r report) bool { return r != want }) {
			t.Errorf("byte %d damaged: %+v", i, all)
		}
	}
	for name, p := range map[string][]byte{
		"no parts": packet(), "a part that is cut off": packet(1, 15, 0), "half a head": packet(3, 1, 0, 1), "a short part": packet(1, 2, 0, 0),
	} {
		if all := found(p); len(all) != 0 {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// Speeds and radii are the ones in the specification's table.
func TestGoldenCommands(t *testing.T) {
	for c, want := range map[codec.PositionCommand][]byte{
		{}:                          {0xAA, 0x55, 6, 1, 4, 0, 0, 0, 0, 3},
		{Speed: 200}:                packet(1, 4, 200, 0, 0, 0),
		{Speed: -200}:               packet(1, 4, 0x38, 0xFF, 0, 0),
		{TurnRate: 90}:              packet(1, 4, 181, 0, 1, 0),                           // w * b / 2
		{TurnRate: -90}:             packet(1, 4, 0x4B, 0xFF, 1, 0),                       //
		{Speed: 200, TurnRate: 57}:  packet(1, 4, 0x3A, 1, 201, 0),                        // 200 * (201 + 115) / 201
		{Speed: 200, TurnRate: -57}: packet(1, 4, 0x3A, 1, 0x37, 0xFF),                    //
		{Speed: -200, TurnRate: 57}: packet(1, 4, 0xC6, 0xFE, 0x37, 0xFF),                 // backward, the centre on the right
		{Speed: 600, TurnRate: 1}:   packet(1, 4, 90, 2, 0xFF, 0x7F),                      // farther than a radius can be
		{Speed: 2000}:               packet(1, 4, 0xBC, 2, 0, 0),                          // as fast as it can
		{Speed: 1, TurnRate: 90}:    packet(slices.Concat([]byte{1, 4, 181, 0, 1, 0})...), // a radius of 1
	} {
		if got := appendDrive(nil, c); !bytes.Equal(got, want) {
			t.Errorf("%+v: % x, want % x", c, got, want)
		}
	}
}

func TestProbe(t *testing.T) {
	answers := devicetest.Probe(t, Kind().Probe)
	answers("one report", string(full), false, "", "")
	answers("two", string(slices.Concat(full[5:], full, full, full[:9])), true, "", "")
}

// FuzzReports: each parsed packet is a packet in the bytes of the specification.
func FuzzReports(f *testing.F) {
	f.Add(full)
	f.Add(slices.Concat([]byte{0xAA, 0x55, 2, 1}, full, packet(1, 0), packet(4, 7, 0, 0, 0, 0, 0, 0, 0)))
	f.Fuzz(func(t *testing.T, in []byte) {
		parser.Account(t, in, func(p []byte) {
			decode(p)
			if !bytes.Equal(p, packet(p[3:len(p)-1]...)) {
				t.Fatalf("% x is taken for a packet", p)
			}
		})
	})
}

// All reports of one read are taken at once, also those that the buffer holds behind the
// first, and not with the next read.
func TestReportsOfOneRead(t *testing.T) {
	b, _ := transporttest.NewKind(t, Kind())
	b.Subscribe()
	later := packet(1, 15, 0x48, 0x12, 0, 0, 0, 0xFE, 0xFF, 0x01, 0x80, 200, 56, 0, 6, 120, 0b01)
	b.Port().Say(slices.Concat(full, later, later[:9]))
	if got := b.Link.Device(codec.Misc).Data(); len(got) != codec.MiscSize || got[2] != 120 {
		t.Errorf("%v, want the battery of the second report", got)
	}
}

// A robot that is switched off and on while the driver is up has counters and a clock that begin anew: its pose stays, and
// nothing moves by itself. A pause of this computer is no restart.
func TestRestart(t *testing.T) {
	b, _ := transporttest.NewKind(t, Kind())
	b.Subscribe()
	report := func(time, counts uint16, angle byte) {
		part := []byte{basicID, basicSize, byte(time), byte(time >> 8), 0, 0, 0, byte(counts), byte(counts >> 8), byte(counts), byte(counts >> 8),
			0, 0, 0, 0, 120, 0, gyroID, gyroSize, 0, angle, 0, 0, 0, 0, 0}
		b.Port().Say(packet(part...))
	}
	pose := func() codec.PositionData { return transporttest.Data[codec.PositionData](t, b.Client) }
	report(40000, 10000, 20)
	report(40020, 10100, 20)
	b.Skip(10 * time.Second)
	report(40040, 10200, 20)
	report(50000, 10300, 20)
	if len(b.Ports) != 1 {
		t.Fatal("a pause counts as a restart")
	}
	before := pose()
	b.Client.SetCommand(b.Now(), codec.PositionCommand{Speed: 100}.Append(nil))
	report(100, 0, 0)
	if !b.Until(func() bool { return len(b.Ports) == 2 }, 10*time.Second) || !b.Ports[0].Closed || b.Client.Command() != nil {
		t.Fatalf("%d ports, the first one closed: %v, command %v", len(b.Ports), b.Ports[0].Closed, b.Client.Command())
	}
	report(400, 0, 0)
	b.Pass(time.Second)
	report(1400, 0, 0)
	if d := pose(); d.X != before.X || d.Y != before.Y || d.Heading != before.Heading {
		t.Errorf("pose %+v, before %+v", d, before)
	}
}

// The robot's clock has 16 bits. A restart within 3 s behind its end is one as well: the clock has gone back.
func TestRestartBehindTheEndOfTheClock(t *testing.T) {
	const drift = uint16(drift / time.Millisecond)
	for _, c := range []struct {
		elapsed time.Duration
		ms      uint16
		want    bool
	}{
		{20 * time.Millisecond, 20, true},
		{2 * time.Second, 20, true},         // the report has waited
		{20 * time.Millisecond, 2000, true}, // the one before has waited
		{20 * time.Millisecond, drift + 20, false},
		{0, 1<<16 - 71, false}, // from 91 ms to 20 ms
		{4 * time.Second, 1<<16 - 71, false},
		{1<<16*time.Millisecond - time.Second, 1<<16 - 71, true},
		{1<<16*time.Millisecond + 20*time.Millisecond, 20, true},
	} {
		if got := (&Driver{}).agrees(c.elapsed, c.ms); got != c.want {
			t.Errorf("%d ms in %v: %v", c.ms, c.elapsed, got)
		}
	}
}

// A command waits for the next report, and not for one that is overdue: the robot may hear, and must stop.
func TestCommandsDoNotWaitForOverdueReports(t *testing.T) {
	b, _ := transporttest.NewKind(t, Kind())
	b.Subscribe()
	b.Port().Say(full)
	b.Port().Wrote = nil
	check := func(what string, want []byte) {
		t.Helper()
		if !bytes.Equal(b.Port().Wrote, want) {
			t.Errorf("%s the robot is sent % X, want % X", what, b.Port().Wrote, want)
		}
		b.Port().Wrote = nil
	}
	command := codec.PositionCommand{}.Append(nil)
	b.Client.SetCommand(b.Now(), command)
	b.Pass(overdue - time.Millisecond)
	check("in time", nil)
	b.Pass(time.Millisecond)
	check("when the report is overdue", stop)
	b.Pass(time.Second)
	check("without a newer command", nil)
	b.Client.SetCommand(b.Now(), command)
	check("with a newer one", stop)
}

// Inputs are the lines of the specification's table.
func TestInputs(t *testing.T) {
	p := packet(slices.Concat(
		[]byte{1, 15, 0, 0, 0, 0b11, 0b101, 0, 0, 0, 0, 0, 0, 0b110, 0, 150, 0},
		[]byte{16, 16, 0b1010, 0, 0xFF, 0x0F, 1, 0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0},
	)...)
	want := report{Dropped: 3, Cliffs: 5, Buttons: 6, Battery: 150, Inputs: true, Digital: 10,
		Analog: [4]uint16{4095, 1, 2048, 2}}
	if all := found(p); len(all) != 1 || all[0] != want {
		t.Errorf("%+v, want %+v", all, want)
	}
}

func TestAppendOutputs(t *testing.T) {
	if got, want := appendOutputs(nil, 0x08F1), packet(12, 2, 0xF1, 8); !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
}

// newSensors returns a robot with a client of all its devices, which has sent a report.
func newSensors(t *testing.T) (b *transporttest.Bench, io *devices.Device) {
	t.Helper()
	driver := must.Get(Kind().New(devices.Args{Name: "kobuki", Values: Kind().Defaults()}))(t)
	instance := Kind().Instance(driver)
	instance.Select([]devices.Spec{devices.Position(), devices.Misc(), devices.IO(), devices.IMU()})
	b = transporttest.NewBench(t, instance)
	b.Subscribe()
	for _, letter := range []byte{codec.IO, codec.IMU} {
		_ = must.Get(b.Link.Device(letter).Subscribe(b.Now(), b))(t)
	}
	b.Port().Say(full)
	return b, b.Link.Device(codec.IO)
}

// A command waits for a line whose buffer is full, and not for hardware that is lost.
func TestOutputsWait(t *testing.T) {
	b, io := newSensors(t)
	command, want := codec.IOCommand{Channel: 24, Value: 1}.Append(nil), packet(12, 2, 0xF0, 1)
	b.Port().Stuck = true
	b.Port().Write(make([]byte, 1))
	io.SetCommand(b.Now(), command)
	if b.Port().Buffered() != 1 {
		t.Error("a command is written to a full line")
	}
	b.Port().HangUp()
	b.Until(func() bool { return len(b.Ports) == 2 }, 5*time.Second)
	io.SetCommand(b.Now(), command)
	b.Port().Say(full)
	if bytes.Contains(b.Port().Wrote, want) {
		t.Error("outputs are set by themselves in a robot that is found again")
	}
	io.SetCommand(b.Now(), command)
	if !bytes.HasSuffix(b.Port().Wrote, want) {
		t.Errorf("written % x", b.Port().Wrote)
	}
}

func TestHotPathAllocatesNothing(t *testing.T) {
	b, io := newSensors(t)
	p, before, command := b.Port(), io.Seq(), codec.IOCommand{Channel: 24, Value: 1}.Append(nil)
	if n := testing.AllocsPerRun(100, func() {
		p.Say(full)
		io.SetCommand(b.Now(), command)
		p.Wrote = p.Wrote[:0]
	}); n != 0 || io.Seq() < before+100 || !b.Link.Device(codec.IMU).HasData() {
		t.Errorf("%v allocations a report", n)
	}
}
