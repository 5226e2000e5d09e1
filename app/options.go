package app

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"player/codec"
	"player/config"
	"player/config/examples"
	"player/devices/passthrough"
	"player/devices/stage"
	"player/formats/syntax"
	"player/process/logging"
	"player/simulation/worlds"
	"player/tools"
	"player/visitors"
)

// options is the command line: manual table 1 and our own flags.
type options struct {
	port          int
	bind          string
	http          string // address of the dashboard; empty: the default; "off": none
	tls           config.TLS
	foxglove      string // address for viewers of Foxglove; empty: none
	origin        string // of web pages that may be viewers; empty: the default; "off": none
	rosbridge     string // address for programs of ROS; empty: none
	rosOrigin     string // of web pages that may be programs of ROS; empty: none
	proxy         visitors.Proxy
	file          string // configuration file; empty: none
	builtin       []byte // configuration of a subcommand, instead of file; nil: none
	stage         string
	truth         string // file for the true poses of the simulated robots; empty: none
	replace       bool   // files that exist may be replaced
	run           bool   // the world also runs without clients
	reflex        bool
	driveTo       bool // -goto: each robot has a goto device
	deadman       int  // ms, for which a client's command to the wheels is good; 0: off
	overrides     []config.Override
	maxRate       int
	maxClients    int
	maxPerAddress int
	log           string // format of the log: empty, text or json
	debug         bool
	exp           bool
	version       bool
}

// driverFlag is a flag that sets an option of a driver.
type driverFlag struct{ flag, driver, option string }

// driverFlags returns the drivers' flags of manual table 1, and -stage.
func driverFlags() []driverFlag {
	return []driverFlag{
		{"pp", "p2os", "port"},
		{"lp", "sicklms200", "port"},
		{"zp", "evid30", "port"},
		{"vp", "acts", "port"},
		{"vc", "acts", "configfile"},
		{"stage", "stage", "world"},
		{"seed", "stage", "seed"},
	}
}

// minDeadman and maxDeadman bound -deadman, in ms: no network is so steady that a
// command comes every 10 ms, and a robot that drives for a minute without one is not under control.
const minDeadman, maxDeadman = 10, 60_000

// newFlagSet returns the flags. Parsing sets o, except for the driverFlags.
func newFlagSet(o *options) *flag.FlagSet {
	fs := tools.NewFlags("player")
	fs.IntVar(&o.port, "gp", codec.UsualPort, "")
	fs.StringVar(&o.bind, "bind", "", "")
	fs.StringVar(&o.http, "http", "", "")
	fs.StringVar(&o.tls.Listen, "tls", "", "")
	fs.StringVar(&o.tls.Cert, "tls-cert", "", "")
	fs.StringVar(&o.tls.Key, "tls-key", "", "")
	fs.StringVar(&o.tls.Clients, "tls-clients", "", "")
	fs.StringVar(&o.foxglove, "foxglove", "", "")
	fs.StringVar(&o.origin, "foxglove-origin", "", "")
	fs.StringVar(&o.rosbridge, "rosbridge", "", "")
	fs.StringVar(&o.rosOrigin, "rosbridge-origin", "", "")
	fs.Var(&o.proxy, "proxy", "")
	fs.StringVar(&o.stage, "stage", "", "")
	fs.Int("seed", stage.FileSeed, "")
	fs.StringVar(&o.truth, "truth", "", "")
	fs.BoolVar(&o.replace, "f", false, "")
	fs.BoolVar(&o.run, "run", false, "")
	fs.BoolVar(&o.reflex, "reflex", false, "")
	fs.BoolVar(&o.driveTo, "goto", false, "")
	fs.IntVar(&o.deadman, "deadman", 0, "")
	fs.String("pp", "", "")
	fs.String("lp", "", "")
	fs.String("zp", "", "")
	fs.Int("vp", 0, "")
	fs.String("vc", "", "")
	fs.IntVar(&o.maxRate, "max-rate", 1000, "")
	fs.IntVar(&o.maxClients, "max-clients", 0, "")
	fs.IntVar(&o.maxPerAddress, "max-per-address", 0, "")
	fs.StringVar(&o.log, "log", "", "")
	fs.BoolVar(&o.debug, "debug", false, "")
	fs.BoolVar(&o.exp, "exp", false, "")
	fs.BoolVar(&o.version, "version", false, "")
	return fs
}

// parseOptions reads and checks the command line. It returns flag.ErrHelp for -h.
func parseOptions(args []string) (o options, err error) {
	err = o.parse(newFlagSet(&o), args)
	return o, err
}

// parse reads and checks a command line with the flags of fs, and perhaps a file.
func (o *options) parse(fs *flag.FlagSet, args []string) error {
	files, err := tools.Parse(fs, args, 1)
	if err != nil {
		return err
	}
	if len(files) > 0 {
		o.file = files[0]
	}
	o.override(fs)
	if err := o.validate(); err != nil {
		return err
	}
	if o.origin != "" && o.origin != "off" {
		if o.origin, err = visitors.ParseOrigin(o.origin); err != nil {
			return fmt.Errorf("-foxglove-origin (off for none): %w", err)
		}
	}
	if o.rosOrigin != "" {
		if o.rosOrigin, err = visitors.ParseOrigin(o.rosOrigin); err != nil {
			return fmt.Errorf("-rosbridge-origin: %w", err)
		}
	}
	return nil
}

// override sets the options of drivers that the flags give.
func (o *options) override(fs *flag.FlagSet) {
	fs.Visit(func(f *flag.Flag) {
		for _, d := range driverFlags() {
			if d.flag == f.Name {
				value := f.Value.(flag.Getter).Get()
				o.overrides = append(o.overrides, config.Override{Flag: "-" + d.flag, Driver: d.driver, Option: d.option, Value: value})
			}
		}
	})
}

// configure builds the robots of the configuration, with the flags applied.
func (o options) configure(log *zap.Logger) (*config.Server, error) {
	file, err := o.parseConfig()
	if file == nil {
		return nil, err
	}
	var fronts []string
	if o.reflex {
		fronts = append(fronts, "reflex")
	}
	if o.driveTo { // behind reflex: it commands the wheels that clients command
		fronts = append(fronts, "goto")
	}
	conf, err := config.Build(file, config.Options{Kinds: catalogue(), Port: o.port, Overrides: o.overrides, Fronts: fronts, TLS: o.tls, Log: log})
	if err != nil {
		return nil, pointToMigrate(err, file)
	}
	for _, robot := range conf.Robots {
		for _, d := range robot.Drivers {
			if p, ok := d.Driver.(*passthrough.Driver); ok && o.serves(p.Address(), robot.Port) {
				return nil, file.Errorf(d.Pos, "passthrough: %s is this robot itself, which would wait for its own answer", p.Address())
			}
		}
	}
	return conf, o.checkAddresses(conf)
}

// serves reports whether a connection to a numeric address reaches our robot on
// port.
func (o options) serves(address string, port int) bool {
	to, err := netip.ParseAddrPort(address)
	if err != nil || int(to.Port()) != port {
		return false
	}
	ip := to.Addr().Unmap()
	if bind, err := netip.ParseAddr(o.bind); err == nil && !bind.IsUnspecified() {
		return ip == bind.Unmap()
	}
	if ip.IsLoopback() || ip.IsUnspecified() {
		return true
	}
	if o.bind == "localhost" {
		return false
	}
	ours, _ := net.InterfaceAddrs() // without them, the setup of the devices fails later
	return slices.ContainsFunc(ours, func(a net.Addr) bool {
		network, ok := a.(*net.IPNet)
		return ok && network.IP.Equal(ip.AsSlice())
	})
}

// parseConfig reads the configuration file. Without one it returns a block for
// the driver stage if -stage is given, and otherwise a Pioneer.
func (o options) parseConfig() (*syntax.File, error) {
	if o.file != "" {
		if err := checkName(o.file); err != nil { // it may be behind flags
			return nil, err
		}
		file, err := syntax.ParseFile(o.file, nil)
		if err != nil && isLog(o.file) {
			return nil, fmt.Errorf("%s is a log: player replay %[1]s serves it", o.file)
		}
		return file, err
	}
	name, text := "(built-in) config/examples/pioneer.cfg", examples.Pioneer
	switch {
	case o.builtin != nil:
		name, text = "(built-in)", o.builtin
	case o.stage != "":
		name, text = "(from -stage)", []byte(`driver ( name "stage" )`)
	}
	return syntax.Parse(name, func(string) ([]byte, error) { return text, nil })
}

// logMagic begins each log: the format is MCAP.
const logMagic = "\x89MCAP0\r\n"

// isLog reports whether a file that cannot be parsed is a log.
func isLog(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // a pipe has been read
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, len(logMagic))
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == logMagic
}

// hasHelpers reports whether goroutines compute scans or copy pictures while the loop runs: the
// server has a simulation or a camera. With slack a thread that searches for their work
// would occupy a processor, and scans would begin only when the loop has prepared all of them.
func (o options) hasHelpers() bool {
	if info, err := os.Stat(o.file); o.file != "" && (err != nil || !info.Mode().IsRegular()) {
		return false // a pipe can be read once, by the server
	}
	file, err := o.parseConfig()
	if err != nil {
		return false // the server does not start
	}
	isStage := func(driver *syntax.Section) bool { return driver.String("name", "") == "stage" }
	return slices.ContainsFunc(file.Global.Sections("driver"), isStage) || len(file.Global.Sections("camera")) > 0
}

func (o options) validate() error {
	switch {
	case o.port < 1 || o.port > 65535:
		return fmt.Errorf("-gp %d: a TCP port is 1 to 65535", o.port)
	case o.maxRate < 1 || o.maxRate > 65535:
		return fmt.Errorf("-max-rate %d: a rate is 1 to 65535 Hz", o.maxRate)
	case o.deadman != 0 && (o.deadman < minDeadman || o.deadman > maxDeadman):
		return fmt.Errorf("-deadman %d: a time is %d to %d ms", o.deadman, minDeadman, maxDeadman)
	case !logging.Format(o.log).Known():
		return fmt.Errorf("-log %s: a format is %s or %s", o.log, logging.Text, logging.JSON)
	case o.maxClients < 0:
		return fmt.Errorf("-max-clients %d: must not be negative", o.maxClients)
	case o.maxPerAddress < 0:
		return fmt.Errorf("-max-per-address %d: must not be negative", o.maxPerAddress)
	}
	if strings.HasSuffix(o.file, ".world") {
		return fmt.Errorf("%s is a world, not a configuration: use -stage %[1]s", o.file)
	}
	if _, err := os.Stat(o.stage); o.stage != "" && o.stage != listWorlds && err != nil && !worlds.Exists(o.stage) {
		hint := "-stage list shows the worlds that need no file"
		if near := syntax.Nearest(strings.TrimSuffix(filepath.Base(o.stage), worlds.Extension), worlds.Names()); near != "" {
			hint = fmt.Sprintf("did you mean -stage %s? %s", near, hint)
		}
		return fmt.Errorf("-stage: %w; %s", err, hint)
	}
	return nil
}

// listWorlds is the argument of -stage that lists the worlds in the binary. A file
// of that name is ./list.
const listWorlds = "list"

// writeWorlds lists the worlds in the binary.
func writeWorlds(w io.Writer) error {
	var list strings.Builder
	for _, name := range worlds.Names() {
		fmt.Fprintf(&list, "%-22s %s\n", name, worlds.Summary(name))
	}
	_, err := io.WriteString(w, list.String())
	return err
}

func (o options) address(port int) string { return net.JoinHostPort(o.bind, strconv.Itoa(port)) }

// isOpen reports whether other computers can connect, without a certificate.
func (o options) isOpen(t config.TLS) bool {
	host, _, _ := net.SplitHostPort(t.Listen) // config has checked it
	return !isLocal(o.bind) || t.Listen != "" && t.Clients == "" && !isLocal(host)
}

// isLocal reports whether only this computer can connect to a host.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
