package plugin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

const ms = time.Millisecond

// world is a driver with its clients, and programs under the test's control.
type world struct {
	*transporttest.Bench
	driver   *Driver
	refuse   error
	programs []*program
	notified []string // of subscriptions
}

func (w *world) StartPlugin(stdout, stderr devices.PortHandler, exited func(time.Duration, error), name string, args ...string) (devices.Program, devices.Port, error) {
	if w.refuse != nil {
		return nil, nil, w.refuse
	}
	p := &program{world: w, stdout: stdout, stderr: stderr, exited: exited, command: name + " " + strings.Join(args, " ")}
	w.programs = append(w.programs, p)
	return p, stdin{p}, nil
}

func (w *world) SetupDone(_ time.Duration, d *devices.Device, err error) {
	w.notified = append(w.notified, fmt.Sprintf("%c %v", d.Letter(), err))
}

// program is a started program.
type program struct {
	world          *world
	stdout, stderr devices.PortHandler
	exited         func(time.Duration, error)
	command        string
	in             []string // messages written to it
	stuck          bool     // it does not read
	buffered       int
	closed         bool
	signals        []syscall.Signal
}

func (p *program) Signal(s syscall.Signal) { p.signals = append(p.signals, s) }

func (p *program) says(blocks ...string) {
	for _, b := range blocks {
		p.stdout.Receive(p.world.Now(), codec.AppendBlock(nil, b[0], []byte(b[1:])))
	}
}

// takes expects the messages written since the last call.
func (p *program) takes(want ...string) {
	p.world.T.Helper()
	if !slices.Equal(p.in, want) {
		p.world.T.Errorf("the plugin was sent %q, want %q", p.in, want)
	}
	p.in = nil
}

type stdin struct{ *program }

func (s stdin) Write(b []byte) {
	var d codec.Decoder
	for {
		m, rest, ok := d.Next(b)
		if !ok {
			break
		}
		s.in = append(s.in, fmt.Sprintf("%c%c%s", m.Kind, m.Device, m.Payload))
		b = rest
	}
	if s.stuck {
		s.buffered += len(b)
	}
}
func (s stdin) Buffered() int {
	if s.stuck {
		return 1
	}
	return 0
}
func (s stdin) LastWords([]byte)   {}
func (s stdin) SetSpeed(int) error { return errors.New("a pipe has no speed") }
func (s stdin) Discard()           {}
func (s stdin) Close()             { s.closed = true }

func newWorld(t *testing.T) *world {
	driver := must.Get(New("/bin/sh", []string{"-x"}))(t)
	mine := devices.Instance{Driver: driver, Name: "mine", Provides: []devices.Spec{devices.Gripper(), devices.Position()}, SetupLimit: time.Minute}
	w := &world{Bench: transporttest.NewBench(t, mine), driver: driver}
	w.Table.Connect(w)
	return w
}

// A program describes devices without letters by their names, and uses the bytes of their order.
func TestNamedDevices(t *testing.T) {
	driver := must.Get(New("/bin/sh", nil))(t)
	mine := devices.Instance{Driver: driver, Name: "mine", SetupLimit: time.Minute,
		Provides: []devices.Spec{devices.IO().At(2), devices.Laser().At(1), devices.Ranger()}}
	w := &world{Bench: transporttest.NewBench(t, mine), driver: driver}
	w.Table.Connect(w)
	for _, d := range w.Link.Devices() {
		must.Get(d.Subscribe(w.Now(), w))(t)
	}
	p := w.programs[0]
	p.takes("dr\x80ala\x81a")
	p.says("Yi\nio:2 3 output bit 0 1 Lamp\nio:0 3 output bit 0 1 Lamp\nranger:0 x", "Yr\nranger:0 0 2 0 0 -45 90 0 0 0\nl 0 361 0 0 0 0.5 0 0 0",
		"\x80\x00\x00\x00\x07", "\x81\x00\x01\x10\x00\x20\x00")
	io, laser, ranger := w.Link.Devices()[0], w.Link.Devices()[1], w.Link.Devices()[2]
	if string(io.Data()) != "\x00\x00\x00\x07" || string(ranger.Data()) != "\x00\x01\x10\x00\x20\x00" || laser.HasData() {
		t.Errorf("data %q, %q, %q", io.Data(), ranger.Data(), laser.Data())
	}
	if c := io.AppendChannels(nil); len(c) != 1 || c[0].Number != 3 || c[0].Device != io.Code() {
		t.Errorf("channels %+v", c)
	}
	if r := ranger.AppendRays(nil); len(r) != 1 || r[0].Step != 90 || r[0].Device != ranger.Code() {
		t.Errorf("rays %+v", r)
	}
	io.SetCommand(w.Now(), []byte("\x03\x00\x00\x00\x01"))
	io.SetCommand(w.Now(), []byte("\x04\x00\x00\x00\x01"))
	p.takes("c\u0080\x03\x00\x00\x00\x01", "c\u0080\x04\x00\x00\x00\x01")
	p.says("\x81\x00\x00")
	if driver.run.mistake == nil {
		t.Error("data of a ranger without a unit is taken")
	}
}

// wake lets time pass until the next deadline, which must be at.
func (w *world) wake(at time.Duration) {
	w.T.Helper()
	if next := w.Deadline(w.Link); next != at {
		w.T.Fatalf("at %v the next deadline is %v, want %v", w.Now(), next, at)
	}
	w.Pass(at - w.Now())
}

func (w *world) subscribe(letter byte) {
	w.T.Helper()
	must.Get(w.Table.Device(letter).Subscribe(w.Now(), w))(w.T)
}

func (w *world) expect(state devices.State, notified ...string) {
	w.T.Helper()
	if w.Link.State() != state || !slices.Equal(w.notified, notified) {
		w.T.Fatalf("link %v, subscribers notified %q; want %v, %q", w.Link.State(), w.notified, state, notified)
	}
	w.notified = nil
}

const (
	opened = "drgapa"
	closed = "drgcpc"
	grip   = "g\x05\x06"
)

func TestLife(t *testing.T) {
	w := newWorld(t)
	w.subscribe('g')
	p := w.programs[0]
	p.takes(opened)
	if p.command != "/bin/sh -x" {
		t.Errorf("started %q", p.command)
	}
	w.expect(devices.Starting)
	p.says(grip) // the first data ends the setup
	w.expect(devices.Ready, "g <nil>")
	if got := w.Table.Device('g').Data(); string(got) != grip[1:] {
		t.Errorf("published %q", got)
	}
	w.subscribe('p')
	w.Table.Device('p').SetCommand(w.Now(), []byte("abcd"))
	if err := w.Table.Device('p').Configure(w.Now(), []byte("m\x01")); err != nil {
		t.Error(err)
	}
	p.takes("cpabcd", "xpm\x01")

	w.Table.Device('g').Unsubscribe(w.Now(), w)
	w.Table.Device('p').Unsubscribe(w.Now(), w)
	p.takes(closed)
	if !p.closed || p.signals != nil {
		t.Errorf("standard input closed: %v; signals %v", p.closed, p.signals)
	}
	p.exited(w.Now()+50*ms, nil)
	w.expect(devices.Idle)
}

func TestReplyEndsSetup(t *testing.T) {
	w := newWorld(t)
	w.subscribe('p')
	w.programs[0].says("rgapa")
	w.expect(devices.Ready, "p <nil>")

	w = newWorld(t)
	w.subscribe('p')
	w.programs[0].says("rgape")
	w.programs[0].exited(w.Now(), errors.New("signal: killed"))
	w.expect(devices.Idle, "p it cannot set up device 'p'")
	if !slices.Equal(w.programs[0].signals, []syscall.Signal{syscall.SIGKILL}) {
		t.Errorf("signals %v", w.programs[0].signals)
	}

	w = newWorld(t)
	w.subscribe('p')
	w.programs[0].says("Yeg missing no gripper\np hardware no such port", "rgape")
	w.programs[0].exited(w.Now(), errors.New("signal: killed"))
	w.expect(devices.Idle, "p it cannot set up device 'p': no such port")
}

func TestSetupFails(t *testing.T) {
	for _, tt := range []struct {
		name  string
		event func(w *world)
		want  string
	}{
		{"cannot be started", nil, "no such program"},
		{"exits", func(w *world) { w.programs[0].exited(w.Now(), nil) }, "it has exited"},
		{"fails", func(w *world) { w.programs[0].exited(w.Now(), errors.New("exit status 3")) }, "exit status 3"},
		{"closes its output, then fails", func(w *world) {
			w.programs[0].stdout.Hangup(w.Now(), errors.New("EOF"))
			w.programs[0].exited(w.Now(), errors.New("exit status 3"))
		}, "exit status 3"},
		{"speaks something else", func(w *world) {
			w.programs[0].stdout.Receive(w.Now(), []byte("Hello, world\n"))
			w.programs[0].exited(w.Now(), errors.New("signal: killed"))
		}, "it sends 'H', which is no letter of its devices"},
		{"sends data of a wrong size", func(w *world) {
			w.programs[0].says("gx")
			w.programs[0].exited(w.Now(), errors.New("signal: killed"))
		}, "it sends 1 bytes of gripper data, which are always 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if tt.event == nil {
				w.refuse = errors.New(tt.want)
				if _, err := w.Table.Device('p').Subscribe(w.Now(), w); err != w.refuse {
					t.Errorf("error %v", err)
				}
				return
			}
			w.subscribe('p')
			tt.event(w)
			w.expect(devices.Idle, "p "+tt.want)
		})
	}
}

// A plugin that dies is started again, later each time, and clients stay.
func TestRestart(t *testing.T) {
	w := newWorld(t)
	w.subscribe('p')
	w.programs[0].says(grip)
	w.expect(devices.Ready, "p <nil>")
	w.Table.Device('p').SetCommand(w.Now(), []byte("abcd"))
	for i, delay := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second} {
		w.programs[i].exited(w.Now(), errors.New("exit status 1"))
		w.expect(devices.Ready)
		w.Table.Device('p').SetCommand(w.Now(), []byte("efgh")) // lost
		if c := w.Table.Device('p').Command(); c != nil {
			t.Errorf("a command for no plugin is kept: %q", c)
		}
		if err := w.Table.Device('p').Configure(w.Now(), []byte("m\x01")); err == nil {
			t.Error("configured a plugin that is not there")
		}
		w.wake(w.Now() + delay)
		if len(w.programs) != i+2 {
			t.Fatal("not started again")
		}
		w.programs[i+1].takes(opened) // and nothing that was commanded
		w.programs[i].says(grip)      // the last output of the old one
		if w.driver.run.mistake != nil {
			t.Error("the old one is still heard")
		}
	}
	// After steady service it is soon there again.
	w.programs[4].says(grip)
	w.Pass(10 * time.Second)
	w.programs[4].exited(w.Now(), nil)
	w.refuse = errors.New("file busy")
	w.wake(w.Now() + time.Second)
	w.refuse = nil
	w.wake(w.Now() + 2*time.Second)
	if len(w.programs) != 6 {
		t.Error("not started again after it could not be")
	}
	w.Table.Device('p').Unsubscribe(w.Now(), w)
	w.programs[5].exited(w.Now(), nil)
	w.expect(devices.Idle)
}

func TestShutdownWhileResting(t *testing.T) {
	w := newWorld(t)
	w.subscribe('p')
	w.programs[0].says(grip)
	w.programs[0].exited(w.Now(), nil)
	w.Table.Device('p').Unsubscribe(w.Now(), w)
	w.expect(devices.Idle, "p <nil>")
	if w.Deadline(w.Link) != 0 {
		t.Error("it would be started again")
	}
}

// A program that does not stop is killed, and if even that takes too long, the next run does
// not wait for it.
func TestKill(t *testing.T) {
	w := newWorld(t)
	w.subscribe('p')
	w.programs[0].says(grip)
	w.notified = nil
	start := w.Now()
	w.Table.Device('p').Unsubscribe(w.Now(), w)
	w.subscribe('p')
	w.wake(start + termDelay)
	w.programs[0].says(grip) // too late
	w.wake(start + killDelay)
	if got, want := w.programs[0].signals, []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}; !slices.Equal(got, want) {
		t.Errorf("signals %v, want %v", got, want)
	}
	w.expect(devices.Stopping)
	w.wake(start + 1500*ms)
	if len(w.programs) != 2 {
		t.Fatal("not started for the next client")
	}
	w.programs[0].exited(w.Now(), errors.New("signal: killed"))
	w.expect(devices.Starting)
	w.programs[1].says(grip)
	w.expect(devices.Ready, "p <nil>")
}

// A plugin that has made a mistake while it may drive, or has closed its output, is
// asked to stop before it is killed. It gets no more commands, and is started again.
func TestMistakesLeaveTimeToStop(t *testing.T) {
	for name, mistake := range map[string]func(w *world){
		"data of a wrong size": func(w *world) { w.programs[0].says("gx") },
		"its output is closed": func(w *world) { w.programs[0].stdout.Hangup(w.Now(), errors.New("EOF")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.subscribe('p')
			w.programs[0].says(grip)
			w.Table.Device('p').SetCommand(w.Now(), []byte("abcd"))
			start := w.Now()
			mistake(w)
			mistake(w)
			w.Table.Device('p').SetCommand(w.Now(), []byte("efgh"))
			w.programs[0].takes(opened, "cpabcd", closed)
			if !w.programs[0].closed || len(w.programs[0].signals) > 0 || w.Table.Device('p').Command() != nil {
				t.Errorf("its input is closed: %v, signals %v", w.programs[0].closed, w.programs[0].signals)
			}
			w.wake(start + termDelay)
			w.wake(start + killDelay)
			if got, want := w.programs[0].signals, []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}; !slices.Equal(got, want) {
				t.Errorf("signals %v, want %v", got, want)
			}
			w.programs[0].exited(w.Now(), errors.New("signal: killed"))
			w.wake(w.Now() + time.Second)
			if len(w.programs) != 2 {
				t.Error("it is not started again")
			}
		})
	}
}

// It is asked once, also if its last client leaves meanwhile.
func TestShutdownAfterAMistake(t *testing.T) {
	w := newWorld(t)
	w.subscribe('p')
	w.programs[0].says(grip)
	w.programs[0].says("gx")
	w.Table.Device('p').Unsubscribe(w.Now(), w)
	w.programs[0].takes(opened, closed)
	w.programs[0].exited(w.Now(), nil)
	w.expect(devices.Idle, "p <nil>")
}

func TestSetupLimit(t *testing.T) {
	w := newWorld(t)
	w.subscribe('p')
	w.wake(w.Now() + time.Minute)
	w.expect(devices.Stopping, "p gave up: no answer in time")
	w.programs[0].takes(opened, closed)
	w.programs[0].exited(w.Now(), nil)
	w.expect(devices.Idle)
}

// For a plugin that does not read its commands only the newest are kept.
func TestSlowReader(t *testing.T) {
	w := newWorld(t)
	w.subscribe('p')
	p := w.programs[0]
	p.says(grip)
	p.takes(opened)
	p.stuck = true
	for i := range byte(100) {
		w.Table.Device('p').SetCommand(w.Now(), []byte{i, i, i, i})
		w.Table.Device('g').SetCommand(w.Now(), []byte{i, i})
	}
	if err := w.Table.Device('p').Configure(w.Now(), []byte("m\x01")); err == nil {
		t.Error("no error")
	}
	w.wake(w.Now() + 20*ms)
	p.takes()
	p.stuck = false
	w.wake(w.Now() + 20*ms)
	p.takes("cpcccc", "cgcc")
	if w.Deadline(w.Link) != 0 {
		t.Error("it still wakes")
	}
	if n := w.Log.FilterMessage("commands are not read").Len(); n != 1 {
		t.Errorf("%d complaints", n)
	}
}

func TestStandardError(t *testing.T) {
	w := newWorld(t)
	w.subscribe('p')
	err := w.programs[0].stderr
	logged := func() (lines []string) {
		for _, e := range w.Log.FilterMessage("plugin says").TakeAll() {
			lines = append(lines, e.ContextMap()["line"].(string))
		}
		w.Log.TakeAll()
		return lines
	}
	err.Receive(w.Now(), []byte("one\ntw"))
	err.Receive(w.Now(), []byte("o\n\n"+strings.Repeat("x", 400)))
	err.Receive(w.Now(), []byte(strings.Repeat("x", 400)))
	err.Receive(w.Now(), []byte("\nlast"))
	err.Hangup(w.Now(), nil)
	if got, want := logged(), []string{"one", "two", "", strings.Repeat("x", longestLine), "last"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestNew(t *testing.T) {
	for _, tt := range []struct{ path, want string }{
		{"/nowhere/x", "no such file"},
		{"sh", "no such file"}, // not the sh in PATH
		{"plugin.go", "permission denied"},
	} {
		if _, err := New(tt.path, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.path, err, tt.want)
		}
	}
	k := Kind()
	values := k.Defaults()
	values["plugin"] = "/bin/sh"
	made, err := k.Make(devices.Args{Name: "x", Provides: []devices.Spec{devices.Joystick()}, Values: values})
	if err != nil || len(made) != 1 || made[0].Name != "x" || made[0].SetupLimit != 10*time.Second || len(made[0].Provides) != 1 {
		t.Error(made, err)
	}
}

func TestDataAllocatesNothing(t *testing.T) {
	w := newWorld(t)
	w.subscribe('p')
	block := codec.AppendBlock(nil, 'g', []byte("xy"))
	w.programs[0].stdout.Receive(w.Now(), block)
	command := []byte("abcd")
	w.programs[0].stuck = true // the fake's bookkeeping allocates
	if n := testing.AllocsPerRun(1000, func() {
		w.programs[0].stdout.Receive(w.Now(), block[:4])
		w.programs[0].stdout.Receive(w.Now(), block[4:])
		w.Table.Device('p').SetCommand(w.Now(), command)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The page of a plugin is an address that a browser can open.
func TestPage(t *testing.T) {
	for address, good := range map[string]bool{
		":8090": true, ":8090/colours": true, "http://pi:8090/": true, "https://pi/": true,
		"8090": false, "pi:8090": false, ":port": false, "javascript:alert(1)": false, "http:///x": false, "file:///etc/passwd": false,
	} {
		if isPage(address) != good {
			t.Errorf("%q: %v", address, !good)
		}
	}
}
