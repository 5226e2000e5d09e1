package main

import (
	"context"
	"net"
	"strconv"
	"strings"

	"github.com/grandcat/zeroconf"
	"go.uber.org/zap"

	"player/codec"
	"player/fleet/bridge"
	"player/fleet/hub"
)

// service is the name that the robots' package announces by avahi (docs/INSTALL.md).
const service = "_player._tcp"

// discover delivers the robots that announce themselves on the local network by mDNS
// (RFC 6762, RFC 6763), until ctx ends.
func discover(ctx context.Context, log *zap.Logger) (<-chan hub.Robot, error) {
	resolver, err := zeroconf.NewResolver()
	if err != nil {
		return nil, err
	}
	entries, found := make(chan *zeroconf.ServiceEntry), make(chan hub.Robot)
	go func() {
		for e := range entries {
			r, ok := announced(e)
			if !ok {
				log.Warn("a robot announces itself without a usable name or address", zap.String("service", e.Instance))
				continue
			}
			select {
			case found <- r:
			case <-ctx.Done():
			}
		}
	}()
	return found, resolver.Browse(ctx, service, "local.", entries)
}

// announced returns the robot of an announcement. Its name is its computer's;
// on another port than the usual one, the port is added. The port of its dashboard, if others
// may see that, is the text page=PORT.
func announced(e *zeroconf.ServiceEntry) (r hub.Robot, ok bool) {
	host := strings.TrimSuffix(strings.TrimSuffix(e.HostName, "."), ".local")
	r.Name = strings.Map(func(c rune) rune {
		if bridge.CheckName(string(c)) != nil {
			return '-'
		}
		return c
	}, host)
	if e.Port != codec.UsualPort {
		r.Name += "-" + strconv.Itoa(e.Port)
	}
	for _, ip := range append(e.AddrIPv4, e.AddrIPv6...) {
		if !ip.IsLinkLocalUnicast() || ip.To4() != nil { // IPv6 would need the interface
			r.Address = net.JoinHostPort(ip.String(), strconv.Itoa(e.Port))
			r.Page = dashboard(ip.String(), e.Text)
			break
		}
	}
	return r, host != "" && bridge.CheckName(r.Name) == nil && r.Address != ""
}

// dashboard returns the URL of the dashboard in an announcement, or "".
func dashboard(host string, texts []string) string {
	for _, text := range texts {
		if port, ok := strings.CutPrefix(text, "page="); ok {
			if n, err := strconv.ParseUint(port, 10, 16); err == nil && n != 0 {
				return "http://" + net.JoinHostPort(host, port) + "/"
			}
		}
	}
	return ""
}
