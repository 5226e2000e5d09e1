package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"player/bench/load"
	"player/bench/rig"
	"player/codec"
)

const (
	// fleetRobots is how many robots a fleet has, fleetMonitors how many clients read
	// one robot's laser each.
	fleetRobots, fleetMonitors = 100, 10000
	// fleetName is the second token of the subjects.
	fleetName = "bench"
	natsPort  = 4222 // beyond a network, where no other program listens

	fleetLaser = 3 + codec.LaserSize // bytes of a frame with the laser alone
)

// fleets is many monitors of many robots: connected to the robots, and by a bridge and
// NATS with many or one of them on a connection; and the paper's worst cell by a bridge
// on the wired side.
func fleets() []cell {
	one := func(name string, monitors int) cell {
		c := served("fleet/"+name, loopback, group{Name: "monitors", Clients: fleetMonitors, Rate: costRate, Task: load.Stream, Devices: "lr"})
		c.Robots, c.Monitors, c.Size = fleetRobots, monitors, fleetLaser
		return c
	}
	radio := paper("fleet/"+wireless.Name, wireless, large)[8]
	radio.Claim, radio.Servers, radio.Drive, radio.Monitors = "", nil, true, 1
	return []cell{one("direct", 0), one("100x100", 100), one("10000x1", 1), radio}
}

// fleet is NATS and a bridge that feeds it.
type fleet struct {
	nats   []*process // one, or a cluster
	bridge *process
}

// A NATS server has a port for each of these.
const (
	forClients = iota
	forWebSockets
	forCluster
	portsOfNATS
)

// startFleet starts a fleet for the robots of a server, at the clients' end of the network.
func (w *workshop) startFleet(ctx context.Context, c cell, robots *process, wire *rig.Wire) (*fleet, error) {
	if err := w.buildFleet(ctx); err != nil {
		return nil, err
	}
	port, host := natsPort, rig.ServerAddress
	if wire == nil {
		var err error
		if port, err = w.ports.free(portsOfNATS * c.natsServers()); err != nil {
			return nil, err
		}
		host = "127.0.0.1"
	}
	list := filepath.Join(w.dir, "robots.txt")
	var text strings.Builder
	for i := range max(c.Robots, 1) {
		fmt.Fprintf(&text, "r%d %s\n", i, net.JoinHostPort(host, strconv.Itoa(robots.port+i)))
	}
	if err := os.WriteFile(list, []byte(text.String()), 0o644); err != nil {
		return nil, err
	}
	f := &fleet{}
	for i := range c.natsServers() {
		p, err := w.startNATS(ctx, c, wire, port, i)
		if err != nil {
			f.stop()
			return nil, fmt.Errorf("start NATS: %w", err)
		}
		f.nats = append(f.nats, p)
	}
	bridge, args := filepath.Join(w.fleet(), "fleet"), []string{"-fleet", fleetName, "-robots", list, "-nats", "nats://" + loopbackAddress(port)}
	if c.Plain != nil {
		bridge, args = c.Plain.publisher(loopbackAddress(port), c.Robots)
	}
	fed := &process{}
	fed.prepare(ctx, bridge, args...)
	if err := wire.AtClients(fed.cmd.Start); err != nil {
		f.stop()
		return nil, fmt.Errorf("start the bridge: %w", err)
	}
	f.bridge = fed
	return f, nil
}

// natsServers is how many servers of NATS a cell has.
func (c cell) natsServers() int {
	if c.Plain == nil {
		return 1
	}
	return max(c.Plain.Servers, 1)
}

// startNATS starts the server of NATS with this number. The first one has the ports from port on.
func (w *workshop) startNATS(ctx context.Context, c cell, wire *rig.Wire, port, number int) (*process, error) {
	store, err := os.MkdirTemp(w.dir, "nats")
	if err != nil {
		return nil, err
	}
	p := &process{port: port + number*portsOfNATS}
	config := fmt.Sprintf("server_name: nats%d\nlisten: %q\nwebsocket { listen: %q, no_tls: true }\n", number, loopbackAddress(p.port), loopbackAddress(p.port+forWebSockets))
	if c.Plain == nil {
		config += fmt.Sprintf("jetstream { store_dir: %q }\n", store) // for leases
	}
	if c.natsServers() > 1 {
		config += fmt.Sprintf("cluster { name: bench, listen: %q, routes: [ \"nats://%s\" ] }\n", loopbackAddress(p.port+forCluster), loopbackAddress(port+forCluster))
	}
	file := filepath.Join(store, "nats.conf")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		return nil, err
	}
	p.prepare(ctx, filepath.Join(w.fleet(), "nats-server"), "-c", file)
	if c.Plain != nil {
		p.cmd.Env = append(os.Environ(), c.Plain.Env...)
	}
	if err := wire.AtClients(p.cmd.Start); err != nil {
		return nil, err
	}
	if err := wire.AtClients(func() error { return p.awaitListening(ctx) }); err != nil {
		_ = p.stop()
		return nil, fmt.Errorf("%w: %s", err, last(p.said.Bytes()))
	}
	return p, nil
}

// fleet is the folder of the fleet's programs.
func (w *workshop) fleet() string { return filepath.Join(w.dir, "fleet") }

// buildFleet compiles the bridge and the NATS server of its go.mod, for the robot's
// module has neither, unless they are there.
func (w *workshop) buildFleet(ctx context.Context) error {
	for name, source := range map[string]string{"fleet": ".", "nats-server": "github.com/nats-io/nats-server/v2"} {
		path := filepath.Join(w.fleet(), name)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := compile(ctx, filepath.Join(w.root, "fleet"), path, source, "-trimpath"); err != nil {
			return err
		}
	}
	return nil
}

func (f *fleet) stop() {
	if f.bridge != nil {
		_ = f.bridge.stop()
	}
	for _, p := range f.nats {
		_ = p.stop()
	}
}

// pids are the bridge's, then NATS's.
func (f *fleet) pids() []int {
	all := []int{f.bridge.cmd.Process.Pid}
	for _, p := range f.nats {
		all = append(all, p.cmd.Process.Pid)
	}
	return all
}

// fleetSubject is a subject of a bridge.
func fleetSubject(robot int, iface, last string) string {
	return fmt.Sprintf("player.%s.r%d.%s.0.%s", fleetName, robot, iface, last)
}

// subscribe makes the clients of a cell subscriptions.
func (f *fleet) subscribe(c cell, s *load.Spec) {
	g := &s.Groups[0]
	g.NATS = &load.Subscriptions{Each: c.Monitors}
	way := forClients
	if g.NATS.WebSocket = c.Plain != nil && c.Plain.WebSocket; g.NATS.WebSocket {
		way = forWebSockets
	}
	g.Address = loopbackAddress(f.nats[0].port + way)
	for _, p := range f.nats[1:] {
		g.NATS.Others = append(g.NATS.Others, loopbackAddress(p.port+way))
	}
	if c.Robots > 0 {
		s.FrameSize = codec.LaserSize
		if c.Plain != nil {
			s.FrameSize = c.Plain.Payload
		}
		g.NATS.Suffix = ".laser.0.data"
		for i := range c.Robots {
			g.NATS.Subjects = append(g.NATS.Subjects, fleetSubject(i, "laser", "data"))
		}
		return
	}
	// All devices; a frame is complete with the sonar, which has the stamp.
	s.FrameSize = codec.SonarSize
	g.NATS.Suffix, g.NATS.Subjects = ".sonar.0.data", []string{fleetSubject(0, "*", "data")}
	for _, iface := range []string{"laser", "sonar", "position", "misc", "gripper", "ptz", "vision"} {
		g.NATS.Rates = append(g.NATS.Rates, fleetSubject(0, iface, "rate"))
	}
}
