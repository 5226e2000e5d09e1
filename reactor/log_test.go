package reactor

import (
	"net"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/e2e/waiting"
)

// victim is a connection whose first input closes all of them, and then the channel.
type victim struct {
	all    *[]*Descriptor
	closed chan<- struct{}
}

func (v victim) Receive(time.Duration, []byte) {
	defer close(v.closed)
	for _, d := range *v.all {
		d.Close()
	}
}

func (v victim) Hangup(time.Duration, error) {}

// The log counts lines of one message against their budget. So the messages of gnet
// have their numbers in a field: events of connections that have just been closed are
// one message, however many there are, and no fault.
func TestEngineLogRepeats(t *testing.T) {
	const connections = 20
	core, logged := observer.New(zap.DebugLevel)
	var all []*Descriptor
	closed := make(chan struct{})
	r := run(t, func(c *Config) {
		c.Log = zap.New(core)
		c.Accept = func(_ time.Duration, d *Descriptor, _ int) Handler {
			all = append(all, d)
			return victim{&all, closed}
		}
	})
	conns := make([]net.Conn, connections)
	for i := range conns {
		conns[i] = dial(t, r.address)
	}
	r.until(t, "connections", func() bool { return len(all) == connections })
	// All input is there before the loop polls: one epoll_wait reports all of it.
	r.on(t, func(time.Duration) {
		for _, c := range conns {
			say(t, c, "x")
		}
	})
	waiting.Receive(t, closed, "first input")
	r.stop()
	const want = "gnet: received event[fd=*|ev=*|flags=*] of a stale connection from event-loop(*)"
	lines := logged.FilterMessage(want).All()
	if len(lines) != connections-1 {
		t.Errorf("%d lines, want %d, of %v", len(lines), connections-1, logged.All())
	}
	for _, line := range lines {
		if values, ok := line.ContextMap()["values"].([]any); line.Level != zap.DebugLevel || !ok || len(values) != 4 {
			t.Fatalf("%s with fields %v", line.Level, line.ContextMap())
		}
	}
}
