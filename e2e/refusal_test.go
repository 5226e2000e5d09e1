package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/e2e/waiting"
	"player/process/serialport"
	"player/server/session"
	robot "player/simulation/emulator/p2os"
)

// ask asks a question, and returns the lines of the answer. An empty request follows,
// whose reply ends the wait if the server does not know the question.
func (p *peer) ask(question byte) (lines []string) {
	p.t.Helper()
	p.message('x', 'y', 'q', question)
	p.message('d', 'r')
	known := false
	for {
		switch letter, payload := p.block(); letter {
		case 'Y':
			known = true
			if payload[0] != question {
				p.t.Errorf("an answer to %q, asked was %q", payload[0], question)
			}
			_, lines = codec.Answer(payload)
		case 'r':
			if len(payload) > 0 || !known {
				p.t.Fatalf("reply %q, the question is known: %v", payload, known)
			}
			return lines
		}
	}
}

// A client that asks learns why a device is refused, and so do users of tools.
func TestRefusalHasReason(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := startRobot(t, robot.Options{})
	holder := start(t, "-pp", r.Port())
	holder.dial(t).mustOpen("pr", "pr")
	noAccess := write(t, dir, "reader.cfg", `driver ( name "testpattern" provides ["sonar:0" "position:0"] )
		access ( allow "read" from "127.0.0.0/8" )`)
	stranger := write(t, dir, "stranger.cfg", `driver ( name "testpattern" provides ["sonar:0"] )
		access ( allow "read" from "10.0.0.0/8" )`)
	chain := write(t, dir, "chain.cfg", fmt.Sprintf(`driver ( name "passthrough" remote "%s" provides ["laser:0"] )`, holder.address))
	for _, tt := range []struct {
		name         string
		flags        []string
		pairs, reply string
		want         []string // patterns of the lines
	}{
		{"no such device", []string{noAccess}, "srlr", "srle", []string{"^l missing "}},
		{"no right", []string{noAccess}, "srpa", "srpe", []string{"^p right .*: read$"}},
		{"no right at all", []string{stranger}, "srlr", "sele", []string{"^s right ", "^l right "}},
		{"no hardware", []string{"-pp", "/dev/nowhere"}, "prjr", "peje", []string{"^p hardware .*/dev/nowhere: no such file or directory", "^j missing "}},
		{"port in use", []string{"-pp", r.Port()}, "pr", "pe", []string{fmt.Sprintf(`^p used .*%s: .*\b%d\b.*player`, r.Port(), holder.Cmd.Process.Pid)}},
		{"another Player", []string{chain}, "lr", "le", []string{"^l hardware .*" + holder.address}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, tt.flags...)
			p := s.dial(t)
			p.mustOpen(tt.pairs, tt.reply)
			got := p.ask('e')
			for end := time.Now().Add(patience); strings.Contains(strings.Join(got, ""), serialport.Unknown) && time.Now().Before(end); {
				p.mustOpen(tt.pairs, tt.reply) // the server searches for the program beside its loop
				got = p.ask('e')
			}
			if !slices.EqualFunc(got, tt.want, func(line, want string) bool { return regexp.MustCompile(want).MatchString(line) }) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			tool := []string{"print", s.address, tt.pairs}
			if strings.Contains(tt.pairs, "a") {
				tool = []string{"stop", s.address}
			}
			code, out, errs := uses(t, tool...)
			for _, line := range got {
				reason := strings.SplitN(line, " ", 3)[2]
				if code != 2 || out != "" || !strings.Contains(errs, reason) {
					t.Errorf("player %v: exit %d, %s%s\nwant %q", tool, code, out, errs, reason)
				}
			}
		})
	}
}

// A recording of all devices names those that it leaves out, and why.
func TestRecordSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, write(t, dir, "half.cfg", `driver ( name "p2os" port "/dev/nowhere" )
		driver ( name "testpattern" provides ["laser:0"] )`))
	code, _, errs := uses(t, "record", "-for", "100ms", "-o", filepath.Join(dir, "run.mcap"), s.address)
	for _, want := range []string{"/dev/nowhere: no such file or directory", "not recorded: ", "recording laser in "} {
		if code != 0 || !strings.Contains(errs, want) || strings.Contains(errs, session.NoSuchDevice) || strings.Count(errs, "not recorded") != 1 {
			t.Errorf("exit %d, %s\nwant %s", code, errs, want)
		}
	}
}

// The answers to questions (PROTOCOL 8.9) and /status say where the parts of the robot are, once the robot has said
// its type, and the state of its charger.
func TestGeometryAndCharge(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{Subclass: "p3at-sh"})
	s := start(t, "-pp", r.Port(), "-http", "localhost:0")
	page, p := s.dashboard(t), s.dial(t)
	if lines := p.ask('g'); slices.ContainsFunc(lines, func(line string) bool { return line[0] != 'l' && line[0] != 'z' }) {
		t.Errorf("of a robot that nobody has seen: %q", lines)
	}
	p.mustOpen("pr", "pr")
	lines := p.ask('g')
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "s 15 ") }) {
		t.Errorf("no last sonar in %q", lines)
	}
	if _, text := fetch(t, "GET", page+"status"); !strings.Contains(text, `{"number":15,"x_mm":`) {
		t.Errorf("/status has no last sonar: %s", text)
	}
	for stage, word := range map[byte]string{0: "[m no]", 3: "[m float]", 255: "[]"} {
		r.SetCharge(stage)
		waiting.Until(t, word, func() bool { return fmt.Sprint(p.ask(codec.QuestionCharge)) == word })
	}
	r.SetCharge(2)
	waiting.Until(t, "overcharge in /status", func() bool {
		return status(t, page).Robots[0].Devices["misc"].Charge == "overcharge"
	})
}
