package server

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"player/server/liveness"
	"player/timers"
)

// A client may vanish without closing its connection. Package liveness decides when it has; this
// file reads the facts for it from the kernel.

var errSilent = errors.New("its network has been dead for 13 s")

// watchMover adds a client to the movers, or removes it, when its access has changed. A mover has
// write access to a device that must be stopped when the client is lost.
func (s *Server) watchMover(now time.Duration, c *client) {
	driving := !c.closed && c.session.IsMover()
	if driving == c.mover {
		return
	}
	c.mover = driving
	if !driving {
		s.movers = slices.DeleteFunc(s.movers, func(o *client) bool { return o == c })
		c.conn.ProbeSlowly()
		return
	}
	s.movers = append(s.movers, c)
	c.conn.Probe(liveness.MoverProbe, int(liveness.SilenceLimit/liveness.MoverProbe)-1)
	if !s.moversTimer.Armed() {
		s.moversChecked = now
		s.timers.Set(s.moversTimer, now+liveness.MoverCheck)
	}
}

// checkMovers stops the motors of movers that have become silent. After a pause of the server,
// input that was read just now may be old. So the kernel is asked about every mover then.
func (s *Server) checkMovers(now time.Duration) time.Duration {
	paused := now-s.moversChecked > 2*liveness.MoverCheck
	s.moversChecked = now
	for _, c := range s.movers {
		silent := (paused || c.live.Quiet(now)) && c.Silent(now)
		if silent && !c.silent {
			c.session.Halt(now)
			c.Log().Warn("client has gone silent, its motors are stopped")
		}
		c.silent = silent
	}
	if len(s.movers) == 0 {
		return 0
	}
	return now + liveness.MoverCheck
}

// watch checks a client once a second until it has acknowledged everything. It disconnects the
// client if its network is dead, which pacing may notice too late.
func (s *Server) watch(now time.Duration, c *client) {
	if c.closed {
		return
	}
	if c.watchdog == nil {
		c.watchdog = timers.NewTimer(func(now time.Duration) time.Duration {
			switch {
			case c.unacknowledged() == 0:
				return 0
			case c.silence(now, false) > liveness.SilenceLimit:
				s.disconnect(now, c, errSilent)
				return 0
			}
			return now + liveness.WatchPeriod
		})
	}
	if !c.watchdog.Armed() {
		s.timers.Set(c.watchdog, now+liveness.WatchPeriod)
	}
}

// silence returns liveness.Client.Silence with the facts that the kernel has now.
func (c *client) silence(now time.Duration, doubtful bool) time.Duration {
	info, err := c.conn.TCPInfo()
	if err != nil {
		return 0 // the connection is closed: a Hangup follows
	}
	return c.live.Silence(now, factsOf(info), doubtful)
}

func factsOf(info *unix.TCPInfo) liveness.Facts {
	return liveness.Facts{
		Probes: int(info.Probes), Unacked: int(info.Unacked), NotSent: int(info.Notsent_bytes),
		LastAnswer: time.Duration(info.Last_ack_recv) * time.Millisecond, Window: int(info.Snd_wnd),
	}
}
