package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/client"
	"player/codec"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/waiting"
	product "player/server"
)

// pattern is a robot with all devices of the manual and known data.
const pattern = `driver
(
  name "testpattern"
  provides ["position:0" "sonar:0" "laser:0" "misc:0" "gripper:0" "ptz:0" "vision:0"]
  rate 50
  vision_blobs 25
)
`

// TestReal runs every language against the server itself.
func TestReal(t *testing.T) {
	t.Parallel()
	binary := buildServer(t)
	robot := filepath.Join(t.TempDir(), "pattern.cfg")
	must.Do(t, os.WriteFile(robot, []byte(pattern), 0o644))
	stepped := inStep(t)
	trust := newTrust(t)
	tests := []struct {
		name  string
		flags []string // of the server
		run   func(*session)
	}{
		{"data", []string{robot}, realData},
		{"commands", []string{robot}, realCommands},
		{"refused", []string{robot}, realRefused},
		{"request reply", []string{robot}, realRequestReply},
		{"only new data", []string{robot}, realFresh},
		{"1000 Hz", []string{robot}, realFast},
		{"server restarts", []string{robot}, realRestart},
		{"emergency stop", []string{robot}, realStop},
		{"command lifetime", []string{robot}, realLifetime},
		{"simulated robot", []string{"-stage", "../../simulation/worlds/room.world"}, realDrive},
		{"experiment", []string{"-stage", stepped}, realExperiment},
		{"TLS", []string{robot}, realTLS},
		{"reconnect", []string{robot}, realReconnect},
		{"experiment by TLS", []string{"-stage", "../../simulation/worlds/room.world"}, realSealedExperiment},
	}
	forEachLanguage(t, func(t *testing.T, l language) {
		start := l.adapters(t)
		all, a := t, start(t) // one for all tests that succeed: starting one can take a second
		for _, test := range tests {
			ok := t.Run(test.name, func(t *testing.T) {
				if a == nil {
					a = start(all)
				}
				port := ports.Free(t, 5) // the largest world has two robots
				p := &process{binary: binary, port: port, page: port + 2, sealed: port + 3}
				p.flags = append(trust.flags(p.sealed), test.flags...)
				p.start(t)
				test.run(&session{t: t, adapter: a, process: p, trust: trust})
			})
			if !ok {
				a = nil
			}
		}
	})
}

// TestFolders runs the tests of each language's own folder, which also build its examples, and then these.
func TestFolders(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	binary := buildServer(t)
	port := ports.Free(t, 3)
	p := &process{binary: binary, flags: []string{"-stage", "../../simulation/worlds/room.world"}, port: port, page: port + 1}
	p.start(t)
	forEachLanguage(t, func(t *testing.T, l language) {
		cmd := exec.Command(l.test[0], l.test[1:]...)
		cmd.Dir = l.folder()
		build := t.TempDir()
		cmd.Env = append(os.Environ(), "BUILD="+build, "PLAYER="+binary, fmt.Sprintf("PLAYER_PORTS=%d %d %d", port, port+1, port+2))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", strings.Join(l.test, " "), err, out)
		}
		runExamples(t, l, build, binary)
	})
}

func buildServer(t *testing.T) (binary string) {
	t.Helper()
	needs.Programs(t)
	binary = must.Get(serverBinary())(t)
	return binary
}

// session is an adapter and a server.
type session struct {
	t       *testing.T
	adapter *adapter
	process *process
	trust   *trust
}

// do carries out a request that must succeed and returns the answer.
func (s *session) do(request Object) Object {
	s.t.Helper()
	got := s.adapter.call(s.t, request)
	if got["ok"] != true {
		s.t.Fatalf("%s: %s", text(request), text(got))
	}
	return got
}

// fails carries out a request that must fail.
func (s *session) fails(kind string, request Object) Object {
	s.t.Helper()
	got := s.adapter.call(s.t, request)
	if got["ok"] != false || got["error"] != kind {
		s.t.Fatalf("%s: %s, want error %q", text(request), text(got), kind)
	}
	return got
}

func (s *session) connecting() Object {
	return Object{"op": "connect", "host": "127.0.0.1", "port": s.process.port, "timeout_ms": patience}
}

func (s *session) open(pairs string) {
	s.t.Helper()
	s.do(s.connecting())
	if got := s.do(ask(pairs))["granted"]; got != pairs {
		s.t.Fatalf("granted %q, want %q", got, pairs)
	}
}

func (s *session) read() string {
	s.t.Helper()
	devices, _ := s.do(readRequest(patience))["new"].(string)
	return devices
}

// data returns the newest data of a device.
func (s *session) data(device string) Object {
	s.t.Helper()
	data, _ := s.do(Object{"op": "get", "device": device})["data"].(Object)
	return data
}

func (s *session) number(device, member string) float64 {
	s.t.Helper()
	data := s.data(device)
	n, ok := data[member].(float64)
	if !ok {
		s.t.Fatalf("%s of device %s is no number: %s", member, device, text(data))
	}
	return n
}

// until reads rounds until done.
func (s *session) until(what string, done func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); {
		s.read()
		if done() {
			return
		}
	}
	s.t.Fatalf("%s: not within %v", what, limit)
}

func (s *session) config(name string, value int) {
	s.t.Helper()
	s.do(Object{"op": "config", "name": name, "value": value})
}

func (s *session) command(device string, values ...int) {
	s.t.Helper()
	s.do(Object{"op": "command", "device": device, "values": values})
}

func realData(s *session) {
	s.open("lrsrprgrmrvrzryr")
	if got := s.read(); letters(got) != letters("lspgmvz") {
		s.t.Errorf("a round of %q", got)
	}
	var scan, ring []any
	for i := range codec.LaserCount {
		scan = append(scan, float64(2000+i))
	}
	for i := range codec.SonarCount {
		ring = append(ring, float64(2000+100*i))
	}
	channels := make([]any, codec.VisionChannels)
	for c := range channels {
		list := []any{}
		for range max(0, min(25-c*codec.MaxBlobs, codec.MaxBlobs)) {
			list = append(list, Object{"area": 100.0, "x": 80.0, "y": 60.0, "left": 75.0, "right": 85.0, "top": 55.0, "bottom": 65.0})
		}
		channels[c] = list
	}
	for device, want := range map[string]Object{
		"l": {"ranges": scan},
		"s": {"ranges": ring},
		"p": {"x": 0.0, "y": 0.0, "speed": 0.0, "stall": 0.0},
		"g": {"state": float64(codec.PaddlesOpen | codec.LiftDown), "beams": 0.0},
		"m": {"front": 0.0, "rear": 0.0, "battery": 126.0},
		"z": {"pan": 0.0, "tilt": 0.0, "zoom": 0.0},
		"v": {"channels": channels},
	} {
		got := s.do(Object{"op": "get", "device": device})
		if m := mismatch(device, want, got["data"]); m != "" {
			s.t.Error(m)
		}
		if _, ok := got["age_us"].(float64); !ok {
			s.t.Errorf("the age of device %s is %v", device, got["age_us"])
		}
	}
}

func realCommands(s *session) {
	s.open("paza")
	s.command("p", 300, -20)
	s.until("speed", func() bool { return s.number("p", "speed") == 300 && s.number("p", "turnrate") == -20 })
	s.command("z", -100, 25, 1023)
	s.until("camera", func() bool {
		return s.number("z", "pan") == -100 && s.number("z", "tilt") == 25 && s.number("z", "zoom") == 1023
	})
}

// realStop stops the robot, and drives it after the release.
func realStop(s *session) {
	s.open("pa")
	s.do(Object{"op": "config", "name": "name", "text": "conformance"})
	s.command("p", 300, 0)
	s.until("speed", func() bool { return s.number("p", "speed") == 300 })
	s.config("stop", 1)
	s.until("standstill", func() bool { return s.number("p", "speed") == 0 })
	s.command("p", 200, 0)
	s.do(ask("")) // the reply comes after the command was dropped
	s.read()
	if speed := s.number("p", "speed"); speed != 0 {
		s.t.Errorf("a command while the stop holds: %v mm/s", speed)
	}
	s.config("stop", 0)
	s.command("p", 100, 0)
	s.until("speed after the release", func() bool { return s.number("p", "speed") == 100 })
}

// realLifetime drives without repeating the command, which ends as if the client had left.
// Then another program drives: the zero of a client with a lifetime does not stop it.
func realLifetime(s *session) {
	s.open("pa")
	s.config("lifetime", 300)
	s.command("p", 300, 0)
	s.until("speed", func() bool { return s.number("p", "speed") == 300 })
	s.until("standstill", func() bool { return s.number("p", "speed") == 0 })

	s.config("lifetime", 60000)
	s.command("p", 200, 0)
	s.until("speed", func() bool { return s.number("p", "speed") == 200 })
	ctx, cancel := context.WithTimeout(s.t.Context(), patience*time.Millisecond)
	defer cancel()
	other := must.Get(client.Dial(ctx, fmt.Sprintf("127.0.0.1:%d", s.process.port)))(s.t)
	defer other.Close()
	must.Do(s.t, errors.Join(other.Request(ctx, "pw"), other.SetSpeed(100, 0), other.Request(ctx, "")))
	s.command("p", 0, 0)
	s.do(ask("")) // the reply comes after the command
	s.read()
	if speed := s.number("p", "speed"); speed != 100 {
		s.t.Errorf("%v mm/s after the zero of a client with a lifetime, while another drives", speed)
	}
}

func realRefused(s *session) {
	s.do(s.connecting())
	want := Object{"granted": "prje", "why": Object{"j": "missing the robot has no such device"}}
	if got := s.fails("refused", ask("prjr")); mismatch("the answer", want, got)+unsaid(got) != "" {
		s.t.Errorf("%s, want %s", text(got), text(want))
	}
	if got := s.do(ask("pw"))["granted"]; got != "pa" {
		s.t.Errorf("granted %q, want %q", got, "pa")
	}
	if got := s.read(); letters(got) != letters("p") {
		s.t.Errorf("a round of %q, want p", got)
	}
}

func realRequestReply(s *session) {
	s.do(s.connecting())
	s.config("mode", 1)
	s.do(ask("prsr"))
	s.fails("timeout", readRequest(soon))
	for range 3 {
		s.config("data", 0)
		s.read()
	}
	s.fails("timeout", readRequest(soon)) // one round for each request
	s.config("mode", 0)
	s.read()
}

func realFresh(s *session) {
	s.open("yrpr")
	s.config("frequency", 500)
	s.config("fresh", 1)
	s.do(ask("")) // the reply comes after the rounds that were sent before
	s.read()
	last := s.number("p", "time")
	for range 30 {
		if got := s.read(); letters(got) != letters("p") {
			s.t.Fatalf("a round of %q, want p", got)
		}
		now := s.number("p", "time")
		if now <= last {
			s.t.Fatalf("position of %v ms after that of %v ms", now, last)
		}
		last = now
	}
}

func realFast(s *session) {
	s.open("prsrlr")
	s.config("frequency", 1000)
	last := 0.0
	for range 300 {
		s.read()
		now := s.number("p", "time")
		if now < last {
			s.t.Fatalf("position of %v ms after that of %v ms", now, last)
		}
		last = now
	}
}

func realRestart(s *session) {
	s.open("pr")
	s.read()
	s.process.stop(s.t)
	s.ends()
	s.fails("closed", s.connecting())
	s.process.start(s.t)
	s.open("pr")
	s.read()
}

func realDrive(s *session) {
	s.open("pasr")
	parts, _ := s.do(Object{"op": "geometry", "timeout_ms": patience})["parts"].([]any)
	if len(parts) < 17 || !slices.ContainsFunc(parts, func(p any) bool {
		part, is := p.([]any)
		return is && len(part) == 9 && part[0] == "s" && part[1] == 3.0 && part[2] == 166.0 && part[4] == 10.0
	}) {
		s.t.Errorf("parts %v", parts)
	}
	s.config("motors", 1)
	s.config("velocity", 1)
	s.command("p", 200, 0)
	s.until("100 mm ahead", func() bool { return s.number("p", "x") >= 100 })
	s.command("p", 0, 0)
	s.until("standstill", func() bool { return s.number("p", "speed") == 0 })
	s.config("reset_odometry", 0)
	s.until("odometry of 0", func() bool { return s.number("p", "x") == 0 })
	s.do(Object{"op": "close"})
}

// inStep writes a world that waits for its one client. A second robot has a fiducial finder.
func inStep(t *testing.T) (world string) {
	t.Helper()
	text := must.Get(os.ReadFile("../../simulation/worlds/room.world"))(t)
	world = filepath.Join(t.TempDir(), "step.world")
	must.Do(t, os.WriteFile(world, append(text, `
		lockstep 1 speedup 0
		pioneer2dx ( name "eye" pose [1 -2.5 0 0] fiducial ( ) )
		post ( name "post" pose [1 -1 0 0] fiducial_return 3 )`...), 0o644))
	return world
}

// realExperiment moves a robot of a world in step, drives it, and starts it over, each time
// right before the next data.
func realExperiment(s *session) {
	order := func(order Object) Object {
		s.t.Helper()
		request := Object{"op": "simulation", "host": "127.0.0.1", "port": s.process.page, "timeout_ms": patience}
		if order != nil {
			request["order"] = order
		}
		state, _ := s.do(request)["state"].(Object)
		return state
	}
	mover := func(state Object, name string) Object {
		s.t.Helper()
		movers, _ := state["movers"].([]any)
		for _, m := range movers {
			if m, _ := m.(Object); m["name"] == name {
				return m
			}
		}
		s.t.Fatalf("no mover %s in %s", name, text(state))
		return nil
	}
	expect := func(what string, want, got any) {
		s.t.Helper()
		if m := mismatch(what, want, got); m != "" {
			s.t.Error(m)
		}
	}
	round := func() {
		s.t.Helper()
		s.config("data", 0)
		s.read()
	}
	start := order(nil)
	expect("the beginning", Object{"time": 0.0, "speed": 0.0, "paused": false, "finished": false, "seed": 1.0}, start)
	robot, puck := mover(start, "r0"), mover(start, "puck")
	expect("the robot", Object{"robot": true, "x": -2.0, "y": -1.5, "heading": 0.0}, robot)
	expect("the eye", Object{"robot": true, "sees": []any{Object{"name": "post", "id": 3.0, "range": 1.5, "bearing": 90.0}}}, mover(start, "eye"))
	expect("the puck", Object{"robot": false}, puck)

	s.do(s.connecting())
	s.config("mode", 1)
	s.do(ask("pa"))
	moved := Object{"name": "r0", "x": 1.0, "y": 0.5, "heading": 90.0}
	state := order(Object{"seed": 5, "move": []any{moved, Object{"name": "puck", "x": -2.0, "y": -1.5, "heading": 0.0}}})
	expect("after the move", Object{"time": 0.0, "seed": 5.0}, state)
	expect("the moved robot", moved, mover(state, "r0"))
	expect("the moved puck", Object{"x": -2.0, "y": -1.5}, mover(state, "puck"))
	round()
	if compass := s.number("p", "compass"); compass != 90 {
		s.t.Errorf("the first data after the move has a compass of %v", compass)
	}
	for range 10 {
		s.command("p", 300, 0)
		round()
	}
	state = order(nil)
	if y, _ := mover(state, "r0")["y"].(float64); y < 0.6 || y > 0.8 || state["time"] != s.number("p", "time")/1000 {
		s.t.Errorf("after driving: %s, odometry at %v ms", text(state), s.number("p", "time"))
	}

	for _, name := range []string{"nobody", "r0\"}]"} {
		s.fails("refused", Object{"op": "simulation", "host": "127.0.0.1", "port": s.process.page, "timeout_ms": patience,
			"order": Object{"move": []any{Object{"name": name, "x": 0.0, "y": 0.0, "heading": 0.0}}}})
	}
	expect("after refusals", state, order(nil))

	state = order(Object{"reset": true})
	expect("after the reset", Object{"time": 0.0, "seed": 5.0}, state)
	expect("the robot after the reset", robot, mover(state, "r0"))
	round()
	if compass, ms := s.number("p", "compass"), s.number("p", "time"); compass != 0 || ms != 0 {
		s.t.Errorf("the first data after the reset has a compass of %v at %v ms", compass, ms)
	}
	expect("after steps", Object{"time": 0.5, "paused": true, "speed": 2.5}, order(Object{"speed": 2.5, "pause": true, "step": 50}))
	expect("without a pause", Object{"paused": false, "speed": 0.0}, order(Object{"pause": false, "speed": 0}))
	s.do(Object{"op": "close"})
}

// process is a server that can be started again on the same port.
type process struct {
	binary string
	flags  []string
	port   int
	page   int // the port of its dashboard
	sealed int // the port for TLS
	cmd    *exec.Cmd
}

// start runs the server until the end of the test, and waits until it serves.
func (p *process) start(t *testing.T) {
	t.Helper()
	log := new(waiting.Output)
	p.cmd = exec.Command(p.binary, append([]string{"-bind", "127.0.0.1", "-gp", fmt.Sprint(p.port), "-http", fmt.Sprintf("127.0.0.1:%d", p.page)}, p.flags...)...)
	p.cmd.Stderr = log
	must.Do(t, p.cmd.Start())
	cmd := p.cmd
	t.Cleanup(func() {
		if cmd == p.cmd {
			p.stop(t)
		}
		if t.Failed() {
			t.Logf("log of the server:\n%s", log)
		}
	})
	waiting.Until(t, "the server serves", func() bool { return strings.Contains(log.String(), product.LogServing) })
}

func (p *process) stop(t *testing.T) {
	t.Helper()
	kill := time.AfterFunc(limit, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the server ended: %v", err)
	}
	p.cmd = nil
}
