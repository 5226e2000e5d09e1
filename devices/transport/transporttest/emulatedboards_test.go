package transporttest_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/config"
	"player/devices"
	"player/devices/lines"
	"player/devices/transport/transporttest"
	"player/devices/wheels"
	"player/e2e/must"
	"player/formats/syntax"
	"player/simulation/emulator/arduino"
	"player/simulation/emulator/boards"
	"player/simulation/emulator/line"
)

// boardProducts are the boards of config/examples, each with its file. A line of text has no checksum, so noise changes
// no byte. The answers of ros_arduino_bridge and ODrive are bare numbers: two that are cut and joined look like one.
func boardProducts() []product {
	of := func(f func() boards.Firmware) func(h *board, o line.Options) error {
		return func(h *board, o line.Options) error {
			b, err := boards.Start(f(), o)
			h.cable, h.reboot = b, b.Reboot
			h.state = func() boardState {
				s := b.State()
				return boardState{s.Way, s.Speed, s.Trips, len(s.Unknown), s.Heard}
			}
			return err
		}
	}
	bridge := of(func() boards.Firmware { return &boards.Bridge{} })
	ugv := of(func() boards.Firmware { return &boards.UGV{} })
	odrive := of(func() boards.Firmware { return &boards.ODrive{} })
	sabertooth := of(func() boards.Firmware { return &boards.Sabertooth{} })
	unsealed := line.Noise{Garbage: .05, Truncate: .05, Both: true}
	return []product{
		{kind: named(lines.Kind(), "arduino.cfg"), config: true, speeds: []int{115200}, period: 60 * ms, pace: 3 * ms,
			noise: unsealed,
			start: newBoard(board{base: 150, most: 400, misc: codec.MiscData{Battery: 116}}, startArduino)},
		{kind: named(lines.Kind(), "waveshare_ugv.cfg"), config: true, speeds: []int{115200}, period: 60 * ms, pace: 30 * ms,
			noise: unsealed, runsOn: 3 * time.Second,
			start: newBoard(board{base: 172, most: 500, misc: codec.MiscData{Battery: 119}}, ugv)},
		{kind: named(lines.Kind(), "ros_arduino_bridge.cfg"), config: true, speeds: []int{57600}, period: 60 * ms,
			pace: 5 * ms, held: 400 * ms,
			start: newBoard(board{base: 296.9, most: 500}, bridge)},
		{kind: named(lines.Kind(), "odrive.cfg"), config: true, speeds: []int{115200}, period: 60 * ms, pace: 5 * ms,
			held:  400 * ms,
			start: newBoard(board{base: 540, most: 1000, apart: true, misc: codec.MiscData{Battery: 241}}, odrive)},
		{kind: named(lines.Kind(), "sabertooth.cfg"), config: true, speeds: []int{9600}, period: 510 * ms, pace: 20 * ms,
			client: codec.Misc, runsOn: 5 * time.Second, endures: true,
			start: newBoard(board{base: 300, most: 1000, misc: codec.MiscData{Battery: 118}}, sabertooth)},
	}
}

// configured returns the options of the driver in a file of config/examples.
func configured(t testing.TB, file string) map[string]any {
	t.Helper()
	parsed := must.Get(syntax.ParseFile("../../../config/examples/"+file, nil))(t)
	options := config.Options{Kinds: []devices.Kind{lines.Kind()}, Port: 6665, Log: zap.NewNop()}
	return must.Get(config.Build(parsed, options))(t).Robots[0].Drivers[0].Values
}

// board judges a board with two motors: they turn as commanded, and the driver's pose is the way of the wheels.
type board struct {
	cable
	state      func() boardState
	reboot     func()
	base, most float64        // of the configuration: mm, mm/s
	misc       codec.MiscData // that the board reports; without a battery: nothing
	sonar      codec.SonarData
	bump       func(pressed bool)
	apart      bool // the ways of left and right come in two lines, and with them two times

	command codec.PositionCommand
	worked  time.Duration // when the newest command was given
	steady  time.Duration // since when it is this one
	off     bool          // the client has switched the motors off

	way    [2]float64 // that the newest pose has
	path   float64    // mm, of the faster wheel, in all
	truth  []waypoint // the newest last
	origin pose       // of the driver's poses
	slack  float64    // mm, by which the driver's pose may be off
	seen   time.Duration
	since  float64 // path when the driver's pose was new
	lost   bool    // the origin is another one, because the driver does not know the way since then
}

type boardState struct {
	way, speed [2]float64 // mm, mm/s
	trips      int        // of the watchdog
	unknown    int        // lines that the board refuses
	heard      int        // lines
}

// waypoint is where a robot is at a time.
type waypoint struct {
	pose
	at time.Duration
}

func newBoard(b board, start func(h *board, o line.Options) error) starter {
	return func(o line.Options) (hardware, error) {
		h := b
		h.truth = []waypoint{{}}
		return &h, start(&h, o)
	}
}

func startArduino(h *board, o line.Options) error {
	r, err := arduino.Start(arduino.Options{Line: o})
	h.cable, h.reboot, h.bump, h.sonar = r, r.Reboot, r.Bump, codec.SonarData{1200, 800, 3500}
	h.state = func() boardState {
		s := r.State()
		return boardState{s.Way, [2]float64{float64(s.Left), float64(s.Right)}, s.Trips, s.Unknown, s.Lines}
	}
	return err
}

// counted reports whether the wheels have counted more than they can drive in a second: a restart shows by it.
func (h *board) counted() bool {
	way := h.state().way
	return max(math.Abs(way[0]), math.Abs(way[1])) > 100+1.1*h.most
}

// lose makes the pose uncertain: the driver does not know whether a board that comes back has begun anew, and forgets
// the way since its last line.
func (h *board) lose() {
	s := h.state().speed
	h.lost, h.since, h.slack = true, h.path, 3+0.12*max(math.Abs(s[0]), math.Abs(s[1]))
}

func (h *board) restart() {
	h.reboot()
	h.way, h.off = [2]float64{}, false
}

func (h *board) work(r *rig) {
	position := r.Link.Device(codec.Position)
	if r.Now() > h.worked+150*ms {
		h.steady = r.Now()
	}
	h.worked = r.Now()
	if r.random.IntN(10) == 0 {
		h.command.Speed = int16(20 * (r.random.IntN(31) - 15))
		h.command.TurnRate = int16(10 * (r.random.IntN(9) - 4))
		h.steady = r.Now()
	}
	if off := byte(0); h.off || r.random.IntN(40) == 0 {
		if h.off {
			off = 1
		}
		if position.Configure(r.Now(), []byte{codec.ConfigMotors, off}) == nil {
			h.off, h.steady = off == 0, r.Now()
		}
	}
	if h.bump != nil && r.random.IntN(10) == 0 {
		h.misc.FrontBumpers = byte(r.random.IntN(2))
		h.bump(h.misc.FrontBumpers == 1)
	}
	position.SetCommand(r.Now(), h.command.Append(nil))
}

func (h *board) sample(r *rig) {
	s := h.state()
	left, right := s.way[0]-h.way[0], s.way[1]-h.way[1]
	last := h.truth[len(h.truth)-1]
	if left == 0 && right == 0 {
		h.truth[len(h.truth)-1].at = r.Now()
		return
	}
	turn, way := (right-left)/h.base, (left+right)/2
	sin, cos := math.Sincos(last.heading + turn/2)
	h.way, h.path = s.way, h.path+max(math.Abs(left), math.Abs(right))
	h.truth = append(h.truth, waypoint{pose{last.x + way*cos, last.y + way*sin, last.heading + turn}, r.Now()})
	for h.truth[0].at < r.Now()-window {
		h.truth = h.truth[1:]
	}
}

func (h *board) judge(r *rig) error {
	if r.strict && r.Now() > h.steady+250*ms {
		left, right := wheels.Speeds(float64(h.command.Speed), float64(h.command.TurnRate), h.base, h.most)
		if h.off {
			left, right = 0, 0
		}
		if s := h.state().speed; math.Abs(s[0]-left) > 4 || math.Abs(s[1]-right) > 4 {
			return fmt.Errorf("the wheels turn at %.0f mm/s, commanded are %.0f and %.0f", s, left, right)
		}
	}
	return h.measured(r, h.truth)
}

// measured tests the newest data by the poses that the robot may have had.
func (h *board) measured(r *rig, truth []waypoint) error {
	if sonar := r.Table.Device(codec.Sonar); sonar != nil && sonar.HasData() {
		if data := transporttest.Data[codec.SonarData](r.T, sonar); data != h.sonar {
			return fmt.Errorf("sonars %v", data)
		}
	}
	if r.Client != r.Link.Device(codec.Position) {
		return nil
	}
	data := transporttest.Data[codec.PositionData](r.T, r.Client)
	seen := pose{x: float64(data.X), y: float64(data.Y), heading: float64(data.Heading) * math.Pi / 180}
	if h.lost {
		return h.find(seen)
	}
	switch way := h.path - h.since; {
	default: // a count of a wheel is half a millimetre
		h.slack += 0.002 * way
	case r.stamp > h.seen+100*ms: // the way between two lines is an arc for the driver
		h.slack += 0.1 * way
	case h.apart: // of two wheels at 300 mm/s, one is up to 60 ms late: 2 degrees
		h.slack += 0.04 * way
	}
	h.seen, h.since = r.stamp, h.path
	for _, p := range slices.Backward(truth) {
		off, turn := p.from(h.origin), 2*math.Pi/180
		if h.apart {
			turn *= 2
		}
		if math.Abs(off.x-seen.x) <= 3+h.slack && math.Abs(off.y-seen.y) <= 3+h.slack &&
			math.Abs(math.Remainder(off.heading-seen.heading, 2*math.Pi)) <= turn {
			return nil
		}
	}
	return fmt.Errorf("data is %+v, the robot at %+v", data, truth[len(truth)-1].from(h.origin))
}

// find sets the origin of the driver's poses anew while the robot stands.
func (h *board) find(seen pose) error {
	now := h.truth[len(h.truth)-1]
	was := now.from(h.origin)
	if off := math.Hypot(was.x-seen.x, was.y-seen.y); off > h.slack+h.path-h.since {
		return fmt.Errorf("the loss has moved the robot by %.0f mm, more than %.0f", off, h.slack+h.path-h.since)
	}
	turned := now.heading - seen.heading
	sin, cos := math.Sincos(turned)
	h.origin = pose{x: now.x - seen.x*cos + seen.y*sin, y: now.y - seen.x*sin - seen.y*cos, heading: turned}
	h.lost, h.slack = false, 30 // the heading is in whole degrees, and half of one is 30 mm after 3.4 m
	return nil
}

func (h *board) still() bool { return h.state().speed == [2]float64{} }

func (h *board) end(r *rig) {
	r.Link.Device(codec.Position).SetCommand(r.Now(), (&codec.PositionCommand{}).Append(nil))
}

func (h *board) rest(r *rig) error {
	s, first := h.state(), r.Link.Counts.Errors == 0
	if !h.still() || first && r.strict && s.trips+s.unknown > 0 {
		return fmt.Errorf("%+v: the wheels turn, the watchdog has stopped them, or lines are unknown", s)
	}
	if s.heard < 10 || len(h.truth) < 2 {
		return fmt.Errorf("it has not driven: %+v", s)
	}
	if misc := r.Table.Device(codec.Misc); h.misc.Battery != 0 {
		if data := transporttest.Data[codec.MiscData](r.T, misc); data != h.misc {
			return fmt.Errorf("data is %+v, want %+v", data, h.misc)
		}
	}
	if position := r.Link.Device(codec.Position); position == r.Client {
		if data := transporttest.Data[codec.PositionData](r.T, position); data.Speed != 0 || data.TurnRate != 0 {
			return fmt.Errorf("data is %+v", data)
		}
	}
	return h.measured(r, h.truth[len(h.truth)-1:])
}

// Each firmware of Waveshare has a file, with which the pose is the way of the wheels, and the battery has its voltage.
func TestWaveshare(t *testing.T) {
	for _, tt := range []struct {
		file     string
		firmware boards.Firmware
		base     float64 // mm
		battery  uint8
	}{
		{"waveshare_ugv.cfg", &boards.UGV{}, 172, 119},
		{"waveshare_ugv.cfg", &boards.UGV{Feedback: boards.Centimetres}, 172, 119},
		{"waveshare_ugv_general.cfg", &boards.UGV{Feedback: boards.Speeds}, 172, 119},
		{"waveshare_cobra_flex.cfg", &boards.Cobra{}, 228, 117},
	} {
		r := newRig(t, product{kind: named(lines.Kind(), tt.file), config: true, values: map[string]any{"wheelbase": tt.base},
			start: newBoard(board{}, func(h *board, o line.Options) error {
				b, err := boards.Start(tt.firmware, o)
				h.cable, h.state = b, func() boardState { return boardState{way: b.State().Way, unknown: len(b.State().Unknown)} }
				return err
			})}, line.Options{})
		r.cuts = true
		r.connect()
		position := r.Link.Device(codec.Position)
		drive := func(speed, turn int16, length time.Duration) codec.PositionData {
			position.SetCommand(r.Now(), codec.PositionCommand{Speed: speed, TurnRate: turn}.Append(nil))
			r.Pass(length)
			return transporttest.Data[codec.PositionData](t, position)
		}
		far := drive(300, 0, 3*time.Second)
		drive(0, 0, 500*ms)
		turned := drive(0, 45, 2*time.Second)
		drive(0, 0, 500*ms)
		s := r.hardware.(*board).state()
		heading := (s.way[1] - s.way[0]) / tt.base * 180 / math.Pi
		misc := transporttest.Data[codec.MiscData](t, r.Table.Device(codec.Misc))
		// A way in whole centimetres is 10 mm too short, and its end by as much of the base too far round.
		if math.Abs(float64(far.X)-900) > 40 || math.Abs(float64(far.Heading)) > 3 || math.Abs(float64(far.Speed)-300) > 15 ||
			math.Abs(float64(turned.Heading)-heading) > 6 || math.Abs(heading-90) > 5 || misc.Battery != tt.battery || s.unknown != 0 {
			t.Errorf("%s, %+v: %+v, then %+v, in truth %.0f degrees; %+v, %d lines unknown", tt.file, tt.firmware, far, turned, heading, misc, s.unknown)
		}
		for _, message := range r.Messages() {
			if strings.HasPrefix(message, "warn") {
				t.Errorf("%s, %+v: %s", tt.file, tt.firmware, message)
			}
		}
	}
}
