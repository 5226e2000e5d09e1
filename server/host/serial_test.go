package host

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/devices"
	"player/e2e/needs"
	"player/server/looptest"
)

// openSerial opens our end of a serial line.
func openSerial(t *testing.T, s *running, path string, in *inbox) *line {
	t.Helper()
	l, err := tryToOpen(t, s, path, in)
	looptest.Must(t, err)
	return l
}

// tryToOpen opens a line and waits for the answer.
func tryToOpen(t *testing.T, s *running, path string, in *inbox) (l *line, err error) {
	t.Helper()
	done := make(chan struct{})
	s.Do(func(time.Duration) {
		s.host.OpenSerial(path, 9600, in, func(_ time.Duration, opened devices.Line, why error) {
			l, _ = opened.(*line)
			err = why
			close(done)
		})
	})
	looptest.Receive(t, done, "answer")
	return l, err
}

// setSpeed sets the speed of a line and waits for the answer.
func setSpeed(t *testing.T, s *running, l *line, baud int) error {
	t.Helper()
	done := make(chan error, 1)
	s.Do(func(time.Duration) { l.SetSpeed(baud, func(_ time.Duration, err error) { done <- err }) })
	return looptest.Receive(t, done, "answer")
}

// A line is raw: every byte passes, in both directions.
func TestSerialLine(t *testing.T) {
	const bytes = "a\r\n\x00\x03\x04\x11\x13\x7F\xFF"
	s, far, _, p, in := serveLine(t)
	s.Do(func(time.Duration) { p.Write([]byte(bytes)) })
	if got := looptest.Read(t, far, len(bytes)); string(got) != bytes {
		t.Errorf("%q arrived as %q", bytes, got)
	}
	looptest.Send(t, far, []byte(bytes))
	in.expect(t, bytes)
	far.Close() // it is unplugged
	looptest.Receive(t, in.gone, "hangup")
	s.Do(func(time.Duration) {
		p.SetSpeed(9600, func(time.Duration, error) { t.Error("the speed of a line that is gone was set") })
		p.Discard()
	})
	s.awaitIdle()
}

func TestSerialSpeed(t *testing.T) {
	s, _, _, p, _ := serveLine(t)
	for _, baud := range []int{9600, 38400, 500000} { // the first from opening it
		if baud != 9600 {
			if err := setSpeed(t, s, p, baud); err != nil {
				t.Error(err)
			}
		}
		s.Do(func(time.Duration) {
			fd, err := p.Fd()
			if err != nil {
				t.Error(err)
				return
			}
			attrs, err := unix.IoctlGetTermios(fd, unix.TCGETS2)
			if err != nil || attrs.Ospeed != uint32(baud) {
				t.Errorf("speed %+v, want %d: %v", attrs, baud, err)
			}
		})
	}
}

func TestSerialDiscard(t *testing.T) {
	s, far, _, p, in := serveLine(t)
	s.Do(func(time.Duration) { // meanwhile the loop does not read
		fd, err := p.Fd()
		if err == nil {
			_, err = far.WriteString("old")
		}
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(looptest.Patience.Milliseconds())); err != nil {
			t.Error(err)
		}
		if n, err := unix.IoctlGetInt(fd, unix.TIOCINQ); n != len("old") {
			t.Errorf("%d bytes wait, want 3: %v", n, err)
		}
		p.Discard()
	})
	s.Await("the end of the operation", func(time.Duration) bool { return p.setting == 0 })
	looptest.Send(t, far, []byte("new"))
	in.expect(t, "new")
}

// Every error names the port and the remedy.
func TestSerialErrors(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	file, socket := filepath.Join(dir, "file"), filepath.Join(dir, "socket")
	looptest.Must(t, os.WriteFile(file, nil, 0o600))
	l, err := net.Listen("unix", socket)
	looptest.Must(t, err)
	defer l.Close()
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "is the adapter plugged in?",
		file:                       "it is not a serial line",
		dir:                        "it is not a serial line",
		socket:                     "it is not a serial line",
		"/dev/null":                "it is not a serial line",
		"/dev/ptmx":                "it is not a serial line",
		"/proc/1/mem":              "it is not a serial line",
	} {
		_, err := tryToOpen(t, s, path, newInbox())
		if err == nil || !strings.HasPrefix(err.Error(), "serial port "+path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
	s.Do(func(time.Duration) { // hard to cause, or not for the administrator
		for err, want := range map[syscall.Errno]string{
			syscall.EACCES: "usermod -aG dialout",
			syscall.EBUSY:  "another program has it open",
			syscall.ENXIO:  "there is no hardware behind it",
		} {
			if got := s.host.serialError("/dev/ttyUSB0", err); !errors.Is(got, err) || !strings.Contains(got.Error(), want) {
				t.Errorf("%v: error %v, want %q", err, got, want)
			}
		}
	})
}

// A line that stays busy costs one search for its holder, which is not made on the
// loop, not one for each try.
func TestHoldersAreRemembered(t *testing.T) {
	needs.Programs(t)
	path := filepath.Join(t.TempDir(), "line")
	file, err := os.Create(path)
	looptest.Must(t, err)
	other := exec.Command("sleep", "60")
	other.Stdin = file
	looptest.Must(t, errors.Join(other.Start(), file.Close()))
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	s := serve(t, nil)
	h := s.host
	busy := func() (text string) {
		s.Do(func(time.Duration) { text = h.serialError(path, unix.EBUSY).Error() })
		return text
	}
	if got := busy(); !strings.HasSuffix(got, "another program has it open") {
		t.Errorf("%s: it was searched for on the loop", got)
	}
	name := fmt.Sprintf("process %d (", other.Process.Pid)
	s.Await("the holder", func(time.Duration) bool { return strings.HasPrefix(h.holders.found[path].text, name) })
	if got := busy(); !strings.Contains(got, name) {
		t.Errorf("%s, want %s", got, name)
	}
	s.Do(func(now time.Duration) {
		for age, want := range map[time.Duration]bool{0: false, holderAge - time.Second: false, holderAge: true} {
			h.holders.searching = false
			h.holders.found[path] = finding{name, now - age}
			if _ = h.holder(path); h.holders.searching != want {
				t.Errorf("an answer of %v is searched for again: %v", age, h.holders.searching)
			}
		}
	})
}

// openInputOf opens an input and waits for the answer.
func openInputOf(t *testing.T, s *running, path string, in *inbox) error {
	t.Helper()
	done := make(chan error, 1)
	s.Do(func(time.Duration) {
		s.host.OpenInput(path, in, func(_ time.Duration, _ devices.Port, err error) { done <- err })
	})
	return looptest.Receive(t, done, "answer")
}

func TestInput(t *testing.T) {
	s := serve(t, nil)
	path := filepath.Join(t.TempDir(), "fifo")
	looptest.Must(t, unix.Mkfifo(path, 0o600))
	in := newInbox()
	looptest.Must(t, openInputOf(t, s, path, in))
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	looptest.Must(t, err)
	looptest.Send(t, w, []byte("one"))
	in.expect(t, "one")
	looptest.Must(t, w.Close())
	if err := looptest.Receive(t, in.gone, "end of the input"); err != io.EOF {
		t.Errorf("the input ended with %v", err)
	}
}

func TestInputErrors(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	looptest.Must(t, os.WriteFile(file, nil, 0o600))
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "no such file or directory: is it plugged in?",
		file:                       "it is neither a device nor a FIFO",
		dir:                        "it is neither a device nor a FIFO",
		"/dev/null":                "it cannot be polled", // it would neither send nor hang up
	} {
		err := openInputOf(t, s, path, newInbox())
		if err == nil || !strings.HasPrefix(err.Error(), "input "+path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
	if err := inputError("/dev/input/js0", syscall.EACCES); !strings.Contains(err.Error(), "usermod -aG input") {
		t.Errorf("no permission: %v", err)
	}
}
