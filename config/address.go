package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"player/codec"
	"player/devices"
	"player/formats/syntax"
)

// address names a device: [port:]interface:index. Clients see the device with index 0 under
// the letter of the interface; a device with another index is for the drivers that require
// it.
type address struct {
	port int // of the robot
	spec devices.Spec
}

func (a address) String() string {
	return fmt.Sprintf("%d:%s:%d", a.port, a.spec.Name, a.spec.Index)
}

// short omits the port if it is the usual one.
func (a address) short(usual int) string {
	if a.port == usual {
		return fmt.Sprintf("%s:%d", a.spec.Name, a.spec.Index)
	}
	return a.String()
}

func (a address) same(o address) bool {
	return a.port == o.port && a.spec.Letter == o.spec.Letter && a.spec.Index == o.spec.Index
}

// parseAddress reads an address. An address without a port has port. The
// grammar of Player 2 is key:host:robot:interface:index; key and host must be
// empty or localhost.
func parseAddress(text string, port int) (address, error) {
	parts := strings.Split(text, ":")
	n := len(parts)
	if n < 2 || n > 5 {
		return address{}, fmt.Errorf(`%.60q is not a device: write "interface:index" or "port:interface:index"`, text)
	}
	for _, part := range parts[:max(0, n-3)] {
		if part != "" && part != "localhost" {
			return address{}, fmt.Errorf("%.60q: a device has neither key nor host here; use the driver passthrough for devices of another computer", text)
		}
	}
	a := address{port: port}
	names := interfaceNames(devices.Interfaces())
	i := slices.Index(names, parts[n-2])
	if i < 0 {
		return address{}, fmt.Errorf("unknown interface %.40q%s", parts[n-2], syntax.Suggest(parts[n-2], names))
	}
	a.spec = devices.Interfaces()[i]
	index, err := strconv.Atoi(parts[n-1])
	if err != nil || index < 0 || index > codec.MaxIndex {
		return address{}, fmt.Errorf("%.60q: the index is 0 to %d", text, codec.MaxIndex)
	}
	a.spec.Index = index
	if n > 2 && parts[n-3] != "" {
		if a.port, err = strconv.Atoi(parts[n-3]); err != nil || a.port < 1 || a.port > 65535 {
			return address{}, fmt.Errorf("%.60q: the robot is a TCP port, 1 to 65535", text)
		}
	}
	return a, nil
}

func interfaceNames(specs []devices.Spec) []string {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Name
	}
	return names
}
