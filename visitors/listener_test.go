package visitors

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"player/e2e/must"
)

// from is a connection with a remote address.
type from struct {
	net.Conn
	address string
	closed  bool
}

func (f *from) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", f.address)
	return a
}

func (f *from) Close() error {
	f.closed = true
	return f.Conn.Close()
}

// queue is a listener to which its connections come.
type queue []*from

func (q *queue) Accept() (net.Conn, error) {
	if len(*q) == 0 {
		return nil, net.ErrClosed
	}
	conn := (*q)[0]
	*q = (*q)[1:]
	return conn, nil
}

func (q *queue) Close() error   { return nil }
func (q *queue) Addr() net.Addr { return &net.TCPAddr{} }

func pipe(address string) (near *from, far net.Conn) {
	conn, far := net.Pipe()
	return &from{conn, address, false}, far
}

// accepted returns a connection that a listener has accepted, and its other end.
func accepted(t *testing.T) (*counted, net.Conn) {
	t.Helper()
	near, far := pipe("10.0.0.1:40000")
	l := limited{&queue{near}, newBudget(zap.NewNop()), "/stop", nil}
	conn := must.Get(l.Accept())(t)
	return conn.(*counted), far
}

// A connection without a place is closed, and the next one is served.
func TestAccept(t *testing.T) {
	var crowd queue
	for range perAddress + 1 {
		conn, _ := pipe("10.0.0.1:40000")
		crowd = append(crowd, conn)
	}
	refused := crowd[perAddress]
	last, _ := pipe("10.0.0.2:40000")
	crowd = append(crowd, last)
	l := limited{&crowd, newBudget(zap.NewNop()), "/stop", nil}
	var accepted []net.Conn
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			break
		}
		accepted = append(accepted, conn)
	}
	if !refused.closed || len(accepted) != perAddress+1 || accepted[perAddress].RemoteAddr().String() != "10.0.0.2:40000" {
		t.Errorf("%d accepted, the one too many is closed: %v", len(accepted), refused.closed)
	}
	for _, conn := range accepted {
		conn.Close()
		conn.Close() // gives its place back once
	}
	if l.budget.open != 0 {
		t.Errorf("%d places are taken", l.budget.open)
	}
}

// A flood is read at the pace of its address.
func TestCountedRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, far := accepted(t)
		const flood = 1 << 20
		go func() {
			_, _ = far.Write(make([]byte, flood))
			far.Close()
		}()
		begin := time.Now()
		if n, err := io.Copy(io.Discard, conn); err != nil || n != flood {
			t.Fatalf("%d bytes, %v", n, err)
		}
		work := flood/readSize*readCost + flood*inputCost
		if d, want := time.Since(begin), (work-addressBurst)*addressPart; d < want {
			t.Errorf("read in %v, want at least %v", d, want)
		}
	})
}

// Parts that are written together are one piece of work, whatever the connection is.
func TestWriteAllOwes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, far := accepted(t)
		before := conn.account.owed
		read := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(far)
			read <- string(text)
		}()
		must.Do(t, conn.writeAll([][]byte{[]byte("a "), make([]byte, 1000), []byte("\r\n")}))
		if owed, want := conn.account.owed-before, writeCost+1004*outputCost; owed != want {
			t.Errorf("it owes %v, want %v", owed, want)
		}
		conn.Close()
		if text := <-read; len(text) != 1004 || text[:2] != "a " || text[1002:] != "\r\n" {
			t.Errorf("%d bytes", len(text))
		}
	})
}

// An emergency stop is read without waiting, also by an address that owes a lot, but not
// again and again, and nothing else is.
func TestStopWaitsForNothing(t *testing.T) {
	for _, tt := range []struct {
		name, request string
		passes        bool
	}{
		{"stop", "POST /stop?robot=all HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", stopSize-200), true},
		{"a long one", "POST /stop?robot=all HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 2*stopSize), false},
		{"list", "GET /robots HTTP/1.1\r\nHost: localhost", false},
		{"release", "POST /release?robot=all HTTP/1.1\r\nHost: localhost", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, far := accepted(t)
				var waited time.Duration
				served := throttle(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
				request := func() {
					begin := time.Now()
					go func() { _, _ = io.WriteString(far, tt.request+"\r\n\r\n") }()
					r := must.Get(http.ReadRequest(bufio.NewReader(conn)))(t)
					served.ServeHTTP(nil, r.WithContext(withConn(t.Context(), conn)))
					waited = time.Since(begin)
				}
				go conn.account.pay(time.Second) // which others of the address wait for
				synctest.Wait()
				if request(); waited == 0 != tt.passes {
					t.Errorf("it waits %v", waited)
				}
				if request(); waited == 0 {
					t.Error("the next one does not wait")
				}
				time.Sleep(stopPeriod)
				if request(); waited == 0 != tt.passes {
					t.Errorf("later it waits %v", waited)
				}
			})
		})
	}
}
