package passthrough

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"

	"player/codec"
	"player/codec/compact"
	"player/devices"
	"player/devices/retry"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

const ms = time.Millisecond

// chain is a driver whose other Player is the test.
type chain struct {
	*transporttest.Bench
	network  *network
	notified []string // of subscriptions
}

// network is a world whose connections can be full.
type network struct {
	*transporttest.World
	full bool
}

func (n *network) Dial(address string, h devices.PortHandler) (devices.Port, error) {
	p, err := n.World.Dial(address, h)
	return cable{p, n}, err
}

type cable struct {
	devices.Port
	network *network
}

func (c cable) Buffered() int {
	if c.network.full {
		return 1
	}
	return 0
}

func newChain(t testing.TB) *chain {
	t.Helper()
	d := Kind().Instance(New("10.0.0.7:6665", 50))
	d.Provides = []devices.Spec{devices.Position(), devices.Sonar(), devices.Vision()}
	b := transporttest.NewBench(t, d)
	c := &chain{Bench: b, network: &network{World: b.World}}
	c.Table.Connect(c.network)
	return c
}

func (c *chain) SetupDone(_ time.Duration, d *devices.Device, err error) {
	c.notified = append(c.notified, fmt.Sprintf("%c %v", d.Letter(), err))
}

func (c *chain) position() *devices.Device { return c.Client }

// drive sends a command to the position device.
func (c *chain) drive(command string) { c.position().SetCommand(c.Now(), []byte(command)) }

// expectSent expects the messages written to the current connection since the
// last call.
func (c *chain) expectSent(want ...string) {
	c.T.Helper()
	var got []string
	p := c.Port()
	var d codec.Decoder
	for in := p.Wrote; ; {
		m, rest, ok := d.Next(in)
		if !ok {
			break
		}
		text := fmt.Sprintf("%c%c%s", m.Kind, m.Device, m.Payload)
		if text == "xyp"+c.Link.Path() {
			text = path
		}
		got = append(got, text)
		in = rest
	}
	p.Wrote = nil
	if !slices.Equal(got, want) {
		c.T.Errorf("sent %q, want %q", got, want)
	}
}

// say sends blocks.
func (c *chain) say(blocks ...[]byte) { c.Port().Say(slices.Concat(blocks...)) }

func reply(pairs string) []byte { return codec.AppendBlock(nil, 'r', []byte(pairs)) }

// ages is the block that begins a frame. Its time is not checked.
func ages(ages ...uint32) []byte {
	f := codec.FreshnessData{Time: 7, Ages: ages}
	return codec.AppendBlock(nil, 'y', f.Append(nil))
}

func position(x int32) []byte {
	p := codec.PositionData{X: x}
	return codec.AppendBlock(nil, 'p', p.Append(nil))
}

func sonar() []byte  { return codec.AppendBlock(nil, 's', make([]byte, 32)) }
func vision() []byte { return codec.AppendBlock(nil, 'v', nil) }

const (
	rate     = "xyf\x00\x32"
	form     = "xyz\x02"
	path     = "xyp" // and the driver's own path, with random identifiers
	yield    = "xyl\xff\xff"
	ping     = "dr" // and its answer is an empty reply
	request  = "dryrprsrvr"
	granted  = "yrprsrvr"
	fresh    = "xyn\x01"
	geometry = "xyqg"
	colors   = "xyqv"
	write    = "drpa"
)

// Devices without letters are asked for, by the names there, before they are requested.
func TestNamedDevices(t *testing.T) {
	driver := New("10.0.0.7:6665", 50)
	ours := []devices.Spec{devices.Laser().At(3), devices.Laser().At(5), devices.IO().At(1)}
	driver.names = must.Get(namesThere(nil, ours))(t)
	b := transporttest.NewBench(t, devices.Instance{Driver: driver, Name: "passthrough", Provides: ours})
	c := &chain{Bench: b, network: &network{World: b.World}}
	c.Table.Connect(c.network)
	rear, io := c.Link.Devices()[1], c.Link.Devices()[2]
	for _, d := range c.Link.Devices() {
		must.Get(d.Subscribe(c.Now(), c))(t)
	}
	c.expectSent(rate, form, path, yield, "xyqd", ping)
	c.say(codec.AppendAnswer(nil, codec.QuestionDevices, []string{"108 laser 0 sick", "131 laser 1 urg", "140 io 0 lines", "141 io 1 lines"}), reply(""))
	c.expectSent("dryrlr\x83r\x8cr")
	c.say(reply("yrlr\x83r\x8cr"))
	c.expectSent(fresh, geometry, "xyqi", ping)
	c.say(answers("l 0 80 0 0 0 0 8000 180", "laser:1 0 -250 0 180 0 0 4000 180", "laser:2 0 1 2 3 0 0 0 0"))
	c.say(codec.AppendAnswer(nil, codec.QuestionChannels, []string{"io:0 2 output bit 0 1 Lamp", "io:1 2 output bit 0 1 Other"}), reply(""))
	if got, want := rear.AppendParts(nil), []codec.Part{{Device: rear.Code(), X: -250, Heading: 180, Range: 4000, View: 180}}; !slices.Equal(got, want) {
		t.Errorf("parts %+v, want %+v", got, want)
	}
	scan := codec.LaserData{4: 1234}
	c.say(ages(10, 20), codec.AppendBlock(nil, 0x83, scan.Append(nil)), codec.AppendBlock(nil, 0x8C, []byte{0, 0, 0, 9}))
	if string(rear.Data()) != string(scan.Append(nil)) || string(io.Data()) != "\x00\x00\x00\x09" {
		t.Errorf("data %v, %q", rear.HasData(), io.Data())
	}
	if ch := io.AppendChannels(nil); len(ch) != 1 || ch[0].Name != "Lamp" || ch[0].Device != io.Code() {
		t.Errorf("channels %+v", ch)
	}
	io.SetCommand(c.Now(), codec.IOCommand{Channel: 2, Value: 1}.Append(nil))
	c.expectSent("dr\x8ca", "c\u008c\x02\x00\x00\x00\x01")
}

func TestMissingDevice(t *testing.T) {
	driver := New("10.0.0.7:6665", 50)
	driver.names = []string{"imu:4"}
	b := transporttest.NewBench(t, devices.Instance{Driver: driver, Name: "passthrough", Provides: []devices.Spec{devices.IMU()}})
	c := &chain{Bench: b, network: &network{World: b.World}}
	c.Table.Connect(c.network)
	must.Get(c.Link.Devices()[0].Subscribe(c.Now(), c))(t)
	c.say(reply(""))
	if err := c.Link.SetupError(); err == nil || !strings.Contains(err.Error(), "imu:4") {
		t.Errorf("error %v", err)
	}
}

func TestNamesThere(t *testing.T) {
	ours := []devices.Spec{devices.Laser().At(3), devices.IMU(), devices.Laser().At(5)}
	for _, tt := range []struct{ given, want []string }{
		{nil, []string{"laser:0", "imu:0", "laser:1"}},
		{[]string{"laser:7", "imu", "laser:2"}, []string{"laser:7", "imu:0", "laser:2"}},
		{[]string{"laser:7"}, nil}, {[]string{"laser:7", "laser:1", "imu:0"}, nil}, {[]string{"laser:x", "imu", "laser"}, nil},
	} {
		if got, err := namesThere(tt.given, ours); (err == nil) != (tt.want != nil) || err == nil && !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, %v", tt.given, got, err)
		}
	}
}

// subscribe opens position.
func (c *chain) subscribe() {
	c.T.Helper()
	if pending, err := c.position().Subscribe(c.Now(), c); !pending || err != nil {
		c.T.Fatal(pending, err)
	}
}

// The setup has time for each of its waits.
func TestSlowSetup(t *testing.T) {
	c := newChain(t)
	c.subscribe()
	c.Pass(connectLimit - ms)
	c.say(reply(""))
	c.Pass(answerLimit - ms)
	c.say(reply(granted))
	c.Pass(connectLimit - ms)
	c.say(reply(""))
	c.expectState(devices.Ready, "p <nil>")
}

// A reply about a device that was not requested changes nothing.
func TestForeignReply(t *testing.T) {
	c := newChain(t)
	c.subscribe()
	c.say(reply(""), reply("yrxe"))
	c.expectState(devices.Starting)
	c.say(reply(""))
	c.expectState(devices.Ready, "p <nil>")
}

// open opens position and lets the other Player agree.
func (c *chain) open() {
	c.T.Helper()
	c.subscribe()
	c.expectSent(rate, form, path, yield, ping, request)
	c.say(reply(""))
	c.Pass(4 * time.Second) // its hardware is slow
	c.say(reply(granted))
	c.expectSent(fresh, geometry, colors, ping)
	c.say(reply(""))
	c.expectState(devices.Ready, "p <nil>")
}

func (c *chain) expectState(state devices.State, notified ...string) {
	c.T.Helper()
	if l := c.position().Link(); l.State() != state || !slices.Equal(c.notified, notified) {
		c.T.Fatalf("%v, notified %q; want %v, %q", l.State(), c.notified, state, notified)
	}
	c.notified = nil
}

func (c *chain) x() int32 { return transporttest.Data[codec.PositionData](c.T, c.position()).X }

func TestData(t *testing.T) {
	c := newChain(t)
	c.open()
	published := func(p, s, v uint64) {
		t.Helper()
		for letter, want := range map[byte]uint64{'p': p, 's': s, 'v': v} {
			if got := c.Table.Device(letter).Seq(); got != want {
				t.Errorf("%c was published %d times, want %d", letter, got, want)
			}
		}
	}
	// The last frames of the old kind: sonar and vision have no data yet, then
	// vision has no blobs.
	c.say(ages(30_000, codec.NoAge, codec.NoAge), position(1), codec.AppendBlock(nil, 's', nil), vision())
	published(1, 0, 0)
	c.say(ages(20_000, codec.NoAge, 0), position(1), codec.AppendBlock(nil, 's', nil), vision())
	published(2, 0, 1)
	if c.x() != 1 || c.position().Age(c.Now()) != 20*ms {
		t.Errorf("x %d, age %v", c.x(), c.position().Age(c.Now()))
	}
	// From now on only new data.
	c.Pass(20 * ms)
	c.say(ages(5_000), sonar(), ages(1_000, 2_000), position(2), vision())
	published(3, 1, 2)
	if age := c.Table.Device('s').Age(c.Now()); age != 5*ms || c.x() != 2 {
		t.Errorf("x %d, age of sonar %v", c.x(), age)
	}
	// Data from before we were started.
	c.say(ages(70*60*1e6), position(3))
	if age := c.position().Age(c.Now()); age != 70*time.Minute {
		t.Errorf("age %v", age)
	}
}

// compacted returns a frame in compact form.
func compacted(blocks ...[]byte) []byte {
	var items []byte
	for rest := slices.Concat(blocks...); len(rest) > 0; {
		letter, payload, after, _ := codec.Block(rest)
		items = compact.Append(items, letter, payload, codec.Scan{})
		rest = after
	}
	return codec.AppendBlock(nil, codec.KindCompact, items)
}

// Frames come in both forms.
func TestCompactFrames(t *testing.T) {
	c := newChain(t)
	c.open()
	c.say(compacted(ages(20_000, 0), position(1), sonar()), ages(5_000), position(2), compacted(ages(7_000), position(3)))
	if c.x() != 3 || c.position().Age(c.Now()) != 7*ms || c.position().Seq() != 3 || c.Table.Device('s').Seq() != 1 {
		t.Errorf("x %d, age %v, published %d times", c.x(), c.position().Age(c.Now()), c.position().Seq())
	}
	for _, bad := range [][]byte{compacted(codec.AppendBlock(nil, 'l', nil)), compacted(reply("")), compacted(compacted()), codec.AppendBlock(nil, 'Z', []byte("p")), compacted(codec.AppendBlock(nil, 'p', []byte("short")))} {
		c := newChain(t)
		c.open()
		c.say(bad)
		if !c.Port().Closed {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// However the stream is cut, it is the same.
func TestCuts(t *testing.T) {
	stream := slices.Concat(reply(""), reply(granted), ages(0, 0), position(5), sonar(), answers("s 2 1 2 3 0 0 0 0"), reply(""), ages(0), position(6))
	for cut := range stream {
		c := newChain(t)
		c.subscribe()
		c.say(stream[:cut])
		c.say(stream[cut:])
		c.expectState(devices.Ready, "p <nil>")
		if c.x() != 6 || c.position().Seq() != 2 || c.Table.Device('s').Seq() != 1 || len(c.Table.Device('s').AppendParts(nil)) != 1 {
			t.Fatalf("cut at %d: x %d, published %d and %d times", cut, c.x(), c.position().Seq(), c.Table.Device('s').Seq())
		}
	}
}

// A Player that knows no ages, nor freshness.
func TestOldPlayer(t *testing.T) {
	c := newChain(t)
	c.subscribe()
	c.expectSent(rate, form, path, yield, ping, request)
	c.say(reply(""), reply("yeprsrvr"))
	c.expectState(devices.Ready, "p <nil>")
	c.expectSent()
	for range 3 {
		c.say(position(7), sonar(), vision())
	}
	if c.position().Seq() != 3 || c.position().Age(c.Now()) != 0 {
		t.Errorf("published %d times, age %v", c.position().Seq(), c.position().Age(c.Now()))
	}
}

func TestCommands(t *testing.T) {
	c := newChain(t)
	c.open()
	if err := c.position().Configure(c.Now(), []byte("m\x01")); err != nil {
		t.Error(err)
	}
	c.expectSent("xpm\x01")
	c.drive("abcd") // write access is asked for when it is needed
	c.expectSent(write, "cpabcd")
	c.say(reply("pa"))
	c.drive("efgh")
	c.expectSent("cpefgh")

	// The network is full: the newest command is sent when it has room.
	c.network.full = true
	c.drive("ijkl")
	if err := c.position().Configure(c.Now(), []byte("m\x01")); err == nil {
		t.Error("no error")
	}
	c.Pass(2 * pingPeriod)
	c.say(sonar()) // not silent
	c.drive("mnop")
	c.expectSent()
	c.network.full = false
	c.Pass(100 * ms)
	c.expectSent("cpmnop")
}

// We may read, but not write.
func TestCommandsRefused(t *testing.T) {
	c := newChain(t)
	c.open()
	c.say(ages(0), position(1))
	c.drive("abcd")
	c.expectSent(write, "cpabcd")
	c.say(reply("pe")) // and closed
	c.expectSent("drpr")
	c.say(reply("pr"), ages(0), position(2))
	c.drive("efgh")
	c.expectSent()
	if c.x() != 2 || c.position().Command() != nil {
		t.Errorf("x %d, command %q", c.x(), c.position().Command())
	}
	if n := c.Log.FilterMessage("the other Player takes no commands from us").Len(); n != 1 {
		t.Errorf("%d lines in the log", n)
	}
}

func TestSetupFails(t *testing.T) {
	const player = "player 10.0.0.7:6665: "
	for _, tt := range []struct {
		name  string
		event func(c *chain)
		want  string
	}{
		{"refuses a device", func(c *chain) {
			c.say(reply(""), reply("yrpesrvr"), codec.AppendAnswer(nil, codec.QuestionRefusals, []string{"p right this client may: nothing"}), reply(""))
		}, "it cannot open position:0 for us: this client may: nothing"},
		{"refuses a device and knows no questions", func(c *chain) { c.say(reply(""), reply("yrpesrvr"), reply("")) }, "it cannot open position:0 for us"},
		{"refuses a device and says no more", func(c *chain) { c.say(reply(""), reply("yrpesrvr")); c.Pass(connectLimit) }, "it cannot open position:0 for us"},
		{"hangs up", func(c *chain) { c.Port().HangUp() }, "unexpected EOF"},
		{"is not reached", func(c *chain) { c.Pass(connectLimit) }, "it does not answer"},
		{"says no more", func(c *chain) { c.say(reply("")); c.Pass(answerLimit) }, "it does not answer"},
		{"answers no questions", func(c *chain) { c.say(reply(""), reply(granted)); c.Pass(connectLimit) }, "it does not answer"},
		{"is no Player", func(c *chain) { c.say([]byte("HTTP/1.1 400 Bad Request")) }, "it sends 'H', which is no letter of its devices"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newChain(t)
			c.subscribe()
			tt.event(c)
			c.expectState(devices.Idle, "p "+player+tt.want)
			if !c.Port().Closed {
				t.Error("the connection stays open")
			}
			c.Pass(time.Minute)
			if len(c.Ports) != 1 {
				t.Error("tried again while no client asks for it")
			}
		})
	}
	c := newChain(t)
	c.Refuse = errors.New("no route to host")
	if _, err := c.position().Subscribe(c.Now(), c); err == nil || err.Error() != player+"no route to host" {
		t.Errorf("error %v", err)
	}
}

// After any loss of the connection it is made again; the clients stay, and commands from
// before or meanwhile are not carried out.
func TestReconnect(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose func(c *chain)
	}{
		{"closed", func(c *chain) { c.Port().HangUp() }},
		{"silent", func(c *chain) { c.Pass(silenceLimit) }},
		{"garbage", func(c *chain) { c.say([]byte("garbage")) }},
		{"wrong size", func(c *chain) { c.say(codec.AppendBlock(nil, 'p', []byte("short"))) }},
		{"within a write", func(c *chain) { c.Break = func() {}; c.drive("ijkl") }},
		{"within a ping", func(c *chain) { c.Break = func() {}; c.Pass(pingPeriod) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newChain(t)
			c.open()
			c.say(ages(0), position(1))
			stamp := c.Now()
			c.drive("abcd")
			tt.lose(c)
			if !c.Port().Closed || c.position().Command() != nil {
				t.Fatalf("closed: %v, command %q", c.Port().Closed, c.position().Command())
			}
			c.drive("efgh")
			if err := c.position().Configure(c.Now(), []byte("m\x01")); err == nil {
				t.Error("no error")
			}
			c.Refuse = errors.New("no route to host")
			for range 10 {
				c.Pass(time.Second)
			}
			if n := c.Log.FilterLevelExact(zapcore.WarnLevel).Len(); n != 2 { // the loss, and why it stays
				t.Errorf("%d lines in the log", n)
			}
			if c.x() != 1 || c.position().Age(c.Now()) != c.Now()-stamp {
				t.Errorf("x %d, age %v", c.x(), c.position().Age(c.Now()))
			}
			c.Refuse = nil
			before := len(c.Ports)
			if !c.Until(func() bool { return len(c.Ports) == before+1 }, retry.Last) {
				t.Fatal("not tried again")
			}
			c.expectSent(rate, form, path, yield, ping, request)
			c.drive("ijkl") // too early
			c.say(reply(""), reply(granted), ages(0), position(3))
			c.drive("ijkl") // as early
			c.say(reply(""))
			c.expectSent(fresh, geometry, colors, ping) // and no command
			c.expectState(devices.Ready)
			if c.x() != 3 {
				t.Errorf("x %d", c.x())
			}
			c.drive("mnop")
			c.expectSent(write, "cpmnop")
			c.position().Unsubscribe(c.Now(), c)
			c.expectState(devices.Idle)
			if !c.Port().Closed {
				t.Error("the connection stays open")
			}
			c.Pass(time.Minute)
			if len(c.Ports) != before+1 {
				t.Error("connected while no client asks for it")
			}
		})
	}
}

// A silent peer is asked for a sign of life, once a second.
func TestPing(t *testing.T) {
	c := newChain(t)
	c.open()
	for range 10 {
		c.Pass(pingPeriod)
		c.expectSent(ping)
		c.say(reply(""))
	}
	c.Pass(2 * pingPeriod)
	c.expectSent(ping, ping)
	c.Pass(silenceLimit - 2*pingPeriod - 1)
	if c.Port().Closed {
		t.Error("given up too early")
	}
	c.Pass(1)
	if !c.Port().Closed {
		t.Error("not given up")
	}
	// Data is also a sign of life.
	c.Pass(retry.First)
	c.say(reply(""), reply(granted), reply(""))
	c.Port().Wrote = nil
	for range 30 {
		c.Pass(100 * ms)
		c.say(ages(0), position(4))
	}
	c.expectSent()
}

// The client leaves while the other Player is still setting up.
func TestShutdownEarly(t *testing.T) {
	c := newChain(t)
	c.subscribe()
	c.position().Unsubscribe(c.Now(), c)
	c.expectState(devices.Idle)
	if !c.Port().Closed {
		t.Error("the connection stays open")
	}
}

func TestKind(t *testing.T) {
	for _, tt := range []struct{ remote, want string }{
		{"127.0.0.1:7000", "127.0.0.1:7000"},
		{"127.0.0.1", "127.0.0.1:6665"},
		{"[::1]:7000", "[::1]:7000"},
		{"::1", "[::1]:6665"},
		{"[::1]", "[::1]:6665"},
		{"localhost:7000", "127.0.0.1:7000"},
	} {
		if got, err := resolve(tt.remote); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.remote, got, err, tt.want)
		}
	}
	for _, remote := range []string{"127.0.0.1:http", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:", "no such host"} {
		if got, err := resolve(remote); err == nil {
			t.Errorf("%s is %s", remote, got)
		}
	}
	k := Kind()
	values := k.Defaults()
	values["remote"] = "127.0.0.1"
	if _, err := k.Make(devices.Args{Name: k.Name, Values: values, Provides: []devices.Spec{devices.Laser()}}); err != nil {
		t.Error(err)
	}
}

func TestHotPathAllocatesNothing(t *testing.T) {
	c := newChain(t)
	c.open()
	frame, command := slices.Concat(ages(0, 0), position(1), sonar()), []byte("abcd")
	c.say(frame)
	c.drive("abcd")
	p := c.Port()
	if n := testing.AllocsPerRun(1000, func() {
		p.Say(frame[:50])
		p.Say(frame[50:])
		p.Wrote = p.Wrote[:0]
		c.position().SetCommand(c.Now(), command)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if c.position().Seq() < 1000 || len(p.Wrote) == 0 {
		t.Error("nothing happened")
	}
}

// Whatever the other Player sends, nothing breaks and little is kept.
func FuzzReceive(f *testing.F) {
	f.Add(slices.Concat(reply(""), reply(granted), ages(0, 0), position(5), sonar(), reply("pe")), uint8(7))
	f.Add(slices.Concat(reply("yepesrvr")), uint8(1))
	f.Add(slices.Concat(reply(granted), ages(), position(1), reply("pe"), reply("pe"), vision()), uint8(200))
	f.Add([]byte("y\x00\x09123456789"), uint8(2))
	f.Add(slices.Concat(reply(""), reply(granted), answers("s 0 1 2 3 0 0 0 0", "p 0 0 0 0 1 1 0 0"), reply(""), ages(0, 0), position(5), reply("")), uint8(30))
	f.Add(slices.Concat(reply(""), reply(granted), compacted(ages(0, 0), position(5), sonar())), uint8(9))
	f.Fuzz(func(t *testing.T, in []byte, n uint8) {
		c := newChain(t)
		c.subscribe()
		for piece := range slices.Chunk(in, int(n)+1) {
			c.Port().Say(piece)
			c.drive("abcd")
		}
		c.Pass(time.Minute)
		if s := c.position().Link().State(); s != devices.Idle && s != devices.Ready {
			t.Errorf("after a minute the link is %v", s)
		}
	})
}
