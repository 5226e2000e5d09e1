// Package evidence writes the results of one run of a robot's hardware, as a text that its owner can send in: the
// hardware, its connection, its rates and errors, and frames of its data. The text names no person and no place:
// see Cleaner. The package opens nothing.
package evidence

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"
)

// Frames is how many frames of each device are in a text. Ten show whether values change, and a text with the scans of a
// laser stays below 100 kB.
const Frames = 10

// Run is one run of the hardware of a configuration.
type Run struct {
	Version string // of this program
	System  string // its operating system and processor
	Board   string // the computer's model, for example of a Raspberry Pi; empty: not known
	Drivers []Driver
	Devices []Device
	Log     []string // a line for each message
}

// Driver is a driver of the configuration.
type Driver struct {
	Name    string
	Options map[string]any // that were set; no ports
	// Its counts: setups, failed setups and losses, retries, and damaged packets.
	Setups, Errors, Retries, Noise uint64
}

// Device is a client's record of one device.
type Device struct {
	Name   string        // for example laser:1
	Driver string        // its name
	Setup  time.Duration // from the request to the grant
	Failed string        // why it was not granted; empty: it was
	Rate   float64       // of its data, in Hz
	Frames [][]byte      // payloads as sent (PROTOCOL 7), the oldest first; nil: none came
	// Secret is why the text leaves the frames out; empty: it has them.
	Secret string
}

// Write writes the text. All words of the hardware and of the log are cleaned.
func (r Run) Write(w io.Writer, c Cleaner) error {
	t := &strings.Builder{}
	fmt.Fprintf(t, "player evidence 1\nversion %s\nsystem %s\n", c.Line(r.Version), c.Line(r.System))
	if r.Board != "" {
		fmt.Fprintf(t, "board %s\n", c.Line(r.Board))
	}
	for _, d := range r.Drivers {
		fmt.Fprintf(t, "\ndriver %s: %d setups, %d errors, %d retries, %d damaged packets\n", c.Line(d.Name), d.Setups, d.Errors, d.Retries, d.Noise)
		for _, name := range sorted(d.Options) {
			fmt.Fprintf(t, "  option %s %s\n", name, c.Line(fmt.Sprint(d.Options[name])))
		}
	}
	for _, d := range r.Devices {
		d.write(t, c)
	}
	t.WriteString("\nlog\n")
	for _, line := range r.Log {
		fmt.Fprintf(t, "  %s\n", c.Line(line))
	}
	_, err := io.WriteString(w, t.String())
	return err
}

func (d Device) write(t *strings.Builder, c Cleaner) {
	fmt.Fprintf(t, "\ndevice %s of %s: ", d.Name, c.Line(d.Driver))
	if d.Failed != "" {
		fmt.Fprintf(t, "failed after %v: %s\n", d.Setup.Round(time.Millisecond), c.Line(d.Failed))
		return
	}
	fmt.Fprintf(t, "ready after %v, %.1f Hz, %d frames\n", d.Setup.Round(time.Millisecond), d.Rate, len(d.Frames))
	if d.Secret != "" {
		fmt.Fprintf(t, "  frames left out: %s\n", d.Secret)
		return
	}
	for _, f := range d.Frames {
		fmt.Fprintf(t, "  %s\n", hex.EncodeToString(f))
	}
}
