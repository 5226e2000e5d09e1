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

	"player/e2e/terminals"
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

// A serial line that takes no more drops what waits, not the last words.
func TestFullSerialLine(t *testing.T) {
	master, path := terminals.Open(t)
	slave, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(slave)
	for err == nil {
		_, err = unix.Write(slave, bytes.Repeat([]byte{'x'}, 4096))
	}
	var b Book
	w, err := b.Keep(slave, []byte("stop"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Drop()
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

// A guard keeps what the book keeps, and forgets what it forgets.
func TestGuardKeepsTheBook(t *testing.T) {
	var b Book
	needed := 0
	b.Need = func() { needed++ }
	end, guard, err := Socketpair()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(guard)
	r, fd := pipe(t)
	before, err := b.Keep(fd, []byte("stop"))
	if err != nil {
		t.Fatal(err)
	}
	b.Entrust(end, func() { t.Error("the guard does not listen") })
	gone, err := b.Keep(fd, []byte("never"))
	if err != nil {
		t.Fatal(err)
	}
	gone.Drop()
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
		w.close()
	}
	if got := heard(t, r); got != "stop" {
		t.Errorf("heard %q", got)
	}
	for receive(guard, kept) {
	}
	if len(kept) != 0 || !b.Empty() {
		t.Errorf("kept by the guard: %v", kept)
	}
}

// A guard that hangs does not hang the process: it is reported.
// A connection is not closed with its words: one with input that waits would be reset.
func TestConnectionOutlivesItsWords(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	if _, err := peer.Write([]byte("data that nobody reads")); err != nil {
		t.Fatal(err)
	}
	file, err := conn.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	conn.Close()
	reported := false
	end(map[uint32]*Words{1: {fd: fd, text: []byte("stop")}}, func(int, int) {
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

func TestGuardHangs(t *testing.T) {
	var b Book
	end, guard, err := Socketpair()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(guard)
	dead := false
	b.Entrust(end, func() { dead = true })
	for range 1 << 20 {
		b.KeepGroup(1234567).Drop()
		if dead {
			return
		}
	}
	t.Error("nobody was told")
}

// A serial line that takes only a part of the words is made to take all of them; what cannot be
// made to is sent the rest.
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
				room = 10 // by the next try
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

// A descriptor whose writes hang does not keep the others from their words.
func TestWordsOfOthersWhileOneHangs(t *testing.T) {
	var b Book
	_, hung := pipe(t)
	for n := 1; n > 0; {
		n, _ = unix.Write(hung, bytes.Repeat([]byte{'x'}, 4096))
	}
	if err := unix.SetNonblock(hung, false); err != nil { // so a write blocks, for ever
		t.Fatal(err)
	}
	r, fd := pipe(t)
	for _, fd := range []int{hung, fd, hung} {
		if _, err := b.Keep(fd, []byte("stop")); err != nil {
			t.Fatal(err)
		}
	}
	b.Say()
	got := make([]byte, 4)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "stop" {
		t.Errorf("heard %q, %v", got, err)
	}
}
