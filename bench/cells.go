package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"player/bench/load"
	"player/bench/rig"
	"player/codec"
)

// network is the network between server and clients.
type network struct {
	Name string `json:"name"`
	Rate int    `json:"bit_s"` // zero: loopback, as fast as it goes
}

// The paper's networks (section 5), and a second wireless one: at 1.9 Mbps the
// cell of 50 clients at 10 Hz and 807 bytes does not fit, though the paper
// estimated its 3.2 Mbps would.
var (
	loopback  = network{"loopback", 0}
	ethernet  = network{"Ethernet", 10_000_000}
	wireless  = network{"802.11", 1_900_000}
	wireless5 = network{"802.11-5", 5_000_000}
)

const (
	large = 807 // bytes of a frame of all seven devices, vision empty
	small = 85  // the same with the laser also empty
)

// group is clients that do the same, at the far end of the cell's network or near the server.
type group struct {
	Name    string    `json:"name"`
	Clients int       `json:"clients"`
	Rate    int       `json:"rate_hz"`
	Task    load.Task `json:"task"`
	Local   bool      `json:"local,omitempty"` // on the server's own machine
	Wired   bool      `json:"wired,omitempty"` // on a second network, which carries everything
	TLS     bool      `json:"tls,omitempty"`   // they connect by TLS, on the server's own machine
	// Form is the configuration of the server that sets the form of the frames, and
	// Devices the ones to read; empty for plain frames of all devices.
	Form    []byte `json:"form,omitempty"`
	Devices string `json:"devices,omitempty"`
	// Further is the interfaces of the devices without a letter that the clients read (load.Group).
	Further string `json:"further,omitempty"`
}

// far reports whether the clients are on the network of the cell.
func (g group) far() bool { return !g.Local && !g.Wired }

// kind is the quantity that a cell measures.
type kind string

const (
	frames kind = ""       // clients are served
	idle   kind = "idle"   // without clients
	start  kind = "start"  // from exec to the first reply
	binary kind = "binary" // the file
	inside kind = "inside" // the age of data inside the robot
)

// cell is one experiment, with everything that defines it.
type cell struct {
	Name    string  `json:"name"`
	Kind    kind    `json:"kind,omitempty"`
	Network network `json:"network"`
	Groups  []group `json:"groups"`
	Size    int     `json:"frame_size"`
	Device  int     `json:"device_hz"` // how often the devices have news
	// Servers run in turn; none is Player alone.
	Servers []server `json:"servers,omitempty"`
	// Window is the length of a run for a cell whose question needs its own; zero for
	// the command line's.
	Window time.Duration `json:"fixed_window_ns,omitempty"`
	// Calls has the system calls of the servers counted by kind.
	Calls bool `json:"calls,omitempty"`
	// Hold is how long the clients' process is stopped once, in the middle of the
	// window.
	Hold time.Duration `json:"hold_ns,omitempty"`
	// Hardware is the emulated hardware behind the server (hardware.go).
	Hardware string `json:"hardware,omitempty"`
	// Strangers names the work of others meanwhile (strangers.go).
	Strangers string `json:"strangers,omitempty"`
	// Camera is the camera of the robot (pictures.go); none if it is empty.
	Camera camera `json:"camera,omitempty"`
	// Share of one processor and Memory in bytes that the server may use, zero
	// for no limit.
	Share  float64 `json:"cpu_share,omitempty"`
	Memory int     `json:"memory,omitempty"`
	Claim  string  `json:"claim,omitempty"` // the paper's result for it
	// Wire is the typical size of a frame on the wire if it is not Size.
	Wire int `json:"wire_size,omitempty"`
	// Drive replaces the constant data by data of a robot that drives, which is as
	// large in compact form as a real robot's.
	Drive bool `json:"drive,omitempty"`
	// Relay puts a second server at the clients' end of the network. It reads the first
	// by passthrough, and the clients read it.
	Relay bool `json:"relay,omitempty"`
	// Robots is how many robots the server has, each with a port; zero: one.
	Robots int `json:"robots,omitempty"`
	// Monitors is how many clients share a connection to NATS, which a bridge feeds at
	// the clients' end of the network (fleet.go); zero: clients of the robots.
	Monitors int `json:"monitors_per_connection,omitempty"`
	// Plain replaces the bridge by a program that publishes as fast, but nothing else
	// (plain.go); nil: there is a bridge.
	Plain *plain `json:"plain,omitempty"`
	// Population is how many robots the server simulates, each on a port of its own
	// (population.go).
	Population int `json:"population,omitempty"`
	// Blocks replaces the seven devices of the manual: the devices of each driver's block (kinds.go).
	Blocks []string `json:"blocks,omitempty"`
	// Lasers gives each of them a laser, and noise.
	Lasers bool `json:"lasers,omitempty"`
	// Topic is the topic that the clients of servers of rosbridge subscribe to (peers.go).
	Topic string `json:"topic,omitempty"`
}

// family is the cells that a cell is compared with: the first part of its name.
func (c cell) family() string {
	family, _, _ := strings.Cut(c.Name, "/")
	return family
}

const (
	// costRate is the devices' rate where CPU time is measured: the paper's
	// devices had news five to ten times a second.
	costRate = 10
	// ageRate is the devices' rate where the age of data is measured: it adds
	// half a period, 1 ms, to every age, little against the 96 ms of the cells
	// that matter.
	ageRate = 500
)

// everyone is the server and both baselines.
func everyone() []server { return []server{player, floor, threads} }

// cells is the whole suite.
func cells() []cell {
	all := healthy()
	for _, l := range []network{loopback, ethernet, wireless} {
		all = append(all, paper("paper/"+l.Name, l, small, large)...)
	}
	return slices.Concat(all, paper("wireless5", wireless5, large), scale(), limited(), isolation(), neighbours(), beset(), viewed(), pictured(), exchanges(),
		realTime(), compacted(), relayed(), kinds(), fleets(), plains(), clientCells(), populated(), peers(), []cell{
			{Name: "idle", Kind: idle, Device: costRate, Size: large, Servers: everyone()},
			{Name: idleOpen, Kind: idle, Device: costRate, Size: large, Strangers: nobody},
			{Name: "start", Kind: start, Device: costRate, Size: large},
			{Name: "binary", Kind: binary},
		})
}

// served is a cell whose clients get frames of all devices.
func served(name string, l network, groups ...group) cell {
	return cell{Name: name, Network: l, Groups: groups, Size: large, Device: costRate}
}

// alike are clients that do the same, under the usual name.
func alike(n, rate int, task load.Task) group {
	return group{Name: "clients", Clients: n, Rate: rate, Task: task}
}

// healthy is fifty clients at 50 Hz on loopback that differ in their other work
// than reading. The network carries them all easily, so the server has to notice
// that it does: every frame goes out when it is due, and nothing else is done
// for it.
func healthy() []cell {
	const clients, hertz = 50, 50
	one := func(name string, task load.Task) cell {
		c := served("healthy/"+name, loopback, alike(clients, hertz, task))
		c.Servers, c.Calls = []server{player, floor}, true
		return c
	}
	hiccup := one("hiccup", load.Stream)
	hiccup.Hold = 150 * time.Millisecond // seven frames of each client
	mixed := one("mixed-readers", load.Stream)
	mixed.Groups = []group{
		{Name: "quick", Clients: clients / 2, Rate: hertz, Task: load.Stream},
		{Name: "slow", Clients: clients / 2, Rate: hertz, Task: load.Slow},
	}
	return []cell{
		one("readers", load.Stream), one("may-drive", load.Drive), one("commands", load.Command),
		one("delayed-acks", load.Answer), hiccup, mixed,
	}
}

// paper is the paper's combinations on one network, nine for each size of frame.
func paper(prefix string, l network, sizes ...int) []cell {
	var all []cell
	for _, size := range sizes {
		for _, clients := range []int{1, 10, 50} {
			for _, rate := range []int{1, 10, 50} {
				c := served(fmt.Sprintf("%s/%dx%dHz/%d", prefix, clients, rate, size), l, alike(clients, rate, load.Stream))
				if c.Size = size; l != loopback {
					c.Device = ageRate
				}
				if l != wireless5 {
					c.Claim = claim(l, clients, rate, size)
				}
				if c.Name == fullest {
					c.Servers = everyone()
				}
				all = append(all, c)
			}
		}
	}
	return all
}

// fullest is the worst cell of the paper: the clients ask for nine times as much as
// the network carries.
const fullest = "paper/802.11/50x50Hz/807"

const (
	// dueAtOnce is the cell that fits its network though each client's frame is due at once.
	dueAtOnce = "paper/802.11/50x1Hz/807"
	// The cells that compact frames, the relay and the fleet are for; directCell has no relay.
	compactCell = "compact/802.11/50x10Hz/807"
	autoCell    = "auto/802.11/50x10Hz/807"
	beamsCell   = "beams/802.11/50x50Hz/20"
	relayCell   = "relay/802.11/50x50Hz/807"
	directCell  = "relay/direct/802.11/1x50Hz/807"
	fleetCell   = "fleet/802.11/50x50Hz/807"
)

// paperMean is the paper's result for all cells but the worst.
const paperMean = "mean within 50 us"

// claim is the result of section 5 of the paper for a cell.
func claim(l network, clients, rate, size int) string {
	if l != wireless || size != large {
		return paperMean
	}
	switch {
	case clients == 1:
		return paperMean + ", little variance"
	case clients == 10 && rate == 1:
		return paperMean
	case clients == 10:
		return "mean held, more variance"
	case rate == 1:
		return "mean held, large variance"
	case rate == 10:
		return "34 of 50 closed, the others at 100 ms with high variance"
	}
	return "all closed within seconds, no data"
}

// scale is how far it goes on one machine, next to both baselines.
func scale() []cell {
	one := func(name string, clients, rate int) cell {
		c := served(name, loopback, alike(clients, rate, load.Stream))
		c.Servers = everyone()
		return c
	}
	var all []cell
	for _, clients := range []int{50, 500, 5000, 10000} {
		for _, rate := range []int{10, 50} {
			all = append(all, one(fmt.Sprintf("scale/%dx%dHz", clients, rate), clients, rate))
		}
	}
	// Compared with the cells of the same size: the cost of TLS for a frame, and for a client in memory.
	for _, c := range []cell{one("tls/50x50Hz", 50, 50), one("tls/500x10Hz", 500, 10)} {
		c.Servers, c.Groups[0].TLS = nil, true
		all = append(all, c)
	}
	return all
}

// limited is the paper's fifty clients served with a tenth of one processor, and a simulated robot with viewers.
func limited() []cell {
	var all []cell
	for _, l := range []network{loopback, wireless} {
		for _, rate := range []int{10, 50} {
			c := served(fmt.Sprintf("small-cpu/%s/50x%dHz", l.Name, rate), l, alike(50, rate, load.Stream))
			c.Share, c.Memory = 0.1, 32<<20
			all = append(all, c)
		}
	}
	// A simulated robot with a laser, all servers for viewers open and one browser; ten programs read the robot.
	whole := cell{
		Name: wholeCell, Network: loopback, Population: 1, Lasers: true, Strangers: "browser", Device: 10,
		Size: 3*codec.BlockHeaderSize + codec.PositionSize + codec.SonarSize + codec.LaserSize, Share: 0.1, Memory: 64 << 20,
	}
	programs := group{Name: "programs", Clients: 10, Rate: 10, Task: load.Stream, Devices: "prsrlr"}
	whole.Groups = []group{programs}
	return append(all, whole)
}

// wholeCell is all that a robot's server does at once, within 64 MiB and a tenth of a core.
const wholeCell = "small-cpu/whole"

// isolation is 25 clients that must not notice the work of others.
func isolation() []cell {
	well := group{Name: "well", Clients: 25, Rate: 50, Task: load.Stream, Local: true}
	beside := func(name string, device int, others ...group) cell {
		// All of them have the network, so that they differ in nothing else.
		c := served("isolation/"+name, wireless, append([]group{well}, others...)...)
		c.Device = device
		return c
	}
	other := func(name string, clients int, task load.Task, local bool) group {
		return group{Name: name, Clients: clients, Rate: 50, Task: task, Local: local}
	}
	return []cell{
		beside("alone", ageRate),
		beside("sick-network", ageRate, other("sick", 25, load.Stream, false)),
		beside("deaf-client", ageRate, other("deaf", 1, load.Deaf, true)),
		beside("command-flood", ageRate, other("flood", 1, load.Flood, true)),
		beside("2500Hz-device", 2500),
	}
}

// neighbours is clients on three networks of one server: a radio that is full, a wired one, and programs
// on the robot, one of them by TLS. Each cell is about its first group.
func neighbours() []cell {
	far := func(n int) group { return group{Name: "far", Clients: n, Rate: 50, Task: load.Stream} }
	near := []group{
		{Name: "program", Clients: 1, Rate: 50, Task: load.Stream, Local: true},
		{Name: "program, TLS", Clients: 1, Rate: 50, Task: load.Stream, Local: true, TLS: true},
		{Name: "wired", Clients: 5, Rate: 50, Task: load.Stream, Wired: true},
	}
	one := func(name string, groups ...group) cell {
		c := served("neighbours/"+name, wireless, groups...)
		c.Device = ageRate
		return c
	}
	return []cell{
		one("near", near...),
		one("program-with-50-far", near[0], near[1], near[2], far(50)),
		one("tls-with-50-far", near[1], near[0], near[2], far(50)),
		one("wired-with-50-far", near[2], near[0], near[1], far(50)),
		one("10-far", far(10)),
		one("10-far-with-near", append([]group{far(10)}, near...)...),
		one("50-far", far(50)),
		one("50-far-with-near", append([]group{far(50)}, near...)...),
	}
}

const (
	viewersPrefix = "viewers/"
	// idleOpen is an idle server with its dashboard and its socket for Foxglove open.
	idleOpen = "idle-open"
)

// exchanges is clients that send one request for each frame.
func exchanges() []cell {
	var all []cell
	for _, clients := range []int{1, 10, 50} {
		c := served(fmt.Sprintf("request/%d", clients), loopback, alike(clients, 0, load.Request))
		c.Servers = everyone()
		all = append(all, c)
	}
	return all
}

const (
	// largeCompact and smallCompact are the typical sizes of compact frames in bytes,
	// stamps and all.
	largeCompact, smallCompact = 348, 70
	// beamsCompact is the typical size of a compact frame of beams, beamsPlain the size of
	// a plain one of the laser.
	beamsCompact, beamsPlain = 27, 725
)

// beams is 20 readings of a scan, one in 9 degrees, in units of 5 cm.
var beams = codec.Scan{Step: 18, First: 9, Last: 351, Unit: 50}

// compacted is the full networks of the paper again, with compact frames, the network that
// the paper's authors wanted also with frames that are compact if the server finds
// the network full, and clients that need few readings of the laser only.
func compacted() []cell {
	form := func(form uint16, scan codec.Scan) []byte {
		return codec.Config{Code: codec.ConfigCompact, Arg: form, Scan: scan}.Append(nil)
	}
	var all []cell
	for _, l := range []network{ethernet, wireless, wireless5} {
		for _, c := range paper("compact/"+l.Name, l, small, large) {
			if c.fits() {
				continue
			}
			c.Groups[0].Form, c.Claim, c.Servers = form(codec.FramesCompact, codec.Scan{}), "", nil
			c.Wire = smallCompact
			if c.Size == large {
				c.Wire, c.Drive = largeCompact, true
			}
			all = append(all, c)
		}
	}
	auto := paper("auto/"+wireless.Name, wireless, large)[7]
	auto.Groups[0].Form, auto.Claim, auto.Wire, auto.Drive = form(codec.FramesAuto, codec.Scan{}), "", largeCompact, true
	few := auto
	few.Name = beamsCell
	few.Groups = []group{{Name: "clients", Clients: 50, Rate: 50, Task: load.Stream, Form: form(codec.FramesCompact, beams), Devices: "lr"}}
	few.Size, few.Wire = beamsPlain, beamsCompact
	return append(all, auto, few)
}

// relayed is the paper's worst cell with one copy of each frame on the radio, and one
// client without a relay to compare with.
func relayed() []cell {
	direct := paper("relay/direct/"+wireless.Name, wireless, large)[2]
	direct.Claim, direct.Drive = "", true
	relay := paper("relay/"+wireless.Name, wireless, large)[8]
	relay.Claim, relay.Drive, relay.Relay, relay.Servers = "", true, true, nil
	return []cell{direct, relay}
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

// wireTime is how long the network takes for one frame, zero on loopback.
func (c cell) wireTime() time.Duration {
	if c.Network.Rate == 0 {
		return 0
	}
	return time.Duration(cmp.Or(c.Wire, c.Size)+rig.Header) * 8 * time.Second / time.Duration(c.Network.Rate)
}

// asked is how many frames a second the clients of the network want.
func (c cell) asked() int {
	n := 0
	for _, g := range c.Groups {
		if g.far() {
			n += g.Clients * g.Rate
		}
	}
	return n
}

// tls reports whether some of the clients connect by TLS.
func (c cell) tls() bool { return slices.ContainsFunc(c.Groups, func(g group) bool { return g.TLS }) }

// fits reports whether the network carries the frames that its clients ask for.
func (c cell) fits() bool { return time.Duration(c.asked())*c.wireTime() <= time.Second }

// ageFloor is the least possible mean age of the frame that a client of the network has, if
// frames are sent one at a time and made when they are sent. A frame is as old
// as the network needs to carry it when it arrives, and grows old until the next
// one: for the period of the client's rate, or for a round of all clients on a
// network that cannot carry more.
func (c cell) ageFloor() time.Duration {
	clients, rate := 0, 0
	for _, g := range c.Groups {
		if g.far() {
			clients += g.Clients
			rate = max(rate, g.Rate)
		}
	}
	if rate == 0 {
		return 0
	}
	period := max(time.Second/time.Duration(rate), time.Duration(clients)*c.wireTime())
	return period/2 + c.wireTime()
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
	if c.Robots > 0 {
		return codec.Laser
	}
	if c.Size < large || c.Drive {
		return codec.Sonar
	}
	return codec.Laser
}

// stampless reports whether frames have no stamp, so that ages are unknown.
func (c cell) stampless() bool {
	return c.Groups[0].Devices != "" && c.Robots == 0 || len(c.Blocks) > 0
}

// relayRate is how often a relay asks for news in Hz. A higher rate makes the data
// younger and takes more of the network: 37 % at 807 bytes.
const relayRate = 100

// relayConfiguration is the configuration file of a relay.
func relayConfiguration(server string) string {
	return fmt.Sprintf("driver ( name \"passthrough\" remote %q rate %d "+
		"provides [\"laser:0\" \"sonar:0\" \"position:0\" \"gripper:0\" \"misc:0\" \"vision:0\" \"ptz:0\"] )\n", server, relayRate)
}

// configuration is the configuration file for a cell: the driver of the hardware
// on a serial port, or one that provides all seven devices. drive is the file of a
// recorded drive.
func (c cell) configuration(port, drive string) string {
	if c.Kind == inside {
		return fmt.Sprintf("driver ( name \"%s\" port \"%s\" )\n", c.hardware().driver, port)
	}
	if len(c.Blocks) > 0 {
		return c.blocks(drive)
	}
	if c.Drive {
		return fmt.Sprintf("driver ( name \"testpattern\" rate %d drive %q stamp true )\n", c.Device, drive)
	}
	laser := c.Size - small
	return fmt.Sprintf("driver ( name \"testpattern\" rate %d laser_size %d stamp true )\n", c.Device, laser) + c.Camera.section()
}
