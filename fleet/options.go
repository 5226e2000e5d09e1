package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"player/fleet/bridge"
	"player/fleet/hub"
	"player/tools"
)

// usage is the page of -h.
const usage = `Fleet connects robots to NATS, so that any number of programs can watch them and
one at a time drives each of them (docs/FLEET.md).

usage: go run ./fleet [flags]

Try it without a robot, in two terminals. Any client of NATS shows what the robot
measures, for example the command nats (https://github.com/nats-io/natscli):
  go run . -stage room
  go run ./fleet
  nats sub 'player.fleet.robot.sonar.0.json'

Robots
  -robot NAME=HOST:PORT  a robot, any number of times
                    (default robot=localhost:6665)
  -robots FILE      a file with a robot on each line: NAME HOST:PORT
  -discover         robots that announce themselves on the local network by mDNS
  -fleet NAME       the second token of all subjects               (default fleet)

NATS: a server in this program, or one that is there
  -listen HOST:PORT where the server in this program listens       (default 127.0.0.1:4222)
  -dir FOLDER       where it keeps its streams    (default ~/.local/state/player/fleet-NAME)
  -nats URL         connect to these servers instead, separated by commas:
                    nats://HOST:PORT or tls://HOST:PORT
  -creds FILE       credentials for -nats
  -ca FILE          certificates that are trusted, for tls:// in -nats
  -cert FILE        certificate of this program, with -key
  -key FILE         its private key
  -replicas N       copies of the leases in a cluster: 1, 3 or 5   (default 1)

Other
  -debug            log more
  -h                print this page

Nothing is read from a robot that nobody listens to. Several of these programs with
the same robots share them, and one takes over what another leaves. A signal
(Ctrl-C, SIGTERM) stops the robots that are driven through this program.

Whoever can connect to NATS can drive the robots. On a shared network, use the
credentials of NATS.

Exit codes: 0 ended by a signal, 1 NATS failed, 2 the flags cannot be obeyed.
`

// options is the command line.
type options struct {
	fleet     string
	robots    []hub.Robot
	listen    string
	dir       string
	nats      string // empty: a server in this program
	creds     string
	ca        string
	cert, key string
	replicas  int
	discover  bool
	debug     bool
}

// defaultRobot is the robot without -robot, -robots and -discover: that of go run . -stage room.
const defaultRobot = "robot=localhost:6665"

// newFlags returns the flags. Parsing sets o, and the path of -robots.
func newFlags(o *options, file *string) *flag.FlagSet {
	fs := tools.NewFlags("fleet")
	fs.Func("robot", "", func(text string) error { return o.add(strings.Cut(text, "=")) })
	fs.StringVar(file, "robots", "", "")
	fs.StringVar(&o.fleet, "fleet", "fleet", "")
	fs.StringVar(&o.listen, "listen", "127.0.0.1:4222", "")
	fs.StringVar(&o.dir, "dir", "", "")
	fs.StringVar(&o.nats, "nats", "", "")
	fs.StringVar(&o.creds, "creds", "", "")
	fs.StringVar(&o.ca, "ca", "", "")
	fs.StringVar(&o.cert, "cert", "", "")
	fs.StringVar(&o.key, "key", "", "")
	fs.IntVar(&o.replicas, "replicas", 1, "")
	fs.BoolVar(&o.discover, "discover", false, "")
	fs.BoolVar(&o.debug, "debug", false, "")
	return fs
}

// parseOptions reads and checks the command line. It returns flag.ErrHelp for -h.
func parseOptions(args []string) (options, error) {
	var o options
	var file string
	if _, err := tools.Parse(newFlags(&o, &file), args, 0); err != nil {
		return o, err
	}
	if err := bridge.CheckName(o.fleet); err != nil {
		return o, fmt.Errorf("-fleet: %w", err)
	}
	if file != "" {
		if err := o.addFile(file); err != nil {
			return o, fmt.Errorf("-robots: %w", err)
		}
	}
	if o.nats == "" {
		for _, f := range []struct{ name, value string }{{"creds", o.creds}, {"ca", o.ca}, {"cert", o.cert}} {
			if f.value != "" {
				return o, fmt.Errorf("-%s is for -nats; a server in this program has no credentials", f.name)
			}
		}
	}
	if (o.cert == "") != (o.key == "") {
		return o, errors.New("-cert and -key belong together")
	}
	if o.dir == "" {
		o.dir = filepath.Join(stateFolder(), "player", "fleet-"+o.fleet)
	}
	if len(o.robots) == 0 && !o.discover {
		return o, o.add(strings.Cut(defaultRobot, "="))
	}
	return o, nil
}

// stateFolder is where programs keep what they remember (XDG Base Directory
// Specification).
func stateFolder() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return os.TempDir()
	}
	return filepath.Join(home, ".local", "state")
}

// add adds a robot.
func (o *options) add(name, address string, ok bool) error {
	if !ok {
		return errors.New("a robot is NAME=HOST:PORT")
	}
	if err := bridge.CheckName(name); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return fmt.Errorf("robot %s: %q is not HOST:PORT", name, address)
	}
	if slices.ContainsFunc(o.robots, func(r hub.Robot) bool { return r.Name == name }) {
		return fmt.Errorf("there are two robots %s", name)
	}
	o.robots = append(o.robots, hub.Robot{Name: name, Address: net.JoinHostPort(cmp.Or(host, "localhost"), port)})
	return nil
}

// addFile adds the robots of a file: NAME HOST:PORT on each line. What follows # is a
// comment.
func (o *options) addFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 {
			return fmt.Errorf("%s:%d: want NAME HOST:PORT", path, number)
		}
		if err := o.add(words[0], words[1], true); err != nil {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	return nil
}

// credentials returns the settings of the connection to NATS that the flags give.
func (o options) credentials() (settings []nats.Option) {
	if o.creds != "" {
		settings = append(settings, nats.UserCredentials(o.creds))
	}
	if o.ca != "" {
		settings = append(settings, nats.RootCAs(o.ca))
	}
	if o.cert != "" {
		settings = append(settings, nats.ClientCert(o.cert, o.key))
	}
	return settings
}
