package main

import (
	"fmt"
	"slices"

	"player/codec"
	"player/config"
	"player/config/syntax"
	"player/devices"
	"player/devices/reflex"
)

// protect gives every robot reflexes, as a block of a configuration file would
// that requires its wheels and all that it sees with. The error says that a
// robot has nothing to protect, or to see with.
func protect(server *config.Server) error {
	for i := range server.Robots {
		robot := &server.Robots[i]
		wheels := robot.Table.Hide(codec.Position)
		if wheels == nil {
			return fmt.Errorf("-reflex: the robot on port %d has no position device", robot.Port)
		}
		kind := reflex.Kind()
		requires := []*devices.Device{wheels}
		for _, eye := range kind.Accepts {
			if device := robot.Table.Device(eye.Letter); device != nil {
				requires = append(requires, device)
			}
		}
		driver, err := kind.New(devices.Args{Name: kind.Name, Requires: requires, Values: kind.Defaults()})
		if err != nil {
			return fmt.Errorf("-reflex: the robot on port %d: %w", robot.Port, err)
		}
		link, err := robot.Table.Attach(kind.Instance(driver))
		if err != nil {
			return fmt.Errorf("-reflex: %w", err)
		}
		inner := slices.IndexFunc(robot.Drivers, func(d config.Driver) bool { return d.Link == wheels.Link() })
		kind.Simulated = robot.Drivers[inner].Kind.Simulated
		robot.Drivers = append(robot.Drivers, config.Driver{
			Driver: driver, Link: link, Kind: kind, Values: kind.Defaults(), Pos: syntax.Pos{File: "(from -reflex)"},
		})
	}
	return nil
}
