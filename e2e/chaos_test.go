package e2e

import (
	"context"
	be "encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"player/codec"
	"player/devices/retry"
	"player/e2e/must"
	"player/e2e/ports"
	emulatedacts "player/simulation/emulator/acts"
	"player/simulation/emulator/arduino"
	"player/simulation/emulator/create"
	"player/simulation/emulator/gps"
	"player/simulation/emulator/kobuki"
	"player/simulation/emulator/ldlidar"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
	"player/simulation/emulator/rplidar"
	laser "player/simulation/emulator/sick"
	"player/simulation/emulator/sickcola"
	"player/simulation/emulator/sony"
	"player/simulation/emulator/urg"
	"player/simulation/emulator/ydlidar"
)

var chaosFor = flag.Duration("chaos", 0, "how long TestChaos disturbs all lines at once; 0: not at all")

const (
	// chaosNoise is the probability of each fault in a packet: a line of ten packets a second is hit every few seconds.
	chaosNoise = 0.005
	// longLoss is how long a line must be lost that the server has to report: longer than hardware may be silent (2 s),
	// and than the server itself is paused.
	longLoss = 6 * time.Second
	// longPause bounds a pause of the server.
	longPause = 2 * time.Second
	// healing is how long a loss may last after its end: a try each five seconds, setups of up to ten, and a busy machine.
	healing = 2 * time.Minute
	// settling is how many frames the server sends, one each 100 ms, until a command has reached the wheels: drivers keep it
	// back for 20 ms at most behind an earlier one. Frames count the server's own time, in which it is not paused.
	settling = 10
	// firstByte is the byte of a robot's first device without a letter (PROTOCOL 2.11).
	firstByte = 128
	// present is the age of data of hardware that is there. Cameras send only when they are asked to.
	present = 1500 * time.Millisecond
)

// A chaotic is hardware on a line that is disturbed, with a client of its own.
type chaotic struct {
	cable interface {
		Unplug()
		Plug() error
		Silence()
		Speak()
		Transcript() string
	}
	name, block string // of the driver; the block's other options
	letter      byte
	wheels      func() (left, right float64) // mm/s; nil: it has none

	conn    net.Conn
	fresh   atomic.Int64 // time of the last frame with new data, in ns
	replies atomic.Int64 // to requests
	frames  atomic.Int64 // since the last reply
	losses  atomic.Int64
	drives  atomic.Int64
	taken   atomic.Bool // the line is, or the server may not have found the hardware again
}

// TestChaos disturbs the lines of all emulated hardware at once: noise all the time, adapters that are unplugged, hardware
// that falls silent, and the whole server paused. Each client is served all the time, each loss is reported and healed,
// and wheels that have been stopped stay so until the next command.
func TestChaos(t *testing.T) {
	if *chaosFor == 0 {
		t.Skip("-chaos says for how long")
	}
	all, s := startChaos(t)
	ctx, end := context.WithTimeout(t.Context(), *chaosFor)
	defer end()
	reading, stop := context.WithCancel(t.Context())
	defer stop()
	var readers, disturbers, drivers sync.WaitGroup
	for _, c := range all {
		readers.Go(func() { c.read(t, reading) })
	}
	for _, c := range all {
		c.healed(t, s)
		disturbers.Go(func() { c.disturb(t, s, ctx) })
		if c.wheels != nil {
			drivers.Go(func() { c.drive(t, s, ctx) })
		}
	}
	for ctx.Err() == nil {
		pause(ctx, 10*time.Second+rand.N(20*time.Second))
		resume := s.Pause(t)
		pause(ctx, rand.N(longPause))
		resume()
	}
	disturbers.Wait()
	drivers.Wait()
	for _, c := range all {
		c.healed(t, s)
		t.Logf("%s: %d losses, %d reports; %d drives", c.name, c.losses.Load(), c.reports(s, retry.LogUnavailable), c.drives.Load())
		if c.losses.Load() == 0 || c.wheels != nil && c.drives.Load() == 0 {
			t.Errorf("%s has not taken part", c.name)
		}
	}
	stop()
	for _, c := range all {
		c.conn.Close()
	}
	readers.Wait()
}

// startChaos starts all emulated hardware, and a server that has each as a robot of its own.
func startChaos(t *testing.T) ([]*chaotic, *server) {
	t.Helper()
	dir, first := t.TempDir(), 0
	o := func(name string) line.Options {
		return line.Options{Link: dir + "/" + name, Noise: line.Noise{Seed: rand.Uint64(), Flip: chaosNoise, Swallow: chaosNoise, Garbage: chaosNoise, Truncate: chaosNoise}}
	}
	pioneer := emulate(t, robot.Start, robot.Options{Line: o("p2os"), MotorsOn: true})
	vacuum := emulate(t, create.Start, create.Options{Line: o("create")})
	turtle := emulate(t, kobuki.Start, kobuki.Options{Line: o("kobuki")})
	board := emulate(t, arduino.Start, arduino.Options{Line: o("lines"), Boot: 500 * time.Millisecond})
	sick := emulate(t, sickcola.Start, sickcola.Options{})
	tracker := emulate(t, emulatedacts.Start, emulatedacts.Options{})
	all := []*chaotic{
		{cable: pioneer, name: "p2os", letter: codec.Position, wheels: func() (l, r float64) { s := pioneer.State(); return s.Left, s.Right }},
		{cable: vacuum, name: "create", letter: codec.Position, wheels: func() (l, r float64) { s := vacuum.State(); return float64(s.Left), float64(s.Right) }},
		{cable: turtle, name: "kobuki", letter: codec.Position, wheels: func() (l, r float64) { s := turtle.State(); return s.Left, s.Right }},
		{cable: board, name: "lines", letter: codec.Position, wheels: func() (l, r float64) { s := board.State(); return float64(s.Left), float64(s.Right) },
			block: `boot 500 wheelbase 150 maxspeed 400 repeat 200 read ["O {left*0.45} {right*0.45}" "S {_}" "K {_}" "B {battery/1000}"]
			drive "V {left} {right}" motors ["E 1" "E 0"]`},
		{cable: emulate(t, laser.Start, laser.Options{Line: o("sicklms200")}), name: "sicklms200", letter: codec.Laser},
		{cable: emulate(t, rplidar.Start, rplidar.Options{Line: o("rplidar")}), name: "rplidar", letter: codec.Laser},
		{cable: emulate(t, ldlidar.Start, ldlidar.Options{Line: o("ldlidar")}), name: "ldlidar", letter: codec.Laser},
		{cable: emulate(t, ydlidar.Start, ydlidar.Options{Line: o("ydlidar"), Model: ydlidar.X4}), name: "ydlidar", letter: codec.Laser},
		{cable: emulate(t, urg.Start, urg.Options{Line: o("urg")}), name: "urg", letter: codec.Laser},
		{cable: emulate(t, gps.Start, gps.Options{Line: o("nmea")}), name: "nmea", letter: firstByte},
		{cable: emulate(t, sony.Start, sony.Options{Line: o("evid30")}), name: "evid30", letter: codec.PTZ},
		{cable: sick, name: "sickcola", letter: codec.Laser, block: fmt.Sprintf("port %q", sick.Address())},
		{cable: tracker, name: "acts", letter: codec.Vision, block: fmt.Sprintf("port %d", tracker.Port())},
	}
	first = ports.Free(t, len(all))
	var file strings.Builder
	devices := map[byte]string{codec.Position: "position", codec.Laser: "laser", firstByte: "gps", codec.PTZ: "ptz", codec.Vision: "vision"}
	for i, c := range all {
		if !strings.Contains(c.block, "port ") {
			c.block += fmt.Sprintf(" port %q", dir+"/"+c.name)
		}
		fmt.Fprintf(&file, "driver ( name %q provides [\"%d:%s:0\"] %s )\n", c.name, first+i, devices[c.letter], c.block)
	}
	s := launch{port: first}.start(t, write(t, dir, "chaos.cfg", file.String()))
	for i, c := range all {
		c.conn = must.Get(net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", first+i)))(t)
		p := &peer{t, c.conn}
		pairs := string([]byte{c.letter, 'r', 'y', 'r'})
		if c.wheels != nil {
			pairs = "payr"
		}
		p.mustOpen(pairs, pairs)
	}
	return all, s
}

// read reads frames until the client leaves. It notes when data was new, by device y.
func (c *chaotic) read(t *testing.T, ctx context.Context) {
	p := &peer{t, c.conn}
	for {
		letter, payload, err := p.tryBlock(patience)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			t.Errorf("%s: the client is not served: %v", c.name, err)
			return
		}
		switch letter {
		case codec.KindReply:
			c.frames.Store(0)
			c.replies.Add(1)
		case codec.Server:
			c.frames.Add(1)
			if len(payload) >= 12 && time.Duration(be.BigEndian.Uint32(payload[8:]))*time.Microsecond < present {
				c.fresh.Store(time.Now().UnixNano())
			}
		}
	}
}

// healed waits until the hardware has new data.
func (c *chaotic) healed(t *testing.T, s *server) {
	begin := time.Now().UnixNano()
	c.within(t, s, "new data", func() bool { return c.fresh.Load() >= begin })
}

// within waits until a condition holds, as long as healing may take. It may be called by any goroutine.
func (c *chaotic) within(t *testing.T, s *server, what string, ok func() bool) {
	for begin := time.Now(); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begin) > healing {
			t.Errorf("%s, waited in vain: %s\n%s", c.name, what, tail(c.lines(s), 3000))
			return
		}
	}
}

// disturb takes the line away and gives it back.
func (c *chaotic) disturb(t *testing.T, s *server, ctx context.Context) {
	for ctx.Err() == nil {
		c.healed(t, s)
		pause(ctx, rand.N(10*time.Second))
		c.healed(t, s)
		lost, back, lasts := c.reports(s, retry.LogUnavailable), c.reports(s, retry.LogBack), rand.N(longLoss)
		if rand.IntN(2) == 0 {
			lasts += longLoss
		}
		take, give, noticed := c.cable.Unplug, c.cable.Plug, true
		if rand.IntN(2) == 0 {
			take, give, noticed = c.cable.Silence, func() error { c.cable.Speak(); return nil }, lasts > longLoss
		}
		c.taken.Store(true)
		take()
		c.losses.Add(1)
		time.Sleep(lasts) // also at the end: it is a whole loss
		if err := give(); err != nil {
			t.Errorf("%s: %v", c.name, err)
			return
		}
		c.healed(t, s)
		if noticed { // the log may come later than the data
			c.within(t, s, "both ends of a loss are in the log", func() bool {
				return c.reports(s, retry.LogUnavailable) > lost && c.reports(s, retry.LogBack) > back
			})
		}
		c.taken.Store(false)
	}
}

// connection returns a number of the server's connection with the hardware, 0 if there may be none now.
func (c *chaotic) connection(s *server) int {
	log := c.lines(s)
	if c.taken.Load() || strings.LastIndex(log, retry.LogUnavailable) > strings.LastIndex(log, retry.LogBack) {
		return 0
	}
	return 1 + int(c.losses.Load()) + strings.Count(log, retry.LogUnavailable)
}

// drive drives for a while and stops, again and again. Once the wheels stand, no command is sent for a while.
func (c *chaotic) drive(t *testing.T, s *server, ctx context.Context) {
	send := func(message []byte) { _, _ = c.conn.Write(message) } // an error is one of the reader as well
	command := func(speed, turn int16) {
		send(codec.AppendMessage(nil, codec.KindCommand, codec.Position, codec.PositionCommand{Speed: speed, TurnRate: turn}.Append(nil)))
	}
	moves := func() bool { l, r := c.wheels(); return l != 0 || r != 0 }
	for ctx.Err() == nil {
		send(motors(1))
		moved := false
		for end := time.Now().Add(time.Second + rand.N(4*time.Second)); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			command(150, 10)
			moved = moved || moves()
		}
		if moved {
			c.drives.Add(1)
		}
		// The reply to a request shows that the server has read all commands before it. Wheels may stand by then although a
		// command to drive is still under way to them, and the stop behind it: hardware that has just come back.
		// While the server has its hardware the first stop suffices; a loss also stops most wheels.
		c.within(t, s, "wheels that stand", func() bool {
			before, connection := c.replies.Load(), c.connection(s)
			command(0, 0)
			send(codec.AppendRequest(nil, []byte("pa")))
			c.within(t, s, "a reply, and frames behind it", func() bool { return c.replies.Load() > before && c.frames.Load() >= settling })
			stand := !moves()
			if !stand && connection != 0 && connection == c.connection(s) {
				t.Errorf("%s: the wheels do not stop:\n%s\n%s", c.name, tail(c.cable.Transcript(), 3000), tail(c.lines(s), 1500))
			}
			return stand
		})
		for end := time.Now().Add(rand.N(10 * time.Second)); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if l, r := c.wheels(); l != 0 || r != 0 {
				time.Sleep(time.Second)
				t.Errorf("%s: the wheels move unasked, at %.0f and %.0f mm/s:\n%s\n%s", c.name, l, r, tail(c.cable.Transcript(), 3000), tail(c.lines(s), 1500))
				return
			}
		}
	}
}

// lines returns the log lines of the hardware's driver.
func (c *chaotic) lines(s *server) string {
	var own strings.Builder
	for l := range strings.Lines(s.Output.String()) {
		if strings.Contains(l, fmt.Sprintf("%q", c.name)) {
			own.WriteString(l)
		}
	}
	return own.String()
}

// reports returns how often the driver has logged a message.
func (c *chaotic) reports(s *server, message string) int { return strings.Count(c.lines(s), message) }
