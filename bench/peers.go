package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"player/bench/load"
	"player/bench/rig"
)

// The cells of peers compare the server with the alternatives: both baselines, and a bridge of the
// usual kind, JSON in WebSockets (bench/bridge). They take turns in each cell.

const (
	// bridge is the bridge, a program in Python.
	bridge server = "bridge"
	// rosbridge is Player that serves its clients by -rosbridge, which is the bridge's protocol.
	rosbridge server = "rosbridge"
)

const (
	peersPrefix = "peers/"
	// scanPrefix begins the names of the cells in which both servers of rosbridge publish the same.
	scanPrefix = peersPrefix + "scan/"
	// robotTopic has everything that a frame has, scanTopic the laser.
	robotTopic, scanTopic = "/robot", "/scan"
	// costWindow is the length of a run on loopback: the cost of a frame needs no more.
	costWindow = 3 * time.Second
	// queueWindow is the length of a run on a full network: longer, the servers that queue have older
	// data, and the page names this time.
	queueWindow = 8 * time.Second
)

// peers are the cells: the same clients of all programs, and the same messages of both servers of rosbridge,
// which get data 10 times a second.
func peers() []cell {
	one := func(name string, l network, clients, rate int) cell {
		c := served(name, l, alike(clients, rate, load.Stream))
		c.Servers, c.Topic = append(everyone(), bridge), robotTopic
		if c.Window = costWindow; l != loopback {
			c.Window, c.Device = queueWindow, ageRate
		}
		return c
	}
	scan := func(name string, l network) cell {
		c := one(scanPrefix+name, l, 50, costRate)
		c.Servers, c.Topic = []server{rosbridge, bridge}, scanTopic
		return c
	}
	return []cell{
		one(peersPrefix+"50x50Hz", loopback, 50, 50),
		one(peersPrefix+"50x10Hz", loopback, 50, costRate),
		one(peersPrefix+"1000x10Hz", loopback, 1000, costRate),
		one(peersFull, wireless, 50, costRate),
		scan("50x10Hz", loopback),
		scan("802.11/50x10Hz", wireless),
	}
}

// peersFull is the full network.
const peersFull = peersPrefix + "802.11/50x10Hz"

// topic is what the clients of a server subscribe to in a cell; empty: they speak Player's protocol.
func (c cell) topic(s server) string {
	if s == bridge || s == rosbridge {
		return c.Topic
	}
	return ""
}

// debianPython is the interpreter for which Debian's packages install modules.
const debianPython = "/usr/bin/python3"

// noTornado is why the bridge cannot run, nil if it can.
func noTornado() error {
	if err := exec.Command(debianPython, "-c", "import tornado.websocket").Run(); err != nil {
		return fmt.Errorf("it needs Tornado: apt-get install python3-tornado (%w)", err)
	}
	return nil
}

// bridgeArguments are the interpreter's arguments for the bridge in a cell.
func (w *workshop) bridgeArguments(c cell, port int) ([]string, error) {
	if err := noTornado(); err != nil {
		return nil, err
	}
	return []string{"-B", filepath.Join(w.root, "bench", "bridge", "bridge.py"),
		"-port", strconv.Itoa(port), "-hz", strconv.Itoa(c.Groups[0].Rate)}, nil
}

// serverHost is the server's own address on the network of the cell.
func (c cell) serverHost() string {
	if c.Network.Rate > 0 {
		return rig.ServerAddress
	}
	return "127.0.0.1"
}

// peers is the part of the page that compares.
func (p *page) peers() {
	if p.rows(peersPrefix) == nil {
		return
	}
	shown := func(f figure) figure {
		return f.when(func(w row) bool { return len(w.of(w.Server)) > 0 }, "not measured")
	}
	const (
		quick, usual, many = peersPrefix + "50x50Hz", peersPrefix + "50x10Hz", peersPrefix + "1000x10Hz"
		same, sameFull     = scanPrefix + "50x10Hz", scanPrefix + "802.11/50x10Hz"
	)
	cost := shown(cpuOfFrame.written(micros))
	p.write(`
## Player and the alternatives

The same data for the same clients, from Player, from the two other servers, and from a bridge of the usual kind: JSON
over WebSockets. The data is 16 sonars, 361 readings of a laser, position, gripper, battery, bumpers, camera head and
colours. It is a frame of 807 bytes, or one message of JSON. The clients ask for 2500 frames a second in the first rows,
and for 10,000 in the rows of 1000 clients.`)
	p.sideBySide(append(everyone(), bridge),
		comparison{"frames per second, 50 clients at 50 Hz", quick, shown(frameCount)},
		comparison{"CPU time for a frame, 50 clients at 50 Hz", quick, cost},
		comparison{"CPU time for a frame, 50 clients at 10 Hz", usual, cost},
		comparison{"bytes of a frame", usual, shown(bytesOfFrame)},
		comparison{"memory, 50 clients at 10 Hz", usual, shown(rss)},
		comparison{"frames per second, 1000 clients at 10 Hz", many, shown(frameCount)},
		comparison{"CPU time for a frame, 1000 clients at 10 Hz", many, cost},
		comparison{"memory, 1000 clients at 10 Hz", many, shown(rss)},
		comparison{"mean age on a full network of 1.9 Mbps, 50 clients at 10 Hz", peersFull, shown(age)},
		comparison{"p99 of the age there", peersFull, shown(ageP99)},
	)
	p.write(`
The bridge ([bench/bridge](../bench/bridge/bridge.py)) was written for this comparison. It speaks rosbridge's protocol
with Tornado, the library of rosbridge_server. As rosbridge_server does, it makes JSON of each message for each client,
and lets messages wait without a limit. It is not rosbridge_server, which neither Debian nor PyPI has and which needs
ROS. It gets no messages of ROS and converts none, so it does less than rosbridge_server. A browser reads its messages
without a library, which no figure here shows. A queue grows as long as clients ask for more than the network carries:
its ages were measured from 2 to 10 s after the first frame.

Player speaks the protocol of rosbridge as well ([ROS](ROS.md#programs-in-a-browser-or-in-python-rosbridge)), at 10 Hz,
to at most 64 programs of one computer. Both send the same topic, a LaserScan of 361 readings, to 50 programs at 10 Hz:`)
	p.sideBySide([]server{rosbridge, bridge},
		comparison{"CPU time for a message", same, cost},
		comparison{"bytes of a message", same, shown(bytesOfFrame)},
		comparison{"memory", same, shown(rss)},
		comparison{"messages per second on a full network of 1.9 Mbps", sameFull, shown(frameCount)},
		comparison{"mean age there", sameFull, shown(age)},
		comparison{"p99 of the age there", sameFull, shown(ageP99)},
	)
}
