package migrate

import (
	_ "embed" // tables
	"slices"
	"strings"
)

// The tables are text: a line for each driver, and a third of the size of maps in the
// program.
var (
	// drivers has the drivers of Player 1 to 3 with a counterpart: the name in Player and
	// the name here; the interfaces and the default serial port in Player (- for none;
	// elsewhere before a port that differs here); and the converted options: the common
	// name, or Player's name, =, and the name here.
	//
	//go:embed drivers.txt
	drivers string

	// reasons has drivers of Player 1 to 3 without a counterpart, and why.
	//
	//go:embed reasons.txt
	reasons string

	// interfaces has the interfaces of Player 1 to 3 that this server has, under their
	// names here. Digital and analogue channels are one device here.
	//
	//go:embed interfaces.txt
	interfaces string

	// others has interfaces that some drivers here do not have, and where they are.
	//
	//go:embed others.txt
	others string

	// foreign has the other interfaces of Player 1 to 3.
	//
	//go:embed foreign.txt
	foreign string

	// usual has the drivers of devices of Player 1 that name none, by interface here.
	//
	//go:embed usual.txt
	usual string
)

// because returns the reason of a name in a table of names and reasons; empty: there is none.
func because(table, name string) string {
	for _, line := range strings.Split(table, "\n") {
		if names, text, _ := strings.Cut(line, " : "); has(names, name) {
			return text
		}
	}
	return ""
}

// elsewhere marks a default serial port that differs from this server's.
const elsewhere = "!"

// transports has the drivers' options with the place of the hardware.
const transports = "port portopts use_tcp"

// turned has the drivers' options that reverse or exchange readings or axes. Without them a
// file would give mirrored or exchanged data.
const turned = "invert axes"

// unlettered has the interfaces here without letters, whose devices programs open by index.
const unlettered = "ranger imu gps io servo"

// tcp has the options of a robot over TCP.
const tcp = "use_tcp tcp_remote_host tcp_remote_port"

// own has the drivers in reasons that have the name of a driver of this server.
const own = "readlog writelog passthrough goto"

// counterpart returns the name here of an option there, by the row of its driver; empty: it
// has none.
func counterpart(row []string, option string) string {
	for _, word := range row[4:] {
		if there, here, renamed := strings.Cut(word, "="); there == option {
			if renamed {
				return here
			}
			return there
		}
	}
	return ""
}

// row returns the words of the row of a table that begins with a name, or nil.
func row(table, name string) []string {
	for _, line := range strings.Split(table, "\n") {
		if words := strings.Fields(line); len(words) > 0 && words[0] == name {
			return words
		}
	}
	return nil
}

// entry returns the second word of a row; empty: there is no row.
func entry(table, name string) string {
	if words := row(table, name); words != nil {
		return words[1]
	}
	return ""
}

// has reports whether a word is in a list.
func has(list, word string) bool { return slices.Contains(strings.Fields(list), word) }
