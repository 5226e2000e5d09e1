package session

import (
	"slices"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
)

// Mode changes and requests for data in one burst with the device request, as
// the Tcl client and other hasty clients send them.
func TestConfigurationInABurst(t *testing.T) {
	_, p := connect(t)
	p.send(slices.Concat(config('r', 1), request("srpr"), config('d'), config('d')))
	p.expectReplies("srpr")
	p.expectFrame("s32 p21")
	p.expectFrame("s32 p21")
	p.expectFrame("")
}

// 6.4 to 6.6: configurations need no access, reach the device's driver in
// order, and have no effect while the device is not open.
func TestDeviceConfiguration(t *testing.T) {
	r := newRobot(t)
	p, other := newPeer(t, r), newPeer(t, r)
	p.send(message('x', 'p', 'm', 1), message('x', 'q', 'm', 1), message('x', 0, 'm', 1), message('x', 0xFF))
	other.request("sr", "sr")
	r.expect(t, "setup base") // the configuration was not kept
	p.send(slices.Concat(message('x', 'p', 'm', 1), message('x', 'p', 'R'), message('x', 's', 'v', 0), message('x', 'm', 'Z'), message('x', 'g')))
	r.expect(t, `configure p "m\x01"`, `configure p "R"`, `configure s "v\x00"`, `configure m "Z"`, `configure g ""`)
	p.send(message('x', 'l', 'R'))
	r.expect(t)
	other.request("sc", "sc")
	p.send(message('x', 'p', 'm', 1))
	p.request("pr", "pr")
	r.expect(t, "shutdown base", "setup base")
	p.expectReplies()
}

// The owner watches the connection from the client's first command that moves something. If the client
// has ended its connection by then, that command is dropped, even if it has waited for a setup.
func TestWhoDrivesIsWatched(t *testing.T) {
	r, p := open(t, "pagw")
	p.send(halt, r.command('g', 1))
	if p.watched != 0 {
		t.Error("it is watched, and moves nothing")
	}
	p.send(r.command('p', 1), r.command('p', 2))
	if p.watched != 1 {
		t.Errorf("it drives and is watched %d times", p.watched)
	}
	for _, setup := range []mood{fine, slow} {
		r, p := connectTo(t, 'p', setup)
		p.gone = true
		p.send(request("pa"), r.command('p', 1), request("ga"))
		if setup == slow {
			r.of('p').end(r.now)
		}
		p.expectReplies("pa", "ga")
		r.expect(t, "setup base")
	}
}

// Of commands that come together only the last one moves the robot (5.3): their own client has
// overwritten the others, and it may have ended its connection since.
func TestCommandsThatComeTogether(t *testing.T) {
	first, second := []byte{1, 2, 3, 4}, []byte{5, 6, 7, 8}
	ahead, left := message('c', 'p', first...), message('c', 'p', second...)
	for _, tt := range []struct {
		name string
		in   [][]byte
		want []string
	}{
		{"two", [][]byte{ahead, left}, []string{"command p 05060708"}},
		{"three, a stop at last", [][]byte{ahead, left, halt}, []string{"command p 00000000"}},
		{"a stop first", [][]byte{halt, ahead}, []string{"command p 00000000", "command p 01020304"}},
		{"something between", [][]byte{ahead, message('x', 'p', 'R'), left}, []string{"command p 01020304", `configure p "R"`, "command p 05060708"}},
		{"the second one is cut", [][]byte{ahead, left[:7]}, []string{"command p 01020304"}},
		{"the second one is wrong", [][]byte{ahead, message('c', 'p', 1)}, []string{"command p 01020304"}},
		{"another device", [][]byte{ahead, message('c', 'g', 1, 2)}, []string{"command p 01020304", "command g 0102"}},
		{"one that does not drive away", [][]byte{message('c', 'g', 1, 2), message('c', 'g', 3, 4)}, []string{"command g 0102", "command g 0304"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, p := open(t, "pagw")
			p.send(slices.Concat(tt.in...))
			r.expect(t, tt.want...)
		})
	}
}

// A device that a reload has replaced while it was closed keeps its place in the
// frames (2.8).
func TestReplacedDeviceKeepsItsPlace(t *testing.T) {
	r, next := newRobot(t), newRobot(t)
	p := newPeer(t, r)
	p.request("prlr", "prlr")
	p.request("pclc", "pclc")
	r.table.SetLinks(next.table.Links())
	p.request("lrpr", "lrpr")
	p.expectFrame("p21 l722")
	next.expect(t, "setup laser", "setup base")
	p.Close(r.now)
}

// 8.7: a device is refused to a server for which its driver waits.
func TestRingIsRefused(t *testing.T) {
	r := newRobot(t)
	core, log := observer.New(zap.WarnLevel)
	p := newLoggedPeer(t, r, zap.New(core))
	p.send(config([]byte("p12345678" + r.table.Device(codec.Position).Link().Path())...))
	p.request("prlr", "pelr")
	if log.FilterMessage(LogAccessRefused).Len() != 1 {
		t.Errorf("%v", log.All())
	}
}
