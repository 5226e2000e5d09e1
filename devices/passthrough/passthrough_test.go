package passthrough

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
	"player/devices/line/linetest"
)

const ms = time.Millisecond

// chain is a driver whose other Player is the test.
type chain struct {
	t     *testing.T
	world *linetest.World
	table *devices.Table
	told  []string // of subscriptions
}

func newChain(t *testing.T, readOnly bool) *chain {
	t.Helper()
	c := &chain{t: t, world: linetest.NewWorld(), table: devices.NewTable(zap.NewNop())}
	d, err := New("10.0.0.7:6665", []devices.Spec{devices.Position(), devices.Sonar(), devices.Vision()}, 50, readOnly)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.table.Attach(d); err != nil {
		t.Fatal(err)
	}
	c.table.Connect(c.world)
	return c
}

func (c *chain) SetupDone(_ time.Duration, d *devices.Device, err error) {
	c.told = append(c.told, fmt.Sprintf("%c %v", d.Letter(), err))
}

func (c *chain) position() *devices.Device { return c.table.Device(codec.Position) }

// sent returns the messages written to the current connection since the last
// call.
func (c *chain) sent() (messages []string) {
	p := c.world.Port()
	var d codec.Decoder
	for in := p.Wrote; ; {
		m, rest, ok := d.Next(in)
		if !ok {
			break
		}
		messages = append(messages, fmt.Sprintf("%c%c%s", m.Kind, m.Device, m.Payload))
		in = rest
	}
	p.Wrote = nil
	return messages
}

func (c *chain) expectSent(want ...string) {
	c.t.Helper()
	if got := c.sent(); !slices.Equal(got, want) {
		c.t.Errorf("sent %q, want %q", got, want)
	}
}

// say sends blocks.
func (c *chain) say(blocks ...[]byte) { c.world.Port().Say(slices.Concat(blocks...)) }

func reply(pairs string) []byte { return codec.AppendBlock(nil, 'r', []byte(pairs)) }

func ages(micros uint64, ages ...uint32) []byte {
	f := codec.FreshnessData{Time: micros, Ages: ages}
	return codec.AppendBlock(nil, 'y', f.Append(nil))
}

func position(x int32) []byte {
	p := codec.PositionData{X: x}
	return codec.AppendBlock(nil, 'p', p.Append(nil))
}

func sonar() []byte { return codec.AppendBlock(nil, 's', make([]byte, 32)) }

const (
	asked   = "xyf\x00\x32"
	request = "dryrpasrvr"
	granted = "yrpasrvr"
)

// open opens position and lets the other Player agree.
func (c *chain) open() {
	c.t.Helper()
	if pending, err := c.position().Subscribe(c.world.Now(), c); !pending || err != nil {
		c.t.Fatal(pending, err)
	}
	c.expectSent(asked, request)
	c.world.Pass(200 * ms)
	c.say(reply(granted))
	c.expectState(devices.Ready, "p <nil>")
}

func (c *chain) expectState(state devices.State, told ...string) {
	c.t.Helper()
	if l := c.position().Link(); l.State() != state || !slices.Equal(c.told, told) {
		c.t.Fatalf("%v, told %q; want %v, %q", l.State(), c.told, state, told)
	}
	c.told = nil
}

func (c *chain) x() int32 {
	c.t.Helper()
	var d codec.PositionData
	if err := d.Decode(c.position().Data()); err != nil {
		c.t.Fatal(err)
	}
	return d.X
}

func TestData(t *testing.T) {
	c := newChain(t, false)
	c.open()
	now := c.world.Now()
	// Sonar has no data yet; vision has none to show.
	c.say(ages(5_000_000, 20_000, codec.NoAge, 0), position(1), codec.AppendBlock(nil, 's', nil), codec.AppendBlock(nil, 'v', nil))
	if c.x() != 1 || c.position().Age(now) != 20*ms {
		t.Errorf("x %d, age %v", c.x(), c.position().Age(now))
	}
	if c.table.Device('s').HasData() || !c.table.Device('v').HasData() {
		t.Error("sonar has data, or vision has none")
	}
	// The same data once more, and then new.
	c.world.Pass(20 * ms)
	c.say(ages(5_020_000, 40_000, 0, 0), position(1), sonar(), codec.AppendBlock(nil, 'v', nil))
	if c.position().Seq() != 1 || c.table.Device('s').Seq() != 1 {
		t.Errorf("position published %d times, sonar %d times", c.position().Seq(), c.table.Device('s').Seq())
	}
	c.say(ages(5_040_000, 1000, 20_000, 0), position(2), sonar())
	if c.position().Seq() != 2 || c.table.Device('s').Seq() != 1 || c.x() != 2 {
		t.Errorf("position published %d times, sonar %d times", c.position().Seq(), c.table.Device('s').Seq())
	}
}

// A Player that knows no ages.
func TestOldPlayer(t *testing.T) {
	c := newChain(t, false)
	if _, err := c.position().Subscribe(c.world.Now(), c); err != nil {
		t.Fatal(err)
	}
	c.say(reply("yepasrvr"))
	c.expectState(devices.Ready, "p <nil>")
	for range 3 {
		c.say(position(7), sonar())
	}
	if c.position().Seq() != 3 || c.position().Age(c.world.Now()) != 0 {
		t.Errorf("published %d times, age %v", c.position().Seq(), c.position().Age(c.world.Now()))
	}
}

func TestCommands(t *testing.T) {
	c := newChain(t, false)
	c.open()
	c.position().SetCommand(c.world.Now(), []byte("abcd"))
	if err := c.position().Configure(c.world.Now(), []byte("m\x01")); err != nil {
		t.Error(err)
	}
	c.expectSent("cpabcd", "xpm\x01")
	// The network is full: the newest command is sent when it has room.
	c.world.Port().Stuck = true
	c.world.Port().Write([]byte("x"))
	c.position().SetCommand(c.world.Now(), []byte("efgh"))
	c.position().SetCommand(c.world.Now(), []byte("ijkl"))
	if err := c.position().Configure(c.world.Now(), []byte("m\x01")); err == nil {
		t.Error("no error")
	}
	c.world.Pass(time.Second)
	c.expectSent()

	c = newChain(t, true)
	if _, err := c.position().Subscribe(c.world.Now(), c); err != nil {
		t.Fatal(err)
	}
	c.expectSent(asked, "dryrprsrvr")
	c.say(reply("yrprsrvr"))
	c.position().SetCommand(c.world.Now(), []byte("abcd"))
	c.expectSent()
}

func TestSetupFails(t *testing.T) {
	for _, tt := range []struct {
		name  string
		event func(c *chain)
		want  string
	}{
		{"refuses a device", func(c *chain) { c.say(reply("yrpesrvr")) }, "player 10.0.0.7:6665: it has no device 'p' for us, or not with this access"},
		{"hangs up", func(c *chain) { c.world.Port().HangUp() }, "player 10.0.0.7:6665: unexpected EOF"},
		{"says nothing", func(c *chain) { c.world.Pass(answerLimit) }, "player 10.0.0.7:6665: it does not answer"},
		{"is no Player", func(c *chain) { c.say([]byte("HTTP/1.1 400 Bad Request")) }, "player 10.0.0.7:6665: it sends 'H', which is no letter of its devices"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newChain(t, false)
			if _, err := c.position().Subscribe(c.world.Now(), c); err != nil {
				t.Fatal(err)
			}
			tt.event(c)
			c.expectState(devices.Idle, "p "+tt.want)
			if !c.world.Port().Closed {
				t.Error("the connection stays open")
			}
		})
	}
	c := newChain(t, false)
	c.world.Refuse = errors.New("no route to host")
	if _, err := c.position().Subscribe(c.world.Now(), c); err == nil || err.Error() != "player 10.0.0.7:6665: no route to host" {
		t.Errorf("error %v", err)
	}
}

// However the connection is lost, it is made again; the clients stay, and what
// was commanded before is not repeated.
func TestReconnect(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose func(c *chain)
	}{
		{"closed", func(c *chain) { c.world.Port().HangUp() }},
		{"silent", func(c *chain) { c.world.Pass(silenceLimit) }},
		{"garbage", func(c *chain) { c.say([]byte("garbage")) }},
		{"wrong size", func(c *chain) { c.say(codec.AppendBlock(nil, 'p', []byte("short"))) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newChain(t, false)
			c.open()
			c.say(ages(9_000_000, 0, 0, 0), position(1))
			c.position().SetCommand(c.world.Now(), []byte("abcd"))
			tt.lose(c)
			if !c.world.Port().Closed {
				t.Fatal("the connection stays open")
			}
			c.position().SetCommand(c.world.Now(), []byte("efgh"))
			if err := c.position().Configure(c.world.Now(), []byte("m\x01")); err == nil {
				t.Error("no error")
			}
			c.world.Refuse = errors.New("no route to host")
			c.world.Pass(600 * ms)
			c.world.Refuse = nil
			before := len(c.world.Ports)
			c.world.Pass(1100 * ms)
			if len(c.world.Ports) != before+1 {
				t.Fatal("not tried again")
			}
			c.expectSent(asked, request)
			c.say(reply(granted), ages(1000, 0, 0, 0), position(3))
			c.expectState(devices.Ready)
			if c.x() != 3 {
				t.Errorf("x %d", c.x())
			}
			c.world.Pass(2 * time.Second)
			c.say(ages(3000, 0, 0, 0)) // not silent
			c.world.Pass(2 * time.Second)
			if c.world.Port().Closed {
				t.Error("closed although it was heard of")
			}
			c.position().Unsubscribe(c.world.Now(), c)
			c.expectState(devices.Idle)
			if !c.world.Port().Closed {
				t.Error("the connection stays open")
			}
			c.world.Pass(time.Minute)
			if len(c.world.Ports) != before+1 {
				t.Error("connected while nobody asks for it")
			}
		})
	}
}

// The client leaves while the other Player is still setting up.
func TestShutdownEarly(t *testing.T) {
	c := newChain(t, false)
	if _, err := c.position().Subscribe(c.world.Now(), c); err != nil {
		t.Fatal(err)
	}
	c.position().Unsubscribe(c.world.Now(), c)
	c.expectState(devices.Idle)
	if !c.world.Port().Closed {
		t.Error("the connection stays open")
	}
}

func TestKind(t *testing.T) {
	for _, tt := range []struct{ remote, want string }{
		{"127.0.0.1:7000", "127.0.0.1:7000"},
		{"127.0.0.1", "127.0.0.1:6665"},
		{"[::1]:7000", "[::1]:7000"},
		{"::1", "[::1]:6665"},
		{"localhost:7000", "127.0.0.1:7000 [::1]:7000"},
	} {
		if got, err := resolve(tt.remote); err != nil || !strings.Contains(tt.want, got) {
			t.Errorf("%s: %s, %v", tt.remote, got, err)
		}
	}
	if _, err := resolve("127.0.0.1:http"); err == nil {
		t.Error("no error")
	}
	k := Kind()
	values := k.Defaults()
	values["remote"] = "127.0.0.1"
	if _, err := k.New(devices.Args{Name: k.Name, Values: values}); err == nil {
		t.Error("a driver for no device")
	}
	if _, err := k.New(devices.Args{Name: k.Name, Values: values, Provides: []devices.Spec{devices.Laser()}}); err != nil {
		t.Error(err)
	}
}

func TestFrameAllocatesNothing(t *testing.T) {
	c := newChain(t, false)
	c.open()
	micros := uint64(1_000_000)
	frame := slices.Concat(ages(micros, 0, 0, 0), position(1), sonar())
	c.say(frame)
	p := c.world.Port()
	if n := testing.AllocsPerRun(1000, func() {
		frame[4]++ // of the time
		p.Say(frame[:50])
		p.Say(frame[50:])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
