package server

import (
	"errors"
	"slices"
	"time"

	"player/timers"
)

// How the server notices that a client is gone without having said so (9.1): a
// laptop that walked out of range sends no FIN.
const (
	// The kernel probes idle connections (reactor/gnet.go) but not while data is
	// under way; then silenceLimit holds, looked at once a second. Together: a
	// dead link is closed within 15 s.
	silenceLimit = 13 * time.Second
	watchPeriod  = time.Second
	// unheardLimit is how long the frames alone show that a client is there. Pacing
	// looks once in 32 of them, and while less than a segment is unacknowledged it
	// goes on: too late for clients with slow or small frames. A shorter limit
	// costs looks at clients that pacing looks at anyway.
	unheardLimit = 5 * time.Second

	// A commander, a client that could leave motors running, is watched more
	// closely: it is probed every second that it is idle, looked at four times a
	// second, and must be heard within commanderSilence. A shorter limit would
	// stop robots on links that drop a packet or two; with it the motors stop
	// within two seconds.
	commanderProbe   = time.Second // idle time and interval of keep-alive probes
	commanderCheck   = 250 * time.Millisecond
	commanderSilence = 1500 * time.Millisecond

	// answerTime is how long a probe may be under way. While a client's window is
	// closed the kernel probes up to two minutes apart, and the last answer is that
	// old when the next probe leaves.
	answerTime = commanderSilence - commanderProbe

	// roomLow is how many frames a commander's receive window takes at least
	// before the kernel is asked for the window again. Pacing gives credit for
	// this many frames at a time.
	roomLow = 8
)

var errSilent = errors.New("its link has been dead for 13 s")

// liveness is what is known of a client's link.
type liveness struct {
	commander      bool          // it is in server.commanders
	silent         bool          // its motors were stopped because it is silent
	unconfirmed    bool          // the newest bytes may be unacknowledged
	sent           time.Duration // when they were sent
	heard          time.Duration // a time at which it was alive, known without asking the kernel
	probed         time.Duration // the first look at which a probe was not answered, zero: it was
	frame          int           // bytes of the newest frame
	unacknowledged int           // bytes, at the last look
	room           int           // bytes that fit into its receive window, of a commander
	largest        int           // the largest room seen
	watchdog       *timers.Timer // looks at a client that is sent nothing more; nil before the first time
}

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
	c.conn.Probe(commanderProbe, int(silenceLimit/commanderProbe)-1)
	if !s.liveness.Armed() {
		s.timers.Set(s.liveness, now+commanderCheck)
	}
}

// checkCommanders stops the motors of commanders that have gone silent.
func (s *Server) checkCommanders(now time.Duration) time.Duration {
	for _, c := range s.commanders {
		silent := now-c.heard > commanderCheck && c.silence(now, true) > commanderSilence
		if silent && !c.silent {
			c.session.Halt(now)
			c.Log().Warn("client has gone silent, its motors are stopped")
		}
		c.silent = silent
	}
	if len(s.commanders) == 0 {
		return 0
	}
	return now + commanderCheck
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
			case c.silence(now, false) > silenceLimit:
				s.end(now, c, errSilent)
				return 0
			}
			return now + watchPeriod
		})
	}
	if !c.watchdog.Armed() {
		s.timers.Set(c.watchdog, now+watchPeriod)
	}
}

func (s *Server) stopWatching(c *client) {
	if c.watchdog != nil {
		s.timers.Stop(c.watchdog)
	}
}

// silence returns how long the client's kernel has owed us an acknowledgement.
// It is zero while none is due: a client that is paused, or does not read, is not
// silent, for its kernel answers. If doubtful is set, silence includes the time
// during which nobody can know: bytes wait for room in the client's window, and the
// kernel asks for it ever more seldom.
func (c *client) silence(now time.Duration, doubtful bool) time.Duration {
	info, err := c.conn.TCPInfo()
	switch {
	case err != nil:
		return 0
	case info.Probes == 0:
		c.probed = 0
	case c.probed == 0:
		c.probed = now
	}
	waits := doubtful && info.Notsent_bytes > 0
	if !waits && info.Unacked == 0 && (c.probed == 0 || now-c.probed < answerTime) {
		return 0
	}
	return time.Duration(info.Last_ack_recv) * time.Millisecond
}

// lookAtWindow brings room up to date. It is called right after a look at what is
// unacknowledged.
func (c *client) lookAtWindow() {
	info, err := c.conn.TCPInfo()
	if err != nil {
		return // the next write fails as well
	}
	c.room = int(info.Snd_wnd) - c.unacknowledged // Linux 5.4 and later
	c.largest = max(c.largest, c.room)
}
