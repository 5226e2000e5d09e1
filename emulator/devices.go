package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"player/emulator/acts"
	"player/emulator/arduino"
	"player/emulator/create"
	"player/emulator/line"
	"player/emulator/p2os"
	"player/emulator/rplidar"
	"player/emulator/sick"
	"player/emulator/sony"
	"player/emulator/urg"
)

// device is the common interface of all emulated hardware.
type device interface {
	Unplug()
	Plug() error
	Silence()
	Speak()
	Close()
}

// A tracker is ACTS as a device: it has no cable.
type tracker struct{ *acts.Server }

func (t tracker) Unplug()     { t.HangUp() }
func (t tracker) Plug() error { return nil } // it always listens

// A scanner is a URG on TCP: it has no serial line.
type scanner struct{ *urg.Sensor }

func (s scanner) Unplug()     { s.Disconnect() }
func (s scanner) Plug() error { return nil } // it always listens
func (s scanner) Silence()    {}
func (s scanner) Speak()      {}

// machine is a device as the program uses it.
type machine struct {
	device
	name  string
	flag  string            // of the server, for its port; empty: it needs a block of configuration
	block string            // of configuration
	where func() string     // its port
	state func() any        // what it does
	verbs map[string]func() // what else can be done to it
}

// robot is the selected devices, in start order.
type robot []*machine

func (r robot) close() {
	for _, m := range r {
		m.Close()
	}
}

// named returns the device with a name, or with an extra verb where that is empty.
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
	"create": startCreate, "arduino": startArduino, "rplidar": startLidar, "urg": startURG,
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
		o := line.Options{
			Link: filepath.Join(c.dir, name), Latency: c.latency, Paced: c.paced, Garble: c.garble,
			Noise: line.Noise{Seed: c.seed, Garbage: c.noise, Flip: c.noise, Swallow: c.noise, Truncate: c.noise},
		}
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

// serial returns a device on a serial line.
func serial(d device, l *line.Line, flag, block string, state func() any) *machine {
	m := &machine{device: d, where: func() string { return plugged(l) }, state: state}
	m.block = fmt.Sprintf("%s port %q", block, l.Port())
	if flag != "" {
		m.flag = flag + " " + l.Port()
	}
	return m
}

func plugged(l *line.Line) string {
	path := l.Path()
	if path == "" {
		return "unplugged"
	}
	return fmt.Sprintf("%s, device at %d, server at %d bit/s", path, l.Baud(), l.HostBaud())
}

func startP2OS(c *config, o line.Options) (*machine, error) {
	o.Baud = c.baud
	if err := p2os.CheckModel(c.model); err != nil {
		return nil, fmt.Errorf("-model: %w", err)
	}
	d, err := p2os.Start(p2os.Options{Line: o, Subclass: c.model, LeftOpen: c.leftOpen, MotorsOn: c.motors, Room: c.room})
	if err != nil {
		return nil, err
	}
	m := serial(d, d.Line, "-pp", `name "p2os" provides ["position:0" "sonar:0" "gripper:0" "misc:0"]`, func() any { return d.State() })
	m.verbs = map[string]func(){"button": d.PressMotorButton}
	return m, nil
}

func startSICK(c *config, o line.Options) (*machine, error) {
	o.Baud = c.sickBaud
	unit, ok := map[string]sick.Unit{"mm": sick.MM, "cm": sick.CM}[c.sickUnit]
	if !ok {
		return nil, fmt.Errorf("-sick-unit: no unit %q, choose mm or cm", c.sickUnit)
	}
	var faults sick.Faults
	err := each("-sick-faults", c.sickFaults, map[string]*bool{
		"password": &faults.WrongPassword, "lock-variant": &faults.LockVariant, "variant": &faults.RefuseVariant,
		"configuration": &faults.RefuseConfig, "all": &faults.NackAll,
	}, func(fault string) bool {
		code, err := strconv.ParseUint(fault, 16, 8)
		faults.Nack = append(faults.Nack, byte(code))
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	d, err := sick.Start(sick.Options{Line: o, Streaming: c.leftOpen, Unit: unit, Angle: c.sickAngle, Resolution: c.sickStep, Faults: faults})
	if err != nil {
		return nil, err
	}
	m := serial(d, d.Line, "-lp", `name "sicklms200" provides ["laser:0"]`, func() any { return d.State() })
	m.verbs = map[string]func(){"reboot": d.Reboot}
	return m, nil
}

// each sets the faults that text names, separated by commas. other takes what is no
// fault, and reports whether it can.
func each(flag, text string, faults map[string]*bool, other func(string) bool) error {
	for fault := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' }) {
		if set := faults[fault]; set != nil {
			*set = true
		} else if other == nil || !other(fault) {
			return fmt.Errorf("%s: there is no fault %q, choose from %s", flag, fault, strings.Join(slices.Sorted(maps.Keys(faults)), ", "))
		}
	}
	return nil
}

func startSony(c *config, o line.Options) (*machine, error) {
	d, err := sony.Start(sony.Options{Line: o, Model: c.sonyModel, Unnamed: c.sonyUnnamed, Off: c.sonyOff})
	if err != nil {
		return nil, err
	}
	return serial(d, d.Line, "-zp", `name "evid30" provides ["ptz:0"]`, func() any { return d.State() }), nil
}

// startACTS starts the tracker with a ball in view.
func startACTS(c *config, _ line.Options) (*machine, error) {
	versions := map[string]acts.Version{"1.0": acts.V10, "1.2": acts.V12}
	version, ok := versions[c.actsVersion]
	if !ok {
		return nil, fmt.Errorf("-acts-version: no version %q, choose 1.0 or 1.2", c.actsVersion)
	}
	d, err := acts.Start(acts.Options{Addr: fmt.Sprint("127.0.0.1:", c.actsPort), Version: version})
	if err != nil {
		return nil, err
	}
	m := &machine{
		device: tracker{d}, flag: fmt.Sprint("-vp ", d.Port()), block: fmt.Sprintf(`name "acts" provides ["vision:0"] port %d`, d.Port()),
		where: func() string { return fmt.Sprint("port ", d.Port()) },
		state: func() any { return d.State() },
	}
	return m, d.SetBlobs(0, acts.Blob{Area: 314, X: 80, Y: 60, Left: 70, Right: 90, Top: 50, Bottom: 70})
}

func startCreate(c *config, o line.Options) (*machine, error) {
	d, err := create.Start(create.Options{Line: o, Streaming: c.leftOpen, Asleep: c.createAsleep})
	if err != nil {
		return nil, err
	}
	m := serial(d, d.Line, "", `name "create" provides ["position:0" "misc:0"]`, func() any { return d.State() })
	m.verbs = map[string]func(){
		"button": d.PressButton, "reboot": d.Reboot,
		"bump":    toggle(func(on bool) { d.Bump(on, on) }),
		"lift":    toggle(d.Lift),
		"cliff":   toggle(func(on bool) { d.Cliff(1, on) }),
		"charger": toggle(d.Charger),
	}
	return m, nil
}

// toggle returns a function that calls fn with true and false in turn.
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
	if err != nil {
		return nil, err
	}
	m := serial(d, d.Line, "", `name "lines" provides ["position:0" "sonar:0" "misc:0"] boot 500 wheelbase 150 maxspeed 400 repeat 200
  read ["O {left*0.45} {right*0.45}" "S {sonar0*10} {sonar1*10} {sonar2*10}" "K {front}" "B {battery/1000}"]
  drive "V {left} {right}" motors ["E 1" "E 0"]`, func() any { return d.State() })
	m.verbs = map[string]func(){"bump": toggle(d.Bump)}
	return m, nil
}

func startLidar(c *config, o line.Options) (*machine, error) {
	model, ok := map[string]byte{"A1": 0x18, "A2": 0x28}[c.lidarModel]
	if !ok {
		return nil, fmt.Errorf("-rplidar-model: no model %q, choose A1 or A2", c.lidarModel)
	}
	options := rplidar.Options{Line: o, Model: model, Scanning: c.leftOpen}
	if err := each("-rplidar-faults", c.lidarFaults, map[string]*bool{"old": &options.NoExpress, "error": &options.Failed, "error-once": &options.FailOnce}, nil); err != nil {
		return nil, err
	}
	d, err := rplidar.Start(options)
	if err != nil {
		return nil, err
	}
	state := func() any { return fmt.Sprintf("motor turns %v, scanning %v", d.Turning(), d.Scanning()) }
	return serial(d, d.Line, "", `name "rplidar" provides ["laser:0"]`, state), nil
}

func startURG(c *config, o line.Options) (*machine, error) {
	model, ok := map[string]urg.Model{"URG-04LX": urg.URG04LX, "UTM-30LX": urg.UTM30LX}[c.urgModel]
	if !ok {
		return nil, fmt.Errorf("-urg-model: no model %q, choose URG-04LX or UTM-30LX", c.urgModel)
	}
	options := urg.Options{Line: o, TCP: c.urgTCP, Model: model, Scanning: c.leftOpen}
	if err := each("-urg-faults", c.urgFaults, map[string]*bool{"old": &options.Old, "laser": &options.Broken}, nil); err != nil {
		return nil, err
	}
	d, err := urg.Start(options)
	if err != nil {
		return nil, err
	}
	state := func() any { return fmt.Sprintf("laser on %v", d.Laser()) }
	if !c.urgTCP {
		return serial(d, d.Line, "", `name "urg" provides ["laser:0"]`, state), nil
	}
	return &machine{
		device: scanner{d}, block: fmt.Sprintf(`name "urg" provides ["laser:0"] port %q`, d.Address()),
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
