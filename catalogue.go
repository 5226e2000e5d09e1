package main

import (
	"fmt"

	"player/devices"
	"player/devices/stage"
	"player/devices/testpattern"
)

// catalogue lists the drivers of this server. A new one is one line here
// (docs/DRIVERS.md).
func catalogue() []devices.Kind {
	return []devices.Kind{
		absent("p2os", "Pioneer robots with a P2OS microcontroller", "port", "/dev/ttyS0", "serial port",
			devices.Position(), devices.Sonar(), devices.Gripper(), devices.Misc()),
		absent("sicklms200", "SICK LMS-200 laser scanner", "port", "/dev/ttyS1", "serial port", devices.Laser()),
		absent("evid30", "Sony EVI-D30 pan-tilt-zoom camera", "port", "/dev/ttyS2", "serial port", devices.PTZ()),
		actsKind(),
		stageKind(),
		testpattern.Kind(),
	}
}

// absent declares a driver that is still to be written.
func absent(name, doc, option, value, what string, provides ...devices.Spec) devices.Kind {
	return devices.Kind{
		Name: name, Doc: doc, Provides: provides,
		Options: []devices.Option{{Name: option, Default: value, Doc: what}},
		New: func(a devices.Args) (devices.Driver, error) {
			return devices.NewAbsent(name, a.String(option), provides...), nil
		},
	}
}

func actsKind() devices.Kind {
	return devices.Kind{
		Name: "acts", Doc: "ACTS colour vision program", Provides: []devices.Spec{devices.Vision()},
		Options: []devices.Option{
			{Name: "port", Default: 5001, Min: 1, Max: 65535, Doc: "TCP port of ACTS"},
			{Name: "configfile", Default: "/usr/local/acts/actsconfig", Doc: "configuration file of ACTS"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			return devices.NewAbsent("acts", fmt.Sprint(a.Int("port")), devices.Vision()), nil
		},
	}
}

// stageKind declares the simulator.
func stageKind() devices.Kind {
	return devices.Kind{
		Name:      "stage",
		Doc:       "a simulated world: every robot of it, each on a port of its own",
		Provides:  testpattern.Kind().Provides,
		Simulated: true,
		Options: []devices.Option{
			{Name: "world", Default: devices.Path(""), Required: true, Doc: "the world file"},
		},
		NewAll: func(a devices.Args) ([]devices.Placed, error) {
			world, err := stage.Load(a.String("world"))
			if err != nil {
				return nil, err
			}
			for _, warning := range world.Warnings() {
				a.Log.Warn(warning)
			}
			var placed []devices.Placed
			for _, robot := range world.Robots() {
				placed = append(placed, devices.Placed{Driver: stage.NewDriver(world, robot), Port: robot.Port})
			}
			if len(placed) == 0 {
				return nil, fmt.Errorf("%s: there is no robot in this world: add a position model", world.Name())
			}
			return placed, nil
		},
	}
}
