package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/e2e/must"
)

const (
	ms      = time.Millisecond
	maxRate = 1000 // Hz, in the sessions under test
)

var errBroken = errors.New("broken")

// mood determines how the setup of a part ends.
type mood int

const (
	fine       mood = iota // ready at once
	broken                 // fails at once
	slow                   // ready when the test ends the setup
	slowBroken             // fails when the test ends the setup
)

// part is a driver without hardware for some of a robot's devices.
type part struct {
	robot  *robot
	desc   devices.Instance
	link   *devices.Link
	mood   mood
	mute   bool   // publishes no data when ready
	charge string // what its charger does, in a word of PROTOCOL 8.9.4
	// channels is how many outputs its io device has.
	channels int
	last     func(now time.Duration)
}

func (p *part) Setup(now time.Duration, l *devices.Link) {
	p.link = l
	p.robot.note("setup %s", p.desc.Name)
	if p.mood == fine || p.mood == broken {
		p.end(now)
	}
}

// end ends a setup according to the mood.
func (p *part) end(now time.Duration) {
	if p.mood == broken || p.mood == slowBroken {
		p.link.Fail(now, errBroken)
		return
	}
	for _, d := range p.link.Devices() {
		if !p.mute {
			p.robot.publishOn(d)
		}
	}
	p.link.Ready(now)
}

func (p *part) Shutdown(now time.Duration) {
	p.robot.note("shutdown %s", p.desc.Name)
	if p.last != nil {
		p.last(now)
		return
	}
	p.link.Stopped(now)
}

func (p *part) Command(_ time.Duration, d *devices.Device) {
	p.robot.note("command %c %X", d.Letter(), d.Command())
}

func (p *part) Charge() string { return p.charge }

func (p *part) AppendRays(dst []codec.Rays, _ *devices.Device) []codec.Rays {
	return append(dst, codec.Rays{Count: 90, Heading: -135, Step: 3, Far: 8000})
}

func (p *part) AppendChannels(dst []codec.Channel, d *devices.Device) []codec.Channel {
	for n := 0; d.Letter() == codec.IO && n < p.channels; n++ {
		dst = append(dst, codec.Channel{Number: n, Role: codec.Output, Unit: codec.UnitBit, Max: 1, Name: "Lamp"})
	}
	return dst
}

func (p *part) AppendColors(dst []codec.ChannelColor, d *devices.Device) []codec.ChannelColor {
	if d.Letter() == codec.Vision {
		dst = append(dst, codec.ChannelColor{Color: 0xffa500}, codec.ChannelColor{Channel: 1, Color: 0x8b})
	}
	return dst
}

func (p *part) Configure(_ time.Duration, d *devices.Device, payload []byte) error {
	p.robot.note("configure %c %q", d.Letter(), payload)
	return nil
}

// robot has the seven devices. As on a Pioneer, four of them share one cable.
type robot struct {
	table  *devices.Table
	parts  []*part
	now    time.Duration
	events []string
	peers  []*peer // its clients
}

// letters holds the devices of a robot.
const letters = "pgmslzv"

func newRobot(t testing.TB) *robot {
	t.Helper()
	r := &robot{table: devices.NewTable(zap.NewNop()), now: time.Minute}
	r.attach(t, "base", devices.Position(), devices.Gripper(), devices.Misc(), devices.Sonar())
	r.attach(t, "laser", devices.Laser())
	r.attach(t, "camera", devices.PTZ())
	r.attach(t, "vision", devices.Vision())
	return r
}

func (r *robot) attach(t testing.TB, name string, provides ...devices.Spec) {
	t.Helper()
	p := &part{robot: r, desc: devices.Instance{Name: name, Provides: provides}}
	p.desc.Driver = p
	must.Get(r.table.Attach(p.desc))(t)
	r.parts = append(r.parts, p)
}

// of returns the part that serves a device.
func (r *robot) of(letter byte) *part {
	i := slices.IndexFunc(r.parts, func(p *part) bool {
		return slices.ContainsFunc(p.desc.Provides, func(s devices.Spec) bool { return s.Letter == letter })
	})
	return r.parts[i]
}

func (r *robot) note(format string, args ...any) {
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

// take returns the calls to drivers since the last take, one per text line.
func (r *robot) take() string {
	events := r.events
	r.events = nil
	return strings.Join(events, "\n")
}

func (r *robot) expect(t testing.TB, want ...string) {
	t.Helper()
	if got := r.take(); got != strings.Join(want, "\n") {
		t.Errorf("driver calls %q, want %q", got, want)
	}
}

// pass lets time pass, and commands of clients end when they are due.
func (r *robot) pass(t testing.TB, d time.Duration) {
	t.Helper()
	for end := r.now + d; r.now < end; {
		r.now++ // no lapse is in the past
		next := end
		for _, p := range r.peers {
			if at := p.Lapses(); at != 0 {
				next = min(next, max(at, r.now))
			}
		}
		r.now = next
		for _, p := range r.peers {
			if again := p.Lapse(r.now); again != p.Lapses() {
				t.Errorf("due again at %v, not %v", again, p.Lapses())
			}
		}
	}
}

// sizes holds the sizes of the devices' data, in bytes.
var sizes = map[byte]int{'l': 722, 's': 32, 'p': 21, 'm': 3, 'g': 2, 'z': 6, 'v': 94}

func (r *robot) publish(letters ...byte) {
	for _, letter := range letters {
		r.publishOn(r.table.Device(letter))
	}
}

func (r *robot) publishOn(d *devices.Device) {
	d.Publish(r.now, slices.Repeat([]byte{d.Letter()}, sizes[d.Letter()]))
}

// command returns a command of the right size for a device.
func (r *robot) command(letter byte, fill byte) []byte {
	return message(codec.KindCommand, letter, slices.Repeat([]byte{fill}, r.table.Device(letter).Spec().CommandSize)...)
}

func message(kind, device byte, payload ...byte) []byte {
	return codec.AppendMessage(nil, kind, device, payload)
}

func request(pairs string) []byte { return codec.AppendRequest(nil, []byte(pairs)) }

// config returns a server configuration.
func config(payload ...byte) []byte { return message(codec.KindConfig, codec.Server, payload...) }

func rate(hz int) []byte { return config('f', byte(hz>>8), byte(hz)) }

// peer is a session and the client on the other side.
type peer struct {
	*Session
	t       testing.TB
	robot   *robot
	log     *zap.Logger
	changed bool // since output was last taken
	notices int  // calls of SessionChanged
	watched int  // calls of WatchEnd
	gone    bool // it has ended its connection
	silence bool // nothing is heard of it
}

func newPeer(t testing.TB, r *robot) *peer { return newLoggedPeer(t, r, zap.NewNop()) }

func newLoggedPeer(t testing.TB, r *robot, log *zap.Logger) *peer {
	p := &peer{t: t, robot: r, log: log}
	p.Session = New(p, r.table, maxRate)
	r.peers = append(r.peers, p)
	return p
}

// connect returns a robot and a client of it.
func connect(t testing.TB) (*robot, *peer) {
	r := newRobot(t)
	return r, newPeer(t, r)
}

// connectTo is connect with a part whose setups end as the mood says.
func connectTo(t testing.TB, letter byte, m mood) (*robot, *peer) {
	r, p := connect(t)
	r.of(letter).mood = m
	return r, p
}

// open is connect with a client that has devices open. Calls of the drivers are forgotten.
func open(t testing.TB, pairs string) (*robot, *peer) {
	t.Helper()
	r, p := connect(t)
	p.request(pairs, pairs)
	r.take()
	return r, p
}

func (p *peer) SessionChanged() {
	p.changed = true
	p.notices++
	p.drain()
}

// WatchEnd implements Owner.
func (p *peer) WatchEnd(now time.Duration) {
	if p.watched++; p.gone {
		p.Leave(now)
	}
}

func (p *peer) String() string { return "10.0.0.9:1234" }

// Silent implements Owner.
func (p *peer) Silent(time.Duration) bool { return p.silence }

func (p *peer) Log() *zap.Logger { return p.log }

func (p *peer) send(messages ...[]byte) {
	for _, m := range messages {
		p.Receive(p.robot.now, m)
		p.drain()
	}
}

// drain calls Receive until no input is left.
func (p *peer) drain() {
	for p.More() {
		p.Receive(p.robot.now, nil)
	}
}

// replies takes the output, which must consist of replies only.
func (p *peer) replies() []string {
	p.t.Helper()
	var replies []string
	for out := p.Output(); len(out) > 0; {
		letter, payload, rest, ok := codec.Block(out)
		if !ok || letter != codec.KindReply {
			p.t.Fatalf("output is not whole replies: %q", p.Output())
		}
		replies = append(replies, string(payload))
		out = rest
	}
	if len(replies) > 0 && !p.changed {
		p.t.Error("there is output, but the owner was not notified")
	}
	p.changed = false
	p.Flushed()
	return replies
}

func (p *peer) expectReplies(want ...string) {
	p.t.Helper()
	if got := p.replies(); !slices.Equal(got, want) {
		p.t.Errorf("replies %q, want %q", got, want)
	}
}

// request asks for devices and expects an immediate reply.
func (p *peer) request(pairs, want string) {
	p.t.Helper()
	p.send(request(pairs))
	if got := p.replies(); !slices.Equal(got, []string{want}) {
		p.t.Errorf("request %q was answered %q, want %q", pairs, got, want)
	}
}

// frame makes a frame and returns the letters and sizes of its blocks.
func (p *peer) frame() string {
	p.t.Helper()
	var blocks []string
	for _, b := range p.blocks() {
		blocks = append(blocks, fmt.Sprintf("%c%d", b.letter, len(b.payload)))
	}
	return strings.Join(blocks, " ")
}

func (p *peer) expectFrame(want string) {
	p.t.Helper()
	if got := p.frame(); got != want {
		p.t.Errorf("frame %q, want %q", got, want)
	}
}

type block struct {
	letter  byte
	payload []byte
}

func (p *peer) blocks() []block {
	p.t.Helper()
	frame := p.AppendFrame([]byte("before"), p.robot.now)
	if string(frame[:6]) != "before" {
		p.t.Fatalf("the frame overwrote the bytes before it: %q", frame)
	}
	var blocks []block
	for frame = frame[6:]; len(frame) > 0; {
		letter, payload, rest, ok := codec.Block(frame)
		if !ok {
			p.t.Fatalf("frame ends in %q", frame)
		}
		blocks = append(blocks, block{letter, payload})
		frame = rest
	}
	return blocks
}
