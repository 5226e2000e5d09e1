package sicklms200

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"player/devices"
	"player/devices/devicetest"
	"player/devices/transport/transporttest"
)

// Recorded lasers; the golden files have the bytes that the driver sent.
func TestSessions(t *testing.T) {
	for _, name := range []string{"session", "at38400"} {
		t.Run(name, func(t *testing.T) {
			devicetest.Golden(t, "testdata/"+name+".golden", replay(t, "testdata/"+name+".hex"))
		})
	}
}

func replay(t *testing.T, file string) []byte {
	b := newBench(t)
	var out bytes.Buffer
	fmt.Fprintln(&out, "# seconds, baud, what the driver sent")
	b.Heard = func(p *transporttest.Port, sent []byte) {
		fmt.Fprintf(&out, "%6.3f %d % X ; %s\n", (b.Now() - time.Second).Seconds(), p.Baud, sent, requestName(sent))
	}
	b.Subscribe()
	var baud, wait int // for a laser that does not follow the driver's speed; ms
	for _, line := range devicetest.Lines(t, file) {
		if _, err := fmt.Sscanf(line, "baud %d", &baud); err == nil {
			continue
		}
		if _, err := fmt.Sscanf(line, "wait %d", &wait); err == nil {
			b.Pass(time.Duration(wait) * ms)
			continue
		}
		b.Pass(100 * ms)
		if baud == 0 || baud == b.Port().Baud {
			b.Port().Say(devicetest.Hex(t, line))
		}
	}
	ranges := b.ranges()
	b.Unsubscribe()
	b.Pass(2 * time.Second)
	fmt.Fprintf(&out, "# scans %d, the last %d\n", b.laser.Seq(), ranges)
	if b.Link.State() != devices.Idle {
		t.Errorf("link is %s", b.Link.State())
	}
	return out.Bytes()
}
