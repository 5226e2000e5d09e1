package main

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/grandcat/zeroconf"

	"player/codec"
	"player/e2e/must"
	"player/e2e/needs"
	"player/fleet/hub"
)

func TestAnnounced(t *testing.T) {
	t.Parallel()
	entry := func(host string, port int, ips ...string) *zeroconf.ServiceEntry {
		e := &zeroconf.ServiceEntry{HostName: host, Port: port}
		for _, text := range ips {
			if ip := net.ParseIP(text); ip.To4() != nil {
				e.AddrIPv4 = append(e.AddrIPv4, ip)
			} else {
				e.AddrIPv6 = append(e.AddrIPv6, ip)
			}
		}
		return e
	}
	withText := func(e *zeroconf.ServiceEntry, texts ...string) *zeroconf.ServiceEntry {
		e.Text = texts
		return e
	}
	for _, c := range []struct {
		entry *zeroconf.ServiceEntry
		want  hub.Robot // without a name: not usable
	}{
		{entry("kitchen.local.", 6665, "10.0.0.7"), hub.Robot{Name: "kitchen", Address: "10.0.0.7:6665"}},
		{entry("kitchen.local.", 6666, "10.0.0.7"), hub.Robot{Name: "kitchen-6666", Address: "10.0.0.7:6666"}},
		{entry("my.kitchen é.local.", 6665, "fe80::1", "2001:db8::1"), hub.Robot{Name: "my-kitchen--", Address: "[2001:db8::1]:6665"}},
		{withText(entry("kitchen.local.", 6665, "10.0.0.7"), "model=p3dx", "page=8080"), hub.Robot{Name: "kitchen", Address: "10.0.0.7:6665", Page: "http://10.0.0.7:8080/"}},
		{withText(entry("kitchen.local.", 6665, "2001:db8::1"), "page=8080"), hub.Robot{Name: "kitchen", Address: "[2001:db8::1]:6665", Page: "http://[2001:db8::1]:8080/"}},
		{withText(entry("kitchen.local.", 6665, "10.0.0.7"), "page=javascript:alert(1)"), hub.Robot{Name: "kitchen", Address: "10.0.0.7:6665"}},
		{entry("kitchen.local.", 6665, "fe80::1"), hub.Robot{}},
		{entry("kitchen.local.", 6665), hub.Robot{}},
		{entry(".local.", 6665, "10.0.0.7"), hub.Robot{}},
		{entry(strings.Repeat("x", 70)+".local.", 6665, "10.0.0.7"), hub.Robot{}},
	} {
		r, ok := announced(c.entry)
		if ok != (c.want.Name != "") || ok && r != c.want {
			t.Errorf("%q: %+v, %t, want %+v", c.entry.HostName, r, ok, c.want)
		}
	}
}

// inside is set in the process that TestDiscover starts in a network of its own.
const inside = "FLEET_TEST_NETWORK"

// A robot that announces itself joins. The test makes a network namespace, which needs
// the rights of root.
func TestDiscover(t *testing.T) {
	if os.Getenv(inside) == "" {
		t.Parallel()
		needs.Root(t) // for a network namespace
		cmd := exec.Command("unshare", "--net", "sh", "-ec", `
			ip link set lo up
			ip link add robots type veth peer name others
			ip address add 192.0.2.1/24 dev robots
			ip link set others up
			ip link set robots up
			exec "$0" -test.run '^TestDiscover$' -test.v`, os.Args[0])
		cmd.Env = append(os.Environ(), inside+"=yes")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	start(t, player, "-stage", "room", "-http", "off")
	announcement := must.Get(zeroconf.RegisterProxy("Player on kitchen", service, "local.", codec.UsualPort, "kitchen", []string{"192.0.2.1"}, nil, nil))(t)
	defer announcement.Shutdown()
	_, conn := startFleet(t, nil, "-discover")
	sub := subscribe(t, conn, "player.lab.*.sonar.0.data")
	if m := next(t, sub); m.Subject != "player.lab.kitchen.sonar.0.data" {
		t.Errorf("data on %s", m.Subject)
	}
}
