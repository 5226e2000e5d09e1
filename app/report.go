package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"player/client"
	"player/codec"
	"player/config"
	"player/devices"
	"player/process/descriptors"
	"player/process/lastwords"
	"player/server"
	"player/server/status"
	"player/tools"
	"player/tools/evidence"
)

const (
	// reportRate is how often the report asks for frames, in Hz: as often as the fastest hardware sends.
	reportRate = 50
	// reportTime bounds the wait for frames of all devices. The slowest hardware, a GPS receiver, sends one a second.
	reportTime = 20 * time.Second
)

// report opens all devices of a configuration for reading, without moving anything, and writes their data into a
// file (docs/EVIDENCE.md). The server that it starts has no clients but the report itself.
func report(ctx context.Context, o options, path string, stderr io.Writer) error {
	messages := evidence.NewLog()
	log := zap.New(messages)
	o.bind = "127.0.0.1"
	conf, err := o.configure(log)
	if err != nil {
		return err
	}
	file, err := tools.Create(path, o.replace)
	if err != nil {
		return err
	}
	run := evidence.Run{Version: version(), System: system(), Board: board()}
	err = o.watch(ctx, conf, log, &run, stderr)
	run.Log = messages.Lines()
	err = errors.Join(err, run.Write(file, evidence.NewCleaner(private(o, conf)...)), file.Close())
	if err == nil {
		fmt.Fprintf(stderr, "%s: read it, and send it in as docs/EVIDENCE.md says\n", path)
	}
	return err
}

// watch serves the robots of a configuration until run has the data of their devices.
func (o options) watch(ctx context.Context, conf *config.Server, log *zap.Logger, run *evidence.Run, stderr io.Writer) error {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	ready, ended := make(chan *server.Server, 1), make(chan error, 1)
	book := &lastwords.Book{}
	defer book.OnPanic()
	served := server.Config{
		Robots: o.robots(conf, nil), MaxRate: o.maxRate, LastWords: book, Guard: "/proc/self/exe", Log: log,
		Descriptors: descriptors.New(fixedDescriptors(conf), false),
		Ready:       func(s *server.Server) { ready <- s },
	}
	book.Go(func() { ended <- server.Run(ctx, served) })
	select {
	case err := <-ended:
		return fmt.Errorf("%w: if a server runs, stop it: a report needs the hardware for itself", err)
	case s := <-ready:
		for _, robot := range conf.Robots {
			if err := o.read(ctx, robot.Port, s, run, stderr); err != nil {
				quit()
				return errors.Join(err, <-ended)
			}
		}
	}
	quit()
	err := <-ended
	run.Drivers = counted(conf)
	return err
}

// read adds the devices of the robot on a port to run.
func (o options) read(ctx context.Context, port int, s *server.Server, run *evidence.Run, stderr io.Writer) error {
	c, err := tools.Dial(ctx, o.address(port), "check", reportRate)
	if err != nil {
		return err
	}
	defer c.Close()
	entries, err := c.Devices(ctx)
	if err != nil {
		return err
	}
	first, codes := len(run.Devices), map[string]byte{}
	for _, e := range entries {
		d := evidence.Device{Name: e.Address(), Driver: e.Driver}
		if e.Code == codec.Server {
			continue // the server's own times
		}
		if codec.InterfaceLetter(e.Interface) == codec.GPS {
			d.Secret = "they say where you are"
		}
		fmt.Fprintf(stderr, "%s: ", d.Name)
		begin := time.Now()
		code, err := c.Open(ctx, d.Name, codec.AccessRead, nil)
		d.Setup = time.Since(begin)
		if refused, ok := errors.AsType[*client.AccessError](err); ok {
			d.Failed = refused.Devices[0].Reason()
		} else if err != nil {
			return err
		} else {
			codes[d.Name] = code
		}
		fmt.Fprintln(stderr, strings.TrimSpace(d.Failed+" "+d.Setup.Round(time.Millisecond).String()))
		run.Devices = append(run.Devices, d)
	}
	if len(codes) == 0 {
		return nil
	}
	mine := run.Devices[first:]
	if err := gather(ctx, c, mine, codes); err != nil {
		return err
	}
	rates := make(chan status.Status, 1)
	if !s.Post(func(now time.Duration) { rates <- s.Status(now) }) {
		return errors.New("the server has ended")
	}
	now := <-rates
	for _, robot := range now.Robots {
		if robot.Port != port {
			continue
		}
		for i, d := range mine {
			mine[i].Rate = robot.Devices[strings.TrimSuffix(d.Name, ":0")].Rate
		}
	}
	return nil
}

// gather reads frames until each open device has enough, or the time is over.
func gather(ctx context.Context, c *client.Client, all []evidence.Device, codes map[string]byte) error {
	if err := c.Request(ctx, string([]byte{codec.Server, codec.AccessRead})); err != nil {
		return err
	}
	if err := c.SetFresh(true); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	for {
		missing := false
		for i, d := range all {
			code, open := codes[d.Name]
			if !open {
				continue
			}
			if len(d.Frames) < evidence.Frames && c.New(code) && c.Has(code) {
				all[i].Frames = append(d.Frames, slices.Clone(c.Raw(code)))
			}
			missing = missing || len(all[i].Frames) < evidence.Frames
		}
		if !missing {
			return nil
		}
		if err := c.Read(limited); err != nil {
			if limited.Err() != nil && ctx.Err() == nil {
				return nil // a device that sends little, or nothing: the report says so
			}
			return err
		}
	}
}

// counted returns the drivers of a configuration with their counts. The server has ended.
func counted(conf *config.Server) (all []evidence.Driver) {
	for _, robot := range conf.Robots {
		for _, d := range robot.Drivers {
			options := maps.Clone(d.Values)
			for _, o := range d.Kind.Options {
				if _, ok := o.Default.(devices.SerialPort); ok {
					delete(options, o.Name)
				}
			}
			n := d.Link.Counts
			all = append(all, evidence.Driver{Name: d.Link.Name(), Options: options,
				Setups: n.Setups, Errors: n.Errors, Retries: n.Retries, Noise: n.Dropped})
		}
	}
	return all
}

// private returns words that would identify the owner: names of the computer, its user and the file, and the
// ports.
func private(o options, conf *config.Server) []string {
	host, _ := os.Hostname()
	words := []string{host, os.Getenv("USER"), os.Getenv("LOGNAME"), os.Getenv("HOME"), o.file, filepath.Base(o.file)}
	for _, robot := range conf.Robots {
		for _, d := range robot.Drivers {
			for _, option := range d.Kind.Options {
				if _, ok := option.Default.(devices.SerialPort); ok {
					path, _ := d.Values[option.Name].(string)
					words = append(words, path)
				}
			}
		}
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "root" || word == "/root" || word == "." || word == "localhost" })
}

// system returns the operating system with its version, and the processor.
func system() string {
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return runtime.GOOS + "/" + runtime.GOARCH + " " + strings.TrimSpace(string(release))
}

// board returns the model of a computer that has one in its device tree, such as a Raspberry Pi.
func board() string {
	model, _ := os.ReadFile("/proc/device-tree/model")
	return strings.Trim(string(model), "\x00\n ")
}
