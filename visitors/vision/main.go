// Vision finds blobs of colours in the pictures of a camera and is the vision device of a
// robot: a plugin of the server (docs/PLUGINS.md), which needs no ACTS.
//
//	driver ( name "vision" plugin "vision" provides ["vision:0"]
//	         args ["-colors" "colors.cfg" "http://127.0.0.1:8080/camera/front"] )
//
// docs/devices/vision.md is its manual.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"go.uber.org/zap"

	"player/process/logging"
	"player/visitors"
	"player/visitors/pictures"
)

const usage = `usage: vision [flags] ADDRESS
       vision [flags] COMMAND...

Finds blobs of colours in MJPEG: of an address, http:// or https://, or of a
command's standard output. It is a plugin of a Player server.

`

func main() {
	log := logging.New(os.Stderr, logging.Text, false)
	err := run(os.Args[1:], os.Stdin, os.Stdout, log)
	if errors.Is(err, flag.ErrHelp) {
		return // the page is written
	}
	if err != nil {
		log.Error(err.Error())
	}
	_ = log.Sync() // there is no other log
	if err != nil {
		os.Exit(1)
	}
}

// options are the options of the command line.
type options struct {
	colors string
	http   string // address of the page; empty: there is none
	page   visitors.Flags
	source pictures.Source
}

func run(args []string, in io.Reader, out io.Writer, log *zap.Logger) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	// serve logs in place of the camera.
	camera := pictures.NewCamera(o.source, zap.NewNop())
	defer camera.Close()
	defer camera.Watch()()
	go func() {
		_, _ = io.Copy(io.Discard, in) // the input has ended, for whatever reason
		cancel()
	}()
	t := &tracker{camera: camera, colors: &colors{path: o.colors, none: o.http != "", log: log}}
	if o.http != "" {
		l, common, err := listen(o.http, o.page, log)
		if err != nil {
			return errors.Join(err, refuse(out, err))
		}
		t.shown = newShown()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			(&page{common, t.colors, t.shown}).serve(ctx, l)
		}()
		defer func() {
			cancel()
			<-ended
		}()
	}
	return serve(ctx, t, out, log)
}

func parse(args []string) (options, error) {
	o := options{source: pictures.Source{Name: "vision"}}
	set := flag.NewFlagSet("vision", flag.ContinueOnError)
	set.StringVar(&o.colors, "colors", "colors.cfg", "`file` of the colours")
	set.StringVar(&o.http, "http", "", "serve a page at this `address` on which colours are calibrated by clicking; :8090 is of this computer only")
	o.page.Add(set)
	set.Float64Var(&o.source.Rate, "rate", 15, "most `pictures` a second that are searched, 0.1 to 60")
	set.Usage = func() {
		fmt.Fprint(set.Output(), usage)
		set.PrintDefaults()
	}
	if err := set.Parse(args); err != nil {
		return options{}, err
	}
	if !(o.source.Rate >= 0.1 && o.source.Rate <= 60) {
		return options{}, fmt.Errorf("-rate %v: it is 0.1 to 60", o.source.Rate)
	}
	if o.http == "" && o.page.Given() {
		return options{}, errors.New("-access, -proxy and -tls-... are for the page of -http")
	}
	switch first := set.Arg(0); {
	case first == "":
		return options{}, errors.New("vision needs the address of a camera, or a command that writes MJPEG: see vision -h")
	case !strings.HasPrefix(first, "http://") && !strings.HasPrefix(first, "https://"):
		o.source.Command = set.Args()
	case set.NArg() > 1:
		return options{}, fmt.Errorf("%q is behind the address: flags come before it", set.Arg(1))
	default:
		o.source.Address = first
	}
	return o, nil
}
