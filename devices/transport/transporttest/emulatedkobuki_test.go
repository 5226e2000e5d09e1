package transporttest_test

import (
	"fmt"
	"math"
	"time"

	"player/codec"
	"player/devices/kobuki"
	"player/e2e/must"
	emulatedkobuki "player/simulation/emulator/kobuki"
	"player/simulation/emulator/line"
)

func kobukiProduct() product {
	return product{
		kind: kobuki.Kind(), speeds: []int{115200}, period: 20 * ms, pace: 8 * ms, noise: noise(.05),
		unwatched: true, counts: 2 * time.Second, start: kobukis(emulatedkobuki.Options{}),
		states: map[string]starter{
			"over the counters' end": kobukis(emulatedkobuki.Options{Counts: 65000}),
			"left driving":           kobukis(emulatedkobuki.Options{Driving: true}),
			"slipping":               kobukis(emulatedkobuki.Options{Slip: 0.3}),
			"without a gyroscope":    kobukis(emulatedkobuki.Options{NoGyro: true}),
		},
	}
}

// kobukiRobot judges a Kobuki.
type kobukiRobot struct {
	*emulatedkobuki.Robot
	wheeled
}

func kobukis(options emulatedkobuki.Options) starter {
	return func(o line.Options) (hardware, error) {
		options.Line = o
		r, err := emulatedkobuki.Start(options)
		h := &kobukiRobot{Robot: r}
		h.wheeled = wheeled{base: 230, senses: senses{battery: 161}, state: func() (pose, [2]float64) {
			s := r.State()
			return pose{s.X, s.Y, s.Heading}, [2]float64{s.Left, s.Right}
		}}
		if options.Driving {
			h.slack = math.Inf(1) // it has driven before
		}
		h.slip = options.Slip
		return h, err
	}
}

func (h *kobukiRobot) restart() {
	_, wheels := h.state()
	h.slack += 3 + 0.05*max(math.Abs(wheels[0]), math.Abs(wheels[1]))
	h.Reboot()
}

// work also has the robot sense something, and the client switch its motors off for a while.
func (h *kobukiRobot) work(r *rig) {
	switch r.random.IntN(60) {
	case 0:
		h.senses.bumpers = h.senses.bumpers&^7 | byte(r.random.IntN(8))
		h.Bump(h.senses.bumpers & 7)
	case 1:
		h.senses.bumpers ^= 8
		h.Cliff(h.senses.bumpers & 8 >> 2)
	case 2:
		h.senses.bumpers ^= 16
		h.Lift(h.senses.bumpers&16 != 0)
	case 3:
		h.senses.stall ^= 1
		h.Block(h.senses.stall != 0)
	case 4:
		h.switchMotors(r, true)
	}
	if h.off && r.random.IntN(20) == 0 {
		h.switchMotors(r, false)
	}
	h.steer(r)
}

func (h *kobukiRobot) switchMotors(r *rig, off bool) {
	if r.isUp() {
		must.Do(r.T, r.Client.Configure(r.Now(), []byte{codec.ConfigMotors, 1 - line.Bit(off)}))
		h.off, h.since = off, r.Now()
	}
}

func (h *kobukiRobot) judge(r *rig) error {
	h.off = r.Client.MotorsOff(r.Now()) // they are on when it has been lost
	return h.wheeled.judge(r)
}

func (h *kobukiRobot) rest(r *rig) error {
	if h.Commands() < 100 {
		return fmt.Errorf("it was not commanded: %+v", h.State())
	}
	return h.wheeled.rest(r)
}
