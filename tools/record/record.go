// Package record is player record: it records a robot's data in a log file, from
// any computer. A robot that records itself uses the driver writelog.
package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"player/client"
	"player/codec/peertext"
	"player/formats/logfile"
	"player/formats/telemetry"
	"player/tools"
)

const (
	// flushPeriod and flushSize bound the data lost when the computer fails. The driver
	// writelog has the same bounds.
	flushPeriod = 250 * time.Millisecond
	flushSize   = 64 << 10 // bytes
)

// Command is the subcommand of a program of the given version, which the log names.
func Command(version string) tools.Command {
	return tools.Command{
		Name: "record", Args: "[flags] HOST[:PORT] [DEVICES] -o FILE", Summary: "record a run in a log",
		Run: func(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) error {
			return run(ctx, args, version, stdout, stderr)
		},
	}
}

// result is the result for programs when the recording has ended.
type result struct {
	File     string `json:"file"`
	Messages int    `json:"messages"`
	Pictures int    `json:"pictures"`
	Bytes    int64  `json:"bytes"`
}

func run(ctx context.Context, args []string, version string, stdout, stderr io.Writer) (err error) {
	flags := tools.NewFlags("record")
	path := flags.String("o", "", "")
	limit := flags.Duration("for", 0, "")
	rate := flags.Int("rate", 100, "")
	replace := flags.Bool("f", false, "")
	compress := flags.Bool("compress", false, "")
	pictures := flags.Float64("pictures", 0, "")
	page := flags.String("page", "", "")
	raw := flags.Bool("json", false, "")
	rest, err := tools.Parse(flags, args, 2)
	switch {
	case err != nil:
		return err
	case len(rest) == 0 || *path == "":
		return errors.New("record needs a host and a file: player record localhost -o run.mcap")
	case *limit < 0:
		return fmt.Errorf("-for %v: must not be negative", *limit)
	case *pictures != 0 && !(*pictures >= leastPictures && *pictures <= mostPictures):
		return fmt.Errorf("-pictures %v: write a rate of %v to %d pictures a second", *pictures, leastPictures, mostPictures)
	case *page != "" && *pictures == 0:
		return errors.New("-page is where the pictures of -pictures come from")
	}
	if len(rest) == 2 {
		if err := tools.CheckDevices(rest[1]); err != nil {
			return err
		}
	}
	ctx, stop := tools.UntilSignal(ctx)
	defer stop()
	c, err := tools.Dial(ctx, rest[0], "record", *rate)
	if err != nil {
		return err
	}
	defer c.Close()
	r := &recorder{client: c, compress: *compress}
	refused, err := r.open(ctx, strings.Join(rest[1:], ""))
	for _, line := range refused {
		fmt.Fprintf(stderr, "not recorded: %s\n", line)
	}
	if err != nil {
		return err
	}
	if *pictures > 0 {
		if r.cameras, err = findCameras(ctx, rest[0], *page, *pictures, stderr); err != nil {
			return err
		}
	}
	file, err := tools.Create(*path, *replace)
	if err != nil {
		return err
	}
	logfile.Lock(file)
	defer func() {
		if closed := file.Close(); err == nil && closed != nil {
			err = tools.Failure{Err: closed}
		}
	}()
	fmt.Fprintf(stderr, "recording %s in %s; Ctrl-C ends it\n", strings.Join(r.names(), ", "), *path)
	if *limit > 0 {
		limited, cancel := context.WithTimeout(ctx, *limit)
		defer cancel()
		ctx = limited
	}
	r.growth, r.size = tools.NewGrowth(stderr), func() int64 {
		if info, err := file.Stat(); err == nil {
			return info.Size()
		}
		return 0
	}
	err = r.record(ctx, file, version)
	r.growth.End()
	if *raw {
		err = errors.Join(err, tools.WriteJSON(stdout, result{*path, r.messages, r.pictures, r.size()}))
	} else if r.cameras == nil {
		fmt.Fprintf(stderr, "%d messages in %s\n", r.messages, *path)
	} else {
		fmt.Fprintf(stderr, "%d messages and %d pictures in %s\n", r.messages, r.pictures, *path)
	}
	if err != nil {
		return tools.Failure{Err: err}
	}
	return nil
}

// recorder records the devices that a client has open.
type recorder struct {
	client   *client.Client
	compress bool
	aged     bool // the server sends ages
	devices  []tools.Device
	cameras  *cameras // nil: no pictures
	growth   *tools.Growth
	size     func() int64 // of the file

	mu       sync.Mutex // of the fields below: pictures come in goroutines of their own
	writer   *logfile.Writer
	batch    logfile.Batch
	flushed  time.Time
	failure  error
	messages int // in the file, and the number of pictures
	pictures int
	waiting  int // pictures in the batch
}

// open opens the devices that text names (tools.CheckDevices), or for "" all devices of the server. In that case
// refused lists the devices that do not open, with the reasons.
func (r *recorder) open(ctx context.Context, text string) (refused []string, err error) {
	var chosen []tools.Device
	all := text == ""
	if all {
		chosen, err = tools.All(ctx, r.client)
	} else {
		chosen, err = tools.Choose(ctx, r.client, text)
	}
	if err != nil {
		return nil, err
	}
	r.aged, err = tools.Open(ctx, r.client, tools.Pairs(chosen))
	access, partly := errors.AsType[*client.AccessError](err)
	if err != nil && !(all && partly) {
		return nil, err
	}
	if partly {
		refused = tools.Refused(access, chosen)
	}
	r.devices = slices.DeleteFunc(chosen, func(d tools.Device) bool {
		return partly && slices.ContainsFunc(access.Devices, func(a client.Access) bool { return a.Device == d.Code })
	})
	if len(r.devices) == 0 {
		return refused, errors.New("the robot has no device that can be recorded")
	}
	if r.aged {
		return refused, r.client.SetFresh(true)
	}
	return refused, nil
}

func (r *recorder) names() (names []string) {
	for _, d := range r.devices {
		names = append(names, d.Name())
	}
	if r.cameras != nil {
		for _, camera := range r.cameras.names {
			names = append(names, "camera "+peertext.Line(camera))
		}
	}
	return names
}

// record records until ctx ends. The log is closed in any case.
func (r *recorder) record(ctx context.Context, file io.Writer, version string) (err error) {
	switch err := r.client.Read(ctx); {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	began := time.Now()
	info := logfile.Info{Server: version, Start: began.Add(-r.client.ServerTime()), Compress: r.compress}
	about := map[byte]telemetry.Description{}
	if slices.ContainsFunc(r.devices, func(d tools.Device) bool { return logfile.Describes(d.Spec.Name) }) {
		if about, err = describe(ctx, r.client); err != nil {
			return err
		}
	}
	for i, d := range r.devices {
		if lines := logfile.Describe(d.Spec.Name, d.Spec.Index, about[d.Code]); lines != "" {
			r.batch.Describe(i, lines)
		}
		info.Channels = append(info.Channels, logfile.Channel{Interface: d.Spec.Name, Index: d.Spec.Index})
	}
	if r.cameras != nil {
		info.Cameras = r.cameras.names
	}
	r.flushed = began
	if r.writer, err = logfile.NewWriter(file, info); err != nil {
		return err
	}
	defer func() {
		if rest := r.flush(true); err == nil {
			err = rest // of pictures that came after the last round
		}
		err = errors.Join(err, r.writer.Close())
	}()
	filming, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	for i, camera := range info.Cameras {
		running.Go(func() {
			r.cameras.follow(filming, camera, func(taken time.Time, jpeg []byte) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.batch.Add(len(info.Channels)+i, taken.Sub(info.Start), logfile.AppendPicture(nil, camera, taken.UnixNano(), jpeg))
				r.waiting++
				r.flush(false)
			})
		})
	}
	for {
		r.mu.Lock()
		r.add(&r.batch, time.Since(began))
		r.mu.Unlock()
		read := r.client.Read(ctx)
		r.mu.Lock()
		err := r.flush(read != nil)
		r.growth.Show(time.Now(), r.messages, r.size)
		r.mu.Unlock()
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return nil
		case read != nil:
			return read
		}
	}
}

// describe asks the robot how its devices describe their data, by their bytes. A server that does not know the questions
// describes none.
func describe(ctx context.Context, robot *client.Client) (map[byte]telemetry.Description, error) {
	about := map[byte]telemetry.Description{}
	rays, err := robot.Rays(ctx)
	if errors.Is(err, client.ErrUnknownQuestion) {
		return about, nil
	}
	channels, wrong := robot.Channels(ctx)
	for _, r := range rays {
		d := about[r.Device]
		d.Rays = append(d.Rays, r)
		about[r.Device] = d
	}
	for _, c := range channels {
		d := about[c.Device]
		d.Channels = append(d.Channels, c)
		about[c.Device] = d
	}
	if errors.Is(wrong, client.ErrUnknownQuestion) {
		wrong = nil
	}
	return about, errors.Join(err, wrong)
}

// flush writes the batch if it is large or old, or if it is the last one. It returns the first
// error. The caller holds the mutex.
func (r *recorder) flush(last bool) error {
	now := time.Now()
	if r.failure != nil || r.batch.Len() == 0 || !last && r.batch.Size() < flushSize && now.Sub(r.flushed) < flushPeriod {
		return r.failure
	}
	r.flushed = now
	if r.failure = r.writer.WriteChunk(&r.batch); r.failure == nil {
		r.messages += r.batch.Len() - r.waiting
		r.pictures += r.waiting
		r.batch.Reset()
		r.waiting = 0
	}
	return r.failure
}

// add adds the new data of a round, which arrived at a time since the first one.
func (r *recorder) add(batch *logfile.Batch, arrived time.Duration) {
	for channel, d := range r.devices {
		if !r.client.New(d.Code) || !r.client.Has(d.Code) {
			continue
		}
		taken := arrived
		if age, ok := r.client.Age(d.Code); ok {
			taken = r.client.ServerTime() - age
		}
		batch.Add(channel, taken, r.client.Raw(d.Code))
	}
}
