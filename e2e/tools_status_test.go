package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"player/e2e/waiting"
)

// player stop stops a robot that another program drives, for good, until it is
// released; player status shows both, and the tools by their names.
func TestStopAndStatusTools(t *testing.T) {
	t.Parallel()
	s, page := startDashboard(t)
	dashboard := strings.TrimPrefix(strings.TrimSuffix(page, "/"), "http://")
	status := func() string {
		code, out, errs := uses(t, "status", dashboard)
		if code != 0 || errs != "" {
			t.Fatalf("exit %d, %s", code, errs)
		}
		return out
	}
	p := s.dial(t)
	p.request("pa")
	turns := func() bool {
		p.drive(0, 30)
		return p.position().TurnRate > 20
	}
	waiting.Until(t, "a robot that turns", turns)
	if out := status(); !strings.Contains(out, "(drives)") || strings.Contains(out, "EMERGENCY STOP") {
		t.Errorf("while a client drives: %s", out)
	}
	if code, out, errs := uses(t, "stop", s.address); code != 0 || !strings.HasPrefix(out, "stopped: ") {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	p.until("it stands", func() bool { return p.position().TurnRate == 0 }) // older frames wait
	for range 10 {
		if turns() {
			t.Fatal("the robot turns in spite of the emergency stop")
		}
	}
	if out := status(); !strings.Contains(out, "EMERGENCY STOP") {
		t.Errorf("while it is stopped: %s", out)
	}
	code, out, errs := uses(t, "status", "-json", dashboard)
	var answer struct{ Robots []struct{ Stopped bool } }
	if err := json.Unmarshal([]byte(out), &answer); code != 0 || err != nil || len(answer.Robots) == 0 || !answer.Robots[0].Stopped {
		t.Errorf("exit %d, %v, %s%s", code, err, out, errs)
	}
	if code, out, errs := uses(t, "stop", "-release", s.address); code != 0 || !strings.HasPrefix(out, "released: ") {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	waiting.Until(t, "a robot that turns again", turns)

	c := startTool(t, nil, "print", s.address, "pr")
	waiting.Until(t, "the tool's name", func() bool { return strings.Contains(status(), "player print") })
	_ = c.Cmd.Process.Kill()
}
