package drive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"player/client"
	"player/codec"
	"player/tools"
)

// goalLifetime is how long the robot goes on to a goal without commands of this program, which repeats its command at
// the rate of the data. The robot avoids obstacles by itself, so a short disturbance of the network may pass.
const goalLifetime = time.Second

// parseGoal reads X,Y in metres.
func parseGoal(text string) (goal codec.GotoCommand, err error) {
	first, second, _ := strings.Cut(text, ",")
	x, xOK := millimetres(first)
	y, yOK := millimetres(second)
	if !xOK || !yOK {
		return goal, fmt.Errorf("-to %s: write metres of the odometry as X,Y: -to 4.5,-1.2", text)
	}
	return codec.GotoCommand{X: x, Y: y}, nil
}

// millimetres reads metres. ok is false if the text is no number, or too large for a command.
func millimetres(metres string) (mm int32, ok bool) {
	m, err := strconv.ParseFloat(strings.TrimSpace(metres), 64)
	rounded := math.Round(m * 1000)
	return int32(rounded), err == nil && math.Abs(rounded) < math.MaxInt32
}

// progress returns the state of a goal, and the distance that is left once the device knows it.
func progress(data *codec.GotoData) string {
	if data.Distance == codec.UnknownAmount {
		return data.State.String()
	}
	return fmt.Sprintf("%v, %.1f m left", data.State, float64(data.Distance)/1000)
}

// goTo drives to a goal by the robot's goto device. Signals give it up.
func goTo(ctx context.Context, address string, goal codec.GotoCommand, stdout io.Writer) error {
	ctx, stop := tools.UntilSignal(ctx)
	defer stop()
	c, err := tools.Dial(ctx, address, "drive", rate)
	if err != nil {
		return err
	}
	defer c.Close()                                     // the server stops the robot
	if _, err := tools.Open(ctx, c, "pa"); err != nil { // write: the motors are switched on
		return err
	}
	code, err := c.Open(ctx, "goto", codec.AccessAll, nil)
	if errors.Is(err, client.ErrNoDevice) {
		return fmt.Errorf("%w: a server has it with -goto", err)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(c.SetCommandLifetime(goalLifetime), c.ChangeMotorState(true)); err != nil {
		return tools.Failure{Err: err}
	}
	d := &driver{client: c, width: func() int { return usualWidth }}
	show := func(string) {}
	if tools.IsTerminal(stdout) {
		screen := newScreen(stdout)
		defer screen.end()
		d.width = func() int { return width(int(os.Stdout.Fd())) }
		show = screen.show
	}
	goal.Heading = codec.AnyHeading
	err = c.GoTo(ctx, code, goal, func() error {
		var data codec.GotoData
		if now := time.Now(); now.Sub(d.drawnAt) >= linePeriod && data.Decode(c.Raw(code)) == nil && data.State.Active() {
			d.dataAt, d.drawnAt = now, now
			show(progress(&data) + " | " + d.line(now))
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return nil // it stops
	case err != nil:
		return tools.Failure{Err: err}
	}
	fmt.Fprintln(stdout, "arrived")
	return nil
}
