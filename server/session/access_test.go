package session

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"player/codec"
	"player/devices"
)

// transitions is the table of 2.3: a row for each state before the request
// ('-' never opened, 'C' closed, 'E' failed), with the states after r, w, a, c
// and any other letter.
var transitions = strings.Fields(`
	-rwa--
	rraaCr
	wawaCw
	arwaCa
	CrwaCC
	ErwaEE`)

func transition(state, want byte) byte {
	column := strings.IndexByte("rwac", want)
	if column < 0 {
		column = 4
	}
	for _, row := range transitions {
		if row[0] == state {
			return row[1+column]
		}
	}
	panic(state)
}

func readable(state byte) bool { return state == 'r' || state == 'a' }
func writable(state byte) bool { return state == 'w' || state == 'a' }
func isOpen(state byte) bool   { return readable(state) || writable(state) }

// replyLetter returns the letter that a reply carries for a state (2.4, 2.5).
func replyLetter(state byte) byte {
	switch state {
	case '-', 'E':
		return 'e'
	case 'C':
		return 'c'
	}
	return state
}

// ways holds the access letters that lead to each state.
var ways = map[byte]string{'-': "", 'r': "r", 'w': "w", 'a': "a", 'C': "rc", 'E': "r"}

const accesses = "rwacexRC-\x00\xFF"

// 2.3 to 2.6, 2.8: all rows and columns on all devices, pair by pair.
func TestAccessTable(t *testing.T) {
	for _, letter := range []byte(letters + "y") {
		for _, row := range transitions {
			state := row[0]
			if letter == codec.Server && state == 'E' {
				continue // nothing can fail
			}
			for _, want := range []byte(accesses) {
				t.Run(fmt.Sprintf("%c %c %q", letter, state, want), func(t *testing.T) {
					r, p := connect(t)
					if state == 'E' {
						r.of(letter).mood = broken
					}
					for _, way := range []byte(ways[state]) {
						p.send(request(string([]byte{letter, way})))
					}
					p.replies()
					if state == 'E' {
						// The setup still fails: a failed device is tried
						// again, and no other device.
						r.take()
						p.request(string([]byte{letter, want}), string([]byte{letter, 'e'}))
						if tried := r.take() != ""; tried != isOpen(transition('E', want)) {
							t.Errorf("setup is tried again: %v", tried)
						}
						r.of(letter).mood = fine
					}
					after := transition(state, want)
					p.request(string([]byte{letter, want}), string([]byte{letter, replyLetter(after)}))
					p.expectState(letter, after)
				})
			}
		}
	}
}

// expectState checks everything that depends on the client's access to a
// device, while no other device is open. It leaves the device closed.
func (p *peer) expectState(letter, state byte) {
	p.t.Helper()
	p.robot.take()
	want := ""
	if readable(state) {
		want = fmt.Sprintf("%c%d", letter, sizes[letter])
		if letter == codec.Server {
			want = "y8"
		}
	}
	p.expectFrame(want)
	if streams := p.Period() != 0; streams != readable(state) {
		p.t.Errorf("state %c: frames due: %v", state, streams)
	}
	if drives := letter == codec.Position && writable(state); p.IsMover() != drives {
		p.t.Errorf("state %c: drives: %v", state, p.IsMover())
	}
	if letter != codec.Server {
		p.send(p.robot.command(letter, 1))
		taken := p.robot.take() != ""
		if want := writable(state) && strings.IndexByte("pzg", letter) >= 0; taken != want {
			p.t.Errorf("state %c: command accepted: %v", state, taken)
		}
		if running := p.robot.of(letter).link != nil && p.robot.of(letter).link.State() != devices.Idle; running != isOpen(state) {
			p.t.Errorf("state %c: driver running: %v", state, running)
		}
	}
	// Closed, never opened and failed differ only in the reply to a close.
	p.request(string([]byte{letter, 'c'}), string([]byte{letter, replyLetter(transition(state, 'c'))}))
}

// client is the model of one connection.
type client struct {
	*peer
	state map[byte]byte
	order []byte // in order of first opening
}

// model is two clients of one robot. It models the table, that hardware runs
// while anyone has it open, and that wheels stop when a writer leaves.
type model struct {
	t         *testing.T
	rng       *rand.Rand
	robot     *robot
	clients   [2]*client
	events    []string
	commander *client       // whose command the wheels carry out, nil: none
	refused   map[byte]bool // that the current request could not open
}

func (m *model) open(part *part) (n int) {
	for _, c := range m.clients {
		for letter, state := range c.state {
			if letter != codec.Server && isOpen(state) && m.robot.of(letter) == part {
				n++
			}
		}
	}
	return n
}

func (m *model) note(format string, args ...any) {
	m.events = append(m.events, fmt.Sprintf(format, args...))
}

// ask changes the state of one device. starting holds the parts whose setup is
// in progress.
func (m *model) ask(c *client, letter, want byte, starting map[*part]bool) {
	before, after := c.at(letter), transition(c.at(letter), want)
	if letter == codec.Server {
		c.state[letter] = after
		return
	}
	part := m.robot.of(letter)
	if letter == codec.Position && !writable(after) {
		m.stop(c)
	}
	if !isOpen(before) && isOpen(after) {
		if !slices.Contains(c.order, letter) {
			c.order = append(c.order, letter)
		}
		switch {
		case m.refused[letter]:
			after = 'E'
		case m.open(part) == 0:
			m.note("setup %s", part.desc.Name)
			switch part.mood {
			case broken:
				m.refused[letter] = true
				after = 'E'
			case slow, slowBroken:
				starting[part] = true
			}
		}
	}
	c.state[letter] = after
	if isOpen(before) && !isOpen(after) && m.open(part) == 0 {
		delete(starting, part)
		m.note("shutdown %s", part.desc.Name)
	}
}

// stop stops the wheels if they carry out the client's command.
func (m *model) stop(c *client) {
	if m.commander == c {
		m.note("command p 00000000")
		m.commander = nil
	}
}

func (c *client) at(letter byte) byte {
	if state, ok := c.state[letter]; ok {
		return state
	}
	return '-'
}

// request sends a random request and compares all effects.
func (m *model) request() {
	for _, part := range m.robot.parts {
		part.mood = mood(max(0, m.rng.IntN(8)-4)) // no failure half of the time
	}
	c := m.clients[m.rng.IntN(2)]
	var pairs []byte
	for range m.rng.IntN(6) {
		pairs = append(pairs, (letters + "yq\x00\x80\xFF")[m.rng.IntN(len(letters)+5)], accesses[m.rng.IntN(len(accesses))])
		if m.rng.IntN(2) == 0 { // mostly devices that exist and letters that have an effect
			pairs = append(pairs, letters[m.rng.IntN(3)], "rwac"[m.rng.IntN(4)])
		}
	}
	starting := map[*part]bool{}
	m.refused = map[byte]bool{}
	before := maps.Clone(c.state)
	for i := 0; i < len(pairs); i += 2 {
		if strings.IndexByte(letters+"y", pairs[i]) >= 0 {
			m.ask(c, pairs[i], pairs[i+1], starting)
		}
	}
	c.send(request(string(pairs)))
	if len(starting) > 0 {
		c.expectReplies()
		m.checkFrame(c, func(letter byte) bool {
			return readable(before[letter]) && readable(c.at(letter)) && !(letter != codec.Server && starting[m.robot.of(letter)])
		})
		for _, part := range m.robot.parts {
			if !starting[part] {
				continue
			}
			if part.mood == slowBroken {
				for letter, state := range c.state {
					if letter != codec.Server && isOpen(state) && m.robot.of(letter) == part {
						c.state[letter] = 'E'
					}
				}
			}
			part.end(m.robot.now)
		}
	}
	reply := slices.Clone(pairs)
	for i := 0; i < len(reply); i += 2 {
		reply[i+1] = replyLetter(c.at(reply[i]))
	}
	if got := c.replies(); !slices.Equal(got, []string{string(reply)}) {
		m.t.Fatalf("%q was answered %q, want %q", pairs, got, reply)
	}
}

// checkFrame compares the devices of a client's next frame.
func (m *model) checkFrame(c *client, shown func(letter byte) bool) {
	m.t.Helper()
	want, got := "", ""
	for _, letter := range append([]byte{'y'}, c.order...) {
		if shown(letter) {
			want += string(rune(letter))
		}
	}
	for _, b := range c.blocks() {
		got += string(rune(b.letter))
	}
	if got != want || c.Period() != 0 != (want != "") {
		m.t.Fatalf("frame has %q, want %q, period %v", got, want, c.Period())
	}
}

// check compares the observations of both clients.
func (m *model) check() {
	m.robot.expect(m.t, m.events...)
	m.events = nil
	for _, c := range m.clients {
		m.checkFrame(c, func(letter byte) bool { return readable(c.at(letter)) })
		for _, letter := range []byte("pgz") {
			c.send(m.robot.command(letter, 7))
			if taken := m.robot.take() != ""; taken != writable(c.at(letter)) {
				m.t.Fatalf("command to %c accepted: %v, state %c", letter, taken, c.at(letter))
			} else if taken && letter == codec.Position {
				m.commander = c
			}
		}
		if c.IsMover() != writable(c.at('p')) {
			m.t.Fatalf("drives: %v, state %c", c.IsMover(), c.at('p'))
		}
	}
}

// leave closes a client and replaces it with a new one.
func (m *model) leave(i int) {
	c := m.clients[i]
	m.stop(c)
	for _, letter := range c.order {
		if isOpen(c.at(letter)) {
			c.state[letter] = 'C'
			if part := m.robot.of(letter); m.open(part) == 0 {
				m.note("shutdown %s", part.desc.Name)
			}
		}
	}
	c.Close(m.robot.now)
	m.robot.expect(m.t, m.events...)
	m.events = nil
	m.clients[i] = &client{peer: newPeer(m.t, m.robot), state: map[byte]byte{}}
}

// 2.3 to 2.8, 5.4: random histories of two clients against the model.
func TestAccessModel(t *testing.T) {
	for seed := range uint64(200) {
		m := &model{t: t, rng: rand.New(rand.NewPCG(seed, 2)), robot: newRobot(t)}
		for i := range m.clients {
			m.clients[i] = &client{peer: newPeer(t, m.robot), state: map[byte]byte{}}
		}
		for range 60 {
			m.request()
			m.check()
			if m.rng.IntN(20) == 0 {
				m.leave(m.rng.IntN(2))
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		m.leave(0)
		m.leave(1)
		if !m.robot.table.Done() {
			t.Fatalf("seed %d: hardware still runs after both clients left", seed)
		}
	}
}
