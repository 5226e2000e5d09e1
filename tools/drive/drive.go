// Package drive is player drive: it drives a robot by the keys of a terminal, or to a goal by the robot's goto device.
package drive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"player/client"
	"player/codec"
	"player/tools"
)

const (
	// rate is how often the server sends data, in Hz: it bounds the delay of a key.
	rate = 20
	// readLimit bounds the wait for data, so that keys and the dead man's switch work
	// without it.
	readLimit = time.Second / rate
	// lifetime is how long the robot drives without commands of this program: as long as a
	// key counts.
	lifetime = repeatLimit
	// repeatPeriod is how often the speed of a pressed key is sent again. It is a fifth of lifetime,
	// so that a short disturbance of the network does not stop the robot, and less than the second
	// for which a server gives a client control.
	repeatPeriod = 100 * time.Millisecond
	// linePeriod is how often the line is drawn.
	linePeriod = 100 * time.Millisecond
	// oldAge is the age from which data is shown as old.
	oldAge = time.Second
)

// Command is the subcommand.
func Command() tools.Command {
	return tools.Command{Name: "drive", Args: "[flags] HOST[:PORT]", Summary: "drive with the keys", Run: run}
}

func run(ctx context.Context, args []string, stdout io.Writer, _ *os.File) (err error) {
	flags := tools.NewFlags("drive")
	w := wheels{}
	flags.IntVar(&w.speed, "speed", 200, "")
	flags.IntVar(&w.turn, "turn", 30, "")
	to := flags.String("to", "", "")
	rest, err := tools.ParseSome(flags, args, 1, 1, "a host: player drive localhost")
	switch {
	case err != nil:
		return err
	case w.speed < 1 || w.speed > maxSpeed:
		return fmt.Errorf("-speed %d: a speed is 1 to %d mm/s", w.speed, maxSpeed)
	case w.turn < 1 || w.turn > maxTurn:
		return fmt.Errorf("-turn %d: a turn rate is 1 to %d degrees a second", w.turn, maxTurn)
	}
	if *to != "" {
		goal, err := parseGoal(*to)
		if err != nil {
			return err
		}
		goal.Speed, goal.TurnRate = uint16(w.speed), uint16(w.turn)
		return goTo(ctx, rest[0], goal, stdout)
	}
	terminal := int(os.Stdin.Fd())
	before, err := term.GetState(terminal)
	if err != nil {
		return errors.New("drive needs a terminal for its keys; programs use a client, as docs/CLIENTS.md says")
	}
	// The last two would end the program without restoring the terminal.
	ctx, stop := tools.UntilSignal(ctx, syscall.SIGQUIT, syscall.SIGPIPE)
	defer stop()
	c, err := tools.Dial(ctx, rest[0], "drive", rate)
	if err != nil {
		return err
	}
	defer c.Close() // the server stops the robot
	if _, err := tools.Open(ctx, c, "pa"); err != nil {
		return err
	}
	err = c.Request(ctx, "mrsrlr") // devices that the robot lacks are not shown
	access, partly := errors.AsType[*client.AccessError](err)
	if err != nil && !partly {
		return tools.Failure{Err: err}
	}
	if partly {
		for _, line := range tools.Refused(access, nil) {
			fmt.Fprintln(stdout, line)
		}
	}
	if err := c.SetCommandLifetime(lifetime); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "arrows or w a s d: drive   + -: faster, slower   space: stop   q: quit")
	// Ctrl-C, Ctrl-Z and Ctrl-S are also keys: a suspended program cannot stop the robot,
	// and a paused terminal shows nothing.
	if _, err := term.MakeRaw(terminal); err != nil {
		return err
	}
	defer func() {
		if failed := term.Restore(terminal, before); failed != unix.EIO { // a closed terminal needs nothing
			err = errors.Join(err, failed)
		}
	}()
	screen := newScreen(stdout)
	defer screen.end()
	d := &driver{client: c, wheels: w, keys: readKeys(os.Stdin), screen: screen, width: func() int { return width(terminal) }}
	return d.run(ctx)
}

// driver is a run of the subcommand.
type driver struct {
	client *client.Client
	wheels wheels
	keys   <-chan key
	screen *screen
	width  func() int

	sent    motion
	sentAt  time.Time
	stop    bool      // the key was pressed, which also stops other clients' commands
	moved   bool      // the motors were switched on
	dataAt  time.Time // of the latest round
	drawnAt time.Time
}

// run drives until q, or the end of ctx or of the terminal. The robot stops when the
// connection is closed.
func (d *driver) run(ctx context.Context) error {
	d.dataAt = time.Now()
	for {
		now := time.Now()
		d.wheels.roundBegins(now)
		if quit := d.press(now); quit || ctx.Err() != nil {
			return nil
		}
		if err := d.command(now); err != nil {
			return tools.Failure{Err: err}
		}
		if now.Sub(d.drawnAt) >= linePeriod {
			d.drawnAt = now
			d.screen.show(d.line(now))
		}
		reading, cancel := context.WithTimeout(ctx, readLimit)
		err := d.client.Read(reading)
		cancel()
		switch {
		case err == nil:
			d.dataAt = time.Now()
		case !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			return tools.Failure{Err: err}
		}
	}
}

// press takes the keys that were pressed since the last call.
func (d *driver) press(now time.Time) (quit bool) {
	for {
		select {
		case k, ok := <-d.keys:
			if !ok || k == quitKey {
				return true
			}
			d.stop = d.stop || k == stopKey
			d.wheels.press(k, now)
		default:
			return false
		}
	}
}

// command sends the motion if it has changed or stop was pressed, and again while the robot
// moves. A stopped robot is left to other clients.
func (d *driver) command(now time.Time) error {
	m := d.wheels.motion(now)
	if m == d.sent && !d.stop && (m == motion{} || now.Sub(d.sentAt) < repeatPeriod) {
		return nil
	}
	if !d.moved && m != (motion{}) {
		d.moved = true
		if err := d.client.ChangeMotorState(true); err != nil {
			return err
		}
	}
	if m != (motion{}) && time.Since(now) > pauseLimit {
		return nil // paused just now
	}
	stop := d.stop
	d.sent, d.sentAt, d.stop = m, now, false
	if !stop {
		return d.client.SetSpeed(m.speed, m.turn)
	}
	// A client with a lifetime does not stop others.
	return errors.Join(d.client.SetCommandLifetime(0), d.client.SetSpeed(m.speed, m.turn), d.client.SetCommandLifetime(lifetime))
}

// line is the terminal's line: it is cut to the terminal's width.
func (d *driver) line(now time.Time) string {
	c, p := d.client, d.client.Position
	text := ""
	age, _ := c.Age(codec.Position)
	switch age = age + now.Sub(d.dataAt); {
	case !c.Has(codec.Position):
		text = "NO DATA"
	case age > oldAge:
		text = fmt.Sprintf("DATA IS %d s OLD", int(age.Seconds()))
	}
	if text != "" {
		text += " | "
	}
	if p.Stall != 0 {
		text += "STALLED | "
	}
	text += fmt.Sprintf("%d mm/s %d deg/s | x %.2f y %.2f m %d deg", p.Speed, p.TurnRate, float64(p.X)/1000, float64(p.Y)/1000, p.Heading)
	if c.Has(codec.Misc) {
		text += fmt.Sprintf(" | %.1f V", float64(c.Misc.Battery)/10)
	}
	if mm, where := nearest(c); where != "" {
		text += fmt.Sprintf(" | %d mm %s", mm, where)
	}
	return text[:min(len(text), d.width()-1)]
}

// nearest returns the shortest range of laser and sonar, and where it is; "" if
// there is none. A range of 0 is none (PROTOCOL 7.2).
func nearest(c *client.Client) (mm int, where string) {
	consider := func(letter byte, ranges []uint16, place func(i int) string) {
		for i, r := range ranges {
			if c.Has(letter) && r > 0 && (where == "" || int(r) < mm) {
				mm, where = int(r), place(i)
			}
		}
	}
	consider(codec.Laser, c.Laser[:], func(i int) string { return fmt.Sprintf("at %d deg", i/2-90) })
	consider(codec.Sonar, c.Sonar[:], func(i int) string { return fmt.Sprintf("at sonar %d", i) })
	return mm, where
}
