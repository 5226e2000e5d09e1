package server

import (
	"bytes"
	"net"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/server/looptest"
	"player/server/session"
)

// logged has a server log to memory.
func logged(logs **observer.ObservedLogs) func(*Config) {
	core, observed := observer.New(zap.InfoLevel)
	*logs = observed
	return func(c *Config) { c.Log = zap.New(core) }
}

// disconnected checks that the server has disconnected its client, for the given
// reason.
func disconnected(t *testing.T, s *running, logs *observer.ObservedLogs, why error) {
	t.Helper()
	s.Await("no client is left", func(time.Duration) bool { return len(s.server.clients) == 0 })
	lines := logs.FilterMessage("client disconnected by us").All()
	if len(lines) != 1 || lines[0].ContextMap()["error"] != why.Error() {
		t.Errorf("log %v, want one line with %q", lines, why)
	}
}

// Something that does not speak the protocol is disconnected.
func TestMalformedMessages(t *testing.T) {
	var logs *observer.ObservedLogs
	_, s, c := open(t, "", logged(&logs))
	looptest.Send(t, c, bytes.Repeat(codec.AppendMessage(nil, '?', '!', nil), 100))
	_ = looptest.End(t, c)
	disconnected(t, s, logs, session.ErrMalformed)
}

// A client that asks but does not read is disconnected before its replies fill
// the memory.
func TestRepliesAreNotRead(t *testing.T) {
	const most = 64 << 20 // bytes, more than the kernel takes for one connection
	var logs *observer.ObservedLogs
	s := serve(t, newRobot(), logged(&logs))
	c := dialSmall(t, s)
	asks := bytes.Repeat(codec.AppendRequest(nil, bytes.Repeat([]byte("yr"), codec.MaxPayload/2)), 16)
	looptest.Must(t, c.SetWriteDeadline(time.Now().Add(looptest.Patience)))
	for sent := 0; ; sent += len(asks) {
		if sent > most {
			t.Fatalf("%d bytes of replies were not read, and the client is still connected", sent)
		}
		if _, err := c.Write(asks); err != nil {
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				t.Fatal(err)
			}
			break
		}
	}
	disconnected(t, s, logs, errNotReading)
}
