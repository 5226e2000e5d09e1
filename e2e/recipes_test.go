package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/simulation/emulator/arduino"
	"player/simulation/emulator/boards"
	"player/simulation/emulator/create"
	"player/simulation/emulator/gps"
	"player/simulation/emulator/kobuki"
	"player/simulation/emulator/ldlidar"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
	"player/simulation/emulator/rplidar"
	laser "player/simulation/emulator/sick"
	"player/simulation/emulator/ydlidar"
)

// A bench has the emulated hardware of a recipe.
type bench struct {
	drivers map[string]string // ports of those that player find finds, by their drivers
	paths   map[string]string // ports of others, by their names on the page
	finds   []string          // on the standard error of player find
	wheels  func() (left, right float64)
	driven  func(t *testing.T, c *console) // what else the page says of it while it drives; may be nil
}

// benches set up the hardware, by the heading of the recipe. plug returns the options of a new line.
var benches = map[string]func(t *testing.T, plug func() line.Options) bench{
	"A Create 2 and an RPLIDAR on a Pi Zero 2 W": func(t *testing.T, plug func() line.Options) bench {
		r := emulate(t, create.Start, create.Options{Line: plug()})
		l := emulate(t, rplidar.Start, rplidar.Options{Line: plug()})
		return bench{drivers: map[string]string{"create": r.Port(), "rplidar": l.Port()},
			wheels: func() (left, right float64) { s := r.State(); return float64(s.Left), float64(s.Right) }}
	},
	"A Pioneer with an LMS-200": func(t *testing.T, plug func() line.Options) bench {
		r := emulate(t, robot.Start, robot.Options{Line: plug()})
		l := emulate(t, laser.Start, laser.Options{Line: plug()})
		return bench{drivers: map[string]string{"p2os": r.Port(), "sicklms200": l.Port()}, paths: map[string]string{"/dev/ttyUSB1": l.Port()},
			finds:  []string{": sicklms200, \"LMS200;30106;V02.10\", at 500000 baud"},
			wheels: func() (left, right float64) { s := r.State(); return s.Left, s.Right }}
	},
	"A TurtleBot 2": func(t *testing.T, plug func() line.Options) bench {
		r := emulate(t, kobuki.Start, kobuki.Options{Line: plug()})
		l := emulate(t, rplidar.Start, rplidar.Options{Line: plug()})
		return bench{drivers: map[string]string{"kobuki": r.Port(), "rplidar": l.Port()},
			wheels: func() (left, right float64) { s := r.State(); return s.Left, s.Right },
			driven: func(t *testing.T, c *console) { // it goes back from both, and turns away
				ahead := func() float64 { s := r.State(); return s.Left + s.Right }
				for _, obstacle := range []func(byte){r.Bump, r.Cliff} {
					c.hold(t, "w", func() bool { return ahead() > 0 })
					obstacle(2) // in the middle
					c.hold(t, "w", func() bool { return ahead() < 0 })
					obstacle(0)
				}
			}}
	},
	"A vehicle with two scanners and a GPS receiver": func(t *testing.T, plug func() line.Options) bench {
		front := emulate(t, ldlidar.Start, ldlidar.Options{Line: plug()})
		back := emulate(t, ydlidar.Start, ydlidar.Options{Line: plug(), Model: ydlidar.X4})
		receiver := emulate(t, gps.Start, gps.Options{Line: plug()})
		controller := must.Get(boards.Start(&boards.Sabertooth{}, plug()))(t)
		t.Cleanup(controller.Close)
		return bench{drivers: map[string]string{"ldlidar": front.Port(), "ydlidar": back.Port(), "nmea": receiver.Port()},
			paths:  map[string]string{"/dev/ttyACM0": controller.Port()},
			wheels: func() (left, right float64) { s := controller.State().Speed; return s[0], s[1] }}
	},
	"An ESP32 or Arduino with an IMU": func(t *testing.T, plug func() line.Options) bench {
		r := emulate(t, arduino.Start, arduino.Options{Line: plug(), IMU: true})
		return bench{paths: map[string]string{"/dev/ttyUSB0": r.Port()},
			wheels: func() (left, right float64) { s := r.State(); return float64(s.Left), float64(s.Right) }}
	},
}

// Each recipe leads from the cable to the first drive: its files and commands are those of the page, with the ports of
// emulated hardware and the addresses of this test's server.
func TestRecipes(t *testing.T) {
	t.Parallel()
	page := string(must.Get(os.ReadFile("../docs/RECIPES.md"))(t))
	for heading, set := range benches {
		t.Run(heading, func(t *testing.T) {
			t.Parallel()
			_, section, found := strings.Cut(page, "\n## "+heading+"\n")
			if !found {
				t.Fatal("the page has no such recipe")
			}
			section, _, _ = strings.Cut(section, "\n## ")
			c := cook{bench: set(t, func() line.Options { return line.Options{Link: newLine(t)} }), dir: t.TempDir()}
			for _, b := range pageBlocks(t, write(t, c.dir, "recipe.md", section)) {
				switch by := strings.Join(b.directives["run by"], ""); {
				case by != t.Name()[:len("TestRecipes")]:
					t.Errorf("run by %q:\n%s", by, strings.Join(b.lines, "\n"))
				case strings.HasPrefix(b.lines[0], "driver"):
					write(t, c.dir, "robot.cfg", c.file(t, strings.Join(b.lines, "\n")))
				default:
					for _, command := range b.commands() {
						c.run(t, command)
					}
				}
			}
			if !c.drove {
				t.Error("nothing drives")
			}
		})
	}
}

// A cook follows a recipe.
type cook struct {
	bench
	dir   string // has robot.cfg
	s     *server
	drove bool
}

func (c *cook) moves() bool { left, right := c.wheels(); return left != 0 || right != 0 }

// portOf matches a driver of a file up to its port.
var portOf = regexp.MustCompile(`(?s)(name "(\w+)"[^()]*?port )"[^"]*"`)

// file gives the drivers of a file of the page the ports of the hardware.
func (c *cook) file(t *testing.T, text string) string {
	t.Helper()
	return portOf.ReplaceAllStringFunc(text, func(s string) string {
		m := portOf.FindStringSubmatch(s)
		if port := c.drivers[m[2]]; port != "" {
			return m[1] + fmt.Sprintf("%q", port)
		}
		return c.local(s)
	})
}

// local puts ports of this test for those of the page.
func (c *cook) local(text string) string {
	for path, port := range c.paths {
		text = strings.ReplaceAll(text, path, port)
	}
	return text
}

// run runs a command of the page.
func (c *cook) run(t *testing.T, command string) {
	t.Helper()
	file := filepath.Join(c.dir, "robot.cfg")
	words := strings.Fields(command)
	switch {
	case command == "player find > robot.cfg":
		var drivers, searched []string
		for driver, port := range c.drivers {
			drivers = append(drivers, fmt.Sprintf("name %q", driver))
			searched = append(searched, port)
		}
		conf, _ := findsAll(t, c.finds, drivers, searched...)
		write(t, c.dir, "robot.cfg", conf)
	case command == "player check robot.cfg":
		write(t, c.dir, "robot.cfg", c.local(string(must.Get(os.ReadFile(file))(t))))
		if code, out := exits(t, "check", file); code != 0 || strings.Contains(out, "warning") {
			t.Fatalf("exit %d, %s", code, out)
		}
	case words[0] == "player" && words[len(words)-1] == "robot.cfg":
		page := ""
		for i, word := range words {
			if word == ":8080" {
				page = fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1))
				words[i] = page
			}
		}
		c.s = start(t, append(words[1:len(words)-1], file)...)
		if page != "" {
			answer := must.Get(http.Get("http://" + page + "/"))(t)
			defer answer.Body.Close()
			if text := must.Get(io.ReadAll(answer.Body))(t); !strings.Contains(string(text), "<title>") {
				t.Errorf("the dashboard: %s", answer.Status)
			}
		}
	case strings.HasPrefix(command, "player print localhost "):
		words[2] = c.s.address
		if code, out, errs := uses(t, words[1:]...); code != 0 || !strings.Contains(out, " | ") {
			t.Errorf("%s: exit %d, %s%s", command, code, out, errs)
		}
	case command == "player drive localhost":
		console := startDrive(t, c.s.address)
		console.hold(t, "w", c.moves)
		if c.driven != nil {
			c.driven(t, console)
		}
		console.press(t, " ")
		waiting.Until(t, "wheels that stand", func() bool { return !c.moves() })
		console.press(t, "q")
		if code := console.Code(t); code != 0 {
			t.Errorf("exit %d, %s", code, console.errors)
		}
		c.drove = true
	case words[0] == "python3":
		needs.Program(t, "python3")
		words[len(words)-1] = c.s.address
		program := exec.Command(words[0], words[1:]...)
		program.Dir = "../clients/python"
		running := programs.Start(t, program)
		waiting.Until(t, "wheels that the program turns", c.moves)
		running.End(t, os.Interrupt)
		waiting.Until(t, "wheels that stand", func() bool { return !c.moves() })
	case words[0] == "stty" || words[0] == "printf" || words[0] == "cat":
		shell := exec.Command("bash", "-c", strings.ReplaceAll(c.local(command), "robot.cfg", file))
		shell.Dir = ".."
		if out, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v, %s", command, err, out)
		}
	default:
		t.Fatalf("the test cannot run %s", command)
	}
}
