package config

import (
	"fmt"
	"net"
)

// readDashboard reads the sections dashboard ( robots [...] ).
func (b *builder) readDashboard() (robots []string) {
	for _, s := range b.file.Global.Sections("dashboard") {
		if s.Field("robots") == nil && !s.Broken {
			b.fail(s.Errorf("", `dashboard needs robots, as in dashboard ( robots ["10.0.0.7:6665"] )`))
		}
		for i, address := range s.Strings("robots") {
			if err := checkRemote(address); err != nil {
				b.fail(b.file.Errorf(s.Field("robots").Values[i].Pos, "%w", err))
			}
			robots = append(robots, address)
		}
	}
	return robots
}

// checkRemote returns an error unless the address is HOST:PORT.
func checkRemote(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || !isPort(port) {
		return fmt.Errorf(`%.60q is not the address of a robot: write "10.0.0.7:6665"`, address)
	}
	return nil
}
