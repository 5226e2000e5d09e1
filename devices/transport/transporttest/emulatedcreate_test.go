package transporttest_test

import (
	"fmt"
	"math"
	"slices"
	"time"

	"player/codec"
	"player/devices/create"
	"player/devices/transport/transporttest"
	"player/e2e/must"
	emulatedcreate "player/simulation/emulator/create"
	"player/simulation/emulator/line"
)

func createProduct() product {
	return product{
		kind: create.Kind(), speeds: []int{115200, 19200}, period: 15 * ms, pace: 3 * ms,
		noise:     line.Noise{Garbage: .05, Flip: .05, Swallow: .05, Truncate: .05}, // commands have no checksum
		unwatched: true, start: creates(emulatedcreate.Options{}),
		states: map[string]starter{
			"over the counters' end": creates(emulatedcreate.Options{Counts: 32760}),
			"left driving":           creates(emulatedcreate.Options{Streaming: true}),
		},
	}
}

// wheeled judges a robot whose driver adds up the counts of its wheels: pose and senses are those that the robot had
// at one time.
type wheeled struct {
	state   func() (pose, [2]float64) // the true pose, and the speeds of the wheels
	base    float64                   // mm, between the wheels
	slip    float64                   // the fraction of a rotation that the wheels make and the robot does not
	command codec.PositionCommand
	off     bool // its motors: it obeys nothing
	// steered is when the client has commanded it last, and since is when it has begun to command the same.
	steered, since time.Duration
	senses         senses // now
	truth          []spot // the newest last
	// origin is the true pose where the driver's is zero. It is uncertain by slack after a restart: the way since the
	// last report is lost. Then the client makes the robot's place the origin.
	origin pose
	slack  float64 // mm
	// Speeds are judged while data comes regularly, and the wheels have not changed theirs for a while.
	stamp, gap time.Duration
	driven     bool
	// collisions are the data that is wrong though its checksum, of 8 bits, is right.
	collisions int
}

// mostCollisions is how many a minute of spoiled packets may have.
const mostCollisions = 5

type pose struct{ x, y, heading float64 } // mm, rad

// from returns a pose as it is seen from another one.
func (p pose) from(o pose) pose {
	sin, cos := math.Sincos(o.heading)
	x, y := p.x-o.x, p.y-o.y
	return pose{x*cos + y*sin, y*cos - x*sin, p.heading - o.heading}
}

// senses are the data of a robot but for its motion.
type senses struct {
	bumpers, battery, stall byte
}

// spot is where a robot is, from one time to another.
type spot struct {
	since, at time.Duration
	pose
	wheels [2]float64 // mm/s
	senses
}

func (h *wheeled) sample(r *rig) {
	s := spot{since: r.Now(), at: r.Now(), senses: h.senses}
	s.pose, s.wheels = h.state()
	h.driven = h.driven || s.wheels != [2]float64{}
	if n := len(h.truth); n > 0 {
		last := &h.truth[n-1]
		if last.wheels == s.wheels {
			s.since = last.since
		}
		if last.pose == s.pose && last.wheels == s.wheels && last.senses == s.senses {
			last.at = r.Now()
			return
		}
	}
	h.truth = append(h.truth, s)
	for h.truth[0].at < r.Now()-window {
		h.truth = h.truth[1:]
	}
}

// steer has a client drive at random.
func (h *wheeled) steer(r *rig) {
	if h.slack > 0 && r.isUp() && h.still() {
		h.settle(r)
	}
	change := r.random.IntN(10) == 0
	if change {
		h.command.Speed = int16(20 * (r.random.IntN(31) - 15))
		h.command.TurnRate = int16(10 * (r.random.IntN(13) - 6))
	}
	if change || r.Now()-h.steered > 150*ms {
		h.since = r.Now()
	}
	h.steered = r.Now()
	r.Client.SetCommand(r.Now(), h.command.Append(nil))
}

// settle ends the uncertainty after a restart.
func (h *wheeled) settle(r *rig) {
	if d := transporttest.Data[codec.PositionData](r.T, r.Client); !h.at(d, h.now(), h.slack) {
		if !r.strict {
			return // this data may be wrong
		}
		r.T.Fatalf("data is %+v, the robot at %+v, within %.0f mm", d, h.now().pose.from(h.origin), h.slack)
	}
	must.Do(r.T, r.Client.Configure(r.Now(), []byte{codec.ConfigOdometry}))
	h.origin, h.slack = h.now().pose, 0
	r.stamp = r.Now() - r.Client.Age(r.Now()) // this data is not judged
}

// now is the present state.
func (h *wheeled) now() (s spot) {
	s.senses = h.senses
	s.pose, s.wheels = h.state()
	return s
}

func (h *wheeled) judge(r *rig) error {
	if now := r.Now() - r.Client.Age(r.Now()); now != h.stamp {
		if now-h.stamp > 50*ms {
			h.gap = now
		}
		h.stamp = now
	}
	d := transporttest.Data[codec.PositionData](r.T, r.Client)
	m := transporttest.Data[codec.MiscData](r.T, r.Link.Device(codec.Misc))
	seen := senses{bumpers: m.FrontBumpers, battery: m.Battery, stall: d.Stall}
	for _, s := range slices.Backward(h.truth) {
		if s.senses == seen && h.at(d, s, h.slack) {
			return h.judgeSpeeds(r, d)
		}
	}
	if h.collisions++; !r.strict && h.collisions <= mostCollisions {
		h.slack += 20
		return nil
	}
	return fmt.Errorf("data is %+v and %+v, the robot at %+v, %+v", d, m, h.now().pose.from(h.origin), h.senses)
}

// at reports whether data has the pose of a spot, within the resolution of the data and of the wheels' counts.
func (h *wheeled) at(d codec.PositionData, s spot, slack float64) bool {
	p := s.pose.from(h.origin)
	most := 3 + 0.001*math.Hypot(p.x, p.y) + slack
	return math.Abs(float64(d.X)-p.x) <= most && math.Abs(float64(d.Y)-p.y) <= most &&
		math.Abs(math.Remainder(float64(d.Heading)-p.heading*180/math.Pi, 360)) <= 1+slack/10
}

// judgeSpeeds also tests whether the robot obeys a command that the client has repeated for a while.
func (h *wheeled) judgeSpeeds(r *rig, d codec.PositionData) error {
	now := h.truth[len(h.truth)-1]
	if c := h.command; !h.off && r.Now()-h.steered < 150*ms && r.Now()-h.since > 800*ms {
		speed, turn := (now.wheels[0]+now.wheels[1])/2, (now.wheels[1]-now.wheels[0])/h.base*180/math.Pi
		if math.Abs(speed-float64(c.Speed)) > 3 || math.Abs(turn-float64(c.TurnRate)) > 2 {
			return fmt.Errorf("wheels at %.0f mm/s, commanded %+v", now.wheels, c)
		}
	}
	if h.off && r.Now()-h.since > 800*ms && !h.still() {
		return fmt.Errorf("wheels at %.0f mm/s with motors that are off", now.wheels)
	}
	if !r.strict || r.Now()-h.gap < 500*ms || r.Now()-now.since < 500*ms {
		return nil
	}
	return h.fast(d, now.wheels)
}

// fast tests the speeds of a robot whose wheels have had theirs for a while.
func (h *wheeled) fast(d codec.PositionData, wheels [2]float64) error {
	speed, turn := (wheels[0]+wheels[1])/2, (wheels[1]-wheels[0])/h.base*(1-h.slip)*180/math.Pi
	if math.Abs(float64(d.Speed)-speed) > 5 || math.Abs(float64(d.TurnRate)-turn) > 3 {
		return fmt.Errorf("data has %d mm/s and %d deg/s, the robot %.0f and %.0f", d.Speed, d.TurnRate, speed, turn)
	}
	return nil
}

func (h *wheeled) still() bool { _, wheels := h.state(); return wheels == [2]float64{} }

func (h *wheeled) end(r *rig) {
	r.Client.SetCommand(r.Now(), (&codec.PositionCommand{}).Append(nil))
}

func (h *wheeled) rest(r *rig) error {
	h.truth = []spot{h.now()}
	if !h.still() {
		return fmt.Errorf("wheels at %v", h.truth[0].wheels)
	}
	if !h.driven {
		return fmt.Errorf("it has not driven: %+v", h.truth[0])
	}
	h.collisions = mostCollisions // here is none
	if err := h.judge(r); err != nil {
		return err
	}
	return h.fast(transporttest.Data[codec.PositionData](r.T, r.Client), [2]float64{})
}

// createRobot judges a Create.
type createRobot struct {
	*emulatedcreate.Robot
	wheeled
	bumps, cliffs byte // bits of misc
	lifted        bool
	switched      time.Duration // when its motors were switched on or off last, or the client tried to
}

func creates(options emulatedcreate.Options) starter {
	return func(o line.Options) (hardware, error) {
		options.Line = o
		r, err := emulatedcreate.Start(options)
		h := &createRobot{Robot: r}
		h.wheeled = wheeled{base: 235, senses: senses{battery: 156}, state: func() (pose, [2]float64) {
			s := r.State()
			return pose{s.X, s.Y, s.Heading}, [2]float64{float64(s.Left), float64(s.Right)}
		}}
		if options.Streaming {
			h.slack = math.Inf(1) // it has driven before
		}
		return h, err
	}
}

// left tests whether the robot can sleep.
func (h *createRobot) left() error {
	if s := h.State(); s.Streaming || s.Mode != int(create.Passive) {
		return fmt.Errorf("the robot: %+v", s)
	}
	return nil
}

func (h *createRobot) restart() {
	_, wheels := h.state()
	h.slack += 3 + 0.04*max(math.Abs(wheels[0]), math.Abs(wheels[1]))
	h.Reboot()
}

// work also presses the bumpers, holds the robot over cliffs and lifts it. Then it switches its motors off, and the
// client switches them on until it obeys.
func (h *createRobot) work(r *rig) {
	switch r.random.IntN(60) {
	case 0:
		h.bumps = byte(r.random.IntN(4))
		h.Bump(h.bumps&2 != 0, h.bumps&1 != 0)
	case 1:
		h.cliffs = byte(r.random.IntN(4))
		h.Cliff(1, h.cliffs&2 != 0)
		h.Cliff(3, h.cliffs&1 != 0)
	case 2:
		h.lifted = true
		h.Lift(true)
	}
	if h.cliffs != 0 && r.random.IntN(10) == 0 {
		h.cliffs = 0
		h.Cliff(1, false)
		h.Cliff(3, false)
	}
	if h.lifted && r.random.IntN(5) == 0 {
		h.lifted = false
		h.Lift(false)
	}
	h.senses.bumpers = h.bumps | h.cliffs<<2
	if h.lifted {
		h.senses.bumpers |= 16
	}
	if r.isUp() && r.Client.MotorsOff(r.Now()) {
		must.Do(r.T, r.Client.Configure(r.Now(), []byte{codec.ConfigMotors, 1}))
		h.switched = r.Now()
	}
	h.steer(r)
}

func (h *createRobot) sample(r *rig) {
	h.wheeled.sample(r)
	if obeys := h.State().Mode == int(create.ModeSafe); obeys == h.off {
		h.off, h.switched = !obeys, r.Now()
		h.since = r.Now()
	}
}

// judge also tests whether the driver knows that the robot has switched its motors off. If reports are held back at the end
// of the time that the robot has, the driver waits for one that comes when it was made, and noise may damage some.
func (h *createRobot) judge(r *rig) error {
	const known = window + 250*ms
	if off := r.Client.MotorsOff(r.Now()); off != h.off && r.Now()-h.switched > known {
		return fmt.Errorf("motors that are off: %v, the robot: %+v", off, h.State())
	}
	return h.wheeled.judge(r)
}

func (h *createRobot) rest(r *rig) error {
	if h.Count(byte(create.DriveDirect)) < 10 {
		return fmt.Errorf("it was not commanded: %+v", h.State())
	}
	return h.wheeled.rest(r)
}
