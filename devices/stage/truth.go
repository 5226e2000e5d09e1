package stage

import (
	"bufio"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"player/codec"
)

// truth logs the true state.
type truth struct {
	out  *bufio.Writer
	next time.Duration
	line []byte
}

const truthHeader = "time_s,robot,x_m,y_m,heading_deg,speed_m_s,turnrate_deg_s,stall,bumped\n"

// LogTruth writes the true state of every robot to out, ten times a simulated
// second, as comma separated values with a header: the simulated time, the
// robot's name, its pose in the frame of the world, its velocity, and 1 or 0
// for stalled and for bumped. A thing that can move has name and pose only. FlushTruth ends it.
func (w *World) LogTruth(out io.Writer) {
	w.truth = &truth{out: bufio.NewWriterSize(out, 1<<16), next: w.sim}
	w.truth.out.WriteString(truthHeader)
	w.truth.sample(w)
}

// FlushTruth writes buffered data and returns the first error.
func (w *World) FlushTruth() error {
	if w.truth == nil {
		return nil
	}
	return w.truth.out.Flush() // a bufio.Writer keeps its first error
}

func (t *truth) sample(w *World) {
	if w.sim < t.next {
		return
	}
	t.next += publishPeriod
	for _, r := range w.robots {
		var bumpers codec.MiscData
		r.readBumpers(&bumpers)
		b := t.body(t.line[:0], w, r.body)
		b = t.number(b, r.drive.speed, 4)
		b = t.number(b, r.drive.turn*180/math.Pi, 2)
		b = append(b, bit(r.stalled()), ',', bit(bumpers.FrontBumpers|bumpers.RearBumpers != 0), '\n')
		t.out.Write(b)
		t.line = b
	}
	for _, o := range w.bodies[len(w.robots):] {
		t.line = append(t.body(t.line[:0], w, o), ",,,\n"...)
		t.out.Write(t.line)
	}
}

// body appends time, name and pose.
func (t *truth) body(b []byte, w *World, o *body) []byte {
	b = t.number(b, w.sim.Seconds(), 2)
	if strings.Contains(o.name, ",") {
		b = append(append(append(b, '"'), o.name...), '"', ',') // strings in world files cannot contain quotes
	} else {
		b = append(append(b, o.name...), ',')
	}
	b = t.number(b, o.pose.X, 4)
	b = t.number(b, o.pose.Y, 4)
	return t.number(b, o.pose.Heading*180/math.Pi, 2)
}

func (t *truth) number(b []byte, v float64, decimals int) []byte {
	if math.Abs(v) < math.Pow10(-decimals)/2 {
		v = 0 // never "-0.00"
	}
	return append(strconv.AppendFloat(b, v, 'f', decimals, 64), ',')
}

func bit(set bool) byte {
	if set {
		return '1'
	}
	return '0'
}
