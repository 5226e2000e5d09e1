package lastwords

import (
	"bytes"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// pipe returns a pipe whose writing end does not block.
func pipe(t *testing.T) (r *os.File, fd int) {
	t.Helper()
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(ends[0], false); err != nil {
		t.Fatal(err)
	}
	r = os.NewFile(uintptr(ends[0]), "pipe")
	t.Cleanup(func() { r.Close() })
	return r, ends[1]
}

// heard returns all that was written to a pipe whose ends are closed by now.
func heard(t *testing.T, r *os.File) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What the owner of a descriptor writes after the last words reaches nobody.
func TestNothingFollowsLastWords(t *testing.T) {
	var b Book
	r, fd := pipe(t)
	text := []byte("stop")
	w, err := b.Keep(fd, text)
	if err != nil {
		t.Fatal(err)
	}
	copy(text, "goon")
	_, _ = unix.Write(fd, []byte("go "))
	b.Say()
	_, _ = unix.Write(fd, []byte(" go"))
	unix.Close(fd)
	w.Drop()
	if got := heard(t, r); got != "go stop" {
		t.Errorf("heard %q", got)
	}
}

// The descriptor is closed, and its number another one's: the words reach the first.
func TestWordsOfAClosedDescriptor(t *testing.T) {
	var b Book
	r, fd := pipe(t)
	w, err := b.Keep(fd, []byte("stop"))
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	w.Say()
	w.Drop()
	if got := heard(t, r); got != "stop" {
		t.Errorf("heard %q", got)
	}
	b.Say() // there is nobody left
}

// A full pipe does not block the other words.
func TestSayDoesNotBlock(t *testing.T) {
	var b Book
	_, fd := pipe(t)
	for n := 1; n > 0; {
		n, _ = unix.Write(fd, bytes.Repeat([]byte{'x'}, 4096))
	}
	r, other := pipe(t)
	for _, fd := range []int{fd, other} {
		w, err := b.Keep(fd, []byte("stop"))
		if err != nil {
			t.Fatal(err)
		}
		defer w.Drop()
	}
	b.Say()
	got := make([]byte, 4)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "stop" {
		t.Errorf("heard %q, %v", got, err)
	}
}

func TestOnPanic(t *testing.T) {
	for _, panics := range []bool{false, true} {
		var b Book
		r, fd := pipe(t)
		w, err := b.Keep(fd, []byte("stop"))
		if err != nil {
			t.Fatal(err)
		}
		want, caught := "", any(nil)
		func() {
			defer func() { caught = recover() }()
			onPanic := b.OnPanic // as another package calls it
			defer onPanic()
			if panics {
				want = "stop"
				panic("trouble")
			}
		}()
		unix.Close(fd)
		w.Drop()
		if got := heard(t, r); got != want || (caught != nil) != panics {
			t.Errorf("panic %v: heard %q, caught %v", panics, got, caught)
		}
	}
}
