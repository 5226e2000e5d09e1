package drive

import (
	"io"
	"time"

	"golang.org/x/term"
)

// usualWidth is the width of a terminal that does not report one, in characters.
const usualWidth = 80

const (
	// keyBuffer is how many keys may wait: more than a terminal repeats within the
	// time of readLimit.
	keyBuffer = 64
	// endLimit is how long the end waits for a terminal that hangs.
	endLimit = 200 * time.Millisecond
)

// width returns the width of a terminal in characters.
func width(fd int) int {
	if columns, _, err := term.GetSize(fd); err == nil && columns > 0 {
		return columns
	}
	return usualWidth
}

// readKeys passes on keys until the terminal ends, which closes the channel. Its
// goroutine ends with the terminal, or the program.
func readKeys(in io.Reader) <-chan key {
	keys := make(chan key, keyBuffer)
	go func() {
		defer close(keys)
		var b keyboard
		buf := make([]byte, keyBuffer)
		for {
			n, err := in.Read(buf)
			for _, c := range buf[:n] {
				if k, ok := b.next(c); ok {
					keys <- k
				}
			}
			if n > 0 && b.alone() {
				keys <- stopKey
			}
			if err != nil {
				return
			}
		}
	}()
	return keys
}

// screen shows lines, each in place of the last one. Its goroutine may hang with the
// terminal, for example when its network is gone; that must not keep the robot driving.
type screen struct {
	lines chan string
	done  chan struct{}
}

func newScreen(out io.Writer) *screen {
	s := &screen{make(chan string, 1), make(chan struct{})}
	go func() {
		for line := range s.lines {
			_, _ = io.WriteString(out, "\r\x1b[K"+line) // if the terminal is gone, the keys end
		}
		_, _ = io.WriteString(out, "\r\n")
		close(s.done)
	}()
	return s
}

// show shows a line, unless the terminal hangs.
func (s *screen) show(line string) {
	select {
	case s.lines <- line:
	default:
	}
}

// end ends the last line. It does not wait for a terminal that hangs.
func (s *screen) end() {
	close(s.lines)
	select {
	case <-s.done:
	case <-time.After(endLimit):
	}
}
