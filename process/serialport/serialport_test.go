package serialport

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	serial "github.com/daedaluz/goserial"
	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/terminals"
)

// newLine returns the path of a pseudo-terminal, which is a serial line to Open.
func newLine(t *testing.T) string {
	t.Helper()
	_, path := terminals.Open(t)
	return path
}

// open opens a line, which is closed when the test ends.
func open(t *testing.T, path string) *serial.Port {
	t.Helper()
	tty, err := Open(path, 9600)
	must.Do(t, err)
	t.Cleanup(func() { tty.Close() })
	return tty
}

// openRaw opens a line without Open.
func openRaw(path string) (*serial.Port, error) {
	return serial.Open(path, &serial.Options{OpenMode: unix.O_RDWR | unix.O_NOCTTY})
}

// holdVariable names a line that TestMain keeps open, like another program; behind "plainly"
// without a lock, behind "exclusive" in exclusive mode alone.
const holdVariable = "SERIALPORT_TEST_HOLDS"

func TestMain(m *testing.M) {
	path := os.Getenv(holdVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	var err error
	if how, line, special := strings.Cut(path, " "); special {
		var tty *serial.Port
		if tty, err = openRaw(line); err == nil && how == "exclusive" {
			err = tty.EnableExclusiveMode()
		}
	} else {
		_, err = Open(path, 9600)
	}
	fmt.Println(err)
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // until the test closes it
}

// hold has another program open a line until the test ends, and returns its
// process number.
func hold(t *testing.T, path string) int {
	t.Helper()
	needs.Programs(t)
	other := exec.Command("/proc/self/exe")
	other.Env = append(os.Environ(), holdVariable+"="+path)
	in, err := other.StdinPipe()
	must.Do(t, err)
	out, err := other.StdoutPipe()
	must.Do(t, err)
	must.Do(t, other.Start())
	t.Cleanup(func() { in.Close(); _ = other.Wait() })
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "<nil>\n" {
		t.Fatalf("the other program: %s, %v", said, err)
	}
	return other.Process.Pid
}

// speed returns the speed of a line in baud.
func speed(t *testing.T, path string) int {
	t.Helper()
	tty, err := openRaw(path)
	must.Do(t, err)
	defer tty.Close()
	attrs, err := tty.GetAttr2()
	must.Do(t, err)
	return int(attrs.OSpeed)
}

// A line has one master, also among programs of root, and a second one changes
// nothing.
func TestOneMaster(t *testing.T) {
	path := newLine(t)
	pid := hold(t, path)
	_, err := Open(path, 38400)
	if !errors.Is(err, unix.EBUSY) {
		t.Fatalf("a line that another program has open: %v", err)
	}
	want := fmt.Sprintf("serial port %s: device or resource busy: process %d (", path, pid)
	if got := Explain(path, err, OpenBy).Error(); !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	if os.Getuid() == 0 && speed(t, path) != 9600 {
		t.Errorf("its speed was changed to %d", speed(t, path))
	}
	if !IsOpen(path) || IsOpen(newLine(t)) {
		t.Error("IsOpen is wrong")
	}
}

// realLine returns the path of a line that no program has open. It is a virtual console, not
// a pseudo-terminal.
func realLine(t *testing.T) string {
	t.Helper()
	for n := 63; n > 32; n-- {
		path := fmt.Sprint("/dev/tty", n)
		if tty, err := Open(path, 9600); err == nil {
			Unlock(tty)
			tty.Close()
			return path
		}
	}
	needs.Missing(t, "no virtual console can be opened")
	return ""
}

// A program that locks by exclusive mode alone also keeps root out.
func TestExclusiveMode(t *testing.T) {
	path := newLine(t)
	if os.Getuid() == 0 {
		path = realLine(t)
	}
	hold(t, "exclusive "+path)
	if _, err := Open(path, 38400); !errors.Is(err, unix.EBUSY) {
		t.Errorf("a line in exclusive mode: %v", err)
	}
}

// A line that another program also has open opens again and again. So does a
// pseudo-terminal for root, in whatever mode a server that was killed has left it.
func TestSharedLine(t *testing.T) {
	path := newLine(t)
	hold(t, "plainly "+path)
	for i := range 4 {
		tty := open(t, path)
		if i < 2 || os.Getuid() != 0 {
			Unlock(tty)
		}
		tty.Close()
	}
}

// One process cannot open a line twice, and can open it again.
func TestOneMasterInOneProcess(t *testing.T) {
	path := newLine(t)
	for range 2 {
		tty := open(t, path)
		_, err := Open(path, 9600)
		if !errors.Is(err, unix.EBUSY) {
			t.Errorf("opened twice: %v", err)
		} else if got := Explain(path, err, OpenBy).Error(); !strings.Contains(got, "another driver of this server") {
			t.Error(got)
		}
		Unlock(tty)
		tty.Close()
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "is the adapter plugged in?",
		file:                       "it is not a serial line",
		dir:                        "it is not a serial line",
		"/dev/ptmx":                "it is not a serial line",
		"/proc/1/mem":              "it is not a serial line",
	} {
		if err := Check(path); err == nil || !strings.HasPrefix(err.Error(), "serial port "+path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if _, err := Open(path, 9600); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
	line := newLine(t)
	open(t, line) // makes no difference
	if err := Check(line); err != nil {
		t.Error(err)
	}
}

func TestIdentity(t *testing.T) {
	line, other := newLine(t), newLine(t)
	link := filepath.Join(t.TempDir(), "by-id")
	must.Do(t, os.Symlink(line, link))
	if Identity(line) != Identity(link) || Identity(line) == Identity(other) {
		t.Errorf("%s, %s and %s", Identity(line), Identity(link), Identity(other))
	}
	if Identity("/nowhere/a") != Identity("/nowhere/../nowhere/a") || Identity("/nowhere/a") == Identity("/nowhere/b") {
		t.Error("paths that do not exist")
	}
}

func TestSameSpeed(t *testing.T) {
	for _, tt := range []struct {
		a, b int
		want bool
	}{{9600, 9600, true}, {500000, 493827, true}, {38400, 39000, true}, {115200, 500000, false}, {500000, 460800, false}, {9600, 0, false}} {
		if sameSpeed(tt.a, tt.b) != tt.want || sameSpeed(tt.b, tt.a) != tt.want {
			t.Errorf("%d and %d: want %v", tt.a, tt.b, tt.want)
		}
	}
}

// The kernel releases DTR and RTS when a line is closed, unless a driver has set them. A
// pseudo-terminal has no such lines, but the flag.
func TestModemLinesStay(t *testing.T) {
	tty := open(t, newLine(t))
	settings := func() *unix.Termios {
		attrs, err := unix.IoctlGetTermios(tty.Fd(), unix.TCGETS)
		must.Do(t, err)
		return attrs
	}
	hangsUp := func() bool { return settings().Cflag&unix.HUPCL != 0 }
	attrs := settings()
	attrs.Cflag |= unix.HUPCL
	must.Do(t, unix.IoctlSetTermios(tty.Fd(), unix.TCSETS, attrs))
	if !hangsUp() {
		needs.Missing(t, "this kernel does not keep the flag of a pseudo-terminal")
	}
	if err := SetModemLines(tty, true, true); err == nil {
		t.Error("a pseudo-terminal has modem lines")
	}
	if hangsUp() {
		t.Error("the kernel still releases the lines when the port is closed")
	}
}
