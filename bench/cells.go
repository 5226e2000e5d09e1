package main

import (
	"fmt"
	"time"

	"player/bench/load"
	"player/bench/rig"
	"player/codec"
)

// link is the network between server and clients.
type link struct {
	Name string `json:"name"`
	Rate int    `json:"bit_s"` // zero: loopback, as fast as it goes
}

// The paper's networks (section 5), and a second wireless one: at 1.9 Mbps the
// cell of 50 clients at 10 Hz and 807 bytes does not fit, though the paper
// estimated its 3.2 Mbps would.
var (
	loopback  = link{"loopback", 0}
	ethernet  = link{"Ethernet", 10_000_000}
	wireless  = link{"802.11", 1_900_000}
	wireless5 = link{"802.11-5", 5_000_000}
)

const (
	large = 807 // bytes of a frame of all seven devices, vision empty
	small = 85  // the same with the laser empty too
)

// group is clients that do the same, on the cell's link or, if local, on the
// server's own machine.
type group struct {
	Name    string    `json:"name"`
	Clients int       `json:"clients"`
	Rate    int       `json:"rate_hz"`
	Task    load.Task `json:"task"`
	Local   bool      `json:"local,omitempty"`
}

// kind is what is measured in a cell.
type kind string

const (
	frames kind = ""       // clients are served
	idle   kind = "idle"   // nobody is there
	start  kind = "start"  // from exec to the first reply
	binary kind = "binary" // the file
)

// cell is one experiment, and all that there is to know about it.
type cell struct {
	Name   string  `json:"name"`
	Kind   kind    `json:"kind,omitempty"`
	Link   link    `json:"link"`
	Groups []group `json:"groups"`
	Size   int     `json:"frame_size"`
	Device int     `json:"device_hz"` // how often the devices have news
	// Servers run in turn; none is Player alone.
	Servers []server `json:"servers,omitempty"`
	Procs   int      `json:"gomaxprocs,omitempty"` // zero: the server's own choice
	// Share of one processor and Memory in bytes that the server may use, zero
	// for no limit.
	Share  float64 `json:"cpu_share,omitempty"`
	Memory int     `json:"memory,omitempty"`
	Claim  string  `json:"claim,omitempty"` // what the paper says of it
}

const (
	// cost is the devices' rate where cost is measured: the paper's devices
	// had news five to ten times a second.
	costRate = 10
	// ageRate is their rate where age is: it adds half a period, 1 ms, to
	// all ages, little beside the 96 ms of the cells that matter.
	ageRate = 500
)

// cells is the whole suite.
func cells() []cell {
	var all []cell
	for _, l := range []link{loopback, ethernet, wireless} {
		all = append(all, paper("paper/"+l.Name, l)...)
	}
	all = append(all, paper("wireless5", wireless5)...)
	all = append(all, scale()...)
	all = append(all, processors()...)
	all = append(all, isolation()...)
	all = append(all, exchanges()...)
	return append(all,
		cell{Name: "idle", Kind: idle, Device: costRate, Size: large},
		cell{Name: "start", Kind: start, Device: costRate, Size: large},
		cell{Name: "binary", Kind: binary},
	)
}

// paper is the paper's eighteen combinations on one link.
func paper(prefix string, l link) []cell {
	var all []cell
	for _, size := range []int{small, large} {
		for _, clients := range []int{1, 10, 50} {
			for _, rate := range []int{1, 10, 50} {
				c := cell{
					Name:   fmt.Sprintf("%s/%dx%dHz/%d", prefix, clients, rate, size),
					Link:   l,
					Groups: []group{{Name: "clients", Clients: clients, Rate: rate, Task: load.Stream}},
					Size:   size,
					Device: ageRate,
				}
				if l == loopback {
					c.Device = costRate
				}
				if prefix != "wireless5" {
					c.Claim = claim(l, clients, rate, size)
				}
				all = append(all, c)
			}
		}
	}
	return all
}

// held is what the paper says of all cells but the worst.
const held = "mean within 50 us"

// claim is what section 5 of the paper says of a cell.
func claim(l link, clients, rate, size int) string {
	if l != wireless || size != large {
		return held
	}
	switch {
	case clients == 1:
		return held + ", little variance"
	case clients == 10 && rate == 1:
		return held
	case clients == 10:
		return "mean held, more variance"
	case rate == 1:
		return "mean held, large variance"
	case rate == 10:
		return "34 of 50 closed, the others at 100 ms with high variance"
	}
	return "all closed within seconds, no data"
}

// scale is how far it goes on one machine, beside both baselines.
func scale() []cell {
	var all []cell
	for _, clients := range []int{50, 500, 5000, 10000} {
		for _, rate := range []int{1, 10, 50} {
			all = append(all, cell{
				Name:   fmt.Sprintf("scale/%dx%dHz", clients, rate),
				Groups: []group{{Name: "clients", Clients: clients, Rate: rate, Task: load.Stream}},
				Link:   loopback, Size: large, Device: costRate,
				Servers: []server{player, floor, threads},
			})
		}
	}
	// What the clients' process can take: twice what 10,000 clients ask for at
	// 10 Hz, from the server that costs the least.
	return append(all, cell{
		Name:   "scale/clients-proof/10000x20Hz",
		Groups: []group{{Name: "clients", Clients: 10000, Rate: 20, Task: load.Stream}},
		Link:   loopback, Size: large, Servers: []server{floor},
	})
}

// processors is one cell on one and on two threads of Go, and the paper's
// fifty clients with a tenth of the time of one processor.
func processors() []cell {
	var all []cell
	for _, procs := range []int{0, 2} { // left to itself, the server takes one
		for _, g := range []group{
			{Name: "clients", Clients: 50, Rate: 50, Task: load.Stream},
			{Name: "clients", Clients: 5000, Rate: 10, Task: load.Stream},
		} {
			all = append(all, cell{
				Name:   fmt.Sprintf("procs/%d/%dx%dHz", max(procs, 1), g.Clients, g.Rate),
				Groups: []group{g},
				Link:   loopback, Size: large, Device: costRate, Procs: procs,
			})
		}
	}
	for _, l := range []link{loopback, ethernet, wireless} {
		for _, size := range []int{small, large} {
			for _, rate := range []int{1, 10, 50} {
				all = append(all, cell{
					Name:   fmt.Sprintf("small-cpu/%s/50x%dHz/%d", l.Name, rate, size),
					Groups: []group{{Name: "clients", Clients: 50, Rate: rate, Task: load.Stream}},
					Link:   l, Size: size, Device: costRate, Share: 0.1, Memory: 32 << 20,
				})
			}
		}
	}
	return all
}

// isolation is 25 clients that must not notice what others do.
func isolation() []cell {
	well := group{Name: "well", Clients: 25, Rate: 50, Task: load.Stream, Local: true}
	beside := func(name string, device int, others ...group) cell {
		// The link is there in all of them, so that they differ in nothing else.
		return cell{Name: "isolation/" + name, Link: wireless, Groups: append([]group{well}, others...), Size: large, Device: device}
	}
	return []cell{
		beside("alone", ageRate),
		beside("sick-link", ageRate, group{Name: "sick", Clients: 25, Rate: 50, Task: load.Stream}),
		beside("deaf-client", ageRate, group{Name: "deaf", Clients: 1, Rate: 50, Task: load.Deaf, Local: true}),
		beside("command-flood", ageRate, group{Name: "flood", Clients: 1, Rate: 50, Task: load.Flood, Local: true}),
		beside("2500Hz-device", 2500),
	}
}

// exchanges is clients that talk: one request for each frame, and commands
// beside a stream.
func exchanges() []cell {
	var all []cell
	for _, clients := range []int{1, 10, 50} {
		all = append(all, cell{
			Name:   fmt.Sprintf("request/%d", clients),
			Groups: []group{{Name: "clients", Clients: clients, Task: load.Request}},
			Link:   loopback, Size: large, Device: costRate,
			Servers: []server{player, floor, threads},
		})
	}
	return append(all, cell{
		Name:   "command/1x50Hz",
		Groups: []group{{Name: "clients", Clients: 1, Rate: 50, Task: load.Command}},
		Link:   loopback, Size: large, Device: costRate,
	})
}

// least is the shortest window that has enough frames of the slowest clients
// for a mean: one late frame in fifteen moves it by a fifteenth of its delay.
func (c cell) least() time.Duration {
	const intervals = 15
	d := time.Duration(0)
	for _, g := range c.Groups {
		if g.Rate > 0 {
			d = max(d, intervals*time.Second/time.Duration(g.Rate))
		}
	}
	return d
}

// wireTime is how long the link takes for one frame, zero on loopback.
func (c cell) wireTime() time.Duration {
	if c.Link.Rate == 0 {
		return 0
	}
	return time.Duration(c.Size+rig.Header) * 8 * time.Second / time.Duration(c.Link.Rate)
}

// asked is how many frames a second the clients of the link want.
func (c cell) asked() int {
	n := 0
	for _, g := range c.Groups {
		if !g.Local {
			n += g.Clients * g.Rate
		}
	}
	return n
}

// fits says whether the link carries what is asked for.
func (c cell) fits() bool { return time.Duration(c.asked())*c.wireTime() <= time.Second }

// ageFloor is the least mean age that is possible when the link is too small:
// every client has a turn in each round, and its data grows old for half a
// round, and for as long as the link takes for one frame.
func (c cell) ageFloor() time.Duration {
	if c.fits() || len(c.Groups) == 0 {
		return 0
	}
	clients := 0
	for _, g := range c.Groups {
		if !g.Local {
			clients += g.Clients
		}
	}
	return time.Duration(clients)*c.wireTime()/2 + c.wireTime()
}

// servers are the ones to run.
func (c cell) servers() []server {
	if len(c.Servers) == 0 {
		return []server{player}
	}
	return c.Servers
}

// stamped is the device whose payload begins with the time it was taken.
func (c cell) stamped() byte {
	if c.Size < large {
		return codec.Sonar
	}
	return codec.Laser
}

// configuration is the file that has Player serve a cell: all seven devices.
func (c cell) configuration() string {
	laser := c.Size - small
	return fmt.Sprintf("driver ( name \"testpattern\" rate %d laser_size %d stamp true )\n", c.Device, laser)
}
