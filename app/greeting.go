package app

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"player/config"
)

// greeting is the first text in a terminal: where the dashboard is, and how to
// connect. url is the dashboard's, or empty.
func greeting(url string, o options, conf *config.Server) string {
	first := conf.Robots[0].Port
	host := o.bind
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	address, others := net.JoinHostPort(host, strconv.Itoa(first)), ""
	if n := len(conf.Robots); n > 1 {
		others = fmt.Sprintf(", other robots at ports up to %d", conf.Robots[n-1].Port)
	}
	return fmt.Sprintf("Dashboard:  %s\nPrograms:   connect to %s%s; try: player print %[2]s\n", cmp.Or(url, "none; -http localhost:8080 serves one"), address, others)
}
