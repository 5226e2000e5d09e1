package server

import (
	"time"

	serial "github.com/daedaluz/goserial"

	"player/devices"
	"player/serialport"
)

// OpenSerial implements devices.Host.
func (h *host) OpenSerial(path string, baud int, handler devices.PortHandler) (devices.Port, error) {
	tty, err := serialport.Open(path, baud)
	if err != nil {
		return nil, h.serialError(path, err)
	}
	return h.open(tty.Fd(), handler)
}

// SetSpeed implements devices.Port.
func (p port) SetSpeed(baud int) error {
	tty, err := p.tty()
	if err != nil {
		return err
	}
	return serialport.SetSpeed(tty, baud)
}

// SetModemLines implements devices.ModemPort.
func (p port) SetModemLines(dtr, rts bool) error {
	tty, err := p.tty()
	if err != nil {
		return err
	}
	for line, on := range map[serial.ModemLine]bool{serial.TIOCM_DTR: dtr, serial.TIOCM_RTS: rts} {
		set := tty.DisableModemLines
		if on {
			set = tty.EnableModemLines
		}
		if err := set(line); err != nil {
			return err
		}
	}
	return nil
}

// Discard implements devices.Port.
func (p port) Discard() {
	if tty, err := p.tty(); err == nil {
		_ = tty.Flush(serial.TCIFLUSH) // at worst the parser drops the bytes
	}
}

// tty returns the serial line that the loop polls.
func (p port) tty() (*serial.Port, error) {
	fd, err := p.Fd()
	if err != nil {
		return nil, err
	}
	return serial.NewPort(fd, nil) // the loop keeps the descriptor
}

// holderAge is how long the server remembers who has a serial line open. A line
// is tried once a second, and the search reads every descriptor of the computer
// while the loop waits. A program that takes the line over is named that much
// later.
const holderAge = 10 * time.Second

// holders remembers who has which files open, by path.
type holders map[string]finding

type finding struct {
	text string
	at   time.Duration
}

// of returns serialport.Holder(path), or an answer that is younger than holderAge.
func (h holders) of(path string, now time.Duration) string {
	f, ok := h[path]
	if !ok || now-f.at >= holderAge {
		f = finding{serialport.Holder(path), now}
		h[path] = f
	}
	return f.text
}

// serialError adds to an error what to do about it.
func (h *host) serialError(path string, err error) error {
	return serialport.Explain(path, err, func(path string) string { return h.holders.of(path, h.loop.Now()) })
}
