// Package plugin makes a driver of any program. The program is started when its
// first device is opened, and talks the Player protocol on its standard input and
// output, in the role of a server: it gets device requests, commands and
// configurations, and sends blocks of data. docs/PLUGINS.md is the contract.
package plugin

import (
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/peer"
	"player/devices/retry"
)

const (
	// termDelay and killDelay are the times from the request to stop to SIGTERM and
	// SIGKILL. The first is time to stop motors; the second leaves the rest of the
	// 1.5 s that a link has to stop.
	termDelay = 700 * time.Millisecond
	killDelay = 1200 * time.Millisecond
)

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "plugin",
		Doc:  "a program of yours that speaks Player on its standard input and output; name is up to you",
		Options: []devices.Option{
			{Name: "plugin", Default: devices.Path(""), Required: true, Doc: "the program"},
			{Name: "args", Default: []string{}, Doc: "its arguments"},
			{Name: "page", Default: "", Doc: "its page, which the dashboard links: `http://HOST:PORT/`, or `:PORT` of the dashboard's host"},
			{Name: "setup_limit", Default: 10.0, Min: 0.1, Max: 300, Unit: "s", Doc: "how long it may take to send its first message"},
		},
		NewAll: func(a devices.Args) ([]devices.Instance, error) {
			d, err := New(a.String("plugin"), a.Strings("args"))
			if err != nil {
				return nil, err
			}
			if d.page = a.String("page"); d.page != "" && !isPage(d.page) {
				return nil, fmt.Errorf("page %q: write http://HOST:PORT/, or :PORT", d.page)
			}
			limit := time.Duration(a.Float("setup_limit") * float64(time.Second))
			return []devices.Instance{{Driver: d, SetupLimit: limit}}, nil
		},
	}
}

type state uint8

const (
	off      state = iota
	running        // or being killed for a mistake
	resting        // until it is started again, at due
	stopping       // asked to stop; the next signal is due
)

// Driver runs one plugin.
type Driver struct {
	path string
	args []string
	page string // as in the configuration

	link  *devices.Link
	codes peer.Codes // of the devices of link
	state state
	due   time.Duration
	run   *run // nil: nothing runs
	retry retry.Retry
}

// New returns a driver for the program at path. It fails if the program cannot be
// executed.
func New(path string, args []string) (*Driver, error) {
	if !strings.Contains(path, "/") {
		path = "./" + path // not one in PATH
	}
	if _, err := exec.LookPath(path); err != nil {
		return nil, fmt.Errorf("plugin: %w", err)
	}
	return &Driver{path: path, args: args}, nil
}

// Page returns the address of the plugin's page for browsers, http://HOST:PORT/..., or
// :PORT/... of the host that the dashboard is opened at; empty: it has none.
func (d *Driver) Page() string { return d.page }

// isPage reports whether a browser can open an address of a configuration.
func isPage(address string) bool {
	if strings.HasPrefix(address, ":") {
		address = "http://host" + address
	}
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// Setup ends with the plugin's first block.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.codes, d.retry = link, peer.NewCodes(link.Devices()), retry.Retry{}
	if err := d.start(); err != nil {
		link.Fail(now, err)
	}
}

// start starts the program and requests its devices.
func (d *Driver) start() error {
	r := &run{driver: d, says: lines{log: d.link.Log()}}
	var err error
	r.program, r.stdin, err = d.link.Host().StartPlugin(r, &r.says, r.exited, d.path, d.args...)
	if err != nil {
		return err
	}
	r.outbox = peer.Outbox{Port: r.stdin, Log: d.link.Log(), Code: func(device *devices.Device) byte {
		return d.codes.Of(d.link.Devices(), device)
	}}
	d.run, d.state = r, running
	r.stdin.Write(d.request(codec.AccessAll))
	return nil
}

// request returns a device request for all devices.
func (d *Driver) request(access byte) []byte {
	var pairs []byte
	for _, code := range d.codes {
		pairs = append(pairs, code, access)
	}
	return codec.AppendRequest(nil, pairs)
}

// Shutdown asks the plugin to stop; if it does not stop, Tick kills it.
func (d *Driver) Shutdown(now time.Duration) {
	if d.run == nil {
		d.state = off
		d.link.Stopped(now)
		return
	}
	d.state = stopping
	d.ask(now)
}

// ask asks the plugin to stop, once. Tick kills it if it does not.
func (d *Driver) ask(now time.Duration) {
	if r := d.run; !r.asked {
		r.asked = true
		r.stdin.Write(d.request(codec.AccessClose))
		r.stdin.Close()
		d.due = now + termDelay
	}
	d.link.WakeAt(d.due)
}

// ended is called when the program has ended; why is the reason.
func (d *Driver) ended(now time.Duration, why error) {
	d.run = nil
	switch {
	case d.state == stopping:
		d.state = off
		d.link.Stopped(now)
	case d.link.State() == devices.Starting:
		d.state = off
		d.link.Fail(now, why)
	default:
		d.rest(now, why)
	}
}

// rest waits until the plugin is started again. Its commands are forgotten: it must
// not move by itself when it is back.
func (d *Driver) rest(now time.Duration, why error) {
	d.link.ForgetCommands()
	d.state, d.due = resting, d.retry.Failed(now, d.link.Log(), why)
	d.link.WakeAt(d.due)
}

func (d *Driver) Tick(now time.Duration) time.Duration {
	switch {
	case d.state == running && !d.run.asked:
		return d.run.outbox.Flush(now)
	case d.state == resting:
		if now < d.due {
			return d.due
		}
		if err := d.start(); err != nil {
			d.rest(now, err)
			return d.due
		}
	case d.run != nil:
		if now < d.due {
			return d.due
		}
		if !d.run.termed {
			d.run.termed = true
			d.run.program.Signal(syscall.SIGTERM)
			d.due += killDelay - termDelay
			return d.due
		}
		d.run.program.Signal(syscall.SIGKILL)
	}
	return 0
}

// Command passes on the command, at once or when the plugin reads again. A command
// that comes while no plugin runs is forgotten.
func (d *Driver) Command(now time.Duration, device *devices.Device) {
	if d.state != running || d.run.asked {
		device.ForgetCommand() // it must not be carried out later
		return
	}
	if next := d.run.outbox.Command(now, device); next != 0 {
		d.link.WakeAt(next)
	}
}

// AppendRays appends where the readings of a ranger look, as the program has described them.
func (d *Driver) AppendRays(dst []codec.Rays, device *devices.Device) []codec.Rays {
	if d.run == nil {
		return dst
	}
	for _, r := range d.run.rays {
		if d.codes.Device(d.link.Devices(), r.Device) == device {
			dst = append(dst, r)
		}
	}
	return dst
}

// AppendChannels appends the channels of a device, as the program has described them.
func (d *Driver) AppendChannels(dst []codec.Channel, device *devices.Device) []codec.Channel {
	if d.run == nil {
		return dst
	}
	for _, c := range d.run.channels {
		if d.codes.Device(d.link.Devices(), c.Device) == device {
			dst = append(dst, c)
		}
	}
	return dst
}

// key is the codec.Keys of the devices of the program: their letters, or their names as in provides.
func (d *Driver) key(key string) (code byte, known bool) {
	for i, device := range d.link.Devices() {
		if key == device.Spec().Address() || key == string(rune(d.codes[i])) && d.codes[i] < 0x80 {
			return d.codes[i], true
		}
	}
	return 0, false
}

// Configure passes on the request.
func (d *Driver) Configure(_ time.Duration, device *devices.Device, payload []byte) error {
	if d.state != running || d.run.asked {
		return errors.New("the plugin is not running")
	}
	return d.run.outbox.Configure(device, payload)
}
