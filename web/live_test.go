package web

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"player/codec"
	"player/config/rights"
	"player/devices"
	"player/devices/stage"
	serving "player/server"
)

// patience is how long a test waits for an event before it fails.
const patience = 20 * time.Second

// lab is a simulated robot, its server, and the server of the page.
type lab struct {
	t       *testing.T
	world   *stage.World
	post    func(func(time.Duration)) bool
	address string // of the robot
	url     string // of the page
}

// newLab serves the room. The page may do what access says.
func newLab(t *testing.T, access rights.Rules) *lab {
	t.Helper()
	world, err := stage.Load("../worlds/room.world")
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()

	table := devices.NewTable(zap.NewNop())
	if _, err := table.Attach(world.Instances()[0]); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan *serving.Server, 1), make(chan error, 1)
	go func() {
		ended <- serving.Run(ctx, serving.Config{
			Robots: []serving.Robot{{Address: address, Table: table}}, MaxRate: 1000, Log: zap.NewNop(),
			Ready: func(r *serving.Server) { ready <- r },
		})
	}()
	var loop *serving.Server
	select {
	case loop = <-ready:
	case err := <-ended:
		t.Fatalf("the server ended: %v", err)
	}
	page := httptest.NewServer(newHandler(ctx, Config{
		Robots: []Robot{{"r0", address, world.Robots()[0]}}, World: world, Post: loop.Post, Access: access, Log: zap.NewNop(),
	}))
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended: %v", err)
		}
		page.Close()
	})
	return &lab{t, world, loop.Post, address, page.URL}
}

// look calls fn on the loop.
func (l *lab) look(fn func(now time.Duration)) {
	l.t.Helper()
	done := make(chan struct{})
	if !l.post(func(now time.Duration) { fn(now); close(done) }) {
		l.t.Fatal("the loop has ended")
	}
	<-done
}

// pose is where the robot really is.
func (l *lab) pose() (p stage.Pose) {
	l.look(func(time.Duration) { p = l.world.Robots()[0].Pose() })
	return p
}

// tab is one socket of a page.
type tab struct {
	t  *testing.T
	ws *websocket.Conn
}

// open opens a socket, as a page of ours would.
func (l *lab) open(path, robot string) *tab {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, l.url+path+"?robot="+url.QueryEscape(robot), &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {l.url}}})
	if err != nil {
		l.t.Fatal(err)
	}
	ws.SetReadLimit(1 << 20)
	l.t.Cleanup(func() { ws.CloseNow() })
	return &tab{l.t, ws}
}

func (p *tab) order(format string, args ...any) {
	p.t.Helper()
	if err := p.ws.Write(p.t.Context(), websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) ack(number uint32) {
	p.t.Helper()
	if err := p.ws.Write(p.t.Context(), websocket.MessageBinary, binary.BigEndian.AppendUint32(nil, number)); err != nil {
		p.t.Fatal(err)
	}
}

// read returns the next message.
func (p *tab) read() (data []byte, text map[string]any, err error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	kind, message, err := p.ws.Read(ctx)
	if err != nil || kind == websocket.MessageBinary {
		return message, nil, err
	}
	return nil, text, json.Unmarshal(message, &text)
}

// told skips messages until one is JSON with the field.
func (p *tab) told(field string) any {
	p.t.Helper()
	for {
		_, text, err := p.read()
		if err != nil {
			p.t.Fatalf("waiting for %q: %v", field, err)
		}
		if value, has := text[field]; has {
			return value
		}
	}
}

// data skips messages until one is data.
func (p *tab) data() []byte {
	p.t.Helper()
	for {
		data, _, err := p.read()
		if err != nil {
			p.t.Fatalf("waiting for data: %v", err)
		}
		if data != nil {
			return data
		}
	}
}

// ended waits for the end of the socket and returns its reason.
func (p *tab) ended() string {
	p.t.Helper()
	for {
		_, _, err := p.read()
		if websocket.CloseStatus(err) == statusRobot {
			return err.Error()
		}
		if err != nil {
			p.t.Fatalf("ended without a reason: %v", err)
		}
	}
}

// frame cuts a message of a stream into its parts.
func frame(t *testing.T, message []byte) (number, dropped uint32, payloads map[byte][]byte) {
	t.Helper()
	be := binary.BigEndian
	number, dropped, payloads = be.Uint32(message), be.Uint32(message[4:]), map[byte][]byte{}
	for rest := message[8:]; len(rest) > 0; {
		size := int(be.Uint16(rest[5:]))
		payloads[rest[0]] = rest[7 : 7+size]
		if age := be.Uint32(rest[1:]); age > uint32(patience.Microseconds()) && size > 0 {
			t.Errorf("age of %c is %d us", rest[0], age)
		}
		rest = rest[7+size:]
	}
	return number, dropped, payloads
}

func TestStream(t *testing.T) {
	l := newLab(t, nil)
	p := l.open("/stream", l.address)
	p.order(`{"rate":100,"request":"lrprXr"}`)
	access := p.told("access").(map[string]any)
	if access["l"] != "r" || access["p"] != "r" || access["X"] != "e" {
		t.Fatalf("access %v", access)
	}
	seen := map[byte]bool{}
	for !seen['l'] || !seen['p'] {
		number, _, payloads := frame(t, p.data())
		p.ack(number)
		for device, payload := range payloads {
			seen[device] = true
			if want := map[byte]int{'l': codec.LaserSize, 'p': codec.PositionSize}[device]; len(payload) != want {
				t.Fatalf("%c has %d bytes, want %d", device, len(payload), want)
			}
		}
	}
	// What is closed does not come any more, what is opened comes.
	p.order(`{"request":"lcsr"}`)
	if access := p.told("access").(map[string]any); access["l"] != "c" || access["s"] != "r" {
		t.Fatalf("access %v", access)
	}
	for range 5 {
		number, _, payloads := frame(t, p.data())
		p.ack(number)
		if payloads['l'] != nil {
			t.Error("the laser is closed, and comes")
		}
	}
}

// A page that does not keep up gets no backlog: it is told how much it missed,
// and what comes then is new.
func TestSlowPage(t *testing.T) {
	l := newLab(t, nil)
	p := l.open("/stream", l.address)
	p.order(`{"rate":100,"request":"pr"}`)
	var last uint32
	for range windowSize {
		last, _, _ = frame(t, p.data())
	}
	// Ten more rounds of the robot, 0.1 s each, that the page does not see.
	start := l.simulated()
	for l.simulated() < start+time.Second {
		time.Sleep(10 * time.Millisecond)
	}
	stalled := l.simulated()
	p.ack(last)
	number, dropped, payloads := frame(t, p.data())
	if number != last+1 || dropped < 5 {
		t.Errorf("message %d after %d, %d dropped", number, last, dropped)
	}
	var position codec.PositionData
	if err := position.Decode(payloads['p']); err != nil {
		t.Fatal(err)
	}
	var stamp time.Duration
	l.look(func(time.Duration) { stamp = l.world.Stamp() - l.world.Time() })
	// The latest round, or the one before if that is on its way.
	if made := time.Duration(position.Time)*time.Millisecond - stamp; made < stalled-250*time.Millisecond {
		t.Errorf("the data was made at %v, the page was ready at %v", made, stalled)
	}
}

// A device that falls quiet while the page is behind: the page gets its last
// data all the same.
func TestSlowPageQuietDevice(t *testing.T) {
	robot, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer robot.Close()
	page := httptest.NewServer(newHandler(t.Context(), Config{Log: zap.NewNop()}))
	defer page.Close()
	p := (&lab{t: t, url: page.URL}).open("/stream", robot.Addr().String())
	conn, err := robot.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	say := func(message string) {
		if _, err := conn.Write([]byte(message)); err != nil {
			t.Fatal(err)
		}
	}
	say("r\x00\x02ye") // a server without ages
	p.order(`{"request":"Xr"}`)
	say("r\x00\x02Xr")
	p.told("access")
	var last uint32
	for range windowSize {
		say("X\x00\x01a")
		last = binary.BigEndian.Uint32(p.data())
	}
	say("X\x00\x01b")
	say("X\x00\x01c")
	time.Sleep(100 * time.Millisecond) // for them to find the window full
	p.ack(last)
	for !strings.HasSuffix(string(p.data()), "c") {
	}
}

// simulated is the time of the world.
func (l *lab) simulated() (at time.Duration) {
	l.look(func(time.Duration) { at = l.world.Time() })
	return at
}

func TestStreamErrors(t *testing.T) {
	l := newLab(t, nil)
	for _, tt := range []struct{ robot, order, want string }{
		{"127.0.0.1:1", "", "connection refused"},
		{strings.TrimPrefix(l.url, "http://"), "", "no Player server"}, // it is an HTTP server
		{l.address, `{"request":"pw"}`, "want pairs of a device and r or c"},
		{l.address, `{"rate":-1}`, "frequency -1"},
		{l.address, `{"fly":1}`, "unknown field"},
	} {
		p := l.open("/stream", tt.robot)
		if tt.order != "" {
			p.order("%s", tt.order)
		}
		if reason := p.ended(); !strings.Contains(reason, tt.want) {
			t.Errorf("%s %s: %s, want %q", tt.robot, tt.order, reason, tt.want)
		}
	}
}

// await polls until ok, and fails after patience.
func (l *lab) await(what string, ok func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatalf("waited in vain: %s", what)
		}
	}
}

// stands says that the robot does not move.
func (l *lab) stands() bool {
	a, at := l.pose(), l.simulated()
	l.await("time passes", func() bool { return l.simulated() >= at+50*time.Millisecond })
	return l.pose() == a
}

// watch keeps the world's time flowing, as a page that streams does.
func (l *lab) watch() {
	l.open("/stream", l.address).order(`{"request":"pr"}`)
	l.await("time flows", func() bool { return l.simulated() > 0 })
}

// A page that falls silent while it drives: the robot stops, and later the page
// loses the wheels.
func TestDeadMan(t *testing.T) {
	l := newLab(t, nil)
	l.watch()
	start := l.pose()
	p := l.open("/drive", l.address)
	p.order(`{"drive":[300,0]}`)
	if held := p.told("held"); held != "p" {
		t.Fatalf("held %q", held)
	}
	l.await("the robot moves", func() bool { return l.pose().X > start.X+0.02 })
	if why := p.told("error"); !strings.Contains(why.(string), "nothing heard") {
		t.Errorf("told %q", why)
	}
	l.await("the robot stands", l.stands)
	if moved := l.pose().X - start.X; moved > 0.3*(deadMan.Seconds()+2) {
		t.Errorf("it went %v m", moved)
	}
	if held := p.told("held"); held != "" {
		t.Errorf("held %q", held)
	}
	p.order(`{"drive":[300,0]}`) // and gets them back
	if held := p.told("held"); held != "p" {
		t.Errorf("held %q", held)
	}
}

// A page that is closed while it drives.
func TestClosedPageStops(t *testing.T) {
	l := newLab(t, nil)
	l.watch()
	p := l.open("/drive", l.address)
	p.order(`{"drive":[0,90]}`)
	start := l.pose()
	l.await("the robot turns", func() bool { return l.pose() != start })
	p.ws.CloseNow()
	l.await("the robot stands", l.stands)
}

func TestOrders(t *testing.T) {
	l := newLab(t, nil)
	s := l.open("/stream", l.address)
	s.order(`{"rate":50,"request":"przrgr"}`)
	p := l.open("/drive", l.address)
	p.order(`{"look":[-30,10,500]}`)
	p.order(`{"grip":[2,0]}`)
	p.order(`{"motors":false}`)
	p.order(`{"drive":[300,0]}`) // has no effect without motors
	var ptz codec.PTZData
	var gripper codec.GripperData
	var position codec.PositionData
	for ptz != (codec.PTZData{Pan: -30, Tilt: 10, Zoom: 500}) || gripper.State&codec.PaddlesClosed == 0 {
		number, _, payloads := frame(t, s.data())
		s.ack(number)
		for device, data := range map[byte]interface{ Decode([]byte) error }{'z': &ptz, 'g': &gripper, 'p': &position} {
			if len(payloads[device]) > 0 {
				if err := data.Decode(payloads[device]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if position.X != 0 || position.Speed != 0 {
		t.Errorf("it moved without motors: %+v", position)
	}
	held := ""
	for len(held) < 3 {
		held = p.told("held").(string)
	}
	for _, device := range "zgp" {
		if !strings.ContainsRune(held, device) {
			t.Errorf("held %q, not %c", held, device)
		}
	}
}

// The robot's owner says what a page may do, by where its browser is: the robot
// itself only sees this server connect.
func TestAccess(t *testing.T) {
	here := netip.MustParsePrefix("127.0.0.0/8")
	l := newLab(t, rights.Rules{{Allow: rights.Read, From: []netip.Prefix{here}}})
	start := l.pose()
	l.watch()
	p := l.open("/drive", l.address)
	for _, order := range []string{`{"drive":[300,0]}`, `{"look":[1,1,1]}`, `{"motors":true}`} {
		p.order("%s", order)
		if why := p.told("error").(string); !strings.Contains(why, "may read") {
			t.Errorf("%s: %s", order, why)
		}
	}
	w := l.open("/world", "")
	w.order(`{"move":{"mover":0,"x":0,"y":0}}`)
	if why := w.told("error").(string); !strings.Contains(why, "may read") {
		t.Errorf("move: %s", why)
	}
	if l.pose() != start {
		t.Error("the robot has moved")
	}
	nobody := newLab(t, rights.Rules{{Allow: rights.All, From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}})
	for _, path := range []string{"/stream", "/world"} {
		if why := nobody.open(path, nobody.address).ended(); !strings.Contains(why, "may nothing") {
			t.Errorf("%s: %s", path, why)
		}
	}
}
