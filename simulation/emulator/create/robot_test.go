package create

import (
	"fmt"
	"testing"
	"time"

	"player/e2e/needs"
	"player/simulation/emulator/internal/rawhost"
	"player/simulation/emulator/line"
)

func start(t *testing.T) (*Robot, *rawhost.Host) {
	t.Helper()
	needs.Programs(t)
	r, err := Start(Options{Line: line.Options{Link: rawhost.Link(t)}})
	rawhost.Plugged(t, r, err)
	return r, rawhost.Open(t, r.Port(), 115200)
}

// The sizes are the ones in the specification's tables of packets and groups. The mode after
// each answer shows that the answer had no byte more.
func TestPacketSizes(t *testing.T) {
	sizes := map[int]int{0: 26, 1: 10, 2: 6, 3: 10, 4: 14, 5: 12, 6: 52, 100: 80, 101: 28, 106: 12, 107: 9, 59: 0, 99: 0, 255: 0}
	for _, p := range []int{19, 20, 22, 23, 25, 26, 27, 28, 29, 30, 31, 33, 39, 40, 41, 42, 43, 44, 46, 47, 48, 49, 50, 51, 54, 55, 56, 57} {
		sizes[p] = 2
	}
	for p := 7; p <= 58; p++ {
		if sizes[p] == 0 {
			sizes[p] = 1
		}
	}
	_, h := start(t)
	h.Say("80")
	for p, size := range sizes {
		h.Say(fmt.Sprintf("8E %02X 8E 23", p))
		h.Read(size)
		if mode := h.Read(1)[0]; mode != modePassive {
			t.Fatalf("packet %d has not %d bytes: %d behind it", p, size, mode)
		}
	}
}

// Commands are distinguished by their lengths: no byte of one is parsed as another. They are the
// specification's commands, and the additional ones of a Create 1.
func TestCommandSizes(t *testing.T) {
	const reset = " 07" // as data; as a command it switches the interface off
	data := map[int]int{
		129: 0, 131: 0, 132: 0, 134: 0, 135: 0, 136: 0, 137: 4, 138: 1, 139: 3, 141: 1, 142: 1, 143: 0, 144: 3, 145: 4, 146: 4, 150: 1,
		162: 2, 163: 4, 164: 4, 165: 1, 167: 15, 168: 3,
		130: 0, 147: 1, 151: 1, 153: 0, 154: 0, 155: 1, 156: 2, 157: 2, 158: 1,
	}
	commands := []string{"81 0B", "8C 07 02 07 07 07 07", "8C 00 00", "94 02 07 07 96 00", "95 02 23 23", "95 00", "98 03 07 07 07"}
	for opcode, n := range data {
		command := fmt.Sprintf("%02X", opcode)
		for range n {
			command += reset
		}
		if opcode == 129 || opcode == 142 || opcode == 150 {
			continue // tested by others
		}
		commands = append(commands, command)
	}
	for _, command := range commands {
		t.Run(command, func(t *testing.T) {
			_, h := start(t)
			h.Say("80 " + command)
			if command == "95 02 23 23" {
				h.Expect("01 01")
			}
			h.Say("83 8E 23")
			h.Expect("02")
		})
	}
}

func TestBaud(t *testing.T) {
	r, h := start(t)
	h.Ask("80 8E 23", "01")
	h.Say("81 07")
	rawhost.Until(t, r, "19200 bit/s", func() bool { return r.Baud() == 19200 })
	h.Speed(19200)
	h.Ask("8E 23", "01")
}

func TestSenses(t *testing.T) {
	r, h := start(t)
	h.Say("80 83")
	r.Bump(true, false)
	r.Cliff(3, true)
	h.Ask("8E 01", "02 00 00 00 00 01 00 00 00 00")
	h.Ask("95 03 07 1F 16", "02 00 00 3C F0") // query list: bumper, cliff signal, voltage
	r.Cliff(3, false)
	h.Ask("8E 1F", "09 C4")
	h.Ask("8E 03", "00 3C F0 FE D4 19 08 34 0A 88")
	r.Charger(true)
	h.Ask("8E 22", "02")
	h.Ask("8E 07 8E 15", "02 02")
}

func TestStreamOfGroups(t *testing.T) {
	_, h := start(t)
	h.Say("80 94 02 01 23")
	h.Expect("13 0D 01 00 00 00 00 00 00 00 00 00 00 23 01")
	h.Read(1)
	h.Say("96 00")
}

// The commands that drive, in mode Safe, and the reported requests: velocity, radius, right and
// left, with the specification's examples of radii.
func TestDrives(t *testing.T) {
	tests := map[string]struct {
		command, get string // packets 39 to 42
		left, right  int
	}{
		"straight":             {"89 00 C8 80 00", "00 C8 80 00 00 C8 00 C8", 200, 200},
		"straight, 7FFF":       {"89 00 C8 7F FF", "00 C8 7F FF 00 C8 00 C8", 200, 200},
		"back, left":           {"89 FF 38 01 F4", "FF 38 01 F4 FF 09 FF 67", -153, -247}, // the example: -200 mm/s, 500 mm
		"right":                {"89 00 C8 FE 0C", "00 C8 FE 0C 00 99 00 F7", 247, 153},
		"on the spot, left":    {"89 00 64 00 01", "00 64 00 01 00 64 FF 9C", -100, 100},
		"on the spot, right":   {"89 00 64 FF FF", "00 64 FF FF FF 9C 00 64", 100, -100},
		"wheels":               {"91 00 64 FF 9C", "00 00 00 00 00 64 FF 9C", -100, 100},
		"wheels, too fast":     {"91 03 E8 FC 18", "00 00 00 00 01 F4 FE 0C", -500, 500},
		"pulses":               {"92 00 FF FF 01", "00 00 00 00 01 F4 FE 0C", -500, 500},
		"cleaning stops":       {"91 00 64 00 64 87", "00 00 00 00 00 00 00 00", 0, 0},
		"not in mode Passive":  {"80 91 00 64 00 64", "00 00 00 00 00 00 00 00", 0, 0},
		"not in mode Passive ": {"80 89 00 64 80 00 92 00 FF 00 FF", "00 00 00 00 00 00 00 00", 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, h := start(t)
			h.Ask("80 83 "+test.command+" 95 04 27 28 29 2A", test.get)
			if s := r.State(); s.Left != test.left || s.Right != test.right {
				t.Errorf("left %d, right %d mm/s; want %d, %d", s.Left, s.Right, test.left, test.right)
			}
		})
	}
}

// Distance and angle are reported once, and none of it is lost.
func TestWayAndTurn(t *testing.T) {
	r := &Robot{}
	r.state.Left, r.state.Right = 100, 300
	way, turn := 0, 0
	for i := range 200 {
		r.advance(time.Duration(i) * 10 * time.Millisecond)
		b := r.data(nil, 2)
		way += number(b[2], b[3])
		turn += number(b[4], b[5])
	}
	if way != 397 && way != 398 || turn != 97 { // 1.99 s at 200 mm/s and 200/235 rad/s
		t.Errorf("%d mm, %d degrees; want 398, 97", way, turn)
	}
	r.state.Left, r.state.Right = 500, 500
	r.advance(time.Hour)
	if b := r.data(nil, 19); number(b[0], b[1]) != 32767 {
		t.Errorf("way % X, want 7F FF", b)
	}
}

func TestSong(t *testing.T) {
	r := &Robot{}
	r.Receive(0, []byte{128})
	r.Receive(0, []byte{140, 2, 2, 60, 32, 62, 64})
	r.Receive(0, []byte{141, 2})
	if r.sensor(37) != 0 {
		t.Error("it plays in mode Passive")
	}
	r.Receive(0, []byte{131})
	for _, step := range []struct {
		at      time.Duration
		command []byte
		playing int
	}{{0, []byte{141, 2}, 1}, {1499 * time.Millisecond, []byte{131}, 1}, {1501 * time.Millisecond, []byte{131}, 0}, {1502 * time.Millisecond, []byte{141, 4}, 0}} {
		r.Receive(step.at, step.command)
		if got := r.sensor(37); got != step.playing {
			t.Errorf("at %v: playing %d, want %d", step.at, got, step.playing)
		}
	}
}
