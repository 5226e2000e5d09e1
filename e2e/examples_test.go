package e2e

import (
	"encoding/csv"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/built"
	"player/e2e/must"
	"player/e2e/programs"
	"player/e2e/waiting"
)

// The example programs drive a simulated robot until they are interrupted, and
// then it stands. The program first is missing: its server has a fixed port.
func TestExamples(t *testing.T) {
	t.Parallel()
	dir := must.Get(built.Programs("..", "./examples/hello", "./examples/avoid", "./examples/fleet", "./examples/jbot", "./examples/sr04"))(t)
	_, first, found := strings.Cut(string(must.Get(os.ReadFile("../README.md"))(t)), "```python\n")
	first, _, ends := strings.Cut(first, "```")
	if !found || !ends || !strings.Contains(first, "6665") {
		t.Fatal("README.md has no first program")
	}
	type command func(port string) []string
	withAddress := func(program string, flags ...string) command {
		return func(port string) []string {
			return append([]string{filepath.Join(dir, program), "-addr", net.JoinHostPort("127.0.0.1", port)}, flags...)
		}
	}
	for name, command := range map[string]command{
		"hello": withAddress("hello"),
		"avoid": withAddress("avoid"),
		"jbot":  withAddress("jbot"),
		"sr04":  withAddress("sr04", "-targets", "2,0"),
		"fleet": func(port string) []string {
			return []string{filepath.Join(dir, "fleet"), "-host", "127.0.0.1", "-port", port, "-n", "1"}
		},
		"python": func(port string) []string {
			return []string{"python3", "../examples/python/hello.py", "127.0.0.1:" + port}
		},
		"python of README": func(port string) []string {
			return []string{"env", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=../clients/python", "python3", "-c", strings.Replace(first, "6665", port, 1)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "-stage", room)
			p := s.dial(t)
			p.request("pr")
			begin := p.position()
			_, port, err := net.SplitHostPort(s.address)
			if err != nil {
				t.Fatal(err)
			}

			args := command(port)
			program := programs.Start(t, exec.Command(args[0], args[1:]...))
			program.Until(t, "the robot moves", func() bool {
				at := p.position()
				return at.X != begin.X || at.Heading != begin.Heading
			})
			if code := program.End(t, os.Interrupt); code != 0 && !strings.HasPrefix(name, "python") { // whose interpreter dies of the signal
				t.Errorf("exit %d", code)
			}
			waiting.Until(t, "the robot stands", func() bool { at := p.position(); return at.Speed == 0 && at.TurnRate == 0 })
		})
	}
}

// Of random starts in a world in step the robot arrives, with the laser and with the
// sonars, without touching a wall. docs/GOTO.md has the result of a hundred.
func TestGoto(t *testing.T) {
	t.Parallel()
	dir := must.Get(built.Programs("..", "./examples/goto", "./bench/trials"))(t)
	trials, worlds := "1", "room,office"
	if acceptance.Wanted() {
		trials, worlds = "100", "room,cave,office"
	}
	table := filepath.Join(t.TempDir(), "trials.csv")
	command := exec.CommandContext(t.Context(), filepath.Join(dir, "trials"), "-player", binary, "-goto", filepath.Join(dir, "goto"), "-n", trials, "-worlds", worlds, "-o", table)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := must.Get(os.Open(table))(t)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil || len(lines) < 5 {
		t.Fatal(lines, err)
	}
	for _, line := range lines[1:] { // world, program, seed, arrived, time, distance, nearest, stalled
		if nearest, err := strconv.ParseFloat(line[6], 64); line[3] != "1" || line[7] != "0.0" || err != nil || nearest < 0.1 {
			t.Errorf("%v", line)
		}
	}
}
