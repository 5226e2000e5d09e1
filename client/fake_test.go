package client

import (
	"context"
	"encoding/hex"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"player/e2e/must"
)

// server is the other end of a client's connection. It does not implement the protocol: a
// test lists the messages that it sends and must receive. It may send before the client
// asks; the bytes wait in the socket.
type server struct {
	t    *testing.T
	conn net.Conn
}

// limit bounds waits for events that must happen. It is long because machines
// may be slow.
const limit = 20 * time.Second

func dial(t *testing.T) (*Client, *server) {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	c := must.Get(Dial(t.Context(), l.Addr().String()))(t)
	t.Cleanup(func() { c.Close() })
	conn := must.Get(l.Accept())(t)
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(limit))
	c.auto = false // only tests of compact rounds expect a message before their own
	return c, &server{t, conn}
}

// send sends messages, given in hex.
func (s *server) send(messages ...string) {
	s.t.Helper()
	must.Get(s.conn.Write(unhex(messages...)))(s.t)
}

// expect reads messages, given in hex.
func (s *server) expect(messages ...string) {
	s.t.Helper()
	want := unhex(messages...)
	got := make([]byte, len(want))
	if n, err := io.ReadFull(s.conn, got); err != nil {
		s.t.Fatalf("client sent % X, want % X: %v", got[:n], want, err)
	}
	if string(got) != string(want) {
		s.t.Fatalf("client sent % X, want % X", got, want)
	}
}

// expectEnd checks that the client sent nothing more and closed the
// connection.
func (s *server) expectEnd() {
	s.t.Helper()
	if rest, err := io.ReadAll(s.conn); err != nil || len(rest) > 0 {
		s.t.Fatalf("client sent % X, %v, want the end of the connection", rest, err)
	}
}

func unhex(messages ...string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(strings.Join(messages, "")), ""))
	if err != nil {
		panic(err)
	}
	return b
}

// open requests devices and has the server grant them.
func open(t *testing.T, c *Client, s *server, request string) {
	t.Helper()
	head := "00" + hex.EncodeToString([]byte{byte(len(request))}) + hex.EncodeToString([]byte(request))
	s.send("72" + head)
	must.Do(t, c.Request(t.Context(), request))
	s.expect("6472" + head)
}

func read(t *testing.T, c *Client) {
	t.Helper()
	must.Do(t, c.Read(within(t)))
}

// within bounds a wait that would otherwise never end.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// recording is a connection that plays pieces of a byte stream, then ends. It
// has no goroutine at the other end.
type recording struct {
	net.Conn
	pieces [][]byte
}

func (r *recording) Read(p []byte) (int, error) {
	if len(r.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.pieces[0])
	if r.pieces[0] = r.pieces[0][n:]; len(r.pieces[0]) == 0 {
		r.pieces = r.pieces[1:]
	}
	return n, nil
}

func (r *recording) Write(p []byte) (int, error)      { return len(p), nil }
func (r *recording) Close() error                     { return nil }
func (r *recording) SetReadDeadline(time.Time) error  { return nil }
func (r *recording) SetWriteDeadline(time.Time) error { return nil }

// Blocks by table 7 of the manual, in hex.
const (
	sonarBlock    = "730020 03E8 044C 04B0 0514 0578 05DC 0640 06A4 0708 076C 07D0 0834 0898 08FC 0960 09C4"
	positionBlock = "700015 0001E240 00000457 FFFFF752 002D 0064 FFEC 010E 01"
	ptzBlock      = "7A0006 FFE2 000A 0200"
	miscBlock     = "6D0003 11 06 7C"
	gripperBlock  = "670002 12 24"
	noVision      = "760000"
)

var (
	laserBlock  = "6C02D2 07D0 07D1" + strings.Repeat("0000", 358) + "1FFF"
	visionBlock = "76004A 0102" + strings.Repeat("0201", 31) + "01011413 51 3D 47 5B 33 47"
)
