// Emulator emulates robots and sensors for a server without them, on
// pseudo-terminals and TCP: those of a Pioneer, and those of today.
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
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"player/emulator/p2os"
)

const usage = `Usage: emulator [flags]

Emulates hardware until interrupted: a Pioneer robot, or what -only names. It prints the command line of a server for
it. The names of the serial ports are symlinks to pseudo-terminals; they stay the same when a device is unplugged and
plugged in again.

Devices: p2os (Pioneer robots), sick (LMS 200 laser), sony (EVI cameras), acts (colour tracker), create (iRobot
Create 2), arduino (the sketch of examples/arduino), rplidar (Slamtec A1, A2), urg (Hokuyo scanners).

Flags:
`

const help = `Commands, one per line:
  status           print the state of the devices and what they received
  unplug DEVICE    disconnect the adapter: the server's port hangs up (acts: connections are closed)
  plug DEVICE      reconnect it under the same name
  silence DEVICE   stop sending without hanging up
  speak DEVICE     send again
  button [DEVICE]  press the motor button of p2os, CLEAN of create
  reboot [DEVICE]  switch sick or create off and on
  bump [DEVICE]    press or release the bumper of create or arduino
  lift, cliff, charger
                   lift create or set it down, put it before a cliff, plug its charger in or out
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
	replace     bool // player.cfg in dir

	createAsleep bool
	lidarModel   string
	lidarFaults  string
	urgModel     string
	urgFaults    string
	urgTCP       bool
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
	f.BoolVar(&c.createAsleep, "create-asleep", false, "the Create sleeps until its button is pressed")
	f.StringVar(&c.lidarModel, "rplidar-model", "A1", "model of the RPLIDAR: A1 or A2")
	f.StringVar(&c.lidarFaults, "rplidar-faults", "", "faults of the RPLIDAR, separated by commas: old (no express scan), error, error-once")
	f.StringVar(&c.urgModel, "urg-model", "URG-04LX", "model of the scanner: URG-04LX or UTM-30LX")
	f.StringVar(&c.urgFaults, "urg-faults", "", "faults of the scanner, separated by commas: old (SCIP 1.1 at first), laser (it stays off)")
	f.BoolVar(&c.urgTCP, "urg-tcp", false, "the scanner is on the network, not on a serial line")
	f.BoolVar(&c.replace, "f", false, "replace player.cfg in -dir if it exists")
	f.BoolVar(&c.trace, "trace", false, "print every packet")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unknown argument %q: flags only, see -h", f.Arg(0))
	}
	return c, nil
}

// run is the whole program, until the end of ctx or a quit command.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	out = &lockedWriter{w: out}
	c, err := parse(args, out)
	if err != nil {
		return err
	}
	if c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "emulator-"); err != nil {
			return err
		}
		defer os.RemoveAll(c.dir)
	} else if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	var r robot
	defer func() { r.close() }()
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
