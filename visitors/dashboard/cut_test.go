package dashboard

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"player/config/rights"
	"player/e2e/must"
	"player/e2e/waiting"
	"player/process/descriptors"
	"player/visitors"
	"player/visitors/pictures"
)

// browsers is a listener to which browsers come by pipes, in the virtual time of a test.
type browsers struct {
	waiting chan net.Conn
	ended   chan struct{}
	close   func()
	open    atomic.Int64 // connections that the server has not closed
}

func newBrowsers() *browsers {
	b := &browsers{waiting: make(chan net.Conn), ended: make(chan struct{})}
	b.close = sync.OnceFunc(func() { close(b.ended) })
	return b
}

func (b *browsers) Accept() (net.Conn, error) {
	select {
	case conn := <-b.waiting:
		return conn, nil
	case <-b.ended:
		return nil, net.ErrClosed
	}
}

func (b *browsers) Close() error   { b.close(); return nil }
func (b *browsers) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// dial connects a browser on this computer.
func (b *browsers) dial() net.Conn {
	near, far := net.Pipe()
	b.open.Add(1)
	b.waiting <- &served{Conn: near, close: sync.OnceFunc(func() { b.open.Add(-1) })}
	return far
}

// served is the server's end of a connection.
type served struct {
	net.Conn
	close func()
}

func (s *served) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 50000} }
func (s *served) Close() error         { s.close(); return s.Conn.Close() }

// ask sends a request and returns the status of the reply, which it reads whole.
func (b *browsers) ask(t *testing.T, request string) int {
	t.Helper()
	conn := b.dial()
	defer conn.Close()
	go io.WriteString(conn, request) // the server may reply and close before the end of a body
	reply := must.Get(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	if reply.StatusCode != http.StatusSwitchingProtocols {
		must.Get(io.Copy(io.Discard, reply.Body))(t)
	}
	return reply.StatusCode
}

// cutTest is a dashboard in the virtual time of a test.
type cutTest struct {
	*testing.T
	*browsers
	quota  *descriptors.Share
	idle   int // goroutines without browsers
	stacks []byte
}

// settled checks that nothing is left of the browsers so far. The longest limit is an idle connection's.
func (c *cutTest) settled(format string, args ...any) {
	c.Helper()
	time.Sleep(2 * time.Minute) // of the test's clock: a camera runs on for a while
	synctest.Wait()
	what := fmt.Sprintf(format, args...)
	if open := c.open.Load(); open != 0 {
		c.Fatalf("%s: %d connections are open", what, open)
	}
	if n, stacks := c.goroutines(); n != c.idle {
		c.Fatalf("%s: %d goroutines, %d before:\n%s", what, n, c.idle, stacks)
	}
	if err := c.quota.Take(shareOfRobots); err != nil {
		c.Fatalf("%s: descriptors are left: %v", what, err)
	}
	c.quota.Return(shareOfRobots)
}

// goroutines returns how many goroutines of the test and of its server run in virtual time.
func (c *cutTest) goroutines() (n int, stacks []byte) {
	stacks = c.stacks[:runtime.Stack(c.stacks, true)]
	return bytes.Count(stacks, []byte("synctest bubble")), stacks
}

// next checks that the server still answers.
func (c *cutTest) next(after string) {
	c.Helper()
	for _, path := range []string{"/robots", "/healthz", "/camera/front/picture"} {
		if status := c.ask(c.T, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); status != http.StatusOK {
			c.Fatalf("%s after %q: status %d", path, after, status)
		}
	}
	c.settled("whole requests after %q", after)
}

// shareOfRobots is how many connections to robots there may be.
const shareOfRobots = 100

// testCut serves a dashboard in virtual time and calls test with it.
func testCut(t *testing.T, test func(c *cutTest)) {
	t.Helper()
	world := load(t, `position ( name "a" port 6665 pose [0 0 0 0] )`)
	synctest.Test(t, func(t *testing.T) {
		c := &cutTest{T: t, browsers: newBrowsers(), stacks: make([]byte, 256<<10)}
		c.quota = descriptors.NewShare(shareOfRobots)
		var loop sync.Mutex
		post := func(fn func(now time.Duration)) bool {
			loop.Lock()
			defer loop.Unlock()
			fn(time.Second)
			return true
		}
		camera := func(name string, picture []byte) *pictures.Camera {
			return pictures.NewCamera(pictures.Source{Name: name, Rate: 5,
				Draw: func(context.Context) ([]byte, pictures.View, error) { return picture, pictures.View{}, nil }}, zap.NewNop())
		}
		cameras := []*pictures.Camera{camera("front", bytes.Repeat([]byte{7}, 5000)), camera("blind", nil)}
		const silent = "127.0.0.1:1" // nothing listens there
		ctx, end := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() {
			served <- Serve(ctx, c, Config{
				Robots:  []Robot{{Name: "a", Address: silent, Port: 6665, Simulated: world.Robots()[0]}},
				World:   world,
				Cameras: cameras,
				Recent:  func(uint64) ([][]byte, uint64) { return [][]byte{[]byte(`{"msg":"x"}`)}, 1 },
				Common: visitors.Common{
					Server: newFake().on(post), Log: zap.NewNop(), Post: post, Access: rights.Local(), Descriptors: c.quota,
				},
			})
		}()
		synctest.Wait()
		c.idle, _ = c.goroutines()
		test(c)
		end()
		must.Do(t, <-served)
		for _, camera := range cameras {
			camera.Close()
		}
	})
}

// upgrade are the headers of a WebSocket.
const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
	"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"

// requests returns requests of each kind of handler.
func requests() (all []string) {
	for _, head := range []string{
		"GET / HTTP/1.1", "GET /robots HTTP/1.1", "GET /status HTTP/1.1", "GET /healthz HTTP/1.1", "GET /metrics HTTP/1.1",
		"GET /shape?robot=127.0.0.1:1 HTTP/1.1", "GET /log HTTP/1.1", "GET /plan HTTP/1.1", "GET /map.yaml HTTP/1.1",
		"GET /map.pgm HTTP/1.1", "GET /simulation HTTP/1.1", "POST /stop?robot=6665 HTTP/1.1",
		"POST /simulation?order={} HTTP/1.1", "GET /camera/front HTTP/1.1", "GET /camera/front/picture HTTP/1.1",
		"GET /camera/blind HTTP/1.1", "GET /camera/blind/picture?after=1 HTTP/1.1",
	} {
		all = append(all, head+"\r\nHost: localhost\r\n\r\n")
	}
	for _, socket := range []string{
		"/world", "/presence", "/stream?robot=127.0.0.1:1&request=pr", "/drive?robot=127.0.0.1:1",
	} {
		all = append(all, "GET "+socket+" HTTP/1.1\r\nHost: localhost\r\n"+upgrade+"\r\n")
	}
	body := strings.Repeat("x", 100)
	const stop, simulation = "POST /stop?robot=6665 HTTP/1.1\r\n", "POST /simulation?order={} HTTP/1.1\r\n"
	return append(all,
		stop+"Host: localhost\r\nContent-Length: 100\r\n\r\n"+body,
		simulation+"Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n"+body+"\r\n0\r\n\r\n")
}

// firstLine returns the first line of a request.
func firstLine(request string) string {
	line, _, _ := strings.Cut(request, "\r\n")
	return line
}

// A browser may go while it sends a request: nothing of it is left, and the next one is served.
func TestCutRequests(t *testing.T) {
	testCut(t, func(c *cutTest) {
		for _, request := range requests() {
			for cut := 0; cut <= len(request); cut += 3 {
				conn := c.dial()
				go io.Copy(io.Discard, conn)               // until it is closed
				_, _ = io.WriteString(conn, request[:cut]) // fails if the server has replied to the part of a body and closed
				conn.Close()
				if cut%30 == 0 {
					c.settled("%d bytes of %q", cut, firstLine(request))
				}
			}
			c.next(firstLine(request))
		}
	})
}

// A browser may stop sending in the middle of a request, and keep its connection: the server closes it.
func TestStalledRequests(t *testing.T) {
	testCut(t, func(c *cutTest) {
		for _, request := range requests() {
			for cut := 0; cut < len(request); cut += 17 {
				conn := c.dial()
				go io.WriteString(conn, request[:cut])
				began := time.Now()
				_, _ = io.Copy(io.Discard, conn) // until the server has closed it, or reset
				if took := time.Since(began); took > time.Minute {
					c.Errorf("%d bytes of %q: closed after %v", cut, firstLine(request), took)
				}
				conn.Close()
				c.settled("%d bytes of %q", cut, firstLine(request))
			}
			c.next(firstLine(request))
		}
	})
}

// A browser may go, or stop reading, anywhere in an answer.
func TestCutAnswers(t *testing.T) {
	testCut(t, func(c *cutTest) {
		for _, request := range requests() {
			for _, read := range []int64{0, 1, 15, 100, 300, 600, 4096, 20_000} {
				for _, stays := range []bool{false, true} {
					if stays && strings.HasPrefix(request, "GET /camera/blind ") {
						continue // a browser may wait for the first picture
					}
					conn := c.dial()
					go io.WriteString(conn, request)
					_ = conn.SetReadDeadline(time.Now().Add(time.Second)) // an answer may be shorter
					_, _ = io.CopyN(io.Discard, conn, read)
					if stays {
						time.Sleep(idleLimit)
					} else {
						conn.Close()
					}
					c.settled("%d bytes of the answer to %q, stays: %v", read, firstLine(request), stays)
					conn.Close()
				}
			}
			c.next(firstLine(request))
		}
	})
}

// A browser on a network may reset its connection: no descriptor of it is left.
func TestResetConnections(t *testing.T) {
	url := servePage(t, newFake().config())
	descriptors := func() int { return len(must.Get(os.ReadDir("/proc/self/fd"))(t)) }
	before := descriptors()
	for range 3 {
		for _, request := range requests() {
			conn := must.Get(net.Dial("tcp", strings.TrimPrefix(url, "http://")))(t).(*net.TCPConn)
			_, _ = io.WriteString(conn, request[:len(request)*2/3]) // fails if the server has closed
			must.Do(t, conn.SetLinger(0))
			must.Do(t, conn.Close())
		}
	}
	waiting.Until(t, "the descriptors are closed", func() bool { return descriptors() <= before })
	reply := must.Get(http.Get(url + "/robots"))(t)
	must.Do(t, reply.Body.Close())
	if reply.StatusCode != http.StatusOK {
		t.Errorf("the next request: status %d", reply.StatusCode)
	}
}

// idleLimit is longer than a browser may keep an unused connection.
const idleLimit = 6 * time.Minute
