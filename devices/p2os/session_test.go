package p2os

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"player/devices"
	"player/devices/devicetest"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

// Recorded robots and the clients' requests meanwhile; the golden files have the driver's
// packets and its result for the last packet.
func TestSessions(t *testing.T) {
	for _, name := range []string{"drive", "separate", "wrap", "bits"} {
		t.Run(name, func(t *testing.T) {
			devicetest.Golden(t, "testdata/"+name+".golden", replay(t, "testdata/"+name+".hex"))
		})
	}
}

func replay(t *testing.T, file string) []byte {
	b := newBench(t)
	b.driver.overrides.Bits = 12 // as the robot counted that is recorded
	var out bytes.Buffer
	fmt.Fprintln(&out, "# seconds, baud, what the driver sent")
	b.Heard = func(p *transporttest.Port, sent []byte) {
		for len(sent) > 0 {
			size := 3 + int(sent[2])
			fmt.Fprintf(&out, "%6.3f %d % X ; %s\n", (b.Now() - time.Second - listenTime).Seconds(), p.Baud, sent[:size], names(sent[:size])[0])
			sent = sent[size:]
		}
	}
	b.Subscribe()
	b.Pass(listenTime) // the recordings begin with the answer to SYNC0
	for _, line := range devicetest.Lines(t, file) {
		var number byte
		var speed, turnRate int16
		switch {
		case line == "x R":
			b.configure('R')
		case strings.HasPrefix(line, "x"):
			must.Get(fmt.Sscanf(line[3:], "%d", &number))(t)
			b.configure(line[2], number)
		case strings.HasPrefix(line, "c"):
			must.Get(fmt.Sscanf(line, "c %d %d", &speed, &turnRate))(t)
			b.command(speed, turnRate)
		default:
			b.Pass(100 * ms)
			b.Port().Say(devicetest.Hex(t, strings.TrimPrefix(line, "!")))
			b.Pass(0)
		}
	}
	pose := b.pose()
	data := [][]byte{bytes.Clone(b.sonar.Data()), bytes.Clone(b.gripper.Data()), bytes.Clone(b.misc.Data())}
	b.Unsubscribe()
	b.Pass(2 * time.Second)
	fmt.Fprintf(&out, "# position %+v\n# sonar % X\n# gripper % X\n# misc % X\n", pose, data[0], data[1], data[2])
	if b.Link.State() != devices.Idle {
		t.Errorf("link is %s", b.Link.State())
	}
	return out.Bytes()
}
