package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"player/e2e/must"

	"golang.org/x/sys/unix"
)

// leaving is how long a program may take to end when a server takes nothing. It is less than
// the two minutes in which the kernel gives a connection up, and more than any limit of a client.
const leaving = time.Minute

// A program ends after it could not connect in time, though the attempt still hangs.
func TestLeaveUnanswered(t *testing.T) {
	t.Parallel()
	forEachClient(t, func(t *testing.T, _ language, start func(t *testing.T) *adapter) {
		address := unanswered(t)
		a := start(t)
		got := a.call(t, Object{"op": "connect", "host": address.IP.String(), "port": address.Port, "timeout_ms": soon})
		if got["ok"] != false || got["error"] != "timeout" {
			t.Errorf("%s, want error timeout", text(got))
		}
		a.end(leaving)
	})
}

// unanswered returns an address where connections hang until the end of the test.
func unanswered(t *testing.T) *net.TCPAddr { return unansweredAt(t, 0) }

// unansweredAt is unanswered at a port of this computer; 0: one that is free. A filter drops all packets to its
// listener, also those that begin a connection.
func unansweredAt(t *testing.T, port int) *net.TCPAddr {
	t.Helper()
	drop := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 0}}
	return listen(t, port, func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &drop[0]})
	}).Addr().(*net.TCPAddr)
}

// listen listens at a port of this computer, 0: a free one, with a socket that set has prepared.
func listen(t *testing.T, port int, set func(fd int) error) net.Listener {
	t.Helper()
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		return errors.Join(raw.Control(func(fd uintptr) { err = set(int(fd)) }), err)
	}}
	listener := must.Get(config.Listen(t.Context(), "tcp", fmt.Sprint("127.0.0.1:", port)))(t)
	t.Cleanup(func() { listener.Close() })
	return listener
}

// A client that cannot connect again in time says why, though its last attempt hangs.
func TestReconnectUnanswered(t *testing.T) {
	t.Parallel()
	forEachClient(t, func(t *testing.T, _ language, start func(t *testing.T) *adapter) {
		listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		a := start(t)
		address := listener.Addr().(*net.TCPAddr)
		a.send(t, Object{"op": "connect", "host": address.IP.String(), "port": address.Port, "timeout_ms": patience})
		conn := must.Get(listener.Accept())(t)
		if got := a.answer(t, Object{"op": "connect"}); got["ok"] != true {
			t.Fatal(text(got))
		}
		// A program that is being started also has the listener for a moment: only shutdown ends it at once.
		raw := must.Get(listener.(*net.TCPListener).SyscallConn())(t)
		must.Do(t, raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }))
		must.Do(t, errors.Join(listener.Close(), conn.Close()))
		a.send(t, Object{"op": "reconnect", "timeout_ms": 40 * soon})
		time.Sleep(20 * soon * time.Millisecond) // ten attempts are refused on an idle computer, one on a busy one
		unansweredAt(t, address.Port)
		if got := a.answer(t, Object{"op": "reconnect"}); got["ok"] != false || got["error"] != "closed" {
			t.Errorf("%s, want error closed", text(got))
		}
	})
}

// A program whose server takes nothing any more gets an error, though it asks for no time limit
// of its own, and ends.
func TestLeaveUntaken(t *testing.T) {
	t.Parallel()
	forEachClient(t, func(t *testing.T, l language, start func(t *testing.T) *adapter) {
		// The kernel's buffers are as small as it has them: a client's follows from the largest segment.
		listener := listen(t, 0, func(fd int) error {
			return errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1),
				unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, 536))
		})
		a := start(t)
		address := listener.Addr().(*net.TCPAddr)
		a.send(t, Object{"op": "connect", "host": address.IP.String(), "port": address.Port, "timeout_ms": patience})
		conn := must.Get(listener.Accept())(t) // and nothing is read from it
		defer conn.Close()
		if got := a.answer(t, Object{"op": "connect"}); got["ok"] != true {
			t.Fatal(text(got))
		}
		name := Object{"op": "config", "name": "name", "value": 0, "text": "a client whose name has the sixty-four bytes that are possible "}
		for range 1 << 16 { // of 4 MB in all: more than the largest buffers have
			got := a.call(t, name)
			if got["ok"] == true {
				continue
			}
			want := cmp.Or(map[string]string{"tcl": "timeout"}[l.name], "closed") // Tcl keeps the connection
			if got["error"] != want {
				t.Errorf("%s, want error %s", text(got), want)
			}
			a.end(leaving)
			return
		}
		t.Error("all messages are taken")
	})
}
