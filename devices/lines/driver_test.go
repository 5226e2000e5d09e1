package lines

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/transport/transporttest"
)

// bench is the driver of a board with a bumper, and a subscriber.
type bench struct {
	*transporttest.World
	t    *testing.T
	misc *devices.Device
	done []error // outcomes of setups
}

func newBench(t *testing.T) *bench {
	t.Helper()
	d, err := New(Options{Port: "/dev/board", Baud: 9600, Boot: time.Second, Read: []string{"K {front}"}})
	if err != nil {
		t.Fatal(err)
	}
	table := devices.NewTable(zap.NewNop())
	if _, err := table.Attach(devices.Instance{Driver: d, Name: "board", Provides: d.provides()}); err != nil {
		t.Fatal(err)
	}
	b := &bench{World: transporttest.NewWorld(), t: t, misc: table.Device(codec.Misc)}
	table.Connect(b.World)
	return b
}

func (b *bench) SetupDone(_ time.Duration, _ *devices.Device, err error) {
	b.done = append(b.done, err)
}

// setup opens the device of a board that says a text when it has booted. It returns
// the error.
func (b *bench) setup(says string) error {
	b.t.Helper()
	b.done = nil
	if pending, err := b.misc.Subscribe(b.Now(), b); !pending {
		b.t.Fatalf("the setup has ended at once: %v", err)
	}
	b.Pass(1500 * time.Millisecond)
	b.Port().Say([]byte(says))
	b.Pass(5 * time.Second)
	if len(b.done) != 1 {
		b.t.Fatalf("the setup has ended %d times", len(b.done))
	}
	return b.done[0]
}

// TestDiagnosis: what is wrong is told from what was heard in this handshake.
func TestDiagnosis(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct{ says, want string }{
		{"", "no line of text"},
		{"hello\r\n", "none is like those of read"},
		{"", "no line of text"},
	} {
		if err := b.setup(tt.says); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("the board says %q: %v, want %q", tt.says, err, tt.want)
		}
	}
	if err := b.setup("K 3\r\n"); err != nil {
		t.Error(err)
	}
}
