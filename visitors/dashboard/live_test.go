package dashboard

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
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
	"player/e2e/waiting"
	"player/process/descriptors"
	serving "player/server"
	"player/visitors"
)

// patience is how long a test waits for an event before it fails.
const patience = 20 * time.Second

// lab is a simulated robot, its server, and the server of the dashboard.
type lab struct {
	t       *testing.T
	world   *stage.World
	post    func(func(time.Duration)) bool
	address string // of the robot
	url     string // of the dashboard
	share   *descriptors.Share
}

// newLab serves the room. access has the rights of the dashboard. Tests with a lab do
// not run in parallel: loops in one process share gnet's logger without a lock.
func newLab(t *testing.T, access rights.Rules) *lab {
	t.Helper()
	world, err := stage.Load("../../simulation/worlds/room.world")
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
			Robots: []serving.Robot{{Address: address, Table: table}}, MaxRate: 1000, Descriptors: descriptors.New(20, true), Log: zap.NewNop(),
			Ready: func(r *serving.Server) { ready <- r },
		})
	}()
	var loop *serving.Server
	select {
	case loop = <-ready:
	case err := <-ended:
		t.Fatalf("the server ended: %v", err)
	}
	share := descriptors.NewShare(100)
	page := servePage(t, Config{
		Robots: []Robot{{Name: "r0", Address: address, Simulated: world.Robots()[0]}}, World: world, Drafting: NewDrafting(),
		Common: visitors.Common{Post: loop.Post, Access: access, Descriptors: share, Log: zap.NewNop()},
	})
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended: %v", err)
		}
	})
	return &lab{t, world, loop.Post, address, page, share}
}

// servePage serves a dashboard until the end of the test and returns its address.
func servePage(t *testing.T, config Config) (url string) {
	t.Helper()
	if config.Descriptors == nil {
		config.Descriptors = descriptors.NewShare(100)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, config) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the dashboard ended: %v", err)
		}
	})
	return "http://" + l.Addr().String()
}

// look calls fn on the loop and waits for it.
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

// tab is a WebSocket of a page.
type tab struct {
	t  *testing.T
	ws *websocket.Conn
}

// open opens a WebSocket as our page does.
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

// send sends a JSON message.
func (p *tab) send(format string, args ...any) {
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
	return p.report(field)[field]
}

// report skips messages until one has a field, and returns the message.
func (p *tab) report(field string) map[string]any {
	p.t.Helper()
	for {
		_, text, err := p.read()
		if err != nil {
			p.t.Fatalf("waiting for %q: %v", field, err)
		}
		if _, has := text[field]; has {
			return text
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

// ended waits until the server closes the socket and returns the reason.
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
	p.send(`{"rate":100,"request":"lrprXr"}`)
	report := p.report("access")
	access, refused := report["access"].(map[string]any), report["refused"].(map[string]any)
	if why := refused["X"].(map[string]any); why["why"] != "missing" || why["text"] != "the robot has no such device" || len(refused) != 1 {
		t.Errorf("refused %v", refused)
	}
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
	p.send(`{"request":"lcsr"}`)
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

// A page that does not acknowledge gets no backlog: the next message has the
// newest data, and how many rounds were merged into it.
func TestSlowPage(t *testing.T) {
	l := newLab(t, nil)
	p := l.open("/stream", l.address)
	p.send(`{"rate":100,"request":"pr"}`)
	made := func(payloads map[byte][]byte) time.Duration {
		var position codec.PositionData
		if err := position.Decode(payloads['p']); err != nil {
			t.Fatal(err)
		}
		return time.Duration(position.Time) * time.Millisecond
	}
	var last, before uint32
	var payloads map[byte][]byte
	for range maxUnacked {
		last, before, payloads = frame(t, p.data())
	}
	unacked := made(payloads)
	// Rounds that the dashboard does not get, one in 0.1 s.
	start := l.simulated()
	l.await("a second passes", func() bool { return l.simulated() >= start+time.Second })
	p.ack(last)
	number, dropped, payloads := frame(t, p.data())
	if dropped -= before; number != last+1 || dropped == 0 {
		t.Errorf("message %d after %d, %d dropped", number, last, dropped)
	}
	const period = 100 * time.Millisecond
	if later, least := made(payloads)-unacked, time.Duration(dropped+1)*period-period/2; later < least {
		t.Errorf("%d rounds dropped, data is only %v newer", dropped, later)
	}
}

// A device sends its last data while the dashboard is congested, then while another
// device starts: the dashboard gets both.
func TestSlowPageQuietDevice(t *testing.T) {
	t.Parallel()
	robot, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer robot.Close()
	p := (&lab{t: t, url: servePage(t, Config{Common: visitors.Common{Log: zap.NewNop()}})}).open("/stream", robot.Addr().String())
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
	say("r\x00\x02yer\x00\x00") // a server without ages, which does not say why
	p.send(`{"request":"Xr"}`)
	say("r\x00\x02Xr")
	p.told("access")
	var last uint32
	for range maxUnacked {
		say("X\x00\x01a")
		last = binary.BigEndian.Uint32(p.data())
	}
	requests := make([]byte, len("xy\x00\x13wbrowser 127.0.0.1 xy\x00\x02z\x02dr\x00\x02yrxy\x00\x02qedr\x00\x00dr\x00\x02Xr"))
	request := requests[:len("dr\x00\x02yr")]
	heard := func(into []byte) {
		if _, err := io.ReadFull(conn, into); err != nil {
			t.Fatal(err)
		}
	}
	heard(requests)
	say("X\x00\x01b")
	say("X\x00\x01c")
	p.send(`{"request":"Ur"}`)
	heard(request)
	say("r\x00\x02Ur")
	p.told("access") // the server has read b and c
	p.ack(last)
	for last++; !strings.HasSuffix(string(p.data()), "c"); last++ {
	}
	p.ack(last)
	p.send(`{"request":"Wr"}`)
	heard(request)
	say("X\x00\x01d")
	say("r\x00\x02Wr")
	for !strings.HasSuffix(string(p.data()), "d") {
	}
}

// simulated is the time of the world.
func (l *lab) simulated() (at time.Duration) {
	l.look(func(time.Duration) { at = l.world.Time() })
	return at
}

func TestStreamErrors(t *testing.T) {
	l := newLab(t, nil)
	for _, tt := range []struct{ robot, command, want string }{
		{"127.0.0.1:1", "", "no server runs at this address"},
		{l.address, `{"request":"pw"}`, "reload it"},
		{l.address, `{"rate":-1}`, "reload it"},
		{l.address, `{"fly":1}`, "reload it"},
	} {
		p := l.open("/stream", tt.robot)
		if tt.command != "" {
			p.send("%s", tt.command)
		}
		if reason := p.ended(); !strings.Contains(reason, tt.want) {
			t.Errorf("%s %s: %s, want %q", tt.robot, tt.command, reason, tt.want)
		}
	}
}

// An HTTP server says nothing until it is asked, so the page gives up after a while.
func TestStreamOfAnotherServer(t *testing.T) {
	t.Parallel()
	url := servePage(t, Config{Common: visitors.Common{Log: zap.NewNop()}})
	p := (&lab{t: t, url: url}).open("/stream", strings.TrimPrefix(url, "http://"))
	if reason := p.ended(); !strings.Contains(reason, "not a Player server") {
		t.Errorf("%q", reason)
	}
}

// Each connection to a robot has a descriptor of the share of pages, and gives it back. Without
// one the page says so.
func TestDescriptorsOfPages(t *testing.T) {
	l := newLab(t, nil)
	free := func(n int) bool { // reports whether n are, and no more
		if l.share.Take(n) != nil {
			return false
		}
		defer l.share.Return(n)
		if l.share.Take(1) != nil {
			return true
		}
		l.share.Return(1)
		return false
	}
	all := l.share.Most()
	watching, driving := l.open("/stream", l.address), l.open("/drive", l.address)
	driving.send(`{"drive":[100,0]}`)
	l.await("a descriptor each", func() bool { return free(all - 2) })
	if err := l.share.Take(all - 2); err != nil {
		t.Fatal(err)
	}
	if reason := l.open("/stream", l.address).ended(); !strings.Contains(reason, "too many pages and viewers") {
		t.Errorf("%q", reason)
	}
	watching.ws.CloseNow()
	driving.ws.CloseNow()
	l.await("they are given back", func() bool { return free(2) })
}

func (l *lab) await(what string, ok func() bool) {
	l.t.Helper()
	waiting.Until(l.t, what, ok)
}

// stands reports whether the robot does not move.
func (l *lab) stands() bool {
	a, at := l.pose(), l.simulated()
	l.await("time passes", func() bool { return l.simulated() >= at+50*time.Millisecond })
	return l.pose() == a
}

// watch opens a stream, so that the world's time flows.
func (l *lab) watch() {
	l.open("/stream", l.address).send(`{"request":"pr"}`)
	l.await("time flows", func() bool { return l.simulated() > 0 })
}

// A page sends nothing more while it drives: the robot stops, and later the dashboard
// loses write access to the wheels.
func TestDeadMan(t *testing.T) {
	l := newLab(t, nil)
	l.watch()
	start := l.pose()
	p := l.open("/drive", l.address)
	p.send(`{"drive":[300,0]}`)
	if held := p.told("held"); held != "p" {
		t.Fatalf("held %q", held)
	}
	l.await("the robot moves", func() bool { return l.pose().X > start.X+0.02 })
	if why := p.told("error"); !strings.Contains(why.(string), "nothing heard") {
		t.Errorf("reported %q", why)
	}
	l.await("the robot stands", l.stands)
	if moved := l.pose().X - start.X; moved > 0.3*(deadMan.Seconds()+2) {
		t.Errorf("it went %v m", moved)
	}
	if held := p.told("held"); held != "" {
		t.Errorf("held %q", held)
	}
	p.send(`{"drive":[300,0]}`) // and gets them back
	if held := p.told("held"); held != "p" {
		t.Errorf("held %q", held)
	}
}

// A page is closed while it drives.
func TestClosedPageStops(t *testing.T) {
	l := newLab(t, nil)
	l.watch()
	p := l.open("/drive", l.address)
	p.send(`{"drive":[0,90]}`)
	start := l.pose()
	l.await("the robot turns", func() bool { return l.pose() != start })
	p.ws.CloseNow()
	l.await("the robot stands", l.stands)
}

func TestCommands(t *testing.T) {
	l := newLab(t, nil)
	s := l.open("/stream", l.address)
	s.send(`{"rate":50,"request":"przrgr"}`)
	p := l.open("/drive", l.address)
	p.send(`{"look":[-30,10,500]}`)
	p.send(`{"grip":[2,0]}`)
	p.send(`{"motors":false}`)
	p.send(`{"drive":[300,0]}`) // has no effect without motors
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

// A page has the rights of its browser's address: the robot only sees this server.
func TestAccess(t *testing.T) {
	here := netip.MustParsePrefix("127.0.0.0/8")
	l := newLab(t, rights.Rules{{Allow: rights.Read, From: []netip.Prefix{here}}})
	start := l.pose()
	l.watch()
	p := l.open("/drive", l.address)
	for _, command := range []string{`{"drive":[300,0]}`, `{"look":[1,1,1]}`, `{"motors":true}`} {
		p.send("%s", command)
		if why := p.told("error").(string); !strings.Contains(why, "may read") {
			t.Errorf("%s: %s", command, why)
		}
	}
	w := l.open("/world", "")
	w.send(`{"move":{"mover":0,"x":0,"y":0}}`)
	if why := w.told("error").(string); !strings.Contains(why, "may read") {
		t.Errorf("move: %s", why)
	}
	if l.pose() != start {
		t.Error("the robot has moved")
	}
	nobody := newLab(t, rights.Rules{{Allow: rights.All, From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}})
	for _, path := range []string{"/stream", "/drive", "/world"} {
		if why := nobody.open(path, nobody.address).ended(); !strings.Contains(why, "may nothing") {
			t.Errorf("%s: %s", path, why)
		}
	}
	for path, want := range map[string]int{"/robots": http.StatusForbidden, "/plan": http.StatusForbidden, "/": http.StatusOK} {
		reply, err := http.Get(nobody.url + path)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, reply.StatusCode, want)
		}
	}
}
