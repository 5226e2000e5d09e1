package stage

import (
	"testing"
	"time"

	"player/codec"
	"player/devices"
)

// stepper is a client in lockstep.
type stepper struct{ waits bool }

func (s *stepper) News()       { s.waits = false }
func (s *stepper) Waits() bool { return s.waits }

func TestWhoIsWaitedFor(t *testing.T) {
	a, b, c := &stepper{}, &stepper{}, &stepper{}
	var left, right roll
	l := lockstep{need: 2}
	now := time.Hour
	count := func(r *roll, present ...devices.Waiter) { l.recount(now, r, present) }
	expect := func(what string, open bool, deadline time.Duration) {
		t.Helper()
		if l.open() != open || l.deadline() != deadline {
			t.Errorf("%s: open %v, deadline %v; want %v, %v", what, l.open(), l.deadline(), open, deadline)
		}
	}
	expect("no client", false, 0)
	a.waits = true
	count(&left, a)
	expect("one of two", false, 0)
	count(&right, b)
	expect("two, one waits", false, now+stepLimit)
	b.waits = true
	count(&right, b)
	expect("both wait", true, 0)

	a.waits, b.waits = false, false // a report
	count(&left, a)
	count(&right, b)
	expect("both have data", false, 0)
	now += time.Minute
	a.waits = true
	count(&left, a)
	expect("one has asked", false, now+stepLimit)
	since := now
	now += time.Second
	count(&left, a, c)
	expect("another has come", false, since+stepLimit)
	count(&left, a)
	expect("and gone", false, since+stepLimit)
	if n := l.giveUp(&left); n != 0 {
		t.Errorf("%d given up that wait", n)
	}
	if n := l.giveUp(&right); n != 1 {
		t.Errorf("%d given up, want one", n)
	}
	expect("without the late one", true, 0)
	a.waits = false
	count(&left, a)
	expect("the late one is not waited for", false, 0)
	a.waits, b.waits = true, true
	count(&left, a)
	count(&right, b)
	b.waits = false
	count(&right, b)
	expect("it is back", false, now+stepLimit)

	count(&right)
	expect("it has left", true, 0)
	count(&left)
	expect("all have left", false, 0)
	count(&left, a)
	expect("one of two again", false, 0)
	if l.crew != left.crew || right.crew != (crew{}) {
		t.Errorf("counts of all %+v, of the robots %+v and %+v", l.crew, left.crew, right.crew)
	}
}

func TestClientsWhoAreLateDoNotLoseTheWorld(t *testing.T) {
	a, b := &stepper{waits: true}, &stepper{}
	l := lockstep{need: 1}
	var r roll
	l.recount(0, &r, []devices.Waiter{a, b})
	l.giveUp(&r)
	a.waits = false
	l.recount(0, &r, []devices.Waiter{b})
	if l.open() {
		t.Error("the world goes on although its only client is late")
	}
}

// inStep puts the world of a bench in lockstep.
func inStep(t *testing.T, robots int, settings string) *bench {
	t.Helper()
	world := settings
	for i := range robots {
		world += "\nposition ( pose [0 " + string(rune('0'+i)) + " 0 0] )"
	}
	return newBench(t, newWorld(t, world))
}

func (b *bench) ask(robot int, s *stepper) {
	s.waits = true
	b.tables[robot].Device(codec.Position).Asked(b.now)
}

func TestTheWorldWaitsForItsClients(t *testing.T) {
	for _, speedup := range []string{"0", "1", "1000"} {
		t.Run(speedup, func(t *testing.T) {
			b := inStep(t, 3, "lockstep 2\nspeedup "+speedup)
			clients := []*stepper{{}, {}}
			b.open(t, 2, "p") // by a client that is not in lockstep
			b.run(time.Minute)
			for robot, c := range clients {
				if b.world.Time() != 0 {
					t.Fatalf("the world is at %v with %d clients in step", b.world.Time(), robot)
				}
				b.open(t, robot, "p")
				b.tables[robot].Device(codec.Position).AddWaiter(b.now, c)
				b.run(time.Minute)
			}
			for i := range 50 {
				b.drive(0, 200, 0)
				for robot, c := range clients {
					if at, want := b.world.Time(), time.Duration(i)*publishPeriod; at != want {
						t.Fatalf("round %d: the world is at %v, want %v", i, at, want)
					}
					if c.waits {
						t.Fatalf("round %d: client %d has no data", i, robot)
					}
					for n := range b.tables {
						if p := b.position(t, n); p.Time != uint32(i*100) {
							t.Fatalf("round %d: robot %d has reported %d ms", i, n, p.Time)
						}
					}
					b.ask(robot, c)
					if robot == 0 {
						b.run(stepLimit / 2)
					}
				}
				b.run(time.Second)
			}
			if x := b.position(t, 0).X; x < 900 || x > 1000 {
				t.Errorf("x is %d mm", x)
			}
			b.run(time.Minute) // deadlines of clients that were behind
			wakes := b.wakes
			b.run(time.Hour)
			if b.wakes != wakes {
				t.Errorf("%d wakes while nothing happens", b.wakes-wakes)
			}
		})
	}
}

func TestClientsInStepThatHangOrLeave(t *testing.T) {
	b := inStep(t, 2, "lockstep 2\nspeedup 0")
	clients := []*stepper{{}, {}}
	for robot, c := range clients {
		b.open(t, robot, "pm")
		for _, d := range "pm" {
			b.tables[robot].Device(byte(d)).AddWaiter(b.now, c)
		}
	}
	b.run(1)
	b.ask(0, clients[0])
	b.run(stepLimit - time.Second)
	if b.world.Time() != 0 {
		t.Fatal("the world does not wait")
	}
	b.run(2 * time.Second)
	if b.world.Time() != publishPeriod {
		t.Fatalf("the world is at %v, one client hangs", b.world.Time())
	}
	b.ask(0, clients[0])
	b.run(time.Second)
	if b.world.Time() != 2*publishPeriod {
		t.Fatalf("the world is at %v, it waits again for a client that hangs", b.world.Time())
	}
	b.ask(1, clients[1]) // it is back: it has read the first report now
	clients[1].waits = false
	b.tables[1].Device(codec.Position).Asked(b.now)
	b.ask(0, clients[0])
	b.run(time.Second)
	if b.world.Time() != 2*publishPeriod {
		t.Fatalf("the world is at %v, it does not wait for a client that is back", b.world.Time())
	}
	b.close(1, "pm") // its link stops before its waiters are removed
	b.run(1)
	if b.world.Time() != 3*publishPeriod {
		t.Errorf("the world is at %v, one client has left", b.world.Time())
	}
}

// The run of a world without clients leaves a world in lockstep to the drivers: one that acts on a report has to act before
// the next step.
func TestOnlyDriversAdvanceAWorldInStep(t *testing.T) {
	b := inStep(t, 1, "lockstep 1\nspeedup 0")
	c := &stepper{}
	b.open(t, 0, "p")
	b.tables[0].Device(codec.Position).AddWaiter(b.now, c)
	b.run(time.Second)
	b.ask(0, c)
	before := b.world.Time()
	if next := b.world.Run(b.now); next != b.now+publishPeriod || b.world.Time() != before {
		t.Errorf("the world went from %v to %v, next %v", before, b.world.Time(), next-b.now)
	}
	if b.run(time.Second); b.world.Time() != before+publishPeriod {
		t.Errorf("its driver went from %v to %v", before, b.world.Time())
	}
}
