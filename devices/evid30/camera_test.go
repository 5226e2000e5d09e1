package evid30

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/devicetest"
	"player/devices/transport/transporttest"
)

const ms = time.Millisecond

// camera is the test's camera at the far end of the line. It answers after latency and runs
// a command for run.
type camera struct {
	world   *transporttest.World
	t       testing.TB
	latency time.Duration
	run     time.Duration

	version         string // its answer to the inquiry
	pan, tilt, zoom int    // camera units
	sockets         [2]*job

	// replay answers in place of the camera, if there is one.
	replay func(request string) []string
	// replace may have other answers reach the driver: nil is no replacement,
	// an empty answer is none.
	replace func(request string) []string
	// deaf reports whether a request gets lost on the way to the camera.
	deaf func(request string) bool

	heard []string        // requests, in order
	times []time.Duration // when
	most  int             // sockets busy at a time

	newest map[string]*job // by kind: it has the motor
}

// job is a command that runs.
type job struct{ kind string }

const (
	commandTurn = "81 01 06 02"
	commandZoom = "81 01 04 47"
)

func (c *camera) hear(p *transporttest.Port, b []byte) {
	if len(b) == 0 {
		return
	}
	request := fmt.Sprintf("% X", b)
	c.heard = append(c.heard, request)
	c.times = append(c.times, c.world.Now())
	if c.deaf != nil && c.deaf(request) {
		return
	}
	if c.replay != nil {
		for _, answer := range c.replay(request) {
			c.say(p, c.latency, answer)
		}
		return
	}
	answers := c.answer(p, request)
	if c.replace != nil {
		if other := c.replace(request); other != nil {
			answers = other
		}
	}
	for _, answer := range answers {
		if answer != "" {
			c.say(p, c.latency, answer)
		}
	}
}

// say sends a packet later.
func (c *camera) say(p *transporttest.Port, after time.Duration, packet string) {
	b := devicetest.Hex(c.t, packet)
	c.world.After(after, func() { p.Say(b) })
}

func (c *camera) answer(p *transporttest.Port, request string) []string {
	nibbles := func(v int) string {
		return fmt.Sprintf("%02X %02X %02X %02X", v>>12&15, v>>8&15, v>>4&15, v&15)
	}
	switch {
	case request == "88 30 01 FF":
		return []string{"88 30 02 FF"}
	case request == "81 01 00 01 FF":
		c.sockets = [2]*job{}
		return []string{"90 50 FF"}
	case request == "81 09 00 02 FF":
		return []string{c.version}
	case request == "81 09 06 12 FF":
		return []string{"90 50 " + nibbles(c.pan) + nibbles(c.tilt) + " FF"}
	case request == "81 09 04 47 FF":
		return []string{"90 50 " + nibbles(c.zoom) + " FF"}
	case strings.HasPrefix(request, "81 2"):
		socket := int(request[4] - '0')
		if c.sockets[socket-1] == nil {
			return []string{fmt.Sprintf("90 6%d 05 FF", socket)}
		}
		c.sockets[socket-1] = nil
		return []string{fmt.Sprintf("90 6%d 04 FF", socket)}
	case strings.HasPrefix(request, commandTurn), strings.HasPrefix(request, commandZoom):
		return []string{c.start(p, request)}
	}
	return []string{"90 60 02 FF"}
}

func (c *camera) start(p *transporttest.Port, request string) string {
	socket := slices.Index(c.sockets[:], nil)
	if socket < 0 {
		return "90 60 03 FF"
	}
	j := &job{request[:len(commandTurn)]}
	c.sockets[socket], c.newest[j.kind] = j, j
	busy := 1
	if c.sockets[1-socket] != nil {
		busy = 2
	}
	c.most = max(c.most, busy)
	c.world.After(c.latency+c.run, func() {
		if c.sockets[socket] != j {
			return // cancelled
		}
		c.sockets[socket] = nil
		c.say(p, 0, fmt.Sprintf("90 5%d FF", socket+1))
		if c.newest[j.kind] != j {
			return
		}
		b := devicetest.Hex(c.t, request)
		word := func(at int) int {
			v, _ := decodeNibbles(b[at:])
			return int(int16(v))
		}
		if j.kind == commandZoom {
			c.zoom = word(4)
		} else {
			c.pan, c.tilt = word(6), word(10)
		}
	})
	return fmt.Sprintf("90 4%d FF", socket+1)
}

// commands are the received requests that are not inquiries.
func (c *camera) commands() (all []string) {
	for _, r := range c.heard {
		if !strings.HasPrefix(r, "81 09") {
			all = append(all, r)
		}
	}
	return all
}

// stage is a camera with its driver, a client of it, and the log.
type stage struct {
	*camera
	*transporttest.Bench
	driver *Driver
	device *devices.Device
	block  []byte
	reads  time.Duration // the period of a client that reads; zero: it has left
}

func newStage(t testing.TB) *stage {
	driver := New("/dev/ttyS2", Ranges{})
	b := transporttest.NewBench(t, Kind().Instance(driver))
	s := &stage{Bench: b, driver: driver, device: b.Client, reads: ms, camera: &camera{world: b.World, t: t,
		latency: 17 * ms, run: 500 * ms, newest: map[string]*job{}, version: "90 50 00 20 04 02 00 01 02 FF"}}
	b.Heard = s.hear
	s.read()
	return s
}

// read is a client that reads the device every s.reads; zero: no more.
func (s *stage) read() {
	if s.reads > 0 {
		s.block = s.device.AppendBlock(s.block[:0])
		s.After(s.reads, s.read)
	}
}

// start returns a stage with an open device.
func start(t testing.TB) *stage {
	t.Helper()
	s := newStage(t)
	s.start()
	return s
}

// start opens the device and forgets how.
func (s *stage) start() {
	s.T.Helper()
	s.Subscribe()
	if !s.Until(func() bool { return s.device.HasData() }, setupLimit) || len(s.Done) != 1 || s.Done[0] != nil {
		s.T.Fatalf("setup %v after %q", s.Done, s.heard)
	}
	s.forget()
}

func (s *stage) forget() {
	s.heard, s.times = nil, nil
	s.Log.TakeAll()
}

func (s *stage) command(pan, tilt, zoom int16) {
	c := codec.PTZCommand{Pan: pan, Tilt: tilt, Zoom: zoom}
	s.device.SetCommand(s.Now(), c.Append(nil))
}

// data is the clients' data.
func (s *stage) data() codec.PTZData { return transporttest.Data[codec.PTZData](s.T, s.device) }

// reaches fails the test unless the camera gets there.
func (s *stage) reaches(pan, tilt, zoom int16, limit time.Duration) {
	s.T.Helper()
	want := codec.PTZData{Pan: pan, Tilt: tilt, Zoom: zoom}
	if !s.Until(func() bool { return s.data() == want }, limit) {
		s.T.Fatalf("camera is at %+v after %v, want %+v; heard %q", s.data(), limit, want, s.commands())
	}
}

func (s *stage) logged() (lines []string) {
	for _, e := range s.Log.All() {
		lines = append(lines, fmt.Sprintln(e.Message, e.ContextMap()))
	}
	return lines
}
