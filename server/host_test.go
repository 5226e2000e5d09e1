package server

import (
	"context"
	"errors"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/e2e/terminals"
	"player/server/looptest"
)

// An emergency stop reaches the wheels, and clients are served, while an adapter does not
// answer: the search for hardware on it does not end. Nor does that delay the server's end.
func TestStopWhileWedged(t *testing.T) {
	began, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	r, s, c := open(t, "pa", func(c *Config) {
		c.Identify = func(context.Context, string) devices.Finding {
			close(began)
			<-end
			return devices.Finding{}
		}
	})
	_, path := terminals.Open(t)
	failed := make(chan error, 1)
	s.Do(func(time.Duration) { s.server.host.Identify(path, func(time.Duration, devices.Finding) {}) })
	looptest.Receive(t, began, "search")
	s.Do(func(time.Duration) {
		s.server.host.OpenSerial(path, 9600, nil, func(_ time.Duration, _ devices.Line, err error) { failed <- err })
	})
	looptest.Send(t, c, config(codec.Server, 'e', 1))
	r.expect(t, 0)
	request(t, c, "pr", "pr")
	if err := looptest.Receive(t, failed, "error"); !errors.Is(err, devices.ErrNoAnswer) {
		t.Errorf("opening it ends with %v", err)
	}
	s.Do(func(time.Duration) {
		if s.server.host.Idle() {
			t.Error("the search has ended")
		}
	})
	s.Stop()
}
