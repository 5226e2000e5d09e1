package e2e

import (
	"fmt"
	"math"
	"testing"
	"time"

	"player/devices/retry"
	"player/e2e/must"
	"player/e2e/waiting"
	"player/simulation/emulator/ldlidar"
	"player/simulation/emulator/line"
	"player/simulation/emulator/rplidar"
	"player/simulation/emulator/sickcola"
	"player/simulation/emulator/urg"
	"player/simulation/emulator/ydlidar"
)

// rangefinder starts emulated hardware and a server with a driver for it. rests reports whether the hardware is as
// nobody needs it.
type rangefinder func(t *testing.T) (hardware any, s *server, rests func() bool)

// laserAt starts a server with a driver of a laser.
func laserAt(t *testing.T, driver, port, options string) *server {
	t.Helper()
	return serve(t, "driver ( name %q provides [\"laser:0\"] port %q %s )", driver, port, options)
}

func theLD(o ldlidar.Options, options string) rangefinder {
	return func(t *testing.T) (any, *server, func() bool) {
		o.Line.Link = newLine(t)
		if o.Room == nil {
			o.Room = corner
		}
		return emulate(t, ldlidar.Start, o), laserAt(t, "ldlidar", o.Line.Link, options), func() bool { return true }
	}
}

func theYD(o ydlidar.Options, options string) rangefinder {
	return func(t *testing.T) (any, *server, func() bool) {
		o.Line.Link = newLine(t)
		if o.Room == nil {
			o.Room = corner
		}
		l := emulate(t, ydlidar.Start, o)
		return l, laserAt(t, "ydlidar", o.Line.Link, options), func() bool { return o.Model == ydlidar.X2 || !l.Scanning() }
	}
}

func theRP(o rplidar.Options, options string) rangefinder {
	return func(t *testing.T) (any, *server, func() bool) {
		o.Line.Link = newLine(t)
		if o.Room == nil {
			o.Room = corner
		}
		l := emulate(t, rplidar.Start, o)
		return l, laserAt(t, "rplidar", o.Line.Link, options), func() bool {
			runsOn := o.Model == 0 || o.Model == rplidar.C1 // the motor
			return !l.Scanning() && l.Count(0x25) > 0 && (runsOn || !l.MotorRuns())
		}
	}
}

func theURG(o urg.Options, options string) rangefinder {
	return func(t *testing.T) (any, *server, func() bool) {
		o.Line.Link = newLine(t)
		if o.Room == nil {
			o.Room = func(degrees float64) float64 { return corner(-degrees) }
		}
		l, port := emulate(t, urg.Start, o), o.Line.Link
		if o.TCP {
			port = l.Address()
		}
		return l, laserAt(t, "urg", port, options), func() bool { return !l.Laser() }
	}
}

func theCola(o sickcola.Options, options string) rangefinder {
	return func(t *testing.T) (any, *server, func() bool) {
		l, s := startCola(t, o, options)
		return l, s, func() bool { return l.Listeners() == 0 && !l.LoggedIn() }
	}
}

// wall is the distance of a wall at the given distance in mm, straight ahead of a
// sensor that looks at an angle in degrees from it.
func wall(mm, degrees float64) float64 { return mm / math.Cos(degrees*math.Pi/180) }

// A wall at 1 m on the right of the robot, another at 2 m ahead, nothing on its left.
// Angles are clockwise, as the sensor's.
func corner(degrees float64) float64 {
	a := math.Remainder(degrees, 360)
	switch ahead, right := wall(2000, a), wall(1000, a-90); {
	case a >= -30 && a <= 60:
		return ahead
	case a > 63.5 && a <= 120:
		return right
	}
	return 0
}

// seesCorner waits for three scans of corner, one after the other: on a busy machine
// packets are lost, and samples with them. far is the reading without a return, mm.
func (p *peer) seesCorner(far float64) {
	p.t.Helper()
	wrong := ""
	for good, end := 0, time.Now().Add(patience); good < 3; {
		if time.Now().After(end) {
			p.t.Fatalf("three right scans did not come: %s", wrong)
		}
		d := p.scan()
		good++
		for _, want := range []struct {
			degrees, mm float64 // counterclockwise
		}{
			{0, 2000}, {20, wall(2000, 20)}, {-40, wall(2000, 40)}, {-70, wall(1000, 20)}, {60, far}, {75, far},
		} {
			// A reading is the nearest in half a degree, or in the next ones.
			if got := 1000 * d[int((want.degrees+90)*2)]; math.Abs(got-want.mm) > 0.03*want.mm {
				good, wrong = 0, fmt.Sprintf("at %v degrees %v mm, want %v", want.degrees, got, want.mm)
			}
		}
	}
}

func TestRangefindersMeasure(t *testing.T) {
	t.Parallel()
	askew, askewBack := func(a float64) float64 { return corner(a - 40) }, func(a float64) float64 { return corner(-a - 40) }
	upsideDown := func(a float64) float64 { return corner(-a) }
	paced, few := line.Options{Paced: true, Garble: true}, line.Options{Noise: line.Noise{Seed: 1, Garbage: 0.01, Swallow: 0.01}}
	many := line.Options{Noise: line.Noise{Seed: 1, Garbage: 0.05, Swallow: 0.05, Flip: 0.05}}
	for name, tt := range map[string]struct {
		start rangefinder
		far   float64 // what it reads where nothing is, mm
	}{
		"LD":                {theLD(ldlidar.Options{}, ""), 12000},
		"LD, fastest":       {theLD(ldlidar.Options{Rate: 13}, ""), 12000},
		"LD, paced":         {theLD(ldlidar.Options{Line: paced}, ""), 12000},
		"LD, noise":         {theLD(ldlidar.Options{Line: few}, ""), 12000},
		"LD, mounted askew": {theLD(ldlidar.Options{Room: askew}, "heading 40"), 12000},
		"LD, upside down":   {theLD(ldlidar.Options{Room: upsideDown}, "flip true"), 12000},
		"LD, range":         {theLD(ldlidar.Options{}, "range 8000"), 8000},

		"YD X2":             {theYD(ydlidar.Options{}, ""), 12000},
		"YD X4":             {theYD(ydlidar.Options{Model: ydlidar.X4}, ""), 12000},
		"YD G4":             {theYD(ydlidar.Options{Model: ydlidar.G4, Rate: 12}, ""), 12000},
		"YD X4, left":       {theYD(ydlidar.Options{Model: ydlidar.X4, Scanning: true}, ""), 12000},
		"YD X4, other baud": {theYD(ydlidar.Options{Model: ydlidar.X4, Line: line.Options{Baud: 115200, Garble: true}}, ""), 12000},
		"YD, paced":         {theYD(ydlidar.Options{Model: ydlidar.G4, Line: paced}, ""), 12000},
		"YD, noise":         {theYD(ydlidar.Options{Model: ydlidar.X4, Line: few}, ""), 12000},
		"YD, mounted askew": {theYD(ydlidar.Options{Room: askew}, "heading 40"), 12000},
		"YD, upside down":   {theYD(ydlidar.Options{Room: upsideDown}, "flip true"), 12000},
		"YD, range":         {theYD(ydlidar.Options{}, "range 8000"), 8000},

		"RP A1 express":      {theRP(rplidar.Options{}, ""), 12000},
		"RP A1 standard":     {theRP(rplidar.Options{NoExpress: true}, ""), 12000},
		"RP A1 as asked":     {theRP(rplidar.Options{}, "standard true"), 12000},
		"RP A2":              {theRP(rplidar.Options{Model: rplidar.A2, Rate: 10, Line: line.Options{Baud: 256000}}, ""), 12000},
		"RP C1":              {theRP(rplidar.Options{Model: rplidar.C1, Rate: 10}, ""), 12000},
		"RP C1 dense":        {theRP(rplidar.Options{Model: rplidar.C1, Mode: 1, Rate: 10}, ""), 12000},
		"RP C1, mode secret": {theRP(rplidar.Options{Model: rplidar.C1, Mode: 1, NoExpress: true, Rate: 10}, ""), 12000},
		"RP S1":              {theRP(rplidar.Options{Model: rplidar.S1, Mode: 1, Rate: 10}, ""), 12000},
		"RP S2":              {theRP(rplidar.Options{Model: rplidar.S2, Mode: 1, Rate: 10}, ""), 12000},
		"RP S2 as asked":     {theRP(rplidar.Options{Model: rplidar.S2, Mode: 1, Rate: 10}, "standard true"), 12000},
		"RP S3, other data":  {theRP(rplidar.Options{Model: rplidar.S3, Mode: 2, Rate: 10}, ""), 12000},
		"RP S3 left":         {theRP(rplidar.Options{Model: rplidar.S3, Mode: 1, Rate: 10, Scanning: true}, ""), 12000},
		"RP, dense noise":    {theRP(rplidar.Options{Model: rplidar.S2, Mode: 1, Rate: 10, Line: few}, ""), 12000},
		"RP, left scanning":  {theRP(rplidar.Options{Scanning: true}, ""), 12000},
		"RP, failed once":    {theRP(rplidar.Options{FailOnce: true}, ""), 12000},
		"RP, paced":          {theRP(rplidar.Options{Line: paced}, ""), 12000},
		"RP, noise":          {theRP(rplidar.Options{Line: few}, ""), 12000},
		"RP, mounted askew":  {theRP(rplidar.Options{Room: askew}, "heading 40"), 12000},
		"RP, upside down":    {theRP(rplidar.Options{Room: upsideDown}, "flip true"), 12000},
		"RP, backwards":      {theRP(rplidar.Options{Room: func(a float64) float64 { return corner(a + 180) }}, "heading 180"), 12000},
		"RP, range as asked": {theRP(rplidar.Options{}, "range 12000"), 12000},

		"URG, serial":        {theURG(urg.Options{}, ""), 5600},
		"URG, paced":         {theURG(urg.Options{Line: paced}, ""), 5600},
		"URG, fast already":  {theURG(urg.Options{Line: line.Options{Baud: 115200}}, ""), 5600},
		"URG, SCIP 1.1":      {theURG(urg.Options{Old: true}, ""), 5600},
		"URG, left scanning": {theURG(urg.Options{Scanning: true}, ""), 5600},
		"URG, left adjusted": {theURG(urg.Options{Adjusts: true}, ""), 5600},
		"URG, noise":         {theURG(urg.Options{Line: many}, ""), 5600},
		"URG, TCP":           {theURG(urg.Options{TCP: true, Model: urg.UTM30LX}, ""), 60000},
		"URG, 1/8 degrees":   {theURG(urg.Options{TCP: true, Model: urg.UST20LXH01}, ""), 60000},
		"URG, range":         {theURG(urg.Options{TCP: true, Model: urg.UTM30LX}, "range 12000"), 12000},
		"URG, mounted askew": {theURG(urg.Options{Room: askewBack}, "heading 40"), 5600},
		"URG, upside down":   {theURG(urg.Options{Room: corner}, "flip true"), 5600},

		"TiM551":              {theCola(sickcola.Options{}, ""), 20000},
		"TiM571":              {theCola(sickcola.Options{Model: sickcola.TiM571, Cut: true}, ""), 20000},
		"LMS111":              {theCola(sickcola.Options{Model: sickcola.LMS111}, ""), 20000},
		"CoLa B":              {theCola(sickcola.Options{Model: sickcola.LMS111, Binary: true, Cut: true}, ""), 20000},
		"TiM551, CoLa B":      {theCola(sickcola.Options{Binary: true}, ""), 20000},
		"SICK, standby":       {theCola(sickcola.Options{Model: sickcola.LMS111, Standby: true}, ""), 20000},
		"SICK, standby, B":    {theCola(sickcola.Options{Binary: true, Standby: true}, ""), 20000},
		"SICK, noise":         {theCola(sickcola.Options{Noise: 0.2}, ""), 20000},
		"SICK, noise, B":      {theCola(sickcola.Options{Noise: 0.2, Binary: true}, ""), 20000},
		"SICK, range":         {theCola(sickcola.Options{}, "range 8000"), 8000},
		"SICK, mounted askew": {theCola(sickcola.Options{Room: askewBack}, "heading 40"), 20000},
		"SICK, upside down":   {theCola(sickcola.Options{Room: corner}, "flip true"), 20000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s, rests := tt.start(t)
			c := s.dial(t)
			c.mustOpen("lr", "lr")
			c.seesCorner(tt.far)
			c.mustOpen("lc", "lc")
			waiting.Until(t, "the sensor stops", rests)
		})
	}
}

func TestRangefindersFail(t *testing.T) {
	t.Parallel()
	empty := func(float64) float64 { return 0 }
	slow, refused := line.Options{Baud: 57600, Garble: true}, `the sensor refuses \"sEN LMDscandata 1\", error 4: it does not take the value`
	for name, tt := range map[string]struct {
		start rangefinder
		log   string
	}{
		"LD": {theLD(ldlidar.Options{Room: empty, Line: line.Options{Baud: 115200, Garble: true}}, ""),
			"nothing that an LDROBOT sensor sends: is it another model, another speed than 230400 baud"},
		"YD, another speed": {theYD(ydlidar.Options{Room: empty, Line: slow}, ""),
			"nothing that a YDLIDAR sends: is it another model, another speed than 115200, 128000 or 230400 baud"},
		"YD, another model": {theYD(ydlidar.Options{Room: empty, Model: ydlidar.G6, Line: line.Options{Baud: 230400}}, ""),
			"a YDLIDAR of model 13, with packets that this driver cannot read"},
		"RP, another speed": {theRP(rplidar.Options{Room: empty, Line: line.Options{Baud: 57600}}, ""),
			"no RPLIDAR answers at 115200, 256000, 460800 or 1000000 baud"},
		"RP, error":          {theRP(rplidar.Options{Room: empty, Failed: true}, ""), "the sensor reports error 0x0001"},
		"URG, another speed": {theURG(urg.Options{Line: line.Options{Baud: 57600}}, ""), "no sensor with SCIP 2.0 answers"},
		"URG, broken":        {theURG(urg.Options{Broken: true}, ""), "the sensor cannot switch its laser on (status 01)"},
		"SICK, another model": {theCola(sickcola.Options{Model: sickcola.LMS1000}, ""),
			"the sensor is a SICK LMS1104C V1.0, which this driver does not know: it drives TiM5xx and LMS1xx"},
		"SICK, refused":    {theCola(sickcola.Options{Refuse: "LMDscandata"}, ""), refused},
		"SICK, refused, B": {theCola(sickcola.Options{Refuse: "LMDscandata", Binary: true}, ""), refused},
		"SICK, another password": {theCola(sickcola.Options{Standby: true, Locked: true}, ""),
			"the sensor is on standby, and has another password"},
		"SICK, blind": {theCola(sickcola.Options{Blind: true}, ""), "the sensor is set to measure nothing in front of the robot"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s, _ := tt.start(t)
			s.dial(t).mustOpen("lr", "le")
			s.Await(t, tt.log)
		})
	}
}

// A sensor that is unplugged, or whose connection ends, comes back.
func TestRangefindersUnplugged(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		start rangefinder
		far   float64
	}{
		"LD":   {theLD(ldlidar.Options{}, ""), 12000},
		"YD":   {theYD(ydlidar.Options{}, ""), 12000},
		"RP":   {theRP(rplidar.Options{}, ""), 12000},
		"URG":  {theURG(urg.Options{TCP: true}, ""), 5600},
		"SICK": {theCola(sickcola.Options{}, ""), 20000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hardware, s, _ := tt.start(t)
			c := s.dial(t)
			c.mustOpen("lr", "lr")
			c.seesCorner(tt.far)
			if network, ok := hardware.(*urg.Sensor); ok {
				network.Disconnect()
				s.Await(t, retry.LogUnavailable)
			} else {
				cable := hardware.(interface {
					Unplug()
					Plug() error
				})
				cable.Unplug()
				s.Await(t, retry.LogUnavailable)
				must.Do(t, cable.Plug())
			}
			s.Await(t, retry.LogBack)
			c.seesCorner(tt.far)
		})
	}
}
