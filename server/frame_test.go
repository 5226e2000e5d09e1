package server

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/e2e/needs"
	"player/server/looptest"
)

// seven is a robot with all seven devices and frames of 807 bytes.
type seven struct{ robot }

const sevenFrame = 807

func (s *seven) Setup(now time.Duration, l *devices.Link) {
	s.link = l
	for _, d := range l.Devices() {
		size := d.Spec().DataSize
		if d.Letter() == codec.Vision {
			size = 0
		}
		d.Publish(now, make([]byte, size))
	}
	l.Ready(now)
}

// fifty returns a server with fifty clients that have asked for all devices at
// the given rate in Hz, and their connections, which are not read.
func fifty(t testing.TB, rate byte, access string, form uint16) (*running, []net.Conn) {
	t.Helper()
	s := serve(t, &seven{*newRobot()}, nil)
	var all []net.Conn
	for range 50 {
		c := s.Dial()
		looptest.Send(t, c, config(codec.Server, codec.ConfigFrequency, 0, rate))
		looptest.Send(t, c, config(codec.Server, codec.ConfigCompact, byte(form)))
		request(t, c, access, access)
		all = append(all, c)
	}
	return s, all
}

// Frames to fifty clients, on real sockets, make no garbage.
func TestFramesAllocateNothing(t *testing.T) {
	needs.Time(t)
	const frames = 100 // of each client
	for _, tt := range []struct {
		access  string
		form    uint16
		allowed uint64
	}{
		// One allocation a tick would be 100, one a frame 5000. The runtime and
		// the log make some.
		{"lrsrprgrmrvrzr", codec.FramesPlain, 80},
		{"lrsrprgrmrvrzr", codec.FramesCompact, 80},
		// The receive window of a mover is checked about once in 80 frames,
		// and its network four times a second if nothing else shows that it is alive.
		{"lrsrpagrmrvrzr", codec.FramesPlain, 500},
	} {
		s, all := fifty(t, 250, tt.access, tt.form)
		n := tt.allowed + 1
		for try := 0; try < 3 && n > tt.allowed; try++ { // the runtime makes more while other programs are busy
			n = allocations(t, all, frames, tt.form)
		}
		if n > tt.allowed {
			t.Errorf("%s, form %d: %d allocations in %d frames", tt.access, tt.form, n, 50*frames)
		}
		s.Stop() // its clients do not read any more, and are checked more often
	}
}

// allocations returns how many there are while each client reads so many frames, after as many others.
func allocations(t *testing.T, clients []net.Conn, frames int, form uint16) uint64 {
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	for _, c := range clients {
		ready.Add(1)
		done.Go(func() {
			frame := make([]byte, sevenFrame)
			for n := range 2 * frames {
				if n == frames {
					ready.Done()
					<-begin
				}
				if err := readFrame(c, frame, form); err != nil {
					if t.Error(err); n < frames {
						ready.Done()
					}
					return
				}
			}
		})
	}
	ready.Wait()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	close(begin)
	done.Wait()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// readFrame reads a frame of the seven devices into buf.
func readFrame(c net.Conn, buf []byte, form uint16) error {
	if form == codec.FramesCompact {
		if _, err := io.ReadFull(c, buf[:codec.BlockHeaderSize]); err != nil {
			return err
		}
		buf = buf[:int(buf[1])<<8|int(buf[2])]
	}
	_, err := io.ReadFull(c, buf)
	return err
}

func TestFramesAreWhole(t *testing.T) {
	needs.Time(t)
	_, all := fifty(t, 50, "lrsrprgrmrvrzr", codec.FramesPlain)
	for range 20 {
		if got := looptest.Read(t, all[17], sevenFrame); got[0] != codec.Laser {
			t.Fatalf("a frame begins with %q", got[0])
		}
	}
}

// A client that asks for hundreds of frames at once gets them in slices, and no frame more.
func TestAskerIsServedInSlices(t *testing.T) {
	const frames = 300
	_, s, c := open(t, "sr", nil)
	looptest.Send(t, c, config(codec.Server, codec.ConfigMode, 1))
	request(t, c, "", "")
	looptest.Send(t, c, bytes.Repeat(config(codec.Server, codec.ConfigData), frames))
	for n := range frames {
		if letter, _ := block(t, c); letter != codec.Sonar {
			t.Fatalf("block %d is %q", n, letter)
		}
	}
	looptest.Send(t, c, codec.AppendRequest(nil, nil))
	if letter, _ := block(t, c); letter != codec.KindReply {
		t.Fatalf("block %q without being asked", letter)
	}
	s.Do(func(time.Duration) {
		if !s.server.inputQueue.Empty() {
			t.Error("the client is not done")
		}
	})
}

// One slice of frames that were asked for, counted on the loop.
func TestSliceOfAskedFrames(t *testing.T) {
	_, s, c := open(t, "sr", nil)
	looptest.Send(t, c, config(codec.Server, codec.ConfigMode, 1))
	request(t, c, "sr", "sr")
	s.Do(func(now time.Duration) {
		one := s.theClient()
		one.session.Receive(now, bytes.Repeat(config(codec.Server, codec.ConfigData), 150))
		s.server.settle(now)
		for left := 150 - sliceFrames; ; left = max(left-sliceFrames, 0) {
			if one.session.Asked() != left {
				t.Errorf("%d frames are left, want %d", one.session.Asked(), left)
			}
			if left == 0 {
				break
			}
			s.server.serveClient(now)
		}
	})
}
