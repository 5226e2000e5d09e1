package main

import (
	"fmt"

	"player/devices"
	"player/devices/acts"
	"player/devices/deadman"
	"player/devices/evid30"
	"player/devices/hdaps"
	"player/devices/joystick"
	"player/devices/lasersonar"
	"player/devices/p2os"
	"player/devices/passthrough"
	"player/devices/plugin"
	"player/devices/readlog"
	"player/devices/reflex"
	"player/devices/sicklms200"
	"player/devices/stage"
	"player/devices/testpattern"
	"player/devices/writelog"
)

// catalogue lists the drivers of this server. A new one is one line here
// (docs/DRIVERS.md).
func catalogue() []devices.Kind {
	return []devices.Kind{
		p2os.Kind(),
		sicklms200.Kind(),
		evid30.Kind(),
		acts.Kind(),
		stageKind(),
		joystick.Kind(),
		hdaps.Kind(),
		plugin.Kind(),
		passthrough.Kind(),
		lasersonar.Kind(),
		deadman.Kind(),
		reflex.Kind(),
		writelog.Kind(version()),
		readlog.Kind(),
		testpattern.Kind(),
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
		NewAll: func(a devices.Args) ([]devices.Instance, error) {
			world, err := stage.Load(a.String("world"))
			if err != nil {
				return nil, err
			}
			for _, warning := range world.Warnings() {
				a.Log.Warn(warning)
			}
			if len(world.Robots()) == 0 {
				return nil, fmt.Errorf("%s: there is no robot in this world: add a position model", world.Name())
			}
			return world.Instances(), nil
		},
	}
}
