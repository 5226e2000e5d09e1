package client

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
)

// Replies of the original server that grant less, and the errors of Request for them.
func TestReplies(t *testing.T) {
	for _, tt := range []struct {
		name    string
		before  string // requested and granted earlier
		request string
		reply   string
		devices []Access // of the AccessError
		old     bool     // the server knows no questions
		answer  []string // to the question why
		text    string
	}{
		{name: "downgrade", before: "sa", request: "sa", reply: "sr",
			devices: []Access{{Device: 's', Asked: 'a', Granted: 'r'}},
			text:    "access is not as requested: device s asked 'a' granted 'r'"},
		{name: "closed and opened in one request", before: "srprzr", request: "scsr", reply: "srsr",
			devices: []Access{{Device: 's', Asked: 'c', Granted: 'r'}},
			text:    "access is not as requested: device s asked 'c' granted 'r'"},
		{name: "unknown device", request: "srqrpr", reply: "srqepr",
			devices: []Access{{'q', "q", 'r', 'e', codec.WhyMissing, "the robot has no such device"}}, answer: []string{"q missing the robot has no such device"},
			text: "access is not as requested: device q asked 'r' granted 'e': the robot has no such device"},
		{name: "unknown device, old server", request: "srqrpr", reply: "srqepr", old: true,
			devices: []Access{{Device: 'q', Asked: 'r', Granted: 'e'}},
			text:    "access is not as requested: device q asked 'r' granted 'e': the server's log has the reason"},
		{name: "answer that we do not understand", request: "qr", reply: "qe", answer: []string{"qq", "", "p missing x"},
			devices: []Access{{Device: 'q', Asked: 'r', Granted: 'e'}},
			text:    "access is not as requested: device q asked 'r' granted 'e': the server's log has the reason"},
		{name: "unknown access, original", request: "srzxpr", reply: "srz\x00pr",
			devices: []Access{{Device: 'z', Asked: 'x'}},
			text:    `access is not as requested: device z asked 'x' granted '\x00'`},
		{name: "upgrade and failure", before: "pr", request: "pwlr", reply: "pale",
			devices: []Access{{'l', "l", 'r', 'e', codec.WhyRight, "you may not"}}, answer: []string{"l right you may not"},
			text: "access is not as requested: device l asked 'r' granted 'e': you may not"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i, a := range tt.devices {
				tt.devices[i].Name = string(rune(a.Device))
			}
			c, s := dial(t)
			open(t, c, s, tt.before)
			s.conn.Write(codec.AppendBlock(nil, codec.KindReply, []byte(tt.reply)))
			if tt.answer != nil {
				s.conn.Write(codec.AppendAnswer(nil, codec.QuestionRefusals, tt.answer))
			}
			if tt.old || tt.answer != nil {
				s.send("720000")
			}
			err := c.Request(within(t), tt.request)
			got := make([]byte, 4+len(tt.request))
			if _, err := io.ReadFull(s.conn, got); err != nil || string(got) != "dr\x00"+string(byte(len(tt.request)))+tt.request {
				t.Fatalf("client sent %q, %v", got, err)
			}
			ae, ok := errors.AsType[*AccessError](err)
			if !ok {
				t.Fatalf("%v is not an AccessError", err)
			}
			if !slices.Equal(ae.Devices, tt.devices) || ae.Error() != tt.text {
				t.Errorf("%+v\n%v\n%s", ae.Devices, ae, tt.text)
			}
		})
	}
}

func TestAsk(t *testing.T) {
	c, s := dial(t)
	s.send("720000")
	s.conn.Write(codec.AppendAnswer(nil, codec.QuestionObstacles, []string{"stopped it holds", "l silent x"}))
	s.send("720000", "590001 65 720000", "720000")
	if lines, err := c.Ask(within(t), codec.QuestionObstacles); err != nil || !slices.Equal(lines, []string{"stopped it holds", "l silent x"}) {
		t.Errorf("%q, %v", lines, err)
	}
	for range 2 { // the answer to another question, and none
		if lines, err := c.Ask(within(t), codec.QuestionObstacles); !errors.Is(err, ErrUnknownQuestion) {
			t.Errorf("%q, %v", lines, err)
		}
	}
	c.Close()
	if _, err := c.Ask(within(t), codec.QuestionObstacles); err == nil {
		t.Error("no error of a closed connection")
	}
}

// A request that the server would never answer is not sent.
func TestBadRequests(t *testing.T) {
	c, s := dial(t)
	for _, request := range []string{"s", "srp", strings.Repeat("sr", 257)} {
		if err := c.Request(t.Context(), request); err == nil {
			t.Errorf("%q: no error", request)
		}
	}
	c.Close()
	s.expectEnd()
}

func TestForeignReplies(t *testing.T) {
	for _, reply := range []string{"720000", "720002 7072", "720004 73727072", "720001 73"} {
		c, s := dial(t)
		s.send(reply)
		err := c.Request(within(t), "sr")
		var ae *AccessError
		if err == nil || errors.As(err, &ae) {
			t.Errorf("%s: %v", reply, err)
		}
	}
}

func TestConnectionEndsWhileRequesting(t *testing.T) {
	for _, sent := range []string{"", "72", "720002 73"} {
		c, s := dial(t)
		s.send(sent)
		s.conn.(interface{ CloseWrite() error }).CloseWrite()
		err := c.Request(within(t), "sr")
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), `request "sr": server closed`) {
			t.Errorf("after %q: %v", sent, err)
		}
	}
}

// Requests whose context ended are still answered. clients/conformance tests that Read accepts such a reply.
func TestLateReply(t *testing.T) {
	c, s := dial(t)
	if err := c.Request(cancelAfter(t, c, 0), "sr"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := c.Request(cancelAfter(t, c, 0), "mr"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.expect("6472 0002 7372", "6472 0002 6D72")
	s.send("720002 7372", sonarBlock, "720002 6D65") // misc failed
	s.send("720002 7072")
	must.Do(t, c.Request(within(t), "pr")) // takes its own reply, not the earlier ones
	s.send(sonarBlock, positionBlock)
	read(t, c)
	if !c.New('s') || !c.New('p') || c.New('m') {
		t.Error("not a round of sonar and position")
	}
}

// With nothing open, Read would wait forever, unless a reply is due.
func TestReadNothing(t *testing.T) {
	c, s := dial(t)
	if err := c.Read(t.Context()); err != errNothingOpen {
		t.Error(err)
	}
	open(t, c, s, "pw")
	if err := c.Read(t.Context()); err != errNothingOpen {
		t.Error(err)
	}
	if err := c.Request(cancelAfter(t, c, 0), "sr"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.send("720002 7365")
	if err := c.Read(within(t)); err != errNothingOpen {
		t.Error(err)
	}
}

// A request that the network does not take ends with its context, and with the connection: part
// of it may have been sent.
func TestRequestUntaken(t *testing.T) {
	conn, other := net.Pipe() // nothing is taken until the other end reads
	defer other.Close()
	c := New(conn)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := c.Request(ctx, "pr"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want %v", err, context.DeadlineExceeded)
	}
	if err := c.EmergencyStop(true); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("after it: %v, want %v", err, io.ErrClosedPipe)
	}
}

// Bytes that are no reply are an error at once: parsed as a block they would be one that never ends.
func TestForeignServer(t *testing.T) {
	for _, text := range []string{"HTTP/1.1 400 Bad Request\r\n\r\n", "r\x00\x02", "rr", "\x00", strings.Repeat("x", 1000)} {
		c, s := dial(t)
		must.Get(s.conn.Write([]byte(text)))(t)
		err := c.Request(within(t), "srpr")
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), `it sent "`) || len(err.Error()) > 300 {
			t.Errorf("%q: %v", text, err)
		}
		if again := c.Read(within(t)); !errors.Is(again, ErrForeign) {
			t.Errorf("%q: then %v", text, again)
		}
	}
}
