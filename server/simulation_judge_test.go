package server

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"time"
)

// arrive brings a packet to the client's computer.
func (c *simClient) arrive(p *packet) {
	c.unread = append(c.unread, p)
	c.unreadBytes += len(p.bytes)
	if !c.paused {
		c.read()
	}
}

func (c *simClient) resume() {
	c.paused, c.resumed = false, c.sim.now
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
		if c.stream = append(c.stream, p.plain...); len(c.stream) == len(p.plain) {
			c.array = c.stream[:0]
		}
		c.written, c.delayed = p.written, p.delayed
		c.parse()
		if c.socket != nil {
			c.socket.brings(p.plain)
		}
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
		switch letter {
		case 'r':
			c.reply(string(payload))
		case 'Y':
			c.answer(payload)
		default:
			c.block(letter, payload)
		}
		c.stream = c.stream[3+size:]
	}
	if len(c.stream) == 0 {
		c.stream = c.array
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
	if len(c.questions) > 0 && c.questions[0].number < r.number {
		s.fail("%v: no answer to %q before the reply to %q", c, c.questions[0].letter, r.pairs)
	}
	c.requests = c.requests[1:]
	c.refused, c.refusedBy = refusedIn(got), r.pairs
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
		if !strings.ContainsRune(c.robot.letters(), rune(letter)) {
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
	if c.readOnly && s.changed < r.sent && c.mayOnlyRead(s.access) && writes(c.access('p')) {
		s.fail("%v: reply %q to %q, and it may only read", c, got, r.pairs)
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
	c.confirmStops(r.number)
	if !c.down { // it has come through just now
		if len(c.ops) > 0 && c.ops[len(c.ops)-1].message <= r.number {
			c.expectObeyed()
		}
		for _, o := range c.ops {
			if o.message <= r.number {
				o.end(s.now)
				c.lastClaim = s.now
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

// modes are the modes that the session may be in, until the next call.
func (c *simClient) modes() []mode {
	c.mayBe = append(c.mayBe[:0], c.sure)
	if len(c.maybe) == 0 {
		return c.mayBe
	}
	m := c.sure
	for _, change := range c.maybe {
		change.apply(&m)
		c.mayBe = append(c.mayBe, m)
	}
	return c.mayBe
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
	c.onTime(modes)
	c.newest, c.lag = c.written, c.delayed
	if len(modes) == 1 && c.sure.onRequest {
		if c.answers++; c.answers > c.asks { // 3.5
			s.fail("%v has asked for %d frames and got %d", c, c.asks, c.answers)
		}
	}
}

// onTime judges when the frame was sent: clients on a network that carries everything do not wait
// for those on another one that is full. The grid of the ticks is 5 ms at most.
func (c *simClient) onTime(modes []mode) {
	s := c.sim
	if !c.well || c.delays || len(modes) > 1 || modes[0].onRequest || modes[0].onlyNew || modes[0].period < 10*time.Millisecond ||
		len(c.requests) > 0 || c.newest < c.changed+time.Second {
		return
	}
	s.summary.Near++
	if late := c.written - c.newest - modes[0].period - (c.delayed - c.lag); late > 6*time.Millisecond {
		s.fail("%v on %s: a frame comes %v later than its rate of one in %v allows", c, c.conn.wire.name, late, modes[0].period)
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

// sizeOf returns how many bytes the data of a device has.
func sizeOf(letter byte) int {
	switch letter {
	case 'p':
		return 21
	case 's':
		return 32
	case 'm':
		return 3
	case 'g':
		return 2
	case 'l':
		return 722
	}
	return 0
}

// data judges the data of a device, and its age.
func (c *simClient) data(letter byte, p []byte, onlyNew bool) {
	s := c.sim
	if len(p) != 0 && len(p) != sizeOf(letter) {
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

// waitsInVain reports whether the client, whose computer and network are well, waits for a reply for
// longer than any setup takes.
func (c *simClient) waitsInVain() bool {
	s := c.sim
	const longest = 25 * time.Second
	since := max(c.downUntil, c.resumed, c.changed) // replies come one after the other
	return s.awake(longest) && !c.down && !c.paused && c.left == 0 && len(c.stalled) == 0 && len(c.conn.unsent) == 0 &&
		len(c.requests) > 0 && s.now-max(since, c.requests[0].sent) > longest
}

// check is called once a second.
func (c *simClient) check() {
	s := c.sim
	if c.over || c.conn.handler == nil {
		return
	}
	gone := s.now - c.left
	switch {
	case !s.awake(17 * time.Second):
	case c.left != 0 && c.vanished && gone > 15500*time.Millisecond && !c.conn.stuck(): // 9.1
		s.fail("%v has vanished %v ago, and the server keeps its connection: %+v", c, gone, c.conn)
	case c.left != 0 && !c.vanished && !c.down && len(c.stalled) == 0 && gone > time.Second:
		s.fail("%v has left %v ago, and the server keeps its connection", c, gone)
	}
	defer func() { c.before = c.frames }()
	if c.waitsInVain() { // 2.7
		s.fail("%v: no reply to %q for %v", c, c.requests[0].pairs, s.now-c.requests[0].sent)
	}
	if !c.well || c.left != 0 || !s.awake(10*time.Second) {
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
	least := int(float64(hz*6/10) * (1 - (s.delayed - s.delayedAt).Seconds()))                                                 // a client that floods causes many callbacks, and each may be delayed
	if steady := s.now-c.changed > 3*time.Second && !c.sure.onRequest; steady && (n > hz+hz/10+2 || hz <= 50 && n < least-1) { // 3.4
		s.fail("%v: %d frames in a second at %d Hz", c, n, hz)
	}
	switch {
	case !c.sure.onRequest && s.now-since > 2*c.sure.period+400*time.Millisecond: // 3.4
		s.fail("%v: no frame since %v, at one every %v", c, since, c.sure.period)
	case c.sure.onRequest && c.newest < c.askedAt && s.now-max(c.askedAt, since) > 500*time.Millisecond: // 3.5
		s.fail("%v has asked for a frame at %v and got none", c, c.askedAt)
	}
}
