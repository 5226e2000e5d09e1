// Package passthrough provides devices of another Player. Servers can form a chain,
// and virtual devices can work on devices of another computer.
package passthrough

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"player/codec"
	"player/codec/compact"
	"player/devices"
	"player/devices/peer"
	"player/devices/retry"
)

const defaultPort = "6665" // manual 3.2

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "passthrough",
		Doc:  "devices of another Player",
		Options: []devices.Option{
			{Name: "remote", Default: "", Required: true, Doc: `the other Player, as in "10.0.0.7:6665"; a name is looked up at the start`},
			{Name: "devices", Default: []string{}, Doc: `names there of those in provides; empty: the first, the second of an interface`},
			{Name: "rate", Default: 50, Min: 1, Max: 1000, Unit: "Hz", Doc: "how often it may send; it sends only new data"},
		},
		SetupLimit: connectLimit + answerLimit + connectLimit + time.Second, // of asking and learning
		NewAll: func(a devices.Args) ([]devices.Instance, error) {
			address, err := resolve(a.String("remote"))
			if err != nil {
				return nil, err
			}
			d := New(address, a.Int("rate"))
			if d.names, err = namesThere(a.Strings("devices"), a.Provides); err != nil {
				return nil, err
			}
			return []devices.Instance{{Driver: d, Name: "passthrough " + address}}, nil
		},
	}
}

// resolve returns the numeric address of a host, or of host:port. A name is looked
// up now, because the loop must not block.
func resolve(remote string) (string, error) {
	address := remote
	if _, _, err := net.SplitHostPort(remote); err != nil {
		address = net.JoinHostPort(strings.Trim(remote, "[]"), defaultPort)
	}
	numeric, err := devices.Resolve(address)
	if err != nil {
		return "", fmt.Errorf("remote %q: %w", remote, err)
	}
	return numeric, nil
}

// namesThere returns the names that our devices have at the other Player: those that are given, or the first device of
// an interface for our first one of it, the second for the second, and so on.
func namesThere(given []string, ours []devices.Spec) ([]string, error) {
	if len(given) > 0 && len(given) != len(ours) {
		return nil, fmt.Errorf("devices has %d names, for %d devices in provides", len(given), len(ours))
	}
	names, count := make([]string, len(ours)), map[string]int{}
	for i, spec := range ours {
		names[i] = spec.At(count[spec.Name]).Address()
		count[spec.Name]++
		if len(given) == 0 {
			continue
		}
		iface, index, ok := codec.ParseAddress(given[i])
		if !ok || iface != spec.Name {
			return nil, fmt.Errorf("devices: %q is no device for %s: write an interface and an index, as in %q", given[i], spec.Address(), names[i])
		}
		names[i] = spec.At(index).Address()
	}
	return names, nil
}

// remote is a device of the other Player.
type remote struct {
	device  *devices.Device // ours
	name    string          // there
	code    byte            // its byte there; 0: not known yet
	writes  bool            // write access was requested on this connection
	refused bool            // and refused
}

// Driver is a client of the other Player while it has subscribers. Data keeps its age,
// except for the time on the network. All devices use one connection and are opened
// together, so a command never waits for the setup of another device (PROTOCOL 2.7).
//
// Write access is requested with the first command: on a Player 0.7.4a, a client with
// write access stops the robot when it leaves, even if another client drives it.
//
// A lost connection is made again while there are subscribers. Until then data
// grows old and commands are dropped.
type Driver struct {
	address string
	rate    int      // Hz
	names   []string // of the devices there, in the order of provides; nil: the first of each interface
	remotes []remote

	link   *devices.Link
	state  state
	due    time.Duration // deadline of asking, learning and resting
	heard  time.Duration // when the other Player last sent anything
	port   devices.Port  // nil: none
	reader peer.Reader
	items  compact.Reader
	outbox peer.Outbox
	retry  retry.Retry
	out    []byte

	// What the other Player says of the devices. Device is their index in remotes, because another start of that Player
	// may hand out other bytes.
	parts    []codec.Part
	rays     []codec.Rays
	channels []codec.Channel
	colors   []codec.ChannelColor

	asks    bool  // it asks for the bytes of the devices before it requests them
	refusal error // why a device is refused, if known; nil: none is

	frame codec.FreshnessData
	next  int // index in frame.Ages of the next block
}

// New returns a driver for devices of the Player at a numeric address, which
// sends up to rate times a second.
func New(address string, rate int) *Driver { return &Driver{address: address, rate: rate} }

// Address returns the numeric address of the other Player, host:port.
func (d *Driver) Address() string { return d.address }

// Setup implements devices.Driver. It ends with the other Player's answers to our questions about the devices, and
// fails if it refuses one of the devices.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.retry = link, retry.Retry{}
	d.remotes = d.remotes[:0]
	for i, device := range link.Devices() {
		name := device.Spec().At(0).Address()
		if d.names != nil {
			name = d.names[i]
		}
		d.remotes = append(d.remotes, remote{device: device, name: name})
	}
	d.connect(now)
}

// Shutdown implements devices.Driver. When the connection ends, the other Player stops the
// devices that we drove.
func (d *Driver) Shutdown(now time.Duration) {
	d.disconnect()
	d.state = off
	d.link.Stopped(now)
}

// Command implements devices.Commanded. It is passed on at once.
func (d *Driver) Command(now time.Duration, device *devices.Device) {
	r := d.remoteOf(device)
	if d.state != serving || r.refused {
		device.ForgetCommand() // it must not be carried out later
		return
	}
	if !r.writes {
		r.writes = true
		d.ask(r, codec.AccessAll)
	}
	if again := d.outbox.Command(now, device); again != 0 {
		d.link.WakeAt(again)
	}
}

// Configure implements devices.Configurer. It is passed on at once.
func (d *Driver) Configure(_ time.Duration, device *devices.Device, payload []byte) error {
	if d.state != serving {
		return errors.New("the other Player is not connected")
	}
	return d.outbox.Configure(device, payload)
}

// AppendParts appends the parts of a device, as the other Player says. Where a pose is configured here, the one part of
// a device is at its origin.
func (d *Driver) AppendParts(dst []codec.Part, device *devices.Device) []codec.Part {
	known := len(dst)
	dst = appendOf(d, dst, d.parts, device, func(p codec.Part) byte { return p.Device })
	if len(dst) == known+1 && d.placed() {
		p := &dst[known]
		p.X, p.Y, p.Heading = 0, 0, 0
	}
	return dst
}

// AppendRays appends where the readings of a ranger look, as the other Player says. Where a pose is configured here, a
// ranger that looks from one point has it at its origin, and the middle of its view ahead.
func (d *Driver) AppendRays(dst []codec.Rays, device *devices.Device) []codec.Rays {
	known := len(dst)
	dst = appendOf(d, dst, d.rays, device, func(r codec.Rays) byte { return r.Device })
	if len(dst) == known+1 && d.placed() {
		r := &dst[known]
		r.X, r.Y, r.Heading = 0, 0, -r.Step*float64(r.Count-1)/2
	}
	return dst
}

// placed reports whether the configuration declares a pose, which the link adds to what the driver says.
func (d *Driver) placed() bool {
	g := d.link.Geometry()
	return g.X != 0 || g.Y != 0 || g.Heading != 0
}

// AppendChannels appends the channels of a device, as the other Player says.
func (d *Driver) AppendChannels(dst []codec.Channel, device *devices.Device) []codec.Channel {
	return appendOf(d, dst, d.channels, device, func(c codec.Channel) byte { return c.Device })
}

// AppendColors appends the colours of the channels of a vision device, as the other Player says.
func (d *Driver) AppendColors(dst []codec.ChannelColor, device *devices.Device) []codec.ChannelColor {
	return appendOf(d, dst, d.colors, device, func(c codec.ChannelColor) byte { return c.Device })
}

// appendOf appends those of the other Player's descriptions that are of a device of ours. at returns the index in remotes
// that key has found for a description. There are no descriptions before there are remotes.
func appendOf[T any](d *Driver, dst, all []T, device *devices.Device, at func(T) byte) []T {
	for _, t := range all {
		if d.remotes[at(t)].device == device {
			dst = append(dst, t)
		}
	}
	return dst
}

// remote returns the device of a byte there, nil if there is none.
func (d *Driver) remote(code byte) *remote {
	for i := range d.remotes {
		if d.remotes[i].code == code {
			return &d.remotes[i]
		}
	}
	return nil
}

// remoteOf returns the remote device of one of ours.
func (d *Driver) remoteOf(device *devices.Device) *remote {
	return &d.remotes[slices.IndexFunc(d.remotes, func(r remote) bool { return r.device == device })]
}
