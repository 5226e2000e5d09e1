package transporttest_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport/transporttest"
	"player/simulation/emulator/line"
	emulatedrobot "player/simulation/emulator/p2os"
)

// robot judges a Pioneer: the driver's pose is the robot's.
type robot struct {
	*emulatedrobot.Robot
	command codec.PositionCommand
	truth   []moment // the newest last
	slack   float64  // mm, see restart
}

// moment is a state of the robot at a time.
type moment struct {
	at time.Duration
	emulatedrobot.State
}

// window is how old a state may be that the newest data has.
const window = 2500 * ms

func robots(options emulatedrobot.Options) starter {
	return func(o line.Options) (hardware, error) {
		options.Line, options.Room = o, 8000
		r, err := emulatedrobot.Start(options)
		return &robot{Robot: r}, err
	}
}

// robotStates are other models, and robots that another server has left: open, with motors that are on, elsewhere.
func robotStates() map[string]starter {
	elsewhere := emulatedrobot.Pose{X: 3000, Y: -500, Heading: 77}
	return map[string]starter{
		"p3dx":      robots(emulatedrobot.Options{Subclass: "p3dx"}),
		"elsewhere": robots(emulatedrobot.Options{Odometry: elsewhere}),
		"left open": robots(emulatedrobot.Options{Odometry: elsewhere, LeftOpen: true, MotorsOn: true}),
	}
}

func (h *robot) left() error {
	words := []byte{
		0xFA, 0xFB, 6, 32, 0x3B, 0, 0, 0x20, 0x3B, // VEL2
		0xFA, 0xFB, 3, 29, 0, 29, // STOP
		0xFA, 0xFB, 3, 2, 0, 2, // CLOSE
	}
	s := h.State()
	if heard := h.Heard(line.HostToDevice); !bytes.HasSuffix(heard, words) || s.Open || s.Motors || s.WatchdogTrips > 0 {
		return fmt.Errorf("it was commanded % X at last: %+v", heard[max(0, len(heard)-40):], s)
	}
	return nil
}

// restart also makes the pose uncertain: the robot's new frame has the heading of its last packet, in
// whole units, and it may have moved since.
func (h *robot) restart() {
	s := h.State()
	h.slack += 3 + 0.12*max(math.Abs(s.Left), math.Abs(s.Right))
	h.Reboot()
}

func (h *robot) work(r *rig) {
	if misc := r.Link.Device(codec.Misc); !h.State().Motors {
		_ = misc.Configure(r.Now(), []byte{'m', 1}) // an error while the robot is away
	}
	if r.random.IntN(10) == 0 {
		h.command.Speed = int16(20 * (r.random.IntN(31) - 15))
		h.command.TurnRate = int16(10 * (r.random.IntN(9) - 4))
	}
	r.Client.SetCommand(r.Now(), h.command.Append(nil))
}

func (h *robot) sample(r *rig) {
	s := h.State()
	if n := len(h.truth); n > 0 {
		if last := h.truth[n-1]; last.World == s.World && last.Left == s.Left && last.Right == s.Right {
			h.truth[n-1].at = r.Now()
			return
		}
	}
	h.truth = append(h.truth, moment{r.Now(), s})
	for h.truth[0].at < r.Now()-window {
		h.truth = h.truth[1:]
	}
}

func (h *robot) judge(r *rig) error {
	data := transporttest.Data[codec.PositionData](r.T, r.Client)
	for _, m := range slices.Backward(h.truth) {
		if h.same(data, m.State) {
			return nil
		}
	}
	return fmt.Errorf("data is %+v, the robot at %+v", data, h.truth)
}

// same reports whether data is of a state, within the resolution of the data.
func (h *robot) same(data codec.PositionData, s emulatedrobot.State) bool {
	return math.Abs(float64(data.X)-s.World.X) <= 1+h.slack && math.Abs(float64(data.Y)-s.World.Y) <= 1+h.slack &&
		math.Abs(math.Remainder(float64(data.Heading)-s.World.Heading, 360)) <= 1 &&
		math.Abs(float64(data.Speed)-(s.Left+s.Right)/2) <= 1
}

// watchdog is how often its watchdog has stopped the robot.
func (h *robot) watchdog() int { return h.State().WatchdogTrips }

func (h *robot) still() bool { s := h.State(); return s.Left == 0 && s.Right == 0 }

func (h *robot) end(r *rig) {
	r.Client.SetCommand(r.Now(), (&codec.PositionCommand{}).Append(nil))
}

func (h *robot) rest(r *rig) error {
	s := h.State()
	first := r.Link.Counts == devices.Counts{Setups: 1} && r.Port().Baud == 9600 // no search had a reason for objections
	s.Objections = slices.DeleteFunc(s.Objections, func(o string) bool {
		return strings.Contains(o, "before SYNC") // commands to stop, for one that was left open
	})
	if !h.still() || first && len(s.Objections) > 0 {
		return fmt.Errorf("wheels at %.0f and %.0f mm/s, objections %q", s.Left, s.Right, s.Objections)
	}
	if r.strict && s.BadPackets > 0 {
		return fmt.Errorf("it took packets for bad ones: %+v", s)
	}
	if s.Counts["VEL2"] < 10 || s.Odometry == (emulatedrobot.Pose{}) {
		return fmt.Errorf("it has not driven: %+v", s)
	}
	if data := transporttest.Data[codec.PositionData](r.T, r.Client); !h.same(data, s) {
		return fmt.Errorf("data is %+v, the robot at %+v", data, s)
	}
	return nil
}
