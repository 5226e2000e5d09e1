package peer

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/e2e/must"
)

const ms = time.Millisecond

// far is a driver that hands on to a peer, and the peer's end of the line.
type far struct {
	devices.Host
	devices.Port
	outbox Outbox
	again  time.Duration
	full   bool // nothing is read
	got    []string
}

func (f *far) Setup(now time.Duration, link *devices.Link)     { link.Ready(now) }
func (f *far) Shutdown(time.Duration)                          {}
func (f *far) WakeAt(*devices.Link, time.Duration)             {}
func (f *far) SetupDone(time.Duration, *devices.Device, error) {}
func (f *far) Command(now time.Duration, d *devices.Device)    { f.again = f.outbox.Command(now, d) }
func (f *far) Configure(_ time.Duration, d *devices.Device, p []byte) error {
	return f.outbox.Configure(d, p)
}

func (f *far) Buffered() int {
	if f.full {
		return 1
	}
	return 0
}

func (f *far) Write(p []byte) { f.got = append(f.got, string(p)) }

func newFar(t *testing.T) (f *far, position, ptz *devices.Device) {
	t.Helper()
	f = &far{}
	f.outbox = Outbox{Port: f, Log: zap.NewNop(), Code: (*devices.Device).Letter}
	table := devices.NewTable(zap.NewNop())
	must.Get(table.Attach(devices.Instance{Driver: f, Name: "far", Provides: []devices.Spec{devices.Position(), devices.PTZ(), devices.Servo()}}))(t)
	table.Connect(f)
	position, ptz = table.Device(codec.Position), table.Device(codec.PTZ)
	if pending, err := position.Subscribe(ms, f); pending || err != nil {
		t.Fatal(pending, err)
	}
	return f, position, ptz
}

func message(kind, letter byte, payload string) string {
	return string(codec.AppendMessage(nil, kind, letter, []byte(payload)))
}

// Commands that wait when the peer reads again come before newer ones.
func TestOrder(t *testing.T) {
	go1, go2, aim := "\x00\x01\x00\x00", "\x00\x02\x00\x00", "\x00\x01\x00\x02\x00\x03"
	newest, other := message(codec.KindCommand, codec.Position, go2), message(codec.KindCommand, codec.PTZ, aim)
	config := message(codec.KindConfig, codec.Position, "m\x01")
	for _, tt := range []struct {
		name   string
		forget bool
		want   string
	}{
		{"commands", false, newest + other + config},
		{"forgotten", true, other + config},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, position, ptz := newFar(t)
			f.full = true
			position.SetCommand(ms, []byte(go1))
			ptz.SetCommand(ms, []byte(aim))
			position.SetCommand(ms, []byte(go2))
			if err := position.Configure(ms, []byte("m\x01")); err == nil || f.again != ms+flushPeriod || f.got != nil {
				t.Fatalf("full: %v, again at %v, %q", err, f.again, f.got)
			}
			if tt.forget {
				position.ForgetCommand()
			}
			f.full = false
			must.Do(t, position.Configure(ms, []byte("m\x01")))
			if again := f.outbox.Flush(f.again); again != 0 || !slices.Equal(f.got, []string{tt.want}) {
				t.Errorf("again at %v, sent\n%q, want\n%q", again, f.got, tt.want)
			}
		})
	}
}

// Of commands to joints that wait, the newest to each joint is sent.
func TestPartsWait(t *testing.T) {
	f, position, _ := newFar(t)
	servo := position.Link().Device(codec.Servo)
	f.full = true
	move := func(joint byte, goal int32) string {
		c := string(codec.ServoCommand{Joint: joint, Goal: goal}.Append(nil))
		servo.SetCommand(ms, []byte(c))
		return message(codec.KindCommand, codec.Servo, c)
	}
	move(1, 10)
	second := move(2, 20)
	first := move(1, 11)
	all := move(codec.AllJoints, codec.Unknown)
	f.full = false
	f.outbox.Flush(f.again)
	if want := []string{second + first + all}; !slices.Equal(f.got, want) {
		t.Errorf("sent %q, want %q", f.got, want)
	}
}

// The bytes of a program's devices follow from their order.
func TestCodes(t *testing.T) {
	table := devices.NewTable(zap.NewNop())
	specs := []devices.Spec{devices.IMU(), devices.Laser().At(4), devices.Position(), devices.Laser(), devices.IMU().At(1)}
	link := must.Get(table.Attach(devices.Instance{Driver: &far{}, Name: "far", Provides: specs}))(t)
	list := link.Devices()
	codes := NewCodes(list)
	if want := (Codes{0x80, 'l', 'p', 0x81, 0x82}); !slices.Equal(codes, want) {
		t.Fatalf("bytes % X, want % X", codes, want)
	}
	for i, d := range list {
		if codes.Of(list, d) != codes[i] || codes.Device(list, codes[i]) != d {
			t.Errorf("device %d has another byte", i)
		}
	}
	if codes.Device(list, 'z') != nil {
		t.Error("a byte of no device has one")
	}
}

func TestDataOfAPeer(t *testing.T) {
	for _, tt := range []struct {
		spec devices.Spec
		size []int // that are data
	}{{devices.IMU(), []int{36}}, {devices.GPS(), []int{38}}, {devices.IO(), []int{0, 4, 36}}, {devices.Servo(), []int{0, 9, 36}}, {devices.Ranger(), []int{2, 4, 36, 38}}} {
		for _, size := range []int{0, 1, 2, 4, 9, 10, 36, 38} {
			payload := make([]byte, size)
			if size > 1 {
				payload[1] = 1
			}
			known := slices.Contains(tt.size, size) || tt.spec.Letter == codec.Ranger && size%2 == 0 && size > 0
			if err := CheckData(tt.spec, payload); (err == nil) != known {
				t.Errorf("%s of %d bytes: %v", tt.spec.Name, size, err)
			}
		}
	}
	if CheckData(devices.Ranger(), []byte{0, 0, 1, 1}) == nil {
		t.Error("a ranger without a unit is data")
	}
}
