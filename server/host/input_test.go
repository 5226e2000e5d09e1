package host

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/devices"
	"player/server/looptest"
)

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
