package find

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	serial "github.com/daedaluz/goserial"

	"player/devices"
	"player/e2e/must"
	"player/e2e/needs"
	"player/tools"
)

// newPort returns the far end of a line and the path of ours. The far end receives
// until hangUp.
func newPort(t *testing.T) (far *os.File, path string, hangUp func() error) {
	t.Helper()
	tty, near, err := serial.OpenPTY(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := tty.PTSNumber()
	attrs, attrsErr := near.GetAttr2()
	must.Do(t, errors.Join(err, attrsErr))
	attrs.MakeRaw() // no echo before it is opened
	must.Do(t, near.SetAttr2(serial.TCSANOW, attrs))
	far = os.NewFile(uintptr(tty.Fd()), "far")
	t.Cleanup(func() { far.Close() })
	return far, fmt.Sprint("/dev/pts/", n), near.Close
}

// kind returns a kind whose hardware answers ask with answer.
func kind(name, ask, answer string) devices.Kind {
	return devices.Kind{
		Name: name, Provides: []devices.Spec{devices.Laser(), devices.Misc(), devices.Ranger().At(devices.Hidden)},
		Options: []devices.Option{{Name: "gain", Default: 1}, {Name: "port", Default: devices.SerialPort("")}},
		Probe: &devices.Probe{
			Speeds: []int{9600}, Ask: []byte(ask), Wait: 100 * time.Millisecond, Leave: []byte("bye"),
			Recognise: func(heard []byte) devices.Answer {
				switch {
				case strings.Contains(string(heard), answer+"!"):
					return devices.Answer{Found: true, Model: "the best"}
				case strings.Contains(string(heard), answer):
					return devices.Answer{Next: []byte(ask + "!")}
				}
				return devices.Answer{}
			},
		},
	}
}

// found runs the command on a line whose far end sends answers. It returns the command's output,
// its error, and the bytes sent to the line.
func found(t *testing.T, path string, far *os.File, hangUp func() error, answer func(heard string) string, kinds ...devices.Kind) (out, said, heard string, err error) {
	t.Helper()
	all := make(chan string, 1)
	go func() {
		var heard []byte
		buf := make([]byte, 100)
		for {
			n, err := far.Read(buf)
			if err != nil { // the line is closed
				all <- string(heard)
				return
			}
			heard = append(heard, buf[:n]...)
			_, _ = far.WriteString(answer(string(buf[:n]))) // it may have been closed
		}
	}()
	var stdout, stderr bytes.Buffer
	err = run(t.Context(), kinds, []string{path}, &stdout, &stderr)
	must.Do(t, hangUp())
	return stdout.String(), stderr.String(), <-all, err
}

func TestFindIsADialogue(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	far, path, hangUp := newPort(t)
	out, said, heard, err := found(t, path, far, hangUp, func(h string) string { return map[string]string{"b": "B", "b!": "B!"}[h] },
		kind("a", "a", "A"), devices.Kind{Name: "none"}, kind("b", "b", "B"))
	want := fmt.Sprintf(`driver
(
  name "b"
  provides ["laser:0" "misc:0"]
  port "%s"
)
`, path)
	if err != nil || !strings.HasSuffix(out, "# b, the best, at 9600 baud\n"+want+access) || !strings.Contains(said, path+": b, the best, at 9600 baud\n") {
		t.Errorf("%v, %s%s", err, out, said)
	}
	if heard != "abb!bye" {
		t.Errorf("the line was sent %q", heard)
	}
}

// On a line that echoes, find finds nothing, and leaves the line in order.
func TestFindOnAnEcho(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	far, path, hangUp := newPort(t)
	echo := func(h string) string { return strings.ToUpper(strings.TrimSuffix(h, "!")) }
	out, _, heard, err := found(t, path, far, hangUp, echo, kind("a", "a", "A"))
	if _, failed := errors.AsType[tools.Failure](err); !failed || out != "" {
		t.Errorf("%v, %s", err, out)
	}
	if !strings.HasPrefix(heard, "aa!") || !strings.HasSuffix(heard, "bye") {
		t.Errorf("the line was sent %q", heard)
	}
}

// Nothing is sent on a line with an unknown sender.
func TestFindOnlyListens(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	far, path, hangUp := newPort(t)
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				_, _ = far.WriteString("$GPGGA,1,2,3\r\n") // it may have been closed
			}
		}
	}()
	_, said, heard, err := found(t, path, far, hangUp, func(string) string { return "" }, kind("a", "a", "#"))
	if err == nil || !strings.Contains(said, "something unknown talks: at 9600 baud \"") {
		t.Errorf("%v, %s", err, said)
	}
	if heard != "" {
		t.Errorf("the line was sent %q", heard)
	}
}

func TestConfigurationOfTwo(t *testing.T) {
	t.Parallel()
	a := kind("a", "", "")
	got := configuration([]result{{path: "/dev/x", kind: a}, {path: "/dev/y", kind: a}})
	for _, want := range []string{`["laser:0" "misc:0"]`, `["laser:1" "misc:1"]`, "# Programs for Player 0.7.4a see index 0 only"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%s\nwant %s once", got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	err := printJSON(&out, []result{
		{path: "/dev/ttyUSB0", Finding: devices.Finding{Kind: "p2os", Model: "Pioneer", Baud: 9600}},
		{path: "/dev/ttyUSB1", note: "no answer"},
	})
	const want = `[{"port":"/dev/ttyUSB0","driver":"p2os","model":"Pioneer","baud":9600},{"port":"/dev/ttyUSB1","note":"no answer"}]` + "\n"
	if out.String() != want || err != nil {
		t.Errorf("%s, %v\nwant %s", out.String(), err, want)
	}
}
