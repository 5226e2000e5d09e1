package host

import (
	"context"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"player/devices"
	"player/e2e/terminals"
	"player/process/descriptors"
	"player/process/lastwords"
	"player/reactor"
	"player/server/looptest"
)

// running is a host on a running loop.
type running struct {
	*looptest.Loop // which echoes
	host           *Host
	loop           *reactor.Loop
}

// setup is the part of it that tests change.
type setup struct {
	descriptors *descriptors.Share
	identify    func(ctx context.Context, path string) devices.Finding
	started     func(h *Host) // on the loop; nil: nothing
}

func serve(t *testing.T, change func(*setup)) *running {
	t.Helper()
	with := setup{descriptors: descriptors.New(1, false).Drivers}
	if change != nil {
		change(&with)
	}
	log := zaptest.NewLogger(t)
	book := &lastwords.Book{}
	s, address, ready := &running{}, looptest.FreeAddress(t), make(chan struct{})
	s.loop = reactor.New(reactor.Config{
		Addresses: []string{address},
		Accept:    func(_ time.Duration, d *reactor.Descriptor, _ int) reactor.Handler { return echo{d} },
		Started: func(time.Duration) {
			if with.started != nil {
				with.started(s.host)
			}
			close(ready)
		},
		LastWords:   book,
		Descriptors: with.descriptors,
		Log:         log,
	})
	s.host = New(s.loop, &s.loop.Timers, Config{LastWords: book, Log: log, Identify: with.identify})
	s.Loop = looptest.Run(t, address, s.loop.Run, ready, func() {
		s.loop.Post(func(time.Duration) {
			s.host.EndSearches()
			s.loop.Stop()
		})
	})
	s.Post = s.loop.Post
	return s
}

// echo sends the input of a connection back.
type echo struct{ *reactor.Descriptor }

func (e echo) Receive(_ time.Duration, p []byte) { e.Write(p) }
func (e echo) Hangup(_ time.Duration, _ error)   {}

// expectEcho checks that the loop serves a connection.
func expectEcho(t *testing.T, c net.Conn, text string) {
	t.Helper()
	looptest.Send(t, c, []byte(text))
	if got := looptest.Read(t, c, len(text)); string(got) != text {
		t.Fatalf("%q came back as %q", text, got)
	}
}

// serveLine is serve with an open serial line.
func serveLine(t *testing.T) (s *running, far *os.File, path string, l *line, in *inbox) {
	t.Helper()
	s, in = serve(t, nil), newInbox()
	far, path = terminals.Open(t)
	return s, far, path, openSerial(t, s, path, in), in
}

// awaitIdle waits until all operations have ended.
func (s *running) awaitIdle() {
	s.T.Helper()
	s.Await("the end of the operations", func(time.Duration) bool { return s.host.Idle() })
}

// expectReturned checks that all descriptors but some are given back.
func (s *running) expectReturned(but int) {
	s.T.Helper()
	s.Do(func(time.Duration) {
		if all := s.loop.Descriptors(); all.Take(all.Most()-but) != nil {
			s.T.Error("descriptors are missing")
		}
	})
}
