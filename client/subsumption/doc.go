// Package subsumption is the control program of a small robot, after David P.
// Anderson's article on SR04 and jBot and the books of Jones and Flynn that it
// builds on. docs/SUBSUMPTION.md is the tutorial.
//
// A robot is a stack of layers. Twenty times a second every layer reads the
// sensors and sets its output, and a flag if it wants to control the wheels.
// The flagged layer of the highest priority wins, for this cycle only:
//
//	stack := subsumption.New( // highest priority first
//		subsumption.NewLayer("bump", &subsumption.Bump{}),
//		subsumption.NewLayer("ir", &subsumption.IR{}),
//		subsumption.NewLayer("cruise", subsumption.Cruise{}),
//	)
//	command := stack.Cycle(now, &sensors)
//
// The package is pure: it reads no clock, opens nothing and allocates nothing
// in a cycle. Package sense makes Sensors from a robot's data, package pilot
// runs a stack over the network, and the driver reflex runs one inside the
// server.
//
// Units are Player's: mm, mm/s, degrees and deg/s counterclockwise, x forward, y to the
// left. Times are since any fixed moment and increase.
//
// The behaviours are structs of parameters. A zero field means the default in
// its comment: the article's value, converted, or a value for a Pioneer 2
// where the article gives none.
package subsumption

// Defaults of several behaviours.
const (
	// topSpeed in mm/s is the article's "full speed". A Pioneer's wheels reach
	// 500 mm/s; the rest lets it turn at full speed without clipping a wheel.
	topSpeed = 300
	// steer in deg/s is the turn rate of a behaviour that drives. In one cycle
	// of a robot that reports at 10 Hz that is 4 degrees, less than half of
	// any dead zone, so the heading does not oscillate.
	steer = 40
	// swing in deg/s is the turn rate of a ballistic behaviour: in its half
	// second a robot must turn far enough not to hit the same spot again. The
	// Pioneer turns at most 100.
	swing = 80
	// deadzone in degrees: smaller heading errors are not corrected. The
	// article uses 5 or 10.
	deadzone = 5
)
