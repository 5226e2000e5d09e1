package migrate

import (
	"strconv"
	"strings"

	"player/codec"
)

// device is a device here.
type device struct {
	robot int // TCP port; 0: the usual one
	name  string
	index int
}

func (d device) String() string {
	text := d.name + ":" + strconv.Itoa(d.index)
	if d.robot != 0 {
		text = strconv.Itoa(d.robot) + ":" + text
	}
	return text
}

// address is a device as Player 1.6 to 3 name it.
type address struct {
	key  string // which of the devices of its driver, as "odometry"
	name string // interface
	here device // with the interface here; empty: there is none
}

// parseAddress reads key:host:robot:interface:index. The last two are required. With four
// parts the first is a key (1.6) or a host (2, 3); in the devices that a driver provides it
// is the server's own host.
func parseAddress(text string) (a address, ok bool) {
	parts := strings.Split(text, ":")
	n := len(parts)
	if n < 2 || n > 5 {
		return a, false
	}
	a.name, a.here.index, ok = parseName(parts[n-2] + ":" + parts[n-1])
	a.here.name = entry(interfaces, a.name)
	if n > 2 && parts[n-3] != "" {
		port, err := strconv.ParseUint(parts[n-3], 10, 16)
		if err != nil || port == 0 {
			return a, false
		}
		if port != codec.UsualPort {
			a.here.robot = int(port)
		}
	}
	if n > 3 {
		a.key = parts[0]
	}
	return a, ok
}

// parseName reads interface:index, or an interface alone for index 0. ok is false if
// Player 1 to 3 have no such interface.
func parseName(text string) (name string, index int, ok bool) {
	name, number, found := strings.Cut(text, ":")
	if found {
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil || n > codec.MaxIndex {
			return "", 0, false
		}
		index = int(n)
	}
	return name, index, entry(interfaces, name) != "" || has(foreign, name)
}
