package sicklms200

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"player/devices"
	"player/devices/transport/transporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Recorded lasers; the golden files hold what the driver sent.
func TestSessions(t *testing.T) {
	for _, name := range []string{"session", "at38400"} {
		t.Run(name, func(t *testing.T) {
			got := replay(t, "testdata/"+name+".hex")
			golden := "testdata/" + name + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the driver now sends:\n%s", got)
			}
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
	b.subscribe()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var baud, wait int // of a laser that does not follow the driver's speed; ms
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := fmt.Sscanf(line, "baud %d", &baud); err == nil {
			continue
		}
		if _, err := fmt.Sscanf(line, "wait %d", &wait); err == nil {
			b.Pass(time.Duration(wait) * ms)
			continue
		}
		b.Pass(100 * ms)
		if baud == 0 || baud == b.Port().Baud {
			b.Port().Say(unhex(t, line))
		}
	}
	ranges := b.ranges()
	b.laser.Unsubscribe(b.Now(), b)
	b.Pass(2 * time.Second)
	fmt.Fprintf(&out, "# scans %d, the last %d\n", b.laser.Seq(), ranges)
	if b.link.State() != devices.Idle {
		t.Errorf("link is %s", b.link.State())
	}
	return out.Bytes()
}
