package rplidar

import (
	"bytes"
	"testing"

	"player/devices/devicetest"
)

func TestProbe(t *testing.T) {
	info := func(head string) string { return string(append(devicetest.Hex(t, head), make([]byte, 16)...)) }
	samples := func(n int) string { return string(bytes.Repeat(devicetest.Hex(t, "3E 01 2D A0 0F"), n)) }
	answers := devicetest.Probe(t, probe())
	answers("an A1", info("A5 5A 14 00 00 00 04 18 1D 01 07"), true, "", "RPLIDAR A1, firmware 1.29")
	answers("half an answer", info("A5 5A 14 00 00 00 04 18 1D 01 07")[:12], false, "", "")
	answers("an S2", info("A5 5A 14 00 00 00 04 71 02 01 12"), true, "", "RPLIDAR S2, firmware 1.02")
	answers("standard scan", samples(30), true, "", "")
	answers("a few samples", samples(10), false, "", "")
	answers("express scan", "\x01\x02"+string(bytes.Repeat(packet(64, 1, 2, 3, 4, 5), 4)), true, "", "")
	answers("a few packets", string(bytes.Repeat(packet(64, 0, 0, 0, 0, 0), 3)), false, "", "")
	answers("a YDLIDAR", info("A5 5A 14 00 00 00 04 06 04 01 01"), false, "", "")
	answers("the first A1", info("A5 5A 14 00 00 00 04 00 0F 01 00"), true, "", "RPLIDAR model 0x00, firmware 1.15")
}
