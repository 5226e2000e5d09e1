package visitors

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"player/e2e/must"
)

// Connections without a request stay open, and give way to those that need their places: the
// one that has been idle for longest first. One with a request does not.
func TestIdleGivesWay(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- Site{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/long" {
				w.(http.Flusher).Flush()
				<-ctx.Done()
			}
		}), Log: zap.NewNop()}.Serve(ctx, l)
	}()
	t.Cleanup(func() {
		end()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	type browser struct {
		net.Conn
		replies *bufio.Reader
	}
	// ask requests a page, and reports whether a reply has come.
	ask := func(b browser, path string) bool {
		t.Helper()
		_ = b.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.WriteString(b, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return false
		}
		reply, err := http.ReadResponse(b.replies, nil)
		if err == nil && path != "/long" {
			_, err = io.Copy(io.Discard, reply.Body)
		}
		return err == nil
	}
	open := func() browser {
		t.Helper()
		conn := must.Get(net.Dial("tcp", l.Addr().String()))(t)
		t.Cleanup(func() { conn.Close() })
		return browser{conn, bufio.NewReader(conn)}
	}
	busy := open()
	if !ask(busy, "/long") {
		t.Fatal("no reply")
	}
	var kept []browser
	for range perAddress - 1 {
		kept = append(kept, open())
		if !ask(kept[len(kept)-1], "/") {
			t.Fatal("no reply")
		}
	}
	if !ask(kept[0], "/") {
		t.Error("an idle connection was closed though there are places")
	}
	if !ask(open(), "/") {
		t.Error("idle connections keep another one out")
	}
	closed := 0
	for _, b := range kept[1:] {
		if !ask(b, "/") {
			closed++
		}
	}
	if closed != 1 || !ask(kept[0], "/") {
		t.Errorf("%d idle connections were closed, want one, and not the one used last", closed)
	}
	_ = busy.SetReadDeadline(time.Now())
	if _, err := busy.replies.ReadByte(); errors.Is(err, io.EOF) {
		t.Error("a connection with a request was closed")
	}
}

func TestCloseReason(t *testing.T) {
	if got := CloseReason("no route to host"); got != "no route to host" {
		t.Errorf("short: %q", got)
	}
	for _, text := range []string{strings.Repeat("x", 500), strings.Repeat("ü", 500), strings.Repeat("\xffx", 500)} {
		if got := CloseReason(text); len(got) > reasonLimit || len(got) < reasonLimit-3 || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}
