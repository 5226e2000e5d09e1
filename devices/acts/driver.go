package acts

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/timers/limited"
)

const (
	// setupLimit is how long a client waits for ACTS, as with the original server: when the
	// driver starts ACTS, it first opens camera and window.
	setupLimit = 6 * time.Second
	// requestPeriod is the shortest time between two requests: just less than one of the
	// at most 30 images a second of ACTS. It never slows a real ACTS down, and keeps a
	// server that answers at once from spinning the loop.
	requestPeriod = 33 * time.Millisecond
	// settleTime is the pause after which an answer of unknown version counts as
	// complete. It matters only until ACTS first sees something, and limits images to 12
	// a second. A shorter one would take the beginning of a packet of V12 for one of
	// V10.
	settleTime = 50 * time.Millisecond
	// silenceLimit is the time without a good answer after which the connection counts
	// as lost.
	silenceLimit = 2 * time.Second
	// killDelay is the time from SIGTERM to SIGKILL for a program that we have started.
	// It leaves the rest of the 1.5 s that a link has to stop.
	killDelay = time.Second
)

var errSilent = errors.New("it is connected, but does not answer a request: is it ACTS?")

// state is the event that the driver waits for.
type state uint8

const (
	off      state = iota
	resting        // the next search for a server
	asking         // an answer
	pausing        // the time of the next request
	stopping       // the end of the program that we have started
)

// Driver is Player's vision device, a client of ACTS on this computer. Blobs are published
// in the format of ACTS 1.0 (PROTOCOL 7.7), whatever the version of ACTS. If nothing
// listens, the driver starts the program acts, and ends it at Shutdown.
type Driver struct {
	port       int
	configFile string
	addresses  []string // where ACTS may listen, the likely one first

	link   *devices.Link
	vision *devices.Device
	state  state
	due    time.Duration // deadline of the state

	conn   devices.Port // nil: not connected
	found  bool         // conn has answered
	parser Parser
	blobs  codec.VisionData // of the newest packet
	image  []byte           // a V10 packet made of them
	one    [1]byte          // a Request to be sent
	asked  time.Duration
	search

	noise    limited.Line
	reported uint64 // damaged bytes that were logged
}

// New returns a driver for the ACTS that listens on port of this computer, or
// on that port with its bytes swapped (see Port). configFile is passed to acts if it
// has to be started.
func New(port int, configFile string) *Driver {
	d := &Driver{port: port, configFile: configFile}
	for _, p := range []int{port, port>>8 | port&0xFF<<8} {
		if address := net.JoinHostPort("127.0.0.1", strconv.Itoa(p)); len(d.addresses) == 0 || d.addresses[0] != address {
			d.addresses = append(d.addresses, address)
		}
	}
	return d
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "acts", Doc: "ACTS colour vision program", Provides: []devices.Spec{devices.Vision()}, SetupLimit: setupLimit,
		Options: []devices.Option{
			{Name: "port", Default: Port, Min: 1, Max: 65535, Doc: "TCP port of ACTS"},
			{Name: "configfile", Default: "/usr/local/acts/actsconfig", Doc: "configuration file of ACTS"},
		},
		New: func(a devices.Args) (devices.Driver, error) { return New(a.Int("port"), a.String("configfile")), nil },
	}
}

// Setup implements devices.Driver. It ends with the first image.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.vision = link, link.Device(codec.Vision)
	d.search = search{giveUp: now + setupLimit, troubles: make([]string, len(d.addresses))}
	d.seek(now)
}

func (d *Driver) Shutdown(now time.Duration) {
	d.giveUp = 0
	d.wait(off, 0)
	if d.program == nil { // ACTS that another program started is ended by that program
		d.disconnect()
		d.stopped(now)
		return
	}
	if d.conn != nil {
		d.one[0] = Quit
		d.conn.Write(d.one[:])
	}
	d.disconnect()
	d.program.Signal(syscall.SIGTERM)
	d.wait(stopping, now+killDelay)
}

func (d *Driver) stopped(now time.Duration) {
	d.wait(off, 0)
	d.link.Stopped(now)
}

func (d *Driver) Tick(now time.Duration) time.Duration {
	switch {
	case d.giveUp != 0 && now >= d.giveUp:
		d.fail(now, fmt.Errorf("gave up after %v: %s", setupLimit, strings.Join(d.troubles, "; ")))
	case d.state == resting:
		d.seek(now)
	case d.state == asking:
		d.late(now)
	case d.state == pausing:
		d.ask(now)
	case d.state == stopping:
		d.program.Signal(syscall.SIGKILL)
		d.wait(stopping, 0)
	}
	return d.due
}

// wait enters a state until due, zero for no limit.
func (d *Driver) wait(s state, due time.Duration) {
	if d.giveUp != 0 && due != 0 {
		due = min(due, d.giveUp)
	}
	d.state, d.due = s, due
	d.link.WakeAt(due)
}

// ask requests the next image.
func (d *Driver) ask(now time.Duration) {
	d.parser.Reset()
	d.complain(now)
	d.asked = now
	d.wait(asking, now+silenceLimit)
	d.one[0] = Request
	d.conn.Write(d.one[:]) // last: it may hang up
}

// late handles an answer that has paused or is missing.
func (d *Driver) late(now time.Duration) {
	if packet := d.parser.Settle(); packet != nil {
		d.publish(now, packet)
		d.answered(now)
		return
	}
	if end := d.asked + silenceLimit; now < end {
		d.wait(asking, end)
		return
	}
	d.disconnect()
	d.lost(now, fmt.Errorf("%s: %w", d.address(), errSilent))
}

func (d *Driver) Receive(now time.Duration, p []byte) {
	before := d.parser.Stats.Packets
	for packet, in := d.parser.Next(p); packet != nil; packet, in = d.parser.Next(in) {
		d.publish(now, packet)
	}
	d.complain(now)
	switch {
	case d.parser.Stats.Packets != before:
		d.answered(now)
	case d.state == asking && d.parser.Detect:
		d.wait(asking, min(now+settleTime, d.asked+silenceLimit))
	}
}

// publish publishes an image in version 1.0 as clients know it: coordinates beyond 254 are clipped, and so is an index
// that does not fit, for which a server may send anything.
func (d *Driver) publish(now time.Duration, packet Packet) {
	version := d.parser.Version
	if d.parser.Detect {
		version = V10
	}
	version.Decode(&d.blobs, packet)
	d.image = d.blobs.Append(d.image[:0])
	d.vision.Publish(now, d.image)
}

// answered requests the next image, at once if the last request was long enough ago.
func (d *Driver) answered(now time.Duration) {
	first := !d.found
	d.found = true
	switch next := d.asked + requestPeriod; {
	case d.state != asking: // an image without a request
	case next > now:
		d.wait(pausing, next)
	default:
		d.ask(now)
	}
	if first {
		d.arrived(now)
	}
}

func (d *Driver) Hangup(now time.Duration, err error) {
	d.conn = nil
	if d.state != off {
		d.lost(now, fmt.Errorf("%s: %w", d.address(), err))
	}
}

// disconnect closes the connection, if there is one.
func (d *Driver) disconnect() {
	if d.conn != nil {
		d.conn.Close()
		d.conn = nil
	}
}

// complain logs damage in the packets of ACTS, once a second.
func (d *Driver) complain(now time.Duration) {
	damage := d.parser.Stats.Garbage
	if damage == d.reported {
		return
	}
	if d.noise.Warn(now, d.link.Log(), "damaged bytes from ACTS", zap.String("address", d.address()), zap.Uint64("bytes", damage-d.reported)) {
		d.reported = damage
	}
}
