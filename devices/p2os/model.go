package p2os

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"player/codec"
	"player/codec/pioneer"
	"player/devices"
)

// Model is a type of robot: its units in mm and radians, and the commands that it knows.
type Model struct {
	Name     string  // for people
	Distance float64 // mm, the unit of the coordinates
	Angle    float64 // rad, the unit of the heading
	Velocity float64 // mm/s, the unit of the wheel velocities in a SIP
	Range    float64 // mm, the unit of the sonar ranges
	Axle     float64 // mm between the wheels, as effective in a rotation
	Vel2     float64 // mm/s, the unit of VEL2
	Bits     int     // of a coordinate; then it starts over
	Turns    bool    // RVEL is known; otherwise only VEL2 rotates the robot
	Sonars   Sonars
	Body     *Body
}

// Body is the shape of a robot, in mm and degrees in its frame: the origin is between
// the wheels, x ahead, y to the left.
type Body struct {
	Length, Width float64
	Front         float64                         // from the origin to the front
	Sonars        [codec.SonarCount]pioneer.Mount // at Player's places
}

const (
	sonarRange = 5000 // mm, the reading without an echo
	sonarCone  = 15   // deg (Pioneer 2 manual: beams of the Polaroid transducers)
)

// Sonars has the robot's sonar number at each of Player's 16 places, which begin at the
// front left and go clockwise (PROTOCOL 7.2); noSonar: none is there.
type Sonars [codec.SonarCount]int8

const noSonar = -1

var (
	ring16 = Sonars{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	// peopleBot has a second ring at its front, which it numbers before the rear.
	peopleBot = Sonars{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23}
	// amigo8 faces 90, 41, 15, -15, -41, -90, -145 and 145 degrees.
	amigo8 = Sonars{0, 1, noSonar, 2, 3, noSonar, 4, 5, noSonar, noSonar, 6, noSonar, noSonar, 7, noSonar, noSonar}
	// pioneer7 faces 90, 30, 15, 0, -15, -30 and -90 degrees.
	pioneer7 = Sonars{0, 1, 2, 3, 4, 5, noSonar, 6,
		noSonar, noSonar, noSonar, noSonar, noSonar, noSonar, noSonar, noSonar}
	// powerBot has 28; of neighbours, the one nearer to the axis of the robot.
	powerBot = Sonars{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}
	// pioneerLX faces 10, -10, 164 and -164 degrees.
	pioneerLX = Sonars{noSonar, noSonar, noSonar, 0, 1, noSonar, noSonar, noSonar,
		noSonar, noSonar, noSonar, 3, 2, noSonar, noSonar, noSonar}
	noRing = Sonars{noSonar, noSonar, noSonar, noSonar, noSonar, noSonar, noSonar, noSonar,
		noSonar, noSonar, noSonar, noSonar, noSonar, noSonar, noSonar, noSonar}
)

// angleUnit is the unit of the heading since the Pioneer 2, in rad: 4096 are a revolution.
const angleUnit = 0.001534

var (
	bodyDX = Body{511, 425, 210, pioneer.Sonars()}
	bodyAT = Body{626, 505, 313, pioneer.Mirrored([8][3]float64{
		{147, 136, 90}, {193, 119, 50}, {227, 79, 30}, {245, 27, 10},
		{-144, -136, -90}, {-189, -119, -130}, {-223, -79, -150}, {-241, -27, -170},
	})}
	bodyPeople = Body{513, 425, 256.5, bodyDX.Sonars}
	bodyPower  = Body{911, 680, 369, pioneer.Mirrored([8][3]float64{
		{152, 278, 90}, {241, 238, 45}, {300, 153, 25}, {332, 33, 5},
		{-298, -278, -90}, {-388, -238, -135}, {-447, -153, -155}, {-478, -33, -175},
	})}
	bodyPatrol = Body{510, 425, 255, pioneer.Mirrored([8][3]float64{
		{83, 229, 90}, {169, 202, 55}, {232, 134, 30}, {263, 46, 10},
		{-83, -229, -90}, {-169, -202, -125}, {-232, -134, -150}, {-263, -46, -170},
	})}
	bodyLX = Body{696, 500, 348, pioneer.Mirrored([8][3]float64{
		{}, {}, {}, {331, 61, 10},
		{}, {}, {}, {-317, -90, -164},
	})}
	bodySeekur     = Body{1410, 1270, 705, [codec.SonarCount]pioneer.Mount{}}
	bodySeekurJr   = Body{1200, 830, 600, [codec.SonarCount]pioneer.Mount{}}
	bodyWheelchair = Body{1340, 680, 670, [codec.SonarCount]pioneer.Mount{}}
	bodyAmigo      = Body{330, 279, 160, pioneer.Mirrored([8][3]float64{
		{76, 100, 90}, {125, 75, 41}, {}, {150, 30, 15},
		{}, {}, {-140, -58, -145}, {},
	})}
	body1 = Body{500, 400, 250, [codec.SonarCount]pioneer.Mount{
		{X: 100, Y: 100, Heading: 90}, {X: 120, Y: 80, Heading: 30}, {X: 130, Y: 40, Heading: 15}, {X: 130},
		{X: 130, Y: -40, Heading: -15}, {X: 120, Y: -80, Heading: -30}, {}, {X: 100, Y: -100, Heading: -90},
	}}
)

// Coordinates wrap after so many bits. The manuals of P2OS and of the Pioneer 1 say 15. For
// the Pioneer 2 and later 12 are used, as in the original server: they are enough for a second
// without packets, and right for robots and simulators that send no more. In the small units
// of a Pioneer 1 they would be 0.2 m.
const (
	coordinateBits  = 12
	coordinateBits1 = 15 // Pioneer 1
)

// kind is a model as the manufacturer's parameter files have it, published with ARIA
// (https://github.com/reedhedges/AriaCoda, params/*.p).
type kind struct {
	subclass, name string
	distance       float64 // mm, DistConvFactor
	sonar          float64 // mm, RangeConvFactor
	ratio          float64 // 2 rad / axle in mm, DiffConvFactor
	sonars         *Sonars
	body           *Body
}

// kinds is a table of constants, which the compiler puts into the binary as data. Kinds with
// a velocity of their own are in model.
var kinds = []kind{
	{"p2dx", "Pioneer 2-DX", 0.84, 0.268, 0.0056, &ring16, &bodyDX},
	{"p2de", "Pioneer 2-DXe", 0.969, 0.268, 0.0056, &ring16, &bodyDX},
	{"p2d8", "Pioneer 2-DX8", 0.485, 1, 0.0056, &ring16, &bodyDX},
	{"p2dx8", "Pioneer 2-DX8", 0.485, 1, 0.0056, &ring16, &bodyDX},
	{"p2ce", "Pioneer 2-CE", 0.826, 0.268, 0.0057, &ring16, &bodyDX},
	{"p2at", "Pioneer 2-AT", 1.32, 0.268, 0.0034, &ring16, &bodyAT},
	{"p2at8", "Pioneer 2-AT8", 1.32, 1, 0.0034, &ring16, &bodyAT},
	{"p2pb", "Pioneer 2 PeopleBot", 0.424, 0.268, 0.0056, &peopleBot, &bodyPeople},

	// The names with a + belong to models of the same years as the Pioneer 3.
	{"p2d8+", "Pioneer 2-DX8 plus", 0.485, 1, 0.0056, &ring16, &bodyDX},
	{"p2at8+", "Pioneer 2-AT8 plus", 0.465, 1, 0.0034, &ring16, &bodyAT},
	{"p2df", "Pioneer 2-DF", 0.485, 0.268, 0.006, &ring16, &bodyDX},
	{"p2it", "Pioneer 2-IT", 1.136, 0.268, 0.0032, &ring16, &bodyAT},
	{"p2pp", "Pioneer 2 Performance PeopleBot", 0.485, 0.268, 0.006, &peopleBot, &bodyPeople},

	// Robots with the controller of the Pioneer 3, or a later one, count in mm.
	{"p3dx", "Pioneer 3-DX", 0.485, 1, 0.0056, &ring16, &bodyDX},
	{"p3dx-sh", "Pioneer 3-DX", 1, 1, 0.0056, &ring16, &bodyDX},
	{"p3at", "Pioneer 3-AT", 0.465, 1, 0.0034, &ring16, &bodyAT},
	{"p3at-sh", "Pioneer 3-AT", 1, 1, 0.0034, &ring16, &bodyAT},

	{"perfpb", "PeopleBot", 0.485, 1, 0.006, &peopleBot, &bodyPeople},
	{"perfpb+", "PeopleBot", 0.485, 1, 0.006, &peopleBot, &bodyDX},
	{"peoplebot-sh", "PeopleBot", 1, 1, 0.006, &ring16, &bodyPeople},

	{"amigo", "AmigoBot", 0.5083, 1, 0.011, &amigo8, &bodyAmigo},
	{"amigo-sh", "AmigoBot", 1, 1, 0.011, &amigo8, &bodyAmigo},

	{"powerbot", "PowerBot", 0.5813, 1, 0.00373, &powerBot, &bodyPower},
	{"powerbot-sh", "PowerBot", 1, 1, 0.00373, &powerBot, &bodyPower},

	{"patrolbot-sh", "PatrolBot", 1, 1, 0.0056, &ring16, &bodyPatrol},
	{"researchpb", "Research PatrolBot", 1, 1, 0.0056, &ring16, &bodyPatrol},
	{"mt400", "MT400", 1, 1, 0.0056, &ring16, &bodyPatrol},
	{"pioneer-lx", "Pioneer LX", 1, 1, 0.0056, &pioneerLX, &bodyLX},
	{"seekur", "Seekur", 1, 1, 0.0056, &noRing, &bodySeekur},
	{"seekurjr", "Seekur Jr", 1, 1, 0.0056, &noRing, &bodySeekurJr},
	{"wheelchair-sh", "wheelchair", 1, 1, 0.00373, &noRing, &bodyWheelchair},

	{"pioneer1", "Pioneer 1", 0.05066, 0.1734, 0.00333333, &pioneer7, &body1},
	{"pion1m", "Pioneer 1", 0.05066, 0.1734, 0.00333333, &pioneer7, &body1},
	{"pion1x", "Pioneer 1", 0.05066, 0.1734, 0.00333333, &pioneer7, &body1},
	{"psos43m", "Pioneer 1", 0.05066, 0.1734, 0.00333333, &pioneer7, &body1},
	{"pionat", "Pioneer AT", 0.07, 0.1734, 0.00333333, &pioneer7, &body1},
	{"psos1m", "Pioneer 1", 0.05066, 0.1734, 0.00333333, &pioneer7, &body1},
	{"psos1x", "Pioneer 1", 0.05066, 0.1734, 0.00333333, &pioneer7, &body1},
}

// model returns the model of k.
func (k *kind) model() Model {
	m := Model{
		Name: k.name, Distance: k.distance, Angle: angleUnit, Velocity: 1, Range: k.sonar, Axle: 2 / k.ratio,
		Vel2: 20, Bits: coordinateBits, Turns: true, Sonars: *k.sonars, Body: k.body,
	}
	switch {
	case k.body == &body1:
		m.Angle, m.Velocity, m.Vel2, m.Bits = 0.0061359, 2.5332, 4, coordinateBits1
		m.Turns = !strings.HasPrefix(k.subclass, "psos1") // PSOS before 4.2 has no RVEL
	case k.subclass == "amigo":
		m.Velocity = 0.6154
	}
	return m
}

// defaultModel is used until a robot has reported its type.
const defaultModel = "p2dx"

// byName returns the kind of a subclass; nil: it is not known.
func byName(subclass string) *kind {
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.subclass == subclass }); i >= 0 {
		return &kinds[i]
	}
	return nil
}

// findModel returns the known model of a subclass. All robots with the Pioneer 3's
// controller, -sh, count in mm: for an unknown one it returns the model with the longest
// common prefix. It reports false for any other subclass: a guessed unit would be wrong by
// up to three times.
func findModel(subclass string) (nearest string, m Model, ok bool) {
	subclass = strings.ToLower(subclass)
	if k := byName(subclass); k != nil {
		return subclass, k.model(), true
	}
	if !isSH(subclass) {
		return "", Model{}, false
	}
	nearest = "p3dx-sh"
	best := commonPrefix(nearest, subclass)
	for i := range kinds {
		name := kinds[i].subclass
		if n := commonPrefix(name, subclass); n > best && isSH(name) {
			nearest, best = name, n
		}
	}
	return nearest, byName(nearest).model(), true
}

// modelNames returns the known subclasses, for people.
func modelNames() string {
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].subclass
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func isSH(subclass string) bool { return strings.Contains(subclass, "-sh") }

func commonPrefix(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Overrides are the owner's corrections of a model. Zero fields change nothing.
type Overrides struct {
	Subclass                                     string // used in place of the robot's own
	Distance, Angle, Velocity, Range, Axle, Vel2 float64
	Bits                                         int
	Commands                                     string // see commandKinds
	Tuning                                       Tuning
	Gyro                                         bool    // the gyroscope gives the heading
	GyroScaler                                   float64 // ARIA's factor for its readings
	Sonars                                       *Sonars // nil: the model's
}

// Tuning has the owner's values for parameters that the robot keeps in flash memory. Zero
// fields set nothing.
type Tuning struct {
	Acceleration, Deceleration         int // mm/s2
	TurnAcceleration, TurnDeceleration int // deg/s2
	TicksMM, RevCount, DriftFactor     int // see the commands
}

// append appends the commands that set t in a robot.
func (t *Tuning) append(dst []byte) []byte {
	for _, s := range []struct {
		command Command
		value   int
	}{
		{SetA, t.Acceleration}, {SetA, -t.Deceleration}, {SetRA, t.TurnAcceleration}, {SetRA, -t.TurnDeceleration},
		{TicksMM, t.TicksMM}, {RevCount, t.RevCount}, {DriftFactor, t.DriftFactor},
	} {
		if s.value != 0 {
			dst = AppendInt(dst, s.command, int16(s.value))
		}
	}
	return dst
}

// commandKinds are the ways to command a velocity: RVEL is exact, VEL2 has steps.
const (
	commandsExact  = "exact"
	commandsWheels = "wheels"
)

func (o *Overrides) apply(m Model) Model {
	m.Distance = cmp.Or(o.Distance, m.Distance)
	m.Angle = cmp.Or(o.Angle, m.Angle)
	m.Velocity = cmp.Or(o.Velocity, m.Velocity)
	m.Range = cmp.Or(o.Range, m.Range)
	m.Axle = cmp.Or(o.Axle, m.Axle)
	m.Vel2 = cmp.Or(o.Vel2, m.Vel2)
	m.Bits = cmp.Or(o.Bits, m.Bits)
	if o.Commands != "" {
		m.Turns = o.Commands == commandsExact
	}
	if o.Sonars != nil {
		m.Sonars = *o.Sonars
	}
	return m
}

// options declares the fields of Overrides.
func options() []devices.Option {
	return []devices.Option{
		{Name: "model", Default: "", Doc: "subclass to use in place of the robot's own, for example `p3dx-sh`"},
		{Name: "distance", Default: 0.0, Max: 100, Unit: "mm", Doc: "one unit of the robot's coordinates; 0: as the model"},
		{Name: "angle", Default: 0.0, Max: 1, Unit: "rad", Doc: "one unit of its heading; 0: as the model"},
		{Name: "velocity", Default: 0.0, Max: 100, Unit: "mm/s", Doc: "one unit of its wheel velocities; 0: as the model"},
		{Name: "range", Default: 0.0, Max: 100, Unit: "mm", Doc: "one unit of its sonar ranges; 0: as the model"},
		{Name: "axle", Default: 0.0, Max: 10000, Unit: "mm", Doc: "distance between its wheels; 0: as the model"},
		{Name: "vel2", Default: 0.0, Max: 100, Unit: "mm/s", Doc: "one step of VEL2; 0: as the model"},
		{Name: "bits", Default: 0, Max: 16, Doc: "of its coordinates; 0: as the model"},
		{Name: "commands", Default: "", Doc: "`exact`: VEL and RVEL; `wheels`: VEL2 only; empty: as the model"},
		{Name: "sonars", Default: []float64{}, Doc: "the robot's numbers of the 16 sonars of Player, -1 for none; empty: as the model"},
		{Name: "acceleration", Default: 0, Max: math.MaxInt16, Unit: "mm/s2", Doc: "of driving; 0: as in the robot's memory"},
		{Name: "deceleration", Default: 0, Max: math.MaxInt16, Unit: "mm/s2", Doc: "of driving; 0: as in the robot's memory"},
		{Name: "turn_acceleration", Default: 0, Max: math.MaxInt16, Unit: "deg/s2", Doc: "of turning; 0: as in the robot's memory"},
		{Name: "turn_deceleration", Default: 0, Max: math.MaxInt16, Unit: "deg/s2", Doc: "of turning; 0: as in the robot's memory"},
		{Name: "ticks_mm", Default: 0, Max: math.MaxInt16, Doc: "encoder ticks in a mm, of ARCOS; 0: as in its memory (3-DX: 128)"},
		{Name: "rev_count", Default: 0, Max: math.MaxInt16, Doc: "counts of ARCOS in a full turn; 0: as in its memory (3-DX: 16570)"},
		{Name: "drift_factor", Default: 0, Min: math.MinInt16, Max: math.MaxInt16, Doc: "1/8192 by which the wheels differ, of ARCOS; 0: as in its memory (3-DX: 0)"},
		{Name: "gyro", Default: false, Doc: "heading by the gyroscope of a robot whose HasGyro is 1; false: as the robot says"},
		{Name: "gyro_scaler", Default: gyroScaler, Min: 0.1, Max: 10, Doc: "factor of the gyroscope's readings, ARIA's GyroScaler"},
	}
}

func overrides(a devices.Args) (o Overrides, err error) {
	o = Overrides{
		Subclass: a.String("model"),
		Distance: a.Float("distance"), Angle: a.Float("angle"), Velocity: a.Float("velocity"),
		Range: a.Float("range"), Axle: a.Float("axle"), Vel2: a.Float("vel2"),
		Bits: a.Int("bits"), Commands: a.String("commands"),
		Gyro: a.Bool("gyro"), GyroScaler: a.Float("gyro_scaler"),
		Tuning: Tuning{
			Acceleration: a.Int("acceleration"), Deceleration: a.Int("deceleration"),
			TurnAcceleration: a.Int("turn_acceleration"), TurnDeceleration: a.Int("turn_deceleration"),
			TicksMM: a.Int("ticks_mm"), RevCount: a.Int("rev_count"), DriftFactor: a.Int("drift_factor"),
		},
	}
	if o.Subclass != "" {
		if name, _, _ := findModel(o.Subclass); name != strings.ToLower(o.Subclass) {
			return o, fmt.Errorf("model: no model %q; known are %s", o.Subclass, modelNames())
		}
	}
	if !slices.Contains([]string{"", commandsExact, commandsWheels}, o.Commands) {
		return o, fmt.Errorf("commands: %q is neither %q nor %q", o.Commands, commandsExact, commandsWheels)
	}
	if list := a.Floats("sonars"); len(list) > 0 {
		if len(list) != len(o.Sonars) {
			return o, fmt.Errorf("sonars: %d numbers, want %d", len(list), len(o.Sonars))
		}
		o.Sonars = new(Sonars)
		for i, v := range list {
			if v != float64(int8(v)) || v < noSonar || v >= robotSonars {
				return o, fmt.Errorf("sonars: %v is not a whole number from %d to %d", v, noSonar, robotSonars-1)
			}
			o.Sonars[i] = int8(v)
		}
	}
	return o, nil
}
