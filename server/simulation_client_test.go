package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
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
	sim   *sim
	name  int
	robot *simRobot
	conn  *simConn

	well   bool // it reads at once, its network is never cut, and it makes no mistakes
	drives bool // it commands often

	// Its computer.
	delays      bool // acknowledgements
	rcvbuf      int
	unread      []*packet
	unreadBytes int
	paused      bool // it does not read
	down        bool // its network is cut
	downSince   time.Duration
	downUntil   time.Duration // of the newest outage
	stalled     []chunk       // sent while it was cut
	left        time.Duration // when it has closed the connection or vanished, zero: it has not
	vanished    bool
	excuse      string // why the server may close the connection; empty: it may not
	over        bool   // the server's end is closed

	// What it knows of its session: what replies have confirmed, and what was sent
	// since.
	stream   []byte // not parsed yet
	written  time.Duration
	slots    []simSlot
	y        byte // access to device y
	requests []simRequest
	sure     mode
	maybe    []modeChange // sent after the newest request that was answered
	sent     int          // messages

	// Frames.
	expect    []byte // letters of a full frame
	at        int    // blocks of the current frame that have come
	clocked   bool   // it has begun with block y
	frameTime uint64 // of block y, us
	ages      []uint32
	newest    time.Duration // when the newest frame was written
	changed   time.Duration // when a reply came
	asks      int           // in this request/reply mode
	answers   int           // frames since it was confirmed
	frames    int           // all
	before    int           // of them a second ago
	askedAt   time.Duration // the newest ask

	writer bool  // it is one of robot.writers
	ops    []*op // commands whose effect is not confirmed
	cut    *op   // the motors may be stopped because its network is cut
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

// chunk is what the client's computer sends at once: bytes, or an end.
type chunk struct {
	bytes   []byte
	command bool
	end     error
}

func (c *simClient) String() string { return fmt.Sprintf("client %d", c.name) }

func reads(access byte) bool  { return access == 'r' || access == 'a' }
func writes(access byte) bool { return access == 'w' || access == 'a' }

// newClient connects a client.
func (s *sim) newClient() {
	if s.closing {
		return
	}
	c := s.client(s.robots[s.random.IntN(len(s.robots))], s.wires[s.random.IntN(len(s.wires))])
	c.well, c.drives, c.delays = s.chance(3), s.chance(2), s.chance(2)
	c.conn.sndbuf = []int{4 << 10, 64 << 10, 1 << 20}[s.random.IntN(3)]
	if c.well {
		c.conn.wire = s.wires[0]
	} else {
		c.rcvbuf = []int{600, 4 << 10, 64 << 10, 256 << 10}[s.random.IntN(4)]
	}
	c.conn.remote.IP = net.IPv4(10, 1, 0, byte(1+s.random.IntN(3)))
	if c.conn.wire == s.wires[0] && s.chance(3) {
		c.conn.remote.IP = net.IPv4(127, 0, 0, 1)
	}
	c.connect(c.begin)
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
		if !o.conn.remote.IP.IsLoopback() {
			strangers++
		}
	}
	kept := (s.most + 7) / 8
	return all < s.most && ofAddress < s.mostOfAddress && (c.conn.remote.IP.IsLoopback() || strangers < s.most-kept)
}

// client returns a client that is not connected yet.
func (s *sim) client(r *simRobot, w *wire) *simClient {
	s.names++
	s.summary.Clients++
	c := &simClient{sim: s, name: s.names, robot: r, rcvbuf: 256 << 10, sure: mode{period: 100 * time.Millisecond}}
	c.conn = &simConn{
		sim: s, client: c, wire: w, remote: tcpAddr("10.1.0.1", 1024+c.name%60000), sndbuf: 64 << 10,
		heard: s.now, idle: 5 * time.Second, pause: 3 * time.Second, count: 3,
	}
	c.conn.probe = timers.NewTimer(c.conn.tick)
	return c
}

// connect connects the client, and then calls then.
func (c *simClient) connect(then func()) {
	s := c.sim
	s.clients = append(s.clients, c)
	s.onLoop(func(now time.Duration) {
		place := s.placeFor(c)
		c.conn.handler = s.server.accept(now, c.conn, c.robot.index)
		if taken := c.conn.handler != nil; taken != place {
			s.fail("%v of %v is taken: %v, with %d clients of at most %d, %d of an address", c, c.conn.remote, taken, len(s.server.clients), s.most, s.mostOfAddress)
		}
		if !place {
			s.summary.Refusals++
			c.conn.closed = true
			c.lost()
			return
		}
		s.note("%v connects from %v: well %v, drives %v, wire %s, robot %d, window %d", c, c.conn.remote, c.well, c.drives, c.conn.wire.local, c.robot.index, c.rcvbuf)
		c.conn.schedule()
		s.after(time.Millisecond, then)
	})
}

// begin opens devices and starts to act.
func (c *simClient) begin() {
	if c.over {
		return
	}
	s := c.sim
	switch s.random.IntN(4) {
	case 0:
		c.request(c.pairs())
	case 1:
		c.request("yrprsr")
	default:
		c.request("yrpasrlrmrgr"[:2*(1+s.random.IntN(6))])
	}
	s.after(s.wait(time.Second), c.act)
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

// act does something at random, and again after a while.
func (c *simClient) act() {
	s := c.sim
	if c.over || c.left != 0 {
		return
	}
	mean := 2 * time.Second
	if c.drives {
		mean = 200 * time.Millisecond
	}
	s.after(s.wait(mean), c.act)
	if c.drives && !s.chance(10) {
		if c.commands(1); s.chance(30) {
			c.commands(200) // more than a slice
		}
		if !s.chance(4) {
			c.request("") // its reply shows that the command was carried out
		}
		return
	}
	switch s.random.IntN(26) {
	case 0, 1, 2:
		c.request(c.pairs())
	case 3, 4:
		c.commands(1)
		c.request("")
	case 5:
		c.send(message('c', 'g', []byte{byte(1 + s.random.IntN(17)), byte(s.random.IntN(200))}))
	case 6, 7:
		hz := []int{1, 3, 10, 10, 20, 25, 50, 100, 5000}[s.random.IntN(9)]
		c.setMode([]byte{'f', byte(hz >> 8), byte(hz)}, false, func(m *mode) { m.period = time.Second / time.Duration(min(hz, 1000)) })
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
		if len(c.requests) == 0 && len(c.expect) > 0 && c.sure.onRequest {
			c.askedAt = s.now
		}
		c.send(slices.Repeat(message('x', 'y', []byte("d")), n))
	case 13:
		c.send(message('x', "psgm"[s.random.IntN(4)], [][]byte{{'m', 1}, {'m', bit(!s.chance(4))}, {'v', bit(s.chance(2))}, {'R'}}[s.random.IntN(4)]))
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

// misbehave does what programs and networks should not do.
func (c *simClient) misbehave() {
	s := c.sim
	switch s.random.IntN(9) {
	case 0:
		s.note("%v does not read", c)
		c.paused = true
		if s.chance(4) { // and fills its window
			c.excuse = "it asks and does not read"
			for range 300 {
				c.request("yrprsr")
			}
		}
		// A full window may be taken for silence (9.1).
		stop := c.robot.history.stop(s.now, c, true)
		s.after(s.wait(3*time.Second), func() {
			c.resume()
			s.after(3*time.Second, func() { stop.end(s.now) })
		})
	case 1, 2:
		c.cutNetwork(s.wait(2 * time.Second))
	case 3:
		if s.chance(3) {
			c.vanish()
		}
	case 4: // reset
		if s.chance(3) && !c.down && len(c.stalled) == 0 {
			s.note("%v resets the connection", c)
			c.left, c.excuse = s.now, "it has left"
			c.mayStop()
			c.deliver(chunk{end: errors.New("connection reset by peer")})
		}
	case 5: // unknown kinds, and payloads that are too large
		for range 1 + s.random.IntN(20) {
			c.send(message("zqd"[s.random.IntN(3)], byte(s.random.IntN(256))|1, make([]byte, s.random.IntN(700))))
		}
		c.request("") // ends the row
	case 6:
		if s.chance(4) {
			s.note("%v sends only malformed messages", c)
			c.excuse = "it does not speak the protocol"
			c.send(slices.Repeat(message('z', 'z', nil), 150))
		}
	case 7: // half a message, then the end
		if s.chance(3) {
			c.send([]byte("cp\x00\x04\x00")[:1+s.random.IntN(4)])
			c.leave()
		}
	case 8: // wrong sizes, no rights, unknown codes
		c.send(message('c', 'p', make([]byte, s.random.IntN(4))))
		c.send(message('c', 's', nil))
		c.send(message('x', 'y', []byte{'f', 0, 0}))
		c.send(message('x', 'p', []byte{byte(s.random.IntN(256) | 128)}))
	}
}

// leave closes the connection in an orderly way.
func (c *simClient) leave() {
	if c.over || c.left != 0 {
		return
	}
	c.sim.note("%v leaves", c)
	if c.down {
		c.vanish()
		return
	}
	c.left, c.excuse = c.sim.now, "it has left"
	c.mayStop()
	c.deliver(chunk{end: io.EOF})
}

// mayStop records that the server may find the client lost from now on.
func (c *simClient) mayStop() {
	if c.cut == nil {
		c.cut = c.robot.history.stop(c.sim.now, c, true)
	}
}

func (c *simClient) vanish() {
	c.cutNetwork(never)
	c.sim.note("%v vanishes", c)
	c.left, c.vanished = c.downSince, true
}

// cutNetwork cuts the client's network for some time.
func (c *simClient) cutNetwork(d time.Duration) {
	s := c.sim
	if c.down {
		return
	}
	s.note("the network of %v is cut for %v", c, d)
	c.down, c.downSince = true, s.now
	c.conn.cut()
	c.setWriter()
	c.mayStop()
	if d == never {
		return
	}
	s.after(d, func() {
		if c.over || c.vanished {
			return
		}
		s.note("the network of %v is back", c)
		c.down, c.downUntil = false, s.now
		c.setWriter()
		if d > 10*time.Second {
			c.excuse = "it was away for long"
		}
		c.conn.mend(d)
		s.after(s.between(0, min(d, 2*time.Second)), func() {
			if c.down || c.over {
				return
			}
			all := c.stalled
			c.stalled = nil
			for _, k := range all {
				c.comes(k)
			}
		})
		s.after(3*time.Second, func() {
			if !c.down && !c.over && c.cut != nil && s.now >= c.downUntil+3*time.Second {
				c.cut.end(s.now)
				c.cut = nil
			}
		})
	})
}

func message(kind, device byte, payload []byte) []byte {
	return append([]byte{kind, device, byte(len(payload) >> 8), byte(len(payload))}, payload...)
}

// send sends a message, cut anywhere.
func (c *simClient) send(b []byte) {
	c.sent++
	c.transmit(b, false)
}

func (c *simClient) transmit(b []byte, command bool) {
	for len(b) > 0 {
		n := len(b)
		if c.sim.chance(3) {
			n = 1 + c.sim.random.IntN(n)
		}
		c.deliver(chunk{bytes: b[:n], command: command})
		b = b[n:]
	}
}

// deliver takes a chunk over the network.
func (c *simClient) deliver(k chunk) {
	s := c.sim
	jitter := time.Duration(0)
	if s.chance(4) {
		jitter = s.between(0, 10*time.Millisecond)
	}
	c.conn.last = max(c.conn.last+1, s.now+c.conn.wire.trip+jitter)
	s.at(c.conn.last, func() {
		if len(c.stalled) > 0 || c.down {
			c.stalled = append(c.stalled, k)
			return
		}
		c.comes(k)
	})
}

// comes is called when a chunk has come to the server's kernel.
func (c *simClient) comes(k chunk) {
	if c.over {
		return
	}
	if k.end != nil {
		c.conn.finish(k.end)
		return
	}
	if k.command {
		c.robot.commanded = c.sim.now
	}
	c.conn.receive(k.bytes)
}

// request sends a device request.
func (c *simClient) request(pairs string) {
	s := c.sim
	c.requests = append(c.requests, simRequest{pairs: pairs, number: c.sent, sent: s.now, healthy: c.robot.healthy()})
	defer c.send(message('d', 'r', []byte(pairs)))
	s.summary.Requests++
	s.note("%v requests %q", c, pairs)
	if strings.Contains(pairs, "p") {

		if c.mayWrite() && strings.ContainsAny(pairs, "cr") {
			c.remember(c.robot.history.stop(s.now, c, !c.surely(pairs)))
		}
		c.setWriter()
	}
}

// remember keeps a command that the next message gives until a reply shows that
// it was carried out.
func (c *simClient) remember(o *op) {
	o.message = c.sent
	c.ops = append(c.ops, o)
}

// surely reports whether a request certainly takes away the right to write.
func (c *simClient) surely(pairs string) bool {
	return len(c.requests) == 1 && writes(c.access('p')) && (pairs == "pc" || pairs == "pr" && c.access('p') == 'a')
}

// commands sends commands to position, all at once.
func (c *simClient) commands(n int) {
	var b []byte
	for range n {
		b = append(b, c.command()...)
	}
	c.transmit(b, true)
}

// command returns a command to position, and expects its effect.
func (c *simClient) command() []byte {
	s := c.sim
	speed, turn := int16(s.random.IntN(1001)-500), int16(s.random.IntN(201)-100)
	if s.chance(6) {
		speed, turn = 0, 0
	}
	certain := true
	for _, r := range c.requests {
		certain = certain && !strings.Contains(r.pairs, "p")
	}
	may := c.mayWrite()
	if may {
		certain = certain && writes(c.access('p'))
		c.remember(c.robot.history.write(s.now, c, speed, turn, !certain))
		s.summary.Commands++
		s.note("%v commands %d mm/s, %d deg/s", c, speed, turn)
	}
	c.sent++
	return message('c', 'p', binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, uint16(speed)), uint16(turn)))
}

func (c *simClient) setMode(code []byte, cancels bool, apply func(*mode)) {
	c.maybe = append(c.maybe, modeChange{c.sent, apply, cancels})
	c.send(message('x', 'y', code))
	c.request("")
}

// access returns the access that replies have confirmed.
func (c *simClient) access(letter byte) byte {
	for _, p := range c.slots {
		if p.letter == letter {
			return p.access
		}
	}
	return 0
}

// mayWrite reports whether the client may have the right to drive.
func (c *simClient) mayWrite() bool {
	if writes(c.access('p')) {
		return true
	}
	for _, r := range c.requests {
		if strings.Contains(r.pairs, "pw") || strings.Contains(r.pairs, "pa") || strings.Contains(r.pairs, "pr") {
			return true
		}
	}
	return false
}

// setWriter keeps the robot's count of writers up to date.
func (c *simClient) setWriter() {
	is := !c.over && c.left == 0 && !c.down && c.mayWrite()
	if is != c.writer {
		c.writer = is
		c.robot.writersChange(is)
	}
}

// wasWritten is called when the server writes: 1.6.
func (c *simClient) wasWritten(p []byte) {
	replies, blocks := 0, ""
	for b := p; len(b) > 0; {
		if len(b) < 3 || len(b) < 3+int(b[1])<<8+int(b[2]) {
			c.sim.fail("%v: a torn block %.20q", c, b)
		}
		if b[0] == 'r' {
			replies++
		} else {
			blocks += string(b[0])
		}
		b = b[3+int(b[1])<<8+int(b[2]):]
	}
	if replies > 0 && len(c.ops) > 0 {
		c.robot.commanded = c.sim.now // the input behind a request is carried out with its reply (2.7)
	}
	if replies > 0 && blocks != "" {
		c.sim.fail("%v: replies and frames in one write", c)
	}
	for i := range blocks {
		if strings.Contains(blocks[:i], blocks[i:i+1]) {
			c.sim.fail("%v: two frames in one write: %q", c, blocks)
		}
	}
}

// wasClosed is called when the server closes the connection.
func (c *simClient) wasClosed() {
	s := c.sim
	long := s.now-c.conn.heard > 12*time.Second
	if c.excuse == "" && !long {
		s.fail("%v has done nothing, and the server has closed its connection", c)
	}
}

// lost is called when the server's end of the connection is closed.
func (c *simClient) lost() {
	s := c.sim
	if c.over {
		return
	}
	s.note("the connection of %v has ended", c)
	c.over = true
	c.setWriter()
	if c.conn.handler != nil {
		for _, o := range c.ops {
			o.maybe = true // it may not have come through
			o.end(s.now)
		}
		stop := c.robot.history.stop(s.now, c, !(len(c.requests) == 0 && writes(c.access('p'))))
		stop.end(s.now)
		if c.cut != nil {
			c.cut.end(s.now)
		}
	}
	s.clients = slices.DeleteFunc(s.clients, func(o *simClient) bool { return o == c })
	s.after(s.wait(5*time.Second), s.newClient)
}

// arrive brings a packet to the client's computer.
func (c *simClient) arrive(p *packet) {
	c.unread = append(c.unread, p)
	c.unreadBytes += len(p.bytes)
	if !c.paused {
		c.read()
	}
}

func (c *simClient) resume() {
	c.paused = false
	c.read()
	if !c.over && c.excuse == "" || c.excuse == "it asks and does not read" {
		c.sim.after(2*c.conn.wire.trip, func() {
			if !c.down && !c.over {
				c.conn.hear(c.sim.now) // the window is open again
				c.conn.pump()
			}
		})
	}
}

func (c *simClient) read() {
	all := c.unread
	c.unread, c.unreadBytes = nil, 0
	for _, p := range all {
		c.stream, c.written = append(c.stream, p.bytes...), p.written
		c.parse()
	}
}

// parse takes whole blocks from the stream.
func (c *simClient) parse() {
	for len(c.stream) >= 3 {
		size := int(binary.BigEndian.Uint16(c.stream[1:]))
		if len(c.stream) < 3+size {
			return
		}
		letter, payload := c.stream[0], c.stream[3:3+size]
		if letter == 'r' {
			c.reply(string(payload))
		} else {
			c.block(letter, payload)
		}
		c.stream = c.stream[3+size:]
	}
	if len(c.stream) == 0 {
		c.stream = nil
	}
}

// ask returns the state after a pair: the table of 2.3.
func ask(state, want byte) byte {
	open := reads(state) || writes(state)
	switch {
	case want == 'a':
		return 'a'
	case want == 'r' && state == 'w', want == 'w' && state == 'r':
		return 'a'
	case want == 'r' || want == 'w':
		return want
	case want == 'c' && open:
		return 'c'
	}
	return state
}

// mayBe reports whether a device may be in a state after a request during which
// it has failed.
func mayBe(pairs string, letter, state byte) bool {
	for from := 2; from <= len(pairs); from += 2 { // it has failed just before
		after := byte('e')
		for i := from; i+1 < len(pairs); i += 2 {
			if pairs[i] == letter {
				after = ask(after, pairs[i+1])
			}
		}
		if after == state {
			return true
		}
	}
	return false
}

// reply judges the reply to the oldest request: 2.4, 2.5, 3.2.
func (c *simClient) reply(got string) {
	s := c.sim
	s.summary.Replies++
	s.note("%v gets %q", c, got)
	if c.at != 0 && !c.gives("") && !slices.ContainsFunc(c.modes(), func(m mode) bool { return m.onlyNew }) {
		s.fail("%v: a reply within a frame", c)
	}
	c.at = 0
	if len(c.requests) == 0 {
		s.fail("%v: reply %q to no request", c, got)
	}
	r := c.requests[0]
	c.requests = c.requests[1:]
	if len(got) != len(r.pairs) {
		s.fail("%v: reply %q to %q", c, got, r.pairs)
	}
	opened := map[byte]bool{}
	for i := 0; i+1 < len(r.pairs); i += 2 {
		letter, want := r.pairs[i], r.pairs[i+1]
		if letter == 'y' {
			c.y = ask(c.y, want)
			continue
		}
		if !strings.ContainsRune("psgml", rune(letter)) {
			continue
		}
		at := slices.IndexFunc(c.slots, func(p simSlot) bool { return p.letter == letter })
		if at < 0 {
			if ask(0, want) == 0 {
				continue
			}
			c.slots = append(c.slots, simSlot{letter: letter})
			at = len(c.slots) - 1
		}
		p := &c.slots[at]
		before := p.access
		p.access = ask(before, want)
		if !reads(before) && !writes(before) && (reads(p.access) || writes(p.access)) {
			opened[letter] = true
			p.since = r.sent // or later, if its setup took time
		}
	}
	for i := 0; i+1 < len(r.pairs); i += 2 {
		letter := r.pairs[i]
		want := c.access(letter)
		if letter == 'y' {
			want = c.y
		}
		if want == 0 {
			want = 'e'
		}
		if got[i] != letter || got[i+1] != want && !(opened[letter] && mayBe(r.pairs, letter, got[i+1])) {
			s.fail("%v: reply %q to %q, want %q for %q", c, got, r.pairs, want, letter)
		}
		if got[i+1] != want {
			if letter != 'l' && r.healthy && c.robot.healthy() {
				s.fail("%v: reply %q to %q, and the hardware is well", c, got, r.pairs)
			}
			c.slots[slices.IndexFunc(c.slots, func(p simSlot) bool { return p.letter == letter })].access = got[i+1]
		}
	}
	if len(r.pairs)%2 == 1 && got[len(got)-1] != r.pairs[len(got)-1] {
		s.fail("%v: reply %q to %q", c, got, r.pairs)
	}
	c.expect = c.expect[:0]
	if reads(c.y) {
		c.expect = append(c.expect, 'y')
	}
	for _, p := range c.slots {
		if reads(p.access) {
			c.expect = append(c.expect, p.letter)
		}
	}
	c.changed = s.now
	for len(c.maybe) > 0 && c.maybe[0].number < r.number {
		c.maybe[0].apply(&c.sure)
		if c.maybe[0].cancels {
			c.answers = 0
		}
		c.maybe = c.maybe[1:]
	}
	if !c.down { // it has come through just now
		for _, o := range c.ops {
			if o.message <= r.number {
				o.end(s.now)
			}
		}
		c.ops = slices.DeleteFunc(c.ops, func(o *op) bool { return o.message <= r.number })
	}
	c.setWriter()
}

// gives reports whether frames may lack blocks because requests that are not
// answered give up devices, or one of the given letters (2.7).
func (c *simClient) gives(letters string) bool {
	return slices.ContainsFunc(c.requests, func(r simRequest) bool {
		for i := 0; i+1 < len(r.pairs); i += 2 {
			if gives := r.pairs[i+1] == 'c' || r.pairs[i+1] == 'w'; gives && (letters == "" || strings.Contains(letters, r.pairs[i:i+1])) {
				return true
			}
		}
		return false
	})
}

// modes are the modes that the session may be in.
func (c *simClient) modes() []mode {
	all := []mode{c.sure}
	m := c.sure
	for _, change := range c.maybe {
		change.apply(&m)
		all = append(all, m)
	}
	return all
}

// block judges one block of a frame: 3 and 8.
func (c *simClient) block(letter byte, payload []byte) {
	s := c.sim
	modes := c.modes()
	full := slices.ContainsFunc(modes, func(m mode) bool { return !m.onlyNew })
	fresh := c.gives("") || slices.ContainsFunc(modes, func(m mode) bool { return m.onlyNew })
	i := slices.Index(c.expect, letter)
	if i < 0 {
		s.fail("%v: a block of %q, which is not open for reading: %q", c, letter, c.expect)
	}
	if fresh && (i < c.at || c.at == len(c.expect)) {
		c.at = 0
	}
	if i != c.at && !(fresh && i > c.at) {
		s.fail("%v: block %q at place %d of %q", c, letter, c.at, c.expect)
	}
	if fresh && reads(c.y) && c.at == 0 && letter != 'y' && !c.gives("y") {
		s.fail("%v: a frame begins with %q", c, letter)
	}
	if c.at == 0 {
		c.clocked = false
		c.frame(modes)
	}
	if letter == 'y' {
		c.clock(payload, full, fresh)
	} else {
		c.data(letter, payload, fresh && !full)
	}
	if c.at = i + 1; !fresh && c.at == len(c.expect) {
		c.at = 0
	}
}

// frame is called at the beginning of a frame.
func (c *simClient) frame(modes []mode) {
	s := c.sim
	s.summary.Frames++
	c.frames++
	c.newest = c.written
	if len(modes) == 1 && c.sure.onRequest {
		if c.answers++; c.answers > c.asks { // 3.5
			s.fail("%v has asked for %d frames and got %d", c, c.asks, c.answers)
		}
	}
}

// clock judges block y: 8.1.
func (c *simClient) clock(p []byte, full, fresh bool) {
	s := c.sim
	if len(p) < 8 || len(p)%4 != 0 {
		s.fail("%v: block y of %d bytes", c, len(p))
	}
	c.clocked = true
	c.frameTime, c.ages = binary.BigEndian.Uint64(p), c.ages[:0]
	for p = p[8:]; len(p) > 0; p = p[4:] {
		c.ages = append(c.ages, binary.BigEndian.Uint32(p))
	}
	if c.frameTime != uint64(c.written/time.Microsecond) {
		s.fail("%v: a frame of %d us was made at %v", c, c.frameTime, c.written)
	}
	if n := len(c.expect) - 1; len(c.ages) != n && !(fresh && len(c.ages) <= n && (len(c.ages) > 0 || full)) {
		s.fail("%v: %d ages for the devices %q", c, len(c.ages), c.expect)
	}
}

// data judges the data of a device, and its age.
func (c *simClient) data(letter byte, p []byte, onlyNew bool) {
	s := c.sim
	size := map[byte]int{'p': 21, 's': 32, 'm': 3, 'g': 2, 'l': 722}[letter]
	if len(p) != 0 && len(p) != size {
		s.fail("%v: %d bytes of %q", c, len(p), letter)
	}
	slot := c.slots[slices.IndexFunc(c.slots, func(p simSlot) bool { return p.letter == letter })]
	if len(p) == 0 && (onlyNew || c.written < slot.since+time.Second) { // 3.3, 8.2
		s.fail("%v: no data of %q %v after it was opened", c, letter, c.written-slot.since)
	}
	if letter == 'p' && len(p) > 0 {
		c.robot.checkData(c, letter, p, time.Duration(binary.BigEndian.Uint32(p))*time.Millisecond, time.Millisecond, c.written)
	}
	if !reads(c.y) || c.gives("y") && (!c.clocked || len(c.ages) == 0) {
		return // a frame without y, perhaps not seen to begin: it goes on where the last one ended
	}
	if len(c.ages) == 0 {
		s.fail("%v: no age for %q", c, letter)
	}
	age := c.ages[0]
	c.ages = c.ages[1:]
	s.summary.Ages++
	switch {
	case age == math.MaxUint32 && len(p) > 0, age != math.MaxUint32 && len(p) == 0:
		s.fail("%v: %d bytes of %q with age %d", c, len(p), letter, age)
	case len(p) > 0 && age < math.MaxUint32-1:
		taken := time.Duration(c.frameTime-uint64(age)) * time.Microsecond
		if letter == 'l' {
			c.robot.scanner.checkData(c, p, taken, c.written)
		} else {
			c.robot.checkData(c, letter, p, taken, time.Microsecond, c.written)
		}
	}
}

// check is called once a second.
func (c *simClient) check() {
	s := c.sim
	if c.over || c.conn.handler == nil {
		return
	}
	gone := s.now - c.left
	switch {
	case c.left != 0 && c.vanished && gone > 15500*time.Millisecond && !c.conn.stuck(): // 9.1
		s.fail("%v has vanished %v ago, and the server keeps its connection: %+v", c, gone, c.conn)
	case c.left != 0 && !c.vanished && !c.down && len(c.stalled) == 0 && gone > time.Second:
		s.fail("%v has left %v ago, and the server keeps its connection", c, gone)
	}
	defer func() { c.before = c.frames }()
	if !c.well || c.left != 0 {
		return
	}
	if len(c.requests) > 0 && s.now-c.requests[0].sent > 9*time.Second {
		s.fail("%v: no reply to %q for %v", c, c.requests[0].pairs, s.now-c.requests[0].sent)
	}
	if len(c.requests) > 0 || len(c.maybe) > 0 || len(c.expect) == 0 || c.sure.onlyNew {
		return
	}
	since := max(c.newest, c.changed+time.Second)
	hz, n := int(time.Second/c.sure.period), c.frames-c.before
	if steady := s.now-c.changed > 3*time.Second && !c.sure.onRequest; steady && (n > hz+hz/10+2 || hz <= 50 && n < hz*6/10-1) { // 3.4
		s.fail("%v: %d frames in a second at %d Hz", c, n, hz)
	}
	switch {
	case !c.sure.onRequest && s.now-since > 2*c.sure.period+400*time.Millisecond: // 3.4
		s.fail("%v: no frame since %v, at one every %v", c, since, c.sure.period)
	case c.sure.onRequest && c.newest < c.askedAt && s.now-max(c.askedAt, since) > 500*time.Millisecond: // 3.5
		s.fail("%v has asked for a frame at %v and got none", c, c.askedAt)
	}
}
