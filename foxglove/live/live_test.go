package live

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"player/client"
	"player/config/rights"
	"player/descriptors"
	"player/devices"
	"player/devices/stage"
	"player/foxglove"
	serving "player/server"
	"player/status"
)

// patience is how long a test waits for an event before it fails.
const patience = 20 * time.Second

// lab is a simulated robot, its server, and the server for viewers.
type lab struct {
	t       *testing.T
	world   *stage.World
	robots  *serving.Server
	share   *descriptors.Share
	address string // of the robot
	url     string
}

// Viewers at this address may read only, and those at the next one nothing.
const reader, stranger = "127.0.0.2", "127.0.0.3"

// newLab serves the room. Tests with a lab do not run in parallel: loops in one process
// share gnet's logger without a lock.
func newLab(t *testing.T, silence time.Duration) *lab {
	t.Helper()
	world, err := stage.Load("../../worlds/room.world")
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
	config := Config{
		Robots: []Robot{{Name: "r0", Address: address, Port: port}}, Server: l.robots, Post: l.robots.Post, Descriptors: l.share,
		Recent: func(after uint64) ([][]byte, uint64) {
			if after == 1 {
				return nil, 1
			}
			return [][]byte{[]byte(`{"level":"info","ts":"2026-07-28T10:15:00.000Z","msg":"serving"}`)}, 1
		},
		Access: rights.Rules{
			{Allow: rights.All, From: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
			{Allow: rights.Read, From: []netip.Prefix{netip.MustParsePrefix(reader + "/32")}},
		},
		Origins: []string{"https://app.example"}, Version: "player 1", Log: zap.NewNop(),
	}
	for _, d := range table.Links()[0].Devices() {
		config.Robots[0].Devices = append(config.Robots[0].Devices, Device{foxglove.Device{Interface: d.Spec().Name}, d.Letter(), "stage"})
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
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatalf("waited for %s", what)
		}
	}
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

// Every topic that is offered has data, taken since the test began.
func TestTopics(t *testing.T) {
	l := newLab(t, silenceLimit)
	began := time.Now()
	v := l.open("127.0.0.1")
	if v.info.Name != "player 1" || len(v.info.Capabilities) != 5 || !slices.Equal(v.info.SupportedEncodings, []string{"json"}) || v.ws.Subprotocol() != "foxglove.sdk.v1" {
		t.Errorf("%+v, %s", v.info, v.ws.Subprotocol())
	}
	missing := map[uint32]string{}
	var topics []string
	for i, c := range v.channels {
		if c.Encoding != "json" || c.SchemaEncoding != "jsonschema" || !json.Valid([]byte(c.Schema)) || !strings.HasPrefix(c.Topic, "/r0/") && c.Topic != "/log" {
			t.Errorf("%+v", c)
		}
		missing[uint32(i)] = c.Topic
		topics = append(topics, c.Topic)
	}
	for _, topic := range []string{"/r0/laser", "/r0/position", "/r0/sonar", "/r0/tf", "/log"} {
		v.channel(topic)
	}
	v.subscribe(topics...)
	for len(missing) > 0 {
		m := v.next("data")
		topic := topics[m.subscription]
		var content struct{ Timestamp foxglove.Time }
		if err := json.Unmarshal(m.payload, &content); err != nil {
			t.Fatalf("%s: %v", topic, err)
		}
		if taken := time.Unix(0, m.at); topic != "/log" && (taken.Before(began) || taken.After(time.Now())) {
			t.Errorf("%s taken %v, began %v", topic, taken, began)
		}
		if at := int64(content.Timestamp.Sec)*1e9 + int64(content.Timestamp.Nsec); at != 0 && at != m.at {
			t.Errorf("%s: %d and %d", topic, at, m.at)
		}
		delete(missing, m.subscription)
	}
	// Without subscriptions nothing is read.
	for i := range topics {
		v.send(`{"op":"unsubscribe","subscriptionIds":[%d]}`, i)
	}
	l.await("the robot to be left", func() bool { return len(l.status().Clients) == 0 })
}

func TestSubprotocols(t *testing.T) {
	l := newLab(t, silenceLimit)
	for _, protocol := range foxglove.Subprotocols() {
		ws, _, err := l.dial("127.0.0.1", "", protocol)
		if err != nil || ws.Subprotocol() != protocol {
			t.Errorf("%s: %v", protocol, err)
		}
	}
	ws, _, err := l.dial("127.0.0.1", "", "another")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ws.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("another protocol: %v", err)
	}
}

// Pages and computers that the owner has not allowed are refused.
func TestRefused(t *testing.T) {
	l := newLab(t, silenceLimit)
	for _, tt := range []struct {
		from, origin string
		status       int
	}{
		{"127.0.0.1", "https://app.example", http.StatusSwitchingProtocols},
		{"127.0.0.1", "https://evil.example", http.StatusForbidden},
		{"127.0.0.1", "null", http.StatusForbidden},
		{stranger, "", http.StatusForbidden},
		{reader, "", http.StatusSwitchingProtocols},
	} {
		_, reply, err := l.dial(tt.from, tt.origin, "foxglove.sdk.v1")
		if reply == nil || reply.StatusCode != tt.status {
			t.Errorf("%s, %q: %v, %v", tt.from, tt.origin, reply, err)
		}
	}
}

// A viewer that may only read sees everything, and moves nothing.
func TestReader(t *testing.T) {
	l := newLab(t, silenceLimit)
	v := l.open(reader)
	v.advertise()
	if got := v.nextStatus(); !strings.Contains(got, "your computer may read, this needs write") {
		t.Error(got)
	}
	v.drive(0.3, 0)
	for _, service := range []string{"/r0/motors", "/r0/reset_odometry", "/r0/emergency_stop", "/r0/release"} {
		if got := v.call(service, `{"data":true}`); !strings.Contains(got, "your computer may read") {
			t.Errorf("%s: %q", service, got)
		}
	}
	v.subscribe("/r0/position")
	v.next("data")
	if r := l.status(); len(r.Clients) != 1 || r.Stopped || r.Totals.Commands != 0 {
		t.Errorf("%+v", r)
	}
}

func TestDriving(t *testing.T) {
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	v.advertise()
	l.awaitMotion(func() { v.drive(0.3, 0.1) })
	l.awaitStop() // though the viewer is still there
	v.send(`{"op":"getParameters","parameterNames":[],"id":"there"}`)
	v.next("parameterValues")
	// The wheels are given back later.
	l.await("the wheels to be given back", func() bool { return len(l.status().Clients) == 0 })
}

// The robot of a viewer that is killed stops, and so does that of one that no longer
// publishes.
func TestKilledViewer(t *testing.T) {
	l := newLab(t, time.Hour)
	other, err := client.Dial(t.Context(), l.address) // without clients, the world stands still
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Request(t.Context(), "mr"); err != nil {
		t.Fatal(err)
	}
	v := l.open("127.0.0.1")
	v.advertise()
	l.awaitMotion(func() { v.drive(0.2, 0.5) })
	v.send(`{"op":"unadvertise","channelIds":[5]}`)
	l.awaitStop()
	v.advertise()
	l.awaitMotion(func() { v.drive(0.2, 0.5) })
	v.ws.CloseNow()
	l.awaitStop()
	l.await("all descriptors", func() bool {
		if l.share.Take(l.share.Most()) != nil {
			return false
		}
		l.share.Return(l.share.Most())
		return true
	})
}

func TestServices(t *testing.T) {
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	for _, tt := range []struct{ name, request, answer string }{
		{"/r0/motors", `{"data":true}`, ""},
		{"/r0/motors", `{}`, "data"},
		{"/r0/motors", `x`, "data"},
		{"/r0/emergency_stop", `{}`, ""},
	} {
		if got := v.call(tt.name, tt.request); (got == "") != (tt.answer == "") || !strings.Contains(got, tt.answer) {
			t.Errorf("%s %s: %q", tt.name, tt.request, got)
		}
	}
	if !l.status().Stopped {
		t.Error("the emergency stop stops nothing")
	}
	v.advertise()
	before := l.status().Totals.Refused
	l.await("a command to be refused", func() bool { v.drive(0.3, 0); return l.status().Totals.Refused > before })
	if got := v.call("/r0/release", ""); got != "" || l.status().Stopped {
		t.Errorf("release: %q", got)
	}
	l.awaitMotion(func() { v.drive(0.3, 0) })
	v.drive(0, 0)
	l.awaitStop()
	if got := v.call("/r0/reset_odometry", "{}"); got != "" {
		t.Error(got)
	}
	v.subscribe("/r0/position")
	for { // the position that was reported before may still come
		var pose foxglove.PoseInFrame
		if err := json.Unmarshal(v.next("data").payload, &pose); err != nil {
			t.Fatal(err)
		}
		if pose.Pose.Position == (foxglove.Vector3{}) {
			break
		}
	}
}

func TestParameters(t *testing.T) {
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	get := func() map[string]any {
		var p foxglove.ParameterValues
		v.decode(v.next("parameterValues"), &p)
		all := map[string]any{}
		for _, value := range p.Parameters {
			all[value.Name] = value.Value
		}
		all["id"] = p.ID
		return all
	}
	v.send(`{"op":"getParameters","parameterNames":[],"id":"a"}`)
	all := get()
	states, _ := all["/r0.devices"].(map[string]any)
	if all["id"] != "a" || all["/r0.rate"] != 10.0 || all["/r0/laser.rate"] != 0.0 || states["laser"] != "idle" || len(all) != len(v.channels)+2 {
		t.Errorf("%v", all)
	}
	v.send(`{"op":"getParameters","parameterNames":["/r0.rate","/nobody.rate","/nobody.devices"],"id":"b"}`)
	if all := get(); len(all) != 2 || all["id"] != "b" {
		t.Errorf("%v", all)
	}
	v.send(`{"op":"subscribeParameterUpdates","parameterNames":["/r0/laser.rate"]}`)
	v.send(`{"op":"setParameters","parameters":[{"name":"/r0.rate","value":20},{"name":"/r0/laser.rate","value":2.5}],"id":"c"}`)
	if all := get(); all["/r0.rate"] != 20.0 || all["/r0/laser.rate"] != 2.5 || all["id"] != "c" {
		t.Errorf("%v", all)
	}
	if all := get(); len(all) != 2 || all["/r0/laser.rate"] != 2.5 || all["id"] != "" {
		t.Errorf("%v", all)
	}
	v.subscribe("/r0/position")
	l.await("the rate at the robot", func() bool { r := l.status(); return len(r.Clients) == 1 && r.Clients[0].Rate == 20 })
	v.send(`{"op":"setParameters","parameters":[{"name":"/r0.rate","value":5}]}`)
	l.await("the new rate at the robot", func() bool { return l.status().Clients[0].Rate == 5 })
	for _, bad := range []string{`"name":"/r0.rate","value":0`, `"name":"/r0.rate","value":2.5`, `"name":"/r0.rate","value":51`, `"name":"/r0.rate"`,
		`"name":"/r0/laser.rate","value":-1`, `"name":"/r0/laser.rate","value":"1"`, `"name":"/r0.devices","value":1`, `"name":"/other.rate","value":1`} {
		v.send(`{"op":"setParameters","parameters":[{%s}],"id":"d"}`, bad)
		if all := get(); all["/r0.rate"] != nil && all["/r0.rate"] != 5.0 || all["/r0/laser.rate"] != nil && all["/r0/laser.rate"] != 2.5 {
			t.Errorf("%s: %v", bad, all)
		}
	}
}

func TestGraph(t *testing.T) {
	l := newLab(t, silenceLimit)
	watcher, v := l.open("127.0.0.1"), l.open(reader)
	watcher.send(`{"op":"subscribeConnectionGraph"}`)
	// await reads graphs until one has a subscriber of the laser, or none.
	await := func(want int) (laser []string, g foxglove.Graph) {
		for {
			g = foxglove.Graph{}
			watcher.decode(watcher.next("connectionGraphUpdate"), &g)
			i := slices.IndexFunc(g.SubscribedTopics, func(s foxglove.Subscribed) bool { return s.Name == "/r0/laser" })
			if laser = g.SubscribedTopics[i].IDs; len(laser) == want {
				return laser, g
			}
		}
	}
	_, g := await(0)
	for _, p := range g.PublishedTopics {
		if want := p.Name != "/r0/cmd_vel"; (len(p.IDs) == 1) != want {
			t.Errorf("%+v", p)
		}
	}
	if len(g.AdvertisedServices) != 4 {
		t.Errorf("%+v", g.AdvertisedServices)
	}
	v.subscribe("/r0/laser")
	if laser, _ := await(1); !strings.HasPrefix(laser[0], reader+":") {
		t.Error(laser)
	}
	v.ws.CloseNow()
	await(0)
}

// What a viewer asks for and does not get is told to it, and it stays connected.
func TestMistakes(t *testing.T) {
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	for _, tt := range []struct{ message, status string }{
		{`{`, "not understood"},
		{`{"op":"fetchAsset"}`, "no operation"},
		{`{"op":"subscribe","subscriptions":[{"id":1,"channelId":0}]}`, "no channel 0"},
		{`{"op":"subscribe","subscriptions":[{"id":1,"channelId":99}]}`, "no channel 99"},
		{`{"op":"subscribe","subscriptions":[{"id":1,"channelId":1},{"id":1,"channelId":2}]}`, "subscription 1 is in use"},
		{`{"op":"subscribe","subscriptions":[{"id":2,"channelId":1}]}`, "already"},
		{`{"op":"unsubscribe","subscriptionIds":[7]}`, "no subscription 7"},
		{`{"op":"advertise","channels":[{"id":1,"topic":"/r1/cmd_vel","encoding":"json"}]}`, "nobody here listens"},
		{`{"op":"advertise","channels":[{"id":1,"topic":"/r0/cmd_vel","encoding":"json"}]}`, "channel 1 is in use"},
		{`{"op":"advertise","channels":[{"id":2,"topic":"/r0/cmd_vel","encoding":"cdr"}]}`, "are json"},
		{`{"op":"unadvertise","channelIds":[9]}`, "not advertised"},
		{`{"op":"setParameters","parameters":[{"name":"x","value":1}]}`, "cannot be set"},
	} {
		v.send("%s", tt.message)
		if got := v.nextStatus(); !strings.Contains(got, tt.status) {
			t.Errorf("%s: %q", tt.message, got)
		}
	}
}

// A viewer that does not read for a while gets the newest then, and not what it has
// missed.
func TestSlowViewer(t *testing.T) {
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	v.subscribe("/r0/position")
	v.next("data")
	var until time.Duration
	l.look(func(time.Duration) { until = l.world.Time() + 2*time.Second })
	l.await("the world", func() (ok bool) {
		l.look(func(time.Duration) { ok = l.world.Time() >= until })
		return ok
	})
	woke, old := time.Now(), 0
	for {
		taken := time.Unix(0, v.next("data").at)
		if taken.After(woke) {
			break
		}
		old++
	}
	if old > 3 { // one was on its way, and one is the newest; 20 were taken
		t.Errorf("%d old messages", old)
	}
}
