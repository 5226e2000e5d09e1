package server

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A story is the events from outside in a simulation: clients and their acts, faults, pauses, reloads.
// A seed makes one by chance, and the simulation records it. Each event has chance of its own, which
// depends on the seed and the event only. So the simulation can be run again with a part of its story, and
// that part happens as before: that is how a seed that fails is reduced to the few events that matter.
//
// When the goroutines for programs run depends on which events are known to come (slowness), also on those that
// never come. So with programs the record of a run may be another story: each part of it is tried, and the story that was
// given is the one to replay.

// story is a whole story, or a part of one.
type story struct {
	events []*event
	quiet  bool          // the loop is late only where an event says so
	salt   uint64        // of the chance that no event has: jitter, times of answers
	life   time.Duration // until all clients leave; zero: as the seed says
}

// event is one event. It has the kind, and a number that no other event of the seed has.
type event struct {
	kind   kind
	number int
	robot  int // its index
	at     time.Duration
	acts   []int // what a client does, by numbers in order
}

// kind of an event.
type kind byte

const (
	aClient     kind = 'c'
	aFault      kind = 'f' // of a robot
	aLaserFault kind = 'l'
	aProgram    kind = 'P' // which comes by itself unless the story does without it
	aPause      kind = 'p' // of the server
	aDelay      kind = 'd' // of the loop
	aReload     kind = 'r'
	aVisitor    kind = 'v' // stops a robot
	anOutage    kind = 'o' // of a network
)

const kinds = "flpdrvoP"

// stream returns the chance of one source.
func (s *sim) stream(kind kind, number, n int) *rand.Rand {
	const odd, odder = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9 // spread small numbers
	return rand.New(rand.NewPCG(s.seed*odd+uint64(kind), uint64(number)*odder+uint64(n)*odd))
}

// as calls fn with chance from another source.
func (s *sim) as(random *rand.Rand, fn func()) {
	before := s.random
	defer func() { s.random = before }() // a driver may panic
	s.random = random
	fn()
}

// later makes an event after a random time with the given mean, unless the story is given.
func (s *sim) later(kind kind, robot int, mean time.Duration) {
	if s.given != nil {
		return
	}
	s.events++
	// Events of the loop are one nanosecond apart. Their order may not depend on when this one was made.
	const apart = 501 * time.Nanosecond
	at := s.now + apart + time.Duration(s.fate.ExpFloat64()*float64(mean))
	s.bring(event{kind: kind, number: s.events, robot: robot, at: at})
}

// byChance reports whether something that no event has begun happens once in n times.
func (s *sim) byChance(n int) bool { return s.given == nil && s.fate.IntN(n) == 0 }

// programComes reports whether a program comes now, and records that it does.
func (s *sim) programComes(number int) bool {
	is := func(e *event) bool { return e.kind == aProgram && e.number == number }
	if s.given != nil && !slices.ContainsFunc(s.given.events, is) {
		return false
	}
	s.story.events = append(s.story.events, &event{kind: aProgram, number: number, at: s.now})
	return true
}

// replayed returns the story with which the simulation can be run again.
func (s *sim) replayed() *story {
	if s.site != nil {
		return s.given
	}
	return &s.story
}

// bring has an event happen at its time.
func (s *sim) bring(e event) { s.at(e.at, func() { s.happen(e) }) }

// happen has an event happen now, and records it.
func (s *sim) happen(e event) {
	if s.closing {
		return
	}
	s.causes++
	happened := e
	happened.acts = nil
	s.story.events = append(s.story.events, &happened)
	s.as(s.stream(e.kind, e.number, 0), func() {
		switch r := s.robots[e.robot]; e.kind {
		case aClient:
			s.newClient(e, &happened)
		case aFault:
			r.misfortune()
		case aLaserFault:
			r.scanner.(*laser).misfortune()
		case aPause:
			s.pause()
		case aDelay:
			s.delay(s.between(0, 150*time.Millisecond))
		case aReload:
			s.reloads(r)
		case aVisitor:
			r.visitor(r.nextVisitor)
		case anOutage:
			s.outage()
		}
	})
}

// acts reports whether the client does its next act, and records that it does.
func (c *simClient) acts() bool {
	n := c.act
	c.act++
	if s := c.sim; s.given != nil && !slices.Contains(c.event.acts, n) {
		return false
	}
	c.happened.acts = append(c.happened.acts, n)
	return true
}

func (st story) String() string {
	var b strings.Builder
	for _, e := range st.events {
		fmt.Fprintf(&b, "%c%d.%d@%v", e.kind, e.number, e.robot, e.at)
		for i, from := 0, 0; i < len(e.acts); i++ {
			if i+1 < len(e.acts) && e.acts[i+1] == e.acts[i]+1 {
				continue
			}
			fmt.Fprintf(&b, "%c%d-%d", ":+"[min(from, 1)], e.acts[from], e.acts[i])
			from = i + 1
		}
		b.WriteByte(',')
	}
	fmt.Fprintf(&b, "quiet=%v,salt=%d,life=%v", st.quiet, st.salt, st.life)
	return b.String()
}

// storyOf returns the story that String has written.
func storyOf(text string) (st *story, err error) {
	st = &story{}
	all := strings.Split(text, ",")
	n := max(0, len(all)-3)
	var at string
	_, err = fmt.Sscanf(strings.Join(all[n:], " "), "quiet=%t salt=%d life=%s", &st.quiet, &st.salt, &at)
	st.life, _ = time.ParseDuration(at)
	for _, one := range all[:n] {
		e := &event{}
		head, acts, _ := strings.Cut(one, ":")
		_, scanned := fmt.Sscanf(head, "%c%d.%d@%s", &e.kind, &e.number, &e.robot, &at)
		var wrong error
		e.at, wrong = time.ParseDuration(at)
		err = errors.Join(err, scanned, wrong)
		st.events = append(st.events, e)
		for _, span := range strings.FieldsFunc(acts, func(r rune) bool { return r == '+' }) {
			from, to, _ := strings.Cut(span, "-")
			i, err1 := strconv.Atoi(from)
			last, err2 := strconv.Atoi(to)
			for err = errors.Join(err, err1, err2); i <= last; i++ {
				e.acts = append(e.acts, i)
			}
		}
	}
	return st, err
}

// errLong ends a run that does not fail in the time in which the longer story has failed.
var errLong = errors.New("it does not fail")

// shrinking reduces the story of a seed that fails.
type shrinking struct {
	t    *testing.T
	best *sim
	more func() bool // reports whether there is time for another run
	runs int
}

// shrink returns the simulation with the shortest story found that breaks the same invariant. It runs the
// seed again while more allows.
func shrink(t *testing.T, failed *sim, more func() bool) *shrinking {
	h := &shrinking{t, failed, more, 0}
	if !h.try(failed.story.clone()) {
		return h
	}
	for _, k := range kinds {
		h.try(h.without(func(e *event) bool { return e.kind == kind(k) }))
	}
	quiet := h.best.story.clone()
	quiet.quiet = true
	h.try(quiet)
	for before := -1; before != h.best.story.size() && more(); {
		before = h.best.story.size()
		h.leaveOut(func(st *story) int { return len(st.events) }, func(st *story, from, to int) {
			st.events = slices.Delete(st.events, from, to)
		})
		h.leaveOut((*story).actions, (*story).deleteActions)
	}
	h.hurry()
	return h
}

// try runs a story. If it breaks the same invariant it is the best. The less is left of a story, the more
// depends on chance that no event has.
func (h *shrinking) try(st *story) bool {
	tries := uint64(1)
	if len(st.events) <= 10 {
		tries = 3
	}
	for range tries {
		if !h.more() {
			return false
		}
		h.runs++
		s := newSim(h.best.seed)
		s.given, s.prepare, s.keys, s.longest = st, h.best.prepare, h.best.keys, h.best.now+20*time.Second
		if err := s.live(h.t); err != nil && s.broken == h.best.broken {
			h.best = s
			return true
		}
		st.salt++
	}
	return false
}

func (h *shrinking) without(drop func(e *event) bool) *story {
	st := h.best.story.clone()
	st.events = slices.DeleteFunc(st.events, drop)
	return st
}

// leaveOut tries to do without spans of a story's parts: long ones first.
func (h *shrinking) leaveOut(count func(*story) int, drop func(st *story, from, to int)) {
	for size := (count(&h.best.story) + 1) / 2; size >= 1; size /= 2 {
		for from := 0; from < count(&h.best.story) && h.more(); {
			st := h.best.story.clone()
			drop(st, from, min(from+size, count(st)))
			if !h.try(st) {
				from += size
			}
		}
	}
}

// hurry tries to have the events sooner.
func (h *shrinking) hurry() {
	for i := 0; i < len(h.best.story.events) && h.more(); i++ {
		st := h.best.story.clone()
		before := 2 * time.Second
		if i > 0 {
			before = st.events[i-1].at
		}
		if sooner := st.events[i].at - before - 2*time.Second; sooner > 0 {
			for _, e := range st.events[i:] {
				e.at -= sooner
			}
			st.life = max(st.life-sooner, time.Second)
			h.try(st)
		}
	}
}

// clone returns a copy whose events are in the order of their times.
func (st *story) clone() *story {
	next := *st
	next.events = nil
	for _, e := range st.events {
		one := *e
		one.acts = slices.Clone(e.acts)
		next.events = append(next.events, &one)
	}
	slices.SortStableFunc(next.events, func(a, b *event) int { return cmp.Compare(a.at, b.at) })
	return &next
}

// actions returns how much all clients do.
func (st *story) actions() (n int) {
	for _, e := range st.events {
		n += len(e.acts)
	}
	return n
}

func (st *story) deleteActions(from, to int) {
	for _, e := range st.events {
		n := len(e.acts)
		e.acts = slices.Delete(e.acts, max(0, min(from, n)), max(0, min(to, n)))
		from, to = from-n, to-n
	}
}

func (st *story) size() int { return len(st.events) + st.actions() }
