package e2e

import (
	"fmt"
	"os"
	"regexp"
	"syscall"
	"testing"

	"player/codec"
	"player/e2e/must"
	"player/e2e/waiting"
	robot "player/simulation/emulator/p2os"
)

// A second server, even of root, neither gets nor disturbs the robot of the first.
func TestPortHasOneServer(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	first, second := start(t, "-pp", r.Port()), start(t, "-pp", r.Port())
	c := first.dial(t)
	c.mustOpen("pr", "pr")
	before := r.State()
	refused := second.dial(t)
	holder := regexp.MustCompile(fmt.Sprintf(`^p used .*\b%d\b`, first.Cmd.Process.Pid))
	waiting.Until(t, "the process that has the port", func() bool { // the server searches for it beside its loop
		refused.mustOpen("pr", "pe")
		return holder.MatchString(refused.ask(codec.QuestionRefusals)[0])
	})
	c.until("ten frames", counter(10))
	if after := r.State(); !after.Open || after.Counts["CLOSE"] != before.Counts["CLOSE"] || after.Counts["SYNC0"] != before.Counts["SYNC0"] {
		t.Errorf("the second server disturbed the robot: before %+v, after %+v", before, after)
	}
	first.stop(t)
	waiting.Until(t, "the robot for the second server", func() bool { return second.dial(t).request("pr") == "pr" })
}

// A port that another program also has open opens again and again, as in the original
// server. A port that another program has locked does not, and the repeated vain requests
// of a client cost others nothing.
func TestPortOfAnotherProgram(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	other := must.Get(os.OpenFile(r.Port(), os.O_RDWR|syscall.O_NOCTTY, 0))(t) // which is a program that is not the server
	defer other.Close()
	s := start(t, "-pp", r.Port())
	for range 3 {
		c := s.dial(t)
		c.mustOpen("pr", "pr")
		c.mustOpen("pc", "pc")
		waiting.Until(t, "the robot to be closed", func() bool { return !r.State().Open })
	}
	s.dial(t).mustOpen("pr", "pr")
	s.Signal(t, syscall.SIGABRT)
	<-s.Ended
	s = start(t, "-pp", r.Port())
	waiting.Until(t, "the robot after a crash", func() bool { return s.dial(t).request("pr") == "pr" })
}
