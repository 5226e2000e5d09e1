package e2e

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"player/e2e/waiting"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
	laser "player/simulation/emulator/sick"
	"player/simulation/emulator/sony"
)

// finds runs player find and returns its output.
func finds(t *testing.T, ports ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"find"}, ports...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// findsAll runs player find until its output names all that is wanted: one attempt may
// miss an emulator on a busy machine. That it suffices is tested in simulated time.
func findsAll(t *testing.T, names, drivers []string, ports ...string) (conf string, attempts int) {
	t.Helper()
	waiting.Until(t, "hardware that is found", func() bool {
		attempts++
		code, out, said := finds(t, ports...)
		missing := func(list []string, in string) bool {
			return slices.ContainsFunc(list, func(s string) bool { return !strings.Contains(in, s) })
		}
		if conf = out; code != 0 || missing(names, said) || missing(drivers, out) {
			t.Logf("find: exit %d, %s\n%s", code, said, out)
			return false
		}
		return true
	})
	return conf, attempts
}

// Hardware is found on any port, and stays as it was; the output of find is a configuration
// that serves.
func TestFind(t *testing.T) {
	t.Parallel()
	cable := func() line.Options { return line.Options{Paced: true, Garble: true} }
	r := startRobot(t, robot.Options{Line: cable(), MotorsOn: true})
	l := startLaser(t, laser.Options{Line: cable()})
	c := startCamera(t, sony.Options{Line: cable()})
	conf, _ := findsAll(t, []string{
		": p2os, Pioneer p2dx \"Emu01\", at 9600 baud\n",
		": sicklms200, \"LMS200;30106;V02.10\", at 9600 baud\n",
		": evid30, Sony EVI-D30, model 0402 of vendor 0020, ROM 0001, at 9600 baud\n",
	}, nil, l.Port(), c.Port(), r.Port()) // none is where it is expected
	checkUntouched(t, r, l, c)

	file := write(t, t.TempDir(), "robot.cfg", conf)
	code, table := exits(t, "check", file)
	if code != 0 || strings.Contains(table, "warning") {
		t.Fatalf("check: exit %d, %s", code, table)
	}
	for driver, port := range map[string]string{"p2os": r.Port(), "sicklms200": l.Port(), "evid30": c.Port()} {
		if !regexp.MustCompile(fmt.Sprintf(`driver %s\n  port +%q`, driver, port)).MatchString(table) {
			t.Errorf("%s is not on %s:\n%s", driver, port, table)
		}
	}
	start(t, file).dial(t).mustOpen("prlrzr", "prlrzr")
}

// checkUntouched checks that hardware is as before.
func checkUntouched(t *testing.T, r *robot.Robot, l *laser.Laser, c *sony.Camera) {
	t.Helper()
	waiting.Until(t, "a robot that is closed", func() bool { s := r.State(); return !s.Open && !s.Connected })
	s := r.State()
	for name := range s.Counts {
		if !strings.HasPrefix(name, "SYNC") && name != "CLOSE" && name != "PULSE" {
			t.Errorf("the robot was sent %s: %v", name, s.Counts)
		}
	}
	if s.Motors || s.World != (robot.Pose{}) {
		t.Errorf("robot: %+v", s)
	}
	if s := l.State(); s.Streaming || s.Configuring || s.Boots > 0 {
		t.Errorf("laser: %+v", s)
	}
	if s := c.State(); s.Moving || s.Pan != 0 || s.Tilt != 0 || s.Zoom != 0 {
		t.Errorf("camera: %+v", s)
	}
}

func TestFindNothing(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	start(t, "-pp", r.Port()).dial(t).mustOpen("pr", "pr")
	silent := startLaser(t, laser.Options{})
	silent.Silence()
	before := r.State().Counts["SYNC0"]
	code, conf, said := finds(t, r.Port(), silent.Port(), "/dev/nowhere")
	if code != 1 || conf != "" {
		t.Errorf("exit %d, %s", code, conf)
	}
	for _, want := range []string{
		r.Port() + ": process ", "(player) has it open: left alone",
		silent.Port() + ": nothing answers",
		"/dev/nowhere: no such file or directory: is the adapter plugged in?",
		"player: nothing was found on 3 ports",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("find said %s\nwant %s", said, want)
		}
	}
	if after := r.State(); !after.Open || after.Counts["SYNC0"] != before {
		t.Errorf("the robot of a server was disturbed: %+v", after)
	}
	if code, _, said := finds(t, "-nonsense"); code != 2 || !strings.Contains(said, "-nonsense") {
		t.Errorf("exit %d, %s", code, said)
	}
}

func TestSubcommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := write(t, dir, "good.cfg", `driver ( name "testpattern" provides ["laser:0"] )`)
	serial := write(t, dir, "serial.cfg", `driver ( name "p2os" port "/dev/nowhere" )`)
	remote := write(t, dir, "remote.cfg", `driver ( name "sicklms200" port "192.0.2.1:4001" )`)
	wrong := write(t, dir, "wrong.cfg", `driver ( name "sicklms200" port "192.0.2.1:port" )`)
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"check " + good, 0, "l  laser:0  testpattern"},
		{"check " + good + " -gp 7000", 0, "robot on port 7000"},
		{"check " + serial, 0, "player: warning: p2os: serial port /dev/nowhere: no such file or directory"},
		{"check " + remote, 0, `port  "192.0.2.1:4001"`},
		{"check " + wrong, 2, `wrong.cfg:1:33: serial port "192.0.2.1:port": write HOST:PORT`},
		{"check -pp localhost:4001", 0, `port               "127.0.0.1:4001"`},
		{"check -lp [2001:db8::1]:4002", 0, `port  "[2001:db8::1]:4002"`},
		{"check -zp 192.0.2.1:0", 2, `-zp: serial port "192.0.2.1:0": write HOST:PORT`},
		{"check " + filepath.Join(dir, "none.cfg"), 2, "no such file"},
		{"list", 0, "p2os: "},
		{"list more", 2, `unexpected argument "more"`},
		{"export", 2, "needs the path of a log"},
		{"export nowhere.mcap", 2, "nowhere.mcap"},
		{"help", 0, "  find "},
		{"-h", 0, "  find "},
		{"help find", 0, "usage: player find"},
		{"find -h", 0, "usage: player find"},
		{"check -h", 0, "usage: player check"},
		{"help nonsense", 2, `there is no command "nonsense"; there are find, `},
		{"fnid", 2, "did you mean player find?"},
		{"./find", 2, "./find: no such file"},
	} {
		code, out := exits(t, strings.Fields(tt.args)...)
		if code != tt.code || !strings.Contains(out, tt.want) {
			t.Errorf("player %s: exit %d, %s\nwant exit %d, %s", tt.args, code, out, tt.code, tt.want)
		}
		if strings.HasSuffix(tt.args, remote) && strings.Contains(out, "warning") {
			t.Errorf("player %s warns of an address: %s", tt.args, out)
		}
	}
}
