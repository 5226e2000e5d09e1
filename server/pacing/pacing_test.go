package pacing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// fake is a connection whose answers a test sets.
type fake struct {
	unacknowledged int
	room           int
	queued         bool
	checks         int
	frames         int
	leave          bool // the write fails
	pace           Client
}

func (f *fake) Backlog() (unacknowledged, room int) { f.checks++; return f.unacknowledged, f.room }
func (f *fake) Queued() bool                        { f.checks++; return f.queued }
func (f *fake) client() *Client                     { return &f.pace }

const frameSize = 800

// table is a network with fake connections.
type table struct{ *sender }

func newTable() (t table) {
	t.sender = newSender(func(_ time.Duration, c paced) int {
		if f := c.(*fake); f.leave {
			t.leave(f)
		} else {
			f.frames++
		}
		return frameSize
	})
	return t
}

func (t table) join(n int) (all []*fake) {
	for range n {
		f := &fake{room: math.MaxInt}
		t.network.Join(&f.pace, f)
		all = append(all, f)
	}
	return all
}

// newPair returns a network with one connection.
func newPair() (table, *fake) {
	t := newTable()
	return t, t.join(1)[0]
}

// ticks makes a frame due n times, every 20 ms.
func (t table) ticks(n int, f *fake) {
	for range n {
		t.due(false, f)
		t.run(20 * ms)
	}
}

func TestClientThatStopsReadingIsSetAside(t *testing.T) {
	w, f := newPair()
	w.ticks(20, f)
	if f.frames != 20 || f.pace.Waits() {
		t.Fatalf("%d frames of 20", f.frames)
	}
	f.unacknowledged = frameSize // one frame: it may delay its acknowledgement
	w.ticks(20, f)
	if f.frames != 40 {
		t.Fatalf("%d frames of 40", f.frames)
	}
	f.unacknowledged = 2 * frameSize
	w.ticks(50, f)
	if f.frames > 40+maxTrust || !f.pace.Waits() {
		t.Fatalf("%d frames to a client that does not read", f.frames-40)
	}
	checks := f.checks
	w.run(10 * time.Second)
	if got := f.checks - checks; got < 35 || got > 45 {
		t.Errorf("%d checks in 10 s, want four a second", got)
	}
	before := f.frames
	f.unacknowledged = 0
	w.run(retryLast)
	if f.frames != before+1 || f.pace.Waits() {
		t.Errorf("%d frames when it has read, want the one that was due", f.frames-before)
	}
	// One frame at a time now: the network may be full further away.
	f.unacknowledged = frameSize
	w.due(false, f)
	if f.frames != before+1 || !f.pace.Waits() {
		t.Errorf("%d frames under way", f.frames-before)
	}
}

// With a frame in its queue that does not fit, the kernel would ask for room
// instead of probing the connection.
// A client that has never read anything is checked as soon as one that has stopped, however small its frames.
func TestNewClientIsChecked(t *testing.T) {
	for before := range maxTrust { // clients that joined
		w := table{newSender(func(_ time.Duration, c paced) int { c.(*fake).frames++; return 8 })}
		f := w.join(before + 1)[before]
		f.unacknowledged = 10_000
		if w.ticks(2*maxTrust, f); f.frames > maxTrust {
			t.Errorf("client %d: %d frames to a client that does not read", before, f.frames)
		}
	}
}

func TestNoFrameWithoutRoom(t *testing.T) {
	w, f := newPair()
	f.room = 10*frameSize + 100
	sent := 0
	for range 20 {
		before := f.frames
		w.due(false, f)
		if f.frames > before {
			sent++
			f.room -= frameSize
		}
		w.run(20 * ms)
	}
	if sent != 10 || f.room != 100 {
		t.Errorf("%d frames were sent where ten fit", sent)
	}
	f.room = math.MaxInt
	w.run(retryLast)
	if f.frames != 11 {
		t.Error("no frame although there is room again")
	}
}

func TestFramesThatWereAskedFor(t *testing.T) {
	w, f := newPair()
	for range 100 {
		before := f.frames
		w.due(true, f)
		f.unacknowledged += (f.frames - before) * frameSize
	}
	if least := askedInFlight / frameSize; f.frames < least || f.frames > least+maxTrust+2 {
		t.Errorf("%d frames of %d bytes are unacknowledged, want about %d bytes", f.frames, frameSize, askedInFlight)
	}
	if !f.pace.Waits() {
		t.Error("it does not wait")
	}
}

func TestNetworkIsServedEvenly(t *testing.T) {
	w := newTable()
	all := w.join(40)
	for _, f := range all {
		f.queued = true
		w.due(false, f)
	}
	count := func() (frames int) {
		for _, f := range all {
			frames += f.frames
		}
		return frames
	}
	if got := count(); got != firstWindow {
		t.Fatalf("%d frames before the network is checked, want %d", got, firstWindow)
	}
	dueAll(w.sender, all) // another tick: those in the queue are due again
	for n := count(); n < 200; n++ {
		w.network.flight[0].client.conn.(*fake).queued = false // the oldest frame leaves
		w.run(PollPeriod)
		all[0].queued = true
		for _, f := range all {
			f.queued = true
			w.due(false, f)
		}
	}
	least, most := math.MaxInt, 0
	for _, f := range all {
		least, most = min(least, f.frames), max(most, f.frames)
	}
	if most-least > 1 {
		t.Errorf("%d to %d frames each", least, most)
	}
	if len(w.network.flight) > firstWindow {
		t.Errorf("%d frames in flight", len(w.network.flight))
	}
}

func TestLostFramesLeaveTheWindow(t *testing.T) {
	w := newTable()
	for _, f := range w.join(firstWindow) {
		f.queued = true
		w.due(false, f)
	}
	well := w.join(1)[0]
	w.due(false, well)
	if well.frames != 0 || !well.pace.Waits() {
		t.Fatal("the window is not used up")
	}
	w.run(flightLimit + 2*PollPeriod)
	if well.frames != 1 {
		t.Error("frames that do not leave delay the others")
	}
}

func TestLeave(t *testing.T) {
	w := newTable()
	all := w.join(3 * firstWindow)
	for _, f := range all {
		f.queued = true
		w.due(false, f)
	}
	asideOne := w.join(1)[0]
	asideOne.unacknowledged = math.MaxInt
	for range maxTrust + 2 {
		w.due(false, asideOne)
	}
	all[firstWindow].leave = true // its connection is closed by the write
	for i, f := range all {
		if i != firstWindow && i%2 == 0 {
			w.leave(f)
		}
		f.queued = false
	}
	w.leave(asideOne)
	w.run(time.Second)
	for i, f := range all {
		gone := i == firstWindow || i%2 == 0
		if !gone && f.frames != 1 || gone && i >= firstWindow && f.frames != 0 {
			t.Errorf("client %d has %d frames; it has left: %v", i, f.frames, gone)
		}
		if !f.pace.removed {
			w.leave(f)
		}
	}
	if w.network.queue.len() != 0 || len(w.network.flight) != 0 {
		t.Error("clients that left are remembered")
	}
	if _, armed := w.timers.Next(); armed {
		w.run(time.Second)
		if _, armed := w.timers.Next(); armed {
			t.Error("a timer stays armed")
		}
	}
}

func TestNothingToSend(t *testing.T) {
	w := newTable()
	w.write = func(time.Duration, paced) int { return 0 }
	f := w.join(1)[0]
	for range 60 {
		w.due(false, f)
		w.run(time.Second)
	}
	if len(w.network.flight) != 0 || f.pace.Waits() {
		t.Error("a frame without bytes is in flight")
	}
}

func TestTickAllocatesNothing(t *testing.T) {
	w := newTable()
	all := w.join(200)
	tick := func() {
		dueAll(w.sender, all)
		w.run(20 * ms)
	}
	tick()
	if n := testing.AllocsPerRun(100, tick); n != 0 {
		t.Errorf("%v allocations in a tick of a healthy network", n)
	}
	for _, f := range all {
		f.queued = true
	}
	busy := func() {
		dueAll(w.sender, all)
		for range 20 {
			if len(w.network.flight) > 0 {
				w.network.flight[0].client.conn.(*fake).queued = false
			}
			w.run(PollPeriod)
		}
	}
	for range 50 {
		busy()
	}
	if n := testing.AllocsPerRun(100, busy); n != 0 {
		t.Errorf("%v allocations in a tick of a full network", n)
	}
}

func BenchmarkTickOf50(b *testing.B) {
	w := newTable()
	all := w.join(50)
	b.ReportAllocs()
	for b.Loop() {
		w.now += 20 * ms
		dueAll(w.sender, all)
	}
}

// The queue serves in the same order as a simple model, a slice whose first item is deleted.
func TestFifo(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var f fifo
	var model []*Client
	for range 10_000 {
		switch {
		case len(model) > 0 && random.IntN(2) == 0:
			if f.pop() != model[0] {
				t.Fatal("another one is served first")
			}
			model = model[1:]
		case len(model) > 0 && random.IntN(4) == 0:
			i := random.IntN(len(model))
			f.remove(model[i])
			model = slices.Delete(model, i, i+1)
		default:
			c := &Client{}
			f.push(c)
			model = append(model, c)
		}
		if f.len() != len(model) || !slices.Equal(f.items[f.head:], model) {
			t.Fatalf("%d wait, want %d", f.len(), len(model))
		}
	}
	for f.len() > 0 {
		f.pop()
	}
	if len(f.items) != 0 || f.head != 0 {
		t.Errorf("an empty queue keeps %d places", len(f.items))
	}
}

// A congested network is congested for all of its clients. Congestion further away affects only the
// client that does not keep up.
func TestFull(t *testing.T) {
	w := newTable()
	both := w.join(2)
	a, b := both[0], both[1]
	expect := func(what string, wantA, wantB bool) {
		t.Helper()
		if gotA, gotB := a.pace.Congested(w.now), b.pace.Congested(w.now); gotA != wantA || gotB != wantB {
			t.Errorf("%s: full %v, %v", what, gotA, gotB)
		}
	}
	w.due(false, a)
	expect("sent at once", false, false)
	a.unacknowledged = 10 * frameSize // it pauses
	for range maxTrust + 1 {
		w.due(false, a)
	}
	w.run(ackDelay / 2)
	a.unacknowledged = 0
	w.run(ackDelay / 2)
	expect("a short pause", false, false)
	a.unacknowledged = 10 * frameSize
	for range maxTrust + 1 {
		w.due(false, a)
	}
	w.run(2 * ackDelay)
	a.unacknowledged = 0
	w.run(ackDelay)
	expect("a long one", true, false)
	w.run(congestedFor)
	expect("long ago", false, false)
	// The transmit queue does not empty.
	a.queued, b.queued = true, true
	for range mostWindow + 1 {
		w.due(false, b)
	}
	w.run(2 * slowWait)
	a.queued, b.queued = false, false
	w.run(slowWait)
	expect("a slow frame", true, true)
	w.run(congestedFor)
	expect("later", false, false)
}
