package main

import (
	"cmp"
	"context"
	_ "embed" // the page of -h
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"player/fleet/bridge"
	"player/fleet/export"
	"player/fleet/hub"
	"player/formats/ros"
	"player/tools"
)

// exportUsage is the page of export -h.
//
//go:embed help-export.txt
var exportUsage string

// exportOptions is the command line of export.
type exportOptions struct {
	access
	out     string
	replace bool
	choice  export.Choice
}

func newExportFlags(o *exportOptions) *flag.FlagSet {
	fs := tools.NewFlags("export")
	o.access.add(fs)
	fs.StringVar(&o.out, "o", "", "")
	fs.BoolVar(&o.replace, "f", false, "")
	fs.BoolVar(&o.choice.ROS, "ros", false, "")
	fs.Float64Var(&o.choice.Reach, "reach", 0, "")
	fs.StringVar(&o.choice.Fleet, "fleet", defaultFleet, "")
	fs.StringVar(&o.choice.Stream, "stream", "", "")
	fs.Func("robot", "", func(name string) error {
		o.choice.Robots = append(o.choice.Robots, name)
		return bridge.CheckName(name)
	})
	at := func(to *time.Time) func(string) error {
		return func(text string) (err error) {
			if ago, failed := time.ParseDuration(text); failed == nil {
				*to = time.Now().Add(-ago)
				return nil
			}
			if *to, err = time.Parse(time.RFC3339, text); err != nil {
				return fmt.Errorf("%q is neither RFC 3339 nor a duration", text)
			}
			return nil
		}
	}
	fs.Func("from", "", at(&o.choice.From))
	fs.Func("to", "", at(&o.choice.To))
	return fs
}

// runExport is the program as export.
func runExport(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o exportOptions
	_, err := tools.Parse(newExportFlags(&o), args, 0)
	if errors.Is(err, flag.ErrHelp) {
		_, err := io.WriteString(stdout, exportUsage)
		return err
	}
	if err == nil {
		err = bridge.CheckName(o.choice.Fleet)
	}
	if err == nil && o.out == "" {
		err = errors.New("-o is missing: where to write")
	}
	if err == nil && (o.choice.Reach != 0 && !o.choice.ROS || !(o.choice.Reach >= 0)) {
		err = errors.New("-reach is metres, for bags (-ros)")
	}
	o.nats = cmp.Or(o.nats, "nats://"+defaultListen)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return fmt.Errorf("export: %w (export -h shows all flags)", err)
	}
	if o.choice.To.IsZero() {
		o.choice.To = time.Now() // a recording that goes on has no end
	}
	ctx, stop := tools.UntilSignal(ctx)
	defer stop()
	files := tools.Files{Context: ctx, Replace: o.replace}
	path, index := o.out, io.Discard
	if o.choice.ROS {
		folder, err := filepath.Abs(o.out)
		if err == nil {
			index, err = files.CreateIn(folder, ros.BagIndex)
		}
		if err != nil {
			return files.Close(err)
		}
		path = filepath.Join(folder, filepath.Base(folder)+"_0.mcap")
	}
	file, err := files.Create(path)
	if err != nil {
		return files.Close(err)
	}
	work := tools.NewWork("fleet: "+o.out, false, stderr)
	summary, err := o.write(ctx, file, index, filepath.Base(path), work.Done)
	work.End()
	if err := files.Close(err); err != nil {
		return tools.Failure{Err: err}
	}
	for _, line := range summary.Renamed {
		fmt.Fprintf(stderr, "fleet: ROS does not take the name of a robot: %s in the bag\n", line)
	}
	_, err = fmt.Fprintf(stdout, "%s: %d messages of %d robots\n", o.out, summary.Messages, summary.Robots)
	return err
}

// write writes the chosen data that NATS has.
func (o exportOptions) write(ctx context.Context, out, index io.Writer, file string, progress func(done, total int64)) (export.Summary, error) {
	settings, err := o.credentials()
	if err != nil {
		return export.Summary{}, err
	}
	conn, err := nats.Connect(o.nats, append(settings, nats.Name("player fleet export"))...)
	if err != nil {
		return export.Summary{}, refused(err)
	}
	defer conn.Close()
	js, err := hub.JetStream(conn, o.domain)
	if err != nil {
		return export.Summary{}, err
	}
	return export.Write(ctx, js, o.choice, out, index, file, progress)
}
