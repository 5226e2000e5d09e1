package config

import (
	"errors"
	"fmt"

	"player/devices"
	"player/formats/syntax"
)

// putInFront gives every robot a driver, as if the file had a block with its name. A port
// with an immovable position device needs none: an overhead camera only looks.
func (b *builder) putInFront(name string) error {
	block := fmt.Appendf(nil, "driver ( name %q )", name)
	file, err := syntax.Parse("(from -"+name+")", func(string) ([]byte, error) { return block, nil })
	if err != nil {
		return err
	}
	d, err := b.readBlock(file.Global.Sections("driver")[0])
	if err != nil {
		return fmt.Errorf("-%s: %w", name, message(err))
	}
	for _, robot := range b.robots {
		if position := robot.Table.Device(devices.Position().Letter); position != nil && !canMove(position) {
			continue
		}
		if err := b.frontOf(robot, *d); err != nil {
			return fmt.Errorf("-%s: the robot on port %d %w", name, robot.Port, err)
		}
	}
	return nil
}

// message drops the place of an error: it is in a line that the user did not
// write.
func message(err error) error {
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return e.Err
	}
	return err
}

// frontOf attaches the driver of a block to a robot. The driver requires the devices that it
// needs, and of each interface that it accepts the device of index 0, and the others if it takes several. A device that it
// replaces moves to the next free index.
func (b *builder) frontOf(robot Robot, d block) error {
	d.provides, d.requires = nil, nil
	for _, spec := range d.kind.Provides {
		d.provides = append(d.provides, address{robot.Port, spec})
	}
	require := func(device *devices.Device) {
		d.requires = append(d.requires, address{robot.Port, device.Spec()})
	}
	for _, need := range d.kind.Requires {
		device := robot.Table.Device(need.Letter)
		if device == nil {
			return fmt.Errorf("has no %s device", need.Name)
		}
		if hasLetter(d.kind.Provides, need.Letter) {
			device = robot.Table.Hide(need.Letter)
		}
		require(device)
	}
	for _, accepted := range d.kind.Accepts {
		for _, link := range robot.Table.Links() {
			for _, device := range link.Devices() {
				if device.Letter() == accepted.Letter && device.Code() != 0 && (device.Spec().Index == 0 || d.kind.Several && device.IsPlaced()) {
					require(device)
				}
			}
		}
	}
	if err := b.attach(&d); err != nil {
		return fmt.Errorf("cannot have %s: %w", d.name, message(err))
	}
	return nil
}
