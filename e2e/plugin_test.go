package e2e

import (
	be "encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"player/codec"
	"player/devices/retry"
	"player/e2e/must"
	"player/e2e/waiting"
)

// write makes an executable file and returns its path. No process is started
// meanwhile: it would inherit the open file for a moment, and a file that is open
// for writing cannot be executed (ETXTBSY).
func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	must.Do(t, os.WriteFile(path, []byte(text), 0o755))
	return path
}

// processes returns the ids of the running processes, other than servers, that
// have a word on their command line.
func processes(t *testing.T, word string) (ids []string) {
	t.Helper()
	files := must.Get(filepath.Glob("/proc/[0-9]*/cmdline"))(t)
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), word) && !strings.Contains(string(line), "-gp") {
			ids = append(ids, filepath.Base(filepath.Dir(file)))
		}
	}
	return ids
}

// joystick reads blocks until the axes of the joystick have these values.
func (p *peer) joystick(x, y int16) {
	p.t.Helper()
	waiting.Until(p.t, fmt.Sprintf("a joystick at %d, %d", x, y), func() bool {
		return next[codec.JoystickData](p, codec.Joystick).Axes == [8]int16{x, y}
	})
}

// The HDAPS joystick as a driver, as a plugin in Python, and as one in shell.
func TestHDAPS(t *testing.T) {
	t.Parallel()
	plugins := must.Get(filepath.Abs("../examples/plugins"))(t)
	for _, tt := range []struct{ name, driver string }{
		{"driver", `name "hdaps" directory "."`},
		{"python", fmt.Sprintf(`name "hdaps" plugin "%s/hdaps.py" args [%%q] provides ["joystick:0"]`, plugins)},
		{"shell", fmt.Sprintf(`name "hdaps" plugin "%s/hdaps.sh" args [%%q] provides ["joystick:0"]`, plugins)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "calibrate", "(409,528)\n")
			write(t, dir, "position", "(409,528)\n")
			driver := tt.driver
			if strings.Contains(driver, "%q") {
				driver = fmt.Sprintf(driver, dir)
			}
			s := start(t, write(t, dir, "robot.cfg", "driver ( "+driver+" )"))
			p := s.dial(t)
			if reply := p.request("jr"); reply != "jr" {
				t.Fatalf("reply %q", reply)
			}
			p.joystick(0, 0)
			write(t, dir, "position", "(419,513)\n")
			waiting.Until(t, "a tilt", func() bool {
				at := next[codec.JoystickData](p, codec.Joystick).Axes
				return at[0]/10 == 218 && at[1]/15 == -218 // 218 per unit, or 32767/150 exactly
			})
			p.conn.Close()
			waiting.Until(t, "the end of the program", func() bool { return len(processes(t, dir)) == 0 })
		})
	}
}

// The plugin of docs/PLUGINS.md.
func TestThermometer(t *testing.T) {
	t.Parallel()
	plugin := must.Get(filepath.Abs("../examples/plugins/thermometer.py"))(t)
	dir := t.TempDir()
	s := start(t, write(t, dir, "robot.cfg", fmt.Sprintf(`driver ( name "thermometer" plugin %q args [%q] provides ["misc:0"] )`, plugin, write(t, dir, "temp", "41000\n"))))
	p := s.dial(t)
	if reply := p.request("mr"); reply != "mr" {
		t.Fatalf("reply %q", reply)
	}
	if letter, payload := p.block(); letter != 'm' || string(payload) != "\x00\x00\x29" {
		t.Errorf("%c % x", letter, payload)
	}
}

// echo is a position device whose x and speed are the commanded speed, and whose turn
// rate is the commanded one. It prints its input
// to standard error.
const echo = `#!/usr/bin/env python3
import struct, sys
stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
x = turn = 0
while header := stdin.read(4):
    kind, device, size = struct.unpack(">ccH", header)
    payload = stdin.read(size)
    print(kind + device, payload, file=sys.stderr, flush=True)
    if kind == b"c":
        x, turn = struct.unpack(">hh", payload)
    if payload == b"pc":
        break
    stdout.write(struct.pack(">cHIiiHhhHB", b"p", 21, 0, x, 0, 0, x, turn, 0, 0))
    stdout.flush()
    if x == 666:
        raise SystemExit("told to fail")
`

func TestPlugin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "echo.py", echo)
	s := start(t, write(t, dir, "robot.cfg", `driver ( name "echo" plugin "echo.py" provides ["position:0"] )`))
	p := s.dial(t)
	if len(processes(t, dir)) != 0 {
		t.Fatal("it runs before anybody has asked for it")
	}
	if reply := p.request("pa"); reply != "pa" {
		t.Fatalf("reply %q", reply)
	}
	at := func(x int32) {
		t.Helper()
		waiting.Until(t, "a position", func() bool { return p.position().X == x })
	}
	at(0)
	p.drive(300, 0)
	at(300)
	p.message('x', 'p', 'm', 1)
	waiting.Until(t, "the configuration", func() bool { return strings.Contains(s.Output.String(), `b'xp' b'm\\x01'`) })

	// It fails and is started again. The client stays connected.
	first := processes(t, dir)
	p.drive(666, 0)
	at(0)
	if again := processes(t, dir); len(again) != 1 || slices.Equal(first, again) {
		t.Errorf("processes %v, before %v", again, first)
	}
	for _, line := range []string{"told to fail", retry.LogUnavailable, "exit status 1"} {
		if !strings.Contains(s.Output.String(), line) {
			t.Errorf("no line in the log: %s", line)
		}
	}
	p.drive(200, 0)
	at(200)

	// When the client leaves, the motors are stopped, then the plugin.
	p.conn.Close()
	waiting.Until(t, "the end of the program", func() bool { return len(processes(t, dir)) == 0 })
	waiting.Until(t, "its last words", func() bool { return strings.Contains(s.Output.String(), `b'dr' b'pc'`) })
	log := s.Output.String()
	if stop, end := strings.LastIndex(log, `b'cp' b'\\x00\\x00\\x00\\x00'`), strings.LastIndex(log, `b'dr' b'pc'`); stop < 0 || end < stop {
		t.Errorf("stopped at %d, closed at %d", stop, end)
	}
}

// A server that ends also ends its plugins and the processes that they started.
func TestPluginsEndWithTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "stubborn", "#!/bin/sh\ntrap '' TERM\nprintf 'g\\0\\002aa'\nsh -c 'trap \"\" TERM; while :; do sleep 1; done' "+dir+" &\nwait\n")
	s := start(t, write(t, dir, "robot.cfg", `driver ( name "stubborn" plugin "stubborn" alwayson 1 provides ["gripper:0"] )`))
	waiting.Until(t, "plugin and child", func() bool { return len(processes(t, dir)) == 2 })
	s.Signal(t, os.Interrupt)
	s.ended(t)
	if left := processes(t, dir); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// A server that is killed also ends its plugins and the processes that they started.
// A plugin has time to stop its motors.
func TestPluginIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "stubborn", "#!/bin/sh\ntrap '' TERM\nprintf 'g\\0\\002aa'\nsh -c 'trap \"\" TERM; while :; do sleep 1; done' "+dir+" &\nwait\n")
	write(t, dir, "careful", "#!/bin/sh\nprintf 'm\\0\\003aaa'\ncat >/dev/null\nsleep 0.7\necho >"+dir+"/stopped\n")
	s := start(t, write(t, dir, "robot.cfg", `driver ( name "stubborn" plugin "stubborn" alwayson 1 provides ["gripper:0"] )
		driver ( name "careful" plugin "careful" alwayson 1 provides ["misc:0"] )`))
	waiting.Until(t, "plugins and child", func() bool { return len(processes(t, dir)) == 3 })
	s.kill(t)
	waiting.Until(t, "the end of all", func() bool { return len(processes(t, dir)) == 0 })
	if _, err := os.Stat(dir + "/stopped"); err != nil {
		t.Errorf("the plugin had no time to stop: %v", err)
	}
}

// A FIFO stands in for /dev/input/js0.
func TestJoystick(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "js0")
	must.Do(t, syscall.Mkfifo(fifo, 0o600))
	plug := func() *os.File {
		stick := must.Get(os.OpenFile(fifo, os.O_RDWR, 0))(t)
		return stick
	}
	move := func(stick *os.File, value int16, axis byte) {
		b := be.NativeEndian.AppendUint32(nil, 2044)
		b = be.NativeEndian.AppendUint16(b, uint16(value))
		must.Get(stick.Write(append(b, 2, axis)))(t)
	}
	stick := plug()
	s := start(t, write(t, dir, "robot.cfg", fmt.Sprintf(`driver ( name "joystick" port %q )`, fifo)))
	p := s.dial(t)
	if reply := p.request("jr"); reply != "jr" {
		t.Fatalf("reply %q", reply)
	}
	move(stick, 32767, 0)
	move(stick, -20000, 1)
	p.joystick(32767, -20000)
	stick.Close() // pulled out
	p.joystick(0, 0)
	stick = plug()
	defer stick.Close()
	waiting.Until(t, "the joystick to be opened again", func() bool {
		move(stick, 100, 0)
		return next[codec.JoystickData](p, codec.Joystick).Axes[0] == 100
	})
}
