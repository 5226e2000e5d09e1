package lastwords

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/terminals"
)

// pipe returns a pipe whose writing end does not block.
func pipe(t *testing.T) (r *os.File, fd int) {
	t.Helper()
	var ends [2]int
	must.Do(t, unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK))
	must.Do(t, unix.SetNonblock(ends[0], false))
	r = os.NewFile(uintptr(ends[0]), "pipe")
	t.Cleanup(func() { r.Close() })
	return r, ends[1]
}

// hears checks the bytes written to a pipe. Its writing ends must be closed already.
func hears(t *testing.T, r *os.File, want string) {
	t.Helper()
	if got, err := io.ReadAll(r); err != nil || string(got) != want {
		t.Errorf("heard %q, %v, want %q", got, err, want)
	}
}

// keep keeps words of a descriptor.
func keep(t *testing.T, b *Book, fd int, text string) *Words {
	t.Helper()
	w, err := b.Keep(fd, []byte(text))
	must.Do(t, err)
	return w
}

// fill writes to a descriptor until its buffer is full.
func fill(fd int) {
	for n := 1; n > 0; {
		n, _ = unix.Write(fd, bytes.Repeat([]byte{'x'}, 4096))
	}
}

// guarded entrusts a book to the guard at the returned end of a connection.
func guarded(t *testing.T, b *Book, dead func()) (guard int) {
	t.Helper()
	end, guard, err := Socketpair()
	must.Do(t, err)
	t.Cleanup(func() { unix.Close(guard) })
	b.Entrust(end, dead)
	return guard
}

// After the last words the owner of a descriptor writes to /dev/null.
func TestNothingFollowsLastWords(t *testing.T) {
	var b Book
	r, fd := pipe(t)
	text := []byte("stop")
	w, err := b.Keep(fd, text)
	must.Do(t, err)
	copy(text, "goon")
	_, _ = unix.Write(fd, []byte("go "))
	b.Say()
	_, _ = unix.Write(fd, []byte(" go"))
	unix.Close(fd)
	w.Drop()
	hears(t, r, "go stop")
}

// The descriptor is closed, and its number used again: the words reach the first one.
func TestWordsOfAClosedDescriptor(t *testing.T) {
	var b Book
	r, fd := pipe(t)
	w := keep(t, &b, fd, "stop")
	unix.Close(fd)
	w.Say()
	w.Drop()
	hears(t, r, "stop")
	b.Say() // nothing is left
}

// A full pipe does not keep the other words from being written, whether a write to it fails or
// blocks without end.
func TestSayDoesNotBlock(t *testing.T) {
	for _, nonblocking := range []bool{true, false} {
		var b Book
		_, full := pipe(t)
		fill(full)
		must.Do(t, unix.SetNonblock(full, nonblocking))
		r, fd := pipe(t)
		for _, fd := range []int{full, fd, full} {
			keep(t, &b, fd, "stop")
		}
		b.Say()
		got := make([]byte, 4)
		if _, err := io.ReadFull(r, got); err != nil || string(got) != "stop" {
			t.Errorf("heard %q, %v", got, err)
		}
	}
}

func TestOnPanic(t *testing.T) {
	for _, panics := range []bool{false, true} {
		var b Book
		r, fd := pipe(t)
		w := keep(t, &b, fd, "stop")
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
		if hears(t, r, want); (caught != nil) != panics {
			t.Errorf("panic %v: caught %v", panics, caught)
		}
	}
}

// A serial line with a full buffer drops the waiting bytes, not the last words.
func TestFullSerialLine(t *testing.T) {
	master, path := terminals.Open(t)
	slave, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	must.Do(t, err)
	defer unix.Close(slave)
	fill(slave)
	var b Book
	defer keep(t, &b, slave, "stop").Drop()
	b.Say()
	var got []byte
	for deadline := time.Now().Add(20 * time.Second); !bytes.HasSuffix(got, []byte("stop")); {
		buf := make([]byte, 4096)
		n, _ := unix.Read(int(master.Fd()), buf)
		if got = append(got, buf[:max(n, 0)]...); time.Now().After(deadline) {
			t.Fatalf("heard %d bytes, the last %q", len(got), got[max(0, len(got)-10):])
		}
	}
}

// The guard's copy follows the book: it keeps and drops the same words.
func TestGuardKeepsTheBook(t *testing.T) {
	var b Book
	needed := 0
	b.Need = func() { needed++ }
	r, fd := pipe(t)
	before := keep(t, &b, fd, "stop")
	guard := guarded(t, &b, func() { t.Error("the guard does not receive") })
	keep(t, &b, fd, "never").Drop()
	group := b.KeepGroup(1234567)
	unix.Close(fd)
	if needed != 1 {
		t.Errorf("a guard was needed %d times", needed)
	}
	kept := map[uint32]*Words{}
	for range 4 { // messages
		if !receive(guard, kept) {
			t.Fatal("a message is missing")
		}
	}
	if len(kept) != 2 || kept[group.number].group != 1234567 {
		t.Fatalf("it keeps %v", kept)
	}
	group.Drop()
	before.Drop()
	b.Disown()
	if w := kept[before.number]; w != nil {
		say([]*Words{w})
	}
	for receive(guard, kept) { // which closes what is dropped; a second close may be of another's descriptor
	}
	hears(t, r, "stop")
	if len(kept) != 0 || !b.Empty() {
		t.Errorf("kept by the guard: %v", kept)
	}
}

// A connection is not closed with its words: one with input that waits would be reset.
func TestConnectionOutlivesItsWords(t *testing.T) {
	needs.Time(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	must.Do(t, err)
	peer, err := l.Accept()
	must.Do(t, err)
	defer peer.Close()
	must.Get(peer.Write([]byte("data that is not read")))(t)
	file, err := conn.(*net.TCPConn).File()
	must.Do(t, err)
	fd, err := unix.Dup(int(file.Fd()))
	must.Do(t, err)
	file.Close()
	conn.Close()
	reported := false
	act(map[uint32]*Words{1: {fd: fd, text: []byte("stop")}}, func(int, int) {
		reported = true
		words := make([]byte, 8)
		if n, err := peer.Read(words); err != nil || string(words[:n]) != "stop" {
			t.Errorf("heard %q, %v", words[:n], err)
		}
		_ = peer.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := peer.Read(words); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection has ended with the words: %v", err)
		}
	})
	if !reported {
		t.Error("no report")
	}
}

// A guard that hangs does not block the process: the failure is reported.
func TestGuardHangs(t *testing.T) {
	var b Book
	dead := false
	guarded(t, &b, func() { dead = true })
	for range 1 << 20 {
		b.KeepGroup(1234567).Drop()
		if dead {
			return
		}
	}
	t.Error("it is not reported")
}

// A serial line that takes only a part of the words is cleared and gets all of them; a descriptor
// that cannot be cleared gets the rest.
func TestPartOfTheWords(t *testing.T) {
	for _, tt := range []struct {
		name   string
		room   int // bytes, until it is cleared
		serial bool
		want   string
	}{
		{"a line with room", 10, true, "stop"},
		{"a line with room for a part", 2, true, "stop"},
		{"a full line", 0, true, "stop"},
		{"a connection with room for a part", 2, false, "stop"},
	} {
		heard, room := "", tt.room
		write := func(p []byte) (int, error) {
			n := min(room, len(p))
			if n == 0 {
				room = 10 // at the next write
				return -1, unix.EAGAIN
			}
			heard, room = heard+string(p[:n]), 10
			return n, nil
		}
		deliver([]byte("stop"), write, func() error {
			if !tt.serial {
				return unix.ENOTTY
			}
			heard, room = "", 10
			return nil
		})
		if heard != tt.want {
			t.Errorf("%s: heard %q", tt.name, heard)
		}
	}
}
