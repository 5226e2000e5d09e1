package pacing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"player/timers"
)

// fake is a connection whose answers a test sets.
type fake struct {
	unacknowledged int
	room           int
	queued         bool
	looks          int
	frames         int
	leave          bool // the write fails
	pace           Client[*fake]
}

func (f *fake) Unacknowledged() int { f.looks++; return f.unacknowledged }
func (f *fake) Room() int           { return f.room }
func (f *fake) Queued() bool        { f.looks++; return f.queued }

const frameSize = 800

// table is a network with fake connections and a clock.
type table struct {
	queue   timers.Queue
	network *Network[*fake]
	now     time.Duration
}

func newTable() *table {
	w := &table{now: time.Second}
	w.network = NewNetwork(&w.queue, func(_ time.Duration, f *fake) int {
		if f.leave {
			f.pace.Leave()
			return frameSize
		}
		f.frames++
		return frameSize
	})
	return w
}

func (w *table) join() *fake {
	f := &fake{room: math.MaxInt}
	w.network.Join(&f.pace, f)
	return f
}

func (w *table) wait(d time.Duration) {
	for end := w.now + d; ; {
		at, ok := w.queue.Next()
		if !ok || at > end {
			w.now = end
			return
		}
		w.now = max(w.now, at)
		w.queue.Run(w.now, 0)
	}
}

func TestClientThatStopsReadingIsSetAside(t *testing.T) {
	w := newTable()
	f := w.join()
	for range 20 {
		f.pace.Due(w.now, false)
		w.wait(20 * ms)
	}
	if f.frames != 20 || f.pace.Waits() {
		t.Fatalf("%d frames of 20", f.frames)
	}
	f.unacknowledged = frameSize // one frame: it may delay its acknowledgement
	for range 20 {
		f.pace.Due(w.now, false)
		w.wait(20 * ms)
	}
	if f.frames != 40 {
		t.Fatalf("%d frames of 40", f.frames)
	}
	f.unacknowledged = 2 * frameSize
	for range 50 {
		f.pace.Due(w.now, false)
		w.wait(20 * ms)
	}
	if f.frames > 40+maxTrust || !f.pace.Waits() {
		t.Fatalf("%d frames to a client that does not read", f.frames-40)
	}
	looks := f.looks
	w.wait(10 * time.Second)
	if got := f.looks - looks; got < 35 || got > 45 {
		t.Errorf("%d looks in 10 s, want four a second", got)
	}
	before := f.frames
	f.unacknowledged = 0
	w.wait(retryLast)
	if f.frames != before+1 || f.pace.Waits() {
		t.Errorf("%d frames when it has read, want the one that was due", f.frames-before)
	}
	// One frame at a time now: the network may be full further away.
	f.unacknowledged = frameSize
	f.pace.Due(w.now, false)
	if f.frames != before+1 || !f.pace.Waits() {
		t.Errorf("%d frames under way", f.frames-before)
	}
}

// With a frame in its queue that does not fit, the kernel would ask for room
// instead of probing the connection.
func TestNoFrameWithoutRoom(t *testing.T) {
	w := newTable()
	f := w.join()
	f.room = 10*frameSize + 100
	sent := 0
	for range 20 {
		before := f.frames
		f.pace.Due(w.now, false)
		if f.frames > before {
			sent++
			f.room -= frameSize
		}
		w.wait(20 * ms)
	}
	if sent != 10 || f.room != 100 {
		t.Errorf("%d frames were sent where ten fit", sent)
	}
	f.room = math.MaxInt
	w.wait(retryLast)
	if f.frames != 11 {
		t.Error("no frame although there is room again")
	}
}

func TestFramesThatWereAskedFor(t *testing.T) {
	w := newTable()
	f := w.join()
	for range 100 {
		before := f.frames
		f.pace.Due(w.now, true)
		f.unacknowledged += (f.frames - before) * frameSize
	}
	if least := askedInFlight / frameSize; f.frames < least || f.frames > least+maxTrust+2 {
		t.Errorf("%d frames of %d bytes are unacknowledged, want about %d bytes", f.frames, frameSize, askedInFlight)
	}
	if !f.pace.Waits() {
		t.Error("it does not wait")
	}
}

func TestLinkIsSharedInTurns(t *testing.T) {
	w := newTable()
	var all []*fake
	for range 40 {
		all = append(all, w.join())
	}
	for _, f := range all {
		f.queued = true
		f.pace.Due(w.now, false)
	}
	count := func() (frames int) {
		for _, f := range all {
			frames += f.frames
		}
		return frames
	}
	if got := count(); got != firstWindow {
		t.Fatalf("%d frames before the network is looked at, want %d", got, firstWindow)
	}
	for _, f := range all { // another tick: those in the queue are due again
		f.pace.Due(w.now, false)
	}
	for n := count(); n < 200; n++ {
		w.network.flight[0].client.conn.queued = false // the oldest frame leaves
		w.wait(poll)
		all[0].queued = true
		for _, f := range all {
			f.queued = true
			f.pace.Due(w.now, false)
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
	for range firstWindow {
		f := w.join()
		f.queued = true
		f.pace.Due(w.now, false)
	}
	well := w.join()
	well.pace.Due(w.now, false)
	if well.frames != 0 || !well.pace.Waits() {
		t.Fatal("the window is not used up")
	}
	w.wait(lost + 2*poll)
	if well.frames != 1 {
		t.Error("frames that do not leave hold up the others")
	}
}

func TestLeave(t *testing.T) {
	w := newTable()
	var all []*fake
	for range 3 * firstWindow {
		f := w.join()
		f.queued = true
		f.pace.Due(w.now, false)
		all = append(all, f)
	}
	asideOne := w.join()
	asideOne.unacknowledged = math.MaxInt
	for range maxTrust + 2 {
		asideOne.pace.Due(w.now, false)
	}
	all[firstWindow].leave = true // its connection is closed by the write
	for i, f := range all {
		if i != firstWindow && i%2 == 0 {
			f.pace.Leave()
		}
		f.queued = false
	}
	asideOne.pace.Leave()
	w.wait(time.Second)
	for i, f := range all {
		gone := i == firstWindow || i%2 == 0
		if want := 1; !gone && f.frames != want {
			t.Errorf("client %d has %d frames", i, f.frames)
		}
		if gone && i >= firstWindow && f.frames != 0 {
			t.Errorf("client %d has left and got a frame", i)
		}
	}
	for _, f := range all {
		if !f.pace.gone {
			f.pace.Leave()
		}
	}
	if w.network.queue.len() != 0 || len(w.network.flight) != 0 {
		t.Error("clients that left are remembered")
	}
	if _, armed := w.queue.Next(); armed {
		w.wait(time.Second)
		if _, armed := w.queue.Next(); armed {
			t.Error("a timer stays armed")
		}
	}
}

func TestNothingToSend(t *testing.T) {
	var q timers.Queue
	l := NewNetwork(&q, func(time.Duration, *fake) int { return 0 })
	f := &fake{room: math.MaxInt}
	l.Join(&f.pace, f)
	for now := time.Second; now < time.Minute; now += time.Second {
		f.pace.Due(now, false)
	}
	if len(l.flight) != 0 || f.pace.Waits() {
		t.Error("a frame without bytes is in flight")
	}
}

func TestTickAllocatesNothing(t *testing.T) {
	w := newTable()
	var all []*fake
	for range 200 {
		all = append(all, w.join())
	}
	tick := func() {
		for _, f := range all {
			f.pace.Due(w.now, false)
		}
		w.wait(20 * ms)
	}
	tick()
	if n := testing.AllocsPerRun(100, tick); n != 0 {
		t.Errorf("%v allocations in a tick of a healthy network", n)
	}
	for _, f := range all {
		f.queued = true
	}
	busy := func() {
		for _, f := range all {
			f.pace.Due(w.now, false)
		}
		for range 20 {
			if len(w.network.flight) > 0 {
				w.network.flight[0].client.conn.queued = false
			}
			w.wait(poll)
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
	var all []*fake
	for range 50 {
		all = append(all, w.join())
	}
	b.ReportAllocs()
	for b.Loop() {
		w.now += 20 * ms
		for _, f := range all {
			f.pace.Due(w.now, false)
		}
	}
}

// The queue against a slice that is moved for each item that is served.
func TestFifo(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var f fifo[int]
	var model []int
	for next := range 10_000 {
		switch {
		case len(model) > 0 && random.IntN(2) == 0:
			if e := f.pop(); e != model[0] {
				t.Fatalf("%d is served before %d", e, model[0])
			}
			model = model[1:]
		case len(model) > 0 && random.IntN(4) == 0:
			i := random.IntN(len(model))
			f.remove(model[i])
			model = slices.Delete(model, i, i+1)
		default:
			f.push(next)
			model = append(model, next)
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

// A network is full for all of its clients, and a client by itself when the network is
// full further away.
func TestFull(t *testing.T) {
	w := newTable()
	a, b := w.join(), w.join()
	expect := func(what string, wantA, wantB bool) {
		t.Helper()
		if gotA, gotB := a.pace.Full(w.now), b.pace.Full(w.now); gotA != wantA || gotB != wantB {
			t.Errorf("%s: full %v, %v", what, gotA, gotB)
		}
	}
	a.pace.Due(w.now, false)
	expect("sent at once", false, false)
	a.unacknowledged = 10 * frameSize // it pauses
	for range maxTrust + 1 {
		a.pace.Due(w.now, false)
	}
	w.wait(ackDelay / 2)
	a.unacknowledged = 0
	w.wait(ackDelay / 2)
	expect("a short pause", false, false)
	a.unacknowledged = 10 * frameSize
	for range maxTrust + 1 {
		a.pace.Due(w.now, false)
	}
	w.wait(2 * ackDelay)
	a.unacknowledged = 0
	w.wait(ackDelay)
	expect("a long one", true, false)
	w.wait(fullFor)
	expect("long ago", false, false)
	// The transmit queue does not empty.
	a.queued, b.queued = true, true
	for range mostWindow + 1 {
		b.pace.Due(w.now, false)
	}
	w.wait(2 * slow)
	a.queued, b.queued = false, false
	w.wait(slow)
	expect("a slow frame", true, true)
	w.wait(fullFor)
	expect("later", false, false)
}
