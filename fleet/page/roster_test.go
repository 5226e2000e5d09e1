package page

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"player/codec"
	"player/e2e/must"
	"player/fleet/bridge"
)

// fixture is a roster at a time, and the messages to it.
type fixture struct {
	roster
	now time.Time
}

func newFixture() *fixture { return &fixture{roster{}, time.Unix(1000, 0)} }

func (f *fixture) status(t *testing.T, s bridge.RobotStatus) {
	t.Helper()
	text := must.Get(json.Marshal(s))(t)
	f.take(&nats.Msg{Subject: "player.lab." + s.Robot + ".status", Data: text}, f.now)
}

func (f *fixture) odometry(stamp, age string, d codec.PositionData) {
	m := nats.NewMsg("player.lab.a.position.0.data")
	m.Header.Set(bridge.HeaderTime, stamp)
	if age != "" {
		m.Header.Set(bridge.HeaderAge, age)
	}
	m.Data = d.Append(nil)
	f.take(m, f.now)
}

func (f *fixture) misc(d codec.MiscData) {
	f.take(&nats.Msg{Subject: "player.lab.a.misc.0.data", Data: d.Append(nil)}, f.now)
}

func (f *fixture) row(t *testing.T) row {
	t.Helper()
	rows := f.rows(f.now)
	if len(rows) != 1 {
		t.Fatalf("%d rows, want 1", len(rows))
	}
	return rows[0]
}

func TestStates(t *testing.T) {
	t.Parallel()
	alive := bridge.RobotStatus{Robot: "a", Connected: true}
	full := codec.MiscData{Battery: 120}
	for _, c := range []struct {
		what        string
		do          func(*testing.T, *fixture)
		state, text string
	}{
		{"it waits for data", func(t *testing.T, f *fixture) { f.status(t, bridge.RobotStatus{Robot: "a"}) }, well, ""},
		{"all is well", func(t *testing.T, f *fixture) {
			f.status(t, alive)
			f.odometry("1", "1000", codec.PositionData{})
			f.misc(full)
		}, well, ""},
		{"it has no odometry", func(t *testing.T, f *fixture) {
			f.status(t, bridge.RobotStatus{Robot: "a", Connected: true, Error: "position: the robot has no such device"})
		}, well, ""},
		{"leases", func(t *testing.T, f *fixture) {
			f.status(t, bridge.RobotStatus{Robot: "a", Connected: true, Holders: map[string]string{"ptz": "bob", "position": "anna"}})
		}, well, "anna has control, bob: ptz"},
		{"somebody drives", func(t *testing.T, f *fixture) {
			f.status(t, bridge.RobotStatus{Robot: "a", Connected: true, Holders: map[string]string{"position": "anna"}})
			f.odometry("1", "0", codec.PositionData{TurnRate: -5})
		}, driven, "anna has control"},
		{"stopped while anna holds the lease", func(t *testing.T, f *fixture) {
			on := true
			f.status(t, bridge.RobotStatus{Robot: "a", Connected: true, Stopped: &on, Holders: map[string]string{"position": "anna"}})
			f.misc(codec.MiscData{Battery: 112})
		}, halted, "emergency stop; battery 11.2 V; anna has control"},
		{"somebody at the robot", func(t *testing.T, f *fixture) {
			f.status(t, bridge.RobotStatus{Robot: "a", Connected: true, Control: "10.0.0.1:4 bob"})
		}, well, "10.0.0.1:4 bob has control at the robot"},
		{"motors that are off", func(t *testing.T, f *fixture) {
			f.status(t, bridge.RobotStatus{Robot: "a", Connected: true, MotorsOff: true, Refused: map[string]string{"position": "the motors are off", "ptz": "a command of ptz has 6 bytes"}})
		}, well, "motors off; ptz refused: a command of ptz has 6 bytes"},
		{"a lost device", func(t *testing.T, f *fixture) {
			f.status(t, bridge.RobotStatus{Robot: "a", Connected: true, Lost: map[string]string{"laser": "no answer"}})
		}, trouble, "laser: no answer"},
		{"no bridge", func(t *testing.T, f *fixture) {
			f.status(t, alive)
			f.now = f.now.Add(silence + time.Millisecond)
		}, trouble, "no bridge serves it"},
		{"an error that turns the text around", func(t *testing.T, f *fixture) {
			f.status(t, bridge.RobotStatus{Robot: "a", Error: "refused\u202eno\nway"})
		}, trouble, `refused\u202eno\x0away`},
		{"not reached", func(t *testing.T, f *fixture) {
			f.status(t, bridge.RobotStatus{Robot: "a", Error: "connection refused"})
		}, trouble, "connection refused"},
		{"old odometry", func(t *testing.T, f *fixture) {
			f.odometry("0", "0", codec.PositionData{}) // nobody knows the robot yet
			f.status(t, alive)
			f.odometry("1", "3000001", codec.PositionData{})
		}, trouble, "no new odometry"},
		{"repeated odometry of a server without ages", func(t *testing.T, f *fixture) {
			for range 2 {
				f.status(t, alive)
				f.odometry("1", "", codec.PositionData{})
				f.now = f.now.Add(2 * time.Second)
			}
		}, trouble, "no new odometry"},
		{"stalled", func(t *testing.T, f *fixture) {
			f.status(t, alive)
			f.odometry("1", "0", codec.PositionData{Stall: 1})
		}, trouble, "wheels stalled"},
		{"bumpers", func(t *testing.T, f *fixture) {
			f.status(t, alive)
			f.misc(codec.MiscData{Battery: 120, RearBumpers: 1})
		}, trouble, "bumpers pressed"},
		{"battery", func(t *testing.T, f *fixture) {
			f.status(t, bridge.RobotStatus{Robot: "a", Connected: true, Holders: map[string]string{"position": "anna"}})
			f.misc(codec.MiscData{Battery: 112})
		}, trouble, "battery 11.2 V; anna has control"},
	} {
		f := newFixture()
		c.do(t, f)
		if r := f.row(t); r.State != c.state || r.Text != c.text {
			t.Errorf("%s: %s %q, want %s %q", c.what, r.State, r.Text, c.state, c.text)
		}
	}
}

// The place on the map is the odometry from the origin on. A robot that is lost keeps
// its last place, and its data gets older.
func TestPlace(t *testing.T) {
	t.Parallel()
	f := newFixture()
	f.status(t, bridge.RobotStatus{Robot: "a", Connected: true})
	f.odometry("1", "200000", codec.PositionData{X: 1000, Y: 500, Heading: 300})
	if r := f.row(t); r.Place != nil || r.Age == nil || *r.Age != 200 {
		t.Errorf("without an origin: %+v", r)
	}
	f.status(t, bridge.RobotStatus{Robot: "a", Connected: true, Origin: &bridge.Origin{X: 10, Y: 20, Heading: 90}})
	f.take(&nats.Msg{Subject: "player.lab.a.position.0.data"}, f.now)
	f.now = f.now.Add(time.Second)
	r := f.row(t)
	if r.Place == nil || math.Abs(r.Place[0]-9.5) > 1e-9 || math.Abs(r.Place[1]-21) > 1e-9 || r.Place[2] != 30 {
		t.Errorf("the place: %+v", r.Place)
	}
	if r.Age == nil || *r.Age != 1200 {
		t.Errorf("the age: %v", r.Age)
	}
}

// A robot that has moved is sent once, and one that stands is not: so motion costs as much
// as moves.
func TestMoves(t *testing.T) {
	t.Parallel()
	f := newFixture()
	moves := func() string {
		text := must.Get(json.Marshal(f.moves()))(t)
		return string(text)
	}
	f.status(t, bridge.RobotStatus{Robot: "a", Connected: true, Origin: &bridge.Origin{X: 1, Y: 2}})
	for i, c := range []struct {
		x    int32
		want string
	}{{5, `{"a":[1.005,2.000,0.0]}`}, {5, "{}"}, {6, `{"a":[1.006,2.000,0.0]}`}} {
		f.odometry(strconv.Itoa(i), "0", codec.PositionData{X: c.x})
		f.odometry(strconv.Itoa(i), "0", codec.PositionData{X: c.x})
		if got := moves(); got != c.want {
			t.Errorf("round %d: %s, want %s", i, got, c.want)
		}
	}
	f.status(t, bridge.RobotStatus{Robot: "a", Connected: true})
	f.odometry("9", "0", codec.PositionData{X: 7})
	if got := moves(); got != "{}" {
		t.Errorf("a robot that is not on the map: %s", got)
	}
}

func TestForeignMessages(t *testing.T) {
	t.Parallel()
	f := newFixture()
	for _, text := range []string{"", "{}", `{"robot":"<b>"}`, "[1]"} {
		f.take(&nats.Msg{Subject: "player.lab.a.status", Data: []byte(text)}, f.now)
	}
	if rows := f.rows(f.now); len(rows) != 0 {
		t.Errorf("rows: %+v", rows)
	}
	f.status(t, bridge.RobotStatus{Robot: "a", Connected: true})
	f.take(&nats.Msg{Subject: "player.lab.a.position.0.data", Data: []byte{1}}, f.now)
	f.take(&nats.Msg{Subject: "player.lab.a.misc.0.data", Data: []byte{1}}, f.now)
	if r := f.row(t); r.State != well || r.Age != nil || r.Volts != nil {
		t.Errorf("the row: %+v", r)
	}
}
