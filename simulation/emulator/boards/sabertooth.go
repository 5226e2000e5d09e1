package boards

import (
	"strconv"
	"strings"
)

// Sabertooth is a Sabertooth 2x32 with Plain Text Serial (its data sheet, pages 24 to 26).
// Full power turns a wheel by 1000 mm/s. It has no encoders.
type Sabertooth struct{}

func (*Sabertooth) baud() int    { return 9600 }
func (*Sabertooth) ends() string { return "\n" }

func (*Sabertooth) command(b *Board, text string) bool {
	const full = 2047
	address, what, _ := strings.Cut(text, ":")
	what = strings.TrimSpace(what)
	motor := map[string]int{"M1": 0, "M2": 1}
	i, known := motor[address]
	if !known {
		return false
	}
	power, err := strconv.Atoi(what)
	switch {
	case err == nil && power >= -full && power <= full:
		b.state.Speed[i] = float64(power) * 1000 / full
	case what == "get":
		b.say("%s: %.0f", address, b.state.Speed[i]*full/1000)
	case what == "getb":
		b.say("%s:B%d", address, 118)
	case what == "getc":
		b.say("%s:C%d", address, -20)
	case what == "gett":
		b.say("%s:T%d", address, 30)
	default:
		return false
	}
	return true
}

func (*Sabertooth) tick(*Board) {}

func (*Sabertooth) restart() {}
