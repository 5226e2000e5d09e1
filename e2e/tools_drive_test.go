package e2e

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/terminals"
	"player/e2e/waiting"
)

// console is a terminal in which player drive runs.
type console struct {
	*tool
	terminal, program *os.File
	before            unix.Termios
}

// startDrive starts player drive in a terminal of its own.
func startDrive(t *testing.T, args ...string) *console {
	t.Helper()
	terminal, program := terminals.OpenBoth(t)
	before := must.Get(unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS))(t)
	c := &console{terminal: terminal, program: program, before: *before}
	c.tool = startTool(t, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout = program, program
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}, append([]string{"drive"}, args...)...)
	go func() {
		buf := make([]byte, 1000)
		for {
			n, err := terminal.Read(buf)
			if err != nil {
				return
			}
			_, _ = c.out.Write(buf[:n]) // it cannot fail
		}
	}()
	c.shows(t, "q: quit")
	return c
}

func (c *console) shows(t *testing.T, text string) {
	t.Helper()
	waiting.Until(t, "the terminal shows "+text, func() bool { return strings.Contains(c.out.String(), text) })
}

// hold presses a key again and again until ok.
func (c *console) hold(t *testing.T, keys string, ok func() bool) {
	t.Helper()
	next := time.Now()
	waiting.Until(t, "holding "+keys, func() bool {
		if now := time.Now(); now.After(next) {
			next = now.Add(30 * time.Millisecond)
			c.press(t, keys)
		}
		return ok()
	})
}

func (c *console) press(t *testing.T, keys string) {
	t.Helper()
	must.Get(c.terminal.WriteString(keys))(t)
}

// checkRestored checks that the terminal is as before.
func (c *console) checkRestored(t *testing.T) {
	t.Helper()
	after := must.Get(unix.IoctlGetTermios(int(c.program.Fd()), unix.TCGETS))(t)
	if *after != c.before {
		t.Errorf("the terminal is left as %+v, it was %+v", *after, c.before)
	}
}

func TestDrive(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	p := s.dial(t)
	p.request("pr")
	c := startDrive(t, s.address, "-speed", "150", "-turn", "40")
	c.shows(t, "| 12.")
	c.shows(t, " mm at ")
	speed := func() int16 { return p.position().Speed }
	for _, keys := range []struct {
		down  string
		moves func() bool
	}{
		{"w", func() bool { return speed() > 100 }},
		{"\x1b[B", func() bool { return speed() < -100 }},
		{"a", func() bool { return p.position().TurnRate > 30 }},
		{"\x1bOC", func() bool { return p.position().TurnRate < -30 }},
	} {
		c.hold(t, keys.down, keys.moves)
		stands := func() bool { d := p.position(); return d.Speed == 0 && d.TurnRate == 0 }
		waiting.Until(t, "the dead man's switch", stands)
		c.hold(t, keys.down, keys.moves)
		c.press(t, " ")
		waiting.Until(t, "stop", stands)
	}
	c.press(t, "q")
	if code := c.Code(t); code != 0 || c.errors.String() != "" {
		t.Errorf("exit %d, %s", code, c.errors)
	}
	c.checkRestored(t)
}

// The robot stands, and the terminal is as before, however driving ends.
func TestDriveEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		end  func(t *testing.T, c *console, s *server)
		code int
	}{
		"SIGINT":  {func(t *testing.T, c *console, _ *server) { _ = c.Cmd.Process.Signal(syscall.SIGINT) }, 0},
		"SIGTERM": {func(t *testing.T, c *console, _ *server) { _ = c.Cmd.Process.Signal(syscall.SIGTERM) }, 0},
		"SIGHUP":  {func(t *testing.T, c *console, _ *server) { _ = c.Cmd.Process.Signal(syscall.SIGHUP) }, 0},
		"SIGQUIT": {func(t *testing.T, c *console, _ *server) { _ = c.Cmd.Process.Signal(syscall.SIGQUIT) }, 0},
		"Ctrl-C":  {func(t *testing.T, c *console, _ *server) { c.press(t, "\x03") }, 0},
		"lost":    {func(t *testing.T, _ *console, s *server) { s.kill(t) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "-stage", room)
			p := s.dial(t)
			p.request("pr")
			c := startDrive(t, s.address)
			c.hold(t, "w", func() bool { return p.position().Speed > 50 })
			tt.end(t, c, s)
			if code := c.Code(t); code != tt.code {
				t.Errorf("exit %d, %s", code, c.errors)
			}
			c.checkRestored(t)
			if s.Alive() {
				waiting.Until(t, "a robot that stands", func() bool { return p.position().Speed == 0 })
			}
		})
	}
}

// With every end of player drive, a robot that it drove stands, and a robot that
// another program has taken over meanwhile drives on.
func TestDriveEndsForItself(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, c *console){
		"released":  func(t *testing.T, c *console) { _ = c.Cmd.Process.Signal(syscall.SIGCONT) },
		"quit":      func(t *testing.T, c *console) { c.press(t, "q"); _ = c.Cmd.Process.Signal(syscall.SIGCONT); c.Code(t) },
		"killed":    func(t *testing.T, c *console) { _ = c.Cmd.Process.Kill() },
		"suspended": func(t *testing.T, c *console) { _ = c.Cmd.Process.Signal(syscall.SIGSTOP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "-stage", room)
			p := s.dial(t)
			p.request("pa")
			turns := func() int16 { return p.position().TurnRate }
			c := startDrive(t, s.address, "-turn", "40")
			c.hold(t, "a", func() bool { return turns() > 30 })
			end(t, c)
			waiting.Until(t, "a robot that stands", func() bool { return turns() == 0 })
			_ = c.Cmd.Process.Kill()

			c = startDrive(t, s.address, "-turn", "40")
			c.hold(t, "a", func() bool { return turns() > 30 })
			c.Signal(t, syscall.SIGSTOP) // or it would repeat its command
			from := p.position().Time
			p.drives("another program", 0, -20, func() bool { d := p.position(); return d.TurnRate == -20 && d.Time > from+600 })
			end(t, c)
			p.goesOn(t, -20)
		})
	}
}

// goesOn checks that the robot turns as p has commanded, for longer than any frontend waits
// until it stops its robot.
func (p *peer) goesOn(t *testing.T, rate int16) {
	t.Helper()
	for from := p.position().Time; ; {
		d := p.position()
		if d.TurnRate != rate {
			t.Fatalf("it turns at %d deg/s, another program has commanded %d", d.TurnRate, rate)
		}
		if d.Time > from+2000 {
			return
		}
	}
}

// Another program drives on when player drive watches the robot, and
// stops for the space bar.
func TestDriveLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	p := s.dial(t)
	p.request("pa")
	p.drive(0, 30)
	turns := func() bool { return p.position().TurnRate > 20 }
	waiting.Until(t, "a robot that turns", turns)
	c := startDrive(t, s.address)
	c.shows(t, " 30 deg/s")
	c.press(t, "q")
	if code := c.Code(t); code != 0 {
		t.Errorf("exit %d, %s", code, c.errors)
	}
	for range 10 {
		if !turns() {
			t.Fatal("quitting has stopped what another program drives")
		}
	}
	c = startDrive(t, s.address)
	c.press(t, " ")
	waiting.Until(t, "stop", func() bool { return p.position().TurnRate == 0 })
}

// player drive -to says that the robot has arrived. Without a goto device it says how a server has one, and a signal
// stops the robot.
func TestDriveTo(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room, "-goto")
	p := s.dial(t)
	p.request("pr")
	drive := func(address string, args ...string) *tool {
		return startTool(t, nil, append([]string{"drive", address}, args...)...)
	}
	c := drive(s.address, "-to", "1.5,0", "-speed", "400")
	if code := c.Code(t); code != 0 || c.out.String() != "arrived\n" || c.errors.String() != "" {
		t.Errorf("exit %d, %q, %s", code, c.out, c.errors)
	}
	waiting.Until(t, "a robot that stands at the goal", func() bool { d := p.position(); return d.X > 1400 && d.X < 1600 && d.Speed == 0 })
	c = drive(s.address, "-to", "-1000,0")
	waiting.Until(t, "a robot that moves", func() bool { d := p.position(); return d.Speed != 0 || d.TurnRate != 0 })
	c.Signal(t, syscall.SIGINT)
	if code := c.Code(t); code != 0 {
		t.Errorf("exit %d, %s", code, c.errors)
	}
	waiting.Until(t, "a robot that stands", func() bool { d := p.position(); return d.Speed == 0 && d.TurnRate == 0 })
	c = drive(start(t, "-stage", room).address, "-to", "1,1")
	if code := c.Code(t); code != 2 || !strings.Contains(c.errors.String(), "a server has it with -goto") {
		t.Errorf("exit %d, %s", code, c.errors)
	}
}
