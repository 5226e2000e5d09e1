package transport

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"player/devices"
)

// Grace is the time that a Kind.SetupLimit adds to the Limit of its Protocol: the transport
// gives up before the link does, because its error says more.
const Grace = 500 * time.Millisecond

// Protocol is a driver's description of its hardware: its port, how it is found and greeted,
// and the function that reads its bytes. All functions are called on the one thread of the
// server, Receive and Wake never from within a call to Transport.
type Protocol struct {
	Address string // serial port, or IP:PORT
	Name    string // "a laser", for errors
	Speeds  []int  // of a serial line in baud, the likely one first

	// Begin forgets the state of an earlier connection, and returns the phase that the
	// handshake begins with. Nil: the first one.
	Begin func(now time.Duration) Phase
	// Steps is the handshake, by Phase. The handshake ends when the driver calls Up or Down,
	// or after Limit. Without a Limit there are no Steps: Begin and Wake do all, and the
	// driver alone ends the handshake.
	Steps []Step
	Limit time.Duration
	// Search is tried in order until the hardware is found, after the phase that Begin has
	// chosen: its first Attempt begins anew with First. Empty: the first of Speeds only.
	Search []Attempt
	// Settle is the time between a change of speed in the search and the next request.
	Settle time.Duration
	// Silent is the error if the hardware does not answer. Stuck returns the error if it
	// answers, but the handshake does not get beyond a phase. Both say what to do. If bytes
	// come that do not fit the protocol, the error says that instead, with Others, a sentence
	// about models.
	Silent error
	Stuck  func(Phase) error
	Others string

	// Receive brings bytes as they came; p is valid during the call.
	Receive func(now time.Duration, p []byte)
	// Framing is the one in the parser of Receive. Nil: nothing is reset or counted.
	Framing *Framing
	// Wake is called at the deadline of WakeAt when the handshake is over.
	Wake func(now time.Duration)
	// Bye appends the last bytes of a Shutdown. Nil: there are none.
	Bye func(dst []byte) []byte
	// LastWords stop the motors of hardware that has any (devices.Port).
	LastWords []byte
}

// Phase is the number of a Step.
type Phase int

// Over is the Phase when there is no handshake: it has succeeded, or its driver shuts down.
const Over Phase = math.MaxInt

// Step is one phase of a handshake. The driver ends it in Receive, with Enter.
type Step struct {
	// Send appends the request. Nil: the phase is a pause.
	Send func(dst []byte) []byte
	// Fresh drops the input that came before the request: it cannot be the answer.
	Fresh bool
	// Wait bounds the wait for the answer to each of Tries requests (zero: one). Without a
	// Wait, the Attempt gives both.
	Wait  time.Duration
	Tries int
	// Late goes on when no answer has come. Nil: the search begins anew if the hardware was
	// found, else it goes on with the next Attempt.
	Late func(now time.Duration)
}

// Attempt is a part of the search for hardware of unknown speed.
type Attempt struct {
	Speed int   // place in the order of Speeds, in which the one that worked last is the first
	First Phase // that it begins with
	// Wait and Tries apply to steps without a Wait.
	Wait  time.Duration
	Tries int
	// Noisy is the longer Wait after input that is no answer. If the input is recognised as
	// other hardware's, the handshake ends.
	Noisy time.Duration
}

// handshake is how far the present one is.
type handshake struct {
	phase     Phase
	tries     int           // requests of this phase
	asked     time.Duration // when the last one was sent
	pausing   bool          // the next one is due later
	giveUp    time.Duration
	at        int    // index in Search
	baud      int    // of the line
	found     bool   // the hardware has answered at this speed
	answered  bool   // it has answered at some speed
	noisy     bool   // input came since the request
	overheard []byte // until the hardware was found
	unread    int    // bytes that have come since the hardware was understood
	packets   uint64 // of the framing until then
	out       []byte
}

// greet begins the handshake on a port that was just opened.
func (t *Transport) greet(now time.Duration) {
	p, first := &t.Protocol, Phase(0)
	t.handshake = handshake{giveUp: min(now, t.begun+Grace/2) + p.Limit, baud: t.first, overheard: t.overheard[:0], out: t.out}
	if len(p.LastWords) > 0 {
		t.port.LastWords(p.LastWords)
	}
	t.reset()
	t.understood()
	if p.Begin != nil {
		first = p.Begin(now)
	}
	if p.Limit != 0 {
		t.Enter(now, first)
	}
}

// reset drops the packet that is being received.
func (t *Transport) reset() {
	if f := t.Protocol.Framing; f != nil {
		f.Reset()
	}
}

// Phase returns the present phase of the handshake, or Over.
func (t *Transport) Phase() Phase {
	if t.state != greeting {
		return Over
	}
	return t.phase
}

// Tried returns how often the request of the phase was sent.
func (t *Transport) Tried() int { return t.tries }

// Baud returns the speed of the line; over the network, where it is unknown, the first of
// Protocol.Speeds.
func (t *Transport) Baud() int { return t.baud }

// Found reports that the hardware has answered: the search for its speed ends.
func (t *Transport) Found() {
	t.found, t.answered = true, true
	t.understood()
}

// Answers reports whether the hardware was found, and at this speed.
func (t *Transport) Answers() bool { return t.found }

// Pausing reports whether the handshake waits before a request.
func (t *Transport) Pausing() bool { return t.pausing }

// Then returns a Step.Late that enters a phase.
func (t *Transport) Then(p Phase) func(now time.Duration) {
	return func(now time.Duration) { t.Enter(now, p) }
}

// Enter begins a phase, unless the handshake is over.
func (t *Transport) Enter(now time.Duration, p Phase) {
	if t.state == greeting {
		t.phase, t.tries = p, 0
		t.Ask(now)
	}
}

// Pause begins a phase later.
func (t *Transport) Pause(now time.Duration, p Phase, length time.Duration) {
	if length == 0 {
		t.Enter(now, p)
		return
	}
	t.phase, t.tries, t.pausing = p, 0, true
	t.WakeAt(now + length)
}

// Ask sends the request of the phase, for the first time or again.
func (t *Transport) Ask(now time.Duration) {
	step, wait, _ := t.step()
	t.tries++
	t.asked, t.pausing, t.noisy = now, false, false
	if step.Fresh {
		t.Discard()
		t.reset()
	}
	if wait == 0 {
		wait = t.Protocol.Limit
	}
	t.WakeAt(min(now+wait, t.giveUp))
	if step.Send != nil {
		t.Send(step.Send)
	}
}

// Send writes the bytes that request appends.
func (t *Transport) Send(request func(dst []byte) []byte) {
	if t.out = request(t.out[:0]); len(t.out) > 0 {
		t.Port().Write(t.out)
	}
}

// step returns the step of the phase, its Wait and its Tries.
func (t *Transport) step() (s Step, wait time.Duration, tries int) {
	if int(t.phase) < len(t.Protocol.Steps) {
		s = t.Protocol.Steps[t.phase]
	}
	if s.Wait != 0 {
		return s, s.Wait, max(s.Tries, 1)
	}
	l := t.attempt()
	return s, l.Wait, max(l.Tries, 1)
}

// attempt returns the present Attempt.
func (t *Transport) attempt() (a Attempt) {
	if t.at < len(t.Protocol.Search) {
		a = t.Protocol.Search[t.at]
	}
	return a
}

// timeout goes on with the handshake at its deadline.
func (t *Transport) timeout(now time.Duration) {
	step, _, tries := t.step()
	until := t.asked + t.attempt().Noisy
	switch {
	case now >= t.giveUp:
		t.Absent(now)
	case t.pausing, t.tries < tries:
		t.Ask(now)
	case step.Late != nil:
		step.Late(now)
	case t.found:
		t.first, t.at, t.found = t.baud, 0, false
		t.Enter(now, t.attempt().First)
	case step.Wait == 0 && t.noisy && now < until:
		if err := t.stranger(); err != nil {
			t.Down(now, err)
			return
		}
		t.WakeAt(min(until, t.giveUp))
	default:
		t.search(now)
	}
}

// search goes on with the next Attempt at a speed that the line supports.
func (t *Transport) search(now time.Duration) {
	p := &t.Protocol
	if t.at++; t.at >= len(p.Search) {
		t.Absent(now)
		return
	}
	l := p.Search[t.at]
	t.setSpeed(now, t.inOrder(l.Speed), func(now time.Duration, err error) {
		if err != nil {
			t.search(now)
			return
		}
		t.Pause(now, l.First, p.Settle)
	})
}

// inOrder returns a speed by its place in the order of the search.
func (t *Transport) inOrder(place int) (baud int) {
	switch at := slices.Index(t.Protocol.Speeds, t.first); {
	case place == 0:
		return t.first
	case place <= at:
		place--
	}
	return t.Protocol.Speeds[place]
}

// SetSpeed changes the speed of a serial line, in baud, and goes on with then, unless the
// hardware is down or shut down by that time. If the line cannot do the speed, the hardware is
// down.
func (t *Transport) SetSpeed(now time.Duration, baud int, then func(now time.Duration)) {
	t.setSpeed(now, baud, func(now time.Duration, err error) {
		if err != nil {
			t.Down(now, fmt.Errorf("cannot set %d baud: %w", baud, err))
			return
		}
		then(now)
	})
}

// setSpeed changes the speed and calls done, unless the handshake has ended or the hardware
// is down by that time. No request of the handshake is repeated meanwhile.
func (t *Transport) setSpeed(now time.Duration, baud int, done func(now time.Duration, err error)) {
	before := t.state
	if before == greeting {
		t.WakeAt(t.giveUp)
	}
	set := func(now time.Duration, err error) {
		if t.state != before || t.failure != nil {
			return
		}
		if err == nil {
			if t.line != nil {
				t.baud = baud
			}
			t.found = false
			t.reset() // it holds bytes of the other speed
		}
		done(now, err)
	}
	switch {
	case t.line != nil:
		t.line.SetSpeed(baud, set)
	case t.port != nil: // the speed is set at the other end
		set(now, nil)
	}
}

// OverNetwork reports whether the Address is IP:PORT: if there is a line behind it, its
// speed is set there.
func (t *Transport) OverNetwork() bool {
	return devices.SerialPort(t.Protocol.Address).OverNetwork()
}

// dial opens a port on the network.
func (t *Transport) dial(now time.Duration) {
	port, err := t.link.Host().Dial(t.Protocol.Address, t)
	if why := devices.Unreachable(err); why != nil {
		err = fmt.Errorf("%s: %w", t.Protocol.Address, why)
	}
	if err != nil {
		t.unopened(now, err)
		return
	}
	t.opened(now, port)
}

// Absent ends a failed handshake, with the most specific error.
func (t *Transport) Absent(now time.Duration) {
	err := t.stranger()
	strange := t.strange()
	switch {
	case t.answered && t.Protocol.Stuck != nil:
		t.Down(now, cmp.Or(strange, t.Protocol.Stuck(t.phase)))
	case err != nil:
		t.Down(now, err)
	default:
		t.unanswered = t.unanswered || t.IsOpen() && !t.OverNetwork()
		t.Down(now, cmp.Or(strange, t.Protocol.Silent))
	}
}

// understood notes that input of the hardware fits the protocol.
func (t *Transport) understood() {
	t.unread = 0
	if f := t.Protocol.Framing; f != nil {
		t.packets = f.Stats.Packets
	}
}

// strange returns an error if bytes have come since the hardware was understood last, and no
// packets of hardware that was found. It is not silent then: checking a cable or a switch
// would be in vain.
func (t *Transport) strange() error {
	p := &t.Protocol
	if t.unread < stray || (t.answered || t.state == up) && p.Framing != nil && p.Framing.Stats.Packets != t.packets {
		return nil
	}
	about := 10
	for ; t.unread > 10*about; about *= 10 { // another number would be another reason in the log
	}
	err := fmt.Errorf("more than %d bytes came that are not understood, nothing that %s sends: is it another model, another speed%s, or an echo of the line?",
		about, p.Name, t.tried())
	if p.Others != "" {
		err = fmt.Errorf("%w %s", err, p.Others)
	}
	return err
}

// tried names the speeds of the protocol for an error, for example " than 9600 or 19200 baud". It is
// empty over a network, where another computer sets the speed.
func (t *Transport) tried() string {
	if t.OverNetwork() || len(t.Protocol.Speeds) == 0 {
		return ""
	}
	text := " than"
	for i, baud := range t.Protocol.Speeds {
		switch {
		case i == 0:
		case i == len(t.Protocol.Speeds)-1:
			text += " or"
		default:
			text += ","
		}
		text += fmt.Sprintf(" %d", baud)
	}
	return text + " baud"
}

// stranger returns an error if other hardware was recognised on the line.
func (t *Transport) stranger() error {
	if what := t.link.Stranger(t.overheard); what != "" {
		return fmt.Errorf("%s is heard here, not %s: are the ports swapped?", what, t.Protocol.Name)
	}
	return nil
}

// ErrSilent is the error of hardware that sends nothing any more.
var ErrSilent = errors.New("silent for 2 s")
