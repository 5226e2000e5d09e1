package p2os

import (
	"slices"
	"strings"
	"testing"

	"player/devices/devicetest"
	"player/devices/transport"
)

func TestCommands(t *testing.T) {
	encodes := devicetest.Encoding(t)
	encodes("SYNC0", AppendCommand(nil, Sync0), "FA FB 03 00 00 00")
	encodes("SYNC1", AppendCommand(nil, Sync1), "FA FB 03 01 00 01")
	encodes("SYNC2", AppendCommand(nil, Sync2), "FA FB 03 02 00 02")
	encodes("PULSE", AppendCommand(nil, Pulse), "FA FB 03 00 00 00")
	encodes("OPEN", AppendCommand(nil, Open), "FA FB 03 01 00 01")
	encodes("CLOSE", AppendCommand(nil, Close), "FA FB 03 02 00 02")
	encodes("STOP", AppendCommand(nil, Stop), "FA FB 03 1D 00 1D")
	encodes("ENABLE off", AppendInt(nil, Enable, 0), "FA FB 06 04 3B 00 00 04 3B")
	encodes("ENABLE on", AppendInt(nil, Enable, 1), "FA FB 06 04 3B 01 00 05 3B")
	encodes("SONAR off", AppendInt(nil, Sonar, 0), "FA FB 06 1C 3B 00 00 1C 3B")
	encodes("SETO", AppendSetOrigin(nil), "FA FB 04 07 3B 07 3B")
	encodes("VEL 100", AppendInt(nil, Vel, 100), "FA FB 06 0B 3B 64 00 6F 3B")
	encodes("VEL -100", AppendInt(nil, Vel, -100), "FA FB 06 0B 1B 64 00 6F 1B")
	encodes("VEL 500", AppendInt(nil, Vel, 500), "FA FB 06 0B 3B F4 01 FF 3C")
	encodes("RVEL 10", AppendInt(nil, RVel, 10), "FA FB 06 15 3B 0A 00 1F 3B")
	encodes("RVEL -20", AppendInt(nil, RVel, -20), "FA FB 06 15 1B 14 00 29 1B")
	encodes("most negative", AppendInt(nil, Vel, -32768), "FA FB 06 0B 1B 00 80 0B 9B")
	encodes("VEL2 left", AppendVel2(nil, -4, 4), "FA FB 06 20 3B 04 FC 25 37")
	encodes("VEL2 back", AppendVel2(nil, -15, -15), "FA FB 06 20 3B F1 F1 12 2C")
	encodes("VEL2 stop", AppendVel2(nil, 0, 0), "FA FB 06 20 3B 00 00 20 3B")
	encodes("GRIPPER open", AppendGripper(nil, 1, 99), "FA FB 06 21 3B 01 00 22 3B")
	encodes("GRIPPER press", AppendGripper(nil, 16, 20), "FA FB 06 21 3B 10 00 31 3B FA FB 06 24 3B 14 00 38 3B")
	encodes("GRIPPER carry", AppendGripper(nil, 17, 255), "FA FB 06 21 3B 11 00 32 3B FA FB 06 24 3B FF 00 23 3B")
	encodes("appended", AppendCommand([]byte{0x11}, Stop), "11 FA FB 03 1D 00 1D")
}

func TestSendAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 64)
	var d direct
	if allocs := testing.AllocsPerRun(100, func() {
		buf = d.append(buf[:0], &testModel, 100, 110)
		buf = d.append(buf, &testModel, 100, 10)
		buf = AppendCommand(buf, Pulse)
		buf = AppendInt(buf, Vel, -100)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestDecodeIdentity(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       Identity
		ok         bool
	}{
		{"recorded", "\x02Emu01\x00Pioneer\x00p2dx\x00", Identity{"Emu01", "Pioneer", "p2dx"}, true},
		{"no strings", "\x02", Identity{}, true},
		{"one string", "\x02Emu01\x00", Identity{Name: "Emu01"}, true},
		{"last not ended", "\x02a\x00b\x00c", Identity{"a", "b", "c"}, true},
		{"bytes after", "\x02a\x00b\x00c\x00d\x00e", Identity{"a", "b", "c"}, true},
		{"empty strings", "\x02\x00\x00\x00", Identity{}, true},
		{"as long as a packet", "\x02" + strings.Repeat("n", MaxPacket-6), Identity{Name: strings.Repeat("n", MaxPacket-6)}, true},
		{"echo of SYNC1", "\x01", Identity{}, false},
	} {
		got, ok := DecodeIdentity(appendPacket(nil, []byte(tt.body)...))
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v, %v, want %+v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

// Wherever the packet before the last words was cut off, they stop the wheels.
func TestLastWords(t *testing.T) {
	for _, before := range [][]byte{
		AppendCommand(nil, Pulse), AppendVel2(nil, 25, 25), AppendInt(nil, Vel, -500), AppendSetOrigin(nil), AppendGripper(nil, gripPress, 200),
	} {
		for cut := range before {
			p := transport.NewParser(inspect, MaxPacket)
			var got []Command
			for packet, in := p.Next(slices.Concat(before[:cut], lastWords())); packet != nil; packet, in = p.Next(in) {
				got = append(got, Command(Packet(packet).Type()))
			}
			if n := len(got); n < 2 || got[n-2] != Vel2 || got[n-1] != Stop {
				t.Errorf("after % X the robot understands %v", before[:cut], got)
			}
		}
	}
}
