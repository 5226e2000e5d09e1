package server

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"player/timers"
)

// simClient is a program with a connection to the server. It does things at
// random, and judges each byte that it gets by docs/PROTOCOL.md, whose clauses
// the numbers in comments are.
type simClient struct {
	sim  *sim
	name int

	event    event  // that has brought it
	happened *event // what is recorded of it
	act      int    // the number of what it does next

	robot *simRobot
	conn  *simConn

	well   bool // it reads at once, its network is never cut, and it makes no mistakes
	drives bool // it commands often
	yields bool // its stops do not stop a robot that another client commands

	// Its computer.
	delays      bool // acknowledgements
	rcvbuf      int
	unread      []*packet
	unreadBytes int
	paused      bool // it does not read
	resumed     time.Duration
	down        bool // its network is cut
	downSince   time.Duration
	downUntil   time.Duration // of the newest outage
	stalled     []chunk       // sent while it was cut
	left        time.Duration // when it has closed the connection or vanished, zero: it has not
	vanished    bool
	roamed      bool
	excuse      string // why the server may close the connection; empty: it may not
	over        bool   // the server's end is closed

	// Its knowledge of its session: the state that replies have confirmed, and the messages
	// since.
	stream   []byte // not parsed yet
	array    []byte // the stream's, empty
	written  time.Duration
	delayed  time.Duration // how long the loop had been delayed when it was written
	slots    []simSlot
	y        byte // access to device y
	requests []simRequest
	sure     mode
	maybe    []modeChange // sent after the newest request that was answered
	mayBe    []mode       // scratch of modes
	sent     int          // messages

	// Frames.
	expect    []byte // letters of a full frame
	at        int    // blocks of the current frame that have come
	clocked   bool   // it has begun with block y
	frameTime uint64 // of block y, us
	ages      []uint32
	newest    time.Duration // when the newest frame was written
	lag       time.Duration // how long the loop had been delayed by then
	changed   time.Duration // when a reply came
	asks      int           // in this request/reply mode
	asked     bool          // it has asked for frames, in any mode
	answers   int           // frames since it was confirmed
	frames    int           // all
	before    int           // of them a second ago
	askedAt   time.Duration // the newest ask

	writer bool  // it is one of robot.writers
	ops    []*op // commands whose effect is not confirmed

	stops     []*stopOp     // that are not confirmed
	lastClaim time.Duration // when it may have commanded last, if no op is open
	questions []simQuestion // that are not answered
	refused   string        // letters that the last reply refuses
	refusedBy string        // the request
	cut       *op           // the motors may be stopped because its network is cut
	visit                   // if it is a connection of a server for programs
	encrypts  bool          // it uses TLS
	owner     bool          // the server keeps places for it
	readOnly  bool          // it had no right to write when it connected, and does not ask for it
	tls       *simTLS       // nil: it does not, or the handshake has not been done
}

// simSlot is a device that was opened: the letter, its access (zero: never), and
// when it was opened.
type simSlot struct {
	letter, access byte
	since          time.Duration
}

type simRequest struct {
	pairs   string
	number  int // of the message
	sent    time.Duration
	healthy bool // setup must succeed
}

// mode is the state of 4.
type mode struct {
	onRequest, onlyNew bool
	period             time.Duration
}

type modeChange struct {
	number  int
	apply   func(*mode)
	cancels bool // frames that were asked for
}

// chunk is sent at once by the client's computer: bytes, or an end.
type chunk struct {
	bytes   []byte
	command bool
	arrives func() // called when it has come
	end     error
}

func (c *simClient) String() string {
	if c.socket != nil {
		return fmt.Sprintf("client %d for programs", c.name)
	}
	return fmt.Sprintf("client %d", c.name)
}

func reads(access byte) bool  { return access == 'r' || access == 'a' }
func writes(access byte) bool { return access == 'w' || access == 'a' }

// newClient connects the client of an event.
func (s *sim) newClient(e event, happened *event) {
	c := s.client(s.robots[e.robot], s.wires[s.random.IntN(len(s.wires))])
	c.name, c.event, c.happened = e.number, e, happened
	c.well, c.drives, c.delays = s.chance(3), s.chance(2), s.chance(2)
	c.conn.sndbuf = []int{4 << 10, 64 << 10, 1 << 20}[s.random.IntN(3)]
	if c.well {
		c.conn.wire = s.wires[s.random.IntN(2)]
	} else {
		c.rcvbuf = []int{600, 4 << 10, 64 << 10, 256 << 10}[s.random.IntN(4)]
	}
	c.conn.local = c.conn.wire.addresses[s.random.IntN(len(c.conn.wire.addresses))]
	if c.conn.wire == s.wires[0] { // a program on the robot
		c.conn.remote.IP = net.ParseIP(c.conn.local)
	} else {
		c.conn.remote.IP = net.IPv4(10, 1, 0, byte(1+s.random.IntN(3)))
	}
	c.encrypts = s.keys != nil && s.chance(3)
	c.connect(func() { s.as(s.stream(aClient, c.name, 1), c.begin) })
}

// placeFor reports whether the server has a place for a client: the last one in
// eight is for this computer.
func (s *sim) placeFor(c *simClient) bool {
	all, ofAddress, strangers := 0, 0, 0
	for _, o := range s.clients {
		if o == c || o.conn.handler == nil || o.conn.closed {
			continue
		}
		all++
		if o.conn.remote.IP.Equal(c.conn.remote.IP) {
			ofAddress++
		}
		if !o.owner {
			strangers++
		}
	}
	kept := (s.most + 7) / 8
	c.owner = c.owns()
	return !c.robot.gone && all < s.most && ofAddress < s.mostOfAddress && (c.owner || strangers < s.most-kept)
}

// client returns a client that is not connected yet.
func (s *sim) client(r *simRobot, w *wire) *simClient {
	s.names++
	s.summary.Clients++
	c := &simClient{sim: s, name: s.names, robot: r, rcvbuf: 256 << 10, sure: mode{period: 100 * time.Millisecond}}
	c.conn = &simConn{
		sim: s, client: c, wire: w, local: w.addresses[0], remote: tcpAddr("10.1.0.1", 1024+c.name%60000), sndbuf: 64 << 10,
		heard: s.now, idle: slowProbe.Idle, pause: slowProbe.Interval, count: slowProbe.Count,
	}
	c.conn.probe = timers.NewTimer(c.conn.tick)
	return c
}

// connect connects the client, and then calls then.
func (c *simClient) connect(then func()) {
	s := c.sim
	s.clients = append(s.clients, c)
	c.beAccepted(then)
}

func (c *simClient) beAccepted(then func()) {
	s := c.sim
	s.onLoop(func(now time.Duration) {
		if c.encrypts {
			c.acceptTLS(now, then)
			return
		}
		if !s.accepting { // it waits in the kernel
			s.after(10*time.Millisecond, func() { c.beAccepted(then) })
			return
		}
		place := s.placeFor(c)
		c.conn.handler = s.server.accept(now, c.conn, c.robot.index)
		c.accepted(place, then)
	})
}

// accepted is called when the server has taken or refused the client. place: it has a place for it.
func (c *simClient) accepted(place bool, then func()) {
	s := c.sim
	if taken := c.conn.handler != nil; taken != place {
		s.fail("%v of %v is taken: %v, with %d clients of at most %d, %d of an address", c, c.conn.remote, taken, len(s.server.clients), s.most, s.mostOfAddress)
	}
	if !place {
		s.summary.Refusals++
		c.conn.closed = true
		c.lost()
		return
	}
	s.note("%v connects from %v: well %v, drives %v, wire %s, robot %d, window %d, TLS %v",
		c, c.conn.remote, c.well, c.drives, c.conn.wire.name, c.robot.index, c.rcvbuf, c.encrypts)
	c.conn.schedule()
	if c.readOnly = c.mayOnlyRead(s.access); c.readOnly {
		c.requests = append(c.requests, simRequest{pairs: "pw", number: c.sent, sent: s.now})
		c.send(message('d', 'r', []byte("pw")))
	}
	s.after(time.Millisecond, then)
}

// begin opens devices and starts to act.
func (c *simClient) begin() {
	if c.over {
		return
	}
	s := c.sim
	if s.closing {
		c.leave()
		return
	}
	if c.robot.lease != 0 && s.chance(2) { // the judge knows only the longest lifetime, which the robot allows
		lifetime := []uint16{1, 100, 300, 5000, 0xFFFF}[s.random.IntN(5)]
		c.send(message('x', 'y', []byte{'l', byte(lifetime >> 8), byte(lifetime)}))
	}
	if c.yields = c.robot.lease == 0 && s.chance(3); c.yields {
		c.send(message('x', 'y', []byte{'l', 0xFF, 0xFF}))
	}
	switch s.random.IntN(4) {
	case 0:
		c.request(c.pairs())
	case 1:
		c.request("yrprsr")
	default:
		c.request("yrpasrlrmrgr"[:2*(1+s.random.IntN(6))])
	}
	if s.crowded {
		c.setRate(50)
	}
	s.after(s.wait(time.Second), c.live)
}

// setRate asks for hz frames a second.
func (c *simClient) setRate(hz int) {
	c.setMode([]byte{'f', byte(hz >> 8), byte(hz)}, false, func(m *mode) { m.period = time.Second / time.Duration(min(hz, 1000)) })
}

// pairs returns the pairs of a random request.
func (c *simClient) pairs() string {
	s := c.sim
	var b strings.Builder
	for range s.random.IntN(5) {
		b.WriteByte("ppppssgmyyvqll"[s.random.IntN(14)])
		b.WriteByte("rrrwaaac"[s.random.IntN(8)])
	}
	if !c.well && s.chance(10) {
		b.WriteString("px"[s.random.IntN(2):])
	}
	return b.String()
}

// live has the client do something at random, and again after a while.
func (c *simClient) live() {
	s := c.sim
	if c.over || c.left != 0 {
		return
	}
	mean := 2 * time.Second
	if c.drives {
		mean = 200 * time.Millisecond
	}
	s.as(s.stream(aClient, c.name, 2+c.act), func() {
		s.after(s.wait(mean), c.live)
		if c.acts() {
			c.doSomething()
		}
	})
}

// doSomething does something at random.
func (c *simClient) doSomething() {
	s := c.sim
	if c.drives && !s.chance(10) {
		if c.commands(1); c.yields && s.chance(3) {
			c.nudge()
		}
		if s.chance(30) {
			c.commands(200) // more than a slice
		}
		if !s.chance(4) {
			c.request("") // its reply shows that the command was carried out
		}
		return
	}
	switch s.random.IntN(32) {
	case 26, 27:
		if s.chance(3) { // perhaps behind a setup
			c.request([]string{"pcscmcgcpr", "lclr"}[s.random.IntN(2)])
		}
		if c.emergencyStop(true); s.chance(2) {
			c.emergencyStop(false)
		}
	case 28:
		c.emergencyStop(false)
	case 29, 30, 31:
		c.ask("essgc"[s.random.IntN(5)])
	case 0, 1, 2:
		c.request(c.pairs())
	case 3, 4:
		c.commands(1)
		c.request("")
	case 5:
		c.send(message('c', 'g', []byte{byte(1 + s.random.IntN(17)), byte(s.random.IntN(200))}))
	case 6, 7:
		c.setRate([]int{1, 3, 10, 10, 20, 25, 50, 100, 5000}[s.random.IntN(9)])
	case 8:
		on := s.chance(2)
		c.asks, c.askedAt = 0, 0
		c.setMode([]byte{'r', bit(on)}, true, func(m *mode) { m.onRequest = on })
	case 9:
		on := s.chance(3)
		c.setMode([]byte{'n', bit(on)}, false, func(m *mode) { m.onlyNew = on })
	case 10, 11, 12:
		n := 1 + s.random.IntN(4)
		if s.chance(20) {
			n = 300
		}
		c.asks += n
		c.asked = true
		if len(c.requests) == 0 && len(c.expect) > 0 && c.sure.onRequest {
			c.askedAt = s.now
		}
		c.send(slices.Repeat(message('x', 'y', []byte("d")), n))
	case 13:
		c.configure("psgm"[s.random.IntN(4)], [][]byte{{'m', 1}, {'m', bit(!s.chance(4))}, {'v', bit(s.chance(2))}, {'R'}}[s.random.IntN(4)])
	case 14:
		if s.chance(4) {
			c.leave()
		}
	case 15, 16, 17, 18, 19:
		if !c.well {
			c.misbehave()
		}
	}
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
