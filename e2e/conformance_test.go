package e2e

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"player/codec"
	"player/e2e/waiting"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
)

// sizes maps devices to the size of their block. That of vision varies.
var sizes = map[byte]int{'l': 722, 's': 32, 'p': 21, 'm': 3, 'g': 2, 'z': 6}

// The access table (PROTOCOL 2.3), every row and column, on all seven devices
// and the server itself, over a socket. Row "failed" needs missing hardware: see
// TestAccessOfMissingHardware.
func TestAccessTable(t *testing.T) {
	t.Parallel()
	// for each state: the requests that lead to it, and the answers to r, w, a, c and another letter
	rows := []struct {
		state, path string
		answers     string
	}{
		{"never opened", "", "rwaee"},
		{"r", "r", "raacr"},
		{"w", "w", "awacw"},
		{"a", "a", "rwaca"},
		{"closed", "rc", "rwacc"},
	}
	s := start(t, "-stage", room)
	for _, device := range "lspgmvzy" {
		for _, row := range rows {
			for column, asked := range "rwacx" {
				p := s.dial(t)
				for _, step := range row.path {
					p.request(fmt.Sprintf("%c%c", device, step))
				}
				want := fmt.Sprintf("%c%c", device, row.answers[column])
				if got := p.request(fmt.Sprintf("%c%c", device, asked)); got != want {
					t.Errorf("device %c, state %s, asked %c: reply %q, want %q", device, row.state, asked, got, want)
				}
				p.conn.Close()
			}
		}
	}
}

func TestAccessOfMissingHardware(t *testing.T) {
	t.Parallel()
	s := launch{env: noPrograms(t)}.start(t, "-pp", "/dev/nonexistent-p2os", "-lp", "/dev/nonexistent-laser",
		"-zp", "/dev/nonexistent-camera", "-vp", strconv.Itoa(freeSwapped(t)))
	for _, device := range "spgmlzv" {
		p := s.dial(t)
		for _, c := range []struct{ asked, want string }{
			{"c", "e"}, {"x", "e"}, // never opened
			{"r", "e"}, {"c", "e"}, {"x", "e"}, {"w", "e"}, {"a", "e"}, // failed, and tried again
		} {
			if got := p.request(string(device) + c.asked); got != string(device)+c.want {
				t.Errorf("device %c, asked %s: reply %q, want %q", device, c.asked, got, c.want)
			}
		}
		p.conn.Close()
	}
}

// Requests and replies over one connection each (PROTOCOL 2).
func TestRequests(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	for _, c := range []struct {
		clause string
		steps  []string // request>reply
	}{
		{"2.2 empty", []string{">"}},
		{"2.2 lone byte", []string{"s>s"}},
		{"2.2 lone byte behind a pair", []string{"srp>srp"}},
		{"2.4 adds up", []string{"srsw>sasa"}},
		{"2.4 adds up over requests", []string{"sr>sr", "sw>sa"}},
		{"2.4 downgrade", []string{"pa>pa", "pr>pr", "pa>pa", "pw>pw"}},
		{"2.4 open and close", []string{"srsc>scsc"}},
		{"2.4 close and open", []string{"sr>sr", "scsr>srsr"}},
		{"2.5 unknown device", []string{"qr>qe", "qr>qe", "qc>qe", "\x00r>\x00e", "\xffr>\xffe", "Lr>Le"}},
		{"2.5 close first", []string{"sc>se", "sr>sr", "sc>sc", "sc>sc"}},
		{"2.5 bad access in an earlier slot", []string{"sxpw>sepw"}},
		{"2.5 mixed", []string{"srqrpw>srqepw"}},
		{"2.9 write to sensors", []string{"swlwmwvw>swlwmwvw"}},
		{"all seven", []string{"lrsrpagamrvrza>lrsrpagamrvrza"}},
	} {
		t.Run(c.clause, func(t *testing.T) {
			p := s.dial(t)
			for _, step := range c.steps {
				request, want, _ := strings.Cut(step, ">")
				if got := p.request(request); got != want {
					t.Errorf("request %q: reply %q, want %q", request, got, want)
				}
			}
		})
	}
}

// Blocks come in the order of first opening (PROTOCOL 2.8, 3.2).
func TestOrder(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	for _, c := range []struct {
		requests []string
		want     string
	}{
		{[]string{"srpr"}, "s32 p21"},
		{[]string{"prsr"}, "p21 s32"},
		{[]string{"lrsrpr"}, "l722 s32 p21"},
		{[]string{"zrprlrsr"}, "z6 p21 l722 s32"},
		{[]string{"sapalaza"}, "s32 p21 l722 z6"},
		{[]string{"lr", "sr", "pr"}, "l722 s32 p21"},
		{[]string{"sr", "lrsr"}, "s32 l722"},
		{[]string{"srprzr", "sc", "lr", "sr"}, "s32 p21 z6 l722"}, // a closed device keeps its place
		{[]string{"swpr", "sr"}, "s32 p21"},                       // a device open for writing has one, too
		{[]string{"gwmrpr"}, "m3 p21"},
		{[]string{"grmrzr"}, "g2 m3 z6"},
	} {
		p := s.dial(t)
		for _, r := range c.requests {
			p.request(r)
		}
		n := strings.Count(c.want, " ") + 1
		// Frames of an earlier request may still arrive.
		waiting.Until(t, fmt.Sprintf("order after %v", c.requests), func() bool {
			p.alignTo(c.want[0], sizes[c.want[0]])
			rest := p.frame(n - 1)
			return n == 1 || c.want[strings.Index(c.want, " ")+1:] == rest
		})
		if got := p.frame(n); got != c.want {
			t.Errorf("after %v: frame %s, want %s", c.requests, got, c.want)
		}
		p.conn.Close()
	}
}

// alignTo reads up to and including the next block of the first device.
func (p *peer) alignTo(letter byte, size int) {
	p.t.Helper()
	for {
		if l, payload := p.block(); l == letter && len(payload) == size {
			return
		}
	}
}

// Rows of the table at the end of PROTOCOL.
func TestDifferencesFromTheOriginal(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	s := start(t, "-pp", r.Port(), "-max-rate", "50")
	var peers []*peer
	for range 9 {
		p := s.dial(t)
		p.mustOpen("yrpr", "yrpr")
		peers = append(peers, p)
	}
	p := peers[8]
	if n := r.State().Counts; n["SONAR"] == 0 || n["SETO"] == 0 {
		t.Errorf("at the first opening the robot was sent %v", n)
	}

	p.message('x', 'y', codec.ConfigFrequency, 0xFF, 0xFF)
	begin := p.freshness().Time
	frames := 0
	for p.freshness().Time < begin+1_000_000 {
		frames++
	}
	if frames > 55 {
		t.Errorf("rate 65535: %d frames in a second, at most 50 are served", frames)
	}

	p.message('d', 'X', 's', 'r')
	p.message('x', 'y', codec.ConfigMode, 1)
	p.mustOpen("m", "m") // the next reply is this one
	for range 3 {
		p.send(codec.AppendMessage(nil, codec.KindConfig, codec.Server, []byte{codec.ConfigData})...)
	}
	if got := p.frame(6); got != "y12 p21 y12 p21 y12 p21" {
		t.Errorf("three requests for data: %s", got)
	}
	p.message('d', 'r', 'm')
	if letter, _ := p.block(); letter != codec.KindReply {
		t.Errorf("a block %c that nobody asked for", letter)
	}

	p.send(motors(2)...)
	waiting.Until(t, "ENABLE", func() bool { return r.State().Counts["ENABLE"] == 1 })
	if heard := r.Heard(line.HostToDevice); !bytes.Contains(heard, []byte{0xFA, 0xFB, 6, 4, 0x3B, 1, 0}) {
		t.Error("motors 2 is not sent as 1")
	}
}
