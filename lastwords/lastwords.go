// Package lastwords writes the bytes that stop motors when the process ends in
// disorder: by a panic, by a signal while it hangs, with a loop that has failed.
// Drivers hand them over in advance: at that moment they cannot be asked any more.
package lastwords

import (
	"bytes"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Book has the last words of all descriptors. The zero value is ready. Its methods
// may be called by any goroutine: the one that owns the descriptors may be the one
// that hangs or has panicked.
type Book struct {
	mu    sync.Mutex
	words map[*Words]struct{}
}

// Words are the last words of one descriptor.
type Words struct {
	book *Book
	of   int // the descriptor
	fd   int // a duplicate: of may be closed, and the number another descriptor's
	text []byte
}

// Keep has p written to a descriptor that does not block, by Say. It duplicates the
// descriptor and copies p.
func (b *Book) Keep(fd int, p []byte) (*Words, error) {
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("last words: %w", err)
	}
	w := &Words{book: b, of: fd, fd: own, text: bytes.Clone(p)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.words == nil {
		b.words = map[*Words]struct{}{}
	}
	b.words[w] = struct{}{}
	return w, nil
}

// Say writes all words and silences their descriptors: until the process is dead, the
// loop may go on and drive the motors again. It does not block.
func (b *Book) Say() {
	b.mu.Lock()
	defer b.mu.Unlock()
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	for w := range b.words {
		if err == nil {
			_ = unix.Dup3(null, w.of, unix.O_CLOEXEC) // w.of is closed by now at worst
		}
		w.say()
	}
}

// OnPanic is deferred by a goroutine: if it panics, the words are written, and the
// panic goes on.
func (b *Book) OnPanic() {
	if r := recover(); r != nil {
		b.Say()
		panic(r)
	}
}

// Say writes these words: nobody can write to the descriptor any more.
func (w *Words) Say() {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	w.say()
}

// say writes the words, or drops them where the kernel has no room. A serial line
// makes room: what waits there are older commands. It leaves exclusive mode, which
// would keep the next server out while another program has the line open, too.
func (w *Words) say() {
	_ = unix.IoctlSetInt(w.fd, unix.TIOCNXCL, 0) // fails for what is no serial line
	if _, err := unix.Write(w.fd, w.text); err == unix.EAGAIN {
		if unix.IoctlSetInt(w.fd, unix.TCFLSH, unix.TCOFLUSH) == nil {
			_, _ = unix.Write(w.fd, w.text) // the last try
		}
	}
}

// Drop forgets the words and closes the duplicate. Call it once.
func (w *Words) Drop() {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	delete(w.book.words, w)
	_ = unix.Close(w.fd) // a duplicate: nothing is lost with it
}
