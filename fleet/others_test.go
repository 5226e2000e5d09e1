package main

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"player/client"
	"player/codec"
	"player/e2e/must"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/fleet/hub"
)

// direct is a program that is connected to a robot itself.
type direct struct {
	*client.Client
	t *testing.T
}

func (r robot) direct(t *testing.T) direct {
	t.Helper()
	c := must.Get(client.Dial(t.Context(), r.address))(t)
	t.Cleanup(func() { c.Close() })
	must.Do(t, errors.Join(c.SetFrequency(20), c.Request(t.Context(), "pa"), c.ChangeMotorState(true)))
	return direct{c, t}
}

// next reads the next data of the robot.
func (d direct) next() {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	must.Do(d.t, d.Read(ctx))
}

// takeOver turns the robot.
func (d direct) takeOver() {
	d.t.Helper()
	must.Do(d.t, d.SetSpeed(0, -20))
	waiting.Until(d.t, "turn by a direct program", func() bool { d.next(); return d.Position.TurnRate == -20 && d.Position.Speed == 0 })
}

// goesOn checks for longer than a lease and its commands last that the robot turns.
func (d direct) goesOn() {
	d.t.Helper()
	for from := d.Position.Time; d.Position.Time < from+3000; d.next() {
		if d.Position.TurnRate != -20 || d.Position.Speed != 0 {
			d.t.Fatalf("the robot drives %d mm/s and %d deg/s, and a direct program has it turn", d.Position.Speed, d.Position.TurnRate)
		}
	}
}

// However a lease ends, the robot that its holder drives stops, and one that a direct
// program has taken over goes on.
func TestLeaseEndsForItself(t *testing.T) {
	t.Parallel()
	const leaseOfB, commandOfB = "player.lab.b.position.0.lease", "player.lab.b.position.0.command"
	for name, end := range map[string]func(h *holding){
		"released": func(h *holding) { h.each(lease, leaseOfB, []byte("release")) },
		"zero":     func(h *holding) { h.each(command, commandOfB, speed(0)) },
		"expired":  func(h *holding) { h.silent(); h.awaitEnd() },
		"ended":    func(h *holding) { h.bridge.End(h.t, syscall.SIGTERM) },
		"killed":   func(h *holding) { h.bridge.End(h.t, syscall.SIGKILL) },
		"hangs":    func(h *holding) { h.suspend() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := startRobot(t, "a"), startRobot(t, "b")
			h := &holding{t: t}
			natsServer := startEmbedded(t)
			h.bridge, h.conn = startFleet(t, []robot{a, b}, "-nats", natsServer.ClientURL())
			other, watched := a.direct(t), b.watch(t)
			for i, subjects := range [2][2]string{{lease, command}, {leaseOfB, commandOfB}} {
				waiting.Until(t, "lease", func() bool {
					h.tokens[i] = request(t, h.conn, subjects[0], "", []byte("alice")).Token
					return h.tokens[i] != ""
				})
				h.stops = append(h.stops, keep(t, h.conn, subjects[0], h.tokens[i]))
			}
			t.Cleanup(h.silent)
			circle := codec.PositionCommand{Speed: 100, TurnRate: 60}.Append(nil) // no wall stops it
			if r := request(t, h.conn, commandOfB, h.tokens[1], circle); !r.OK {
				t.Fatalf("%+v", r)
			}
			if r := request(t, h.conn, command, h.tokens[0], speed(100)); !r.OK {
				t.Fatalf("%+v", r)
			}
			waiting.Until(t, "movement", func() bool { other.next(); return other.Position.Speed > 0 && watched() > 0 })
			other.takeOver()
			other.goesOn() // the holder renews his leases
			if watched() == 0 {
				t.Error("a holder who renews his lease is stopped")
			}
			end(h)
			other.goesOn()
			waiting.Until(t, "stop of the holder's robot", func() bool { return watched() == 0 })
		})
	}
}

// holding is a holder of the leases of a and b.
type holding struct {
	t      *testing.T
	bridge *programs.Program
	conn   *nats.Conn
	tokens [2]string
	stops  []func()
}

// each sends a request for each of the robots.
func (h *holding) each(a, b string, body []byte) {
	h.t.Helper()
	for i, subject := range []string{a, b} {
		if r := request(h.t, h.conn, subject, h.tokens[i], body); !r.OK {
			h.t.Fatalf("%s: %+v", subject, r)
		}
	}
}

// silent ends the renewals.
func (h *holding) silent() {
	for _, stop := range h.stops {
		stop()
	}
	h.stops = nil
}

func (h *holding) awaitEnd() {
	h.t.Helper()
	waiting.Until(h.t, "end of the leases", func() bool { return strings.Count(h.bridge.Output.String(), hub.LogEnds) == 2 })
}

// suspend makes the bridge hang.
func (h *holding) suspend() {
	h.t.Helper()
	h.t.Cleanup(h.bridge.Pause(h.t))
}

// A bridge hangs, and another one takes its robot over, while a direct program drives.
func TestTakeOverStopsNobody(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	token := acquire(t, p.conn, "alice")
	other := p.robot.direct(t)
	stop := keep(t, p.conn, lease, token)
	defer stop()
	if r := request(t, p.conn, command, token, speed(100)); !r.OK {
		t.Fatalf("%+v", r)
	}
	waiting.Until(t, "movement", func() bool { other.next(); return other.Position.Speed > 0 })
	other.takeOver()
	h := holding{t: t, bridge: p.serving(t)}
	h.suspend()
	waiting.Until(t, "other bridge", func() bool { other.next(); return p.serving(t) != h.bridge })
	stop()
	other.goesOn()
	acquire(t, p.conn, "bob") // the lease has ended in the other bridge
	other.goesOn()
}
