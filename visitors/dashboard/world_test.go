package dashboard

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"player/devices/stage"
	"player/e2e/must"
	"player/visitors"
)

// poses decodes a message of the world.
func poses(message []byte) (at, speed float64, flags byte, xyh [][3]float64) {
	be := binary.BigEndian
	at, speed, flags = math.Float64frombits(be.Uint64(message[4:])), float64(math.Float32frombits(be.Uint32(message[12:]))), message[16]
	for rest := message[17:]; len(rest) > 0; rest = rest[12:] {
		var p [3]float64
		for i := range p {
			p[i] = float64(math.Float32frombits(be.Uint32(rest[4*i:])))
		}
		xyh = append(xyh, p)
	}
	return at, speed, flags, xyh
}

// next reads a message of the world and acknowledges it.
func (p *tab) next() []byte {
	p.Helper()
	message := p.data()
	p.ack(binary.BigEndian.Uint32(message))
	return message
}

func TestWorld(t *testing.T) {
	l := newLab(t, nil)
	p := l.open("/world", "")
	if movers := p.await("movers").([]any); len(movers) != 2 {
		t.Fatalf("%d movers", len(movers))
	}
	_, speed, _, xyh := poses(p.next())
	if speed != 1 || len(xyh) != 2 || xyh[0] != [3]float64{-2, -1.5, 0} {
		t.Fatalf("speed %v, poses %v", speed, xyh)
	}

	p.Send(`{"move":{"mover":0,"x":1.5,"y":0.5,"heading":0.25}}`)
	if why := p.await("error"); why != "" {
		t.Fatalf("move: %s", why)
	}
	if _, _, _, xyh := poses(p.next()); xyh[0] != [3]float64{1.5, 0.5, 0.25} {
		t.Errorf("after the move: %v", xyh)
	}
	p.Send(`{"move":{"mover":0,"x":4,"y":0}}`) // into the wall
	if why := p.await("error").(string); !strings.HasPrefix(why, stage.ErrNoRoom.Error()) {
		t.Errorf("into the wall: %q", why)
	}
	p.Send(`{"move":{"mover":9}}`)
	if why := p.await("error").(string); !strings.Contains(why, "no mover") {
		t.Errorf("mover 9: %q", why)
	}

	// Messages follow commands in order: the first with the flag has the time at
	// which the world was paused.
	p.Send(`{"pause":true}`)
	var paused float64
	for flags := byte(0); flags&1 == 0; {
		paused, _, flags, _ = poses(p.next())
	}
	p.Send(`{"step":10}`)
	if at, _, _, _ := poses(p.next()); math.Abs(at-paused-0.1) > 1e-9 {
		t.Errorf("ten steps from %v lead to %v", paused, at)
	}
	p.Send(`{"speed":5e300}`)
	if _, speed, _, _ := poses(p.next()); speed != maxSpeed {
		t.Errorf("speed %v", speed)
	}
	p.Send(`{"pause":false}`)
	if _, _, flags, _ := poses(p.next()); flags&1 != 0 {
		t.Error("still paused")
	}
}

// Unchanged poses are not sent, and a snapshot allocates nothing.
func TestWorldUnchanged(t *testing.T) {
	l := newLab(t, nil)
	server := newServer(t.Context(), Config{World: l.World, Common: visitors.Common{Post: l.Server.Post}})
	o := observer{server: server, socket: &socket{Guest: &visitors.Guest{Outbox: new(visitors.Outbox)}}}
	shown := must.Get(visitors.OnLoop(t.Context(), server.world, func(w *stage.World, _ time.Duration) snapshot {
		return takeSnapshot(w, nil)
	}))(t)
	o.last = shown.appendTo(nil)
	if err := o.sendPoses(t.Context()); err != nil { // no socket: it would panic
		t.Error(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		shown = takeSnapshot(l.World, shown.poses[:0])
		o.out = shown.appendTo(o.out[:0])
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
