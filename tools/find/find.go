// Package find is player find: it searches for robots, lasers and cameras on the serial
// ports of the computer. It has no code for hardware: the drivers' Kinds bring their Probes.
package find

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"player/codec/peertext"
	"player/devices"
	"player/devices/detect"
	"player/process/serialport"
	"player/tools"
)

// Command is the subcommand for the hardware of some kinds.
func Command(kinds []devices.Kind) tools.Command {
	return tools.Command{
		Name: "find", Args: "[flags] [PORT ...]", Summary: "find robots and sensors",
		Run: func(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error {
			return run(ctx, kinds, args, stdout, stderr)
		},
	}
}

// maxPorts is the most ports that can be given. Each is a goroutine.
const maxPorts = 256

func run(ctx context.Context, kinds []devices.Kind, args []string, stdout, stderr io.Writer) error {
	flags := tools.NewFlags("find")
	raw := flags.Bool("json", false, "")
	paths, err := tools.Parse(flags, args, maxPorts)
	if err != nil {
		return err
	}
	for i := range paths {
		if devices.SerialPort(paths[i]).OverNetwork() {
			continue
		}
		if paths[i], err = filepath.Abs(paths[i]); err != nil { // the file may be used elsewhere
			return err
		}
	}
	if len(paths) == 0 {
		paths = serialport.List()
	}
	if len(paths) == 0 {
		return tools.Failure{Err: errors.New("this computer has no serial port: is the adapter plugged in?")}
	}
	kinds = detect.Probed(kinds)
	fmt.Fprintf(stderr, "searching for %s on %s ...\n", strings.Join(names(kinds), ", "), strings.Join(paths, ", "))
	results := make(chan result)
	for _, path := range paths {
		go func() { results <- probe(ctx, path, kinds) }()
	}
	probed := make([]result, len(paths)) // in the order of paths
	for range paths {
		r := <-results
		fmt.Fprintln(stderr, r)
		probed[slices.Index(paths, r.path)] = r
	}
	if *raw {
		if err := printJSON(stdout, probed); err != nil {
			return err
		}
	}
	found := slices.DeleteFunc(probed, func(r result) bool { return !r.found() })
	if len(found) == 0 {
		return tools.Failure{Err: fmt.Errorf("nothing was found on %d ports", len(paths))}
	}
	if *raw {
		return nil
	}
	_, err = io.WriteString(stdout, configuration(found))
	return err
}

// port is the description of a port for programs.
type port struct {
	Port   string `json:"port"`
	Driver string `json:"driver,omitempty"` // none: nothing was found
	Model  string `json:"model,omitempty"`
	Baud   int    `json:"baud,omitempty"` // none: over the network
	Note   string `json:"note,omitempty"` // why nothing was found
}

// printJSON prints an array with a member for each port, found or not.
func printJSON(stdout io.Writer, probed []result) error {
	ports := make([]port, len(probed))
	for i, r := range probed {
		ports[i] = port{r.path, r.Kind, r.Model, r.Baud, r.note}
	}
	return tools.WriteJSON(stdout, ports)
}

func names(kinds []devices.Kind) (names []string) {
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

// result is the result of the search on one port.
type result struct {
	path string // as it was given, or HOST:PORT
	kind devices.Kind
	devices.Finding
	note string // why nothing was found
}

func (r result) found() bool { return r.Kind != "" }

// probe searches for hardware of the kinds on one port.
func probe(ctx context.Context, path string, kinds []devices.Kind) result {
	r := result{path: path}
	switch {
	case serialport.IsConsole(path):
		r.note = "it is the console of this computer: left alone"
	case serialport.IsOpen(path):
		r.note = serialport.OpenBy(path) + ": left alone"
	default:
		f, err := detect.Identify(ctx, path, kinds)
		if err != nil {
			r.note = peertext.Line(err.Error())
			break
		}
		r.Finding = f
		r.kind = kinds[slices.IndexFunc(kinds, func(k devices.Kind) bool { return k.Name == f.Kind })]
	}
	return r
}

// String is the line for a person.
func (r result) String() string {
	if !r.found() {
		return fmt.Sprintf("%s: %s", r.path, r.note)
	}
	return fmt.Sprintf("%s: %v", r.path, r.Finding)
}

// access is the section access of a written configuration. It equals the one in the
// package's file, which the configuration may replace.
const access = `
# Who may use the robot: programs on this computer. A program that may write can drive it.
# For a network, add its address, for example "192.168.1.0/24".
access ( allow ["read" "write" "config"] from ["127.0.0.1" "::1"] )
`

// configuration returns a configuration file for the hardware found. The second device of an
// interface gets index 1, and so on.
func configuration(found []result) string {
	var b strings.Builder
	b.WriteString("# Written by player find. Drivers and their options: player list.\n")
	used := map[byte]int{}
	for _, r := range found {
		var provides []string
		again := false
		for _, spec := range r.kind.Provides {
			if spec.Index == devices.Hidden { // it is for users who want it
				continue
			}
			index := used[spec.Letter]
			used[spec.Letter]++
			again = again || index > 0
			provides = append(provides, fmt.Sprintf(`"%s:%d"`, spec.Name, index))
		}
		fmt.Fprintf(&b, "\n# %v\n", r.Finding)
		if again {
			b.WriteString("# Programs for Player 0.7.4a see index 0 only; write \"6666:laser:0\" for another robot (docs/CONFIG.md).\n")
		}
		fmt.Fprintf(&b, "driver\n(\n  name \"%s\"\n  provides [%s]\n  %s \"%s\"\n)\n",
			r.kind.Name, strings.Join(provides, " "), portOption(r.kind), serialport.StableName(r.path))
	}
	b.WriteString(access)
	return b.String()
}

// portOption returns the name of the option for the serial port.
func portOption(k devices.Kind) string {
	for _, o := range k.Options {
		if _, ok := o.Default.(devices.SerialPort); ok {
			return o.Name
		}
	}
	panic(fmt.Sprintf("driver %s has a Probe and no option for a serial port", k.Name))
}
