// Emulator emulates robots and sensors for a server without hardware, on pseudo-terminals
// and TCP: the devices of a Pioneer, and current ones.
package main

import (
	"bufio"
	"context"
	_ "embed" // the page of -h
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"player/simulation/emulator/acts"
	"player/simulation/emulator/create"
	"player/simulation/emulator/line"
	"player/simulation/emulator/p2os"
	"player/simulation/emulator/room"
	"player/simulation/emulator/rplidar"
	"player/simulation/emulator/sick"
	"player/simulation/emulator/sickcola"
	"player/simulation/emulator/sony"
	"player/simulation/emulator/urg"
	"player/simulation/emulator/ydlidar"
)

// usage is before the flags on the page of -h, and help behind them: the commands.
var (
	//go:embed usage.txt
	usage string
	//go:embed help.txt
	help string
)

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
	dir      string
	only     string
	cable    line.Options // of all serial lines, without name, speed and noise
	noise    float64
	leftOpen bool
	trace    bool
	replace  bool // player.cfg in dir
	actsPort int
	room     func(degrees float64) float64 // around the scanners; nil: a square

	p2os    p2os.Options
	sick    sick.Options
	sony    sony.Options
	acts    acts.Options
	create  create.Options
	rplidar rplidar.Options
	urg     urg.Options
	ydlidar ydlidar.Options
	cola    sickcola.Options
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
	f.BoolVar(&c.replace, "f", false, "replace player.cfg in -dir if it exists")
	f.BoolVar(&c.trace, "trace", false, "print every packet")
	f.BoolVar(&c.leftOpen, "left-open", false, "robot and laser are streaming, a killed server left them so")
	f.Float64Var(&c.noise, "noise", 0, "probability, 0 to 1, of each fault in a packet of a serial device")
	f.Uint64Var(&c.cable.Noise.Seed, "noise-seed", 1, "another seed corrupts other packets")
	f.DurationVar(&c.cable.Latency, "latency", 0, "delay of the serial devices' answers")
	f.BoolVar(&c.cable.Paced, "paced", false, "serial bytes arrive at the speed of the line, not all at once")
	f.BoolVar(&c.cable.Garble, "garble", false, "a server at the wrong speed receives noise instead of nothing")
	f.StringVar(&c.p2os.Subclass, "model", "p2dx", "subclass of the robot: "+strings.Join(p2os.Models(), ", "))
	f.IntVar(&c.p2os.Line.Baud, "baud", 9600, "speed of the robot, bit/s")
	f.BoolVar(&c.p2os.MotorsOn, "motors", false, "press the motor button whenever the server opens the robot")
	f.BoolVar(&c.p2os.Gyro.Fitted, "gyro", false, "the robot has a gyroscope")
	f.Float64Var(&c.p2os.Slip, "slip", 0, "share of a turn in which the robot's wheels slip, 0 to 1")
	f.Float64Var(&c.p2os.Room, "room", 5000, "side of the square room around the sonars, mm; 0: fixed readings")
	f.BoolFunc("door", "the room of all scanners but the LMS 200 has an open door ahead of them", func(string) error {
		c.room = room.Door
		return nil
	})
	f.IntVar(&c.sick.Line.Baud, "sick-baud", 9600, "initial speed of the laser, bit/s")
	choose(f, &c.sick.Unit, "sick-unit", "mm", "unit of the laser: mm or cm", map[string]sick.Unit{"mm": sick.MM, "cm": sick.CM})
	f.IntVar(&c.sick.Angle, "sick-angle", 180, "degrees that the laser scans: 180 or 100")
	f.IntVar(&c.sick.Resolution, "sick-step", 50, "hundredths of a degree between its values: 25, 50 or 100")
	faults := &c.sick.Faults
	each(f, "sick-faults", "refusals of the laser, separated by commas: password, lock-variant (it needs configuration\nmode), variant, configuration, all, or the hexadecimal code of a command, such as 31 or 74",
		map[string]*bool{
			"password": &faults.WrongPassword, "lock-variant": &faults.LockVariant, "variant": &faults.RefuseVariant,
			"configuration": &faults.RefuseConfig, "all": &faults.NackAll,
		}, func(fault string) bool {
			code, err := strconv.ParseUint(fault, 16, 8)
			faults.Nack = append(faults.Nack, byte(code))
			return err == nil
		})
	f.StringVar(&c.sony.Model, "sony-model", "EVI-D30", "model of the camera: EVI-D30, EVI-D70, EVI-D80 or EVI-D100")
	f.BoolVar(&c.sony.Unnamed, "sony-unnamed", false, "the camera does not report its model")
	f.BoolVar(&c.sony.Off, "sony-standby", false, "the camera is on standby")
	f.IntVar(&c.actsPort, "acts-port", 0, "TCP port of ACTS; 0: any free one")
	choose(f, &c.acts.Version, "acts-version", "1.0", "protocol of ACTS: 1.0 or 1.2", map[string]acts.Version{"1.0": acts.V10, "1.2": acts.V12})
	f.BoolVar(&c.create.Asleep, "create-asleep", false, "the Create sleeps until its button is pressed")
	choose(f, &c.rplidar.Model, "rplidar-model", "A1", "model of the RPLIDAR: A1, A2, A3, C1, S1, S2 or S3",
		map[string]byte{"A1": rplidar.A1, "A2": rplidar.A2, "A3": rplidar.A3, "C1": rplidar.C1, "S1": rplidar.S1, "S2": rplidar.S2, "S3": rplidar.S3})
	choose(f, &c.rplidar.Mode, "rplidar-mode", "dense", "scan that an RPLIDAR of the C or S series recommends: dense or standard",
		map[string]byte{"dense": 1, "standard": 0})
	each(f, "rplidar-faults", "faults of the RPLIDAR, separated by commas: old (no express scan), error, error-once",
		map[string]*bool{"old": &c.rplidar.NoExpress, "error": &c.rplidar.Failed, "error-once": &c.rplidar.FailOnce}, nil)
	c.ydlidar.Model = ydlidar.X4
	choose(f, &c.ydlidar.Model, "ydlidar-model", "X4", "model of the YDLIDAR: X2, X4, G4, TG30 or T-mini",
		map[string]ydlidar.Model{"X2": ydlidar.X2, "X4": ydlidar.X4, "G4": ydlidar.G4, "TG30": ydlidar.TG30, "T-mini": ydlidar.TMini})
	choose(f, &c.urg.Model, "urg-model", "URG-04LX", "model of the scanner: URG-04LX, UTM-30LX or UST-20LX-H01",
		map[string]urg.Model{"URG-04LX": urg.URG04LX, "UTM-30LX": urg.UTM30LX, "UST-20LX-H01": urg.UST20LXH01})
	each(f, "urg-faults", "faults of the scanner, separated by commas: old (SCIP 1.1 at first), laser (it stays off)",
		map[string]*bool{"old": &c.urg.Old, "laser": &c.urg.Broken}, nil)
	choose(f, &c.cola.Model, "sickcola-model", "TiM551", "model of the SICK scanner on the network: TiM551, TiM571, TiM781, LMS111 or LMS511",
		map[string]sickcola.Model{"TiM551": sickcola.TiM551, "TiM571": sickcola.TiM571, "TiM781": sickcola.TiM781, "LMS111": sickcola.LMS111, "LMS511": sickcola.LMS511})
	each(f, "sickcola-faults", "traits of the SICK scanner, separated by commas: binary (it speaks CoLa B), standby, password (it has another)",
		map[string]*bool{"binary": &c.cola.Binary, "standby": &c.cola.Standby, "password": &c.cola.Locked}, nil)
	f.BoolVar(&c.urg.TCP, "urg-tcp", false, "the scanner is on the network, not on a serial line")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unknown argument %q: flags only, see -h", f.Arg(0))
	}
	c.sick.Streaming, c.p2os.LeftOpen, c.create.Streaming, c.rplidar.Scanning = c.leftOpen, c.leftOpen, c.leftOpen, c.leftOpen
	c.urg.Scanning, c.ydlidar.Scanning = c.leftOpen, c.leftOpen
	return c, nil
}

// choice is a flag with one of several words as its value.
type choice[T any] struct {
	word string
	to   *T
	of   map[string]T
}

// choose adds such a flag. word names the value that is already in to: the default.
func choose[T any](f *flag.FlagSet, to *T, name, word, usage string, of map[string]T) {
	f.Var(&choice[T]{word, to, of}, name, usage)
}

func (c *choice[T]) String() string { return c.word }

func (c *choice[T]) Set(word string) error {
	value, ok := c.of[word]
	if !ok {
		return fmt.Errorf("choose from %s", strings.Join(slices.Sorted(maps.Keys(c.of)), ", "))
	}
	*c.to = value
	return nil
}

// each adds a flag with names of faults, separated by commas. other takes a value that is no
// fault, and reports whether it is valid.
func each(f *flag.FlagSet, name, usage string, faults map[string]*bool, other func(string) bool) {
	f.Func(name, usage, func(text string) error {
		for fault := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' }) {
			if set := faults[fault]; set != nil {
				*set = true
			} else if other == nil || !other(fault) {
				return fmt.Errorf("there is no fault %q, choose from %s", fault, strings.Join(slices.Sorted(maps.Keys(faults)), ", "))
			}
		}
		return nil
	})
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
