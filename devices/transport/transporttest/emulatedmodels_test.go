package transporttest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"player/devices"
	"player/devices/ldlidar"
	"player/devices/rplidar"
	"player/devices/sickcola"
	"player/devices/urg"
	"player/devices/ydlidar"
	"player/e2e/must"
	emulatedacts "player/simulation/emulator/acts"
	emulatedldlidar "player/simulation/emulator/ldlidar"
	"player/simulation/emulator/line"
	emulatedrplidar "player/simulation/emulator/rplidar"
	emulatedsickcola "player/simulation/emulator/sickcola"
	emulatedurg "player/simulation/emulator/urg"
	emulatedydlidar "player/simulation/emulator/ydlidar"
)

const (
	networkCola = "192.168.0.1:2112"
	networkURG  = "192.168.0.10:10940"
)

// models are other models, states and mountings of range finders than those of products.
func models() []product {
	type values = map[string]any
	ld := func(name string, v values, far uint16, m mounting, o emulatedldlidar.Options) product {
		return product{kind: named(ldlidar.Kind(), name), speeds: []int{230400}, period: 120 * ms, values: v,
			start: newLDROBOT(far, m, o)}
	}
	yd := func(name string, v values, far uint16, m mounting, o emulatedydlidar.Options) product {
		speed := map[emulatedydlidar.Model]int{emulatedydlidar.X2: 115200, emulatedydlidar.X4: 128000,
			emulatedydlidar.G4: 230400}
		return product{kind: named(ydlidar.Kind(), name), speeds: []int{speed[o.Model]}, period: 165 * ms, values: v,
			always: o.Model == emulatedydlidar.X2, start: newYDLIDAR(far, m, o)}
	}
	rp := func(name string, v values, far uint16, m mounting, o emulatedrplidar.Options) product {
		speed := map[byte]int{emulatedrplidar.A2: 256000, emulatedrplidar.C1: 460800, emulatedrplidar.S1: 256000,
			emulatedrplidar.S2: 1000000, emulatedrplidar.S3: 1000000, 0: 115200}
		return product{kind: named(rplidar.Kind(), name), speeds: []int{speed[o.Model]}, period: 185 * ms, values: v,
			start: newRPLIDAR(far, m, o)}
	}
	scip := func(name string, v values, far uint16, m mounting, o emulatedurg.Options) product {
		p := product{kind: named(urg.Kind(), name), speeds: []int{19200}, period: 200 * ms, values: v,
			start: newURG(far, m, o)}
		if o.TCP {
			p.address, p.speeds = networkURG, []int{0}
		}
		return p
	}
	cola := func(name string, v values, far uint16, m mounting, o emulatedsickcola.Options) product {
		return product{kind: named(sickcola.Kind(), name), address: networkCola, speeds: []int{0}, period: 80 * ms, values: v,
			start: newCola(far, m, o)}
	}
	heading, back, flip := values{"heading": 40.0}, values{"heading": 180.0}, values{"flip": true}
	near, standard := values{"range": 8000}, values{"standard": true}
	onURG := values{"port": networkURG}
	return []product{
		ld("LDROBOT, fastest", nil, 12000, straight, emulatedldlidar.Options{Rate: 13}),
		ld("LDROBOT, askew", heading, 12000, turned(40), emulatedldlidar.Options{}),
		ld("LDROBOT, upside down", flip, 12000, upsideDown, emulatedldlidar.Options{}),
		ld("LDROBOT, range", near, 8000, straight, emulatedldlidar.Options{}),

		yd("YDLIDAR X2", nil, 12000, straight, emulatedydlidar.Options{}),
		yd("YDLIDAR G4", nil, 12000, straight, emulatedydlidar.Options{Model: emulatedydlidar.G4, Rate: 12}),
		yd("YDLIDAR TG30", nil, 12000, straight, emulatedydlidar.Options{Model: emulatedydlidar.TG30, Rate: 10}),
		yd("YDLIDAR T-mini", nil, 12000, straight, emulatedydlidar.Options{Model: emulatedydlidar.TMini}),
		yd("YDLIDAR T-mini, left scanning", nil, 12000, straight,
			emulatedydlidar.Options{Model: emulatedydlidar.TMini, Scanning: true}),
		yd("YDLIDAR X4, left scanning", nil, 12000, straight,
			emulatedydlidar.Options{Model: emulatedydlidar.X4, Scanning: true}),
		yd("YDLIDAR, askew", heading, 12000, turned(40), emulatedydlidar.Options{}),
		yd("YDLIDAR, upside down", flip, 12000, upsideDown, emulatedydlidar.Options{}),
		yd("YDLIDAR, range", near, 8000, straight, emulatedydlidar.Options{}),

		rp("RPLIDAR A1, standard only", nil, 12000, straight, emulatedrplidar.Options{NoExpress: true}),
		rp("RPLIDAR A1, express", nil, 12000, straight, emulatedrplidar.Options{Mode: 1}),
		rp("RPLIDAR A1, as asked", standard, 12000, straight, emulatedrplidar.Options{}),
		rp("RPLIDAR A1, left scanning", nil, 12000, straight, emulatedrplidar.Options{Scanning: true}),
		rp("RPLIDAR A1, failed once", nil, 12000, straight, emulatedrplidar.Options{FailOnce: true}),
		rp("RPLIDAR A2", nil, 12000, straight, emulatedrplidar.Options{Model: emulatedrplidar.A2, Rate: 10}),
		rp("RPLIDAR A3", nil, 12000, straight, emulatedrplidar.Options{Model: emulatedrplidar.A3, Rate: 10}),
		rp("RPLIDAR C1", nil, 12000, straight, emulatedrplidar.Options{Model: emulatedrplidar.C1, Rate: 10}),
		rp("RPLIDAR C1, dense", nil, 12000, straight,
			emulatedrplidar.Options{Model: emulatedrplidar.C1, Mode: 1, Rate: 10}),
		rp("RPLIDAR C1, mode secret", nil, 12000, straight,
			emulatedrplidar.Options{Model: emulatedrplidar.C1, Mode: 1, NoExpress: true, Rate: 10}),
		rp("RPLIDAR S1", nil, 12000, straight, emulatedrplidar.Options{Model: emulatedrplidar.S1, Mode: 1, Rate: 10}),
		rp("RPLIDAR S2", nil, 12000, straight, emulatedrplidar.Options{Model: emulatedrplidar.S2, Mode: 1, Rate: 10}),
		rp("RPLIDAR S2, as asked", standard, 12000, straight,
			emulatedrplidar.Options{Model: emulatedrplidar.S2, Mode: 1, Rate: 10}),
		rp("RPLIDAR S3, other data", nil, 12000, straight,
			emulatedrplidar.Options{Model: emulatedrplidar.S3, Mode: 2, Rate: 10}),
		rp("RPLIDAR S3, left scanning", nil, 12000, straight,
			emulatedrplidar.Options{Model: emulatedrplidar.S3, Mode: 1, Rate: 10, Scanning: true}),
		rp("RPLIDAR, askew", heading, 12000, turned(40), emulatedrplidar.Options{}),
		rp("RPLIDAR, upside down", flip, 12000, upsideDown, emulatedrplidar.Options{}),
		rp("RPLIDAR, backwards", back, 12000, turned(180), emulatedrplidar.Options{}),
		rp("RPLIDAR, range", near, 8000, straight, emulatedrplidar.Options{}),

		scip("URG, SCIP 1.1", nil, 5600, straight, emulatedurg.Options{Old: true}),
		scip("URG, left scanning", nil, 5600, straight, emulatedurg.Options{Scanning: true}),
		scip("URG, left adjusted", nil, 5600, straight, emulatedurg.Options{Adjusts: true}),
		scip("URG, askew", values{"heading": 20.0}, 5600, turned(20), emulatedurg.Options{}),
		scip("URG, upside down", flip, 5600, upsideDown, emulatedurg.Options{}),
		scip("UTM-30LX", onURG, 60000, straight, emulatedurg.Options{TCP: true, Model: emulatedurg.UTM30LX}),
		scip("UST-20LX, 1/8 degrees", onURG, 60000, straight,
			emulatedurg.Options{TCP: true, Model: emulatedurg.UST20LXH01}),
		scip("UTM-30LX, range", values{"port": networkURG, "range": 12000}, 12000, straight,
			emulatedurg.Options{TCP: true, Model: emulatedurg.UTM30LX}),

		cola("TiM571", nil, 20000, straight, emulatedsickcola.Options{Model: emulatedsickcola.TiM571}),
		cola("TiM781, CoLa B", nil, 20000, straight, emulatedsickcola.Options{Model: emulatedsickcola.TiM781, Binary: true}),
		cola("LMS111", nil, 20000, straight, emulatedsickcola.Options{Model: emulatedsickcola.LMS111}),
		cola("LMS511", nil, 20000, straight, emulatedsickcola.Options{Model: emulatedsickcola.LMS511}),
		cola("LMS511, CoLa B", nil, 20000, straight, emulatedsickcola.Options{Model: emulatedsickcola.LMS511, Binary: true}),
		cola("TiM551, CoLa B", nil, 20000, straight, emulatedsickcola.Options{Binary: true}),
		cola("LMS111, standby", nil, 20000, straight,
			emulatedsickcola.Options{Model: emulatedsickcola.LMS111, Standby: true}),
		cola("TiM551, standby, CoLa B", nil, 20000, straight, emulatedsickcola.Options{Binary: true, Standby: true}),
		cola("TiM551, askew", heading, 20000, turned(40), emulatedsickcola.Options{}),
		cola("TiM551, upside down", flip, 20000, upsideDown, emulatedsickcola.Options{}),
		cola("TiM551, range", near, 8000, straight, emulatedsickcola.Options{}),
	}
}

// named returns a kind with the name of a product.
func named(kind devices.Kind, name string) devices.Kind {
	kind.Name = name
	return kind
}

// TestModels: each model measures the room, at first sight, and rests when its client has left.
func TestModels(t *testing.T) {
	for _, p := range models() {
		t.Run(p.kind.Name, func(t *testing.T) {
			r := newRig(t, p, line.Options{Baud: p.speeds[0]})
			r.strict = true
			r.connect()
			if len(r.Done) != 1 || r.Link.Counts.Errors > 0 {
				t.Errorf("setups ended with %v, counts %+v", r.Done, r.Link.Counts)
			}
			r.run(worked(10*time.Second), p.period)
			r.stand()
			r.Unsubscribe()
			r.Pass(200 * ms)
			if !p.always && !r.hardware.(*lidar).resting() || !r.Port().Closed {
				t.Error("the sensor goes on")
			}
		})
	}
}

// TestSensorsFail: the error of a setup says why a sensor cannot be used.
func TestSensorsFail(t *testing.T) {
	refused := `the sensor refuses "sEN LMDscandata 1", error 4: it does not take the value`
	slow := line.Options{Baud: 57600, Garble: true}
	cola := func(o emulatedsickcola.Options) product {
		return product{kind: sickcola.Kind(), address: networkCola, start: newCola(20000, straight, o)}
	}
	for _, tt := range []struct {
		name string
		product
		o    line.Options
		want string
	}{
		{"LDROBOT, another speed",
			product{kind: ldlidar.Kind(), start: newLDROBOT(0, straight, emulatedldlidar.Options{})},
			line.Options{Baud: 115200, Garble: true},
			"nothing that an LDROBOT sensor sends: is it another model, another speed than 230400 baud"},
		{"YDLIDAR, another speed",
			product{kind: ydlidar.Kind(), start: newYDLIDAR(0, straight, emulatedydlidar.Options{})}, slow,
			"nothing that a YDLIDAR sends: is it another model"},
		{"YDLIDAR, another model",
			product{kind: ydlidar.Kind(), start: newYDLIDAR(0, straight, emulatedydlidar.Options{Model: emulatedydlidar.G6})},
			line.Options{Baud: 230400}, "a YDLIDAR of model 13, with packets that this driver cannot read"},
		{"RPLIDAR, another speed", product{kind: rplidar.Kind(), start: newRPLIDAR(0, straight, emulatedrplidar.Options{})},
			line.Options{Baud: 57600}, "no RPLIDAR answers at 115200, 256000, 460800 or 1000000 baud"},
		{"RPLIDAR, failed", product{kind: rplidar.Kind(),
			start: newRPLIDAR(0, straight, emulatedrplidar.Options{Failed: true})},
			line.Options{}, "the sensor reports error 0x0001"},
		{"URG, another speed", product{kind: urg.Kind(), start: newURG(0, straight, emulatedurg.Options{})},
			line.Options{Baud: 57600}, "no sensor with SCIP 2.0 answers"},
		{"URG, broken", product{kind: urg.Kind(), start: newURG(0, straight, emulatedurg.Options{Broken: true})},
			line.Options{}, "the sensor cannot switch its laser on (status 01)"},
		{"SICK, another model", cola(emulatedsickcola.Options{Model: emulatedsickcola.LMS1000}), line.Options{},
			"the sensor is a SICK LMS1104C V1.0, which this driver does not know: it drives TiM5xx, TiM7xx, LMS1xx and LMS5xx"},
		{"SICK, refused", cola(emulatedsickcola.Options{Refuse: "LMDscandata"}), line.Options{}, refused},
		{"SICK, refused, CoLa B", cola(emulatedsickcola.Options{Refuse: "LMDscandata", Binary: true}), line.Options{},
			refused},
		{"SICK, another password", cola(emulatedsickcola.Options{Standby: true, Locked: true}), line.Options{},
			"the sensor is on standby, and has another password"},
		{"SICK, blind", cola(emulatedsickcola.Options{Blind: true}), line.Options{},
			"the sensor is set to measure nothing in front of the robot"},
		{"SICK, silent", product{kind: sickcola.Kind(), address: networkCola, start: startTracker(emulatedacts.V10)},
			line.Options{}, "no SICK sensor answers: check its power"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.product, tt.o)
			r.Subscribe()
			if !r.Until(func() bool { return len(r.Done) > 0 }, 20*time.Second) {
				t.Fatal("the setup does not end")
			}
			r.Failed(tt.want)
		})
	}
}

// TestNothingListens: the error of a setup says so, with the remedy.
func TestNothingListens(t *testing.T) {
	for _, kind := range []devices.Kind{rplidar.Kind(), ldlidar.Kind(), sickcola.Kind()} {
		r := newRig(t, product{kind: kind, address: networkCola, values: map[string]any{"port": networkCola},
			start: startTracker(emulatedacts.V10)}, line.Options{})
		r.Unplug()
		r.Subscribe()
		r.Failed("connection refused: is the device on, or ser2net running, and the port right?")
	}
}

// TestColaStatus: the log has a sensor's reports on itself.
func TestColaStatus(t *testing.T) {
	r := newRig(t, product{kind: sickcola.Kind(), address: networkCola,
		start: newCola(20000, straight, emulatedsickcola.Options{Status: 2})}, line.Options{})
	r.connect()
	if log := fmt.Sprint(r.Messages()); !strings.Contains(log, "the sensor's window gets dirty: clean it") {
		t.Error(log)
	}
}

// TestColaNeedsNetwork: the sensor has no serial line.
func TestColaNeedsNetwork(t *testing.T) {
	values := sickcola.Kind().Defaults()
	values["port"] = "/dev/ttyS1"
	const want = `the sensor is on the network: write "HOST:PORT"`
	if _, err := sickcola.Kind().New(devices.Args{Values: values}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	_ = must.Get(sickcola.Kind().New(devices.Args{Values: sickcola.Kind().Defaults()}))(t)
}
