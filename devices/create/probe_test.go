package create

import (
	"testing"

	"player/devices/devicetest"
)

func TestProbe(t *testing.T) {
	report := string(frame(0, 0, 0, 15000, 1, 2, 3))
	answers := devicetest.Probe(t, probe())
	answers("a report behind garbage", "\x00\x13\x01"+report, true, "", "")
	answers("half a report", report[:20], false, "", "")
	answers("a robot's packet", "\xFA\xFB\x03\x00\x00\x00", false, "", "")
}
