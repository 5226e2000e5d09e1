package dashboard

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"player/config/rights"
)

func decode[command any](message []byte) (c command, err error) {
	err = decodeCommand(message, &c)
	return c, err
}

func TestDecodeOrders(t *testing.T) {
	if o, err := decode[driveCommand]([]byte(`{"drive":[-300,20]}`)); err != nil || o.Drive == nil || *o.Drive != [2]int{-300, 20} {
		t.Errorf("drive: %+v, %v", o, err)
	}
	if o, err := decode[driveCommand]([]byte(`{"motors":false}`)); err != nil || o.Motors == nil || *o.Motors {
		t.Errorf("motors: %+v, %v", o, err)
	}
	if o, err := decode[worldCommand]([]byte(`{"move":{"mover":2,"x":1.5,"y":-2,"heading":0.5}}`)); err != nil || o.Move == nil || o.Move.Mover != 2 || o.Move.X != 1.5 || o.Move.Y != -2 || o.Move.Heading != 0.5 {
		t.Errorf("move: %+v, %v", o, err)
	}
	if o, err := decode[streamRequest]([]byte(` {"request":"lrsr","rate":20} `)); err != nil || o != (streamRequest{"lrsr", 20}) {
		t.Errorf("stream: %+v, %v", o, err)
	}
	for _, bad := range []string{
		``, `{`, `[]`, `"drive"`, `{"drive":[1,"2"]}`, `{"drive":1}`, `{"drive":[1.5,0]}`, `{"fly":true}`,
		`{"reset":true}{"reset":true}`, `{"reset":true} x`, `{"grip":[256,0]}`, `{"look":[1e99,0,0]}`, strings.Repeat("[", 4000),
	} {
		if o, err := decode[driveCommand]([]byte(bad)); err == nil {
			t.Errorf("%s is taken as %+v", bad, o)
		}
	}
}

func FuzzDecodeOrder(f *testing.F) {
	for _, seed := range []string{`{"drive":[-300,20]}`, `{"look":[1,2,3]}`, `{"grip":[1,0]}`, `{"motors":true}`, `{"reset":true}`, `{"drive":null}`, `{}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		_, _ = decode[driveCommand](message)
		_, _ = decode[worldCommand](message)
		if o, err := decode[streamRequest](message); err == nil {
			_ = checkPairs(o.Request)
		}
	})
}

func TestCheckPairs(t *testing.T) {
	for pairs, good := range map[string]bool{
		"": true, "lr": true, "lrscvr": true, "Xr": true,
		"l": false, "lrs": false, "lw": false, "la": false, "yr": false, "yc": false, "lrpw": false, "r\xff": false,
	} {
		if err := checkPairs(pairs); (err == nil) != good {
			t.Errorf("%q: %v", pairs, err)
		}
	}
}

// Browsers of other computers reach the listed robots only, and learn nothing
// about others.
func TestAdmit(t *testing.T) {
	s := &server{config: Config{Robots: []Robot{{Name: "r0", Address: "localhost:6665"}}}}
	why := map[string]bool{}
	for _, tt := range []struct {
		from, robot string
		admitted    bool
	}{
		{"127.0.0.1:40000", "localhost:6665", true},
		{"127.0.0.1:40000", "10.0.0.7:6665", true},
		{"[::1]:40000", "10.0.0.7:6665", true},
		{"[::ffff:127.0.0.1]:40000", "10.0.0.7:6665", true},
		{"127.0.0.1:40000", strings.Repeat("x", addressLimit) + ":1", false},
		{"10.0.0.9:40000", "localhost:6665", true},
		{"10.0.0.9:40000", "", true}, // the world, which is of no robot
		{"10.0.0.9:40000", "127.0.0.1:6665", false},
		{"10.0.0.9:40000", "10.0.0.7:6665", false},
		{"10.0.0.9:40000", "10.0.0.7:1", false},
		{"10.0.0.9:40000", "no address", false},
		{"10.0.0.9:40000", strings.Repeat("x", 5000), false},
	} {
		r := httptest.NewRequest("GET", "/stream", nil)
		r.RemoteAddr = tt.from
		err := s.admit(r, &socket{robot: tt.robot, may: rights.All})
		if (err == nil) != tt.admitted {
			t.Errorf("%s to %.40q: %v", tt.from, tt.robot, err)
		}
		if err != nil && strings.HasPrefix(tt.from, "10.") {
			why[err.Error()] = true
		}
	}
	if len(why) != 1 {
		t.Errorf("a refusal depends on the robot: %v", why)
	}
}

func TestCongested(t *testing.T) {
	var s socket
	for s.sent = range uint32(maxUnacked) {
		if s.congested() {
			t.Fatalf("congested with %d unacknowledged", s.sent)
		}
	}
	s.sent = maxUnacked
	if !s.congested() {
		t.Error("not congested")
	}
	s.acked.Store(1)
	if s.congested() {
		t.Error("congested after an acknowledgement")
	}
	s.sent = 1
	s.acked.Store(0xffffffff) // the numbers have wrapped
	if s.congested() {
		t.Error("congested after the numbers wrapped")
	}
}

// single is a listener to which one browser comes.
type single chan net.Conn

func (s single) Accept() (net.Conn, error) {
	conn, ok := <-s
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (s single) Close() error   { return nil }
func (s single) Addr() net.Addr { return &net.TCPAddr{} }

// radio is a connection whose reads return nothing once it is out of range.
type radio struct {
	net.Conn
	outOfRange atomic.Bool
}

func (r *radio) Read(p []byte) (int, error) {
	for {
		n, err := r.Conn.Read(p)
		if err != nil || !r.outOfRange.Load() {
			return n, err
		}
	}
}

// A browser that is there keeps its socket, however long nothing happens. One
// that vanishes with its network loses it.
func TestVanishedBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ws, err := websocket.Accept(w, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer ws.CloseNow()
			ended <- converse(t.Context(), &socket{ws: ws}, func(context.Context, []byte) error { return nil },
				func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		})}
		near, far := net.Pipe()
		l := make(single, 1)
		l <- near
		close(l)
		go server.Serve(l)

		browser := &radio{Conn: far}
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return browser, nil }}
		ws, _, err := websocket.Dial(t.Context(), "ws://dashboard", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
		if err != nil {
			t.Fatal(err)
		}
		defer ws.CloseNow()
		go ws.Read(t.Context()) // which answers pings
		time.Sleep(time.Minute)
		select {
		case err := <-ended:
			t.Fatalf("ended while the browser was there: %v", err)
		default:
		}
		browser.outOfRange.Store(true)
		lost := time.Now()
		select {
		case err = <-ended:
		case <-time.After(time.Minute):
			t.Fatal("its socket stays")
		}
		if after := time.Since(lost); after > probePeriod+probeLimit || !strings.Contains(err.Error(), "nothing heard") {
			t.Errorf("ended after %v: %v", after, err)
		}
	})
}
