package foxglove

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"player/config/rights"
	"player/formats/foxglove"
	"player/formats/telemetry"
	"player/visitors"
	"player/visitors/pictures"
	"player/visitors/roomtest"
)

// lab is a simulated robot, its server, and the server for viewers.
type lab struct {
	*roomtest.Room
	url    string
	camera *pictures.Camera
}

// newLab serves the room.
func newLab(t *testing.T, silence time.Duration) *lab {
	t.Helper()
	l := &lab{Room: roomtest.New(t)}
	drawn := 0
	l.camera = pictures.NewCamera(pictures.Source{Name: "front", Robot: l.Port, Rate: 50, Calibrated: true, Draw: func(context.Context) ([]byte, pictures.View, error) {
		drawn++
		var picture bytes.Buffer
		err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 32, 24)), nil)
		return append(picture.Bytes(), byte(drawn)), pictures.View{FOV: 90, Mount: &pictures.Mount{X: 100, Heading: 90}}, err
	}}, zap.NewNop())
	t.Cleanup(l.camera.Close)
	config := Config{
		Cameras: []*pictures.Camera{l.camera},
		Robots:  []Robot{{Robot: visitors.Robot{Name: "r0", Address: l.Address, Port: l.Port}}},
		Recent: func(after uint64) ([][]byte, uint64) {
			if after == 1 {
				return nil, 1
			}
			return [][]byte{[]byte(`{"level":"info","ts":"2026-07-28T10:15:00.000Z","msg":"serving"}`)}, 1
		},
		Version: "player 1",
		Common: visitors.Common{
			Server: visitors.Confine[visitors.Server](l.Server.Post, l.Server), Post: l.Server.Post, Descriptors: l.Quota, Origins: []string{"https://app.example"}, Log: zap.NewNop(),
			Access: rights.Rules{
				{Allow: rights.All, From: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
				{Allow: rights.Read, From: []netip.Prefix{netip.MustParsePrefix(reader + "/32")}},
			},
		},
	}
	for _, d := range l.Devices {
		config.Robots[0].Devices = append(config.Robots[0].Devices, visitors.Device{Device: telemetry.Device{Interface: d.Spec().Name,
			Description: telemetry.Description{Rays: d.AppendRays(nil)}}, Code: d.Code()})
	}
	l.url = "ws://" + roomtest.Serve(t, func(ctx context.Context, listener net.Listener) error {
		s := newServer(ctx, config)
		s.silence = silence
		return config.Site("the server for viewers", "-foxglove", s).Serve(ctx, listener)
	})
	return l
}

// viewer is a viewer of a test.
type testViewer struct {
	*testing.T
	*roomtest.Socket
	info     foxglove.ServerInfo
	channels []foxglove.Channel
	services []foxglove.Service
}

// message is a message to a viewer: a JSON object, or binary.
type message struct {
	op           string
	text         []byte
	subscription uint32
	at           int64
	payload      []byte
}

// dial connects from an address with subprotocols and an origin, which may be empty.
func (l *lab) dial(from, origin string, subprotocols ...string) (*roomtest.Socket, *http.Response, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	return roomtest.Dial(l.T, l.url, websocket.DialOptions{
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}, HTTPHeader: header, Subprotocols: subprotocols,
	})
}

// open connects and reads the server's offer.
func (l *lab) open(from string) *testViewer {
	l.Helper()
	ws, _, err := l.dial(from, "", "foxglove.websocket.v1", "foxglove.sdk.v1")
	if err != nil {
		l.Fatal(err)
	}
	v := &testViewer{T: l.T, Socket: ws}
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
	v.Helper()
	if err := json.Unmarshal(m.text, into); err != nil {
		v.Fatal(err)
	}
}

// receive reads a message.
func (v *testViewer) receive() (m message) {
	v.Helper()
	kind, b, err := v.Next()
	if err != nil {
		v.Fatal(err)
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
	v.Helper()
	for {
		if m := v.receive(); m.op == op {
			return m
		}
	}
}

func (v *testViewer) channel(topic string) int {
	v.Helper()
	i := slices.IndexFunc(v.channels, func(c foxglove.Channel) bool { return c.Topic == topic })
	if i < 0 {
		v.Fatalf("no topic %s", topic)
	}
	return int(v.channels[i].ID)
}

// subscribe subscribes to topics, with the numbers from 0 as ids.
func (v *testViewer) subscribe(topics ...string) {
	v.Helper()
	for i, topic := range topics {
		v.Send(`{"op":"subscribe","subscriptions":[{"id":%d,"channelId":%d}]}`, i, v.channel(topic))
	}
}

// advertise advertises cmd_vel as channel 5.
func (v *testViewer) advertise() {
	v.Helper()
	v.Send(`{"op":"advertise","channels":[{"id":5,"topic":"/r0/cmd_vel","encoding":"json","schemaName":"geometry_msgs/Twist"}]}`)
}

func (v *testViewer) drive(x, z float64) {
	v.Helper()
	b := fmt.Appendf([]byte("\x01\x05\x00\x00\x00"), `{"linear":{"x":%g,"y":0,"z":0},"angular":{"x":0,"y":0,"z":%g}}`, x, z)
	v.SendBinary(b)
}

// call calls a service, and returns the error that it answers.
func (v *testViewer) call(name, request string) string {
	v.Helper()
	i := slices.IndexFunc(v.services, func(s foxglove.Service) bool { return s.Name == name })
	if i < 0 {
		v.Fatalf("no service %s", name)
	}
	b := binary.LittleEndian.AppendUint32([]byte{2}, v.services[i].ID)
	b = append(b, 77, 0, 0, 0, 4, 0, 0, 0)
	b = append(b, "json"+request...)
	v.SendBinary(b)
	for {
		switch m := v.receive(); m.op {
		case "response":
			if m.subscription != 77 || string(m.payload) != `{"success":true,"message":""}` {
				v.Errorf("response to %d: %s", m.subscription, m.payload)
			}
			return ""
		case "serviceCallFailure":
			var f foxglove.ServiceFailure
			v.decode(m, &f)
			if f.CallID != 77 {
				v.Errorf("%+v", f)
			}
			return f.Message
		}
	}
}

func (v *testViewer) nextStatus() string {
	v.Helper()
	var s foxglove.Status
	v.decode(v.next("status"), &s)
	return s.Message
}
