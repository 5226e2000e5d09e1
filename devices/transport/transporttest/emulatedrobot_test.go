package transporttest_test

import (
	"fmt"
	"math"
	"slices"
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

func startRobot(o line.Options) (hardware, error) {
	r, err := emulatedrobot.Start(emulatedrobot.Options{Line: o, Room: 8000})
	return &robot{Robot: r}, err
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

func (h *robot) still() bool { s := h.State(); return s.Left == 0 && s.Right == 0 }

func (h *robot) end(r *rig) {
	r.Client.SetCommand(r.Now(), (&codec.PositionCommand{}).Append(nil))
}

func (h *robot) rest(r *rig) error {
	s := h.State()
	first := r.Link.Counts == devices.Counts{Setups: 1} && r.Port().Baud == 9600 // no search had a reason for objections
	if !h.still() || first && len(s.Objections) > 0 {
		return fmt.Errorf("wheels at %.0f and %.0f mm/s, objections %q", s.Left, s.Right, s.Objections)
	}
	if s.Counts["VEL2"] < 10 || s.Odometry == (emulatedrobot.Pose{}) {
		return fmt.Errorf("it has not driven: %+v", s)
	}
	if data := transporttest.Data[codec.PositionData](r.T, r.Client); !h.same(data, s) {
		return fmt.Errorf("data is %+v, the robot at %+v", data, s)
	}
	return nil
}
