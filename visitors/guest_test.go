package visitors

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

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

// A browser that answers keeps its socket, however long no message comes. One
// that vanishes with its network loses it.
func TestVanishedBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			guest := Common{}.Accept(t.Context(), w, r, Terms{Window: 1})
			defer guest.End()
			context.AfterFunc(guest.Ctx, func() { ended <- context.Cause(guest.Ctx) })
			_ = guest.Serve(func(websocket.MessageType, []byte) error { return nil }) // waits for the end of the connection
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
		if after := time.Since(lost); after > probePeriod+answerLimit || !strings.Contains(err.Error(), "nothing heard") {
			t.Errorf("ended after %v: %v", after, err)
		}
	})
}
