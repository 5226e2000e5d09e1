package server

import (
	"context"
	"net"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"player/codec"
	"player/devices"
	"player/process/descriptors"
	"player/server/looptest"
)

// robot is a driver without hardware: a position and a sonar device with
// constant data. It records its commands and configurations.
type robot struct {
	link     *devices.Link
	setup    func(now time.Duration, l *devices.Link) // nil: ready at once
	shutdown func(now time.Duration)                  // nil: stopped at once
	commands chan codec.PositionCommand
	configs  chan string
	stops    chan struct{}
}

func newRobot() *robot {
	return &robot{
		commands: make(chan codec.PositionCommand, 20000),
		configs:  make(chan string, 20000),
		stops:    make(chan struct{}, 20000),
	}
}

// instance is a robot, or a driver with its devices.
func instance(d devices.Driver) devices.Instance {
	if _, ok := d.(*seven); ok {
		return devices.Instance{Driver: d, Name: "seven", Provides: []devices.Spec{devices.Laser(), devices.Sonar(), devices.Position(),
			devices.Gripper(), devices.Misc(), devices.Vision(), devices.PTZ()}}
	}
	return devices.Instance{Driver: d, Name: "robot", Provides: []devices.Spec{devices.Position(), devices.Sonar()}, SetupLimit: 5 * time.Second}
}

func (r *robot) Setup(now time.Duration, l *devices.Link) {
	r.link = l
	if r.setup != nil {
		r.setup(now, l)
		return
	}
	r.ready(now)
}

func (r *robot) ready(now time.Duration) {
	var s codec.SonarData
	r.link.Device(codec.Sonar).Publish(now, s.Append(nil))
	p := codec.PositionData{X: 1, Y: 2}
	r.link.Device(codec.Position).Publish(now, p.Append(nil))
	r.link.Ready(now)
}

func (r *robot) Shutdown(now time.Duration) {
	r.stops <- struct{}{}
	if r.shutdown != nil {
		r.shutdown(now)
		return
	}
	r.link.Stopped(now)
}

func (r *robot) Command(_ time.Duration, d *devices.Device) {
	var c codec.PositionCommand
	if err := c.Decode(d.Command()); err != nil {
		panic(err)
	}
	r.commands <- c
}

func (r *robot) Configure(_ time.Duration, d *devices.Device, payload []byte) error {
	r.configs <- string(d.Letter()) + string(payload)
	return nil
}

func (r *robot) Tick(now time.Duration) time.Duration {
	r.stops <- struct{}{}
	r.link.Stopped(now)
	return 0
}

// running is a running server.
type running struct {
	*looptest.Loop
	server *Server
}

func serve(t testing.TB, driver devices.Driver, change func(*Config)) *running {
	t.Helper()
	log := zap.NewNop()
	if tt, ok := t.(*testing.T); ok {
		log = zaptest.NewLogger(tt)
	}
	table := devices.NewTable(log)
	_, err := table.Attach(instance(driver))
	looptest.Must(t, err)
	s, address, ready := &running{}, looptest.FreeAddress(t), make(chan struct{})
	config := Config{
		Robots:      []Robot{{Address: address, Table: table}},
		MaxRate:     1000,
		Descriptors: descriptors.New(1, false),
		Log:         log,
		Ready:       func(r *Server) { s.server = r; close(ready) },
	}
	if change != nil {
		change(&config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.Loop = looptest.Run(t, address, func() error { return Run(ctx, config) }, ready, cancel)
	s.Post = s.server.Post
	return s
}

// block reads one server message.
func block(t testing.TB, c net.Conn) (letter byte, payload []byte) {
	t.Helper()
	header := looptest.Read(t, c, codec.BlockHeaderSize)
	return header[0], looptest.Read(t, c, int(header[1])<<8|int(header[2]))
}

func request(t testing.TB, c net.Conn, pairs, want string) {
	t.Helper()
	looptest.Send(t, c, codec.AppendRequest(nil, []byte(pairs)))
	for {
		if letter, payload := block(t, c); letter == codec.KindReply {
			if string(payload) != want {
				t.Fatalf("request %q answered %q, want %q", pairs, payload, want)
			}
			return
		}
	}
}

func config(device byte, payload ...byte) []byte {
	return codec.AppendMessage(nil, codec.KindConfig, device, payload)
}

// command is a position command of 8 bytes with the given speed.
func command(speed int16) []byte {
	return codec.AppendMessage(nil, codec.KindCommand, codec.Position, codec.PositionCommand{Speed: speed}.Append(nil))
}

// drive sends a command, and waits until the robot has it.
func (r *robot) drive(t *testing.T, c net.Conn, speed int16) {
	t.Helper()
	looptest.Send(t, c, command(speed))
	r.expect(t, speed)
}

// expect waits for the next command of the robot.
func (r *robot) expect(t *testing.T, speed int16) {
	t.Helper()
	if got := looptest.Receive(t, r.commands, "command"); got != (codec.PositionCommand{Speed: speed}) {
		t.Errorf("command %+v, want speed %d", got, speed)
	}
}

// open serves a robot to one client, which opens devices.
func open(t *testing.T, pairs string, change func(*Config)) (*robot, *running, net.Conn) {
	t.Helper()
	r := newRobot()
	s := serve(t, r, change)
	c := s.Dial()
	request(t, c, pairs, pairs)
	return r, s, c
}

// configs returns n different configurations of position.
func configs(n int) (all []byte) {
	for i := range n {
		all = codec.AppendMessage(all, codec.KindConfig, codec.Position, []byte{byte(i >> 8), byte(i)})
	}
	return all
}

// expectConfigs waits for the n configurations of configs.
func (r *robot) expectConfigs(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		if got, want := looptest.Receive(t, r.configs, "configuration"), string([]byte{'p', byte(i >> 8), byte(i)}); got != want {
			t.Fatalf("configuration %d is %q", i, got)
		}
	}
}

// clientOf returns the server's side of a connection. It is called on the loop.
func (s *running) clientOf(c net.Conn) *client {
	for one := range s.server.clients {
		if one.remote.String() == c.LocalAddr().String() {
			return one
		}
	}
	s.T.Error("the client is not connected")
	return nil
}

// expectFree waits until no descriptor of clients is in use.
func (s *running) expectFree() {
	s.T.Helper()
	all := s.server.config.Descriptors.Clients
	s.Await("descriptors are given back", func(time.Duration) bool {
		if all.Take(all.Most()) != nil {
			return false
		}
		all.Return(all.Most())
		return true
	})
}
