package main

import (
	"io"
	"net"
	"testing"
	"time"

	"player/e2e/needs"
)

// patience is how long a test waits for the network of this computer.
const patience = time.Minute

// link returns both ends of a connection through serve.
func link(t *testing.T, by time.Duration) (near, far net.Conn) {
	t.Helper()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	server, forwarder := listen(), listen()
	go serve(forwarder, server.Addr().String(), by)
	near, err := net.Dial("tcp", forwarder.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err = server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for _, conn := range []net.Conn{near, far} {
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
	}
	return near, far
}

// Bytes arrive in order, none before its time, in both directions.
func TestDelay(t *testing.T) {
	needs.Time(t)
	const by = 200 * time.Millisecond
	near, far := link(t, by)
	for _, way := range []struct{ from, to net.Conn }{{near, far}, {far, near}} {
		sent := time.Now()
		for _, word := range []string{"one ", "two ", "three"} {
			if _, err := way.from.Write([]byte(word)); err != nil {
				t.Fatal(err)
			}
		}
		got := make([]byte, len("one two three"))
		if _, err := io.ReadFull(way.to, got[:1]); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(sent); took < by {
			t.Errorf("the first byte arrived after %v", took)
		}
		if _, err := io.ReadFull(way.to, got[1:]); err != nil {
			t.Fatal(err)
		}
		if string(got) != "one two three" {
			t.Errorf("%q arrived", got)
		}
	}
}

// The end of a connection arrives after everything that was sent before it.
func TestEndArrivesLast(t *testing.T) {
	near, far := link(t, 20*time.Millisecond)
	if _, err := near.Write([]byte("bye")); err != nil {
		t.Fatal(err)
	}
	near.Close()
	if got, err := io.ReadAll(far); err != nil || string(got) != "bye" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestMistakes(t *testing.T) {
	for _, args := range [][]string{nil, {"300ms"}, {"soon", "1=2"}, {"300ms", "7665"}, {"300ms", "70000=x"}} {
		if err := run(t.Context(), args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
