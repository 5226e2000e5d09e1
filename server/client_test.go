package server

import (
	"bytes"
	"net"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/config/rights"
	"player/process/descriptors"
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
	lines := logs.FilterMessage(LogCut).All()
	if len(lines) != 1 || lines[0].ContextMap()["error"] != why.Error() {
		t.Errorf("log %v, want one line with %q", lines, why)
	}
}

// A program that does not speak the protocol is disconnected.
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

// Places that clients get, by where they come from.
func TestPlaces(t *testing.T) {
	stranger, home := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("127.0.0.1")
	driver := netip.MustParseAddr("10.1.2.3")
	others := func(i byte) netip.Addr { return netip.AddrFrom4([4]byte{198, 51, 100, i}) }
	s := serve(t, newRobot(), func(c *Config) {
		c.MaxClients = 16
		c.Access = rights.Rules{
			{Allow: rights.Read, From: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}},
			{Allow: rights.Write, From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
		}
	})
	s.Do(func(time.Duration) {
		s := s.server
		var taken []place
		take := func(from netip.Addr, want error) {
			t.Helper()
			p, err := s.takePlace(from, s.config.Access.Of(from, ""))
			if err != want {
				t.Errorf("place for %v: %v, want %v", from, err, want)
			}
			if err == nil {
				taken = append(taken, p)
			}
		}
		for range 8 {
			take(stranger, nil)
		}
		take(stranger, errAddress)
		for i := range byte(6) {
			take(others(i), nil)
		}
		take(others(99), errStrangers) // 14 of 16 places, an eighth is kept
		take(home, nil)
		s.leavePlace(taken[0])
		take(stranger, nil)
		take(others(99), errStrangers)
		take(driver, nil)
		if used := s.config.Descriptors.Clients; used.Take(used.Most()-len(taken)+2) == nil {
			t.Error("clients take no descriptors")
		}
		for _, p := range taken[1:] {
			s.leavePlace(p)
		}
		if len(s.addresses) != 0 || s.strangers != 0 {
			t.Errorf("%d addresses and %d strangers are left", len(s.addresses), s.strangers)
		}
	})
}

// Without descriptors a client is closed at once, and the log names the reason.
func TestNoDescriptorForAClient(t *testing.T) {
	var logs *observer.ObservedLogs
	s := serve(t, newRobot(), func(c *Config) {
		logged(&logs)(c)
		c.MaxPerAddress, c.Descriptors.Clients = 10, descriptors.NewShare(1)
		c.MaxClients = 0
	})
	c := s.Dial()
	request(t, c, "", "")
	s.Do(func(time.Duration) { s.server.config.MaxClients = 10 })
	_ = looptest.End(t, s.Dial())
	request(t, c, "", "")
	lines := logs.FilterMessage(LogRefused).All()
	if len(lines) != 1 || lines[0].ContextMap()["reason"] != descriptors.ErrNone.Error() || lines[0].ContextMap()["client"] == nil {
		t.Errorf("log %v", lines)
	}
}
