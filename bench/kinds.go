package main

import (
	"fmt"
	"strings"

	"player/bench/load"
	"player/codec"
)

const (
	kindsPrefix = "kinds/"
	// lasers is how many lasers the robot of the cells with several devices has.
	lasers = 8
	// decoders is how many clients read them: to decode a frame takes a client 0.2 ms, so fifty would use a processor.
	decoders = 10
)

// kinds are the devices that the manual of 2001 does not have, one at a time, and a robot with many lasers. Fifty
// clients read the devices at 50 Hz on loopback, as in the cells of the seven devices; fewer read the lasers.
func kinds() []cell {
	one := func(name string, size int, g group, blocks ...string) cell {
		c := served(kindsPrefix+name, loopback, g)
		c.Size, c.Blocks = size, blocks
		return c
	}
	readers := alike(50, 50, load.Stream)

	all := []cell{}
	for _, tt := range []struct {
		iface  string
		letter byte
		size   int // bytes of the payload
	}{
		{"imu", codec.IMU, codec.IMUSize}, {"gps", codec.GPS, codec.GPSSize},
		{"io", codec.IO, 4 * 4}, {"servo", codec.Servo, 2 * 9}, // the pattern has four channels and two joints
		{"ranger", codec.Ranger, 2 + 2*1081}, // a scanner that sees 270 degrees in steps of a quarter
	} {
		readers.Further = string(rune(tt.letter))
		all = append(all, one(tt.iface, codec.BlockHeaderSize+tt.size, readers, tt.iface+":0"))
	}
	var blocks []string
	for i := range lasers {
		blocks = append(blocks, fmt.Sprintf("laser:%d", i))
	}
	readers.Clients = decoders
	readers.Devices, readers.Further = "lr", strings.Repeat(string(codec.Laser), lasers-1)
	plain := one(fmt.Sprintf("%d lasers", lasers), lasers*(codec.BlockHeaderSize+codec.LaserSize), readers, blocks...)
	plain.Drive = true
	compact := plain
	readers.Form = codec.Config{Code: codec.ConfigCompact, Arg: codec.FramesCompact}.Append(nil)
	compact.Name, compact.Groups = plain.Name+", compact", []group{readers}
	return append(all, plain, compact)
}

// blocks is the configuration of the cell's Blocks. drive is the file of a recorded drive.
func (c cell) blocks(drive string) string {
	var b strings.Builder
	for _, devices := range c.Blocks {
		fmt.Fprintf(&b, "driver ( name \"testpattern\" rate %d", c.Device)
		if c.Drive {
			fmt.Fprintf(&b, " drive %q", drive)
		}
		fmt.Fprintf(&b, " provides [%q] )\n", devices)
	}
	return b.String()
}
