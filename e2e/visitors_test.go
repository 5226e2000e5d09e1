package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"player/config/rights"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/visitors"
)

// visitor is a computer that uses the dashboard.
type visitor struct {
	page   string // http://HOST:PORT/
	client *http.Client
	dialer *net.Dialer
}

// visitor returns one with an address, for example 127.0.0.2: to the dashboard it
// is another visitor than 127.0.0.1.
func newVisitor(page, address string) *visitor {
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &visitor{page, &http.Client{Transport: &http.Transport{DialContext: d.DialContext}}, d}
}

// get returns the status of a page.
func (v *visitor) get(t *testing.T, path, host string) int {
	t.Helper()
	r := must.Get(http.NewRequest("GET", v.page+path, nil))(t)
	r.Host = host
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	reply := must.Get(v.client.Do(r.WithContext(ctx)))(t)
	defer reply.Body.Close()
	must.Get(io.Copy(io.Discard, reply.Body))(t)
	return reply.StatusCode
}

// socket opens a WebSocket and returns nil if the server refuses it.
func (v *visitor) socket(t *testing.T, path, robot string) *websocket.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, v.page+path+"?robot="+url.QueryEscape(robot), &websocket.DialOptions{HTTPClient: v.client})
	if err != nil {
		return nil
	}
	ws.SetReadLimit(1 << 20)
	t.Cleanup(func() { ws.CloseNow() })
	return ws
}

// says sends a message and returns the first JSON that contains a text, or the
// error that ends the socket.
func says(t *testing.T, ws *websocket.Conn, message, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_ = ws.Write(ctx, websocket.MessageText, []byte(message)) // a socket that has ended gives its reason below
	for {
		kind, got, err := ws.Read(ctx)
		if err != nil {
			return err.Error()
		}
		if kind == websocket.MessageText && strings.Contains(string(got), text) {
			return string(got)
		}
	}
}

// connect opens a raw connection to the dashboard.
func (v *visitor) connect(t *testing.T) net.Conn {
	t.Helper()
	conn := must.Get(v.dialer.Dial("tcp", strings.Trim(v.page, "htp:/")))(t)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// A visitor gets the access of its own rights, although the robots see the address of
// this server.
func TestVisitorRights(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "robot.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q )
		access ( allow ["read" "write" "config"] from "127.0.0.1" )
		access ( allow "read" from "127.0.0.2" )`, absolute(t, room)))
	s := start(t, "-http", "127.0.0.1:0", file)
	page := s.dashboard(t)
	owner, reader, stranger := newVisitor(page, "127.0.0.1"), newVisitor(page, "127.0.0.2"), newVisitor(page, "127.0.0.3")
	for _, tt := range []struct {
		v                  *visitor
		name, host         string
		static, list, plan int
	}{
		{owner, "owner", "", 200, 200, 200},
		{reader, "reader", "", 200, 200, 200},
		{stranger, "stranger", "", 200, 403, 403},
		{owner, "another site's name", "cats.example", 403, 403, 403}, // DNS rebinding
	} {
		got := [...]int{tt.v.get(t, "", tt.host), tt.v.get(t, "robots", tt.host), tt.v.get(t, "plan", tt.host)}
		if want := [...]int{tt.static, tt.list, tt.plan}; got != want {
			t.Errorf("%s: status %v, want %v", tt.name, got, want)
		}
	}
	for _, path := range []string{"stream", "drive", "world"} {
		if got := owner.get(t, path+"?robot="+s.address, "cats.example"); got != http.StatusForbidden {
			t.Errorf("%s under another site's name: status %d", path, got)
		}
		if got := says(t, stranger.socket(t, path, s.address), `{}`, "error"); !strings.Contains(got, visitors.Need(0, rights.Read).Error()) {
			t.Errorf("stranger: %s: %s", path, got)
		}
	}
	if got := says(t, reader.socket(t, "stream", s.address), `{"request":"pr"}`, "access"); !strings.Contains(got, `"p":"r"`) {
		t.Errorf("the reader's stream: %s", got)
	}
	for _, command := range []string{`{"drive":[300,0]}`, `{"look":[1,1,1]}`, `{"motors":false}`, `{"reset":true}`} {
		if got := says(t, reader.socket(t, "drive", s.address), command, "error"); !strings.Contains(got, visitors.Need(rights.Read, rights.Write).Error()) {
			t.Errorf("the reader's %s: %s", command, got)
		}
	}
	if got := says(t, owner.socket(t, "drive", s.address), `{"drive":[300,0]}`, "held"); !strings.Contains(got, `"held":"p"`) {
		t.Errorf("the owner's command: %s", got)
	}
}

// visitorFlood sends messages on connections until the test ends, and counts the replies
// by a text in each. open makes a connection, which the test closes at its end.
func visitorFlood(t *testing.T, conns int, open func() net.Conn, message, reply string) (replies *atomic.Int64) {
	t.Helper()
	replies = &atomic.Int64{}
	var done sync.WaitGroup
	t.Cleanup(done.Wait) // when open's connections are closed
	for range conns {
		conn := open()
		many := []byte(strings.Repeat(message, 100))
		done.Go(func() {
			for err := error(nil); err == nil; {
				_, err = conn.Write(many)
			}
		})
		done.Go(func() {
			in := make([]byte, 64<<10)
			for {
				n, err := conn.Read(in)
				replies.Add(int64(strings.Count(string(in[:n]), reply)))
				if err != nil {
					return
				}
			}
		})
	}
	return replies
}

// Sixty connections that send as fast as they can are served at the pace of their
// address, and a client of the robot gets a reply to each request meanwhile.
func TestVisitorsFlood(t *testing.T) {
	const conns, rounds, period = 60, 150, 20 * time.Millisecond
	const upgrade = "GET /drive HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
	for _, tt := range []struct {
		name           string
		upgrade        bool
		message, reply string
		work           time.Duration // of one reply, as visitors/budget.go estimates at least
	}{
		{"page", false, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200", 150 * time.Microsecond},
		{"robots", false, "GET /robots HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200", 150 * time.Microsecond},
		{"plan", false, "GET /plan HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200", 150 * time.Microsecond},
		{"pings", true, "\x89\x80\x00\x00\x00\x00", "\x8a\x00", 100 * time.Microsecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name != "robots" {
				acceptance.Only(t)
			}
			s, page := startDashboard(t)
			v := newVisitor(page, "127.0.0.2")
			begin := time.Now()
			replies := visitorFlood(t, conns, func() net.Conn {
				conn := v.connect(t)
				if tt.upgrade {
					fmt.Fprint(conn, upgrade)
					if reply, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || reply.StatusCode != http.StatusSwitchingProtocols {
						t.Fatalf("upgrade: %v, %v", reply, err)
					}
				}
				return conn
			}, tt.message, tt.reply)
			p := s.dial(t)
			var took []time.Duration
			for range rounds {
				time.Sleep(period)
				at := time.Now()
				if got := p.request("Xr"); got != "Xe" {
					t.Fatal(got)
				}
				took = append(took, time.Since(at))
			}
			slices.Sort(took)
			elapsed, served := time.Since(begin), replies.Load()
			t.Logf("a reply takes p50 %v, p99 %v; %d of the flood served in %v", took[rounds/2], took[rounds*99/100], served, elapsed)
			// A burst of 50 ms of work, then an eighth of the thread.
			if most := int64((50*time.Millisecond+elapsed/8)/tt.work) + conns; served > most {
				t.Errorf("%d of the flood served, want at most %d", served, most)
			}
			s.Await(t, visitors.LogQuota)
			if n := strings.Count(s.Output.String(), visitors.LogQuota); n != 1 {
				t.Errorf("%d lines in the log, want 1", n)
			}
			if got := newVisitor(page, "127.0.0.1").get(t, "robots", ""); got != http.StatusOK {
				t.Errorf("another visitor: status %d", got)
			}
		})
	}
}

// A visitor from another computer reaches the robots of this server and those that
// the configuration names, and learns nothing about other addresses.
func TestDashboardIsNoProxy(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	var named, private net.Listener // in the robot's namespace
	in(t, n.robot, func() {
		for _, l := range []*net.Listener{&named, &private} {
			var err error
			if *l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
				t.Fatal(err)
			}
		}
	})
	var reached, intruded atomic.Int32
	for l, count := range map[net.Listener]*atomic.Int32{named: &reached, private: &intruded} {
		defer l.Close()
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				count.Add(1)
				conn.Close()
			}
		}()
	}
	file := write(t, t.TempDir(), "robot.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q )
		dashboard ( robots [%q] )`, absolute(t, room), named.Addr()))
	s := n.start(t, "-http", "0.0.0.0:8080", file)
	s.dashboard(t)
	at := func(namespace, host string) *visitor {
		d := &net.Dialer{}
		dial := func(ctx context.Context, network, address string) (conn net.Conn, err error) {
			in(t, namespace, func() { conn, err = d.DialContext(ctx, network, address) })
			return conn, err
		}
		return &visitor{"http://" + host + ":8080/", &http.Client{Transport: &http.Transport{DialContext: dial}}, d}
	}
	far, near := at(n.client, robotAddress), at(n.robot, "127.0.0.1")
	own := fmt.Sprintf("0.0.0.0:%d", robotPort) // as the dashboard lists it
	if got := says(t, far.socket(t, "stream", own), `{"request":"pr"}`, "access"); !strings.Contains(got, `"p":"r"`) {
		t.Errorf("this server's robot: %s", got)
	}
	open := says(t, far.socket(t, "stream", private.Addr().String()), `{}`, "error")
	closed := says(t, far.socket(t, "stream", "127.0.0.1:1"), `{}`, "error")
	if open != closed || !strings.Contains(open, "only browsers of the server's computer") {
		t.Errorf("an open port: %s\na closed one: %s", open, closed)
	}
	says(t, far.socket(t, "drive", private.Addr().String()), `{"drive":[300,0]}`, "error")
	says(t, far.socket(t, "stream", named.Addr().String()), `{}`, "error")
	if reached.Load() == 0 || intruded.Load() != 0 {
		t.Errorf("the robot of the configuration was reached %d times, another address %d times", reached.Load(), intruded.Load())
	}
	says(t, near.socket(t, "stream", private.Addr().String()), `{}`, "error")
	if intruded.Load() == 0 {
		t.Error("a visitor at this computer does not reach another robot")
	}
}

// absolute returns the absolute name of a file, for a configuration elsewhere.
func absolute(t *testing.T, file string) string {
	t.Helper()
	return must.Get(filepath.Abs(file))(t)
}
