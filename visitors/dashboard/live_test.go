package dashboard

import (
	"context"
	"encoding/binary"
	"encoding/json"
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
	"player/e2e/must"
	"player/e2e/needs"
	"player/process/descriptors"
	"player/server/session"
	"player/visitors"
	"player/visitors/roomtest"
)

// lab is a simulated robot, its server, and the server of the dashboard.
type lab struct {
	*roomtest.Room
	url string // of the dashboard
}

// newLab serves the room. access has the rights of the dashboard.
func newLab(t *testing.T, access rights.Rules) *lab {
	t.Helper()
	r := roomtest.New(t)
	return &lab{r, servePage(t, Config{
		Robots: []Robot{{Name: "r0", Address: r.Address, Simulated: r.World.Robots()[0]}}, World: r.World, Drafting: NewDrafting(),
		Common: visitors.Common{Post: r.Server.Post, Access: access, Descriptors: r.Quota},
	})}
}

// servePage serves a dashboard until the end of the test and returns its address.
func servePage(t *testing.T, config Config) (url string) {
	t.Helper()
	config.Log = zap.NewNop()
	if config.Descriptors == nil {
		config.Descriptors = descriptors.NewShare(100)
	}
	return "http://" + roomtest.Serve(t, func(ctx context.Context, l net.Listener) error { return Serve(ctx, l, config) })
}

type tab struct {
	*testing.T
	*roomtest.Socket
}

// open opens a WebSocket as our page does.
func (l *lab) open(path, robot string) *tab {
	l.Helper()
	return open(l.T, l.url, path, robot)
}

func open(t *testing.T, page, path, robot string) *tab {
	t.Helper()
	path, query, _ := strings.Cut(path, "?")
	if query != "" {
		query = "&" + query
	}
	header := http.Header{"Origin": {page}}
	ws, _, err := roomtest.Dial(t, page+path+"?robot="+url.QueryEscape(robot)+query, websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		t.Fatal(err)
	}
	return &tab{t, ws}
}

func (p *tab) ack(number uint32) {
	p.Helper()
	p.SendBinary(binary.BigEndian.AppendUint32(nil, number))
}

// read returns the next message.
func (p *tab) read() (data []byte, text map[string]any, err error) {
	kind, message, err := p.Next()
	if err != nil || kind == websocket.MessageBinary {
		return message, nil, err
	}
	return nil, text, json.Unmarshal(message, &text)
}

// await skips messages until one is JSON with the field, and returns its value.
func (p *tab) await(field string) any {
	p.Helper()
	return p.report(field)[field]
}

// report skips messages until one has a field, and returns the message.
func (p *tab) report(field string) map[string]any {
	p.Helper()
	for {
		_, text, err := p.read()
		if err != nil {
			p.Fatalf("waiting for %q: %v", field, err)
		}
		if _, has := text[field]; has {
			return text
		}
	}
}

func (p *tab) data() []byte {
	p.Helper()
	for {
		data, _, err := p.read()
		if err != nil {
			p.Fatalf("waiting for data: %v", err)
		}
		if data != nil {
			return data
		}
	}
}

// ended waits until the server closes the socket and returns the reason.
func (p *tab) ended() string {
	p.Helper()
	for {
		_, _, err := p.read()
		if websocket.CloseStatus(err) == statusRobot {
			return err.Error()
		}
		if err != nil {
			p.Fatalf("ended without a reason: %v", err)
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
		if age := be.Uint32(rest[1:]); age > uint32(roomtest.Patience.Microseconds()) && size > 0 {
			t.Errorf("age of %c is %d us", rest[0], age)
		}
		rest = rest[7+size:]
	}
	return number, dropped, payloads
}

func TestStream(t *testing.T) {
	l := newLab(t, nil)
	p := l.open("/stream", l.Address)
	p.Send(`{"rate":100,"request":"lrprXr"}`)
	report := p.report("access")
	access, refused := report["access"].(map[string]any), report["refused"].(map[string]any)
	if why := refused["X"].(map[string]any); why["why"] != "missing" || why["text"] != session.NoSuchDevice || len(refused) != 1 {
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
	// No more data of a closed device comes, but data of an opened one.
	p.Send(`{"request":"lcsr"}`)
	if access := p.await("access").(map[string]any); access["l"] != "c" || access["s"] != "r" {
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

// A page is sent the devices without letters, opens them by their names, and gets their data.
func TestStreamByName(t *testing.T) {
	l := newLab(t, nil)
	old := l.open("/stream", l.Address) // of a client of 1.0, which takes each message for a reply
	old.Send(`{"rate":100,"request":"pr"}`)
	for data, text, err := old.read(); text["access"] == nil; data, text, err = old.read() {
		if err != nil || data == nil {
			t.Fatalf("%v, %v", text, err)
		}
	}
	p := l.open("/stream?equipment=1", l.Address)
	p.Send(`{"rate":100,"request":"pr"}`)
	report := p.report("others")
	code := byte(0)
	for _, o := range report["others"].([]any) {
		if device := o.(map[string]any); device["name"] == "ranger:0" {
			code = byte(device["code"].(float64))
		}
	}
	if rays := report["rays"].(map[string]any)["ranger:0"]; code < 128 || rays == nil {
		t.Fatalf("reported %v", report)
	}
	p.Send(`{"open":["ranger:0"]}`)
	for p.await("access").(map[string]any)["ranger:0"] != "r" {
	}
	for payloads := map[byte][]byte{}; len(payloads[code]) == 0; {
		var number uint32
		number, _, payloads = frame(t, p.data())
		p.ack(number)
	}
	p.Send(`{"close":["ranger:0"]}`)
	for p.await("access").(map[string]any)["ranger:0"] != "c" {
	}
	p.Send(`{"open":["ranger:9"]}`)
	if reason := p.ended(); !strings.Contains(reason, "reload it") {
		t.Errorf("a device that was not offered: %s", reason)
	}
}

// A page that does not acknowledge gets no backlog: the next message has the
// newest data, and how many rounds were merged into it.
func TestSlowPage(t *testing.T) {
	needs.Time(t)
	l := newLab(t, nil)
	p := l.open("/stream", l.Address)
	p.Send(`{"rate":100,"request":"pr"}`)
	made := func(payloads map[byte][]byte) time.Duration {
		var position codec.PositionData
		must.Do(t, position.Decode(payloads['p']))
		return time.Duration(position.Time) * time.Millisecond
	}
	var last, before uint32
	var payloads map[byte][]byte
	for range maxUnacked {
		last, before, payloads = frame(t, p.data())
	}
	unacked := made(payloads)
	// Rounds that the dashboard does not get, one in 0.1 s.
	l.Pass(time.Second)
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
	robot := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer robot.Close()
	p := open(t, servePage(t, Config{}), "/stream", robot.Addr().String())
	conn := must.Get(robot.Accept())(t)
	defer conn.Close()
	say := func(message string) {
		must.Get(conn.Write([]byte(message)))(t)
	}
	say("r\x00\x02yer\x00\x00") // a server without ages, which gives no reason
	p.Send(`{"request":"Xr"}`)
	say("r\x00\x02Xr")
	p.await("access")
	var last uint32
	for range maxUnacked {
		say("X\x00\x01a")
		last = binary.BigEndian.Uint32(p.data())
	}
	requests := make([]byte, len("xy\x00\x13wbrowser 127.0.0.1 xy\x00\x02z\x02dr\x00\x02yrxy\x00\x02qedr\x00\x00dr\x00\x02Xr"))
	request := requests[:len("dr\x00\x02yr")]
	heard := func(into []byte) {
		must.Get(io.ReadFull(conn, into))(t)
	}
	heard(requests)
	say("X\x00\x01b")
	say("X\x00\x01c")
	p.Send(`{"request":"Ur"}`)
	heard(request)
	say("r\x00\x02Ur")
	p.await("access") // the server has read b and c
	p.ack(last)
	for last++; !strings.HasSuffix(string(p.data()), "c"); last++ {
	}
	p.ack(last)
	p.Send(`{"request":"Wr"}`)
	heard(request)
	say("X\x00\x01d")
	say("r\x00\x02Wr")
	for !strings.HasSuffix(string(p.data()), "d") {
	}
}

func TestStreamErrors(t *testing.T) {
	l := newLab(t, nil)
	for _, tt := range []struct{ robot, command, want string }{
		{"127.0.0.1:1", "", "no server runs at this address"},
		{l.Address, `{"request":"pw"}`, "reload it"},
		{l.Address, `{"rate":-1}`, "reload it"},
		{l.Address, `{"fly":1}`, "reload it"},
	} {
		p := l.open("/stream", tt.robot)
		if tt.command != "" {
			p.Send("%s", tt.command)
		}
		if reason := p.ended(); !strings.Contains(reason, tt.want) {
			t.Errorf("%s %s: %s, want %q", tt.robot, tt.command, reason, tt.want)
		}
	}
}

// An HTTP server sends nothing before a request, so the page gives up after a while.
func TestStreamOfAnotherServer(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	url := servePage(t, Config{})
	p := open(t, url, "/stream", strings.TrimPrefix(url, "http://"))
	if reason := p.ended(); !strings.Contains(reason, "not a Player server") {
		t.Errorf("%q", reason)
	}
}

// Each connection to a robot takes a descriptor of the pages' Share, and gives it back. Without
// one the page shows an error.
func TestDescriptorsOfPages(t *testing.T) {
	l := newLab(t, nil)
	free := func(n int) bool { // reports whether n are, and no more
		if l.Quota.Take(n) != nil {
			return false
		}
		defer l.Quota.Return(n)
		if l.Quota.Take(1) != nil {
			return true
		}
		l.Quota.Return(1)
		return false
	}
	all := l.Quota.Most()
	watching, driving := l.open("/stream", l.Address), l.open("/drive", l.Address)
	driving.Send(`{"drive":[100,0]}`)
	l.Await("a descriptor each", func() bool { return free(all - 2) })
	must.Do(t, l.Quota.Take(all-2))
	if reason := l.open("/stream", l.Address).ended(); !strings.Contains(reason, "too many pages and viewers") {
		t.Errorf("%q", reason)
	}
	watching.CloseNow()
	driving.CloseNow()
	l.Await("they are given back", func() bool { return free(2) })
}

// watch opens a stream, so that the world's time flows.
func (l *lab) watch() {
	l.open("/stream", l.Address).Send(`{"request":"pr"}`)
	l.Await("time flows", func() bool { return l.Time() > 0 })
}

// A page sends nothing more while it drives: the robot stops, and later the dashboard
// loses write access to the wheels.
func TestDeadMan(t *testing.T) {
	needs.Time(t)
	l := newLab(t, nil)
	l.watch()
	start := l.Pose()
	p := l.open("/drive", l.Address)
	p.Send(`{"drive":[300,0]}`)
	if granted := p.await("held"); granted != "p" {
		t.Fatalf("held %q", granted)
	}
	l.Await("the robot moves", func() bool { return l.Pose().X > start.X+0.02 })
	if why := p.await("error"); why != nothingHeard().Error() {
		t.Errorf("reported %q", why)
	}
	l.AwaitStop()
	if granted := p.await("held"); granted != "" {
		t.Errorf("held %q", granted)
	}
	p.Send(`{"drive":[300,0]}`) // and gets them back
	if granted := p.await("held"); granted != "p" {
		t.Errorf("held %q", granted)
	}
}

// A page is closed while it drives.
func TestClosedPageStops(t *testing.T) {
	needs.Time(t)
	l := newLab(t, nil)
	l.watch()
	p := l.open("/drive", l.Address)
	p.Send(`{"drive":[0,90]}`)
	start := l.Pose()
	l.Await("the robot turns", func() bool { return l.Pose() != start })
	p.CloseNow()
	l.AwaitStop()
}

func TestCommands(t *testing.T) {
	needs.Time(t)
	l := newLab(t, nil)
	s := l.open("/stream", l.Address)
	s.Send(`{"rate":50,"request":"przrgr"}`)
	p := l.open("/drive", l.Address)
	p.Send(`{"look":[-30,10,500]}`)
	p.Send(`{"grip":[2,0]}`)
	p.Send(`{"motors":false}`)
	p.Send(`{"drive":[300,0]}`) // has no effect without motors
	var ptz codec.PTZData
	var gripper codec.GripperData
	var position codec.PositionData
	for ptz != (codec.PTZData{Pan: -30, Tilt: 10, Zoom: 500}) || gripper.State&codec.PaddlesClosed == 0 {
		number, _, payloads := frame(t, s.data())
		s.ack(number)
		for device, data := range map[byte]interface{ Decode([]byte) error }{'z': &ptz, 'g': &gripper, 'p': &position} {
			if len(payloads[device]) > 0 {
				must.Do(t, data.Decode(payloads[device]))
			}
		}
	}
	if position.X != 0 || position.Speed != 0 {
		t.Errorf("it moved without motors: %+v", position)
	}
	granted := ""
	for len(granted) < 3 {
		granted = p.await("held").(string)
	}
	for _, device := range "zgp" {
		if !strings.ContainsRune(granted, device) {
			t.Errorf("held %q, not %c", granted, device)
		}
	}
}

// A page has the rights of its browser's address: the robot only sees this server.
func TestAccess(t *testing.T) {
	here := netip.MustParsePrefix("127.0.0.0/8")
	l := newLab(t, rights.Rules{{Allow: rights.Read, From: []netip.Prefix{here}}})
	start := l.Pose()
	l.watch()
	p := l.open("/drive", l.Address)
	for _, command := range []string{`{"drive":[300,0]}`, `{"look":[1,1,1]}`, `{"motors":true}`} {
		p.Send("%s", command)
		if why := p.await("error").(string); !strings.Contains(why, visitors.Need(rights.Read, rights.Write).Error()) {
			t.Errorf("%s: %s", command, why)
		}
	}
	w := l.open("/world", "")
	w.Send(`{"move":{"mover":0,"x":0,"y":0}}`)
	if why := w.await("error").(string); !strings.Contains(why, visitors.Need(rights.Read, rights.Write).Error()) {
		t.Errorf("move: %s", why)
	}
	if l.Pose() != start {
		t.Error("the robot has moved")
	}
	nobody := newLab(t, rights.Rules{{Allow: rights.All, From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}})
	for _, path := range []string{"/stream", "/drive", "/world"} {
		if why := nobody.open(path, nobody.Address).ended(); !strings.Contains(why, visitors.Need(0, rights.Read).Error()) {
			t.Errorf("%s: %s", path, why)
		}
	}
	for path, want := range map[string]int{"/robots": http.StatusForbidden, "/plan": http.StatusForbidden, "/": http.StatusOK} {
		if reply, _ := roomtest.Request(t, "GET", nobody.url+path, nil); reply.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, reply.StatusCode, want)
		}
	}
}
