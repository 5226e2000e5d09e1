package line

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// A clock is the time of one cable and its device. It has the cable's ports, because bytes from the
// host begin a turn.
type clock interface {
	now() time.Duration
	// serve has Line.turn called when a deadline has come, when the host has sent bytes, and after wake.
	serve(dev Device)
	wake()
	// stop ends the turns. It returns when the last one has ended.
	stop()
	// plug makes a new port under the name of the cable; unplug removes the name.
	plug() (port, error)
	unplug()
}

// A port is the host's end of a cable.
type port interface {
	name() string  // behind the name of the cable
	present() bool // a host has it open
	speed() int    // set by the host, bit/s
	// write sends the host as many bytes as fit and returns their number.
	write(b []byte) int
	// dropUnread discards bytes that the host has not read.
	dropUnread() error
	// close hangs up on the host.
	close()
}

// realTime is the clock of the computer: a device has a goroutine, and its port is a pseudo-terminal.
type realTime struct {
	line  *Line
	start time.Time
	heard chan heard
	woken chan struct{}
	done  chan struct{} // closed when the device's goroutine has ended; nil before serve
}

func newRealTime(l *Line) *realTime {
	return &realTime{line: l, start: time.Now(), heard: make(chan heard), woken: make(chan struct{}, 1)}
}

func (r *realTime) now() time.Duration { return time.Since(r.start) }

func (r *realTime) serve(dev Device) {
	r.done = make(chan struct{})
	go r.run(dev)
}

func (r *realTime) run(dev Device) {
	defer close(r.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var from *heard
		select {
		case <-r.line.quit:
			return
		case <-timer.C:
		case <-r.woken:
		case h := <-r.heard:
			from = &h
		}
		if next := r.line.turn(dev, from); next == 0 {
			timer.Stop()
		} else {
			timer.Reset(next - r.now())
		}
	}
}

func (r *realTime) wake() {
	select {
	case r.woken <- struct{}{}:
	default: // already due
	}
}

func (r *realTime) stop() {
	if r.done != nil {
		<-r.done
	}
}

// plug makes a pseudo-terminal and the symlink to it, or a listener.
func (r *realTime) plug() (port, error) {
	if r.line.opts.TCP != "" {
		p, err := listen(r.line)
		if err != nil {
			return nil, err
		}
		r.line.opts.TCP = p.name()
		go p.serve(r.heard)
		return p, nil
	}
	link := r.line.opts.Link
	if fi, err := os.Lstat(link); err == nil && fi.Mode()&os.ModeSymlink == 0 {
		return nil, fmt.Errorf("line %s: exists and is not a symlink: remove it or choose another name", link)
	}
	p, err := openPTY()
	if err != nil {
		return nil, fmt.Errorf("line %s: %w", link, err)
	}
	tmp := link + ".new" // renamed over the old link, so that the name always exists
	os.Remove(tmp)
	if err := errors.Join(os.Symlink(p.path, tmp), os.Rename(tmp, link)); err != nil {
		p.file.Close()
		return nil, fmt.Errorf("line %s: %w", link, err)
	}
	go p.read(r.heard)
	return p, nil
}

func (r *realTime) unplug() {
	if r.line.opts.TCP == "" {
		os.Remove(r.line.opts.Link)
	}
}
