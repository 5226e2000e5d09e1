// Package liveness decides whether a client has vanished without closing its connection (PROTOCOL
// 9.1): a laptop that walked out of range sends no FIN. It is pure: it has no connections and no
// clock. Callers pass the time and the kernel's facts about the connection.
package liveness

import "time"

const (
	// SilenceLimit disconnects a client that owes an acknowledgement. The kernel probes idle
	// connections (reactor/engine.go), but not while data is under way; then this limit is
	// checked every WatchPeriod. So a connection whose network is dead is closed within 15 s.
	SilenceLimit = 13 * time.Second
	WatchPeriod  = time.Second
	// unheardLimit is how long a client need not be checked while it is sent frames, because
	// pacing checks it. Pacing checks once in 32 frames, and lets a client go on with less
	// than a segment unacknowledged: too late for clients with slow or small frames. A
	// shorter limit costs checks of clients that pacing checks anyway.
	unheardLimit = 5 * time.Second

	// A mover, a client whose motors could run on, is watched more closely. The kernel probes
	// it every MoverProbe while it is idle, the server checks it every MoverCheck, and it must
	// answer within MoverSilence. So the motors stop within two seconds. A shorter limit would
	// stop robots on networks that drop a packet or two.
	MoverProbe   = time.Second
	MoverCheck   = 250 * time.Millisecond
	MoverSilence = 1500 * time.Millisecond

	// answerTime is how long the answer to a probe may take. It is counted from the probe:
	// while a client's window is closed, the kernel probes up to two minutes apart, so the
	// last answer may be two minutes old when a probe leaves.
	answerTime = MoverSilence - MoverProbe

	// While the receive window has room for roomLow frames, the kernel need not be asked for
	// its size. Pacing gives credit for this many frames at a time.
	roomLow = 8
)

// Facts are the kernel's facts about a connection (tcp_info).
type Facts struct {
	Probes     int           // keep-alive probes without an answer
	Unacked    int           // segments under way
	NotSent    int           // bytes that wait for room in the client's window
	LastAnswer time.Duration // how long ago the client's kernel has acknowledged something
	Window     int           // the client's receive window, bytes; Linux 5.4 and later
}

// Client is the state of a client's network. The zero value is a new connection.
type Client struct {
	unconfirmed    bool          // the newest bytes may be unacknowledged
	sent           time.Duration // when the newest bytes were sent
	heard          time.Duration // a time at which it was alive, known without asking the kernel
	probed         time.Duration // the first check that found an unanswered probe; zero: none is unanswered
	frame          int           // bytes of the newest frame
	unacknowledged int           // bytes, at the last check
	room           int           // bytes that fit into its receive window
	largest        int           // the largest room seen
}

// Heard is called when input of the client has come.
func (c *Client) Heard(now time.Duration) { c.heard = now }

// Sent is called when something was sent.
func (c *Client) Sent(now time.Duration) { c.sent, c.unconfirmed = now, true }

// SentFrame is called when a frame of size bytes was sent.
func (c *Client) SentFrame(now time.Duration, size int) {
	c.Sent(now)
	c.frame, c.room = size, c.room-size
}

// Unacknowledged is called with each check of how many bytes the client has not
// acknowledged.
func (c *Client) Unacknowledged(bytes int) {
	c.unacknowledged = bytes
	if bytes == 0 {
		c.unconfirmed, c.heard = false, max(c.heard, c.sent)
	}
}

// Unconfirmed reports whether the newest bytes may be unacknowledged.
func (c *Client) Unconfirmed() bool { return c.unconfirmed }

// Unheard reports whether the client was not heard for so long that it has to be checked.
func (c *Client) Unheard(now time.Duration) bool {
	return c.unconfirmed && now-c.heard > unheardLimit
}

// Quiet reports whether a mover was not heard since the last check, so that the kernel has to be
// asked.
func (c *Client) Quiet(now time.Duration) bool { return now-c.heard > MoverCheck }

// Silence returns for how long the client's kernel has owed an acknowledgement. It is zero while
// none is due: a client that is paused, or does not read, is not silent, because its kernel
// answers. If doubtful is set, silence includes time in which nothing can be known: bytes wait for
// room in the client's window, and the kernel asks for room ever more seldom.
func (c *Client) Silence(now time.Duration, f Facts, doubtful bool) time.Duration {
	switch {
	case f.Probes == 0:
		c.probed = 0
	case c.probed == 0:
		c.probed = now
	}
	waits := doubtful && f.NotSent > 0
	// One probe without an answer shows nothing before answerTime. Of two, the first had that time.
	unanswered := f.Probes > 1 || c.probed != 0 && now-c.probed >= answerTime
	if !waits && f.Unacked == 0 && !unanswered {
		return 0
	}
	return f.LastAnswer
}

// RoomIsLow reports whether UpdateWindow is due before Room.
func (c *Client) RoomIsLow() bool { return c.room < roomLow*c.frame }

// UpdateWindow brings Room up to date. It is called right after Unacknowledged.
func (c *Client) UpdateWindow(f Facts) {
	c.room = f.Window - c.unacknowledged
	c.largest = max(c.largest, c.room)
}

// Room returns how many bytes fit into the client's receive window. While a frame waits for room,
// the kernel does not probe. It asks for room, up to two minutes apart, so a network that dies
// meanwhile would be found dead up to two minutes later.
func (c *Client) Room() int {
	if c.room >= c.largest { // a frame larger than the whole window goes in pieces
		return max(c.room, c.frame)
	}
	return c.room
}
