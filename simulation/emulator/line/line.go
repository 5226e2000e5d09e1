// Package line is a fake serial cable: one end is a pseudo-terminal that a
// host opens like any serial port, the other end is an emulated Device.
//
// Unlike a plain pseudo-terminal, the cable behaves like a UART: it compares the speed set
// by the host with the speed of the device, it loses bytes that no host reads, and it can be
// unplugged and plugged in again under the same name. It can also misbehave on request:
// delay, paced bytes, corrupted packets, silence. All traffic is recorded.
//
// A device on the network has a TCP listener in place of the pseudo-terminal, for one host after the other.
//
// On a Virtual clock a cable has a pipe in memory in place of the pseudo-terminal, with the same
// faults, and nothing happens but in the test's calls.
//
// Linux only: it needs /dev/ptmx and termios2.
package line

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A Device is the machine at the far end of the cable. A Line calls it from one goroutine (with a
// Virtual clock the caller of Advance), with the lock of the device's End, but never with its own
// lock. The device answers with Line.Send, which any goroutine may call.
type Device interface {
	// Locked calls fn with the lock of the device's state, as Receive and Advance are called.
	Locked(fn func())
	// Frame splits the bytes received from the host: the first n bytes of buf
	// are one unit, which is a packet or junk before one. 0 means that more
	// bytes are needed; a device must not ask for an unbounded number. note
	// names the unit in the record, for example "cmd 29 STOP".
	Frame(buf []byte) (n int, note string)

	// Receive handles one unit. It must not keep it.
	Receive(now time.Duration, unit []byte)

	// Advance does the work that is due at now and returns the time of its next deadline, or
	// 0. It is called after every unit, at the deadline, and after Line.Wake.
	Advance(now time.Duration) (next time.Duration)
}

// End is the device's end of a cable. Every device embeds it; it has the lock of the device's state.
type End struct {
	*Line // nil in some tests, and for a device that is not on a serial line
	mu    sync.Mutex
}

// Attach makes the cable, and starts the device that embeds e.
func (e *End) Attach(opts Options, dev Device) (err error) {
	if e.Line, err = Open(opts); err == nil {
		e.Serve(dev)
	}
	return err
}

// Locked implements Device.
func (e *End) Locked(fn func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	fn()
}

// Change is Locked for functions that change the device: its deadlines are checked afterwards.
func (e *End) Change(fn func()) {
	e.Locked(fn)
	if e.Line != nil {
		e.Wake()
	}
}

// Copy returns a copy of a part of a device, which is taken with the lock of its state.
func Copy[T any](e *End, of *T) (copied T) {
	e.Locked(func() { copied = *of })
	return copied
}

// Junk returns the number of bytes before the next byte with which a packet may begin, for a
// Frame that finds none at the beginning of buf.
func Junk(buf []byte, begin byte) int {
	if n := bytes.IndexByte(buf[1:], begin); n >= 0 {
		return n + 1
	}
	return len(buf)
}

// Xor combines bytes with exclusive or, for a checksum.
func Xor(bytes []byte) (sum byte) {
	for _, b := range bytes {
		sum ^= b
	}
	return sum
}

// Bit is a bit of a byte that devices send.
func Bit(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// Options of a cable. Only Link and Baud are needed, or TCP.
type Options struct {
	Link    string        // path of the symlink that names the port, independent of the pseudo-terminal behind it
	TCP     string        // address to listen on, of a device on the network, which needs neither Link nor Baud
	Baud    int           // speed of the device, bit/s
	Latency time.Duration // from Send to the first byte on the cable
	Paced   bool          // bytes arrive at the speed of the line, 10 bit times each, instead of all at once
	Garble  bool          // a host at the wrong speed receives noise instead of nothing
	Noise   Noise
	Trace   func(Entry) // is called with every entry of the record when it is made; it may be nil
	Brief   bool        // there is no record, only Trace: for a cable that a test simulates for hours
	Clock   *Virtual    // nil: real time, and a pseudo-terminal
}

// A Line is one cable, plugged in or not. Its methods may be called by any
// goroutine.
type Line struct {
	opts    Options
	clock   clock
	quit    chan struct{}
	changes Changes
	hosts   atomic.Int64 // on the network, so far

	// Used in turns only.
	rx      heardBuffer
	advance func()        // of the device
	next    time.Duration // its deadline, as advance has it

	mu      sync.Mutex
	port    port // nil while unplugged
	present bool // a host has opened this port and has not been seen to leave
	baud    int
	silent  bool
	paused  bool
	closed  bool
	noise   *noise
	queue   []chunk
	free    time.Duration // time at which the last paced byte leaves the cable
	record  []Entry
}

// heard is the result of one read of the port.
type heard struct {
	from   port
	data   []byte
	baud   int
	closed bool // the host has closed the port
}

// heardBuffer holds the start of an incomplete packet.
type heardBuffer struct {
	from port
	data []byte
}

// ErrClosed is returned by the methods of a closed Line.
var ErrClosed = errors.New("line: closed")

// Open makes the pseudo-terminal, raw from the start, and the symlink to it.
// The Line receives nothing before Serve. A symlink left over from an earlier
// run is replaced, any other file is an error.
func Open(opts Options) (*Line, error) {
	if opts.TCP != "" {
		opts.Link, opts.Baud = opts.TCP, 1
	}
	if opts.Baud <= 0 {
		return nil, fmt.Errorf("line %s: the device needs a speed", opts.Link)
	}
	l := &Line{opts: opts, quit: make(chan struct{}), baud: opts.Baud, noise: newNoise(opts.Noise)}
	if opts.Clock != nil {
		l.clock = opts.Clock.add(l)
	} else {
		l.clock = newRealTime(l)
	}
	if err := l.Plug(); err != nil {
		return nil, err
	}
	return l, nil
}

// Serve starts the device at the far end. It is called once.
func (l *Line) Serve(dev Device) {
	l.advance = func() { l.next = dev.Advance(l.Now()) }
	l.clock.serve(dev)
}

// turn does all that is due, after bytes from the host if h is not nil, and returns the time of
// the next deadline, or 0.
func (l *Line) turn(dev Device, h *heard) (next time.Duration) {
	if h != nil {
		l.hear(dev, *h)
	}
	dev.Locked(l.advance)
	l.mu.Lock()
	defer l.mu.Unlock()
	next = earlier(l.next, l.pump(l.Now()))
	l.changes.Notify()
	return next
}

// earlier returns the earlier of two deadlines, where 0 is none.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return cmp.Or(a, b)
	}
	return min(a, b)
}

// hear passes bytes from the host to the device, unit by unit.
func (l *Line) hear(dev Device, h heard) {
	if h.from != l.rx.from || h.closed || h.baud != l.Baud() {
		l.forget()
	}
	l.rx.from = h.from
	if h.closed {
		l.hostLeft(h.from)
		return
	}
	l.mu.Lock()
	l.present = l.present || l.port == h.from
	if h.baud != l.baud {
		note := fmt.Sprintf("at wrong baud (device at %d), discarded", l.baud)
		l.add(Entry{l.Now(), h.baud, HostToDevice, h.data, note})
		if l.opts.Garble {
			l.enqueue(l.noise.bytes(len(h.data)), "noise")
		}
		l.mu.Unlock()
		return
	}
	if l.noise.Both {
		h.data = l.noise.corrupt(h.data)
	}
	l.mu.Unlock()

	l.rx.data = append(l.rx.data, h.data...)
	for len(l.rx.data) > 0 {
		n, note := dev.Frame(l.rx.data)
		if n == 0 {
			break
		}
		unit := slices.Clone(l.rx.data[:n])
		l.rx.data = l.rx.data[n:]
		l.mu.Lock()
		l.add(Entry{l.Now(), h.baud, HostToDevice, unit, note})
		l.mu.Unlock()
		dev.Locked(func() { dev.Receive(l.Now(), unit) })
	}
}

// forget discards an incomplete packet: its rest will not come.
func (l *Line) forget() {
	if len(l.rx.data) > 0 {
		l.mu.Lock()
		l.add(Entry{l.Now(), l.baud, HostToDevice, l.rx.data, "incomplete"})
		l.mu.Unlock()
	}
	l.rx.data = nil
}

// hostLeft discards bytes that the host did not read: a UART keeps nothing for
// a closed port.
func (l *Line) hostLeft(from port) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.port != from || !l.present {
		return // a hang-up that the line caused: by Unplug, or the flush below
	}
	l.present = false
	l.note("host closed the port")
	if err := from.dropUnread(); errors.Is(err, unix.EBUSY) {
		// The host left the port in exclusive mode. On a pseudo-terminal,
		// unlike a serial port, that mode remains after the close: only root
		// could open this one again.
		if err := l.renew(); err != nil {
			l.note(err.Error())
		}
	}
}

// Now returns the time on the clock of this cable, which the Device and the
// record use: since Open, monotonic. A Virtual clock is common to its cables.
func (l *Line) Now() time.Duration { return l.clock.now() }

// Wake makes the line call Device.Advance soon. A device calls it when one of
// its methods has moved a deadline.
func (l *Line) Wake() { l.clock.wake() }

// Port returns the name that a host opens: the symlink. It does not exist
// while the cable is unplugged.
func (l *Line) Port() string { return l.opts.Link }

// Address returns the address of a device on the network, which stays the same when it is plugged in again.
func (l *Line) Address() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opts.TCP
}

// Host returns the number of the newest host that has connected to a device on the network, from 1 on, and whether
// it still is.
func (l *Line) Host() (number int, connected bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.hosts.Load()), l.port != nil && l.port.present()
}

// HangUp ends the connection with the host of a device on the network, which still listens.
func (l *Line) HangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p, ok := l.port.(interface{ hangUp() }); ok {
		l.note("hung up")
		p.hangUp()
	}
}

// Path returns the pseudo-terminal behind the symlink, for example /dev/pts/3;
// empty while unplugged.
func (l *Line) Path() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.port == nil {
		return ""
	}
	return l.port.name()
}

// Baud returns the speed of the device, bit/s.
func (l *Line) Baud() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.baud
}

// SetBaud changes the speed of the device. Bytes sent before still leave at
// the old speed.
func (l *Line) SetBaud(baud int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.baud = baud
}

// HostBaud returns the speed set by the host, bit/s: 38400 on a fresh
// pseudo-terminal, 0 while unplugged.
func (l *Line) HostBaud() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.port == nil {
		return 0
	}
	return l.port.speed()
}

// Unplug disconnects the adapter: the symlink disappears and every descriptor
// of the host on the port hangs up (read returns 0 bytes or EIO, write returns
// EIO, poll returns POLLHUP). The device keeps running, but no host receives
// its bytes.
func (l *Line) Unplug() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unplug()
}

func (l *Line) unplug() {
	if l.port == nil {
		return
	}
	l.clock.unplug()
	l.note("unplugged")
	l.port.close()
	l.port, l.present = nil, false
}

// Plug reconnects the adapter: a new pseudo-terminal behind the same symlink.
// It has no effect while plugged in.
func (l *Line) Plug() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	if l.port != nil {
		return nil
	}
	return l.renew()
}

// renew puts a new port behind the name, replacing an old one.
func (l *Line) renew() error {
	p, err := l.clock.plug()
	if err != nil {
		return err
	}
	if l.port != nil {
		l.port.close()
	}
	l.port, l.present = p, false
	l.note("plugged in: " + p.name())
	return nil
}

// Close ends the device, unplugs the cable and waits until its goroutines have
// ended. The record remains readable.
func (l *Line) Close() {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.closed = true
	l.mu.Unlock()
	close(l.quit)
	l.clock.stop()
	l.forget()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unplug()
	l.queue = nil
	l.changes.Notify()
}

// Wait returns when cond holds, or with the error of ctx. It checks cond after each event on
// the line or in the device, and sleeps in between. cond may call any method of the Line and
// of its device.
func (l *Line) Wait(ctx context.Context, cond func() bool) error {
	return l.changes.Wait(ctx, l.quit, cond)
}
