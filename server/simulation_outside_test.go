package server

// The surroundings of the simulated server: its loop, its host and its log.

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"player/devices"
	"player/process/descriptors"
	"player/reactor"
	"player/server/host"
)

// simLoop is the server's loop.
type simLoop struct{ *sim }

func (l simLoop) Run() error                           { panic("the simulation runs") }
func (l simLoop) Stop()                                { l.ended = true }
func (l simLoop) Descriptors() *descriptors.Share      { return nil }
func (l simLoop) Wakes() uint64                        { return 0 }
func (l simLoop) Listen(address string) (int, error)   { return int(address[len(address)-1] - '5'), nil }
func (l simLoop) Unlisten(int)                         {}
func (l simLoop) Accepting(on bool)                    { l.accepting = on }
func (l simLoop) Post(fn func(now time.Duration)) bool { l.onLoop(fn); return true }

// Now passes while a callback goes on.
func (l simLoop) Now() time.Duration {
	l.lag += l.between(0, 200*time.Microsecond)
	return l.now + l.lag
}
func (l simLoop) Open(int, reactor.Handler) (*reactor.Descriptor, error) {
	return nil, errors.New("the simulation has no descriptors")
}
func (l simLoop) Adopt(fd int, h reactor.Handler, _ func(time.Duration)) (*reactor.Descriptor, error) {
	return l.Open(fd, h)
}

// simHost is the server's host with simulated serial lines.
type simHost struct {
	*host.Host
	sim *sim
}

func (h *simHost) OpenSerial(path string, baud int, handler devices.PortHandler, opened func(now time.Duration, l devices.Line, err error)) {
	for _, r := range h.sim.rigs() {
		if r.path == path {
			r.mayPanic(nil)
			r.answer(func(now time.Duration) {
				if p, err := r.open(baud, handler); err != nil {
					opened(now, nil, err)
				} else {
					opened(now, p, nil)
				}
			})
			return
		}
	}
	opened(h.sim.now, nil, fmt.Errorf("%s does not exist", path))
}

func (h *simHost) Dial(address string, _ devices.PortHandler) (devices.Port, error) {
	return nil, fmt.Errorf("%s: the simulation has no network for drivers", address)
}

// simLog is the server's log: it goes to the trace.
type simLog struct {
	sim    *sim
	fields []zap.Field
}

func (simLog) Enabled(l zapcore.Level) bool { return l >= zapcore.InfoLevel }
func (l simLog) With(fields []zap.Field) zapcore.Core {
	return simLog{l.sim, append(slices.Clone(l.fields), fields...)}
}
func (l simLog) Check(e zapcore.Entry, c *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if l.Enabled(e.Level) {
		return c.AddCore(e, l)
	}
	return c
}
func (l simLog) Write(e zapcore.Entry, fields []zap.Field) error {
	m := zapcore.NewMapObjectEncoder()
	for _, f := range append(slices.Clone(l.fields), fields...) {
		f.AddTo(m)
	}
	l.sim.lines++
	l.sim.note("log: %s %v", e.Message, m.Fields)
	if e.Message == "driver has panicked" && m.Fields["panic"] != intended {
		l.sim.fail("a driver has panicked: %v", m.Fields)
	}
	return nil
}
func (simLog) Sync() error { return nil }

func tcpAddr(ip string, port int) *net.TCPAddr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }
