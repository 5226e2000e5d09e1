package e2e

import (
	"fmt"
	"testing"

	"player/e2e/waiting"
	"player/server/session"
)

// A program drives a robot with reflexes at a box: the robot turns away and does
// not hit it. Another program sees the same odometry.
func TestReflex(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", "../simulation/worlds/subsumption-box.world", "-reflex")
	p := s.dial(t)
	if reply := p.request("srpa"); reply != "srpa" {
		t.Fatalf("reply %q", reply)
	}
	if got := p.frame(2); got != "s32 p21" {
		t.Errorf("frame %s", got)
	}
	p.drive(400, 0)
	turned := 0
	waiting.Until(t, "the robot to turn away", func() bool {
		at := p.position()
		if at.Stall != 0 {
			t.Fatalf("it ran into something: %+v", at)
		}
		turned = (int(at.Heading) + 180) % 360
		return turned < 180-30 || turned > 180+30
	})
	p.drive(0, 0)
	waiting.Until(t, "the robot to stand", func() bool { at := p.position(); return at.Speed == 0 && at.TurnRate == 0 })

	// Nothing is behind it, so it may drive backward.
	p.drive(-200, 0)
	waiting.Until(t, "the robot to back up", func() bool { return p.position().Speed == -200 })
	p.conn.Close()
	other := s.dial(t)
	other.request("pr")
	waiting.Until(t, "the robot to stop when its program is gone", func() bool { return other.position().Speed == 0 })
}

// A program hangs while it drives: with -deadman, also with -reflex, and with a lifetime
// of its own, the robot stops, and drives again when commands come again (PROTOCOL 5.5).
func TestHang(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		flags    []string
		lifetime uint16
	}{
		{[]string{"-deadman", "300"}, 0},
		{[]string{"-deadman", "300", "-reflex"}, 0},
		{nil, 300},
		{[]string{"-deadman", "60000"}, 300},
	} {
		t.Run(fmt.Sprint(tt.flags, tt.lifetime), func(t *testing.T) {
			t.Parallel()
			s := start(t, append([]string{"-stage", room}, tt.flags...)...)
			p := s.dial(t)
			p.mustOpen("pa", "pa")
			p.message('x', 'p', 'm', 1)
			p.message('x', 'y', 'l', byte(tt.lifetime>>8), byte(tt.lifetime))
			for range 2 {
				p.drives("its commands", -100, 0, func() bool { return p.position().Speed == -100 })
				p.speeds(stands) // it reads, and commands nothing
			}
			s.Await(t, session.LogExpired)
		})
	}
}
