package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"player/codec"
	"player/codec/peertext"
	"player/fleet/bridge"
)

const (
	// silence is after how long without a status or new odometry a robot is in
	// trouble. A bridge sends both more often than every 2 s.
	silence = 3 * time.Second
	// lowBattery is the voltage of a battery that is nearly empty, in 0.1 V.
	lowBattery = 113
	// maxRobots is how many robots the page shows: ten times the fleet that it was made
	// for. Later names wait until the page is opened anew, so no program fills the memory
	// with robots that do not exist.
	maxRobots = 1000
	// maxAge is the greatest age of odometry that is believed: a robot with older odometry is
	// in trouble at any age.
	maxAge = 24 * time.Hour
	// maxStamp is the longest Player-Time, in bytes: twice a bridge's.
	maxStamp = 64
)

// States of a robot, those that matter most first.
const (
	halted  = "stopped" // the emergency stop holds
	trouble = "trouble"
	driven  = "driven"
	well    = "well"
)

// row is a robot on the page.
type row struct {
	Name   string   `json:"name"`
	Page   string   `json:"page,omitempty"`
	State  string   `json:"state"`            // stopped, trouble, driven or well
	Text   string   `json:"text"`             // why, or the name in control
	Driver string   `json:"driver,omitempty"` // the name in control of the wheels
	Volts  *float64 `json:"volts"`            // null: unknown
	Age    *int64   `json:"age_ms"`           // of the odometry; null: there is none
	Place  *place   `json:"place"`            // on the map; null: unknown
	// Devices has the names of the robot's devices; empty: none are known.
	Devices string `json:"devices,omitempty"`
	Plan    string `json:"plan,omitempty"` // digest of its floor plan; empty: it has none, or none is known yet
}

// place is a pose on the map of the fleet: x and y in m, and the heading in degrees,
// counterclockwise. As JSON it is rounded to mm and to 0.1 degrees.
type place [3]float64

func (p place) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, digits := range [...]int{3, 3, 1} {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, p[i], 'f', digits, 64)
	}
	return append(b, ']'), nil
}

// robot is the last state of a robot.
type robot struct {
	status   bridge.RobotStatus
	heard    time.Time // when the status came
	odometry *codec.PositionData
	stamp    string    // Player-Time of the odometry
	measured time.Time // the odometry, by the clock of this program
	misc     *codec.MiscData
	moved    bool // since the last call of moves
	plan     string
	planned  time.Time // when it may be asked for its plan; zero: it was not yet
}

// roster has the robots by their names. The robots are those with a status.
type roster map[string]*robot

// take takes a message on a subject of the fleet: a status, odometry, or misc. A
// value that cannot be true is ignored.
func (r roster) take(m *nats.Msg, now time.Time) {
	iface := bridge.Interface(m.Subject)
	if iface == "" {
		s, err := bridge.ReadStatus(m.Subject, m.Data)
		if err != nil {
			return
		}
		known := r[s.Robot]
		if known == nil {
			if len(r) == maxRobots {
				return
			}
			known = &robot{}
			r[s.Robot] = known
		}
		known.status, known.heard = s, now
		return
	}
	// A robot that was reached has a status first. When it is lost it has no data; its
	// last place stays, and gets old.
	known, stamp := r[bridge.RobotOf(m.Subject)], m.Header.Get(bridge.HeaderTime)
	if known == nil || len(m.Data) == 0 || len(stamp) > maxStamp {
		return
	}
	switch iface {
	case "position":
		var d codec.PositionData
		if d.Decode(m.Data) != nil {
			return
		}
		known.moved = known.moved || known.odometry == nil || d.X != known.odometry.X || d.Y != known.odometry.Y || d.Heading != known.odometry.Heading
		known.odometry = &d
		// The same data comes again when there is no newer one.
		if stamp != known.stamp {
			us, _ := strconv.ParseInt(m.Header.Get(bridge.HeaderAge), 10, 64) // missing: it begins to age here
			age := time.Duration(min(max(us, 0), maxAge.Microseconds())) * time.Microsecond
			known.stamp, known.measured = stamp, now.Add(-age)
		}
	case "misc":
		var d codec.MiscData
		if d.Decode(m.Data) == nil {
			known.misc = &d
		}
	}
}

// rows returns the rows of the page, by name.
func (r roster) rows(now time.Time) []row {
	rows := make([]row, 0, len(r))
	for _, known := range r {
		rows = append(rows, known.row(now))
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.Name, b.Name) })
	return rows
}

func (r *robot) row(now time.Time) row {
	w := row{Name: r.status.Robot, Page: r.status.Page, State: well, Driver: r.driver(), Place: r.place(), Plan: r.plan}
	switch alarm, who, why := r.alarm(now), r.holders(), r.idle(); {
	case now.Sub(r.heard) <= silence && r.status.Stopped != nil && *r.status.Stopped:
		w.State, w.Text = halted, join("emergency stop", alarm, who, why)
	case alarm != "":
		w.State, w.Text = trouble, join(alarm, who, why)
	default:
		w.Text = join(who, why)
		if d := r.odometry; r.driver() != "" && d != nil && (d.Speed != 0 || d.TurnRate != 0) {
			w.State = driven
		}
	}
	w.Text, w.Driver = peertext.Line(w.Text), peertext.Line(w.Driver)
	w.Devices = peertext.Line(strings.Join(r.status.Devices, ", "))
	if r.misc != nil {
		volts := float64(r.misc.Battery) / 10
		w.Volts = &volts
	}
	if r.odometry == nil {
		return w
	}
	ms := now.Sub(r.measured).Milliseconds()
	w.Age = &ms
	return w
}

// place returns where the robot is on the map, or nil.
func (r *robot) place() *place {
	o := r.status.Origin
	if o == nil || r.odometry == nil {
		return nil
	}
	x, y := float64(r.odometry.X)/1000, float64(r.odometry.Y)/1000
	sin, cos := math.Sincos(o.Heading * math.Pi / 180)
	return &place{o.X + cos*x - sin*y, o.Y + sin*x + cos*y, math.Mod(o.Heading+float64(r.odometry.Heading), 360)}
}

// moves returns the robots that have moved on the map since the last call.
func (r roster) moves() map[string]place {
	all := map[string]place{}
	for name, known := range r {
		if !known.moved {
			continue
		}
		known.moved = false
		if p := known.place(); p != nil {
			all[name] = *p
		}
	}
	return all
}

// alarm returns why the robot is in trouble, or "".
func (r *robot) alarm(now time.Time) string {
	switch {
	case now.Sub(r.heard) > silence:
		return "no bridge serves it"
	case !r.status.Connected && r.status.Error != "":
		return r.status.Error
	case r.odometry != nil && now.Sub(r.measured) > silence:
		return "no new odometry"
	case r.status.Right != "":
		return r.status.Right
	case r.odometry != nil && r.odometry.Stall != 0:
		return "wheels stalled"
	case r.misc != nil && (r.misc.FrontBumpers != 0 || r.misc.RearBumpers != 0):
		return "bumpers pressed"
	case r.misc != nil && r.misc.Battery < lowBattery:
		return fmt.Sprintf("battery %.1f V", float64(r.misc.Battery)/10)
	}
	for _, iface := range slices.Sorted(maps.Keys(r.status.Lost)) {
		return iface + ": " + r.status.Lost[iface]
	}
	return ""
}

// idle returns why the robot does not obey commands, or "".
func (r *robot) idle() string {
	var all []string
	if r.status.MotorsOff {
		all = append(all, "motors off")
	}
	for _, iface := range slices.Sorted(maps.Keys(r.status.Refused)) {
		if why := r.status.Refused[iface]; iface != "position" || !r.status.MotorsOff {
			all = append(all, iface+" refused: "+why)
		}
	}
	return strings.Join(all, "; ")
}

// join joins texts that are not empty.
func join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "; ")
}

// driver returns the name of the driver: a client that keeps control, or the holder of the lease.
func (r *robot) driver() string { return cmp.Or(r.status.Control, r.status.Holders["position"]) }

// holders returns the names in control of the robot: "anna has control, bob: ptz".
func (r *robot) holders() string {
	var all []string
	if r.status.Control != "" {
		all = append(all, r.status.Control+" has control at the robot")
	}
	for _, iface := range slices.Sorted(maps.Keys(r.status.Holders)) {
		does := ": " + iface
		if iface == "position" {
			does = " has control"
		}
		all = append(all, r.status.Holders[iface]+does)
	}
	return strings.Join(all, ", ")
}
