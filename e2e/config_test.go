package e2e

import (
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/app"
	"player/devices"
	"player/e2e/ports"
	"player/e2e/waiting"
	"player/server/session"
)

// Two robots of one file, each on its own port, with access rules.
func TestRobotsAndAccess(t *testing.T) {
	t.Parallel()
	other := ports.Free(t, 1)
	s := serve(t, `
		driver ( name "testpattern" provides ["sonar:0" "position:0"] alwayson 1 )
		driver ( name "testpattern" provides ["%d:laser:0"] )
		access ( allow "read" from "127.0.0.0/8" )
		access ( allow ["write" "config"] from "10.0.0.0/8" )`, other)
	waiting.Until(t, "the driver that is always on", func() bool { return strings.Contains(s.Output.String(), devices.LogReady) })
	p := s.dial(t)
	if reply := p.request("srpaprpwlr"); reply != "srpepepele" {
		t.Errorf("reply %q", reply)
	}
	if reply := p.request("pr"); reply != "pr" {
		t.Errorf("reply %q", reply)
	}
	p.message('x', 'p', 'm', 1)
	waiting.Until(t, "a line about it", func() bool { return strings.Contains(s.Output.String(), session.LogAccessRefused) })
	s.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(other))
	p = s.dial(t)
	if reply := p.request("lrsr"); reply != "lrse" {
		t.Errorf("reply %q of the other robot", reply)
	}
	if got := p.frame(1); got != "l722" {
		t.Errorf("frame %s", got)
	}
}

// A configuration may come through a pipe, as from player <(...) in a shell. It can be read
// once: a server that is asked to read it again keeps its configuration.
func TestConfigThroughAPipe(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{"plain": "", "camera": `camera ( name "front" command [ "true" ] )`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			text := `driver ( name "testpattern" provides ["laser:0"] )` + more
			go func() {
				time.Sleep(100 * time.Millisecond) // the server waits for the text
				_, _ = io.WriteString(w, text)     // a server that ends is found below
				_ = w.Close()
			}()
			s := launch{alone: true, files: []*os.File{r}}.start(t, "/dev/fd/3")
			p := s.dial(t)
			p.mustOpen("lr", "lr")
			s.Signal(t, syscall.SIGHUP)
			waiting.Until(t, "a line about it", func() bool { return s.Printed(app.LogMistakes) })
			p.frame(3)
			s.stop(t)
		})
	}
}
