// Package sony emulates a Sony EVI-D30 pan-tilt-zoom camera or a later one of the family,
// without the picture, on a fake serial line.
//
// It follows the VISCA command list and recordings of hosts; anything from
// neither is marked "assumed".
package sony

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	"player/simulation/emulator/line"
)

// Options of a camera.
type Options struct {
	Line line.Options // Baud (9600)
	Off  bool         // the power is off: it understands only power, address and version commands

	Model   string // ("EVI-D30") or EVI-D70, EVI-D80, EVI-D100
	Unnamed bool   // it does not answer the version inquiry
}

// sockets is the number of commands that the camera executes at a time.
const sockets = 2

// A Camera is at the end of a cable, at address 1. Its methods may
// be called by any goroutine.
type Camera struct {
	line.End
	send    func(packet []byte, note string)
	model   *model
	unnamed bool

	pan, tilt, zoom axis
	at              time.Duration
	off             bool
	jobs            [sockets][]*axis // the axes that the command in a socket waits for; nil: the socket is free
	counts          map[string]int
}

// Start plugs a camera in.
func Start(opts Options) (*Camera, error) {
	opts.Line.Baud, opts.Model = cmp.Or(opts.Line.Baud, 9600), cmp.Or(opts.Model, "EVI-D30")
	if models[opts.Model] == nil {
		return nil, fmt.Errorf("sony %s: no model %q: EVI-D30, EVI-D70, EVI-D80 and EVI-D100 are known", opts.Line.Link, opts.Model)
	}
	c := newCamera(opts)
	c.send = func(packet []byte, note string) { c.Send(packet, note) }
	return c, c.Attach(opts.Line, c)
}

func newCamera(opts Options) *Camera {
	return &Camera{model: models[cmp.Or(opts.Model, "EVI-D30")], unnamed: opts.Unnamed, off: opts.Off, counts: map[string]int{}}
}

// Receive handles one packet from the host. Packets for other addresses are
// ignored.
func (c *Camera) Receive(now time.Duration, packet []byte) {
	if packet[0] != 0x81 && packet[0] != 0x88 {
		return
	}
	c.advance(now)
	cmd, args := find(packet)
	c.counts[cmd.name]++
	switch {
	case packet[0] == 0x88 && cmd.direct == nil:
		// an unknown broadcast is not answered
	case c.unnamed && cmd.name == "version inquiry":
	case cmd.pattern == "":
		c.answer(replyFail, "syntax error", ErrSyntax)
	case c.off && !cmd.always:
		c.answer(replyFail, "not executable: no power", ErrNotExecutable)
	case cmd.direct != nil:
		cmd.direct(c, args)
	case cmd.inquiry != nil:
		c.answer(replyDone, cmd.name, cmd.inquiry(c)...)
	default:
		c.execute(cmd, args)
	}
	c.finish()
}

// execute starts a command in a free socket.
func (c *Camera) execute(cmd command, args []int) {
	socket := 0
	for socket < sockets && c.jobs[socket] != nil {
		socket++
	}
	if socket == sockets {
		c.answer(replyFail, "buffer full", ErrBufferFull)
		return
	}
	uses, err := cmd.start(c, args)
	switch err {
	case 0:
		c.jobs[socket] = append([]*axis{}, uses...) // not nil: the socket is taken
		c.answer(replyAck|byte(socket+1), "ACK "+cmd.name)
	case ErrSyntax:
		c.answer(replyFail, "syntax error", err)
	default:
		c.answer(replyFail|byte(socket+1), "not executable: out of range", err)
	}
}

// Advance moves the camera and completes commands that have arrived.
func (c *Camera) Advance(now time.Duration) time.Duration {
	c.advance(now)
	c.finish()
	var wait time.Duration
	for _, a := range []*axis{&c.pan, &c.tilt, &c.zoom} {
		if r := a.rest(); r != 0 && (wait == 0 || r < wait) {
			wait = r
		}
	}
	if wait == 0 {
		return 0
	}
	return now + wait
}

func (c *Camera) advance(now time.Duration) {
	for _, a := range []*axis{&c.pan, &c.tilt, &c.zoom} {
		a.advance(now - c.at)
	}
	c.at = now
}

// finish completes each command when its axes have stopped. If a later command has taken an
// axis over, the earlier one ends with it (assumed).
func (c *Camera) finish() {
	for i, axes := range c.jobs {
		busy := axes == nil
		for _, a := range axes {
			busy = busy || a.moving()
		}
		if !busy {
			c.jobs[i] = nil
			c.answer(replyDone|byte(i+1), "completion")
		}
	}
}

// cancel stops the command in a socket. It is never completed.
func (c *Camera) cancel(socket int) {
	if socket < 1 || socket > sockets || c.jobs[socket-1] == nil {
		c.answer(replyFail|byte(socket), "no such socket", ErrNoSocket)
		return
	}
	for _, a := range c.jobs[socket-1] {
		a.stop()
	}
	c.jobs[socket-1] = nil
	c.answer(replyFail|byte(socket), "cancelled", ErrCanceled)
}

// clear discards all commands and stops.
func (c *Camera) clear() {
	c.jobs = [sockets][]*axis{}
	c.halt()
}

func (c *Camera) halt() {
	c.pan.stop()
	c.tilt.stop()
	c.zoom.stop()
}

// answer sends 90 kind data FF.
func (c *Camera) answer(kind byte, note string, data ...byte) {
	c.send(append(append([]byte{fromCamera, kind}, data...), end), note)
}

// PowerCycle disconnects the camera's power for a moment: it discards its
// commands, keeps its position, is on, and announces itself with a network
// change (90 38 FF).
func (c *Camera) PowerCycle() {
	c.Change(func() {
		c.clear()
		c.off = false
		c.send([]byte{fromCamera, 0x38, end}, "network change")
	})
}

// A State is a copy of the camera's state.
type State struct {
	Pan, Tilt, Zoom int // camera units; of the D30: 8.8 per degree clockwise, 12 per degree up, 0 wide to 1023 tele
	Moving          bool
	Power           bool
	Sockets         [sockets]bool // occupied by a command
	Counts          map[string]int
}

// State returns the camera's state; the position dates from the last packet or arrival.
// Counts are the numbers of packets from the host: address set, clear, cancel, version
// inquiry, power inquiry, position inquiry, zoom inquiry, power, move, zoom, drive, unknown.
func (c *Camera) State() (s State) {
	c.Locked(func() {
		s = State{
			Pan: c.pan.units(), Tilt: c.tilt.units(), Zoom: c.zoom.units(),
			Moving: c.pan.moving() || c.tilt.moving() || c.zoom.moving(), Power: !c.off,
			Sockets: [sockets]bool{c.jobs[0] != nil, c.jobs[1] != nil}, Counts: maps.Clone(c.counts),
		}
	})
	return s
}
