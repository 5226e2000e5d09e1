// Package subsumption is the control program of a small robot, after David P.
// Anderson's article on SR04 and jBot, and the books of Jones and Flynn that it
// builds on. docs/SUBSUMPTION.md is the tutorial.
//
// A robot is a stack of layers. Twenty times a second every layer looks at the
// sensors and says what it wants, and whether it wants it now: its flag. The
// flagged layer of the highest priority gets the wheels, for this cycle only:
//
//	stack := subsumption.New( // highest priority first
//		subsumption.NewLayer("bump", &subsumption.Bump{}),
//		subsumption.NewLayer("ir", &subsumption.IR{}),
//		subsumption.NewLayer("cruise", subsumption.Cruise{}),
//	)
//	command := stack.Cycle(now, &sensors)
//
// The package is pure: it reads no clock, opens nothing and allocates nothing in
// a cycle. Package sense makes Sensors of a robot's data, package pilot runs a
// stack over the network, and the driver reflex runs one inside the server.
//
// Units are those of Player: mm, mm/s, degrees and deg/s counterclockwise, x
// forward, y to the left. Times are since any fixed moment, and grow.
//
// The behaviours are structs of parameters. A field that is zero stands for the
// default that its comment names: the article's value, converted, or a value for
// a Pioneer 2 where the article gives none.
package subsumption

// Defaults that behaviours share.
const (
	// topSpeed in mm/s is the article's "full speed". A Pioneer's wheels make
	// 500 mm/s; what is left lets it turn at full speed without a wheel being
	// clipped.
	topSpeed = 300
	// steer in deg/s is how fast a behaviour turns while it drives. In one
	// cycle of a robot that reports at 10 Hz that is 4 degrees, less than half
	// of any dead zone: it does not hunt.
	steer = 40
	// swing in deg/s is how fast a ballistic behaviour turns: in its half second
	// a robot must turn so far that it does not hit the same spot again. The
	// Pioneer turns at most 100.
	swing = 80
	// deadzone in degrees: a heading that is off by less is left alone. The
	// article makes it 5 or 10.
	deadzone = 5
)
