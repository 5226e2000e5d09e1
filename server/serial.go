package server

import (
	"context"
	"time"

	serial "github.com/daedaluz/goserial"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/devices"
	"player/serialport"
)

// OpenSerial implements devices.Host.
func (h *host) OpenSerial(path string, baud int, handler devices.PortHandler) (devices.Port, error) {
	if end := h.searches[path]; end != nil {
		end()
		return nil, devices.ErrProbed
	}
	tty, err := serialport.Open(path, baud)
	if err != nil {
		return nil, h.serialError(path, err)
	}
	d, err := h.loop.Open(tty.Fd(), handler)
	if err != nil {
		return nil, err
	}
	d.AtClose(func(fd int) {
		if tty, err := serial.NewPort(fd, nil); err == nil {
			serialport.Unlock(tty)
		}
	})
	return port{d}, nil
}

// Identify implements devices.Host. The search blocks, so it is not the loop's.
func (h *host) Identify(path string, done func(now time.Duration, f devices.Finding)) {
	if h.identify == nil || h.searches[path] != nil {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	h.searches[path] = end
	go func() {
		defer h.lastWords.OnPanic()
		found := h.identify(ctx, path)
		h.loop.Post(func(now time.Duration) {
			delete(h.searches, path)
			if ctx.Err() == nil {
				done(now, found)
			}
			end()
		})
	}()
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
	return serialport.SetModemLines(tty, dtr, rts)
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

// holderAge is how long the server remembers who has a serial line open: a line
// that is tried again and again costs one search in this time. A program that takes
// the line over is named that much later.
const holderAge = 10 * time.Second

// holders knows who has which serial lines open. The search reads every descriptor
// of the computer, so a goroutine makes it: one at a time.
type holders struct {
	found     map[string]finding // by path
	searching bool
}

type finding struct {
	text string
	at   time.Duration
}

// holder returns what serialport.Holder has said of a path. Unless that is younger
// than holderAge, the path is searched for, and the log will tell who it is.
func (h *host) holder(path string) string {
	f, known := h.holders.found[path]
	if !h.holders.searching && (!known || h.loop.Now()-f.at >= holderAge) {
		h.holders.searching = true
		go func() {
			text := serialport.Holder(path)
			h.loop.Post(func(now time.Duration) { h.learn(now, path, text) })
		}()
	}
	if !known {
		return serialport.Somebody
	}
	return f.text
}

// learn remembers who has a path open.
func (h *host) learn(now time.Duration, path, text string) {
	before := h.holders.found[path].text
	h.holders.searching, h.holders.found[path] = false, finding{text, now}
	if text != before {
		h.log.Warn("serial port is busy", zap.Error(h.serialError(path, unix.EBUSY)))
	}
}

// serialError adds to an error what to do about it.
func (h *host) serialError(path string, err error) error {
	return serialport.Explain(path, err, h.holder)
}
