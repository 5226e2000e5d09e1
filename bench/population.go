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
	// spacing is the distance between two robots in metres: their sonars see the others.
	spacing = 2
)

// populated is a server with many robots, each on a port of its own, while nobody is
// there, and with clients of a few. All of them are simulated while there is a client.
func populated() []cell {
	idle := cell{Name: fmt.Sprintf("population/%d", population), Kind: idle, Population: population}
	some := cell{
		Name: fmt.Sprintf("population/%d, %d watched", population, watched),
		Link: loopback, Population: population, Device: 10,
		Size: 2*codec.BlockHeaderSize + codec.PositionSize + codec.SonarSize,
	}
	for i := range watched {
		some.Groups = append(some.Groups, group{
			Name: fmt.Sprintf("client %d", i), Clients: 1, Rate: 10, Task: load.Stream, Devices: "prsr",
			// The clients know the end of a compact frame of any devices.
			Form: codec.Config{Code: codec.ConfigCompact, Arg: codec.FramesCompact}.Append(nil),
		})
	}
	return []cell{idle, some}
}

// portOf is the offset of the port of a group's robot. The groups are spread over all
// robots.
func (c cell) portOf(group int) int { return c.Population / max(len(c.Groups), 1) * group }

// crowd is a world of n robots with sonars in a square.
func crowd(n int) string {
	var b strings.Builder
	b.WriteString("include \"pioneer.inc\"\nresolution 0.05\n")
	side := int(math.Ceil(math.Sqrt(float64(n))))
	for i := range n {
		fmt.Fprintf(&b, "pioneer2dx ( pose [%d %d 0 %d] )\n", spacing*(i%side), spacing*(i/side), i*37%360)
	}
	return b.String()
}
