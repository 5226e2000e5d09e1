package testpattern

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/e2e/must"
)

const ms = time.Millisecond

// host is the outside world: deadlines.
type host struct {
	devices.Host
	at time.Duration
}

func (h *host) WakeAt(_ *devices.Link, at time.Duration) { h.at = at }

type client struct{}

func (client) SetupDone(time.Duration, *devices.Device, error) {}

// run opens every device of the pattern at start.
func run(t testing.TB, p Pattern, start time.Duration) (*devices.Table, *host, *Driver) {
	t.Helper()
	d := must.Get(New(p))(t)
	table, h := devices.NewTable(zap.NewNop()), &host{}
	must.Get(table.Attach(Kind().Instance(d)))(t)
	table.Connect(h)
	for _, spec := range all() {
		if pending, err := table.Device(spec.Letter).Subscribe(start, client{}); pending || err != nil {
			t.Fatal(pending, err)
		}
	}
	return table, h, d
}

func frame(table *devices.Table) []byte {
	var frame []byte
	for _, spec := range all() {
		frame = table.Device(spec.Letter).AppendBlock(frame)
	}
	return frame
}

// The paper measured frames of 807 and of 85 bytes.
func TestFrameSizes(t *testing.T) {
	for _, tt := range []struct {
		pattern Pattern
		want    int
	}{
		{Pattern{Rate: 10, LaserSize: codec.LaserSize}, 807},
		{Pattern{Rate: 10}, 85},
		{Pattern{Rate: 10, VisionBlobs: 1}, 85 + 64 + 10},
		{Pattern{Rate: 10, VisionBlobs: 320}, 85 + codec.MaxVisionSize},
	} {
		table, _, _ := run(t, tt.pattern, ms)
		if got := len(frame(table)); got != tt.want {
			t.Errorf("%+v: a frame of %d bytes, want %d", tt.pattern, got, tt.want)
		}
		for _, spec := range all() {
			if !table.Device(spec.Letter).HasData() {
				t.Errorf("%s has no data", spec.Name)
			}
		}
	}
}

func TestPayloadsAreWellFormed(t *testing.T) {
	table, _, _ := run(t, Pattern{Rate: 10, LaserSize: codec.LaserSize, VisionBlobs: 25}, ms)
	for letter, d := range map[byte]interface{ Decode([]byte) error }{
		codec.Laser: &codec.LaserData{}, codec.Sonar: &codec.SonarData{}, codec.Position: &codec.PositionData{}, codec.Misc: &codec.MiscData{},
		codec.Gripper: &codec.GripperData{}, codec.PTZ: &codec.PTZData{}, codec.Vision: &codec.VisionData{},
	} {
		if err := d.Decode(table.Device(letter).Data()); err != nil {
			t.Error(err)
		}
		if v, ok := d.(*codec.VisionData); ok && (len(v.Blobs) != 25 || v.Count[2] != 5) {
			t.Errorf("%d blobs, counts %v", len(v.Blobs), v.Count)
		}
	}
}

// It publishes just before multiples of the period, independently of its start, and skips
// data that would be late.
func TestDeadlines(t *testing.T) {
	for _, start := range []time.Duration{1, 3 * ms, 20 * ms, 20*ms - early, 20*ms - early - 1, 30 * ms} {
		t.Run(fmt.Sprint(start), func(t *testing.T) {
			_, h, d := run(t, Pattern{Rate: 50}, start)
			for range 100 {
				at := h.at
				if at <= start || at-start > 20*ms || (at+early)%(20*ms) != 0 {
					t.Fatalf("at %v the next deadline is %v", start, at)
				}
				start = at
				h.at = d.Tick(at - 50*time.Microsecond) // served with an earlier one
			}
			if h.at = d.Tick(h.at + 45*ms); h.at != start+3*20*ms+20*ms {
				t.Errorf("45 ms late, the next deadline is %v, the last was %v", h.at, start)
			}
		})
	}
}

func TestStamp(t *testing.T) {
	table, h, d := run(t, Pattern{Rate: 100, LaserSize: 8, Stamp: true}, ms)
	time := uint64(1)
	d.clock = func() uint64 { time += 1000; return time }
	for want := uint64(1001); want < 10000; want += 1000 {
		h.at = d.Tick(h.at)
		if got := binary.BigEndian.Uint64(table.Device(codec.Laser).Data()); got != want {
			t.Fatalf("stamp %d, want %d", got, want)
		}
		if got := binary.BigEndian.Uint64(table.Device(codec.Sonar).Data()); got != want {
			t.Fatalf("sonar's stamp %d, want %d", got, want)
		}
	}
	before := monotonic()
	d.clock = monotonic
	d.Tick(h.at)
	if got := binary.BigEndian.Uint64(table.Device(codec.Laser).Data()); got < before || got > monotonic() {
		t.Errorf("stamp %d is not the time, %d", got, before)
	}
	if _, err := New(Pattern{Rate: 10, LaserSize: 7, Stamp: true}); err == nil {
		t.Error("a stamp in 7 bytes")
	}
}

func TestCommandsAreReported(t *testing.T) {
	table, h, d := run(t, Pattern{Rate: 100}, ms)
	table.Device(codec.Position).SetCommand(2*ms, codec.PositionCommand{Speed: 300, TurnRate: -20}.Append(nil))
	ptz := codec.PTZCommand{Pan: 10, Tilt: -5, Zoom: 100}
	table.Device(codec.PTZ).SetCommand(2*ms, ptz.Append(nil))
	now := h.at
	d.Tick(now)
	var p codec.PositionData
	var z codec.PTZData
	if p.Decode(table.Device(codec.Position).Data()) != nil || z.Decode(table.Device(codec.PTZ).Data()) != nil {
		t.Fatal("bad data")
	}
	if p.Speed != 300 || p.TurnRate != -20 || p.Time != uint32(now.Milliseconds()) || z != ptz {
		t.Errorf("%+v %+v", p, z)
	}
	if table.Device(codec.Sonar).Configure(now, []byte{codec.ConfigMotors, 1}) != nil || table.Device(codec.Sonar).Configure(now, []byte("?")) == nil {
		t.Error("configurations are not checked")
	}
}

func TestTickAllocatesNothing(t *testing.T) {
	for _, drive := range [][]byte{nil, recorded(t)} {
		_, h, d := run(t, Pattern{Rate: 2500, LaserSize: codec.LaserSize, VisionBlobs: 9, Drive: drive, Stamp: true}, ms)
		if n := testing.AllocsPerRun(1000, func() { h.at = d.Tick(h.at) }); n != 0 {
			t.Errorf("drive of %d bytes: %v allocations", len(drive), n)
		}
	}
}

// named devices answer a client's questions, and carry out commands within their limits.
func TestNamedDevices(t *testing.T) {
	const start = time.Second
	d := must.Get(New(Pattern{Rate: 10, Readings: 541}))(t)
	table, h := devices.NewTable(zap.NewNop()), &host{}
	instance := Kind().Instance(d)
	instance.Select([]devices.Spec{devices.Ranger(), devices.IMU(), devices.GPS(), devices.IO().At(3), devices.Servo()})
	link := must.Get(table.Attach(instance))(t)
	table.Connect(h)
	data := map[byte]interface{ Decode(b []byte) error }{codec.Ranger: new(codec.RangerData), codec.IMU: new(codec.IMUData), codec.GPS: new(codec.GPSData),
		codec.IO: new(codec.IOData), codec.Servo: new(codec.ServoData)}
	named := map[byte]*devices.Device{}
	for _, device := range link.Devices() {
		if device.Code() == 0 {
			continue
		}
		named[device.Letter()] = device
		if pending, err := device.Subscribe(start, client{}); pending || err != nil {
			t.Fatal(pending, err)
		}
	}
	read := func() {
		t.Helper()
		link.Wake(h.at)
		for letter, into := range data {
			if err := into.Decode(named[letter].Data()); err != nil {
				t.Errorf("%c: %v", letter, err)
			}
		}
	}
	command := func(letter byte, payload []byte) {
		named[letter].SetCommand(start, payload)
		read()
	}
	read()
	if rays := named[codec.Ranger].AppendRays(nil); len(rays) != 1 || rays[0].Count != 541 || rays[0].Step != 0.5 {
		t.Errorf("rays %+v", rays)
	}
	if n := len(data[codec.Ranger].(*codec.RangerData).Ranges); n != 541 {
		t.Errorf("%d readings", n)
	}
	if gps := data[codec.GPS].(*codec.GPSData); !gps.HasPlace() {
		t.Errorf("gps %+v", gps)
	}
	values, joints := &data[codec.IO].(*codec.IOData).Values, &data[codec.Servo].(*codec.ServoData).Joints
	if n := len(named[codec.IO].AppendChannels(nil)); n != len(*values) {
		t.Errorf("%d channels of %d values", n, len(*values))
	}
	if n := len(named[codec.Servo].AppendChannels(nil)); n != len(*joints) {
		t.Errorf("%d joints of %d", n, len(*joints))
	}
	for _, c := range []codec.IOCommand{{Channel: 3, Value: 500}, {Channel: 2, Value: 1}, {Channel: 1, Value: 7}, {Channel: 200, Value: 7}} {
		command(codec.IO, c.Append(nil))
	}
	if want := []int32{0, 12600, 1, 100}; !slices.Equal(*values, want) {
		t.Errorf("values %v, want %v", *values, want)
	}
	command(codec.Servo, codec.ServoCommand{Joint: 0, Goal: -100000}.Append(nil))
	command(codec.Servo, codec.ServoCommand{Joint: 1, Goal: 5}.Append(nil))
	const known = codec.JointKnown | codec.JointPowered
	if want := []codec.Joint{{Position: -90000, Goal: -90000, State: known}, {Position: 5, Goal: 5, State: known}}; !slices.Equal(*joints, want) {
		t.Errorf("joints %v, want %v", *joints, want)
	}
	command(codec.Servo, []byte(devices.Servo().Stop))
	if want := []codec.Joint{{Position: -90000, Goal: codec.Unknown, State: known}, {Position: 5, Goal: codec.Unknown, State: known}}; !slices.Equal(*joints, want) {
		t.Errorf("stopped joints %v, want %v", *joints, want)
	}
}

func TestKind(t *testing.T) {
	k := Kind()
	if _, err := k.New(devices.Args{Name: k.Name, Values: k.Defaults()}); err != nil {
		t.Error(err)
	}
}

// recorded has the reports of a simulated robot that drove through an office (TestRecord
// writes them).
func recorded(t *testing.T) []byte {
	t.Helper()
	return must.Get(os.ReadFile("testdata/drive.bin"))(t)
}

func TestDriveIsChecked(t *testing.T) {
	whole := recorded(t)
	compact := codec.AppendBlock(nil, codec.KindCompact, []byte{0xff, 0xff, 0xff})
	for _, bad := range [][]byte{whole[:len(whole)-1], codec.AppendBlock(nil, codec.KindReply, nil), compact} {
		if _, err := New(Pattern{Rate: 10, LaserSize: codec.LaserSize, Drive: bad}); err == nil {
			t.Errorf("%d bytes are a drive", len(bad))
		}
	}
	k := Kind()
	values := k.Defaults()
	values["drive"] = "testdata/none.bin"
	if _, err := k.New(devices.Args{Name: k.Name, Values: values}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

func TestDrive(t *testing.T) {
	table, h, d := run(t, Pattern{Rate: 10, LaserSize: codec.LaserSize, Drive: recorded(t), Stamp: true}, ms)
	d.clock = func() uint64 { return 1 << 60 }
	var scan, last codec.LaserData
	var at, from codec.PositionData
	moved := 0
	for range d.drive.moments {
		h.at = d.Tick(h.at)
		must.Do(t, scan.Decode(table.Device(codec.Laser).Data()))
		must.Do(t, at.Decode(table.Device(codec.Position).Data()))
		if stamp := binary.BigEndian.Uint64(table.Device(codec.Sonar).Data()); stamp != 1<<60 {
			t.Fatalf("sonar's stamp is %x", stamp)
		}
		if scan == last || at.Time != uint32((h.at-100*ms).Milliseconds()) {
			t.Fatal("the same scan twice, or no time")
		}
		if at.X != from.X || at.Y != from.Y {
			moved++
		}
		last, from = scan, at
	}
	if n := len(d.drive.moments); n < 100 || moved < n/2 {
		t.Errorf("%d moments, %d with another place", n, moved)
	}
}
