package conformance

import (
	"cmp"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"player/e2e/must"
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

// unanswered returns an address where connections hang until the end of the test: the queue of
// its listener is full.
func unanswered(t *testing.T) *net.TCPAddr {
	t.Helper()
	socket := must.Get(syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0))(t)
	file := os.NewFile(uintptr(socket), "listener")
	t.Cleanup(func() { file.Close() })
	must.Do(t, errors.Join(syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(socket, 0)))
	name := must.Get(syscall.Getsockname(socket))(t)
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*syscall.SockaddrInet4).Port}
	for range 10 {
		conn, err := net.DialTimeout("tcp", address.String(), time.Second)
		if err != nil {
			return address
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Fatal("the queue of a listener is never full")
	return nil
}

// A program whose server takes nothing any more gets an error, though it asks for no time limit
// of its own, and ends.
func TestLeaveUntaken(t *testing.T) {
	t.Parallel()
	forEachClient(t, func(t *testing.T, l language, start func(t *testing.T) *adapter) {
		listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		defer listener.Close()
		a := start(t)
		address := listener.Addr().(*net.TCPAddr)
		a.send(t, Object{"op": "connect", "host": address.IP.String(), "port": address.Port, "timeout_ms": patience})
		conn := must.Get(listener.Accept())(t) // and nothing is read from it
		defer conn.Close()
		must.Do(t, conn.(*net.TCPConn).SetReadBuffer(1)) // the least that the kernel has
		if got := a.answer(t, Object{"op": "connect"}); got["ok"] != true {
			t.Fatal(text(got))
		}
		name := Object{"op": "config", "name": "name", "value": 0, "text": "a client whose name has the sixty-four bytes that are possible "}
		for range 1 << 16 { // of 4 MB in all: more than buffers have
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
