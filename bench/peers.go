package main

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"player/bench/load"
	"player/bench/rig"
)

// The cells of peers compare the server with the programs that one would take in its place: both baselines,
// and a bridge of the usual kind, JSON in WebSockets (bench/bridge). They take turns in each cell.

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
	// peersWindow is the length of a run on loopback: the costs of a frame need no more, and the
	// cells of peers together take less than four minutes.
	peersWindow = 5 * time.Second
)

// peers are the cells: the same clients of all programs, and the same messages of both servers of rosbridge,
// which get data 10 times a second.
func peers() []cell {
	one := func(name string, l network, clients, rate int) cell {
		c := served(name, l, alike(clients, rate, load.Stream))
		c.Servers, c.Topic = append(everyone(), bridge), robotTopic
		if c.Window = peersWindow; l != loopback {
			c.Window, c.Device = 0, ageRate // the default, in which queues grow
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

// bridgeArguments are the interpreter's arguments for the bridge in a cell.
func (w *workshop) bridgeArguments(c cell, port int) ([]string, error) {
	if err := exec.Command(debianPython, "-c", "import tornado.websocket").Run(); err != nil {
		return nil, fmt.Errorf("it needs Tornado: apt-get install python3-tornado (%w)", err)
	}
	return []string{"-B", filepath.Join(w.root, "bench", "bridge", "bridge.py"),
		"-port", strconv.Itoa(port), "-hz", strconv.Itoa(c.Groups[0].Rate)}, nil
}

var frameBytes = ofRun("bytes/frame", count, func(r run) float64 {
	bytes := total(r, func(g load.GroupResult) int { return g.Bytes })
	if bytes == 0 { // of an older run
		return math.NaN()
	}
	return bytes / max(framesOf(r), 1)
})

// serverHost is the server's own address on the network of the cell.
func (c cell) serverHost() string {
	if c.Network.Rate > 0 {
		return rig.ServerAddress
	}
	return "127.0.0.1"
}
