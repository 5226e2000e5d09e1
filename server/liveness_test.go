package server

import (
	"bytes"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/codec"
	"player/e2e/needs"
	"player/server/looptest"
)

// A mover that does not read gets no frame that its receive window has no room for. It is not silent, so
// its motors are not stopped, and it gets frames again when it reads.
func TestDrivingWithoutReading(t *testing.T) {
	needs.Time(t)
	d := &seven{*newRobot()}
	s := serve(t, d, nil)
	c := dialSmall(t, s)
	looptest.Send(t, c, config(codec.Server, codec.ConfigFrequency, 0, 200))
	request(t, c, "lrsrpagrmrvrzr", "lrsrpagrmrvrzr")
	stalled := func() bool {
		c := s.theClient()
		info, err := c.conn.TCPInfo()
		return err == nil && int(info.Snd_wnd) < sevenFrame && c.pace.Waits() && c.unacknowledged() == 0
	}
	s.Await("the client's receive window is full", func(time.Duration) bool { return stalled() })
	done := make(chan struct{})
	s.Do(func(now time.Duration) {
		later := now + 500*time.Millisecond // the client is checked four times a second
		s.server.Start(func(now time.Duration) time.Duration {
			if now < later {
				return later
			}
			defer close(done)
			if !stalled() {
				t.Error("a frame was sent that the receive window has no room for")
			}
			s.server.checkMovers(now + time.Hour) // nothing was heard since
			if s.theClient().silent || len(d.commands) > 0 {
				t.Error("the motors of a client that does not read are stopped")
			}
			return 0
		})
	})
	looptest.Receive(t, done, "second check")
	frames := looptest.Read(t, c, 200*sevenFrame) // more than the window had room for
	for n := range 200 {
		if frames[n*sevenFrame] != codec.Laser {
			t.Fatalf("frame %d begins with %q", n, frames[n*sevenFrame])
		}
	}
}

// Replies have filled the receive window of a mover. The kernel asks for room ever more seldom, so nothing
// shows whether the client is there, and its motors are stopped.
func TestDrivingWithoutReadingReplies(t *testing.T) {
	needs.Time(t)
	r := newRobot()
	s := serve(t, r, nil)
	c := dialSmall(t, s)
	looptest.Send(t, c, config(codec.Server, 'r', 1))
	request(t, c, "pa", "pa")
	r.drive(t, c, 200)
	looptest.Send(t, c, bytes.Repeat([]byte("dr\x00\x00"), 12000)) // their replies have 36 kB
	s.Await("its window is full, and it is silent", func(time.Duration) bool {
		info, err := s.theClient().conn.TCPInfo()
		return err == nil && info.Unacked == 0 && info.Notsent_bytes > 0 && s.theClient().silent
	})
	r.expect(t, 0)
}

// dialSmall connects with a small receive window. It is smaller from the start: a
// kernel drops bytes that arrive for a buffer that has become smaller.
func dialSmall(t *testing.T, s *running) net.Conn {
	t.Helper()
	return looptest.Dial(t, net.Dialer{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		controlErr := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 16<<10) })
		return errors.Join(controlErr, err)
	}}, s.Address)
}

// The motors are stopped once when nothing is heard of the kernel of a mover. The client may command again
// when it is back.
func TestDrivingInSilence(t *testing.T) {
	needs.Time(t)
	r, s, conn := open(t, "pa", nil)
	c := conn.(*net.TCPConn)
	r.drive(t, c, 200)
	deafen(t, c, true)
	r.expect(t, 0)
	s.Do(func(now time.Duration) { s.server.checkMovers(now) })
	if len(r.commands) > 0 {
		t.Error("the motors are stopped again")
	}
	deafen(t, c, false)
	s.Await("the client is heard", func(time.Duration) bool { return !s.theClient().silent })
	r.drive(t, c, 200)
	c.Close()
	r.expect(t, 0)
	looptest.Receive(t, r.stops, "shutdown")
	s.Await("no client that drives is watched", func(now time.Duration) bool {
		return len(s.server.movers) == 0 && s.server.checkMovers(now) == 0
	})
}

// deafen has the client's kernel drop the packets of a connection, like a network out
// of range, or take it again.
func deafen(t *testing.T, c *net.TCPConn, deaf bool) {
	t.Helper()
	raw, err := c.SyscallConn()
	looptest.Must(t, err)
	controlErr := raw.Control(func(fd uintptr) {
		if deaf {
			none := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
			err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &none})
		} else {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0)
		}
	})
	if errors.Is(err, unix.EPERM) {
		needs.Missing(t, "this kernel lets only root drop what arrives for a connection")
	}
	if err != nil || controlErr != nil {
		t.Fatal(err, controlErr)
	}
}

// theClient returns the server's only client. It is called on the loop.
func (s *running) theClient() *client {
	for c := range s.server.clients {
		return c
	}
	return nil
}

// A mover is probed every second, and a client that is no mover any more like any other.
func TestProbesOfDriving(t *testing.T) {
	r, s, c := open(t, "pr", nil)
	idle := func() (seconds int) {
		s.Do(func(time.Duration) {
			fd, err := s.theClient().conn.(socket).Fd()
			for _, option := range []int{unix.TCP_KEEPIDLE, unix.TCP_KEEPINTVL, unix.TCP_KEEPCNT} {
				n, errGet := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, option)
				if err := errors.Join(err, errGet); err != nil {
					t.Error(err)
				}
				seconds = 100*seconds + n
			}
		})
		return seconds
	}
	before := idle()
	for range 2 {
		request(t, c, "pa", "pa")
		r.drive(t, c, 200)
		if got := idle(); got != 1_01_12 {
			t.Errorf("it drives, and is probed %d", got)
		}
		request(t, c, "pr", "pr")
		r.expect(t, 0)
		if got := idle(); got != before {
			t.Errorf("it does not drive, and is probed %d, before %d", got, before)
		}
	}
}
