// Package lastwords writes the bytes that stop motors when the process fails. Drivers pass them to it
// in advance, because after the failure a driver may be unable to run. The process itself writes them
// after a panic, after a failure of the loop, and at a signal while the loop hangs. If the process
// ends in another way, its guard writes them: a small process with a duplicate of every descriptor
// that has last words.
package lastwords

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// sayLimit is how long Say waits for the writes. A write to a serial line blocks if its adapter does
// not answer. By then the other descriptors have their words, and the process can end.
const sayLimit = 100 * time.Millisecond

// Book has the last words of all descriptors, and the process groups to be killed. The
// zero value is ready. Any goroutine may call its methods, because the owner of the descriptors may
// hang or have panicked.
type Book struct {
	// Need is called by Keep and KeepGroup while there is no guard. It may be nil.
	Need func()

	mu     sync.Mutex
	words  map[*Words]struct{}
	number uint32 // of the newest words
	guard  *socket
}

// Words are the last words of one descriptor, or a process group.
type Words struct {
	book   *Book
	number uint32 // names the words in messages to the guard
	of     int    // the descriptor
	fd     int    // a duplicate of it: its owner may close the descriptor, and its number is used again
	text   []byte
	group  int // zero: these are words
}

// Keep stores p, which Say or the guard writes to a descriptor that does not block. It
// duplicates the descriptor and copies p.
func (b *Book) Keep(fd int, p []byte) (*Words, error) {
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("last words: %w", err)
	}
	return b.keep(&Words{of: fd, fd: own, text: bytes.Clone(p)}), nil
}

// KeepGroup has the guard kill a process group, some time after this process has ended. The
// words must be dropped before the kernel can use the group's number again.
func (b *Book) KeepGroup(group int) *Words {
	return b.keep(&Words{of: -1, fd: -1, group: group})
}

func (b *Book) keep(w *Words) *Words {
	b.mu.Lock()
	b.number++
	w.book, w.number = b, b.number
	if b.words == nil {
		b.words = map[*Words]struct{}{}
	}
	b.words[w] = struct{}{}
	b.guard.keep(w)
	guarded := b.guard != nil
	b.mu.Unlock()
	if !guarded && b.Need != nil {
		b.Need()
	}
	return w
}

// Empty reports whether a guard would have nothing to do.
func (b *Book) Empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.words) == 0
}

// Entrust has a guard keep a copy of the book. The book takes over one end of a socket pair
// (Socketpair). dead is called if the guard does not receive; it must kill the guard. Call Disown
// only when the guard has died: it closes the socket, and a living guard would then act as if
// this process had died.
func (b *Book) Entrust(end int, dead func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.guard = &socket{end, dead}
	for w := range b.words {
		b.guard.keep(w)
	}
}

// Disown forgets the guard.
func (b *Book) Disown() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.guard != nil {
		_ = unix.Close(b.guard.fd) // the other end is closed
		b.guard = nil
	}
}

// Say writes all words. Before that it replaces their descriptors by /dev/null, because the loop
// may go on until the process is dead, and drive the motors again. It returns after sayLimit at the
// latest.
func (b *Book) Say() {
	b.mu.Lock()
	defer b.mu.Unlock()
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	for w := range b.words {
		if err == nil && w.group == 0 {
			_ = unix.Dup3(null, w.of, unix.O_CLOEXEC) // at worst w.of is closed by now
		}
	}
	say(slices.Collect(maps.Keys(b.words)))
}

// Go runs fn on a goroutine of its own. If fn panics, the words are written before the process
// ends. After a panic of a goroutine that was started without Go, only the guard writes them.
func (b *Book) Go(fn func()) {
	go func() {
		defer b.OnPanic()
		fn()
	}()
}

// OnPanic is deferred by a goroutine: if it panics, the words are written, and the
// panic goes on.
func (b *Book) OnPanic() {
	if r := recover(); r != nil {
		b.Say()
		panic(r)
	}
}

// Say writes these words. The owner of the descriptor must not write to it any more. It returns
// after sayLimit at the latest.
func (w *Words) Say() {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	say([]*Words{w})
}

// say writes words, all at the same time, and waits for sayLimit at most.
func say(words []*Words) {
	said := make(chan struct{}, len(words))
	for _, w := range words {
		// While the write hangs, w may be dropped, and the number of w.fd be used again.
		fd, err := unix.FcntlInt(uintptr(w.fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			w.say(w.fd) // a group, or no descriptor is left
			said <- struct{}{}
			continue
		}
		go func() {
			w.say(fd)
			said <- struct{}{}
			_ = unix.Close(fd) // a duplicate
		}()
	}
	limit := time.After(sayLimit)
	for range words {
		select {
		case <-said:
		case <-limit:
			return
		}
	}
}

// say writes the words to a descriptor. It ends the exclusive mode of a serial line: the mode
// would last while any program has the line open, and keep the next server out.
func (w *Words) say(fd int) {
	if w.group != 0 {
		return
	}
	_ = unix.IoctlSetInt(fd, unix.TIOCNXCL, 0) // fails if it is not a serial line
	deliver(w.text, func(p []byte) (int, error) { return unix.Write(fd, p) },
		func() error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH) })
}

// deliver writes text. If the kernel has no room for all of it, clear empties the output queue of a
// serial line, with its older commands and a part of the text, and all of the text is written
// again. If the descriptor cannot be cleared, the rest of the text is written.
func deliver(text []byte, write func(p []byte) (int, error), clear func() error) {
	n, _ := write(text)
	switch n = max(n, 0); {
	case n == len(text):
	case clear() == nil:
		_, _ = write(text)
	default:
		_, _ = write(text[n:])
	}
}

// Drop forgets the words and closes the duplicate. Call it once.
func (w *Words) Drop() {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	delete(w.book.words, w)
	w.book.guard.drop(w)
	w.close()
}

// isSocket reports whether the words go over a network.
func (w *Words) isSocket() bool {
	if w.group != 0 {
		return false
	}
	_, err := unix.GetsockoptInt(w.fd, unix.SOL_SOCKET, unix.SO_TYPE)
	return err == nil
}

func (w *Words) close() {
	if w.group == 0 {
		_ = unix.Close(w.fd) // a duplicate: nothing is lost with it
	}
}
