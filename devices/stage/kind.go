package stage

import (
	"errors"
	"strings"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
)

// Kind declares the simulator: a block makes a driver for each robot of a world.
func Kind() devices.Kind {
	return devices.Kind{
		Name:      "stage",
		Doc:       "a simulated world: every robot of it, each on a port of its own",
		Provides:  provides(),
		Simulated: true,
		Options: []devices.Option{
			{Name: "world", Default: devices.Path(""), Required: true, Doc: "the world file"},
			{Name: "seed", Default: FileSeed, Doc: "of all random numbers; negative: the world file's"},
		},
		NewAll: newDrivers,
	}
}

// provides returns the devices of a robot that has each of them once. Receivers and inertial measurement units are there
// if the world has them or a block names them.
func provides() []devices.Spec {
	return []devices.Spec{devices.Position(), devices.Misc(), devices.Sonar(), devices.Laser(), devices.Gripper(),
		devices.Vision(), devices.PTZ(), devices.Ranger(), devices.IMU().At(devices.Hidden), devices.GPS().At(devices.Hidden)}
}

// provides returns the devices that the robot carries, the first of each interface first. Position and misc are on every
// robot.
func (r *Robot) provides() (specs []devices.Spec) {
	some := func(rank int) (more bool) {
		for _, spec := range provides() {
			count := 1
			switch spec.Letter {
			case codec.Sonar:
				if r.sonars == nil {
					count = 0
				}
			case codec.Laser:
				count = len(r.lasers)
			case codec.Gripper:
				count = len(r.grippers)
			case codec.Vision, codec.PTZ:
				count = len(r.cameras)
			case codec.Ranger:
				count = len(r.rangers)
			case codec.IMU:
				count = len(r.inertials)
			case codec.GPS:
				count = len(r.receivers)
			}
			if rank < count {
				specs, more = append(specs, spec.At(rank)), true
			}
		}
		return more
	}
	for rank := 0; some(rank); rank++ {
	}
	return specs
}

// newDrivers loads the world of a block and makes a driver for each robot. The
// error names a file that cannot be read and the place of a mistake in it, or a
// world without robots. Warnings about the world are logged.
func newDrivers(a devices.Args) ([]devices.Instance, error) {
	world, err := LoadSeed(a.String("world"), a.Int("seed"))
	if err != nil {
		return nil, err
	}
	if len(world.Robots()) == 0 { // a misspelt type is among the warnings
		return nil, errors.New(strings.Join(append([]string{world.Name() + ": there is no robot in this world: add a position model"}, world.Warnings()...), "; "))
	}
	world.equip(a.Provides)
	warnings := world.Warnings()
	shown := min(len(warnings), mostWarnings)
	for _, warning := range warnings[:shown] {
		a.Log.Warn(warning)
	}
	if more := len(warnings) - shown; more > 0 {
		a.Log.Warn("there are more warnings about the world", zap.Int("warnings", more))
	}
	return world.Instances(), nil
}

// mostWarnings is how many warnings about a world are logged: half of the different messages that the log takes in ten
// seconds (logging). So the line with the robots' addresses still has room after a world with thousands of warnings.
const mostWarnings = 100
