package server

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"player/server/liveness"
	"player/timers"
)

// How the server notices that a client is gone without having said so (package liveness).

var errSilent = errors.New("its link has been dead for 13 s")

// watchCommander keeps the commanders up to date with what a session may do.
func (s *Server) watchCommander(now time.Duration, c *client) {
	commander := !c.gone && c.session.Drives()
	if commander == c.commander {
		return
	}
	c.commander = commander
	if !commander {
		s.commanders = slices.DeleteFunc(s.commanders, func(o *client) bool { return o == c })
		return
	}
	s.commanders = append(s.commanders, c)
	c.conn.Probe(liveness.DriverProbe, int(liveness.SilenceLimit/liveness.DriverProbe)-1)
	if !s.liveness.Armed() {
		s.checked = now
		s.timers.Set(s.liveness, now+liveness.DriverCheck)
	}
}

// checkCommanders stops the motors of commanders that have gone silent. After a pause of
// the server, what was read just now may be old: the kernel is asked about everybody.
func (s *Server) checkCommanders(now time.Duration) time.Duration {
	paused := now-s.checked > 2*liveness.DriverCheck
	s.checked = now
	for _, c := range s.commanders {
		silent := (paused || c.live.Quiet(now)) && c.Silent(now)
		if silent && !c.silent {
			c.session.Halt(now)
			c.Log().Warn("client has gone silent, its motors are stopped")
		}
		c.silent = silent
	}
	if len(s.commanders) == 0 {
		return 0
	}
	return now + liveness.DriverCheck
}

// watch looks at a client once a second until it has acknowledged everything:
// frames may not show in time that its link is dead.
func (s *Server) watch(now time.Duration, c *client) {
	if c.gone {
		return
	}
	if c.watchdog == nil {
		c.watchdog = timers.NewTimer(func(now time.Duration) time.Duration {
			switch {
			case c.Unacknowledged() == 0:
				return 0
			case c.silence(now, false) > liveness.SilenceLimit:
				s.end(now, c, errSilent)
				return 0
			}
			return now + liveness.WatchPeriod
		})
	}
	if !c.watchdog.Armed() {
		s.timers.Set(c.watchdog, now+liveness.WatchPeriod)
	}
}

func (s *Server) stopWatching(c *client) {
	if c.watchdog != nil {
		s.timers.Stop(c.watchdog)
	}
}

// silence is liveness.Client.Silence of what the kernel knows now.
func (c *client) silence(now time.Duration, doubtful bool) time.Duration {
	info, err := c.conn.TCPInfo()
	if err != nil {
		return 0 // the connection is gone: a Hangup follows
	}
	return c.live.Silence(now, factsOf(info), doubtful)
}

func factsOf(info *unix.TCPInfo) liveness.Facts {
	return liveness.Facts{
		Probes: int(info.Probes), Unacked: int(info.Unacked), NotSent: int(info.Notsent_bytes),
		LastAnswer: time.Duration(info.Last_ack_recv) * time.Millisecond, Window: int(info.Snd_wnd),
	}
}
