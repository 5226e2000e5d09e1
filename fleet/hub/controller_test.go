package hub

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"player/devices"
	"player/fleet/bridge"
)

// story runs a test in a simulation with some bridges, of which one serves the robot. Nothing fails by chance.
func story(t *testing.T, seed uint64, bridges int, tell func(t *testing.T, s *sim)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newSim(seed)
		s.lock(func() {
			s.calm = true
			for range bridges {
				s.start()
			}
		})
		defer func() {
			if s.broken != nil {
				t.Error(s.broken)
			}
			if t.Failed() {
				t.Log(strings.Join(s.trace, "\n"))
			}
			s.finish()
		}()
		s.wait(time.Second)
		tell(t, s)
	})
}

// wait lets time pass.
func (s *sim) wait(d time.Duration) { s.run(s.now+d, nil) }

// until lets time pass until a condition holds.
func (s *sim) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	if s.run(s.now+time.Minute, done); !done() {
		t.Fatalf("waited in vain: %s", what)
	}
}

// serving returns the bridge that serves the robot; nil: none does.
func (s *sim) serving() *process {
	for _, p := range s.living() {
		if !p.paused && p.hub.stoppers[robotName].state.Load() != nil {
			return p
		}
	}
	return nil
}

// program returns a program that a test controls.
func (s *sim) program(name string) (d *driver) {
	s.lock(func() {
		d = &driver{sim: s, name: name, limit: time.Minute, conn: s.nats.connect(name, nil)}
		s.drivers = append(s.drivers, d)
	})
	s.wait(10 * time.Millisecond)
	return d
}

// later is an answer that comes later.
type later struct {
	reply
	came bool
}

// send sends a request.
func (d *driver) send(subject, token string, body []byte) *later {
	l := &later{}
	d.sim.lock(func() { d.request(subject, token, body, func(r reply) { l.reply, l.came = r, true }) })
	return l
}

// wait waits for the answer.
func (d *driver) wait(t *testing.T, l *later) reply {
	t.Helper()
	d.sim.until(t, "an answer to "+d.name, func() bool { return l.came })
	return l.reply
}

func (d *driver) lease(t *testing.T) reply {
	t.Helper()
	return d.wait(t, d.send(leaseSubject(), "", []byte(d.name)))
}

func (d *driver) release(t *testing.T, token string) reply {
	t.Helper()
	return d.wait(t, d.send(leaseSubject(), token, []byte("release")))
}

// obey sends a command.
func (d *driver) obey(t *testing.T, token string) reply {
	t.Helper()
	l := &later{}
	d.sim.lock(func() { d.command(token, true, func(r reply) { l.reply, l.came = r, true }) })
	return d.wait(t, l)
}

// keep sends commands until stop is called.
func (d *driver) keep(token string) (stop func()) {
	ended := false
	var next func()
	next = func() {
		if !ended {
			d.command(token, false, nil)
			d.sim.after(50*time.Millisecond, nil, next)
		}
	}
	d.sim.lock(next)
	return func() { ended = true }
}

// entry writes to the bucket, as another bridge does.
func (s *sim) entry(l entry) (sequence uint64) {
	key := leaseKey(robotName, devices.Position())
	s.lock(func() { sequence = s.nats.put(key, mustJSON(l)).sequence })
	return sequence
}

// adopt writes to the bucket that another bridge goes on with a lease.
func (s *sim) adopt(token string) {
	_, secret, _ := strings.Cut(token, "-")
	s.entry(entry{Holder: "alice", Secret: secret, Bridge: "another", First: numberOf(token)})
}

// Commands alone renew the lease, here and in the bucket. A holder that falls silent loses it: the robot
// stands, and the next one gets it.
func TestLeaseExpires(t *testing.T) {
	story(t, 1, 1, func(t *testing.T, s *sim) {
		alice, bob := s.program("alice"), s.program("bob")
		stop := alice.keep(alice.lease(t).Token)
		s.wait(bridge.TTL / 4)
		for range 30 {
			if r := bob.lease(t); r.Token != "" || r.Holder != "alice" || s.robot.driver == nil {
				t.Fatalf("while alice drives, bob is answered %+v; the robot drives: %t", r, s.robot.driver != nil)
			}
			s.wait(bridge.TTL / 10)
		}
		stop()
		s.wait(bridge.TTL * 9 / 10)
		if s.robot.driver == nil {
			t.Error("the robot stands before the lease has ended")
		}
		s.wait(bridge.TTL/10 + slack)
		if r := bob.lease(t); s.robot.driver != nil || r.Holder != "bob" {
			t.Errorf("bob is answered %+v; the robot drives: %t", r, s.robot.driver != nil)
		}
	})
}

// Hardware may need longer to start than an entry lasts.
func TestLeaseOfSlowHardware(t *testing.T) {
	story(t, 1, 1, func(t *testing.T, s *sim) {
		alice := s.program("alice")
		s.robot.setup = 3 * bridge.TTL
		r := alice.lease(t)
		s.robot.setup = 0
		if r.Holder != "alice" || numberOf(r.Token) <= 2 { // its first entry, and the tombstone of that
			t.Fatalf("alice is answered %+v", r)
		}
		if r := alice.obey(t, r.Token); !r.OK {
			t.Errorf("a command is answered %+v", r)
		}
	})
}

// A release is answered with ok only if no other bridge goes on with the lease.
func TestReleaseOfAdoptedLease(t *testing.T) {
	story(t, 1, 1, func(t *testing.T, s *sim) {
		alice := s.program("alice")
		token := alice.lease(t).Token
		s.adopt(token)
		if r := alice.release(t, token); r.OK || r.Error == "" {
			t.Errorf("a release of a lease that goes on is answered %+v", r)
		}
	})
}

// The bucket gets a lease when its bridge waits no more, and no program has its token: it is taken back.
func TestForgottenLease(t *testing.T) {
	story(t, 1, 1, func(t *testing.T, s *sim) {
		alice, bob := s.program("alice"), s.program("bob")
		s.wait(lateLimit)
		s.nats.slow = bucketLimit * 6 / 5
		asked := alice.send(leaseSubject(), "", []byte("alice"))
		s.wait(bucketLimit * 9 / 10)
		s.nats.slow = 0
		if r := alice.wait(t, asked); r.Token != "" || r.Error == "" {
			t.Fatalf("JetStream does not answer, and alice is answered %+v", r)
		}
		s.wait(bridge.TTL * 6 / 10)
		if r := bob.lease(t); r.Holder != "bob" || len(s.judge.leases) != 2 {
			t.Errorf("bob is answered %+v, after %d leases", r, len(s.judge.leases))
		}
	})
}

// Another bridge has written the lease: this one obeys its holder until it hears of that, and the robot stands.
func TestAdoptedLeaseEnds(t *testing.T) {
	story(t, 1, 1, func(t *testing.T, s *sim) {
		alice := s.program("alice")
		token := alice.lease(t).Token
		stop := alice.keep(token)
		s.wait(bridge.TTL)
		if s.robot.driver == nil {
			t.Fatal("the robot stands")
		}
		s.adopt(token)
		s.wait(bridge.WritePeriod + slack)
		if stop(); s.robot.driver != nil {
			t.Error("the robot drives on")
		}
	})
}

// A bridge that is refused by the bucket does not connect to the robot. If the robot refuses, nothing stays in
// the bucket.
func TestRefusedLeaseLeavesTheRobotAlone(t *testing.T) {
	story(t, 1, 1, func(t *testing.T, s *sim) {
		alice := s.program("alice")
		s.wait(lateLimit)
		s.entry(entry{Holder: "bob", Secret: "S", Bridge: "another"})
		if r := alice.lease(t); r.Token != "" || r.Error == "" || len(s.robot.links) > 0 {
			t.Errorf("another bridge has given the lease, and alice is answered %+v, with %d connections", r, len(s.robot.links))
		}
		s.wait(2 * bridge.TTL)
		s.robot.down = true
		for range 2 {
			if r := alice.lease(t); r.Token != "" || r.Error == "" || r.Holder != "" {
				t.Errorf("while the robot refuses, alice is answered %+v", r)
			}
		}
		s.robot.down = false
		if r := alice.lease(t); r.Token == "" { // at once
			t.Errorf("the robot is there, and alice is answered %+v", r)
		}
	})
}

// The robot's server hangs, and with it the bridge's answers. A program that has asked for the lease meanwhile
// may have given up: it does not get the lease when the server goes on. The lease before has ended.
func TestLeaseOfWhoHasGivenUp(t *testing.T) {
	story(t, 1, 1, func(t *testing.T, s *sim) {
		alice, bob, carol := s.program("alice"), s.program("bob"), s.program("carol")
		token := alice.lease(t).Token
		s.lock(func() { s.robot.cutOff(s.serving(), 3*bridge.TTL/2+bridge.TTL) })
		if r := alice.obey(t, token); r.OK || r.Error == "" {
			t.Fatalf("the server hangs, and a command is answered %+v", r)
		}
		s.lock(func() { alice.command(token, false, nil) }) // the bridge connects again
		if r := bob.lease(t); r.Token != "" || r.Error == "" || r.Holder != "" {
			t.Errorf("bob is answered %+v", r)
		}
		if r := carol.lease(t); r.Holder != "carol" {
			t.Errorf("carol is answered %+v", r)
		}
	})
}

// A lease ends while its bridge is paused. Then it has no holder, whatever the bridge does first.
func TestLeaseEndsInAPause(t *testing.T) {
	for seed := range uint64(20) {
		story(t, seed+1, 1, func(t *testing.T, s *sim) {
			alice, bob := s.program("alice"), s.program("bob")
			alice.lease(t)
			s.lock(func() { s.serving().pause(bridge.TTL * 3 / 2) })
			s.wait(bridge.TTL)
			if r := bob.lease(t); r.Holder == "alice" {
				t.Errorf("seed %d: bob is answered %+v", seed+1, r)
			}
		})
	}
}

// A program asks for the lease, JetStream is slow, and meanwhile another bridge takes the robot over. The lease
// is given after that, and the program gets its token: no other program could use it.
func TestLeaseGivenAtAHandover(t *testing.T) {
	story(t, 1, 1, func(t *testing.T, s *sim) {
		alice := s.program("alice")
		first := s.serving()
		s.lock(func() { s.nats.slow = bridge.TTL * 3 / 4 })
		asked := alice.send(leaseSubject(), "", []byte("alice"))
		s.wait(slack)
		s.rival(t, first)
		s.nats.slow = 0
		r := alice.wait(t, asked)
		if r.Holder != "alice" || r.Token == "" {
			t.Fatalf("alice is answered %+v", r)
		}
		if r := alice.obey(t, r.Token); !r.OK || s.serving() == first {
			t.Errorf("the other bridge answers %+v", r)
		}
	})
}

// A bridge is paused while the bucket gives a lease, and another one has the robot when it goes on: the program
// is not answered with a token that has ended.
func TestLeaseGivenBeforeAPause(t *testing.T) {
	for seed := range uint64(30) {
		story(t, seed+1, 2, func(t *testing.T, s *sim) {
			alice, first := s.program("alice"), s.serving()
			asked := alice.send(leaseSubject(), "", []byte("alice"))
			s.until(t, "entry", func() bool { return len(s.judge.leases) > 0 })
			s.lock(func() { first.pause(3 * bridge.TTL) })
			if r := alice.wait(t, asked); r.Token != "" && s.nats.keys[leaseKey(robotName, devices.Position())] == nil {
				t.Errorf("seed %d: alice is answered %+v", seed+1, r)
			}
		})
	}
}

// A bridge is paused while it renews a lease that it is about to give, because the hardware was slow: the program
// is not answered with a token that has ended.
func TestLeaseOfSlowHardwareEndsInAPause(t *testing.T) {
	for seed := range uint64(20) {
		story(t, seed+1, 1, func(t *testing.T, s *sim) {
			alice, first := s.program("alice"), s.serving()
			s.robot.setup = bridge.TTL / 2
			asked := alice.send(leaseSubject(), "", []byte("alice"))
			s.until(t, "renewal", func() bool { return s.nats.sequence == 2 })
			s.lock(func() { first.pause(3 * bridge.TTL) })
			if r := alice.wait(t, asked); r.Token != "" || r.Error == "" {
				t.Errorf("seed %d: alice is answered %+v", seed+1, r)
			}
		})
	}
}

// Of two bridges the first hangs, then the second. When the first goes on, it gives no lease to a program that has
// asked while it hung, before it knows that: the robot still obeys the second, the judge looks.
func TestBridgeThatHungGivesNoLease(t *testing.T) {
	for seed := range uint64(40) {
		story(t, seed+1, 2, func(t *testing.T, s *sim) {
			alice, bob := s.program("alice"), s.program("bob")
			began := s.now
			s.lock(func() { s.serving().pause(3 * bridge.TTL) })
			bob.send(leaseSubject(), "", []byte("bob")) // it comes before the next beat
			s.until(t, "takeover", func() bool { return s.serving() != nil })
			s.wait(began + bridge.TTL*19/10 - s.now)
			second := s.serving()
			alice.limit = bridge.TTL / 2
			if r := alice.obey(t, alice.lease(t).Token); !r.OK {
				t.Fatalf("seed %d: alice is answered %+v", seed+1, r)
			}
			s.lock(func() { second.pause(3 * bridge.TTL) })
			s.wait(began + 4*bridge.TTL - s.now)
		})
	}
}

// rival starts bridges until one takes the robot from another one.
func (s *sim) rival(t *testing.T, from *process) {
	t.Helper()
	s.lock(func() {
		for n := len(s.processes); ; n++ {
			peers := bridge.Peers{Self: processName(n)}
			if peers.Heard(from.name, time.Time{}); peers.Mine(robotName, time.Time{}) {
				s.start()
				return
			}
			s.processes = append(s.processes, nil)
		}
	})
	s.until(t, "handover", func() bool { return from.hub.stoppers[robotName].state.Load() == nil })
}

// A bridge finds a lease that the bridge before it has written after this one had searched.
func TestLeaseGivenAfterAHandover(t *testing.T) {
	story(t, 1, 1, func(t *testing.T, s *sim) {
		alice := s.program("alice")
		number := s.entry(entry{Holder: "alice", Secret: "S", Bridge: "another"})
		if r := alice.obey(t, (entry{First: number, Secret: "S"}).token()); !r.OK {
			t.Errorf("alice has a lease, and her command is answered %+v", r)
		}
	})
}

// A bridge that hung takes its robot back with the lease as it is now, and obeys no command that waited for it.
func TestHungBridgeKeepsLeases(t *testing.T) {
	for seed := range uint64(20) {
		story(t, seed+1, 2, func(t *testing.T, s *sim) {
			alice, bob := s.program("alice"), s.program("bob")
			first := s.serving()
			token := alice.lease(t).Token
			stop := alice.keep(token)
			s.wait(bridge.TTL / 4)
			s.lock(func() { first.pause(3 * bridge.TTL) })
			s.until(t, "takeover", func() bool { return s.serving() != nil })
			s.until(t, "takeover by the first bridge", func() bool { return s.serving() == first })
			s.wait(bridge.TTL / 2)
			if r := alice.obey(t, token); !r.OK || s.serving() != first {
				t.Errorf("seed %d: after the bridge went on, alice is answered %+v", seed+1, r)
			}
			stop()
			if r := alice.release(t, token); !r.OK {
				t.Errorf("seed %d: a release is answered %+v", seed+1, r)
			}
			for range 20 { // the bridge before may obey alice, and the robot that bridge
				if bob.lease(t).Token != "" {
					break
				}
				s.wait(bridge.TTL / 10)
			}
			if r := bob.lease(t); r.Holder != "bob" {
				t.Errorf("seed %d: bob is answered %+v", seed+1, r)
			}
			if r := alice.obey(t, token); r.OK {
				t.Errorf("seed %d: the command of an earlier holder is obeyed", seed+1)
			}
		})
	}
}

// An adopted lease is released at once. Until the bridge before can obey its holder no more, no other program
// gets it: the holder's messages wait for that bridge.
func TestAdoptedLeaseIsNotGivenOn(t *testing.T) {
	released := 0
	for seed := range uint64(20) {
		story(t, seed+1, 2, func(t *testing.T, s *sim) {
			alice, bob := s.program("alice"), s.program("bob")
			first := s.serving()
			token := alice.lease(t).Token
			stop := alice.keep(token)
			s.wait(bridge.TTL * 3 / 4)
			s.lock(func() { first.pause(bridge.TTL * 4 / 5) })
			stop()
			s.until(t, "takeover", func() bool { return s.serving() != nil })
			s.wait(slack)
			alice.obey(t, token)
			if r := alice.release(t, token); r.OK && first.paused {
				released++
			}
			for range 20 { // the judge looks
				bob.send(leaseSubject(), "", []byte("bob"))
				s.wait(10 * time.Millisecond)
			}
			s.wait(2 * bridge.TTL)
		})
	}
	if released == 0 {
		t.Error("no lease was released while the bridge before was paused")
	}
}

// A bridge hangs, and the robot obeys its last command for the lifetime of that. Until then no other program gets
// the lease from the next bridge, also if its entry has expired: the judge looks.
func TestLeaseWaitsForTheRobotOfAHungBridge(t *testing.T) {
	for seed := range uint64(60) {
		story(t, seed+1, 3, func(t *testing.T, s *sim) {
			alice, bob := s.program("alice"), s.program("bob")
			first := s.serving()
			token := alice.lease(t).Token
			s.wait(time.Duration(seed) * bridge.BeatPeriod / 20) // at any time between two beats
			if r := alice.obey(t, token); !r.OK {
				t.Fatalf("seed %d: alice is answered %+v", seed+1, r)
			}
			s.lock(func() {
				first.pause(3 * bridge.TTL)
				if seed%2 == 0 {
					s.nats.put(leaseKey(robotName, devices.Position()), nil).expired = true
				}
			})
			bob.limit = 20 * time.Millisecond // the bridge that hangs gets its requests as well
			for paused := s.now; bob.lease(t).Holder != "bob"; {
				if s.now > paused+bridge.TTL*5/2 {
					t.Fatalf("seed %d: bob does not get the lease", seed+1)
				}
			}
		})
	}
}
