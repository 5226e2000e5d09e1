package main

import (
	"cmp"
	_ "embed" // the page of -h
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"player/fleet/bridge"
	"player/fleet/hub"
	"player/formats/textfile"
	"player/tools"
	"player/visitors"
)

// usage is the page of -h.
//
//go:embed help.txt
var usage string

// options is the command line.
type options struct {
	access    // without an URL: a server in this program
	fleet     string
	robots    []hub.Robot
	listen    string
	dir       string
	replicas  int
	recording hub.Recording
	http      string // empty: no page
	page      visitors.Flags
	discover  bool
	debug     bool
	version   bool
}

// access is how a program gets into NATS.
type access struct{ nats, creds, nkey, ca, cert, key, token, domain string }

// add adds the flags.
func (a *access) add(fs *flag.FlagSet) {
	fs.StringVar(&a.nats, "nats", "", "")
	fs.StringVar(&a.creds, "creds", "", "")
	fs.StringVar(&a.nkey, "nkey", "", "")
	fs.StringVar(&a.domain, "domain", "", "")
	fs.StringVar(&a.ca, "ca", "", "")
	fs.StringVar(&a.cert, "cert", "", "")
	fs.StringVar(&a.key, "key", "", "")
	fs.StringVar(&a.token, "token", "", "")
}

// check returns an error if the flags contradict each other.
func (a access) check() error {
	if a.nats == "" {
		for _, f := range []struct{ name, value string }{{"creds", a.creds}, {"nkey", a.nkey}, {"domain", a.domain}, {"ca", a.ca}, {"cert", a.cert}} {
			if f.value != "" {
				return fmt.Errorf("-%s is for -nats; a server in this program has no credentials", f.name)
			}
		}
	}
	if a.creds != "" && a.nkey != "" {
		return errors.New("-creds and -nkey are two ways to say who this is: give one")
	}
	if a.domain != "" {
		if err := bridge.CheckName(a.domain); err != nil {
			return fmt.Errorf("-domain: %w", err)
		}
	}
	if (a.cert == "") != (a.key == "") {
		return errors.New("-cert and -key belong together")
	}
	return nil
}

// credentials returns the settings of the connection to NATS that the flags give.
func (a access) credentials() (settings []nats.Option, err error) {
	if a.creds != "" {
		settings = append(settings, nats.UserCredentials(a.creds))
	}
	if a.nkey != "" {
		key, err := nats.NkeyOptionFromSeed(a.nkey)
		if err != nil {
			return nil, fmt.Errorf("-nkey %s: %w", a.nkey, err)
		}
		settings = append(settings, key)
	}
	if a.ca != "" {
		settings = append(settings, nats.RootCAs(a.ca))
	}
	if a.cert != "" {
		settings = append(settings, nats.ClientCert(a.cert, a.key))
	}
	token, path := "", a.token
	switch {
	case path != "":
		token, err = readToken(path)
	case a.creds == "" && a.nkey == "" && a.cert == "" && areLocal(a.nats):
		path = tokenFile()
		if token, err = readToken(path); errors.Is(err, fs.ErrNotExist) {
			return settings, nil // none of the servers is one of ours
		}
	}
	if err != nil {
		return nil, fmt.Errorf("-token: %w", err)
	}
	if token != "" {
		settings = append(settings, nats.Token(token))
	}
	return settings, nil
}

const (
	defaultFleet  = "fleet"
	defaultListen = "127.0.0.1:4222"
)

// defaultRobot is the robot without -robot, -robots and -discover: the robot of go run . -stage room.
const defaultRobot = "robot=localhost:6665"

// maxRecording bounds -record-size, in MiB: bytes fit an int64.
const maxRecording int64 = 1 << 40

// input has the values that are translated after all flags are known.
type input struct {
	robots string   // the path of -robots
	record []string // bridge.Recorded
	size   int64    // MiB
}

// newFlags returns the flags. Parsing sets o and in.
func newFlags(o *options, in *input) *flag.FlagSet {
	fs := tools.NewFlags("fleet")
	o.access.add(fs)
	fs.Func("robot", "", func(text string) error { return o.addRobot(strings.Cut(text, "=")) })
	fs.StringVar(&in.robots, "robots", "", "")
	fs.StringVar(&o.fleet, "fleet", defaultFleet, "")
	fs.StringVar(&o.listen, "listen", defaultListen, "")
	fs.StringVar(&o.dir, "dir", "", "")
	fs.IntVar(&o.replicas, "replicas", 1, "")
	fs.Func("record", "", func(text string) error { in.record = append(in.record, text); return nil })
	fs.Int64Var(&in.size, "record-size", 1024, "")
	fs.DurationVar(&o.recording.Age, "record-age", 24*time.Hour, "")
	fs.StringVar(&o.http, "http", "", "")
	o.page.Add(fs)
	fs.BoolVar(&o.discover, "discover", false, "")
	fs.BoolVar(&o.debug, "debug", false, "")
	fs.BoolVar(&o.version, "version", false, "")
	return fs
}

// parseOptions reads and checks the command line. It returns flag.ErrHelp for -h.
func parseOptions(args []string) (options, error) {
	var o options
	var in input
	if _, err := tools.Parse(newFlags(&o, &in), args, 0); err != nil {
		return o, err
	}
	if err := bridge.CheckName(o.fleet); err != nil {
		return o, fmt.Errorf("-fleet: %w", err)
	}
	if in.robots != "" {
		if err := o.addFile(in.robots); err != nil {
			return o, fmt.Errorf("-robots: %w", err)
		}
	}
	if err := o.check(); err != nil {
		return o, err
	}
	for _, f := range []struct{ name, address string }{{"listen", o.listen}, {"http", o.http}} {
		if _, _, err := net.SplitHostPort(f.address); err != nil && f.address != "" {
			return o, fmt.Errorf("-%s: %q is not HOST:PORT: 127.0.0.1:PORT is for this computer; :PORT is also for the network", f.name, f.address)
		}
	}
	if o.http == "" && o.page.Given() {
		return o, errors.New("-access, -proxy and -tls-... are for the page of -http; NATS has -cert, -key and rights of its own")
	}
	if o.nats == "" && o.http == o.listen && !strings.HasSuffix(o.http, ":0") {
		return o, fmt.Errorf("-http and -listen have one address, %s: choose another for one of them", o.http)
	}
	if !slices.Contains([]int{1, 3, 5}, o.replicas) {
		return o, fmt.Errorf("-replicas %d: want 1, 3 or 5", o.replicas)
	}
	if o.nats == "" && o.replicas > 1 {
		return o, fmt.Errorf("-replicas %d is for a cluster of -nats; there is one server in this program", o.replicas)
	}
	if in.size < 1 || in.size > maxRecording {
		return o, fmt.Errorf("-record-size %d: want 1 to %d MiB", in.size, maxRecording)
	}
	if o.recording.Age < time.Second {
		return o, fmt.Errorf("-record-age %v: want 1s or more", o.recording.Age)
	}
	o.recording.Bytes = in.size << 20
	subjects, err := bridge.Recorded(o.fleet, in.record)
	if err != nil {
		return o, fmt.Errorf("-record: %w", err)
	}
	o.recording.Subjects = subjects
	if o.dir == "" {
		o.dir = filepath.Join(stateFolder(), "player", "fleet-"+o.fleet)
	}
	if len(o.robots) == 0 && !o.discover {
		return o, o.addRobot(strings.Cut(defaultRobot, "="))
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

// addRobot adds a robot. about is HOST:PORT, and after spaces values for the fleet's
// page: page=URL and at=X,Y,HEADING.
func (o *options) addRobot(name, about string, ok bool) error {
	words := strings.Fields(about)
	if !ok || len(words) == 0 {
		return errors.New("a robot is NAME=HOST:PORT")
	}
	if err := bridge.CheckName(name); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(words[0])
	if err != nil || port == "" {
		return fmt.Errorf("robot %s: %q is not HOST:PORT", name, words[0])
	}
	if n, err := strconv.Atoi(port); err == nil && (n < 1 || n > math.MaxUint16) {
		return fmt.Errorf("robot %s: port %d: a TCP port is 1 to %d", name, n, math.MaxUint16)
	}
	if slices.ContainsFunc(o.robots, func(r hub.Robot) bool { return r.Name == name }) {
		return fmt.Errorf("there are two robots %s", name)
	}
	r := hub.Robot{Name: name, Address: net.JoinHostPort(cmp.Or(host, "localhost"), port)}
	for _, word := range words[1:] {
		if err := describe(&r, word); err != nil {
			return fmt.Errorf("robot %s: %w", name, err)
		}
	}
	o.robots = append(o.robots, r)
	return nil
}

// describe adds page=URL or at=X,Y,HEADING to a robot.
func describe(r *hub.Robot, word string) error {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "page":
		if err := bridge.CheckPage(value); err != nil {
			return fmt.Errorf("%q is not page=http://HOST:PORT: %w", word, err)
		}
		r.Page = value
	case "at":
		numbers := make([]float64, 3)
		parts := strings.Split(value, ",")
		if len(parts) != len(numbers) {
			return fmt.Errorf("%q is not at=X,Y,HEADING, in m and degrees", word)
		}
		for i, part := range parts {
			var err error
			if numbers[i], err = strconv.ParseFloat(part, 64); err != nil {
				return fmt.Errorf("%q is not a number of at=X,Y,HEADING", part)
			}
		}
		r.Origin = &bridge.Origin{X: numbers[0], Y: numbers[1], Heading: numbers[2]}
		if err := r.Origin.Check(); err != nil {
			return fmt.Errorf("%q is not at=X,Y,HEADING: %w", word, err)
		}
	default:
		return fmt.Errorf("%q is neither page=URL nor at=X,Y,HEADING", word)
	}
	return nil
}

// addFile adds the robots of a file: on each line NAME, and the text that addRobot takes. A comment
// follows #.
func (o *options) addFile(path string) error {
	text, err := textfile.Read(path)
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
		if len(words) == 1 {
			return fmt.Errorf("%s:%d: want NAME HOST:PORT", path, number)
		}
		if err := o.addRobot(words[0], strings.Join(words[1:], " "), true); err != nil {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	return nil
}
