package load

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"player/e2e/must"
	"player/e2e/ports"
)

// program is a fake of a server of rosbridge: it opens the WebSocket, takes a subscription, and sends messages of which one
// is none of the topic, with pings between them.
func program(t *testing.T, requests chan<- string) (address string) {
	t.Helper()
	send := func(conn net.Conn, kind byte, text string) error {
		head := []byte{0x80 | kind, byte(len(text))}
		if len(text) > 125 {
			head = binary.BigEndian.AppendUint16([]byte{0x80 | kind, 126}, uint16(len(text)))
		}
		_, err := io.WriteString(conn, string(head)+text)
		return err
	}
	return ports.Serve(t, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		if _, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n\r\n"); err != nil {
			return
		}
		head := make([]byte, 6) // short, masked with zeros
		if _, err := io.ReadFull(in, head); err != nil {
			return // the client that looks whether there is a server
		}
		text := make([]byte, head[1]&0x7f)
		if _, err := io.ReadFull(in, text); err != nil {
			return
		}
		requests <- string(text)
		if send(conn, textFrame, `{"op":"status","level":"error","msg":"an error"}`) != nil {
			return
		}
		for pings := 0; ; pings++ {
			now := time.Now()
			message := fmt.Sprintf(`{"op": "publish", "topic": "/scan", "msg": {"header": {"stamp": {"sec": %d, "nanosec": %d}}, "x": "%s"}}`,
				now.Unix(), now.Nanosecond(), strings.Repeat("x", 1000))
			if send(conn, textFrame, message) != nil || send(conn, pingFrame, "ping") != nil {
				return
			}
			pong := make([]byte, 6+len("ping"))
			if _, err := io.ReadFull(in, pong); err != nil || string(pong[6:]) != "ping" || pong[0] != 0x80|pongFrame {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
}

// Each message of the topic is a frame, with its age and all of its bytes; other messages are none.
func TestRosbridge(t *testing.T) {
	requests := make(chan string, 2)
	address := program(t, requests)
	spec := Spec{
		Groups: []Group{{Name: "clients", Clients: 2, Rate: 200, Task: Stream, Address: address, Topic: "/scan"}},
		Warmup: 20 * time.Millisecond, Window: 300 * time.Millisecond,
	}
	r := must.Get(Run(spec, func() {}, func() {}))(t)
	g := r.Groups[0]
	if g.Frames == 0 || g.Bad != 2 || g.Closed != 0 || g.Bytes < 1000*g.Frames {
		t.Errorf("%+v", g)
	}
	if g.Latency.Mean <= 0 || g.Latency.Mean > time.Minute || g.AgeMean < g.Latency.Mean {
		t.Errorf("latency %v, age %v", g.Latency.Mean, g.AgeMean)
	}
	for range 2 {
		if got := <-requests; got != `{"op":"subscribe","topic":"/scan"}` {
			t.Errorf("a client asks %s", got)
		}
	}
}

func TestStampOf(t *testing.T) {
	for message, want := range map[string]time.Duration{
		`{"op":"publish","topic":"/a","msg":{"header":{"stamp":{"sec":12,"nanosec":345},"frame_id":"a"}}}`:            12*time.Second + 345,
		`{"op": "publish", "topic": "/a1", "msg": {"header": {"stamp": {"sec": 12, "nanosec": 0}, "frame_id": "a"}}}`: 12 * time.Second,
		`{"op":"publish","topic":"/a","msg":{"data":1}}`:                                                              -1,
		`{"op":"status","msg":"\"stamp\""}`:                                                                           -1,
		``:                                                                                                            -1,
	} {
		if got, ok := stampOf([]byte(message)); ok != (want >= 0) || ok && got != want {
			t.Errorf("%s: %v, %v", message, got, ok)
		}
	}
}
