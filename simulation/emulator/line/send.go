package line

import (
	"bytes"
	"slices"
	"time"
)

// A chunk is one packet on its way to the host.
type chunk struct {
	data []byte
	note string
	baud int           // of the device at the time of Send
	due  time.Duration // of the first byte
	sent int           // bytes that were sent
	at   time.Duration // just before the last of them was
	took []byte        // bytes as the host received them
	junk bool          // the host was at another speed: it received noise
}

// bitsPerByte is the length of a byte on the line: start bit, 8 data bits,
// stop bit (8N1, all three serial devices).
const bitsPerByte = 10

// Send puts a packet on the cable to the host. note names it in the record.
// Bytes that no host can receive are neither sent nor recorded: if the line is
// unplugged or silenced, the port not open, or (without Garble) at another
// speed.
func (l *Line) Send(packet []byte, note string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	data := l.noise.corrupt(packet)
	if !bytes.Equal(data, packet) {
		note += " (spoiled)"
	}
	l.enqueue(data, note)
}

// enqueue takes ownership of data. The caller holds the lock.
func (l *Line) enqueue(data []byte, note string) {
	if l.silent || l.port == nil {
		return
	}
	now := l.Now()
	l.queue = append(l.queue, chunk{data: data, note: note, baud: l.baud, due: now + l.opts.Latency})
	if l.pump(now) != 0 {
		l.Wake()
	}
}

// pump sends the bytes that are due at now and returns the time of the next ones, 0 if the
// queue is empty or paused. The caller holds the lock.
func (l *Line) pump(now time.Duration) (next time.Duration) {
	for len(l.queue) > 0 && !l.paused {
		c := &l.queue[0]
		if c.sent == 0 {
			c.due = max(c.due, l.free)
		}
		n, perByte := len(c.data), time.Duration(0)
		if l.opts.Paced {
			perByte = bitsPerByte * time.Second / time.Duration(c.baud)
			n = min(n, int((now-c.due)/perByte))
		}
		if now < c.due {
			return c.due
		}
		if n > c.sent {
			l.emit(c, c.data[c.sent:n])
			c.sent = n
		}
		if c.sent < len(c.data) {
			return c.due + time.Duration(c.sent+1)*perByte
		}
		l.free = c.due + time.Duration(len(c.data))*perByte
		l.finish(c)
		l.queue = l.queue[1:]
	}
	if len(l.queue) == 0 {
		l.queue = nil // release the array
	}
	return 0
}

// emit sends bytes of c to the host, if there is one, in the form in which the host receives
// them at its own speed.
func (l *Line) emit(c *chunk, b []byte) {
	if l.port == nil || !l.port.present() {
		return
	}
	l.present = true
	if l.port.speed() != c.baud {
		if !l.opts.Garble {
			return
		}
		b, c.junk = l.noise.bytes(len(b)), true
	}
	c.at = l.Now()                              // before: the host may run before write returns
	if b = b[:l.port.write(b)]; c.took == nil { // mostly all at once
		c.took = b
		return
	}
	c.took = append(slices.Clip(c.took), b...)
}

// finish records the bytes of c that the host received.
func (l *Line) finish(c *chunk) {
	if len(c.took) == 0 {
		return
	}
	note := c.note
	switch {
	case c.junk:
		note += " (host at another speed: noise)"
	case len(c.took) < len(c.data):
		note += " (cut)"
	}
	l.add(Entry{c.at, c.baud, DeviceToHost, c.took, note})
}

// Busy reports whether bytes are waiting to leave. A streaming device then
// skips a packet instead of falling behind.
func (l *Line) Busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) > 0
}

// Silence mutes the device at once, without hanging up, also in the middle of
// a packet: like a broken wire, or a device without power behind a powered
// adapter. The device still receives.
func (l *Line) Silence() {
	l.change("silenced", func() {
		l.silent = true
		for i := range l.queue {
			l.finish(&l.queue[i])
		}
		l.queue = nil
	})
}

// change changes the state of the line, and notes that in the record.
func (l *Line) change(note string, fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn()
	l.note(note)
}

// Speak ends Silence.
func (l *Line) Speak() { l.change("speaks again", func() { l.silent = false }) }

// Pause stalls the way to the host, like a busy adapter: the device's bytes wait until
// Release, and then come all at once. Nothing is lost.
func (l *Line) Pause() { l.change("paused", func() { l.paused = true }) }

// Release ends Hold.
func (l *Line) Release() {
	l.change("released", func() { l.paused = false })
	l.Wake()
}
