package boards

import (
	"math"
	"strings"
	"time"
)

// Bridge is the Arduino firmware of hbrobotics/ros_arduino_bridge (ROSArduinoBridge.ino,
// commands.h, diff_controller.h), with the wheels of the example in its arduino_params.yaml:
// 146 mm, 8384 counts a revolution.
type Bridge struct {
	commanded time.Duration
}

const (
	bridgeCount = math.Pi * 146 / 8384 // mm
	// bridgeFrame is PID_INTERVAL, which is 1000 / 30 in integers, in seconds.
	bridgeFrame = 0.033
	// bridgeStop is AUTO_STOP_INTERVAL.
	bridgeStop = 2 * time.Second
)

func (*Bridge) baud() int    { return 57600 }
func (*Bridge) ends() string { return "\r" }

// atoi parses like the function of C: it ignores the text after the digits.
func atoi(text string) (n int) {
	digits, negative := strings.CutPrefix(text, "-")
	for _, c := range digits {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int(c-'0')
	}
	if negative {
		return -n
	}
	return n
}

func (f *Bridge) command(b *Board, text string) bool {
	name, arguments, _ := strings.Cut(text, " ")
	first, second, _ := strings.Cut(arguments, " ")
	s := &b.state
	switch name {
	case "e":
		b.say("%d %d", int(s.Way[0]/bridgeCount), int(s.Way[1]/bridgeCount))
	case "m":
		f.commanded = b.at
		s.Speed = [2]float64{float64(atoi(first)) * bridgeCount / bridgeFrame, float64(atoi(second)) * bridgeCount / bridgeFrame}
		b.say("OK")
	case "r":
		s.Way = [2]float64{}
		b.say("OK")
	case "a":
		b.say("%d", 512+atoi(first))
	case "p":
		b.say("%d", 42)
	case "b":
		b.say(" 57600")
	default:
		b.say("Invalid Command")
		return false
	}
	return true
}

func (f *Bridge) tick(b *Board) {
	if b.at-f.commanded > bridgeStop {
		b.trip()
	}
}

func (f *Bridge) restart() { *f = Bridge{} }
