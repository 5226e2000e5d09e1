package session

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
)

// 2.5: any byte can be asked for.
func TestEveryDeviceByte(t *testing.T) {
	_, p := connect(t)
	for b := range 256 {
		if letter := byte(b); strings.IndexByte(letters+"y", letter) < 0 {
			for _, access := range []byte("rwacx") {
				p.request(string([]byte{letter, access}), string([]byte{letter, 'e'}))
			}
		}
	}
}

// The largest request, 512 bytes, is answered whole; one byte more is skipped
// (1.5).
func TestLargestRequest(t *testing.T) {
	_, p := connect(t)
	p.request(strings.Repeat("srqr", 128), strings.Repeat("srqe", 128))
	p.send(request(strings.Repeat("s", 513)), request("pr"))
	p.expectReplies("pr")
}

func TestClose(t *testing.T) {
	r, p := open(t, "lrpasr")
	p.send(r.command('p', 1))
	r.take()
	p.Close(r.now)
	r.expect(t, "command p 00000000", "shutdown laser", "shutdown base")
	if p.Err() == nil || p.IsMover() || !r.table.Done() {
		t.Errorf("after Close: error %v, drives %v, hardware off %v", p.Err(), p.IsMover(), r.table.Done())
	}
	p.send(request("pa"))
	p.expectReplies()
	r.expect(t)
	// The first reason is kept.
	p = newPeer(t, r)
	p.request("", "")
	p.send(make([]byte, 4*maxMalformed))
	p.Close(r.now)
	if !errors.Is(p.Err(), ErrMalformed) {
		t.Errorf("reason %v", p.Err())
	}
}

// Shutdown of the server while a client is connected.
func TestTableIsShutDown(t *testing.T) {
	r, p := open(t, "pa")
	r.table.Shutdown(r.now)
	r.take()
	p.send(r.command('p', 1), message('x', 'p', 'R'))
	p.request("lrpc", "lepc")
	p.request("pr", "pe")
	p.Close(r.now)
	r.expect(t)
}

// 1.5: complaints are logged at most once a second, with a count.
func TestComplaints(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	r := newRobot(t)
	p := newLoggedPeer(t, r, zap.New(core))
	for range 30 {
		p.send(r.command('p', 1)) // without access
		r.now += 100 * ms
	}
	lines := logs.TakeAll()
	if len(lines) != 3 {
		t.Fatalf("%d messages in 3 s", len(lines))
	}
	for i, line := range lines {
		repeats := line.ContextMap()["suppressed"]
		if i == 0 && repeats != nil || i > 0 && repeats != int64(9) {
			t.Errorf("message %d reports %v repeats", i, repeats)
		}
	}
}

// Everything dropped or ignored is logged; correct input is not.
func TestWhatIsLogged(t *testing.T) {
	for _, tt := range []struct {
		name string
		send []byte
		want string
	}{
		{"malformed", []byte("?!\x00\x00"), "malformed message skipped"},
		{"second byte of a request (1.5)", []byte("ds\x00\x00"), "malformed message skipped"},
		{"too large", message('c', 'p', make([]byte, codec.MaxPayload+1)...), "malformed message skipped"},
		{"unknown device", request("qr"), "no such device"},
		{"close of what is not open", request("lc"), "cannot close a device that is not open, or unknown access"},
		{"unknown access", request("lx"), "cannot close a device that is not open, or unknown access"},
		{"no write access", message('c', 's', 1), "command without write access dropped"},
		{"command to the server", message('c', 'y', 1), "command without write access dropped"},
		{"command to nothing", message('c', 'q', 1), "command without write access dropped"},
		{"command to a sensor", message('c', 'm', 1), "command to a device that takes none dropped"},
		{"size of a command", message('c', 'p', 1, 2, 3), "command of wrong size dropped"},
		{"configuration of nothing", message('x', 'q', 1), "configuration of a device that does not exist dropped"},
		{"configuration of what is closed (6.6)", message('x', 'l', 'R'), "configuration dropped"},
		{"configuration without access (6.5)", message('x', 's', 'R'), "device configured without write access"},
		{"configuration by a reader (6.5)", message('x', 'g', 'R'), "device configured without write access"},
		{"size of a configuration", config('f', 1), "configuration of the server dropped"},
		{"unknown configuration", config('Z'), "configuration of the server dropped"},
		{"empty configuration", config(), "configuration of the server dropped"},
		{"rate 0 (4.1)", rate(0), "a rate of 0 Hz is refused"},
		{"rate above the maximum (4.1)", rate(maxRate + 1), "rate is above the maximum"},
		{"data in continuous mode (4.5)", config('d'), "data asked for in continuous mode, ignored"},
		{"a request", request("prsrmapa"), "client has devices open"},
		{"a request that changes nothing", request("pagr"), ""},
		{"a request that closes all", request("pcmcgc"), "client has no device open"},
		{"an empty request", request(""), ""},
		{"a command", message('c', 'p', 1, 2, 3, 4), ""},
		{"a configuration", message('x', 'p', 'R'), ""},
		{"the highest rate", rate(maxRate), ""},
		{"a mode", config('r', 1), ""},
	} {
		core, logs := observer.New(zap.DebugLevel)
		r := newRobot(t)
		p := newLoggedPeer(t, r, zap.New(core))
		p.request("pamagr", "pamagr")
		p.send(message('c', 'p', 0, 0, 0, 0)) // which takes control
		logs.TakeAll()
		p.send(tt.send)
		got := ""
		for _, line := range logs.TakeAll() {
			got += line.Message
		}
		if got != tt.want {
			t.Errorf("%s: logged %q, want %q", tt.name, got, tt.want)
		}
	}
}

// New clamps the default rate to the highest one.
func TestDefaultRate(t *testing.T) {
	r := newRobot(t)
	for _, tt := range []struct {
		highest int
		want    time.Duration
	}{{1000, 100 * ms}, {10, 100 * ms}, {5, 200 * ms}} {
		p := &peer{t: t, robot: r, log: zap.NewNop()}
		p.Session = New(p, r.table, tt.highest)
		if p.Period() != 0 {
			t.Errorf("period %v with nothing open", p.Period())
		}
		p.request("sr", "sr")
		if p.Period() != tt.want {
			t.Errorf("period %v at a highest rate of %d Hz, want %v", p.Period(), tt.highest, tt.want)
		}
	}
}

// A request that is refused opens nothing, and the log has no line about open devices.
func TestRefusalOpensNothing(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	r := newRobot(t)
	r.of('l').mood = slowBroken
	p := newLoggedPeer(t, r, zap.New(core))
	p.send(request("lr"))
	r.of('l').end(r.now)
	p.expectReplies("le")
	if lines := logs.FilterMessageSnippet("open").All(); len(lines) != 0 {
		t.Errorf("logged %v", lines)
	}
}
