package app

import (
	"fmt"
	"net"
	"slices"

	"player/config"
)

// listening is an address that this program listens on, and the server that needs it.
type listening struct{ what, address string }

// checkAddresses returns an error if two servers of this program are to listen on one
// address. The kernel would only report that the address is in use.
func (o options) checkAddresses(conf *config.Server) error {
	var all []listening
	for _, robot := range conf.Robots {
		what := fmt.Sprintf("the robot on port %d", robot.Port)
		if robot.Port == o.port {
			what += " (-gp)"
		}
		all = append(all, listening{what, o.address(robot.Port)})
		if robot.TLS != "" {
			all = append(all, listening{fmt.Sprintf("TLS of the robot on port %d (-tls, or tls in the file)", robot.Port), robot.TLS})
		}
	}
	if o.http != "" && o.http != "off" {
		all = append(all, listening{"the dashboard (-http)", o.http})
	}
	if o.foxglove != "" {
		all = append(all, listening{"the server for viewers (-foxglove)", o.foxglove})
	}
	if o.rosbridge != "" {
		all = append(all, listening{"the server for programs of ROS (-rosbridge)", o.rosbridge})
	}
	for i, l := range all {
		j := slices.IndexFunc(all[:i], func(other listening) bool { return overlap(l.address, other.address) })
		if j >= 0 {
			return fmt.Errorf("%s and %s have one address, %s: choose another for one of them", all[j].what, l.what, l.address)
		}
	}
	return nil
}

// overlap reports whether only one server can listen on both addresses. One that is none
// is reported when it is opened.
func overlap(a, b string) bool {
	first, err := net.ResolveTCPAddr("tcp", a)
	second, failed := net.ResolveTCPAddr("tcp", b)
	if err != nil || failed != nil || first.Port != second.Port || first.Port == 0 {
		return false
	}
	return first.IP.Equal(second.IP) || covers(first.IP, second.IP) || covers(second.IP, first.IP)
}

// covers reports whether an address to listen on stands for all, also for another one.
func covers(all, one net.IP) bool {
	return all == nil || all.IsUnspecified() && (all.To4() == nil || one.To4() != nil)
}
