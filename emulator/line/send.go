package line

import (
	"bytes"
	"time"
)

// A chunk is one packet on its way to the host.
type chunk struct {
	data []byte
	note string
	baud int           // of the device when it spoke
	due  time.Duration // of the first byte
	sent int           // bytes that have left
	took []byte        // bytes the host got, as it got them
	junk bool          // it was at another speed: what it took is noise
}

// bitsPerByte is what a byte costs on the line: start bit, 8 data bits, stop bit (8N1, all three serial devices).
const bitsPerByte = 10

// Send puts a packet on the cable to the host. The note names it in the record. Nothing is said, nor recorded, that no
// host can hear: unplugged, silenced, port not open, or (without Garble) at another speed.
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
	if l.silent || l.pty == nil {
		return
	}
	now := l.Now()
	l.queue = append(l.queue, chunk{data: data, note: note, baud: l.baud, due: now + l.latency})
	if l.pump(now) != 0 {
		l.Wake()
	}
}

// pump sends what is due at now and returns when more will be, 0 when the queue is empty. The caller holds the lock.
func (l *Line) pump(now time.Duration) (next time.Duration) {
	for len(l.queue) > 0 {
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
	l.queue = nil // let the array go
	return 0
}

// emit gives the host bytes of c, if it is there, as it hears them at its own speed.
func (l *Line) emit(c *chunk, b []byte) {
	if l.pty == nil || !l.pty.present() {
		return
	}
	l.present = true
	if l.pty.speed() != c.baud {
		if !l.opts.Garble {
			return
		}
		b, c.junk = l.noise.bytes(len(b)), true
	}
	c.took = append(c.took, b[:l.pty.write(b)]...)
}

// finish records what the host got of c.
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
	l.add(Entry{l.Now(), c.baud, DeviceToHost, c.took, note})
}

// Busy tells whether bytes wait to leave: a device that streams should skip a turn rather than fall behind.
func (l *Line) Busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) > 0
}

// Silence mutes the device without hanging up, at once, in the middle of a packet if need be: a broken wire, or a
// device without power behind an adapter that still has some. It still hears.
func (l *Line) Silence() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = true
	for i := range l.queue {
		l.finish(&l.queue[i])
	}
	l.queue = nil
	l.note("silenced")
}

// Speak ends Silence.
func (l *Line) Speak() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = false
	l.note("speaks again")
}

// SetLatency changes the time from Send to the first byte, for packets sent from now on.
func (l *Line) SetLatency(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latency = d
}

// SetNoise changes what the cable does to packets, from a fresh seed.
func (l *Line) SetNoise(n Noise) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noise = newNoise(n)
}
