package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/e2e/must"
	"player/fleet/schematest"
)

// at is a moment, in ms.
func at(ms int) time.Time { return time.UnixMilli(int64(1_000_000 + ms)) }

func TestCheckName(t *testing.T) {
	for name, good := range map[string]bool{
		"r0": true, "Robot-1_b": true, strings.Repeat("x", 64): true,
		"": false, "a.b": false, "a*": false, ">": false, "a b": false, "ä": false, strings.Repeat("x", 65): false,
	} {
		if err := CheckName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestSubjects(t *testing.T) {
	subject := Subject("lab", "r0", "laser", Data)
	if want := "player.lab.r0.laser.0.data"; subject != want {
		t.Fatalf("%s, want %s", subject, want)
	}
	if got := Interface(subject); got != "laser" {
		t.Errorf("interface %q", got)
	}
	if got := Interface("player.lab.r0.status"); got != "" {
		t.Errorf("the status has interface %q", got)
	}
	for _, name := range []string{"laser", "laser:1", "imu", "io:99"} {
		spec, ok := Named(name)
		if !ok || NameOf(spec) != name || Device(Subject("lab", "r0", name, JSON)) != name {
			t.Errorf("%s is %+v, %t", name, spec, ok)
		}
	}
	for _, name := range []string{"", "lazer", "laser:0", "laser:01", "laser:", "laser:100", "laser:-1", ":1"} {
		if spec, ok := Named(name); ok {
			t.Errorf("%q is %+v", name, spec)
		}
	}
	if got := Subject("lab", "r0", Every, Rate); got != "player.lab.r0.*.*.rate" {
		t.Error(got)
	}
}

// The first devices of interfaces with a letter are not listed: the bridge knows them without a question.
func TestFurther(t *testing.T) {
	var got []string
	for _, spec := range Further([]codec.Entry{{Code: 'l', Interface: "laser"}, {Code: 128, Interface: "laser", Index: 1}, {Code: 129, Interface: "imu"},
		{Code: 130, Interface: "flux"}, {Code: 131, Interface: "io", Index: codec.MaxIndex + 1}, {Code: 132, Interface: "servo", Index: 3}}) {
		got = append(got, NameOf(spec))
	}
	if want := []string{"laser:1", "imu", "servo:3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A step of a lease and its expected result. Times are in ms.
type step struct {
	at    int
	do    string // grant, adopt, renew, write, confirm, end, or nothing
	token string // of renew
	sent  int    // of grant, adopt and confirm
	err   error  // of renew
	ends  int    // then; 0: the lease is free
}

func TestLease(t *testing.T) {
	for name, steps := range map[string][]step{
		"ends a TTL after it began": {
			{at: 0, do: "grant", ends: 1000},
			{at: 999, do: "renew", token: "1-a", ends: 1000}, // the bucket does not know of it
			{at: 1000, do: "renew", token: "1-a", err: ErrNoLease, ends: 1000},
		},
		"lasts as long as renewals are confirmed": {
			{at: 0, do: "grant", ends: 1000},
			{at: 300, do: "renew", token: "1-a", ends: 1000},
			{at: 300, do: "write", ends: 1000},
			{at: 320, do: "confirm", sent: 300, ends: 1300},
			{at: 1299, do: "renew", token: "1-a", ends: 1300},
			{at: 1300, do: "renew", token: "1-a", err: ErrNoLease, ends: 1300},
		},
		"the bucket's entry does not prolong it": {
			{at: 0, do: "grant", ends: 1000},
			{at: 900, do: "confirm", sent: 900, ends: 1000},
		},
		"other tokens": {
			{at: 0, do: "renew", token: "1-a", err: ErrNoLease},
			{at: 0, do: "grant", ends: 1000},
			{at: 1, do: "renew", token: "", err: ErrNoToken, ends: 1000},
			{at: 1, do: "renew", token: "2-b", err: ErrNotToken, ends: 1000},
			{at: 2, do: "end"},
			{at: 3, do: "renew", token: "1-a", err: ErrNoLease},
		},
		"granted late": { // the bucket was asked 400 ms before it answered
			{at: 400, do: "grant", sent: 0, ends: 1000},
		},
		"adopted": {
			{at: 0, do: "adopt", ends: 1000},
			{at: 10, do: "renew", token: "1-a", ends: 1000},
			{at: 20, do: "end"},
		},
	} {
		var c Control
		for i, s := range steps {
			var err error
			switch s.do {
			case "grant":
				c.Grant("1-a", "alice", at(s.sent), at(s.at))
			case "adopt":
				c.Adopt("1-a", "alice", false, at(s.sent), at(s.at))
			case "renew":
				err = c.Renew(s.token, at(s.at))
			case "write":
				c.Write(at(s.at))
			case "confirm":
				c.Confirm(at(s.sent))
			case "end":
				c.End()
			}
			if !errors.Is(err, s.err) || (err == nil) != (s.err == nil) {
				t.Errorf("%s, step %d: error %v, want %v", name, i, err, s.err)
			}
			if leased := c.Token != ""; leased != (s.ends != 0) || leased && !c.Ends().Equal(at(s.ends)) {
				t.Errorf("%s, step %d: leased %t, ends %v, want %d", name, i, leased, c.Ends(), s.ends)
			}
		}
	}
}

// While another bridge may still obey the holder, or the robot its last command, no other program gets the lease.
func TestAdoptedLeaseIsNotGivenAtOnce(t *testing.T) {
	var c Control
	if !c.Free(at(0)) {
		t.Fatal("a new lease is not free")
	}
	c.Adopt("1-a", "alice", false, at(0), at(0))
	c.End()
	for ms, want := range map[int]bool{0: false, 1499: false, 1500: true} {
		if got := c.Free(at(ms)); got != want {
			t.Errorf("after %d ms: free %t", ms, got)
		}
	}
	c = Control{}
	c.Adopt("1-a", "alice", true, at(0), at(0))
	c.End()
	if !c.Free(at(0)) {
		t.Error("the bridge before obeys nobody, and the lease is not free")
	}
}

// A renewal that has failed is due again soon, though its holder has not renewed since.
func TestFailedRenewalIsDueAgain(t *testing.T) {
	var c Control
	c.Grant("1-a", "alice", at(0), at(0))
	must.Do(t, c.Renew("1-a", at(300)))
	c.Write(at(300))
	c.Fail(at(320))
	if due, ok := c.WriteDue(); !ok || !due.Equal(at(320).Add(RetryPeriod)) {
		t.Errorf("due at %v, %t", due, ok)
	}
	c.Write(at(370))
	c.Confirm(at(370))
	if due, ok := c.WriteDue(); ok {
		t.Errorf("it is due again, at %v, though it is written", due)
	}
}

// The bucket gets the last renewal, and not more often than WritePeriod.
func TestLeaseIsWritten(t *testing.T) {
	var c Control
	c.Grant("1-a", "alice", at(0), at(0))
	due := func(want int) {
		t.Helper()
		got, ok := c.WriteDue()
		if ok != (want != 0) || ok && !got.Equal(at(want)) {
			t.Errorf("a write is due: %t, %v, want %d", ok, got, want)
		}
	}
	due(0)
	for ms := 10; ms <= 200; ms += 10 {
		must.Do(t, c.Renew("1-a", at(ms)))
		due(250)
	}
	c.Write(at(250))
	due(0)
	c.End()
	due(0)
}

func TestDemand(t *testing.T) {
	var d Demand
	for _, s := range []struct{ at, ask, want int }{
		{0, 0, DefaultRate},
		{0, 2, 2}, // slower than the default: nobody asked for that
		{1000, 50, 50},
		{2000, 20, 50},
		{9999, 0, 50},
		{10000, 0, 50},
		{11000, 0, 20},
		{12000, 0, DefaultRate},
	} {
		if s.ask > 0 {
			d.Ask(s.ask, at(s.at))
		}
		if got := d.Rate(at(s.at)); got != s.want {
			t.Errorf("after %d ms: %d Hz, want %d", s.at, got, s.want)
		}
	}
}

func TestPacer(t *testing.T) {
	for _, c := range []struct{ hz, frames, want int }{
		{10, 10, 100}, {10, 50, 100}, {50, 50, 500}, {1, 50, 10}, {20, 50, 200},
	} {
		var p Pacer
		sent := 0
		for frame := range 10 * c.frames {
			now := at(0).Add(time.Duration(frame) * time.Second / time.Duration(c.frames))
			if p.Ready(c.hz, c.frames, now) {
				sent++
			}
		}
		if sent < c.want-1 || sent > c.want+1 {
			t.Errorf("%d Hz of %d: %d messages in 10 s, want %d", c.hz, c.frames, sent, c.want)
		}
	}
}

func TestPacerDoesNotMakeUp(t *testing.T) {
	var p Pacer
	p.Ready(10, 10, at(0))
	if !p.Ready(10, 10, at(5000)) {
		t.Fatal("a message after a pause is not sent")
	}
	if p.Ready(10, 10, at(5010)) {
		t.Error("missed messages are made up")
	}
}

func TestInterest(t *testing.T) {
	var i Interest
	check := func(when string, want ...string) {
		t.Helper()
		for _, s := range []string{"a", "b", "c"} {
			if got := i.Listened(s); got != strings.Contains(strings.Join(want, ""), s) {
				t.Errorf("%s: %s is listened to: %t", when, s, got)
			}
		}
	}
	round := func(refused string) int {
		n := i.Begin()
		for _, s := range []string{"a", "b", "c"} {
			i.Ask(s)
		}
		for _, s := range refused {
			i.Refused(string(s))
		}
		return n
	}
	check("at first")
	first := round("b")
	check("before the end of a round")
	i.End(first)
	check("after a round", "a", "c")
	i.Refused("c")
	check("after a refusal between rounds", "a")
	round("")
	i.End(i.Begin()) // the end of the one before was lost
	check("after a round that was lost", "a")
	i.End(round("abc"))
	check("after all have left")
	late := round("")
	next := round("")
	i.End(late) // the answers of the next round are on their way
	check("after the late end of a round")
	if !i.Asking() {
		t.Error("the late end of a round has ended the next one")
	}
	i.Refused("b")
	i.End(next)
	check("after the round behind a late one", "a", "c")
	last := round("")
	i.Forget()
	check("after the connection was lost")
	i.End(last)
	check("after the end of a round that was forgotten")
}

func TestPeers(t *testing.T) {
	robots := make([]string, 300)
	for n := range robots {
		robots[n] = fmt.Sprint("robot", n)
	}
	owners := func(now time.Time, ids ...string) map[string]string {
		owned := map[string]string{}
		for _, self := range ids {
			p := Peers{Self: self}
			for _, id := range ids {
				p.Heard(id, now)
			}
			for _, r := range robots {
				if !p.Mine(r, now) {
					continue
				}
				if other := owned[r]; other != "" {
					t.Fatalf("%s and %s both serve %s", self, other, r)
				}
				owned[r] = self
			}
		}
		if len(owned) != len(robots) {
			t.Fatalf("%d of %d robots are served", len(owned), len(robots))
		}
		return owned
	}
	three, two := owners(at(0), "x", "y", "z"), owners(at(0), "x", "z")
	count := map[string]int{}
	for r, id := range three {
		count[id]++
		if id != "y" && two[r] != id {
			t.Errorf("%s changes from %s to %s, though only y has left", r, id, two[r])
		}
	}
	for id, n := range count {
		if n < 70 || n > 130 {
			t.Errorf("%s serves %d of %d robots", id, n, len(robots))
		}
	}
}

func TestPeersThatLeave(t *testing.T) {
	served := func(p *Peers, now time.Time) (n int) {
		for i := range 100 {
			if p.Mine(fmt.Sprint(i), now) {
				n++
			}
		}
		return n
	}
	p := Peers{Self: "x"}
	p.Heard("x", at(0))
	if served(&p, at(0)) != 100 {
		t.Error("alone, and not all robots are served")
	}
	p.Heard("y", at(0))
	if n := served(&p, at(499)); n == 100 {
		t.Error("y gets no robots")
	}
	if served(&p, at(500)) != 100 {
		t.Error("y is silent, and its robots are not taken over")
	}
	p.Heard("y", at(1000))
	p.Left("y")
	if served(&p, at(1000)) != 100 {
		t.Error("y has left, and its robots are not taken over")
	}
}

func TestMessage(t *testing.T) {
	position := codec.PositionData{Time: 5, X: -1, Y: 2, Heading: 3, Speed: -4, TurnRate: 5, Compass: 6, Stall: 1}
	s := Sample{Interface: "position", Letter: codec.Position, Epoch: 5, Sequence: 7, Arrived: time.UnixMilli(1_700_000_000_500), Age: 200 * time.Millisecond, Aged: true, Payload: position.Append(nil)}
	later := s.At(s.Arrived.Add(100 * time.Millisecond))
	want := map[string][]string{
		HeaderTime: {"2023-11-14T22:13:20.300000Z"}, HeaderAge: {"300000"}, HeaderEpoch: {"5"}, HeaderSequence: {"7"}, HeaderSchema: {"player.position"},
	}
	if got := later.Headers(); !reflect.DeepEqual(got, want) {
		t.Errorf("headers %v, want %v", got, want)
	}
	const text = `{"schema":"player.position","epoch":5,"sequence":7,"time":"2023-11-14T22:13:20.300000Z","age_us":300000,` +
		`"data":{"time":5,"x":-1,"y":2,"heading":3,"speed":-4,"turnrate":5,"compass":6,"stall":1}}`
	if got := string(later.JSON()); got != text {
		t.Errorf("JSON %s, want %s", got, text)
	}
	s.Payload, s.Aged = nil, false
	if got := s.Headers(); len(got) != 3 {
		t.Errorf("without data: headers %v", got)
	}
	if got, want := string(s.JSON()), `{"schema":"player.position","epoch":5,"sequence":7,"time":null,"age_us":null,"data":null}`; got != want {
		t.Errorf("without data: JSON %s, want %s", got, want)
	}
}

// Every interface has a JSON form: the names are as in docs/fleet/subjects.md.
func TestFields(t *testing.T) {
	vision := codec.VisionData{Blobs: []codec.Blob{{Area: 1, X: 2, Y: 3, Left: 4, Right: 5, Top: 6, Bottom: 7}}}
	vision.Count[1] = 1
	joystick := codec.JoystickData{Buttons: 5, Axes: [8]int16{-1, 2}}
	payloads := map[byte][]byte{
		codec.Position: new(codec.PositionData).Append(nil),
		codec.Sonar:    (&codec.SonarData{1, 2}).Append(nil),
		codec.Laser:    (&codec.LaserData{3}).Append(nil),
		codec.Misc:     (&codec.MiscData{FrontBumpers: 1, RearBumpers: 2, Battery: 120}).Append(nil),
		codec.Gripper:  (&codec.GripperData{State: 1, Beams: 2}).Append(nil),
		codec.PTZ:      (&codec.PTZData{Pan: -1, Tilt: 2, Zoom: 3}).Append(nil),
		codec.Vision:   vision.Append(nil),
		codec.Joystick: joystick.Append(nil),
	}
	imu, gps := codec.UnknownIMU(), codec.UnknownGPS()
	imu.Yaw, gps.Fix, gps.Latitude = 90000, codec.RTKFix, 520000000
	payloads[codec.IMU], payloads[codec.GPS] = imu.Append(nil), gps.Append(nil)
	payloads[codec.Ranger] = (&codec.RangerData{Unit: 10, Ranges: []uint16{500, codec.NothingInRange, codec.UnknownRange}}).Append(nil)
	payloads[codec.IO] = (&codec.IOData{Values: []int32{1, codec.Unknown}}).Append(nil)
	payloads[codec.Servo] = (&codec.ServoData{Joints: []codec.Joint{{Position: -5, Goal: codec.Unknown, State: 129}}}).Append(nil)
	driving := codec.GotoData{State: codec.GotoDriving, Tag: 7, X: 4500, Y: -1200, Heading: codec.AnyHeading, Distance: 4657}
	payloads[codec.Goto] = driving.Append(nil)
	starts := map[byte]string{
		codec.Position: `{"time":0,"x":0`,
		codec.Sonar:    `{"ranges":[1,2,0`,
		codec.Laser:    `{"ranges":[3,0,0`,
		codec.Misc:     `{"front":1,"rear":2,"battery":120}`,
		codec.Gripper:  `{"state":1,"beams":2}`,
		codec.PTZ:      `{"pan":-1,"tilt":2,"zoom":3}`,
		codec.Vision:   `{"channels":[[],[{"area":1,"x":2,"y":3,"left":4,"right":5,"top":6,"bottom":7}],[],`,
		codec.Joystick: `{"buttons":5,"axes":[-1,2,0`,
		codec.Ranger:   `{"unit_mm":10,"ranges":[500,65534,65535]}`,
		codec.IMU:      `{"pitch_mdeg":null,"pitch_rate_mdeg_per_s":null,"roll_mdeg":null,"roll_rate_mdeg_per_s":null,"x_mm_per_s2":null,"y_mm_per_s2":null,"yaw_mdeg":90000,`,
		codec.GPS:      `{"course_mdeg":null,"fix":4,"height_mm":null,"horizontal_mm":null,"latitude_e7":520000000,"longitude_e7":null,"satellites":null,"speed_mm_per_s":null,"time_ms":null,`,
		codec.IO:       `{"values":[1,null]}`,
		codec.Servo:    `{"joints":[{"position":-5,"goal":null,"state":129}]}`,
		codec.Goto:     `{"state":1,"reason":0,"tag":7,"x_mm":4500,"y_mm":-1200,"heading_deg":null,"distance_mm":4657}`,
	}
	valid := schematest.CompileStrict(t, schema(t, "data"))
	for _, spec := range devices.Interfaces() {
		for _, payload := range [][]byte{payloads[spec.Letter], nil} {
			s := Sample{Interface: spec.Name, Letter: spec.Letter, Sequence: 7, Arrived: time.UnixMilli(1_700_000_000_500), Aged: true, Payload: payload}
			if err := valid(s.JSON()); err != nil {
				t.Errorf("%s: by the schema: %v", spec.Name, err)
			}
		}
		text := must.Get(json.Marshal(fields(spec.Letter, payloads[spec.Letter])))(t)
		if want := starts[spec.Letter]; want == "" || !strings.HasPrefix(string(text), want) {
			t.Errorf("%s: %s, want %s", spec.Name, text, want)
		}
		if got := fields(spec.Letter, []byte{1, 2, 3, 4, 5}); got != nil {
			t.Errorf("%s: a payload of wrong size gives %v", spec.Name, got)
		}
	}
}
