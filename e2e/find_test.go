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

	"player/e2e/acceptance"
	"player/e2e/waiting"
	"player/simulation/emulator/create"
	"player/simulation/emulator/kobuki"
	"player/simulation/emulator/ldlidar"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
	"player/simulation/emulator/rplidar"
	laser "player/simulation/emulator/sick"
	"player/simulation/emulator/sony"
	"player/simulation/emulator/urg"
	"player/simulation/emulator/ydlidar"
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

// Hardware is found whatever it was doing, at its speed, on whatever port, and
// stays as it was; what find prints is a configuration that serves.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                string
		robot, laser        int // baud
		leftOpen, streaming bool
	}{
		{"as from the factory", 9600, 9600, false, false},
		{"set to other speeds", 115200, 500000, false, false},
		{"left by a server that was killed", 38400, 38400, true, true},
		{"left, and slow", 9600, 9600, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cable := func(baud int) line.Options { return line.Options{Baud: baud, Paced: true, Garble: true} }
			r := startRobot(t, robot.Options{Line: cable(tt.robot), LeftOpen: tt.leftOpen, MotorsOn: true})
			l := startLaser(t, laser.Options{Line: cable(tt.laser), Streaming: tt.streaming})
			c := startCamera(t, sony.Options{Line: cable(9600)})
			names := []string{
				fmt.Sprintf(": p2os, Pioneer p2dx \"Emu01\", at %d baud\n", tt.robot),
				fmt.Sprintf("at %d baud\n", tt.laser),
				": evid30, Sony EVI-D30, model 0402 of vendor 0020, ROM 0001, at 9600 baud\n",
			}
			conf, _ := findsAll(t, names, nil, l.Port(), c.Port(), r.Port()) // none is where it is expected
			checkUntouched(t, r, l, c, tt.streaming)

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
			if tt.robot == 9600 && tt.laser == 9600 && !tt.leftOpen {
				start(t, file).dial(t).mustOpen("prlrzr", "prlrzr")
			}
		})
	}
}

// Robots and sensors of today are found, too: at either of their speeds, and while
// they scan.
func TestFindToday(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	for _, tt := range []struct {
		name              string
		robot, lidar, urg int // baud
		scanning          bool
		model             string
	}{
		{"as from the factory", 115200, 115200, 19200, false, "rplidar, RPLIDAR A1, firmware 1.29"},
		{"other speeds", 19200, 256000, 115200, false, "rplidar, RPLIDAR A1, firmware 1.29"},
		{"left scanning", 115200, 115200, 19200, true, "rplidar"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cable := func(baud int) line.Options {
				return line.Options{Baud: baud, Paced: true, Garble: true, Link: newLine(t)}
			}
			r := emulate(t, create.Start, create.Options{Line: cable(tt.robot)})
			l := emulate(t, rplidar.Start, rplidar.Options{Line: cable(tt.lidar), Scanning: tt.scanning})
			u := emulate(t, urg.Start, urg.Options{Line: cable(tt.urg), Scanning: tt.scanning})
			ld := emulate(t, ldlidar.Start, ldlidar.Options{Line: cable(230400)})
			yd := emulate(t, ydlidar.Start, ydlidar.Options{Model: ydlidar.X4, Line: cable(128000), Scanning: tt.scanning})
			k := emulate(t, kobuki.Start, kobuki.Options{Line: cable(115200)})
			named := map[bool]string{true: "ydlidar", false: "ydlidar, YDLIDAR X4"}
			names := []string{
				"ldlidar, at 230400 baud\n", ": kobuki, at 115200 baud\n",
				named[tt.scanning] + ", at 128000 baud\n",
				fmt.Sprintf("create, at %d baud\n", tt.robot),
				fmt.Sprintf("%s, at %d baud\n", tt.model, tt.lidar),
				fmt.Sprintf("at %d baud\n", tt.urg),
			}
			_, attempts := findsAll(t, names, []string{`name "create"`, `name "rplidar"`, `name "urg"`, `name "ldlidar"`, `name "kobuki"`, `name "ydlidar"`}, ld.Port(), k.Port(), yd.Port(), l.Port(), u.Port(), r.Port())
			if attempts > 1 {
				t.Log("a busy machine: what is not recognised is not known to have been left scanning")
				return
			}
			waiting.Until(t, "hardware that is as before", func() bool { // find has ended before the last bytes arrive
				s := r.State()
				return s.Left == 0 && !s.Streaming && s.Mode <= 1 && l.Scanning() == tt.scanning && u.Laser() == tt.scanning && yd.Scanning() == tt.scanning
			})
		})
	}
}

// checkUntouched checks that hardware is as before, but for a robot that was open.
func checkUntouched(t *testing.T, r *robot.Robot, l *laser.Laser, c *sony.Camera, streaming bool) {
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
	if s := l.State(); s.Streaming != streaming || s.Configuring || s.Boots > 0 {
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
