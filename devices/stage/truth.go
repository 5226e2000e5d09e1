package stage

import (
	"bufio"
	"io"
	"math"
	"slices"
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
	seen []Sighting
}

const (
	truthHeader = "time_s,robot,x_m,y_m,heading_deg,speed_m_s,turnrate_deg_s,stall,bumped"
	// seenHeader is added in a world with fiducial finders.
	seenHeader = ",sees,id,range_m,bearing_deg"
)

// LogTruth writes the true state of every robot to out, ten times a simulated second, as
// comma separated values with a header: the simulated time, the robot's name, its pose in
// the frame of the world, its velocity, and 1 or 0 for stalled and for bumped. A movable
// thing has name and pose only. In a world with fiducial finders there are more columns, and
// a line for each fiducial that a robot sees; it has time, robot and these columns only.
// FlushTruth ends it.
func (w *World) LogTruth(out io.Writer) {
	w.truth = &truth{out: bufio.NewWriterSize(out, 1<<16), next: w.sim}
	w.truth.out.WriteString(truthHeader)
	if w.finds() {
		w.truth.out.WriteString(seenHeader)
	}
	w.truth.out.WriteByte('\n')
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
	end := "\n"
	if w.finds() {
		end = ",,,,\n"
	}
	for _, r := range w.robots {
		var bumpers codec.MiscData
		r.readBumpers(&bumpers)
		b := t.body(t.line[:0], w, r.body)
		b = t.number(b, r.drive.speed, 4)
		b = t.number(b, r.drive.turn*180/math.Pi, 2)
		b = append(append(b, bit(r.stalled()), ',', bit(bumpers.FrontBumpers|bumpers.RearBumpers != 0)), end...)
		t.seen = r.AppendSightings(t.seen[:0])
		for _, s := range t.seen {
			b = append(t.name(t.number(b, w.sim.Seconds(), 2), r.Name), ",,,,,,,"...)
			b = append(strconv.AppendInt(t.name(b, s.Name), int64(s.ID), 10), ',')
			b = t.number(t.number(b, s.Range, 4), s.Bearing*180/math.Pi, 2)
			b[len(b)-1] = '\n'
		}
		t.out.Write(b)
		t.line = b
	}
	for _, o := range w.bodies[len(w.robots):] {
		t.line = append(append(t.body(t.line[:0], w, o), ",,,"...), end...)
		t.out.Write(t.line)
	}
}

// finds reports whether some robot has a fiducial finder.
func (w *World) finds() bool {
	return slices.ContainsFunc(w.robots, func(r *Robot) bool { return r.finder != nil })
}

// body appends time, name and pose.
func (t *truth) body(b []byte, w *World, o *body) []byte {
	b = t.name(t.number(b, w.sim.Seconds(), 2), o.name)
	b = t.number(b, o.pose.X, 4)
	b = t.number(b, o.pose.Y, 4)
	return t.number(b, o.pose.Heading*180/math.Pi, 2)
}

func (t *truth) name(b []byte, name string) []byte {
	if strings.ContainsAny(name, ",\"\r\n") {
		b = append(append(append(b, '"'), strings.ReplaceAll(name, `"`, `""`)...), '"')
	} else {
		b = append(b, name...)
	}
	return append(b, ',')
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
