package host

import (
	"time"

	serial "github.com/daedaluz/goserial"
	"golang.org/x/sys/unix"

	"player/devices"
	"player/reactor"
)

// line is an open serial line, or another device file that may block. The loop polls, reads and
// writes a duplicate of its descriptor. Operations do the rest, in goroutines. line implements
// devices.Line.
type line struct {
	*reactor.Descriptor // of the loop
	host                *Host
	path                string
	handler             devices.PortHandler
	file                *file // of the operations; nil: it was not opened
	setting             int   // operations that are not done: the descriptor is detached
	closed              bool  // by the driver, or hung up: its handler is not called any more
	ended               bool  // the loop does not poll it any more
}

// file is an open device file.
type file struct {
	fd    int
	close func()
}

// The descriptors of a line: one of the loop, one of the operations, and for a moment a third one
// while the loop adopts its own.
const (
	polledDescriptors = 2
	lineDescriptors   = polledDescriptors + 1
)

// openFile opens a device file by the function open, as an operation. It calls opened like
// devices.Host.OpenSerial.
func (h *Host) openFile(path string, handler devices.PortHandler, open func() (*file, error), opened func(now time.Duration, l *line, err error)) {
	if err := h.loop.Descriptors().Take(lineDescriptors); err != nil {
		opened(h.loop.Now(), nil, err)
		return
	}
	l := &line{host: h, path: path, handler: handler}
	var err error
	h.operationsOn(path).add(operation{
		owner: l,
		run:   func() { l.file, err = open() },
		done: func(now time.Duration) {
			if err == nil && !l.closed {
				if err = l.poll(func(now time.Duration) { opened(now, l, nil) }); err == nil {
					return
				}
			}
			h.loop.Descriptors().Return(polledDescriptors)
			l.release()
			if !l.closed {
				opened(now, nil, err)
			}
		},
		late: func(now time.Duration, begun bool) {
			if l.closed = true; !begun {
				h.loop.Descriptors().Return(lineDescriptors)
			}
			opened(now, nil, devices.ErrNoAnswer)
		},
	})
}

// poll has the loop poll the line, and calls opened when it does.
func (l *line) poll(opened func(now time.Duration)) error {
	own, err := unix.FcntlInt(uintptr(l.file.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	l.Descriptor, err = l.host.loop.Adopt(own, l, func(now time.Duration) {
		l.host.loop.Descriptors().Return(1)
		opened(now)
	})
	return err
}

// set calls fn to set the line, as an operation. Meanwhile the loop does not touch the line: the
// kernel blocks a thread that polls, reads or writes a serial line that is being set.
func (l *line) set(fn func(tty *serial.Port) error, done func(now time.Duration, err error)) {
	if l.closed {
		return
	}
	l.setting++
	l.Detach()
	var err error
	l.host.operationsOn(l.path).add(operation{
		owner: l,
		run: func() {
			var tty *serial.Port
			if tty, err = serial.NewPort(l.file.fd, nil); err == nil {
				err = fn(tty)
			}
		},
		done: func(now time.Duration) {
			if l.setting--; l.setting == 0 && !l.ended {
				l.Attach()
			}
			switch {
			case !l.closed:
				done(now, err)
			case l.setting == 0:
				l.end()
			}
		},
		late: func(now time.Duration, _ bool) {
			closed := l.closed
			if l.end(); !closed {
				l.handler.Hangup(now, devices.ErrNoAnswer)
			}
		},
	})
}

// Receive implements reactor.Handler. Bytes that come while the line is being set are dropped.
func (l *line) Receive(now time.Duration, p []byte) {
	if l.setting == 0 {
		l.handler.Receive(now, p)
	}
}

// Hangup implements reactor.Handler.
func (l *line) Hangup(now time.Duration, err error) {
	closed := l.closed
	if l.finish(); !closed {
		l.handler.Hangup(now, err)
	}
}

// Write implements devices.Port.
func (l *line) Write(p []byte) {
	if !l.closed {
		l.Descriptor.Write(p)
	}
}

// Close implements devices.Port. Bytes that wait until the line is set are sent first, if the
// adapter answers: they may stop a motor.
func (l *line) Close() {
	if l.closed = true; l.setting == 0 || l.Buffered() == 0 {
		l.end()
	}
}

// end ends the line, unless it has ended.
func (l *line) end() {
	if !l.ended {
		l.Descriptor.Close()
		l.finish()
	}
}

// finish frees the descriptors of the line: the loop does not poll it any more.
func (l *line) finish() {
	l.closed, l.ended = true, true
	l.host.loop.Descriptors().Return(1)
	l.release()
}

// release closes the descriptor of the operations, as an operation: it is the last descriptor of the
// device file, and closing that may block.
func (l *line) release() {
	returned := func(time.Duration) { l.host.loop.Descriptors().Return(1) }
	if l.file == nil {
		returned(0)
		return
	}
	l.host.operationsOn(l.path).finishWith(l, operation{run: l.file.close, done: returned})
}
