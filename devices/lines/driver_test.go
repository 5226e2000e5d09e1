package lines

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/scale"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

const ms = time.Millisecond

// newBench returns the driver of a board, with a client of one of its devices.
func newBench(t *testing.T, o Options, client byte) (*transporttest.Bench, *Driver) {
	t.Helper()
	o.Port, o.Baud, o.Boot = "/dev/board", 9600, time.Second
	d := must.Get(New(o))(t)
	b := transporttest.NewBench(t, devices.Instance{Driver: d, Name: "board", Provides: d.provides()})
	b.Client = b.Link.Device(client)
	return b, d
}

// newBumper returns a board with a bumper.
func newBumper(t *testing.T) *transporttest.Bench {
	b, _ := newBench(t, Options{Read: []string{"K {front}"}}, codec.Misc)
	return b
}

// setup opens the device of a board that says a text when it has booted. It returns
// the error.
func setup(b *transporttest.Bench, says string) error {
	b.T.Helper()
	b.Done = nil
	if b.Subscribe(); b.Done != nil {
		b.T.Fatalf("the setup has ended at once: %v", b.Done)
	}
	b.Pass(1500 * time.Millisecond)
	b.Port().Say([]byte(says))
	b.Pass(5 * time.Second)
	if len(b.Done) != 1 {
		b.T.Fatalf("the setup has ended %d times", len(b.Done))
	}
	return b.Done[0]
}

// TestDiagnosis: the error names the fault, by the bytes received in this handshake.
func TestDiagnosis(t *testing.T) {
	b := newBumper(t)
	const patience = "if the board boots for more than 4s when its port is opened, raise boot, which is 1000 ms"
	for _, tt := range []struct{ says, want string }{
		{"", "no line of text"},
		{"", patience},
		{"calibrating\r\n", patience},
		{strings.Repeat("\x00\xFF", 10), "more than 10 bytes came that are not understood"}, // its boot loader has another speed
		{strings.Repeat("\x00\xFF", 10), "Its baud is 9600; " + patience},
		{"hello\r\n", "none matches read or poll"},
		{"", "no line of text"},
	} {
		if err := setup(b, tt.says); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("the board says %q: %v, want %q", tt.says, err, tt.want)
		}
	}
	if err := setup(b, "K 3\r\n"); err != nil {
		t.Error(err)
	}
}

// A number that cannot be is not published, but counted, and the board is alive.
func TestImpossibleNumbers(t *testing.T) {
	b := newBumper(t)
	must.Do(t, setup(b, "K 3\r\n"))
	before, ports := b.Client.Link().Counts.Dropped, len(b.Ports)
	for range 30 {
		b.Port().Say([]byte("K 1e300\r\n"))
		b.Pass(100 * time.Millisecond)
	}
	var d codec.MiscData
	if err := d.Decode(b.Client.Data()); err != nil || d.FrontBumpers != 3 {
		t.Errorf("bumpers %d, %v", d.FrontBumpers, err)
	}
	if n := b.Client.Link().Counts.Dropped - before; n != 30 || len(b.Ports) != ports {
		t.Errorf("%d of 30 numbers are counted, the port was opened %d times more", n, len(b.Ports)-ports)
	}
}

// TestRestartIsStopped: a board that has restarted on an open port is stopped and greeted;
// its wheels' counts show the restart. The command from before is not repeated.
func TestRestartIsStopped(t *testing.T) {
	b, _ := newBench(t, Options{
		Hello: []string{"hello"}, Read: []string{"W {left} {right}"},
		Drive: "D {left} {right}", Stop: "S", Repeat: 100 * time.Millisecond, Base: 200, Most: 500,
	}, codec.Position)
	position := b.Client
	b.Subscribe()
	b.Pass(1500 * time.Millisecond)
	say := func(line string) {
		b.Pass(50 * time.Millisecond)
		b.Port().Say([]byte(line + "\n"))
	}
	say("W 0 0")
	position.SetCommand(b.Now(), codec.PositionCommand{Speed: 400}.Append(nil))
	for _, line := range []string{"W 20 20", "W 300 300", "W 600 600"} {
		say(line)
	}
	b.Pass(50 * time.Millisecond)
	before := len(b.Port().Wrote)
	b.Port().Say([]byte("W 0 0\n"))
	for range 20 {
		say("W 0 0")
	}
	if got := string(b.Port().Wrote[before:]); got != "S\nhello\n" || position.Command() != nil {
		t.Errorf("the restarted board was sent %q, want a stop and the greeting; command % X", got, position.Command())
	}
	position.SetCommand(b.Now(), codec.PositionCommand{Speed: 100}.Append(nil))
	if got := string(b.Port().Wrote[before:]); !strings.HasSuffix(got, "D 100 100\n") {
		t.Errorf("a new command is not obeyed: %q", got)
	}
}

// TestPolls: answers of the same form are matched to the request before them. The next line
// is sent when the answer has come; the driver gives up a missing answer. Commands are sent
// meanwhile.
func TestPolls(t *testing.T) {
	b, d := newBench(t, Options{
		EOL: "cr", Read: []string{"OK"}, Round: 200 * time.Millisecond,
		Poll:  []string{"f 0", "{left} {_}", "f 1", "{right*-1} {_}", "b", "{battery}"},
		Drive: "D {left} {right}", Base: 200, Most: 500,
	}, codec.Position)
	position := b.Client
	b.Subscribe()
	heard := 0
	expect := func(after time.Duration, want string) {
		t.Helper()
		b.Pass(after)
		if got := string(b.Port().Wrote[heard:]); got != want {
			t.Fatalf("the board hears %q, want %q", got, want)
		}
		heard = len(b.Port().Wrote)
	}
	say := func(line string) { b.Port().Say([]byte(line + "\r\n")) }
	expect(1200*time.Millisecond, "D 0 0\rf 0\r")
	expect(500*time.Millisecond, "f 0\r") // the board has not received it
	say("100 7")
	expect(100*time.Millisecond, "") // another answer may follow
	expect(100*time.Millisecond, "f 0\r")
	say("100 7")
	expect(0, "f 1\r")
	say("-100 7")
	expect(0, "b\r")
	say("12.5")
	if len(b.Done) != 1 || b.Done[0] != nil || d.miscData.Battery != 125 {
		t.Fatalf("setup %v, battery %d", b.Done, d.miscData.Battery)
	}
	expect(200*time.Millisecond, "f 0\r")
	position.SetCommand(b.Now(), codec.PositionCommand{Speed: 100}.Append(nil))
	expect(0, "D 100 100\r")
	say("OK")
	expect(400*time.Millisecond, "")
	expect(100*time.Millisecond, "") // f 0 is given up
	expect(200*time.Millisecond, "f 1\r")
	say("-999 7") // is it the answer to f 0 or to f 1?
	expect(200*time.Millisecond, "f 1\r")
	say("-150 7")
	expect(0, "b\r")
	if d.positionData.X != 0 {
		t.Errorf("a wheel alone has moved it to %d mm", d.positionData.X)
	}
	say("12.5")
	expect(0, "f 0\r")
	say("150 7")
	if d.positionData.X != 50 || d.positionData.Heading != 0 {
		t.Errorf("it is at %d mm, %d degrees; want 50, 0", d.positionData.X, d.positionData.Heading)
	}
	say("-150 7")
	say("12.5")
	expect(100*time.Millisecond, "f 1\rb\r")
	expect(100*time.Millisecond, "f 0\r") // 200 ms after the last time
	if n := d.lines.Stats.Broken; n != 0 {
		t.Errorf("%d lines are not understood", n)
	}
}

// An answer that comes late is not taken for the next one, however late: of two wheels with answers that look alike, none
// gets the way of the other.
func TestLateAnswers(t *testing.T) {
	for _, delay := range []time.Duration{450 * ms, 550 * ms, 650 * ms, 750 * ms, 950 * ms, 1200 * ms, 1900 * ms} {
		b, d := newBench(t, Options{Poll: []string{"l", "{left}", "r", "{right}"}, Round: 20 * ms, Drive: "D {left} {right}", Base: 200, Most: 500},
			codec.Position)
		b.Subscribe()
		type answer struct {
			at   time.Duration
			text string
		}
		var answers []answer
		heard, busy := 0, time.Duration(0)
		late := false
		for step := range 10000 {
			b.Pass(ms)
			if len(b.Ports) != 1 {
				t.Fatalf("%v: the line was opened %d times", delay, len(b.Ports))
			}
			for ; heard < len(b.Port().Wrote); heard++ {
				text := map[byte]string{'l': "1000\n", 'r': "3000\n"}[b.Port().Wrote[heard]]
				if text == "" {
					continue
				}
				at := max(busy, b.Now()+ms)
				if step > 5000 && !late {
					late, at = true, b.Now()+delay
				}
				busy = at
				answers = append(answers, answer{at, text})
			}
			for len(answers) > 0 && answers[0].at <= b.Now() {
				b.Port().Say([]byte(answers[0].text))
				answers = answers[1:]
			}
			if d.positionData.X != 0 || d.way != [2]float64{} && d.way != [2]float64{1000, 3000} && d.way != [2]float64{1000} {
				t.Fatalf("%v: after %d ms the wheels have driven %v", delay, step, d.way)
			}
		}
		if d.doubt || !late || d.position.Age(b.Now()) > 100*ms {
			t.Errorf("%v: it has not settled", delay)
		}
	}
}

// The fields of an IMU, of a GPS receiver and of channels are published in the units of the protocol; without a line a
// field is unknown.
func TestSensors(t *testing.T) {
	b, d := newBench(t, Options{
		Read:   []string{"M {yaw} {yawrate*57.3} {az*9807}", "G {latitude} {longitude} {height*1000} {fix}", "I {io0} {io2/10}"},
		Output: "D {channel} {value}", Names: []string{"Button", "Lamp", "Sharp", "Fan"},
	}, codec.IMU)
	must.Do(t, setup(b, "M -90.5 0.1 1\r\n"))
	imu := codec.UnknownIMU()
	imu.Yaw, imu.YawRate, imu.Z = -90500, 5730, 9807
	if got := transporttest.Data[codec.IMUData](t, b.Client); got != imu {
		t.Errorf("imu %+v", got)
	}
	b.Port().Say([]byte("M nan 0 1\r\nG 52.5 -13.25 34.5 4\r\nI 1 250\r\n"))
	imu.YawRate = 0
	if got := transporttest.Data[codec.IMUData](t, b.Client); got != imu {
		t.Errorf("a field without a number: %+v", got)
	}
	gps := codec.UnknownGPS()
	gps.Fix, gps.Latitude, gps.Longitude, gps.Height = codec.RTKFix, 525000000, -132500000, 34500
	if got := transporttest.Data[codec.GPSData](t, b.Link.Device(codec.GPS)); got != gps {
		t.Errorf("gps %+v", got)
	}
	io := b.Link.Device(codec.IO)
	if got := transporttest.Data[codec.IOData](t, io); !slices.Equal(got.Values, []int32{1, codec.Unknown, 25, codec.Unknown}) {
		t.Errorf("io %+v", got)
	}
	roles := ""
	for _, c := range io.AppendChannels(nil) {
		roles += string(c.Role) + " " + c.Name + ","
	}
	if roles != "input Button,output Lamp,input Sharp,output Fan," {
		t.Errorf("channels %q", roles)
	}
	b.Port().Wrote = nil
	for _, c := range []codec.IOCommand{{Channel: 1, Value: 1}, {Channel: 0, Value: 1}, {Channel: 3, Value: -7}, {Channel: 9, Value: 1}} {
		io.SetCommand(b.Now(), c.Append(nil))
	}
	if got := string(b.Port().Wrote); got != "D 1 1\nD 3 -7\n" {
		t.Errorf("the board was sent %q", got)
	}
	b.Port().Say([]byte("I 0 10\r\n"))
	if got := transporttest.Data[codec.IOData](t, io); !slices.Equal(got.Values, []int32{0, 1, 1, -7}) {
		t.Errorf("io %+v", got)
	}
	if _, err := New(Options{Read: []string{"K {front}"}, Drive: "V {channel}"}); err == nil || d.drive != nil {
		t.Error("a command to the wheels has a channel")
	}
}

// Readings of a ranger, and joints, are published in the units of the protocol.
func TestRangerAndJoints(t *testing.T) {
	b, _ := newBench(t, Options{
		Read:   []string{"R {range0} {range1*10} {range2}", "J {joint0} {joint1} {state1}"},
		Rays:   []string{"0 2 80 0 -45 45 20 2000 25", "2 1 0 0 180 0 0 0 0"},
		Joints: []string{"deg -90 90 Pan", "mm 0 120.5 Lift"},
		Servo:  "P {joint} {goal:1} {speed}", Hold: "H {joint}",
	}, codec.Ranger)
	must.Do(t, setup(b, "R 100 30 70000\r\n"))
	ranges := func() []uint16 { return transporttest.Data[codec.RangerData](t, b.Client).Ranges }
	if got := ranges(); !slices.Equal(got, []uint16{100, 300, codec.NothingInRange}) {
		t.Errorf("ranges %d", got)
	}
	b.Port().Say([]byte("R 19.4 200.1 inf\r\nR nan 7 -1\r\nR 20 200 1e9\r\nR 5 nan 65533\r\n"))
	if got := ranges(); !slices.Equal(got, []uint16{codec.UnknownRange, 2000, 65533}) {
		t.Errorf("ranges %d", got)
	}
	rays := b.Client.AppendRays(nil)
	if len(rays) != 2 || rays[0].X != 80 || rays[0].Step != 45 || rays[1].Heading != 180 {
		t.Errorf("rays %+v", rays)
	}
	servo := b.Link.Device(codec.Servo)
	b.Port().Say([]byte("J -12.3456 100 3\r\n"))
	want := []codec.Joint{{Position: -12346, Goal: codec.Unknown}, {Position: 100000, Goal: codec.Unknown, State: codec.JointKnown | 3}}
	joints := func() []codec.Joint { return transporttest.Data[codec.ServoData](t, servo).Joints }
	if got := joints(); !slices.Equal(got, want) {
		t.Errorf("joints %+v, want %+v", got, want)
	}
	if channels := servo.AppendChannels(nil); len(channels) != 2 || channels[1] !=
		(codec.Channel{Device: servo.Code(), Number: 1, Role: codec.Jointed, Unit: "um", Max: 120500, Name: "Lift"}) {
		t.Errorf("joints %+v", channels)
	}
}

// ready opens the device of a board that says a text when it has booted.
func ready(b *transporttest.Bench, says string) {
	b.T.Helper()
	b.Subscribe()
	b.Pass(1500 * time.Millisecond)
	b.Port().Say([]byte(says))
	if len(b.Done) != 1 || b.Done[0] != nil {
		b.T.Fatalf("setup %v", b.Done)
	}
}

// Joints are moved within their limits, the newest command of each when the line is free, and stopped.
func TestServoCommands(t *testing.T) {
	joints := []string{"deg -90 90 Pan", "deg 0 45 Tilt"}
	type command = codec.ServoCommand
	stop := codec.StopServos()
	for _, tt := range []struct {
		name     string
		options  Options
		says     string
		commands []command
		want     string
	}{
		{"limits and speed", Options{Servo: "P {joint} {goal:1} {speed}"}, "",
			[]command{{Joint: 0, Goal: -100000, Speed: 30000}, {Joint: 1, Goal: 12340}, {Joint: 2, Goal: 1}}, "P 0 -90.0 30\nP 1 12.3 0\n"},
		{"the newest", Options{Servo: "P {joint} {goal}"}, "",
			[]command{{Joint: 0, Goal: 1000}, {Joint: 0, Goal: 2000}, {Joint: 1, Goal: 3000}, {Joint: 0, Goal: 4000}}, "P 0 1\nP 0 4\nP 1 3\n"},
		{"all", Options{Servo: "P {joint} {goal}"}, "", []command{{Joint: codec.AllJoints, Goal: 60000}}, "P 0 60\nP 1 45\n"},
		{"hold", Options{Servo: "P {joint} {goal}", Hold: "H {joint}"}, "", []command{stop}, "H 0\nH 1\n"},
		{"stop where it is", Options{Servo: "P {joint} {goal}"}, "J 7 8\n", []command{stop}, "P 0 7\nP 1 8\n"},
		{"stop at an unknown place", Options{Servo: "P {joint} {goal}"}, "", []command{stop}, ""},
		{"fixed joints", Options{}, "", []command{{Joint: 0, Goal: 1000}}, ""},
	} {
		o := tt.options
		o.Read, o.Joints = []string{"K {front}", "J {joint0} {joint1}"}, joints
		b, _ := newBench(t, o, codec.Servo)
		ready(b, "K 0\n")
		b.Port().Say([]byte(tt.says))
		b.Port().Wrote = nil
		for _, c := range tt.commands {
			b.Client.SetCommand(b.Now(), c.Append(nil))
		}
		b.Pass(time.Second)
		if got := string(b.Port().Wrote); got != tt.want {
			t.Errorf("%s: the board was sent %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A board whose line was lost moves no joint when it is back: it gets the command to hold them. The same holds when the
// client has left.
func TestServoAfterLoss(t *testing.T) {
	b, _ := newBench(t, Options{
		Read: []string{"K {front}"}, Joints: []string{"deg -90 90 Pan"}, Servo: "P {joint} {goal}", Hold: "H {joint}",
	}, codec.Servo)
	ready(b, "K 0\n")
	b.Client.SetCommand(b.Now(), codec.ServoCommand{Goal: 30000}.Append(nil))
	if got := transporttest.Data[codec.ServoData](t, b.Client).Joints[0]; got.Goal != codec.Unknown {
		t.Fatalf("before the next line the data is %+v", got)
	}
	b.Port().Say([]byte("K 0\n"))
	if got := transporttest.Data[codec.ServoData](t, b.Client).Joints[0]; got.Goal != 30000 || got.Position != codec.Unknown {
		t.Fatalf("data %+v", got)
	}
	b.Port().HangUp()
	b.Client.SetCommand(b.Now(), codec.ServoCommand{Goal: 40000}.Append(nil))
	b.Pass(2500 * time.Millisecond)
	b.Port().Say([]byte("K 0\n"))
	b.Pass(time.Second)
	if got := string(b.Port().Wrote); len(b.Ports) != 2 || got != "\nH 0\nH 0\n" {
		t.Errorf("%d ports; the board that is back was sent %q", len(b.Ports), got)
	}
	b.Port().Wrote = nil
	b.Unsubscribe()
	if got := string(b.Port().Wrote); got != "H 0\n" {
		t.Errorf("a board without clients was sent %q", got)
	}
}

// A factor that cannot be right is warned of once, with its place and a factor that would fit.
func TestWrongScales(t *testing.T) {
	place := func(option string, i int) string { return fmt.Sprint(option, " ", i) }
	drive := Options{Drive: "D {left} {right}", Base: 200, Most: 500, Place: place}
	with := func(read ...string) Options {
		o := drive
		o.Read = read
		return o
	}
	poll := drive
	poll.Poll = []string{"e", "{left*1000} {right*1000}", "b", "{battery}"}
	for _, tt := range []struct {
		name    string
		options Options
		line    string // for seconds of driving, mm, and a voltage
		command codec.PositionCommand
		want    string // place, is, would fit
	}{
		{"right", with("K {front}", "O {left*10} {right*10} {battery/100}"), "O %[2]d %[2]d 1185", codec.PositionCommand{Speed: 300}, ""},
		{"whole cm taken for metres", with("K {front}", "O {left*1000} {right*-1000}"), "O %[2]d -%[2]d", codec.PositionCommand{Speed: 300},
			"read 1: {left*1000}, {left*10}"},
		{"metres taken for mm", with("O {x} {y} 0"), "O %.3[1]f 0 0", codec.PositionCommand{Speed: 300}, "read 0: {x}, {x*1000}"},
		{"speed in m/s", with("O {speed} {_}"), "O 0.3 0", codec.PositionCommand{Speed: 300}, "read 0: {speed}, {speed*1000}"},
		{"speeds of wheels in cm/s", with("O {leftspeed} {rightspeed}"), "O 30 30", codec.PositionCommand{Speed: 300},
			"read 0: {leftspeed}, {leftspeed*10}"},
		{"turn in rad/s", with("O {_} {turn}"), "O 0 0.5236", codec.PositionCommand{TurnRate: 30}, "read 0: {turn}, {turn*57.2958}"},
		{"radians", with("O {x} {y} {heading}"), "O 0 0 %.4[3]f", codec.PositionCommand{TurnRate: 30}, "read 0: {heading}, {heading*57.2958}"},
		{"hundredths of a volt", with("B {battery}"), "B 1185", codec.PositionCommand{}, "read 0: {battery}, {battery/100}"},
		{"mV", with("B {front} {battery}"), "B 0 11850", codec.PositionCommand{}, "read 0: {battery}, {battery/1000}"},
		{"kV", with("B {battery/1000}"), "B 11.8", codec.PositionCommand{}, "read 0: {battery/1000}, {battery}"},
		{"sonars in mm taken for cm", with("S {sonar0*10} {sonar1*10}"), "S %[4]d %[4]d", codec.PositionCommand{}, "read 0: {sonar0*10}, {sonar0}"},
		{"polled", poll, "", codec.PositionCommand{Speed: 300}, "poll 1: {left*1000}, {left*10}"},
	} {
		b, d := newBench(t, tt.options, d0(tt.options))
		b.Subscribe()
		b.Pass(1500 * ms)
		position := b.Link.Device(codec.Position)
		heard, metres := 0, 0.0
		for step := range 600 {
			text := ""
			if tt.line != "" {
				text = fmt.Sprintf(tt.line+"\n%.0[1]f%.0[2]d%.0[3]f%.0[4]d", metres, int(metres*100), float64(step)*0.05*30*math.Pi/180, 2000+step%50*30)
				text, _, _ = strings.Cut(text, "\n")
				text += "\n"
			}
			for ; heard < len(b.Port().Wrote); heard++ {
				switch b.Port().Wrote[heard] {
				case 'e':
					text = fmt.Sprintf("%[1]d %[1]d\n", int(metres*100))
				case 'b':
					text = "11.8\n"
				}
			}
			b.Port().Say([]byte(text))
			b.Pass(50 * ms)
			if step%20 == 0 && position != nil {
				position.SetCommand(b.Now(), tt.command.Append(nil))
			}
			if step > 1 {
				metres += float64(tt.command.Speed) / 1000 * 0.05
			}
		}
		got := ""
		for _, e := range b.Log.FilterMessage(scale.LogScale).All() {
			f := e.ContextMap()
			got += fmt.Sprintf("%v: %v, %v", f["place"], f["is"], f["would fit"])
		}
		if got != tt.want || len(b.Ports) != 1 || !d.IsUp() {
			t.Errorf("%s: %q, want %q; log %.500q", tt.name, got, tt.want, b.Messages())
		}
	}
}

// d0 returns the first device of a board.
func d0(o Options) byte {
	d, err := New(o)
	if err != nil {
		panic(err)
	}
	return d.provides()[0].Letter
}
