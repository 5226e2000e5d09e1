// Emulator emulates the hardware of a Pioneer robot for a server without
// it: a P2OS microcontroller of any model, a SICK LMS 200 laser and a Sony EVI-D30 camera
// on pseudo-terminals, and the ACTS colour tracker on TCP.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"player/emulator/acts"
	"player/emulator/line"
	"player/emulator/p2os"
	"player/emulator/sick"
	"player/emulator/sony"
)

const usage = `Usage: emulator [flags]

Emulates the hardware of a Pioneer robot until interrupted. It prints the command line of a server for it. The
names of the serial ports are symlinks to pseudo-terminals; they stay the same when a device is unplugged and plugged
in again.

Flags:
`

const help = `Commands, one per line; DEVICE is p2os, sick, sony or acts:
  status           print the state of the devices and what they received
  unplug DEVICE    disconnect the adapter: the server's port hangs up (acts: connections are closed)
  plug DEVICE      reconnect it under the same name
  silence DEVICE   stop sending without hanging up
  speak DEVICE     send again
  button           press the motor button of the robot
  reboot           switch the laser off and on
  quit             end the program, as an interrupt does
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "emulator:", err)
		os.Exit(1)
	}
}

// config holds the flags.
type config struct {
	dir         string
	only        string
	model       string
	baud        int
	sickBaud    int
	sickUnit    string
	sickAngle   int
	sickStep    int
	sickFaults  string
	sonyModel   string
	sonyUnnamed bool
	sonyOff     bool
	leftOpen    bool
	motors      bool
	room        float64
	noise       float64
	seed        uint64
	latency     time.Duration
	paced       bool
	garble      bool
	actsPort    int
	actsVersion string
	trace       bool
}

func parse(args []string, out io.Writer) (*config, error) {
	c := &config{}
	f := flag.NewFlagSet("emulator", flag.ContinueOnError)
	f.SetOutput(out)
	f.Usage = func() {
		fmt.Fprint(out, usage)
		f.PrintDefaults()
		fmt.Fprint(out, "\n", help)
	}
	f.StringVar(&c.dir, "dir", "", "directory for the ports' symlinks (default: a new one, removed at the end)")
	f.StringVar(&c.only, "only", "p2os,sick,sony,acts", "devices to start, separated by commas")
	f.StringVar(&c.model, "model", "p2dx", "subclass of the robot: "+strings.Join(p2os.Models(), ", "))
	f.IntVar(&c.baud, "baud", 9600, "speed of the robot, bit/s")
	f.IntVar(&c.sickBaud, "sick-baud", 9600, "initial speed of the laser, bit/s")
	f.StringVar(&c.sickUnit, "sick-unit", "mm", "unit of the laser: mm or cm")
	f.IntVar(&c.sickAngle, "sick-angle", 180, "degrees that the laser scans: 180 or 100")
	f.IntVar(&c.sickStep, "sick-step", 50, "hundredths of a degree between its values: 25, 50 or 100")
	f.StringVar(&c.sickFaults, "sick-faults", "", "what the laser refuses, separated by commas: password, lock-variant (it needs configuration\nmode), variant, configuration, all, or the hexadecimal code of a command, such as 31 or 74")
	f.StringVar(&c.sonyModel, "sony-model", "EVI-D30", "model of the camera: EVI-D30, EVI-D70, EVI-D80 or EVI-D100")
	f.BoolVar(&c.sonyUnnamed, "sony-unnamed", false, "the camera does not tell its model")
	f.BoolVar(&c.sonyOff, "sony-standby", false, "the camera is on standby")
	f.BoolVar(&c.leftOpen, "left-open", false, "robot and laser are streaming, as after a server was killed")
	f.BoolVar(&c.motors, "motors", false, "press the motor button whenever the server opens the robot")
	f.Float64Var(&c.room, "room", 5000, "side of the square room around the sonars, mm; 0: fixed readings")
	f.Float64Var(&c.noise, "noise", 0, "probability, 0 to 1, of each fault in a packet of a serial device")
	f.Uint64Var(&c.seed, "noise-seed", 1, "another seed corrupts other packets")
	f.DurationVar(&c.latency, "latency", 0, "delay of the serial devices' answers")
	f.BoolVar(&c.paced, "paced", false, "serial bytes arrive at the speed of the line, not all at once")
	f.BoolVar(&c.garble, "garble", false, "a server at the wrong speed receives noise instead of nothing")
	f.IntVar(&c.actsPort, "acts-port", 0, "TCP port of ACTS; 0: any free one")
	f.StringVar(&c.actsVersion, "acts-version", "1.0", "protocol of ACTS: 1.0 or 1.2")
	f.BoolVar(&c.trace, "trace", false, "print every packet")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unknown argument %q: flags only, see -h", f.Arg(0))
	}
	return c, nil
}

// A device is the common interface of all four.
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

// A robot is the selected devices; the others are nil.
type robot struct {
	p2os *p2os.Robot
	sick *sick.Laser
	sony *sony.Camera
	acts *acts.Server

	names   []string // in start order
	devices map[string]device
}

// run is the whole program, until the end of ctx or a quit command.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	out = &lockedWriter{w: out}
	c, err := parse(args, out)
	if err != nil {
		return err
	}
	if c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "pioneer-"); err != nil {
			return err
		}
		defer os.Remove(c.dir)
	} else if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	r := &robot{devices: map[string]device{}}
	defer r.close()
	command, err := r.start(c, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The robot is ready. Run the server with:\n\n  %s\n\nType help for a list of commands.\n", command)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // stops reading the keyboard
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(in); scan.Scan(); {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case text, ok := <-lines:
			if !ok {
				lines = nil // no more commands: run until interrupted
				continue
			}
			words := strings.Fields(text)
			if slices.Equal(words, []string{"quit"}) {
				return nil
			}
			r.obey(words, out)
		}
	}
}

// start starts the selected devices and returns the command line of a server
// for them.
func (r *robot) start(c *config, out io.Writer) (command string, err error) {
	command = "player"
	for name := range strings.SplitSeq(c.only, ",") {
		opts := line.Options{
			Link: filepath.Join(c.dir, name), Latency: c.latency, Paced: c.paced, Garble: c.garble,
			Noise: line.Noise{Seed: c.seed, Garbage: c.noise, Flip: c.noise, Swallow: c.noise, Truncate: c.noise},
		}
		if c.trace {
			opts.Trace = &prefixWriter{name + "\t", out}
		}
		switch {
		case r.devices[name] != nil:
			return "", fmt.Errorf("-only names %s twice", name)
		case name == "p2os":
			opts.Baud = c.baud
			if err := p2os.CheckModel(c.model); err != nil {
				return "", fmt.Errorf("-model: %w", err)
			}
			r.p2os, err = p2os.Start(p2os.Options{Line: opts, Subclass: c.model, LeftOpen: c.leftOpen, MotorsOn: c.motors, Room: c.room})
			command += " -pp " + opts.Link
			if err == nil {
				r.devices[name] = r.p2os
			}
		case name == "sick":
			opts.Baud = c.sickBaud
			r.sick, err = startLaser(c, opts)
			command += " -lp " + opts.Link
			if err == nil {
				r.devices[name] = r.sick
			}
		case name == "sony":
			r.sony, err = sony.Start(sony.Options{Line: opts, Model: c.sonyModel, Unnamed: c.sonyUnnamed, Off: c.sonyOff})
			command += " -zp " + opts.Link
			if err == nil {
				r.devices[name] = r.sony
			}
		case name == "acts":
			if r.acts, err = startACTS(c); err == nil {
				r.devices[name] = tracker{r.acts}
				command += fmt.Sprint(" -vp ", r.acts.Port())
			}
		default:
			err = fmt.Errorf("-only: no device %q, choose from p2os, sick, sony, acts", name)
		}
		if err != nil {
			return "", err
		}
		r.names = append(r.names, name)
	}
	return command, nil
}

// startLaser starts the laser with the settings and faults of the flags.
func startLaser(c *config, opts line.Options) (*sick.Laser, error) {
	unit, ok := map[string]sick.Unit{"mm": sick.MM, "cm": sick.CM}[c.sickUnit]
	if !ok {
		return nil, fmt.Errorf("-sick-unit: no unit %q, choose mm or cm", c.sickUnit)
	}
	var faults sick.Faults
	for fault := range strings.FieldsFuncSeq(c.sickFaults, func(r rune) bool { return r == ',' }) {
		switch fault {
		case "password":
			faults.WrongPassword = true
		case "lock-variant":
			faults.LockVariant = true
		case "variant":
			faults.RefuseVariant = true
		case "configuration":
			faults.RefuseConfig = true
		case "all":
			faults.NackAll = true
		default:
			code, err := strconv.ParseUint(fault, 16, 8)
			if err != nil {
				return nil, fmt.Errorf("-sick-faults: %q is neither a fault nor a code", fault)
			}
			faults.Nack = append(faults.Nack, byte(code))
		}
	}
	return sick.Start(sick.Options{Line: opts, Streaming: c.leftOpen, Unit: unit, Angle: c.sickAngle, Resolution: c.sickStep, Faults: faults})
}

// startACTS starts the tracker with a ball in view.
func startACTS(c *config) (*acts.Server, error) {
	versions := map[string]acts.Version{"1.0": acts.V10, "1.2": acts.V12}
	version, ok := versions[c.actsVersion]
	if !ok {
		return nil, fmt.Errorf("-acts-version: no version %q, choose 1.0 or 1.2", c.actsVersion)
	}
	s, err := acts.Start(acts.Options{Addr: fmt.Sprint("127.0.0.1:", c.actsPort), Version: version})
	if err != nil {
		return nil, err
	}
	return s, s.SetBlobs(0, acts.Blob{Area: 314, X: 80, Y: 60, Left: 70, Right: 90, Top: 50, Bottom: 70})
}

func (r *robot) close() {
	for _, d := range r.devices {
		d.Close()
	}
}

// obey executes a typed command.
func (r *robot) obey(words []string, out io.Writer) {
	switch {
	case len(words) == 0:
	case len(words) == 1 && words[0] == "help":
		fmt.Fprint(out, help)
	case len(words) == 1 && words[0] == "status":
		r.status(out)
	case len(words) == 1 && words[0] == "button" && r.p2os != nil:
		r.p2os.PressMotorButton()
	case len(words) == 1 && words[0] == "reboot" && r.sick != nil:
		r.sick.Reboot()
	case len(words) == 2 && r.devices[words[1]] != nil:
		if err := do(words[0], r.devices[words[1]]); err != nil {
			fmt.Fprintln(out, err)
		}
	default:
		fmt.Fprintf(out, "%s? Type help.\n", strings.Join(words, " "))
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

func (r *robot) status(out io.Writer) {
	for _, name := range r.names {
		switch name {
		case "p2os":
			fmt.Fprintf(out, "p2os  %s\n      %+v\n", plugged(r.p2os.Line), r.p2os.State())
		case "sick":
			fmt.Fprintf(out, "sick  %s\n      %+v\n", plugged(r.sick.Line), r.sick.State())
		case "sony":
			fmt.Fprintf(out, "sony  %s\n      %+v\n", plugged(r.sony.Line), r.sony.State())
		case "acts":
			fmt.Fprintf(out, "acts  port %d\n      %+v\n", r.acts.Port(), r.acts.State())
		}
	}
}

func plugged(l *line.Line) string {
	path := l.Path()
	if path == "" {
		return "unplugged"
	}
	return fmt.Sprintf("%s, device at %d, server at %d bit/s", path, l.Baud(), l.HostBaud())
}

// A lockedWriter serialises the output of several goroutines.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// A prefixWriter puts a name before every line. Writes must be whole lines.
type prefixWriter struct {
	prefix string
	w      io.Writer
}

func (p *prefixWriter) Write(b []byte) (int, error) {
	if _, err := fmt.Fprintf(p.w, "%s%s", p.prefix, b); err != nil {
		return 0, err
	}
	return len(b), nil
}
