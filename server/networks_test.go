package server

import (
	"net"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"player/e2e/ports"
	"player/server/looptest"
)

// lab is a computer with a wired and a wireless interface.
func lab() map[netip.Addr]string {
	return map[netip.Addr]string{
		netip.MustParseAddr("127.0.0.1"):   "lo",
		netip.MustParseAddr("::1"):         "lo",
		netip.MustParseAddr("10.0.0.1"):    "wlan0",
		netip.MustParseAddr("fe80::1"):     "wlan0",
		netip.MustParseAddr("2001:db8::1"): "wlan0",
		netip.MustParseAddr("192.0.2.1"):   "eth0",
	}
}

func TestNamesOfNetworks(t *testing.T) {
	lists := 0
	addresses := lab()
	n := newNetworks(nil)
	n.list = func() map[netip.Addr]string { lists++; return addresses }
	for _, tt := range []struct{ local, remote, want string }{
		{"10.0.0.1", "10.0.0.7", "wlan0"},
		{"2001:db8::1", "2001:db8::7", "wlan0"},
		{"fe80::1%wlan0", "fe80::7%wlan0", "wlan0"},
		{"192.0.2.1", "192.0.2.7", "eth0"},
		{"192.0.2.1", "10.0.0.7", "eth0"}, // routed
		{"127.0.0.1", "127.0.0.1", thisComputer},
		{"127.0.0.2", "127.0.0.1", thisComputer},
		{"127.0.0.2", "127.0.0.3", thisComputer},
		{"::1", "::1", thisComputer},
		{"10.0.0.1", "10.0.0.1", thisComputer}, // by the name of the robot
		{"fe80::1%wlan0", "fe80::1%wlan0", thisComputer},
		{"10.0.0.1", "192.0.2.1", thisComputer},
		{"203.0.113.1", "10.0.0.7", unlisted},
		{"203.0.113.1", "10.0.0.8", unlisted},
	} {
		if got := n.name(netip.MustParseAddr(tt.local), netip.MustParseAddr(tt.remote)); got != tt.want {
			t.Errorf("%s from %s is on %q, want %q", tt.local, tt.remote, got, tt.want)
		}
	}
	if lists != 2 { // for the first address, and for the one that no interface has
		t.Errorf("the interfaces were listed %d times", lists)
	}
	addresses = map[netip.Addr]string{netip.MustParseAddr("10.0.0.9"): "wlan0"} // the robot has roamed
	if got := n.name(netip.MustParseAddr("10.0.0.9"), netip.MustParseAddr("10.0.0.7")); got != "wlan0" {
		t.Errorf("a new address of wlan0 is on %q", got)
	}
}

// The interfaces of this computer, which lists at least its loopback.
func TestListAddresses(t *testing.T) {
	all := listAddresses()
	if all[netip.MustParseAddr("127.0.0.1")] == "" {
		t.Errorf("no interface has 127.0.0.1: %v", all)
	}
}

// A client is on the network that its connection came in on, although the listener has no address
// of its own. By TLS it is on the same one.
func TestClientsOfEachNetwork(t *testing.T) {
	// A port of the kernel's choice is free on one address only: a connection of another test may have it on another one.
	port := strconv.Itoa(ports.Free(t, 1))
	s := serve(t, newRobot(), func(c *Config) {
		c.Robots[0].Address = net.JoinHostPort("0.0.0.0", port)
		c.MaxPerAddress = 100
	})
	s.Do(func(time.Duration) {
		s.server.networks.addresses = map[netip.Addr]string{
			netip.MustParseAddr("127.0.0.1"): "lo",
			netip.MustParseAddr("127.0.0.2"): "wlan0",
			netip.MustParseAddr("127.0.0.4"): "eth0",
		}
	})
	dial := func(to, from string) net.Conn {
		c := looptest.Dial(t, net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}, net.JoinHostPort(to, port))
		request(t, c, "pr", "pr")
		return c
	}
	want := map[netip.AddrPort]string{}
	for _, c := range []struct{ to, from, network string }{
		{"127.0.0.1", "127.0.0.1", thisComputer},
		{"127.0.0.2", "127.0.0.3", "wlan0"},
		{"127.0.0.2", "127.0.0.5", "wlan0"},
		{"127.0.0.4", "127.0.0.3", "eth0"},
		{"127.0.0.2", "127.0.0.4", thisComputer},
	} {
		want[addressAt(dial(c.to, c.from))] = c.network
	}
	connect := serveTLSAt(t, s, 0, "127.0.0.2:0")
	for from, network := range map[string]string{"127.0.0.3": "wlan0", "127.0.0.1": thisComputer} {
		c := connect(&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}})
		request(t, c, "pr", "pr")
		want[addressAt(c)] = network
	}
	s.Do(func(time.Duration) {
		for c := range s.server.clients {
			name, known := want[addressOf(c.remote)]
			if !known {
				t.Errorf("an unexpected client %v", c)
			} else if c.network != s.server.networks.all[name] {
				t.Errorf("%v is not on %s", c, name)
			}
		}
		if len(s.server.clients) != len(want) || len(s.server.networks.all) != 3 {
			t.Errorf("%d clients on %d networks", len(s.server.clients), len(s.server.networks.all))
		}
	})
}
