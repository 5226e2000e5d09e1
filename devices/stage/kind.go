package stage

import (
	"errors"
	"strings"

	"go.uber.org/zap"

	"player/devices"
)

// Kind declares the simulator: a block makes a driver for each robot of a world.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "stage",
		Doc:  "a simulated world: every robot of it, each on a port of its own",
		Provides: []devices.Spec{devices.Position(), devices.Misc(), devices.Sonar(), devices.Laser(), devices.Gripper(),
			devices.Vision(), devices.PTZ(), devices.Ranger(), devices.IMU().At(devices.Hidden), devices.GPS().At(devices.Hidden)},
		Simulated: true,
		Options: []devices.Option{
			{Name: "world", Default: devices.Path(""), Required: true, Doc: "the world file"},
			{Name: "seed", Default: FileSeed, Doc: "of all random numbers; negative: that of the world file"},
		},
		NewAll: newDrivers,
	}
}

// provides returns the devices that the robot carries. Position and misc are on every robot. The first of each interface
// come first.
func (r *Robot) provides() []devices.Spec {
	specs := []devices.Spec{devices.Position(), devices.Misc()}
	add := func(from, to int, some ...devices.Spec) {
		for i := from; i < to; i++ {
			for _, spec := range some {
				specs = append(specs, spec.At(i))
			}
		}
	}
	if r.sonars != nil {
		add(0, 1, devices.Sonar())
	}
	lasers, grippers, cameras := len(r.lasers), len(r.grippers), len(r.cameras)
	add(0, min(1, lasers), devices.Laser())
	add(0, min(1, grippers), devices.Gripper())
	add(0, min(1, cameras), devices.Vision(), devices.PTZ())
	add(0, len(r.rangers), devices.Ranger())
	add(0, len(r.inertials), devices.IMU())
	add(0, len(r.receivers), devices.GPS())
	add(1, lasers, devices.Laser())
	add(1, grippers, devices.Gripper())
	add(1, cameras, devices.Vision(), devices.PTZ())
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
