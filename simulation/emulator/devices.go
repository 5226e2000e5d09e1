package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"player/simulation/emulator/acts"
	"player/simulation/emulator/arduino"
	"player/simulation/emulator/create"
	"player/simulation/emulator/gps"
	"player/simulation/emulator/kobuki"
	"player/simulation/emulator/ldlidar"
	"player/simulation/emulator/line"
	"player/simulation/emulator/p2os"
	"player/simulation/emulator/rplidar"
	"player/simulation/emulator/sick"
	"player/simulation/emulator/sickcola"
	"player/simulation/emulator/sony"
	"player/simulation/emulator/urg"
	"player/simulation/emulator/ydlidar"
)

// device is the common interface of all emulated hardware.
type device interface {
	Unplug()
	Plug() error
	Silence()
	Speak()
	Close()
}

// machine is a device as the program uses it.
type machine struct {
	device
	name  string
	flag  string            // of the server, for its port; empty: it needs a block of configuration
	block string            // of configuration
	where func() string     // its port
	state func() any        // the device's state
	verbs map[string]func() // other actions on it
}

// robot is the selected devices, in start order.
type robot []*machine

func (r robot) close() {
	for _, m := range r {
		m.Close()
	}
}

// named returns the device with a name, or, for an empty name, with an extra verb.
func (r robot) named(name, verb string) *machine {
	for _, m := range r {
		if m.name == name || name == "" && m.verbs[verb] != nil {
			return m
		}
	}
	return nil
}

// kinds are the devices that can be started.
var kinds = map[string]func(c *config, o line.Options) (*machine, error){
	"p2os": startP2OS, "sick": startSICK, "sony": startSony, "acts": startACTS,
	"create": startCreate, "kobuki": startKobuki, "arduino": startArduino, "rplidar": startLidar, "urg": startURG, "ldlidar": startLD, "ydlidar": startYD,
	"sickcola": startCola, "gps": startGPS,
}

// start starts the selected devices and returns the command line of a server for them.
func (r *robot) start(c *config, out io.Writer) (command string, err error) {
	flags, blocks, all := "player", "", true
	for name := range strings.SplitSeq(c.only, ",") {
		kind := kinds[name]
		if kind == nil {
			return "", fmt.Errorf("-only: no device %q, choose from %s", name, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
		}
		if r.named(name, "") != nil {
			return "", fmt.Errorf("-only names %s twice", name)
		}
		o := c.cable
		o.Link = filepath.Join(c.dir, name)
		o.Noise = line.Noise{Seed: o.Noise.Seed, Garbage: c.noise, Flip: c.noise, Swallow: c.noise, Truncate: c.noise}
		if c.trace {
			o.Trace = func(e line.Entry) { fmt.Fprintf(out, "%s\t%v\n", name, e) }
		}
		m, err := kind(c, o)
		if err != nil {
			return "", err
		}
		m.name = name
		*r = append(*r, m)
		flags += " " + m.flag
		blocks += fmt.Sprintf("driver ( %s )\n", m.block)
		all = all && m.flag != ""
	}
	if all {
		return flags, nil
	}
	file := filepath.Join(c.dir, "player.cfg")
	if _, err := os.Lstat(file); err == nil && !c.replace {
		return "", fmt.Errorf("%s exists: -f replaces it", file)
	}
	return "player " + file, os.WriteFile(file, []byte(blocks), 0o644)
}

// onLine is a device on a serial line, which the device embeds.
type onLine interface {
	device
	Port() string
	Path() string
	Baud() int
	HostBaud() int
}

// serial returns a device on a serial line, unless it could not be started.
func serial(d onLine, err error, flag, block string, state func() any, verbs map[string]func()) (*machine, error) {
	if err != nil {
		return nil, err
	}
	m := &machine{device: d, state: state, block: fmt.Sprintf("%s port %q", block, d.Port()), verbs: verbs}
	m.where = func() string {
		if path := d.Path(); path != "" {
			return fmt.Sprintf("%s, device at %d, server at %d bit/s", path, d.Baud(), d.HostBaud())
		}
		return "unplugged"
	}
	if flag != "" {
		m.flag = flag + " " + d.Port()
	}
	return m, nil
}

func startP2OS(c *config, o line.Options) (*machine, error) {
	if err := p2os.CheckModel(c.p2os.Subclass); err != nil {
		return nil, fmt.Errorf("-model: %w", err)
	}
	o.Baud = c.p2os.Line.Baud
	c.p2os.Line = o
	d, err := p2os.Start(c.p2os)
	return serial(d, err, "-pp", `name "p2os" provides ["position:0" "sonar:0" "gripper:0" "misc:0"]`,
		stateOf(d), map[string]func(){"button": d.PressMotorButton})
}

func startSICK(c *config, o line.Options) (*machine, error) {
	o.Baud = c.sick.Line.Baud
	c.sick.Line = o
	d, err := sick.Start(c.sick)
	return serial(d, err, "-lp", `name "sicklms200" provides ["laser:0"]`, stateOf(d), map[string]func(){"reboot": d.Reboot})
}

func startSony(c *config, o line.Options) (*machine, error) {
	c.sony.Line = o
	d, err := sony.Start(c.sony)
	return serial(d, err, "-zp", `name "evid30" provides ["ptz:0"]`, stateOf(d), nil)
}

// startACTS starts the tracker with a ball in view.
func startACTS(c *config, o line.Options) (*machine, error) {
	c.acts.Line = line.Options{TCP: fmt.Sprint("127.0.0.1:", c.actsPort), Trace: o.Trace}
	d, err := acts.Start(c.acts)
	if err != nil {
		return nil, err
	}
	m := &machine{
		device: d, flag: fmt.Sprint("-vp ", d.Port()), block: fmt.Sprintf(`name "acts" provides ["vision:0"] port %d`, d.Port()),
		where: func() string { return fmt.Sprint("port ", d.Port()) },
		state: stateOf(d),
	}
	return m, d.SetBlobs(0, acts.Blob{Area: 314, X: 80, Y: 60, Left: 70, Right: 90, Top: 50, Bottom: 70})
}

func startCreate(c *config, o line.Options) (*machine, error) {
	c.create.Line = o
	d, err := create.Start(c.create)
	return serial(d, err, "", `name "create" provides ["position:0" "misc:0"]`, stateOf(d), map[string]func(){
		"button": d.PressButton, "reboot": d.Reboot,
		"bump":    toggle(func(on bool) { d.Bump(on, on) }),
		"lift":    toggle(d.Lift),
		"cliff":   toggle(func(on bool) { d.Cliff(1, on) }),
		"charger": toggle(d.Charger),
	})
}

func startKobuki(_ *config, o line.Options) (*machine, error) {
	d, err := kobuki.Start(kobuki.Options{Line: o})
	return serial(d, err, "", `name "kobuki" provides ["position:0" "misc:0"]`, stateOf(d), map[string]func(){
		"reboot": d.Reboot,
		"bump":   toggle(func(on bool) { d.Bump(7 * line.Bit(on)) }),
		"lift":   toggle(d.Lift),
		"cliff":  toggle(func(on bool) { d.Cliff(2 * line.Bit(on)) }),
	})
}

// stateOf returns a function that returns the state of a device.
func stateOf[S any](d interface{ State() S }) func() any { return func() any { return d.State() } }

// toggle returns a function that calls fn with true and false alternately.
func toggle(fn func(on bool)) func() {
	on := false
	return func() {
		on = !on
		fn(on)
	}
}

func startArduino(_ *config, o line.Options) (*machine, error) {
	const boot = 500 * time.Millisecond
	d, err := arduino.Start(arduino.Options{Line: o, Boot: boot})
	return serial(d, err, "", `name "lines" provides ["position:0" "sonar:0" "misc:0"] boot 500 wheelbase 150 maxspeed 400 repeat 200
  read ["O {left*0.45} {right*0.45}" "S {sonar0*10} {sonar1*10} {sonar2*10}" "K {front}" "B {battery/1000}"]
  drive "V {left} {right}" motors ["E 1" "E 0"]`, stateOf(d), map[string]func(){"bump": toggle(d.Bump)})
}

func startLidar(c *config, o line.Options) (*machine, error) {
	c.rplidar.Line, c.rplidar.Room = o, c.room
	d, err := rplidar.Start(c.rplidar)
	state := func() any { return fmt.Sprintf("motor turns %v, scanning %v", d.MotorRuns(), d.Scanning()) }
	return serial(d, err, "", `name "rplidar" provides ["laser:0"]`, state, nil)
}

func startLD(c *config, o line.Options) (*machine, error) {
	d, err := ldlidar.Start(ldlidar.Options{Line: o, Room: c.room})
	return serial(d, err, "", `name "ldlidar" provides ["laser:0"]`, func() any { return "it sends" }, nil)
}

func startGPS(_ *config, o line.Options) (*machine, error) {
	r, err := gps.Start(gps.Options{Line: o})
	return serial(r, err, "", `name "nmea" provides ["gps:0"]`, func() any { return "it sends" }, nil)
}

func startYD(c *config, o line.Options) (*machine, error) {
	c.ydlidar.Line, c.ydlidar.Room = o, c.room
	d, err := ydlidar.Start(c.ydlidar)
	state := func() any { return fmt.Sprintf("scanning %v", d.Scanning()) }
	return serial(d, err, "", `name "ydlidar" provides ["laser:0"]`, state, nil)
}

func startCola(c *config, o line.Options) (*machine, error) {
	c.cola.Line, c.cola.Room = o, c.room
	d, err := sickcola.Start(c.cola)
	if err != nil {
		return nil, err
	}
	return &machine{
		device: d, block: fmt.Sprintf(`name "sickcola" provides ["laser:0"] port %q`, d.Address()),
		where: d.Address, state: func() any { return fmt.Sprintf("scanning %v", d.Scanning()) },
	}, nil
}

func startURG(c *config, o line.Options) (*machine, error) {
	c.urg.Line, c.urg.Room = o, c.room
	d, err := urg.Start(c.urg)
	if err != nil {
		return nil, err
	}
	state := func() any { return fmt.Sprintf("laser on %v", d.Laser()) }
	if !c.urg.TCP {
		return serial(d, err, "", `name "urg" provides ["laser:0"]`, state, nil)
	}
	return &machine{
		device: d, block: fmt.Sprintf(`name "urg" provides ["laser:0"] port %q`, d.Address()),
		where: d.Address, state: state,
	}, nil
}

// obey executes a typed command: a verb, and a device.
func (r robot) obey(words []string, out io.Writer) {
	if len(words) == 0 {
		return
	}
	verb, name := words[0], ""
	if len(words) == 2 {
		name = words[1]
	}
	m := r.named(name, verb)
	switch {
	case verb == "help" && len(words) == 1:
		fmt.Fprint(out, help)
	case verb == "status" && len(words) == 1:
		for _, m := range r {
			fmt.Fprintf(out, "%s  %s\n      %+v\n", m.name, m.where(), m.state())
		}
	case m == nil || len(words) > 2:
		fmt.Fprintf(out, "%s? Type help.\n", strings.Join(words, " "))
	case m.verbs[verb] != nil:
		m.verbs[verb]()
	case name == "":
		fmt.Fprintf(out, "%s? Type help.\n", verb)
	default:
		if err := do(verb, m); err != nil {
			fmt.Fprintln(out, err)
		}
	}
}

// do executes a command that every device supports.
func do(verb string, d device) error {
	switch verb {
	case "unplug":
		d.Unplug()
	case "plug":
		return d.Plug()
	case "silence":
		d.Silence()
	case "speak":
		d.Speak()
	default:
		return fmt.Errorf("%s? Type help", verb)
	}
	return nil
}
