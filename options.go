package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"strconv"
)

// options are the command line (manual table 1, and what we add to it).
type options struct {
	port       int
	bind       string
	p2osPort   string
	laserPort  string
	ptzPort    string
	visionPort int
	visionFile string
	stage      string
	maxRate    int
	maxClients int
	debug      bool
	exp        bool
	version    bool
}

const usage = `Player serves a robot's sensors and actuators over TCP.

usage: player [flags]

Try it without a robot:
  player -stage worlds/room.world

Where clients connect
  -gp PORT          TCP port of the (first) robot                  (default 6665)
  -bind ADDRESS     address to listen on                           (default all interfaces)
  -max-rate HZ      highest frame rate served to a client          (default 1000)
  -max-clients N    clients served at a time, 0: as descriptors allow (default 0)

A real robot
  -pp DEVICE        serial port of the Pioneer (P2OS)              (default /dev/ttyS0)
  -lp DEVICE        serial port of the SICK LMS-200 laser          (default /dev/ttyS1)
  -zp DEVICE        serial port of the Sony EVI-D30 camera         (default /dev/ttyS2)
  -vp PORT          TCP port of the ACTS vision program            (default 5001)
  -vc FILE          configuration file of ACTS                     (default /usr/local/acts/actsconfig)

A simulated robot
  -stage FILE       simulate the world in FILE instead of using hardware

Other
  -debug            log more
  -exp              experimental features (there are none)
  -version          print the version and exit
  -h                print this page

Anybody who reaches the port can drive the robot. On a shared network, use
-bind 127.0.0.1 and a tunnel.
`

// parseOptions reads the command line. For -h it prints the page to help and
// returns flag.ErrHelp.
func parseOptions(args []string, help io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("player", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.IntVar(&o.port, "gp", 6665, "")
	fs.StringVar(&o.bind, "bind", "", "")
	fs.StringVar(&o.p2osPort, "pp", "/dev/ttyS0", "")
	fs.StringVar(&o.laserPort, "lp", "/dev/ttyS1", "")
	fs.StringVar(&o.ptzPort, "zp", "/dev/ttyS2", "")
	fs.IntVar(&o.visionPort, "vp", 5001, "")
	fs.StringVar(&o.visionFile, "vc", "/usr/local/acts/actsconfig", "")
	fs.StringVar(&o.stage, "stage", "", "")
	fs.IntVar(&o.maxRate, "max-rate", 1000, "")
	fs.IntVar(&o.maxClients, "max-clients", 0, "")
	fs.BoolVar(&o.debug, "debug", false, "")
	fs.BoolVar(&o.exp, "exp", false, "")
	fs.BoolVar(&o.version, "version", false, "")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(help, usage)
		}
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	return o, o.check()
}

func (o options) check() error {
	switch {
	case o.port < 1 || o.port > 65535:
		return fmt.Errorf("-gp %d: a TCP port is 1 to 65535", o.port)
	case o.visionPort < 1 || o.visionPort > 65535:
		return fmt.Errorf("-vp %d: a TCP port is 1 to 65535", o.visionPort)
	case o.maxRate < 1 || o.maxRate > 65535:
		return fmt.Errorf("-max-rate %d: a rate is 1 to 65535 Hz", o.maxRate)
	case o.maxClients < 0:
		return fmt.Errorf("-max-clients %d: must not be negative", o.maxClients)
	}
	if o.stage != "" {
		if _, err := os.Stat(o.stage); err != nil {
			return fmt.Errorf("-stage: %w; worlds that come with Player are in worlds/", err)
		}
	}
	return nil
}

func (o options) address(port int) string { return net.JoinHostPort(o.bind, strconv.Itoa(port)) }

// version is the module's version, or the commit that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "player (unknown build)"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") {
			v = s.Value
		}
	}
	return "player " + v + " (protocol 0.7.4a, " + info.GoVersion + ")"
}
