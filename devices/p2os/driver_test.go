package p2os

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/devices"
	"player/devices/line/linetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const ms = time.Millisecond

// bench is a driver with a client, in simulated time.
type bench struct {
	*linetest.World
	t      testing.TB
	driver *Driver
	link   *devices.Link
	log    *observer.ObservedLogs
	done   []error // how setups ended

	position, sonar, gripper, misc *devices.Device
}

func (b *bench) SetupDone(_ time.Duration, _ *devices.Device, err error) {
	b.done = append(b.done, err)
}

func newBench(t testing.TB) *bench {
	t.Helper()
	core, log := observer.New(zap.DebugLevel)
	table := devices.NewTable(zap.New(core))
	b := &bench{World: linetest.NewWorld(), t: t, driver: New("/dev/robot"), log: log}
	if err := table.Attach(b.driver); err != nil {
		t.Fatal(err)
	}
	table.Connect(b.World)
	b.position, b.sonar = table.Device(codec.Position), table.Device(codec.Sonar)
	b.gripper, b.misc = table.Device(codec.Gripper), table.Device(codec.Misc)
	b.link = b.position.Link()
	return b
}

func (b *bench) subscribe() {
	if pending, err := b.position.Subscribe(b.Now(), b); err != nil || !pending {
		b.done = append(b.done, err)
	}
}

// ready subscribes and waits for the robot.
func (b *bench) ready() {
	b.t.Helper()
	b.subscribe()
	b.untilUp()
}

func (b *bench) untilUp() {
	b.t.Helper()
	if !b.Until(b.driver.line.IsUp, 10*time.Second) {
		b.t.Fatalf("not connected: %v; wrote %q; log %v", b.done, b.wrote(), b.messages())
	}
}

func (b *bench) command(speed, turnRate int16) {
	b.position.SetCommand(b.Now(), codec.PositionCommand{Speed: speed, TurnRate: turnRate}.Append(nil))
}

func (b *bench) configure(payload ...byte) {
	b.t.Helper()
	if err := b.misc.Configure(b.Now(), payload); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) pose() (p codec.PositionData) {
	b.t.Helper()
	if err := p.Decode(b.position.Data()); err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) messages() (lines []string) {
	for _, e := range b.log.TakeAll() {
		lines = append(lines, fmt.Sprint(e.Level, " ", e.Message))
	}
	return lines
}

// wrote is what the driver has sent on all ports, as command names with what
// follows them in the body. Handshake and operation share names.
func (b *bench) wrote() (packets []string) {
	for _, p := range b.Ports {
		packets = append(packets, names(p.Wrote)...)
	}
	return packets
}

func names(stream []byte) (list []string) {
	for len(stream) > 0 {
		size := 3 + int(stream[2])
		body := stream[3 : size-2]
		list = append(list, strings.TrimSpace(fmt.Sprintf("%v % X", Command(body[0]), body[1:])))
		stream = stream[size:]
	}
	return list
}

// robot plays the far end: it answers the handshake and streams SIPs. Its bytes
// are those of wire recordings.
type robot struct {
	bench *bench
	baud  int
	stage int  // steps of the handshake that are done, 4 when it is open
	muted bool // it obeys, but nothing it says arrives
	off   bool
	deaf  map[string]int // how many packets of a name get lost on the way to it
	sip   []byte
	heard []string
	timer bool
}

const (
	echo0    = "FA FB 03 00 00 00"
	echo1    = "FA FB 03 01 00 01"
	identity = "FA FB 16 02 45 6D 75 30 31 00 50 69 6F 6E 65 65 72 00 70 32 64 78 00 88 55"
	sipZero  = "FA FB 1B 32 00 00 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 00 04 11 80 06 00 E4 93"
	sipFar   = "FA FB 1B 32 A0 0F 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 00 03 11 80 06 00 F3 33" // x 4000
	sipSpeed = "FA FB 1B 33 30 00 00 00 00 00 90 01 90 01 7C 00 00 00 00 01 00 2E 00 12 11 80 06 00 F7 E3" // x 48
)

func (b *bench) robot(baud int) *robot {
	r := &robot{bench: b, baud: baud, sip: unhex(b.t, sipZero), deaf: map[string]int{}}
	b.Heard = func(p *linetest.Port, sent []byte) {
		if p.Baud == r.baud && !r.off {
			for _, name := range names(sent) {
				r.obey(name)
			}
		}
	}
	return r
}

const stageOpen = 4

func (r *robot) obey(name string) {
	if r.deaf[name] > 0 {
		r.deaf[name]--
		return
	}
	r.heard = append(r.heard, name)
	switch {
	case r.stage > 2 && name == "SYNC2/CLOSE":
		r.stage = 0
	case r.stage == stageOpen:
	case name == "SYNC0/PULSE" && r.stage < 3:
		r.stage = 1
		r.say(echo0)
	case name == "SYNC1/OPEN" && r.stage == 3:
		r.start()
	case name == "SYNC1/OPEN" && r.stage > 0:
		r.stage = 2
		r.say(echo1)
	case name == "SYNC2/CLOSE" && r.stage > 1:
		r.stage = 3
		r.say(identity)
	}
}

// start opens the robot.
func (r *robot) start() {
	r.stage = stageOpen
	if !r.timer {
		r.timer = true
		r.bench.After(100*ms, r.stream)
	}
}

func (r *robot) stream() {
	if r.timer = r.stage == stageOpen; r.timer {
		r.bench.After(100*ms, r.stream)
		r.saying(r.sip)
	}
}

func (r *robot) say(hex string) {
	r.bench.After(10*ms, func() { r.saying(unhex(r.bench.t, hex)) })
}

func (r *robot) saying(b []byte) {
	if p := r.bench.Port(); !r.muted && !r.off && p.Baud == r.baud {
		p.Say(b)
	}
}

// switchOff cuts the robot's power.
func (r *robot) switchOff() { r.off, r.stage = true, 0 }

// Recorded robots and what clients asked for meanwhile; the golden files hold
// what the driver sent and what it made of the last packet.
func TestSessions(t *testing.T) {
	for _, name := range []string{"drive", "separate", "wrap", "bits"} {
		t.Run(name, func(t *testing.T) {
			got := replay(t, "testdata/"+name+".hex")
			golden := "testdata/" + name + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the driver now sends:\n%s", got)
			}
		})
	}
}

func replay(t *testing.T, file string) []byte {
	b := newBench(t)
	var out bytes.Buffer
	fmt.Fprintln(&out, "# seconds, baud, what the driver sent")
	b.Heard = func(p *linetest.Port, sent []byte) {
		for len(sent) > 0 {
			size := 3 + int(sent[2])
			fmt.Fprintf(&out, "%6.3f %d % X ; %s\n", (b.Now() - time.Second).Seconds(), p.Baud, sent[:size], names(sent[:size])[0])
			sent = sent[size:]
		}
	}
	b.subscribe()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		var number byte
		var speed, turnRate int16
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "x R":
			b.configure('R')
		case strings.HasPrefix(line, "x"):
			if _, err := fmt.Sscanf(line[3:], "%d", &number); err != nil {
				t.Fatal(err)
			}
			b.configure(line[2], number)
		case strings.HasPrefix(line, "c"):
			if _, err := fmt.Sscanf(line, "c %d %d", &speed, &turnRate); err != nil {
				t.Fatal(err)
			}
			b.command(speed, turnRate)
		default:
			b.Pass(100 * ms)
			b.Port().Say(unhex(t, strings.TrimPrefix(line, "!")))
		}
	}
	pose := b.pose()
	data := [][]byte{bytes.Clone(b.sonar.Data()), bytes.Clone(b.gripper.Data()), bytes.Clone(b.misc.Data())}
	b.position.Unsubscribe(b.Now(), b)
	b.Pass(2 * time.Second)
	fmt.Fprintf(&out, "# position %+v\n# sonar % X\n# gripper % X\n# misc % X\n", pose, data[0], data[1], data[2])
	if b.link.State() != devices.Idle {
		t.Errorf("link is %s", b.link.State())
	}
	return out.Bytes()
}

func TestCommandGoesOutAtOnce(t *testing.T) {
	b := newBench(t)
	r := b.robot(9600)
	b.ready()
	b.Pass(50 * ms) // between two SIPs
	r.heard = nil
	b.command(200, 0)
	b.Pass(0)
	if want := []string{"VEL2 3B 0A 0A"}; !slices.Equal(r.heard, want) {
		t.Fatalf("robot heard %q, want %q", r.heard, want)
	}
	// A client that commands much faster does not fill the line, and the last
	// command is there soon.
	for i := range int16(20) {
		b.command(20*i, 0)
	}
	b.Pass(commandGap)
	if want := []string{"VEL2 3B 0A 0A", "VEL2 3B 13 13"}; !slices.Equal(r.heard, want) {
		t.Fatalf("robot heard %q, want %q", r.heard, want)
	}
	// A line that takes nothing gets nothing, and the newest when it does.
	b.Port().Stuck = true
	b.Port().Write(make([]byte, 1))
	b.command(100, 0)
	b.Pass(300 * ms)
	if n := b.Port().Buffered(); n > 1 {
		t.Fatalf("%d bytes wait for a line that takes nothing", n)
	}
}

func TestVelocitiesWithEverySIP(t *testing.T) {
	b := newBench(t)
	r := b.robot(9600)
	b.ready()
	b.Pass(50 * ms)
	r.heard = nil
	b.Pass(10 * time.Second)
	if len(r.heard) != 100 || slices.ContainsFunc(r.heard, func(s string) bool { return s != "VEL2 3B 00 00" }) {
		t.Fatalf("robot heard %d packets in 10 s: %q", len(r.heard), r.heard)
	}
}

func TestGripper(t *testing.T) {
	b := newBench(t)
	r := b.robot(9600)
	b.ready()
	b.Pass(50 * ms)
	for _, test := range []struct {
		command, argument byte
		want              []string
	}{
		{1, 99, []string{"GRIPPER 3B 01 00"}},
		{8, 0, []string{"GRIPPER 3B 08 00"}},
		{16, 40, []string{"GRIPPER 3B 10 00", "GRIPPERVAL 3B 28 00"}},
		{17, 200, []string{"GRIPPER 3B 11 00", "GRIPPERVAL 3B C8 00"}},
	} {
		r.heard = nil
		b.gripper.SetCommand(b.Now(), []byte{test.command, test.argument})
		b.Pass(100 * ms)
		got := slices.DeleteFunc(slices.Clone(r.heard), func(s string) bool { return s == "VEL2 3B 00 00" })
		if !slices.Equal(got, test.want) {
			t.Errorf("gripper %d %d: robot heard %q, want %q", test.command, test.argument, got, test.want)
		}
	}
}

// PROTOCOL 6
func TestConfigure(t *testing.T) {
	b := newBench(t)
	r := b.robot(9600)
	b.ready()
	if slices.ContainsFunc(r.heard, func(s string) bool { return strings.HasPrefix(s, "ENABLE") }) {
		t.Fatalf("motors were switched without being asked: %q", r.heard)
	}
	r.heard = nil
	for _, d := range []*devices.Device{b.position, b.sonar, b.gripper, b.misc} {
		if err := errors.Join(d.Configure(b.Now(), []byte("m\x01")), d.Configure(b.Now(), []byte("m\x00")), d.Configure(b.Now(), []byte("R"))); err != nil {
			t.Fatal(err)
		}
	}
	b.Pass(0)
	want := slices.Repeat([]string{"ENABLE 3B 01 00", "ENABLE 3B 00 00", "SETO 3B"}, 4)
	if !slices.Equal(r.heard, want) {
		t.Fatalf("robot heard %q, want %q", r.heard, want)
	}
	b.Pass(time.Second)
	b.configure('v', 1)
	r.heard = nil
	b.command(-600, 120)
	b.Pass(20 * ms)
	if want := []string{"VEL 1B F4 01", "RVEL 3B 64 00"}; !slices.Equal(r.heard, want) {
		t.Fatalf("robot heard %q, want %q", r.heard, want)
	}
	for _, bad := range []string{"", "x", "m", "R\x00"} {
		if err := b.misc.Configure(b.Now(), []byte(bad)); err == nil {
			t.Errorf("configuration %q was taken", bad)
		}
	}
	// Too many at once are refused, before a command to stop has to wait for them.
	var err error
	var n int
	for n = 0; err == nil && n < 1000; n++ {
		err = b.misc.Configure(b.Now(), []byte("m\x01"))
	}
	if !errors.Is(err, errBusy) || n < 10 {
		t.Fatalf("%d requests at once: %v", n, err)
	}
}

func TestResetOdometry(t *testing.T) {
	b := newBench(t)
	r := b.robot(9600)
	b.ready()
	r.sip = unhex(t, sipSpeed)
	b.Pass(200 * ms)
	if p := b.pose(); p.X != 40 || p.Speed != 400 {
		t.Fatalf("position %+v", p)
	}
	b.configure('R')
	r.sip = unhex(t, sipZero) // what SETO does
	b.Pass(200 * ms)
	if p := b.pose(); p.X != 0 {
		t.Fatalf("position %+v after reset", p)
	}
}

// The first device to be opened is the origin, whatever the robot remembers
// (manual 3.6).
func TestOriginAtFirstOpening(t *testing.T) {
	b := newBench(t)
	r := b.robot(9600)
	r.sip = unhex(t, sipFar)
	b.subscribe()
	if !b.Until(func() bool { return slices.Contains(r.heard, "SETO 3B") }, time.Minute) {
		t.Fatal("no SETO")
	}
	if b.position.HasData() {
		t.Fatalf("published %+v before SETO", b.pose())
	}
	r.sip = unhex(t, sipZero)
	b.untilUp()
	if p := b.pose(); p.X != 0 || p.Y != 0 || p.Time != uint32(b.Now().Milliseconds()) {
		t.Fatalf("position %+v at %v", p, b.Now())
	}
}

// On an always-on link the robot is up before anybody opens a device.
func TestOriginOnAlwaysOnLink(t *testing.T) {
	b := newBench(t)
	r := b.robot(9600)
	table := devices.NewTable(zap.NewNop())
	b.driver = New("/dev/robot")
	link, err := table.AttachAs(b.driver, nil)
	if err != nil {
		t.Fatal(err)
	}
	link.KeepOn()
	table.Connect(b.World)
	b.position, b.link = table.Device(codec.Position), link
	table.Start(b.Now())
	b.untilUp()
	r.sip = unhex(t, sipSpeed)
	b.Pass(time.Second)
	r.heard = nil
	if _, err := b.position.Subscribe(b.Now(), b); err != nil {
		t.Fatal(err)
	}
	b.Pass(110 * ms)
	if n := count(r.heard, "SETO 3B"); n != 1 {
		t.Fatalf("%d SETO at the first opening: %q", n, r.heard)
	}
	if p := b.pose(); p.X != 0 {
		t.Fatalf("position %+v", p)
	}
	b.Pass(time.Second)
	if n := count(r.heard, "SETO 3B"); n != 1 {
		t.Fatalf("%d SETO", n)
	}
}

func count(list []string, s string) (n int) {
	for _, v := range list {
		if v == s {
			n++
		}
	}
	return n
}

func TestNoiseIsNotPublished(t *testing.T) {
	b := newBench(t)
	b.robot(9600)
	b.ready()
	b.log.TakeAll()
	rnd := rand.New(rand.NewPCG(1, 2))
	before := b.position.Seq()
	bad := unhex(t, sipSpeed)
	bad[len(bad)-1]++
	for range 100 { // of noise between 10 good SIPs a second
		for range 10 {
			noise := make([]byte, rnd.IntN(20))
			for i := range noise {
				noise[i] = byte(rnd.Uint32())
			}
			b.Port().Say(noise)
			b.Port().Say(bad)
			b.Port().Say(bad[:rnd.IntN(len(bad))])
		}
		b.Pass(100 * ms)
		if p := b.pose(); p.X != 0 || p.Speed != 0 {
			t.Fatalf("noise was published: %+v", p)
		}
	}
	if n := b.position.Seq() - before; n < 50 || n > 100 {
		t.Fatalf("%d of 100 SIPs published", n)
	}
	for _, e := range b.log.All() {
		if e.Message != "noise on the line" || e.ContextMap()["port"] != "/dev/robot" || e.ContextMap()["device"] != "p2os" {
			t.Fatalf("log %q %v", e.Message, e.ContextMap())
		}
	}
	if n := b.log.Len(); n < 5 || n > 11 {
		t.Fatalf("%d log lines in 10 s", n)
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	b := newBench(t)
	r := b.robot(9600)
	b.ready()
	r.switchOff() // the test itself plays it
	b.Heard = nil
	b.configure('v', 1)
	b.Pass(200 * ms)
	p, sip, forward := b.Port(), unhex(t, sipSpeed), []byte{0, 100, 0, 0}
	n := testing.AllocsPerRun(1000, func() {
		b.position.SetCommand(b.Now(), forward)
		b.gripper.SetCommand(b.Now(), []byte{16, 1})
		b.Pass(50 * ms)
		p.Say(sip)
		b.Pass(50 * ms)
		p.Wrote = p.Wrote[:0]
	})
	if n != 0 {
		t.Fatalf("%v allocations for each packet", n)
	}
}
