package transporttest_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"player/devices"
	"player/devices/ldlidar"
	"player/devices/p2os"
	"player/devices/rplidar"
	"player/devices/sicklms200"
	"player/devices/transport/transporttest"
	"player/devices/urg"
	"player/devices/ydlidar"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
	emulatedldlidar "player/simulation/emulator/ldlidar"
	"player/simulation/emulator/line"
	emulatedrobot "player/simulation/emulator/p2os"
	emulatedrplidar "player/simulation/emulator/rplidar"
	emulatedlaser "player/simulation/emulator/sick"
	emulatedurg "player/simulation/emulator/urg"
	emulatedydlidar "player/simulation/emulator/ydlidar"
)

// TestMain has garbage collected seldom: a cable keeps the record of its traffic until the test ends.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

const ms = time.Millisecond

// worked is how long a test works with hardware: for the whole time, or for a fifth of it with -short.
func worked(whole time.Duration) time.Duration {
	if testing.Short() {
		return whole / 5
	}
	return whole
}

// cable is the line of emulated hardware.
type cable interface {
	Unplug()
	Plug() error
	Pause()
	Release()
	Silence()
	Speak()
	HangUp() // of a device on the network
	Close()
	Transcript() string
}

// hardware is emulated hardware at the end of a cable, and the judge of its driver's data.
type hardware interface {
	cable
	restart()
	// work changes the measured things, like a client or the room; it is called each 100 ms.
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

// starter starts hardware at the end of a cable.
type starter func(o line.Options) (hardware, error)

// product is a driver and its hardware.
type product struct {
	kind   devices.Kind
	speeds []int         // that the hardware may have, the one of a new one first
	period time.Duration // of its data
	pace   time.Duration // that a packet takes on the line
	// noise is how often packets are spoiled in a test of noise. Faults that the hardware's protocol cannot
	// detect are left out: Flip where packets have no checksum, Both where commands have none. The zero value: none
	// may be spoiled.
	noise  line.Noise
	start  starter
	states map[string]starter // in which hardware may be found, other than a new one

	address string         // on the network, the default of the driver; empty: it is on a serial line
	adapter int            // the speed of an adapter on the network, behind which it is; 0: there is none
	config  bool           // the options are those of the file of config/examples that the kind is named after
	client  byte           // the device that is judged; 0: the first one
	values  map[string]any // options of the driver that are not the default
	text    bool           // a sensor that sends lines of text, as boards do
	named   []devices.Spec // that its block names; nil: it names none
	always  bool           // a sensor that measures without a host
	again   bool           // it is another model of the one before
	held    time.Duration  // the longest delay that changes no data; 0: 500 ms
	endures bool           // a restart at once changes nothing that the driver could see
	runsOn  time.Duration  // how long motors may run without the driver, if longer than its patience

	unwatched bool          // without its host it moves on: it has no watchdog
	counts    time.Duration // for how long its counters tell how far it moves on meanwhile; zero: always
}

func products() []product {
	return append([]product{
		{kind: p2os.Kind(), speeds: []int{9600, 38400, 19200, 57600, 115200}, period: 100 * ms, pace: 32 * ms,
			noise: noise(0.1), start: robots(emulatedrobot.Options{}), states: robotStates()},
		{kind: sicklms200.Kind(), speeds: []int{9600, 38400, 19200, 500000}, period: 200 * ms, pace: 195 * ms,
			noise: noise(0.05), start: lasers(emulatedlaser.Options{}), states: laserStates()},
		{kind: rplidar.Kind(), speeds: []int{115200, 256000, 460800, 1000000}, period: 185 * ms, pace: 12 * ms,
			noise: noise(0.1), start: newRPLIDAR(12000, straight, emulatedrplidar.Options{})},
		{kind: ldlidar.Kind(), speeds: []int{230400}, period: 120 * ms, pace: 10 * ms,
			noise: noise(0.02), start: newLDROBOT(12000, straight, emulatedldlidar.Options{})},
		{kind: ydlidar.Kind(), speeds: []int{128000, 115200, 230400}, period: 165 * ms, pace: 10 * ms,
			noise: noise(0.02), start: newYDLIDAR(12000, straight, emulatedydlidar.Options{Model: emulatedydlidar.X4})},
		{kind: urg.Kind(), speeds: []int{19200, 115200}, period: 200 * ms, pace: 100 * ms,
			noise: noise(0.05), start: newURG(5600, straight, emulatedurg.Options{})},
		createProduct(),
		kobukiProduct(),
		cameraProduct(),
		gpsProduct(),
	}, slices.Concat(boardProducts(), networkProducts())...)
}

// noise is all faults, each with the same chance.
func noise(chance float64) line.Noise {
	return line.Noise{Garbage: chance, Flip: chance, Swallow: chance, Truncate: chance, Both: true}
}

// louder is the noise of a product, with the chances of a test.
func (p product) louder(n line.Noise, seed uint64) line.Noise {
	return line.Noise{Seed: seed, Both: n.Both && p.noise.Both, Garbage: n.Garbage * p.noise.Garbage,
		Flip: n.Flip * p.noise.Flip, Swallow: n.Swallow * p.noise.Swallow, Truncate: n.Truncate * p.noise.Truncate}
}

// probes are the kinds that recognise each other's hardware.
func probes() (kinds []devices.Kind) {
	for _, p := range products() {
		kinds = append(kinds, p.kind)
	}
	return kinds
}

const port = "/dev/emulated"

// rig is a driver on the cable of its hardware, both in the simulated time of a Bench.
type rig struct {
	*transporttest.Bench
	hardware
	driver interface{ IsUp() bool } // nil: the driver does not tell
	at     line.Options             // the hardware's place
	clock  *line.Virtual
	held   time.Duration // product.held
	random *rand.Rand
	cuts   bool // the host reads each packet in two parts, cut at each byte in turn
	ends   bool // each fifth packet after the handshake ends early, at each byte in turn
	cut    int
	paused bool          // the program
	kept   []byte        // that came in a pause
	strict bool          // no packet is spoiled
	stamp  time.Duration // of the data that was judged last
	judged int           // how many were
}

// newRig plugs the hardware in and attaches the driver. o has the faults of the cable.
func newRig(t testing.TB, p product, o line.Options) *rig {
	t.Helper()
	values := p.kind.Defaults()
	if p.config {
		values = configured(t, p.kind.Name)
	}
	maps.Copy(values, p.values)
	at := line.Options{Link: port}
	switch {
	case p.adapter != 0:
		values["port"] = "192.168.1.20:4001"
	case p.address == "":
		values["port"] = port
	default:
		at = line.Options{Link: p.address, TCP: p.address}
	}
	made := must.Get(p.kind.Make(devices.Args{Name: p.kind.Name, Values: values}))(t)[0]
	if p.named != nil {
		made.Select(p.named)
	}
	r := &rig{
		Bench:  transporttest.NewBench(t, made, probes()...),
		random: rand.New(rand.NewPCG(o.Noise.Seed, 1)),
		held:   p.held,
	}
	if p.client != 0 {
		r.Client = r.Link.Device(p.client)
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
	adapter := p.adapter
	r.Connect = func(p *transporttest.Port) (transporttest.Far, error) {
		if adapter != 0 {
			return r.clock.Open(port, adapter, reader{r, p})
		}
		far, err := r.clock.Open(p.Name, p.Baud, reader{r, p})
		if errors.Is(err, fs.ErrNotExist) && p.Baud == 0 {
			err = syscall.ECONNREFUSED // nothing has ever listened there
		}
		return far, err
	}
	r.driver, _ = made.Driver.(interface{ IsUp() bool })
	at.Clock = r.clock
	r.at = at
	o.Link, o.TCP, o.Clock = at.Link, at.TCP, at.Clock
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
	if r.rig.paused {
		r.rig.kept = append(r.rig.kept, b...)
		return
	}
	r.rig.cut++
	switch n := r.rig.cut % len(b); {
	case r.rig.cuts && n > 0:
		r.port.Say(b[:n])
		r.port.Say(b[n:])
	case r.rig.ends && r.rig.isUp() && r.rig.cut%5 == 0:
		r.port.Say(b[:r.rig.cut/5%len(b)])
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
			r.Until(r.Client.HasData, 2*time.Second)
			return
		}
	}
	r.T.Fatalf("not connected: %v, log %.2000q", r.Done, r.Messages())
}

func (r *rig) isUp() bool {
	if r.driver == nil {
		return r.Link.State() == devices.Ready && r.Client.Age(r.Now()) < time.Second
	}
	return r.driver.IsUp()
}

// run is so much of work, with data that is at most so old once a client has read it for that time.
func (r *rig) run(length, old time.Duration) {
	r.T.Helper()
	begin := r.Now()
	for r.Now() < begin+length {
		r.work(r)
		r.Client.AppendBlock(nil) // a client reads
		for range 10 {
			r.Pass(10 * ms)
			if age := r.Client.Age(r.Now()); age > old && r.Now() > begin+old {
				r.T.Fatalf("at %v: data is %v old, log %.2000q", r.Now(), age, r.Messages())
			}
			if stamp := r.Now() - r.Client.Age(r.Now()); stamp != r.stamp {
				r.stamp = stamp
				r.judged++
				if err := r.judge(r); err != nil {
					r.T.Fatalf("at %v: %v, log %.2000q", r.Now(), err, r.Messages())
				}
			}
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

// TestMinute runs each driver for a minute with emulated hardware on cables with all faults. Without ACCEPTANCE=1 it
// runs for 20 seconds (-short: 10), which is too short a time for noise to spoil a packet of each product, and leaves the
// parts out. Cables that lose nothing take 20 seconds also with ACCEPTANCE=1, and a minute at night.
func TestMinute(t *testing.T) {
	few := 20
	if testing.Short() {
		few = 10 // in less, noise leaves some hardware too few data
	}
	tests := []struct {
		name string
		// old is how much older than usual data becomes. A packet that ends early takes the next one with it, and the
		// data of a camera needs two answers: three that are waited for in vain take 600 ms. With noise, one packet in
		// five of the slowest hardware is lost, with those lost behind it: nine in a row of five a second are one in a
		// million. Bytes that are held back add half a second.
		old   time.Duration
		noise line.Noise // in the unit of product.noise
		loses bool       // bytes are lost without noise
		parts bool       // a part of what happens in other rows
		o     line.Options
		tune  func(r *rig)
		each  func(r *rig)
	}{
		{name: "good", parts: true},
		{name: "each byte alone", parts: true, o: line.Options{Paced: true}},
		{name: "each packet cut at each byte", tune: func(r *rig) { r.cuts = true }},
		{name: "each fifth packet ends at each byte", parts: true, tune: func(r *rig) { r.ends = true }, loses: true,
			old: 600 * ms},
		{name: "noise", parts: true, old: 1800 * ms, noise: line.Noise{Garbage: 1, Flip: 1, Swallow: 1, Truncate: 1}},
		{name: "noise in both directions", parts: true, old: 1800 * ms,
			noise: line.Noise{Garbage: .5, Flip: .5, Swallow: .5, Truncate: .5, Both: true}},
		{name: "latency", parts: true, o: line.Options{Latency: 30 * ms}, old: 30 * ms},
		{name: "bunched", parts: true, old: 500 * ms, each: bunch},
		{name: "all at once", noise: line.Noise{Garbage: .3, Flip: .3, Swallow: .3, Truncate: .3, Both: true},
			old: 1800 * ms, o: line.Options{Latency: 30 * ms, Paced: true}, tune: func(r *rig) { r.cuts = true }, each: bunch},
	}
	for _, p := range products() {
		t.Run(p.kind.Name, func(t *testing.T) {
			t.Parallel()
			for _, test := range tests {
				if p.address != "" && test.o.Paced || p.noise == (line.Noise{}) && (test.noise != line.Noise{} || test.loses) {
					continue
				}
				t.Run(test.name, func(t *testing.T) {
					if test.parts {
						acceptance.Only(t)
					}
					seconds := acceptance.Rounds(few, 60)
					if acceptance.Wanted() && (test.noise != line.Noise{} || test.loses) {
						seconds = 60
					}
					for seed := range *seeds {
						begin := time.Now()
						o, n := test.o, test.noise
						o.Noise = p.louder(n, seed)
						old := p.period + test.old
						if o.Paced {
							old += p.pace
						}
						r := newRig(t, p, o)
						if test.tune != nil {
							test.tune(r)
						}
						r.strict = n == line.Noise{} && !r.ends
						r.connect()
						connected := r.Link.Counts
						for range seconds {
							if test.each != nil {
								test.each(r)
							}
							r.run(time.Second, old)
						}
						r.stand()
						if r.judged < seconds {
							t.Errorf("seed %d: only %d data in %d s", seed, r.judged, seconds)
						}
						lost := r.Link.Counts.Dropped != connected.Dropped
						if r.Link.Counts.Errors != connected.Errors || lost && r.strict || !lost && !r.strict && acceptance.Wanted() {
							t.Fatalf("seed %d: counts %+v, log %.2000q", seed, r.Link.Counts, r.Messages())
						}
						t.Logf("seed %d: until %v in %v, %d data judged", seed, r.Now(), time.Since(begin).Round(ms), r.judged)
					}
				})
			}
		})
	}
}

// seeds is how many runs a test has that differ by chance:
//
//	go test ./devices/transport/transporttest -seeds 100
var seeds = flag.Uint64("seeds", 1, "runs of each test of emulated hardware")

// bunch holds the bytes of half a second or less back, some time in this second, and lets them go at once.
func bunch(r *rig) {
	r.After(time.Duration(r.random.IntN(400))*ms, func() {
		r.Pause()
		r.After(cmp.Or(r.held, 500*ms), r.Release)
	})
}

// TestSpeeds: hardware is found at any of its speeds, also if it makes noise at the others.
func TestSpeeds(t *testing.T) {
	for _, p := range products() {
		for _, baud := range p.speeds {
			for _, garble := range []bool{false, true} {
				t.Run(fmt.Sprint(p.kind.Name, " ", baud, " garble ", garble), func(t *testing.T) {
					r := newRig(t, p, line.Options{Baud: baud, Garble: garble})
					r.strict = true
					r.connect()
					if len(r.Done) != 1 || r.Link.Counts.Errors > 0 {
						t.Errorf("setups ended with %v, counts %+v", r.Done, r.Link.Counts)
					}
					r.run(worked(10*time.Second), p.period)
					r.stand()
				})
			}
		}
	}
}

// TestAdapter: hardware works behind an adapter on the network, at the speed that the adapter was given.
func TestAdapter(t *testing.T) {
	for _, p := range products() {
		for _, baud := range p.speeds {
			t.Run(fmt.Sprint(p.kind.Name, " ", baud), func(t *testing.T) {
				behind := p
				behind.adapter = baud
				r := newRig(t, behind, line.Options{Baud: baud})
				r.strict = true
				r.connect()
				if len(r.Done) != 1 || r.Link.Counts.Errors > 0 || len(r.Ports) != 1 {
					t.Errorf("setups ended with %v, counts %+v, %d ports", r.Done, r.Link.Counts, len(r.Ports))
				}
				r.run(worked(10*time.Second), p.period)
				r.stand()
			})
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
		{"disconnected", func(r *rig) { r.HangUp() }, func(*rig) {}, []time.Duration{0, 5 * ms, 20 * time.Second}, false},
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
			if p.again || p.endures && test.name == "restarted at once" || p.address == "" && test.name == "disconnected" {
				continue
			}
			for _, away := range test.away {
				for _, working := range []bool{false, true} {
					t.Run(fmt.Sprint(p.kind.Name, " ", test.name, " ", away, " working ", working), func(t *testing.T) {
						t.Parallel()
						if !working || away != test.away[0] {
							needs.Time(t)
						}
						for seed := range *seeds {
							r := newRig(t, p, line.Options{Latency: 3 * ms, Noise: line.Noise{Seed: seed}})
							r.strict = true
							r.connect()
							r.run(worked(10*time.Second)+time.Duration(r.random.IntN(10))*100*ms, p.period+3*ms)
							if h, ok := r.hardware.(*board); ok {
								for !h.counted() {
									r.run(time.Second, p.period+3*ms)
								}
								h.lose()
							}
							if !working {
								r.stand()
							}
							r.Pass(time.Duration(r.random.IntN(100)) * ms)
							test.gone(r)
							r.Pass(away)
							if test.forgets {
								r.stopped()
							}
							test.back(r)
							if r.Pass(max(2100*ms, p.runsOn)); !p.unwatched && !r.still() { // its watchdog has stopped it
								t.Fatal("it moves by itself")
							}
							if !r.Until(r.isUp, 30*time.Second) {
								t.Fatalf("not found again: %v, log %.2000q", r.Done, r.Messages())
							}
							if r.Pass(2 * time.Second); !r.still() {
								t.Fatal("it moves by itself, once it is found")
							}
							if working && (test.forgets || p.counts > 0 && away > p.counts) {
								continue
							}
							r.run(worked(10*time.Second), p.period+3*ms)
							r.stand()
						}
					})
				}
			}
		}
	}
}

// stopped tests whether hardware that hears was stopped when its line was given up, and not by its watchdog.
func (r *rig) stopped() {
	r.T.Helper()
	w, ok := r.hardware.(interface{ watchdog() int })
	if !r.still() || ok && w.watchdog() > 0 {
		r.T.Fatal("it was not stopped when its line was given up")
	}
}

// TestOtherHardware: a driver on the line of other hardware fails, moves nothing and closes the port.
// It works once its own hardware is there.
func TestOtherHardware(t *testing.T) {
	for _, p := range products() {
		for _, other := range products() {
			if other.kind.Name == p.kind.Name || p.again || other.again || (other.address == "") != (p.address == "") {
				continue
			}
			t.Run(p.kind.Name+" at "+other.kind.Name, func(t *testing.T) {
				swapped := p
				swapped.start = other.start
				r := newRig(t, swapped, line.Options{})
				r.Subscribe()
				for r.Pass(10 * ms); len(r.Done) == 0; r.Pass(10 * ms) {
					if !r.still() {
						t.Fatal("the other hardware moves")
					}
				}
				r.Pass(10 * time.Second)
				if r.Done[0] == nil || r.Link.State() != devices.Idle || !r.Port().Closed || !r.still() {
					t.Fatalf("setups ended with %v, link is %s", r.Done, r.Link.State())
				}
				text := p.config && (other.config || other.text) // lines that are other ones need no search
				if s := r.Searches; len(s) != 1 && !text && p.address == "" || len(s) > 1 || len(s) > 0 && s[0].Path != port {
					t.Errorf("searches %+v, want one, after %v", s, r.Done)
				}
				r.hardware.Close()
				r.hardware = must.Get(p.start(r.at))(t)
				r.connect()
				r.run(worked(5*time.Second), p.period)
				r.stand()
			})
		}
	}
}

// TestRepeats: the same seed has the same bytes at the same times, and the same log.
func TestRepeats(t *testing.T) {
	for _, p := range products() {
		t.Run(p.kind.Name, func(t *testing.T) {
			run := func(seed uint64) (transcript string, log []string) {
				r := newRig(t, p, line.Options{Latency: 30 * ms, Noise: p.louder(noise(1), seed)})
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
