package conformance

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"player/client"
	"player/e2e/built"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
)

// example is a program that each language has, with the least that a second client sees while it runs in a world.
type example struct {
	name   string
	world  string
	rounds int
	way    float64 // mm that it drives at least; 0: it stands
	beside int     // percent of the rounds, at least, with a wall at the right
}

// The distances are a third of those on an idle machine: on a busy one each command comes later, and a robot that
// avoids a corner late turns longer.
var examples = []example{
	{"hello", "room", 50, 100, 0},
	{"avoid", "subsumption-box", 300, 700, 0},
	{"wall", "room", 500, 5000, 50},
	{"watch", "room", 20, 0, 0},
}

type words map[string]string

// examplePrograms has the command of an example by language, the names of examples that have another one, and their
// output, as regular expressions. BUILD is the folder of compiled programs.
var examplePrograms = map[string]struct {
	command       string
	names, prints words // by example
}{
	"c": {"BUILD/NAME HOST PORT ROUNDS", words{"wall": "follow"},
		words{"watch": `x -?\d+ y`, "square": `corner 1 at \d+ -?\d+`,
			"log": `^seconds,.*\n(\d+\.\d{3},0,0,0(,\d+){16}\n){20}$`, "goto": `(?m)^arrived$`, "two": `^(robot [01]: [1-9]\d* mm\n){2}$`}},
	"cpp": {"BUILD/NAME HOST PORT ROUNDS", words{"wall": "follow"},
		words{"watch": `x -?\d+ y`, "square": `corner 1 at \d+ -?\d+`,
			"log": `^seconds,.*\n(\d+\.\d{3},0,0,0(,\d+){16}\n){20}$`, "goto": `^arrived=1`, "two": `^(robot [01]: [1-9]\d* mm\n){2}$`}},
	"java": {"java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp BUILD NAME HOST PORT ROUNDS",
		words{"hello": "Hello", "avoid": "ObstacleAvoidanceUsingSonar", "wall": "FollowWall", "watch": "Watch"},
		words{"watch": "sonar ahead", "square": `^side 1: x 1\d\d\d mm, .*\nside 2: `, "log": `^time_ms,.*\n(\d+,0,0,0,\d+\n){19,20}$`,
			"goto": `\d+ mm to go\narrived, `, "two": `^one: .*x=-?\d+.*\nother: .*\n$`}},
	"go": {"", nil, words{"square": `^side 1: x 1\d\d\d mm, .*\nside 2: `, "log": `^time_ms,.*\n(\d+,0,0,0,\d+\n){19,20}$`,
		"goto": `arrived=1`, "two": `^(127\.0\.0\.1:\d+: x -?\d+ mm, y -?\d+ mm\n){2}$`}},
	"tcl": {"tclsh examples/NAME.tcl HOST PORT ROUNDS", nil, words{"watch": `sonar ahead \d+ mm \(\d+\.\d ms old\)`,
		"square": `^[1-4] sides; x -?\d+ mm`, "log": `^time_ms,.*\n(\d+,0,0,0,0,\d+\n){20}$`, "goto": `^arrived at x`,
		"two": `^(127\.0\.0\.1:\d+: x -?\d+ mm, y -?\d+ mm\n){2}$`}},
	"python": {"python3 -m examples.NAME HOST:PORT -n ROUNDS", words{"avoid": "sonar_avoidance", "wall": "laser_wall"},
		words{"hello": `sonar \(mm\)`, "watch": `(?s)Position\(.*sonar \[.*laser .*Misc\(.*Gripper\(.*PTZ\(.*vision: `,
			"square": `^[1-4] sides; x -?\d+ mm`, "log": `^time_ms,.*\n(\d+,0,0,0,0,\d+\n){20}$`, "goto": `arrived=1`,
			"two": `^(127\.0\.0\.1:\d+: x -?\d+ mm, y -?\d+ mm\n){2}$`}},
	"javascript": {"node examples/NAME.js HOST:PORT -n ROUNDS", words{"avoid": "sonar-avoidance", "wall": "laser-wall"},
		words{"hello": `sonar \(mm\)`, "watch": `(?s)position \{.*sonar .*laser .*misc \{.*gripper \{.*ptz \{.*vision `,
			"square": `^[1-4] sides; x -?\d+ mm`, "log": `^time_ms,.*\n(\d+,0,0,0,0,\d+\n){20}$`, "goto": `\d+ mm to go\narrived at x`,
			"two": `^(127\.0\.0\.1:\d+: x -?\d+ mm, y -?\d+ mm\n){2}$`}},
}

// further are examples of the languages in furtherPrograms.
var further = []example{
	{"square", "room", 150, 1000, 0},
	{"log", "room", 20, 0, 0},
	{"goto", "room", 0, 700, 0},
	{"two", "subsumption-box", 100, 200, 0},
}

// furtherPrograms has the commands of further examples by language, and of all in Go. OTHER is the port of a second robot,
// in a world of its own, which only example two has.
var furtherPrograms = map[string]words{
	"python": {"square": "python3 -m examples.square HOST:PORT -n ROUNDS", "log": "python3 -m examples.log_run HOST:PORT -n ROUNDS",
		"goto": "python3 -m examples.goto -addr HOST:PORT -- 1 0.5", "two": "python3 -m examples.two_robots HOST:PORT HOST:OTHER -n ROUNDS"},
	"javascript": {"square": "node examples/square.js HOST:PORT -n ROUNDS", "log": "node examples/log-run.js HOST:PORT -n ROUNDS",
		"goto": "node examples/goto.js HOST:PORT 1 0.5", "two": "node examples/two-robots.js HOST:PORT HOST:OTHER -n ROUNDS"},
	"tcl": {"square": "tclsh examples/square.tcl HOST PORT ROUNDS", "log": "tclsh examples/log.tcl HOST PORT ROUNDS",
		"goto": "tclsh examples/goto.tcl HOST PORT 1 0.5", "two": "tclsh examples/two.tcl HOST PORT ROUNDS HOST OTHER"},
	"java": {"square": "java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp BUILD Square HOST PORT 2", "log": "java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp BUILD LogRun HOST PORT ROUNDS",
		"goto": "java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp BUILD GoToPoint HOST PORT 1000 500", "two": "java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp BUILD TwoRobots HOST PORT HOST OTHER ROUNDS"},
	"go": {"hello": "BUILD/hello -addr HOST:PORT -n ROUNDS", "avoid": "BUILD/avoid -addr HOST:PORT -n ROUNDS",
		"wall": "BUILD/wall -addr HOST:PORT -n ROUNDS", "square": "BUILD/square -addr HOST:PORT -n 2",
		"log": "BUILD/logrun -addr HOST:PORT -n ROUNDS", "goto": "BUILD/goto -addr HOST:PORT -- 1 0.5",
		"two": "BUILD/tworobots -n ROUNDS HOST:PORT HOST:OTHER"},
	"c": {"square": "BUILD/square HOST PORT ROUNDS", "log": "BUILD/log HOST PORT ROUNDS",
		"goto": "BUILD/goto HOST PORT 600 1 0.5", "two": "BUILD/two HOST PORT ROUNDS OTHER"},
	"cpp": {"square": "BUILD/square HOST PORT ROUNDS", "log": "BUILD/log HOST PORT ROUNDS",
		"goto": "BUILD/goto -addr HOST:PORT -- 1 0.5", "two": "BUILD/two HOST PORT ROUNDS OTHER"},
}

// runExamples runs the examples of a language, which are built in a folder, on simulated robots.
func runExamples(t *testing.T, l language, build, binary string) {
	programs := examplePrograms[l.name]
	if l.name == "go" { // they are not in the folder of the client
		build = must.Get(built.Programs("../..", "./examples/hello", "./examples/avoid", "./examples/wall", "./examples/square",
			"./examples/logrun", "./examples/goto", "./examples/tworobots"))(t)
	}
	for _, e := range slices.Concat(examples, further) {
		command := furtherPrograms[l.name][e.name]
		if slices.Contains(examples, e) {
			command = cmp.Or(programs.command, command)
			if l.name != "java" && l.name != "tcl" { // the slowest; a third is enough to see that the others drive
				e.rounds, e.way = e.rounds/3, e.way/3
			}
		}
		if command == "" {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			port := ports.Free(t, 4)
			for _, first := range []int{port, port + 2} {
				world := "../../simulation/worlds/" + e.world + ".world"
				p := &process{binary: binary, flags: []string{"-stage", world, "-goto"}, port: first, page: first + 1}
				if p.start(t); e.name != "two" {
					break
				}
			}
			name := cmp.Or(programs.names[e.name], e.name)
			fill := strings.NewReplacer("BUILD", build, "NAME", name, "HOST", "127.0.0.1", "PORT", fmt.Sprint(port),
				"OTHER", fmt.Sprint(port+2), "ROUNDS", fmt.Sprint(e.rounds))
			output := e.run(t, l.folder(), port, strings.Fields(fill.Replace(command)))
			if !regexp.MustCompile(programs.prints[e.name]).MatchString(output) {
				t.Errorf("the program does not print %q:\n%s", programs.prints[e.name], output)
			}
		})
	}
}

// run runs an example in a folder until it ends, watches its robot, and returns its output.
func (e example) run(t *testing.T, folder string, port int, command []string) string {
	t.Helper()
	needs.Programs(t)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	observer := must.Get(client.Dial(ctx, fmt.Sprintf("127.0.0.1:%d", port)))(t)
	defer observer.Close()
	must.Do(t, observer.Request(ctx, "prsr"))
	must.Do(t, observer.Read(ctx))
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &output, &output
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	must.Do(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	way, stalls, near, rounds := 0.0, 0, 0, 0
	for running := true; running; rounds++ {
		before := observer.Position
		must.Do(t, observer.Read(ctx))
		way += math.Hypot(float64(observer.Position.X-before.X), float64(observer.Position.Y-before.Y))
		if observer.Position.Stall != 0 {
			stalls++
		}
		const beside = 1000 // mm; a wall at the right is at most this far from the sonars there
		if slices.Min(observer.Sonar[7:9]) < beside {
			near++
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%v: %v", command, err)
			}
			running = false
		default:
		}
	}
	if way < e.way || e.way == 0 && way > 0 || stalls > 0 || 100*near < e.beside*rounds {
		t.Errorf("%v: %.0f mm, %d stalls, a wall at the right in %d of %d rounds", command, way, stalls, near, rounds)
	}
	return output.String()
}
