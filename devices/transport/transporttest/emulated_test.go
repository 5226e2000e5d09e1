package transporttest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/p2os"
	"player/devices/rplidar"
	"player/devices/sicklms200"
	"player/devices/transport/transporttest"
	"player/e2e/must"
	"player/simulation/emulator/line"
	emulatedrobot "player/simulation/emulator/p2os"
)

const ms = time.Millisecond

// hardware is emulated hardware at the end of a cable, and the judge of what its driver publishes.
type hardware interface {
	Unplug()
	Plug() error
	Pause()
	Release()
	Silence()
	Speak()
	Close()
	Transcript() string

	restart()
	// work changes what is measured, as a client or the room does; it is called each 100 ms.
	work(r *rig)
	// sample is called before and after each event of the hardware.
	sample(r *rig)
	// judge tests the newest data.
	judge(r *rig) error
	// still reports that nothing moves.
	still() bool
	// end stops the work; a while later rest tests the data once more.
	end(r *rig)
	rest(r *rig) error
}

// product is a driver and its hardware.
type product struct {
	kind   devices.Kind
	others []devices.Kind // whose Probes recognise other hardware
	speeds []int          // that the hardware may have, the one of a new one first
	period time.Duration  // of its data
	start  func(o line.Options) (hardware, error)
}

func products() []product {
	return []product{
		{p2os.Kind(), []devices.Kind{sicklms200.Kind(), rplidar.Kind()}, []int{9600, 38400, 19200, 57600, 115200}, 100 * ms, startRobot},
	}
}

const port = "/dev/emulated"

// rig is a driver on the cable of its hardware, both in the simulated time of a Bench.
type rig struct {
	*transporttest.Bench
	hardware
	driver interface{ IsUp() bool }
	clock  *line.Virtual
	random *rand.Rand
	cuts   bool // the host reads each packet in two parts, cut at each byte in turn
	ends   bool // each second packet after the handshake ends early, at each byte in turn
	cut    int
	strict bool // the hardware has no reason to object
	judged int
}

// newRig plugs the hardware in and attaches the driver. o has the faults of the cable.
func newRig(t testing.TB, p product, o line.Options) *rig {
	t.Helper()
	values := p.kind.Defaults()
	values["port"] = port
	driver := must.Get(p.kind.New(devices.Args{Name: p.kind.Name, Values: values}))(t)
	r := &rig{
		Bench:  transporttest.NewBench(t, p.kind.Instance(driver), append(p.others, p.kind)...),
		driver: driver.(interface{ IsUp() bool }),
		random: rand.New(rand.NewPCG(o.Noise.Seed, 1)),
	}
	r.clock = line.NewVirtual(r.Now())
	r.clock.Now = r.Now
	r.clock.Due = func(at time.Duration) {
		r.After(max(at-r.Now(), 0), func() {
			r.sample(r)
			r.clock.Advance(r.Now())
			r.sample(r)
		})
	}
	r.Connect = func(p *transporttest.Port) (transporttest.Far, error) {
		return r.clock.Open(p.Name, p.Baud, reader{r, p})
	}
	o.Link, o.Clock = port, r.clock
	r.hardware = must.Get(p.start(o))(t)
	t.Cleanup(func() {
		if t.Failed() && testing.Verbose() {
			t.Logf("log %.2000q\n%s", r.Messages(), r.Transcript())
		}
		r.hardware.Close()
	})
	return r
}

// reader gives the driver the bytes of the hardware.
type reader struct {
	rig  *rig
	port *transporttest.Port
}

func (r reader) Receive(b []byte) {
	r.rig.cut++
	switch n := r.rig.cut % len(b); {
	case r.rig.cuts && n > 0:
		r.port.Say(b[:n])
		r.port.Say(b[n:])
	case r.rig.ends && r.rig.isUp() && r.rig.cut%2 == 0:
		r.port.Say(b[:r.rig.cut/2%len(b)])
	default:
		r.port.Say(b)
	}
}

func (r reader) HangUp() { r.port.HangUp() }

// connect has the client open its device until the hardware is found.
func (r *rig) connect() {
	r.T.Helper()
	for range 20 {
		r.Done = nil
		r.Subscribe()
		r.Until(func() bool { return len(r.Done) > 0 }, 20*time.Second)
		if r.isUp() {
			return
		}
	}
	r.T.Fatalf("not connected: %v, log %.2000q", r.Done, r.Messages())
}

func (r *rig) isUp() bool {
	return r.Link.State() == devices.Ready && len(r.Done) > 0 && r.Done[0] == nil
}

// run is so much of work, with data that is at most so old. It begins once there is new data.
func (r *rig) run(length, old time.Duration) {
	r.T.Helper()
	begin := r.Now()
	for r.Now() < begin+length {
		r.work(r)
		for range 10 {
			r.Pass(10 * ms)
			if age := r.Client.Age(r.Now()); age > old {
				r.T.Fatalf("at %v: data is %v old, log %.2000q", r.Now(), age, r.Messages())
			}
			if err := r.judge(r); err != nil {
				r.T.Fatalf("at %v: %v, log %.2000q", r.Now(), err, r.Messages())
			}
			r.judged++
		}
	}
}

// stand ends the work and compares the data of hardware at rest.
func (r *rig) stand() {
	r.T.Helper()
	r.end(r)
	r.Pass(3 * time.Second)
	if err := r.rest(r); err != nil {
		r.T.Fatalf("at rest: %v, log %.2000q", err, r.Messages())
	}
}

// TestMinute runs each driver for a minute with emulated hardware on cables with all faults.
func TestMinute(t *testing.T) {
	tests := []struct {
		name   string
		old    time.Duration // how much older than usual data becomes
		spoils bool          // packets are broken
		o      line.Options
		tune   func(r *rig)
		each   func(r *rig)
	}{
		{name: "good"},
		{name: "each byte alone", o: line.Options{Paced: true}, old: 30 * ms},
		{name: "each packet cut at each byte", tune: func(r *rig) { r.cuts = true }},
		{name: "each second packet ends at each byte", tune: func(r *rig) { r.ends = true }, old: 500 * ms, spoils: true},
		{name: "noise", o: line.Options{Noise: line.Noise{Garbage: 0.1, Flip: 0.1, Swallow: 0.1, Truncate: 0.1}}, old: 1800 * ms, spoils: true},
		{name: "noise in both directions", old: 1800 * ms, spoils: true,
			o: line.Options{Noise: line.Noise{Garbage: 0.05, Flip: 0.05, Swallow: 0.05, Truncate: 0.05, Both: true}}},
		{name: "latency", o: line.Options{Latency: 30 * ms}, old: 30 * ms},
		{name: "bunched", old: 500 * ms, each: bunch},
		{name: "all at once", old: 1800 * ms, spoils: true, tune: func(r *rig) { r.cuts = true }, each: bunch,
			o: line.Options{Latency: 30 * ms, Paced: true, Noise: line.Noise{Garbage: 0.03, Flip: 0.03, Swallow: 0.03, Truncate: 0.03, Both: true}}},
	}
	for _, p := range products() {
		t.Run(p.kind.Name, func(t *testing.T) {
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					for seed := range uint64(seeds) {
						begin := time.Now()
						test.o.Noise.Seed = seed
						r := newRig(t, p, test.o)
						r.strict = !test.spoils
						if test.tune != nil {
							test.tune(r)
						}
						r.connect()
						connected := r.Link.Counts
						for range 60 {
							if test.each != nil {
								test.each(r)
							}
							r.run(time.Second, p.period+test.old)
						}
						r.stand()
						if r.Link.Counts.Errors != connected.Errors || (r.Link.Counts.Dropped != 0) != test.spoils {
							t.Fatalf("seed %d: counts %+v, log %.2000q", seed, r.Link.Counts, r.Messages())
						}
						t.Logf("seed %d: %v of simulated time in %v, judged %d times", seed, r.Now(), time.Since(begin).Round(ms), r.judged)
					}
				})
			}
		})
	}
}

// seeds is how many runs a test has that differ by chance.
const seeds = 3

// bunch holds the bytes of half a second back, some time in this second, and lets them go at once.
func bunch(r *rig) {
	r.After(time.Duration(r.random.IntN(400))*ms, func() {
		r.Pause()
		r.After(500*ms, r.Release)
	})
}

// TestSpeeds: hardware is found at any of its speeds, also if it makes noise at the others.
func TestSpeeds(t *testing.T) {
	for _, p := range products() {
		for _, baud := range p.speeds {
			for _, garble := range []bool{false, true} {
				t.Run(fmt.Sprint(p.kind.Name, " ", baud, " garble ", garble), func(t *testing.T) {
					r := newRig(t, p, line.Options{Baud: baud, Garble: garble})
					r.connect()
					if len(r.Done) != 1 || r.Link.Counts.Errors > 0 {
						t.Errorf("setups ended with %v, counts %+v", r.Done, r.Link.Counts)
					}
					r.run(10*time.Second, p.period)
					r.stand()
				})
			}
		}
	}
}

// TestGoneAndBack: hardware is lost for a while, at work and at rest. It does nothing by itself when
// it is back, and then works as before.
func TestGoneAndBack(t *testing.T) {
	tests := []struct {
		name       string
		gone, back func(r *rig)
		away       []time.Duration
		forgets    bool // what it did meanwhile is not known, as the log says
	}{
		{"unplugged", func(r *rig) { r.Unplug() }, func(r *rig) { must.Do(r.T, r.Plug()) },
			[]time.Duration{0, 5 * ms, time.Second, 3 * time.Second, 20 * time.Second}, false},
		{"silenced", func(r *rig) { r.Silence() }, func(r *rig) { r.Speak() },
			[]time.Duration{2500 * ms, 20 * time.Second}, true},
		{"restarted", func(r *rig) { r.restart(); r.Silence() }, func(r *rig) { r.Speak() },
			[]time.Duration{2500 * ms, 20 * time.Second}, false},
		{"restarted at once", func(r *rig) { r.restart() }, func(*rig) {}, []time.Duration{2500 * ms}, false},
	}
	for _, p := range products() {
		for _, test := range tests {
			for _, away := range test.away {
				for _, working := range []bool{false, true} {
					t.Run(fmt.Sprint(p.kind.Name, " ", test.name, " ", away, " working ", working), func(t *testing.T) {
						for seed := range uint64(seeds) {
							r := newRig(t, p, line.Options{Latency: 3 * ms, Noise: line.Noise{Seed: seed}})
							r.connect()
							r.run(10*time.Second+time.Duration(r.random.IntN(10))*100*ms, p.period+3*ms)
							if !working {
								r.stand()
							}
							r.Pass(time.Duration(r.random.IntN(100)) * ms)
							test.gone(r)
							r.Pass(away)
							test.back(r)
							if r.Pass(2100 * ms); !r.still() { // its watchdog has stopped it
								t.Fatal("it moves by itself")
							}
							if !r.Until(r.isUp, 30*time.Second) {
								t.Fatalf("not found again: %v, log %.2000q", r.Done, r.Messages())
							}
							if r.Pass(2 * time.Second); !r.still() {
								t.Fatal("it moves by itself, once it is found")
							}
							if test.forgets && working {
								continue
							}
							r.run(10*time.Second, p.period+3*ms)
							r.stand()
						}
					})
				}
			}
		}
	}
}

// TestRepeats: the same seed has the same bytes at the same times, and the same log.
func TestRepeats(t *testing.T) {
	for _, p := range products() {
		t.Run(p.kind.Name, func(t *testing.T) {
			run := func(seed uint64) (transcript string, log []string) {
				r := newRig(t, p, line.Options{Latency: 30 * ms, Noise: line.Noise{Seed: seed, Garbage: 0.1, Flip: 0.1, Both: true}})
				r.connect()
				r.run(5*time.Second, 2*time.Second)
				return r.Transcript(), r.Messages()
			}
			bytes, log := run(1)
			if again, logAgain := run(1); again != bytes || !slices.Equal(log, logAgain) {
				t.Errorf("other bytes, or another log:\n%q\n%q", log, logAgain)
			}
			if other, _ := run(2); other == bytes {
				t.Error("another seed has the same bytes")
			}
		})
	}
}

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
		h.command = codec.PositionCommand{Speed: int16(20 * (r.random.IntN(31) - 15)), TurnRate: int16(10 * (r.random.IntN(9) - 4))}
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
	if !h.still() || r.strict && len(s.Objections) > 0 {
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
