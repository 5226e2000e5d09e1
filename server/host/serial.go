package host

import (
	"context"
	"time"

	serial "github.com/daedaluz/goserial"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/devices"
	"player/process/serialport"
)

// OpenSerial implements devices.Host.
func (h *Host) OpenSerial(path string, baud int, handler devices.PortHandler, opened func(now time.Duration, l devices.Line, err error)) {
	if end := h.searches[path]; end != nil {
		end()
	}
	open := func() (*file, error) {
		tty, err := serialport.Open(path, baud)
		if err != nil {
			return nil, err
		}
		return &file{tty.Fd(), func() { serialport.Unlock(tty); _ = tty.Close() }}, nil
	}
	h.openFile(path, handler, open, func(now time.Duration, l *line, err error) {
		if err != nil {
			opened(now, nil, h.serialError(path, err))
			return
		}
		opened(now, l, nil)
	})
}

// Identify implements devices.Host.
func (h *Host) Identify(path string, done func(now time.Duration, f devices.Finding)) {
	if h.identify == nil || h.searches[path] != nil {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	h.searches[path] = end
	var found devices.Finding
	h.operationsOn(path).add(operation{
		run: func() {
			if ctx.Err() == nil {
				found = h.identify(ctx, path)
			}
		},
		done: func(now time.Duration) {
			delete(h.searches, path)
			if ctx.Err() == nil {
				done(now, found)
			}
			end()
		},
	})
}

// SetSpeed implements devices.Line.
func (l *line) SetSpeed(baud int, done func(now time.Duration, err error)) {
	l.set(func(tty *serial.Port) error { return serialport.SetSpeed(tty, baud) }, done)
}

// SetModemLines implements devices.Line.
func (l *line) SetModemLines(dtr, rts bool) {
	// An error means that the line has no modem lines. Then nothing depends on them.
	l.set(func(tty *serial.Port) error { return serialport.SetModemLines(tty, dtr, rts) }, func(time.Duration, error) {})
}

// Discard implements devices.Line.
func (l *line) Discard() {
	// After an error the parser drops the bytes.
	l.set(func(tty *serial.Port) error { return tty.Flush(serial.TCIFLUSH) }, func(time.Duration, error) {})
}

// holderAge is how long the server remembers which program has a serial line open: a line that is
// tried again and again costs one search in this time. If another program opens the line meanwhile,
// the log names it that much later.
const holderAge = 10 * time.Second

// holders knows which programs have which serial lines open. A search reads every descriptor of the
// computer, so a goroutine makes it, one search at a time.
type holders struct {
	found     map[string]finding // by path
	searching bool
}

type finding struct {
	text string
	at   time.Duration
}

// holder returns the last result of serialport.OpenBy for a path. If it is older than holderAge, a
// search begins, and the log will name the program.
func (h *Host) holder(path string) string {
	f, known := h.holders.found[path]
	if !h.holders.searching && (!known || h.loop.Now()-f.at >= holderAge) {
		h.holders.searching = true
		h.lastWords.Go(func() {
			text := serialport.OpenBy(path)
			h.loop.Post(func(now time.Duration) { h.learn(now, path, text) })
		})
	}
	if !known {
		return serialport.Unknown
	}
	return f.text
}

// learn remembers which program has a path open.
func (h *Host) learn(now time.Duration, path, text string) {
	before := h.holders.found[path].text
	h.holders.searching, h.holders.found[path] = false, finding{text, now}
	if text != before {
		h.log.Warn(LogBusy, zap.Error(h.serialError(path, unix.EBUSY)))
	}
}

// serialError adds the remedy to an error.
func (h *Host) serialError(path string, err error) error {
	return serialport.Explain(path, err, h.holder)
}
