package line

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"player/e2e/must"
)

// parrot is a device that sends its input back, with the number of the host.
type parrot struct{ End }

func (e *parrot) Frame(buf []byte) (n int, note string) { return len(buf), "" }

func (e *parrot) Receive(_ time.Duration, unit []byte) {
	number, _ := e.Host()
	e.Send(append(unit, byte('0'+number)), "")
}

func (e *parrot) Advance(time.Duration) time.Duration { return 0 }

// talk sends text to a device, and reads the answer.
func talk(t *testing.T, conn net.Conn, text string) string {
	t.Helper()
	must.Get(conn.Write([]byte(text)))(t)
	answer := make([]byte, len(text)+1)
	conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // expires only in a failed test
	must.Get(io.ReadFull(conn, answer))(t)
	return string(answer)
}

// ended reports whether the device ends a connection.
func ended(conn net.Conn) bool {
	n, err := conn.Read(make([]byte, 1))
	return n == 0 && err != nil
}

// A device on the network serves one host after the other, at the same address also when it was unplugged, and HangUp
// ends a connection.
func TestNetwork(t *testing.T) {
	e := &parrot{}
	must.Do(t, e.Attach(Options{TCP: "127.0.0.1:0"}, e))
	defer e.Close()
	dial := func() net.Conn {
		conn := must.Get(net.Dial("tcp", e.Address()))(t)
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	first, second := dial(), dial()
	if got := talk(t, first, "a"); got != "a1" {
		t.Errorf("the first host hears %q", got)
	}
	must.Do(t, first.Close())
	if got := talk(t, second, "b"); got != "b2" {
		t.Errorf("the second host hears %q", got)
	}
	e.HangUp()
	if !ended(second) {
		t.Error("the second host is still connected")
	}
	third := dial()
	if got := talk(t, third, "c"); got != "c3" {
		t.Errorf("the third host hears %q", got)
	}
	e.Unplug()
	if _, connected := e.Host(); connected || !ended(third) {
		t.Error("the third host is still connected")
	}
	if _, err := net.Dial("tcp", e.Address()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("unplugged: %v", err)
	}
	must.Do(t, e.Plug())
	if got := talk(t, dial(), "d"); got != "d4" {
		t.Errorf("the fourth host hears %q", got)
	}
}
