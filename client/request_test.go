package client

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// Replies of the original server, and what Request returns for them.
func TestReplies(t *testing.T) {
	for _, tt := range []struct {
		name    string
		before  string // requested and granted earlier
		request string
		reply   string
		devices []Access // of the AccessError; nil if there is none
		enough  bool
		text    string
	}{
		{name: "granted", request: "srpw", reply: "srpw"},
		{name: "all", request: "sapalaza", reply: "sapalaza"},
		{name: "nothing", request: "", reply: ""},
		{name: "closed", before: "srpr", request: "scpc", reply: "scpc"},
		{name: "upgrade", before: "sr", request: "sw", reply: "sa",
			devices: []Access{{'s', 'w', 'a'}}, enough: true,
			text: "access is not as requested: device s asked 'w' granted 'a'"},
		{name: "upgrade in one request", request: "srsw", reply: "sasa",
			devices: []Access{{'s', 'r', 'a'}, {'s', 'w', 'a'}}, enough: true,
			text: "access is not as requested: device s asked 'r' granted 'a', device s asked 'w' granted 'a'"},
		{name: "closed and opened in one request", before: "srprzr", request: "scsr", reply: "srsr",
			devices: []Access{{'s', 'c', 'r'}},
			text:    "access is not as requested: device s asked 'c' granted 'r'"},
		{name: "unknown device", request: "srqrpr", reply: "srqepr",
			devices: []Access{{'q', 'r', 'e'}},
			text:    "access is not as requested: device q asked 'r' granted 'e' (see the server's log)"},
		{name: "unknown access, original", request: "srzxpr", reply: "srz\x00pr",
			devices: []Access{{'z', 'x', 0}},
			text:    `access is not as requested: device z asked 'x' granted '\x00'`},
		{name: "upgrade and failure", before: "pr", request: "pwlr", reply: "pale",
			devices: []Access{{'p', 'w', 'a'}, {'l', 'r', 'e'}},
			text:    "access is not as requested: device p asked 'w' granted 'a', device l asked 'r' granted 'e' (see the server's log)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, s := dial(t)
			open(t, c, s, tt.before)
			s.conn.Write(append([]byte{'r', 0, byte(len(tt.reply))}, tt.reply...))
			err := c.Request(within(t), tt.request)
			got := make([]byte, 4+len(tt.request))
			if _, err := io.ReadFull(s.conn, got); err != nil || string(got) != "dr\x00"+string(byte(len(tt.request)))+tt.request {
				t.Fatalf("client sent %q, %v", got, err)
			}
			if tt.devices == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var ae *AccessError
			if !errors.As(err, &ae) {
				t.Fatalf("%v is not an AccessError", err)
			}
			if !slices.Equal(ae.Devices, tt.devices) || ae.Enough() != tt.enough || ae.Error() != tt.text {
				t.Errorf("%+v enough %v\n%v\n%s", ae.Devices, ae.Enough(), ae, tt.text)
			}
		})
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

// Rounds continue while a device is set up. Their data is available after
// Request, and Read waits for a round with the new device.
func TestDataBeforeReply(t *testing.T) {
	c, s := dial(t)
	open(t, c, s, "mrpr")
	s.send(miscBlock, positionBlock, "6D0003 000001", "700015", strings.Repeat("00", 21), "720002 7372")
	if err := c.Request(within(t), "sr"); err != nil {
		t.Fatal(err)
	}
	if !c.Has('m') || c.Misc.Battery != 1 || c.Position.X != 0 {
		t.Errorf("data received before the reply is lost: %+v %+v", c.Misc, c.Position)
	}
	if c.Has('s') {
		t.Error("sonar data before any was sent")
	}
	s.send(miscBlock, positionBlock, sonarBlock)
	read(t, c)
	if c.Misc.Battery != 124 || c.Position.X != 1111 || c.Sonar[0] != 1000 {
		t.Errorf("%+v %+v %v", c.Misc, c.Position, c.Sonar)
	}
}

// A request whose context ended is still answered.
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
	if err := c.Request(within(t), "pr"); err != nil { // takes its own reply, not the earlier ones
		t.Fatal(err)
	}
	s.send(sonarBlock, positionBlock)
	read(t, c)
	if !c.New('s') || !c.New('p') || c.New('m') {
		t.Error("not a round of sonar and position")
	}

	if err := c.Request(cancelAfter(t, c, 0), "zr"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.send("720002 7A72", sonarBlock, positionBlock, ptzBlock)
	read(t, c)
	if !c.New('z') || c.PTZ.Pan != -30 {
		t.Error("Read did not take the reply")
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
