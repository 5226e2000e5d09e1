// Package boards emulates motor controllers that are sold or published with their own
// firmware, and speak lines of text: each file is one firmware, as in its documents and
// sources.
package boards

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"player/simulation/emulator/line"
)

// Firmware is the firmware of a board.
type Firmware interface {
	// baud is the speed of the line, ends are the bytes that end a command.
	baud() int
	ends() string
	// command carries out one command, without its line end. It reports whether the firmware knows it.
	command(b *Board, text string) (known bool)
	// tick does the firmware's periodic work, every millisecond.
	tick(b *Board)
	// restart forgets all that was commanded.
	restart()
}

// State is a board's state.
type State struct {
	Speed   [2]float64 // mm/s of the left and the right wheel, forward
	Way     [2]float64 // mm that each wheel has driven since the board was reset
	Heard   int        // commands
	Unknown []string   // of these, those that the firmware refuses
	Trips   int        // of its watchdog while it drove
}

// Board is at the end of a cable. Its methods may be called by any goroutine.
type Board struct {
	line.End

	firmware Firmware
	state    State
	at       time.Duration // that Way is of, and when the firmware ticked
	booted   time.Duration // when it begins
}

// Start plugs a board in. A zero o.Baud is the firmware's speed.
func Start(f Firmware, o line.Options) (*Board, error) {
	o.Baud = cmp.Or(o.Baud, f.baud())
	b := &Board{firmware: f}
	return b, b.Attach(o, b)
}

func (b *Board) Frame(buf []byte) (n int, note string) {
	const longest = 256
	n = bytes.IndexAny(buf, b.firmware.ends()) + 1
	if n == 0 && len(buf) > longest {
		return len(buf), "junk"
	}
	return n, string(bytes.TrimSpace(buf[:n]))
}

func (b *Board) Receive(now time.Duration, unit []byte) {
	b.Advance(now)
	if now < b.booted {
		return
	}
	text := strings.TrimRight(string(unit), "\r\n!")
	b.state.Heard++
	if !b.firmware.command(b, text) && text != "" {
		b.state.Unknown = append(b.state.Unknown, text)
	}
}

func (b *Board) Advance(now time.Duration) time.Duration {
	for ; b.at < now; b.at += time.Millisecond {
		for i, speed := range b.state.Speed {
			b.state.Way[i] += speed / 1000
		}
		if b.at >= b.booted {
			b.firmware.tick(b)
		}
	}
	return now + 5*time.Millisecond
}

// trip stops the wheels.
func (b *Board) trip() {
	if b.state.Speed != [2]float64{} {
		b.state.Speed = [2]float64{}
		b.state.Trips++
	}
}

func (b *Board) say(format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	b.Send([]byte(text+"\r\n"), text)
}

// Reboot presses the reset button: the board stops, is silent for a moment and counts its wheels from 0.
func (b *Board) Reboot() {
	const boot = 300 * time.Millisecond
	b.Change(func() {
		now := b.Now()
		b.Advance(now)
		b.booted = now + boot
		b.state.Speed, b.state.Way = [2]float64{}, [2]float64{}
		b.firmware.restart()
	})
}

// State returns the board's state.
func (b *Board) State() State { return line.Copy(&b.End, &b.state) }
