package main

import (
	"fmt"
	"math"
	"strings"

	"player/bench/load"
	"player/codec"
)

const (
	// population is how many robots a server simulates.
	population = 1000
	// watched is how many of them have a client.
	watched = 10
	// busy is how many robots a server simulates of which all are watched.
	busy = 100
	// spacing is the distance between two robots in metres: their sonars see the others.
	spacing = 2
)

// populated is a server with many robots, each on a port of its own, without
// clients, and with clients of a few. All of them are simulated while there is a client.
func populated() []cell {
	idle := cell{Name: fmt.Sprintf("population/%d", population), Kind: idle, Population: population}
	some := cell{
		Name:    fmt.Sprintf("population/%d, %d watched", population, watched),
		Network: loopback, Population: population, Device: 10,
		Size: 2*codec.BlockHeaderSize + codec.PositionSize + codec.SonarSize,
	}
	for i := range watched {
		some.Groups = append(some.Groups, group{
			Name: fmt.Sprintf("client %d", i), Clients: 1, Rate: 10, Task: load.Stream, Devices: "prsr",
			// The clients know the end of a compact frame of any devices.
			Form: codec.Config{Code: codec.ConfigCompact, Arg: codec.FramesCompact}.Append(nil),
		})
	}
	noisy := cell{
		Name:    fmt.Sprintf("population/%d with lasers and noise, all watched", busy),
		Network: loopback, Population: busy, Lasers: true, Device: 10,
		Size: 3*codec.BlockHeaderSize + codec.PositionSize + codec.SonarSize + codec.LaserSize,
	}
	for i := range busy {
		g := group{Name: fmt.Sprintf("client %d", i), Clients: 1, Rate: 10, Task: load.Stream, Devices: "prsrlr", Form: some.Groups[0].Form}
		if i == 0 { // the figures of clients are of the first group
			g.Rate = 50
		}
		noisy.Groups = append(noisy.Groups, g)
	}
	return []cell{idle, some, noisy}
}

// portOf is the offset of the port of a group's robot. The groups are spread over all
// robots.
func (c cell) portOf(group int) int { return c.Population / max(len(c.Groups), 1) * group }

// crowd is a world of robots with sonars in a square.
func (c cell) crowd() string {
	var b strings.Builder
	b.WriteString("include \"pioneer.inc\"\nresolution 0.05\n")
	model := "pioneer2dx"
	if c.Lasers {
		model = "noisy"
		const noise = "noise [0.01 0 0]"
		b.WriteString("define noisy position ( size [0.44 0.38 0.22]\n ranger (\n")
		for i := range codec.SonarCount {
			fmt.Fprintf(&b, "  sensor ( pose [0 0 0 %d] range [0 5] fov 15 samples 3 %s )\n", i*360/codec.SonarCount, noise)
		}
		b.WriteString(" )\n ranger ( sensor ( range [0 8] fov 180 samples 361 " + noise + " ) ) )\n")
	}
	side := int(math.Ceil(math.Sqrt(float64(c.Population))))
	for i := range c.Population {
		fmt.Fprintf(&b, "%s ( pose [%d %d 0 %d] )\n", model, spacing*(i%side), spacing*(i/side), i*37%360)
	}
	return b.String()
}
