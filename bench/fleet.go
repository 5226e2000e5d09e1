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
	// fleetRobots is how many robots a fleet has, fleetMonitors how many clients look
	// at one robot's laser each.
	fleetRobots, fleetMonitors = 100, 10000
	// fleetName is the second token of the subjects.
	fleetName = "bench"
	natsPort  = 4222 // beyond a network, where nobody else listens

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

// fleet is a NATS server and a bridge that feeds it.
type fleet struct{ nats, bridge *process }

// startFleet starts a fleet for the robots of a server, at the clients' end of the network.
func (w *workshop) startFleet(ctx context.Context, c cell, robots *process, wire *rig.Wire) (*fleet, error) {
	if err := w.buildFleet(ctx); err != nil {
		return nil, err
	}
	port, host := natsPort, rig.ServerAddress
	if wire == nil {
		var err error
		if port, err = w.ports.free(1); err != nil {
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
	store, err := os.MkdirTemp(w.dir, "nats")
	if err != nil {
		return nil, err
	}
	f := &fleet{nats: &process{port: port}, bridge: &process{}}
	f.nats.prepare(ctx, filepath.Join(w.fleet(), "nats-server"), "-a", "127.0.0.1", "-p", strconv.Itoa(port), "-js", "-sd", store)
	if c.Plain != nil {
		f.nats.cmd.Env = append(os.Environ(), c.Plain.Env...)
	}
	if err := wire.AtClients(f.nats.cmd.Start); err != nil {
		return nil, fmt.Errorf("start NATS: %w", err)
	}
	if err := wire.AtClients(func() error { return f.nats.awaitListening(ctx) }); err != nil {
		_ = f.nats.stop()
		return nil, fmt.Errorf("NATS: %w: %s", err, last(f.nats.said.Bytes()))
	}
	bridge, args := filepath.Join(w.fleet(), "fleet"), []string{"-fleet", fleetName, "-robots", list, "-nats", "nats://" + loopbackAddress(port)}
	if c.Plain != nil {
		bridge, args = c.Plain.publisher(loopbackAddress(port), c.Robots)
	}
	f.bridge.prepare(ctx, bridge, args...)
	if err := wire.AtClients(f.bridge.cmd.Start); err != nil {
		_ = f.nats.stop()
		return nil, fmt.Errorf("start the bridge: %w", err)
	}
	return f, nil
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
	_ = f.bridge.stop()
	_ = f.nats.stop()
}

// fleetSubject is a subject of a bridge.
func fleetSubject(robot int, iface, last string) string {
	return fmt.Sprintf("player.%s.r%d.%s.0.%s", fleetName, robot, iface, last)
}

// subscribe makes the clients of a cell subscriptions.
func (f *fleet) subscribe(c cell, s *load.Spec) {
	g := &s.Groups[0]
	g.Address = loopbackAddress(f.nats.port)
	if c.Robots > 0 {
		s.FrameSize = codec.LaserSize
		if c.Plain != nil {
			s.FrameSize = c.Plain.Payload
		}
		g.NATS = &load.Subscriptions{Each: c.Monitors, Suffix: ".laser.0.data"}
		for i := range c.Robots {
			g.NATS.Subjects = append(g.NATS.Subjects, fleetSubject(i, "laser", "data"))
		}
		return
	}
	// All devices; a frame is complete with the sonar, which has the stamp.
	s.FrameSize = codec.SonarSize
	g.NATS = &load.Subscriptions{Each: c.Monitors, Suffix: ".sonar.0.data", Subjects: []string{fleetSubject(0, "*", "data")}}
	for _, iface := range []string{"laser", "sonar", "position", "misc", "gripper", "ptz", "vision"} {
		g.NATS.Rates = append(g.NATS.Rates, fleetSubject(0, iface, "rate"))
	}
}

// The figures of a fleet.

func ageP50(r run) float64 { return float64(r.Load.Groups[0].AgeP50) }

func bridgeOf(r run) *rig.Usage { return r.Bridge }
func natsOf(r run) *rig.Usage   { return r.NATS }

// dropped is how many of the frames that the monitors ask for did not come.
func (c *cellResult) dropped(r run) float64 {
	return max(0, c.missing(r)*float64(c.Groups[0].Clients))
}
