package foxglove

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"player/config/rights"
	"player/devices"
	"player/devices/stage"
	"player/e2e/waiting"
	"player/formats/foxglove"
	"player/process/descriptors"
	serving "player/server"
	"player/server/status"
	"player/visitors"
	"player/visitors/pictures"
)

// lab is a simulated robot, its server, and the server for viewers.
type lab struct {
	t       *testing.T
	world   *stage.World
	robots  *serving.Server
	share   *descriptors.Share
	address string // of the robot
	url     string
	camera  *pictures.Camera
}

// newLab serves the room. Tests with a lab do not run in parallel: loops in one process
// share gnet's logger without a lock.
func newLab(t *testing.T, silence time.Duration) *lab {
	t.Helper()
	world, err := stage.Load("../../simulation/worlds/room.world")
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	table := devices.NewTable(zap.NewNop())
	if _, err := table.Attach(world.Instances()[0]); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan *serving.Server, 1), make(chan error, 2)
	port := int(netip.MustParseAddrPort(address).Port())
	go func() {
		ended <- serving.Run(ctx, serving.Config{
			Robots: []serving.Robot{{Address: address, Table: table, Name: "r0", Port: port}}, MaxRate: 1000, Descriptors: descriptors.New(20, true), Log: zap.NewNop(),
			Ready: func(r *serving.Server) { ready <- r },
		})
	}()
	l := &lab{t: t, world: world, address: address, share: descriptors.NewShare(64)}
	select {
	case l.robots = <-ready:
	case err := <-ended:
		t.Fatalf("the server ended: %v", err)
	}
	drawn := 0
	l.camera = pictures.NewCamera(pictures.Source{Name: "front", Robot: port, Rate: 50, Calibrated: true, Draw: func(context.Context) ([]byte, pictures.View, error) {
		drawn++
		var picture bytes.Buffer
		err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 32, 24)), nil)
		return append(picture.Bytes(), byte(drawn)), pictures.View{FOV: 90, Mount: &pictures.Mount{X: 100, Heading: 90}}, err
	}}, zap.NewNop())
	t.Cleanup(l.camera.Close)
	config := Config{
		Cameras: []*pictures.Camera{l.camera},
		Robots:  []Robot{{Robot: visitors.Robot{Name: "r0", Address: address, Port: port}}},
		Recent: func(after uint64) ([][]byte, uint64) {
			if after == 1 {
				return nil, 1
			}
			return [][]byte{[]byte(`{"level":"info","ts":"2026-07-28T10:15:00.000Z","msg":"serving"}`)}, 1
		},
		Version: "player 1",
		Common: visitors.Common{
			Server: visitors.Confine[visitors.Server](l.robots.Post, l.robots), Post: l.robots.Post, Descriptors: l.share, Origins: []string{"https://app.example"}, Log: zap.NewNop(),
			Access: rights.Rules{
				{Allow: rights.All, From: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
				{Allow: rights.Read, From: []netip.Prefix{netip.MustParsePrefix(reader + "/32")}},
			},
		},
	}
	for _, d := range table.Links()[0].Devices() {
		config.Robots[0].Devices = append(config.Robots[0].Devices, visitors.Device{Device: foxglove.Device{Interface: d.Spec().Name}, Letter: d.Letter()})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.url = "ws://" + listener.Addr().String()
	s := newServer(ctx, config)
	s.silence = silence
	go func() { ended <- s.serve(listener) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Errorf("a server ended: %v", err)
			}
		}
	})
	return l
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// look calls fn on the loop and waits for it.
func (l *lab) look(fn func(now time.Duration)) {
	l.t.Helper()
	done := make(chan struct{})
	if !l.robots.Post(func(now time.Duration) { fn(now); close(done) }) {
		l.t.Fatal("the loop has ended")
	}
	<-done
}

// pose is where the robot really is.
func (l *lab) pose() (p stage.Pose) {
	l.look(func(time.Duration) { p = l.world.Robots()[0].Pose() })
	return p
}

// status is that of the robot.
func (l *lab) status() (r status.Robot) {
	l.look(func(now time.Duration) { r = l.robots.Status(now).Robots[0] })
	return r
}

func (l *lab) await(what string, ok func() bool) {
	l.t.Helper()
	waiting.Until(l.t, what, ok)
}

// awaitStop waits until the robot has not moved for some time of the world.
func (l *lab) awaitStop() {
	l.t.Helper()
	l.await("the robot to stop", func() bool {
		before, until := l.pose(), time.Duration(0)
		l.look(func(time.Duration) { until = l.world.Time() + 300*time.Millisecond })
		l.await("the world", func() (ok bool) {
			l.look(func(time.Duration) { ok = l.world.Time() >= until })
			return ok
		})
		return before == l.pose()
	})
}

// awaitMotion waits until the robot has moved.
func (l *lab) awaitMotion(keep func()) {
	l.t.Helper()
	from := l.pose()
	l.await("the robot to move", func() bool {
		keep()
		to := l.pose()
		return math.Hypot(to.X-from.X, to.Y-from.Y) > 0.05
	})
}

// viewer is a viewer of a test.
type testViewer struct {
	lab      *lab
	ws       *websocket.Conn
	info     foxglove.ServerInfo
	channels []foxglove.Channel
	services []foxglove.Service
}

// message is what a viewer receives: a JSON object, or binary.
type message struct {
	op           string
	text         []byte
	subscription uint32
	at           int64
	payload      []byte
}

// dial connects from an address with subprotocols and an origin, which may be empty.
func (l *lab) dial(from, origin string, subprotocols ...string) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	ws, reply, err := websocket.Dial(ctx, l.url, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}, HTTPHeader: header, Subprotocols: subprotocols,
	})
	if err == nil {
		ws.SetReadLimit(1 << 20)
		l.t.Cleanup(func() { ws.CloseNow() })
	}
	return ws, reply, err
}

// open connects and reads what is offered.
func (l *lab) open(from string) *testViewer {
	l.t.Helper()
	ws, _, err := l.dial(from, "", "foxglove.websocket.v1", "foxglove.sdk.v1")
	if err != nil {
		l.t.Fatal(err)
	}
	v := &testViewer{lab: l, ws: ws}
	v.decode(v.next("serverInfo"), &v.info)
	var offer struct {
		Channels []foxglove.Channel
		Services []foxglove.Service
	}
	v.decode(v.next("advertise"), &offer)
	v.decode(v.next("advertiseServices"), &offer)
	v.channels, v.services = offer.Channels, offer.Services
	return v
}

func (v *testViewer) decode(m message, into any) {
	v.lab.t.Helper()
	if err := json.Unmarshal(m.text, into); err != nil {
		v.lab.t.Fatal(err)
	}
}

// read reads a message.
func (v *testViewer) read() (m message) {
	v.lab.t.Helper()
	ctx, cancel := context.WithTimeout(v.lab.t.Context(), patience)
	defer cancel()
	kind, b, err := v.ws.Read(ctx)
	if err != nil {
		v.lab.t.Fatal(err)
	}
	switch {
	case kind == websocket.MessageText:
		var head struct{ Op string }
		m.text = b
		v.decode(m, &head)
		m.op = head.Op
	case b[0] == 1:
		m = message{op: "data", subscription: binary.LittleEndian.Uint32(b[1:]), at: int64(binary.LittleEndian.Uint64(b[5:])), payload: b[13:]}
	case b[0] == 3:
		m = message{op: "response", subscription: binary.LittleEndian.Uint32(b[5:]), payload: b[13+binary.LittleEndian.Uint32(b[9:]):]}
	}
	return m
}

// next reads until a message of an operation comes.
func (v *testViewer) next(op string) message {
	v.lab.t.Helper()
	for {
		if m := v.read(); m.op == op {
			return m
		}
	}
}

func (v *testViewer) send(format string, args ...any) {
	v.lab.t.Helper()
	if err := v.ws.Write(v.lab.t.Context(), websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
		v.lab.t.Fatal(err)
	}
}

func (v *testViewer) channel(topic string) int {
	v.lab.t.Helper()
	i := slices.IndexFunc(v.channels, func(c foxglove.Channel) bool { return c.Topic == topic })
	if i < 0 {
		v.lab.t.Fatalf("no topic %s", topic)
	}
	return int(v.channels[i].ID)
}

// subscribe subscribes to topics, with the numbers from 0 as ids.
func (v *testViewer) subscribe(topics ...string) {
	v.lab.t.Helper()
	for i, topic := range topics {
		v.send(`{"op":"subscribe","subscriptions":[{"id":%d,"channelId":%d}]}`, i, v.channel(topic))
	}
}

// advertise advertises cmd_vel as channel 5.
func (v *testViewer) advertise() {
	v.lab.t.Helper()
	v.send(`{"op":"advertise","channels":[{"id":5,"topic":"/r0/cmd_vel","encoding":"json","schemaName":"geometry_msgs/Twist"}]}`)
}

func (v *testViewer) drive(x, z float64) {
	v.lab.t.Helper()
	b := fmt.Appendf([]byte("\x01\x05\x00\x00\x00"), `{"linear":{"x":%g,"y":0,"z":0},"angular":{"x":0,"y":0,"z":%g}}`, x, z)
	if err := v.ws.Write(v.lab.t.Context(), websocket.MessageBinary, b); err != nil {
		v.lab.t.Fatal(err)
	}
}

// call calls a service, and returns the error that it answers.
func (v *testViewer) call(name, request string) string {
	v.lab.t.Helper()
	i := slices.IndexFunc(v.services, func(s foxglove.Service) bool { return s.Name == name })
	if i < 0 {
		v.lab.t.Fatalf("no service %s", name)
	}
	b := binary.LittleEndian.AppendUint32([]byte{2}, v.services[i].ID)
	b = append(b, 77, 0, 0, 0, 4, 0, 0, 0)
	b = append(b, "json"+request...)
	if err := v.ws.Write(v.lab.t.Context(), websocket.MessageBinary, b); err != nil {
		v.lab.t.Fatal(err)
	}
	for {
		switch m := v.read(); m.op {
		case "response":
			if m.subscription != 77 || string(m.payload) != `{"success":true,"message":""}` {
				v.lab.t.Errorf("response to %d: %s", m.subscription, m.payload)
			}
			return ""
		case "serviceCallFailure":
			var f foxglove.ServiceFailure
			v.decode(m, &f)
			if f.CallID != 77 {
				v.lab.t.Errorf("%+v", f)
			}
			return f.Message
		}
	}
}

func (v *testViewer) nextStatus() string {
	v.lab.t.Helper()
	var s foxglove.Status
	v.decode(v.next("status"), &s)
	return s.Message
}
