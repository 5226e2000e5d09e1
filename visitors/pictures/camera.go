// Package pictures has cameras: programs and addresses that send MJPEG. A camera runs
// while a viewer watches it. It keeps the newest picture only and decodes none. Its goroutines
// run independently of the loop.
package pictures

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"go.uber.org/zap"

	"player/devices/retry"
	"player/server/status"
)

const (
	// linger is how long a camera runs on after its last viewer. A start takes about a
	// second, and a page that is loaded again should not wait for it.
	linger = 3 * time.Second
	// silence is how long a camera may send no complete picture until it is started again.
	// USB cameras need up to five seconds for their first.
	silence = 10 * time.Second
	// failurePause is how long Follow waits after a failure.
	failurePause = time.Second
	// maxFlow is the most bytes a second that a camera may send: 80 times the rate of MJPEG
	// of 320x240 at 10 Hz, and work of about 1 % for the thread of the loop.
	maxFlow = 8e6
	// readSize is how many bytes are read at once: half of a pipe. The loop gets the thread
	// after each read.
	readSize = 32 << 10
)

var (
	errSilent = errors.New("no picture for 10 s")
	errFlow   = errors.New("more than 8 MB/s: choose smaller or fewer pictures")
	errLeft   = errors.New("no viewer watches")
)

// Source describes where a camera's pictures come from. It has a Command, an Address, or Draw.
type Source struct {
	Name    string
	Robot   int      // TCP port of the robot that it is on
	Command []string // a program with its arguments, which writes MJPEG to its standard output
	Address string   // http://..., which replies with MJPEG
	Rate    float64  // most pictures a second that are passed on
	View    View     // of all pictures, unless there is Draw
	// Calibrated reports whether Draw sets the FOV of its pictures.
	Calibrated bool
	// Draw makes a picture, as a JPEG, Rate times a second; nil: there is no new picture.
	Draw func(context.Context) ([]byte, View, error)
	Rest func()          // called when Draw is not called for a while; may be nil
	Runs func(runs bool) // called when the camera begins to run, and when it has ended; may be nil
}

// View is a camera's direction and field of view.
type View struct {
	FOV   float64 // degrees from the left to the right of a picture; 0: unknown
	Z     float64 // mm that the lens is above the plane of the robot's laser
	Mount *Mount  // nil: on the head of a ptz device, if there is one
}

// Mount is the place and direction of a lens on the robot.
type Mount struct {
	X, Y          float64 // mm forward and to the left of the robot's centre of rotation
	Heading, Tilt float64 // degrees, counterclockwise and up
}

// Picture is one JPEG, as the camera has sent it. It is read-only.
type Picture struct {
	JPEG   []byte
	Number uint64    // of the camera, from 1 on
	At     time.Time // when its last byte came
	View   View
}

// Camera is a source that people watch. Its methods are safe for concurrent use.
type Camera struct {
	source Source
	log    *zap.Logger

	mu      sync.Mutex
	viewers int
	leaving *time.Timer        // ends the run; nil: a viewer watches, or nothing runs
	stop    context.CancelFunc // of the run; nil: nothing runs
	ended   chan struct{}      // closed when the goroutine of the last run has ended; nil: there was none
	newest  Picture            // its Number is the last picture's, also when JPEG is nil
	came    chan struct{}      // closed when the next picture comes, or the camera fails
	due     time.Time          // when the next picture is passed on
	failure error              // since the last picture
	closed  bool
	counts  status.Camera // the counters of it only
}

// NewCamera returns a camera that no viewer watches.
func NewCamera(source Source, log *zap.Logger) *Camera {
	return &Camera{source: source, log: log.With(zap.String("camera", source.Name)), came: make(chan struct{})}
}

// Name returns the name in the configuration.
func (c *Camera) Name() string { return c.source.Name }

// Calibrated reports whether the camera's field of view is known.
func (c *Camera) Calibrated() bool { return c.source.Calibrated || c.source.View.FOV > 0 }

// Robot returns the TCP port of the robot that the camera is on.
func (c *Camera) Robot() int { return c.source.Robot }

// Watch starts the camera unless it runs or was closed. leave is called once, when the viewer no longer
// watches.
func (c *Camera) Watch() (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.viewers++
	if c.leaving != nil && c.leaving.Stop() {
		c.leaving = nil
	}
	if c.stop == nil && !c.closed {
		ctx, stop := context.WithCancel(context.Background())
		before, ended := c.ended, make(chan struct{})
		c.stop, c.ended = stop, ended
		go func() {
			defer close(ended)
			if before != nil {
				<-before // two programs cannot have one device
			}
			if runs := c.source.Runs; runs != nil {
				runs(true)
				defer runs(false)
			}
			c.run(ctx)
		}()
	}
	return sync.OnceFunc(c.leave)
}

func (c *Camera) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.viewers--; c.viewers == 0 {
		c.leaving = time.AfterFunc(linger, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.viewers == 0 {
				c.quit()
			}
		})
	}
}

// quit ends the run. The caller has the mutex.
func (c *Camera) quit() {
	if c.stop != nil {
		c.stop()
	}
	c.stop, c.leaving = nil, nil
	c.newest.JPEG, c.failure, c.due = nil, nil, time.Time{}
}

// Close ends the run, and waits for its end. Viewers that still watch, and those that come
// later, see no further picture.
func (c *Camera) Close() {
	c.mu.Lock()
	c.closed = true
	c.quit()
	ended := c.ended
	c.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// Next waits for a picture with a number above after, and returns the newest. If the camera
// fails, or has failed, it returns why, and otherwise the error of the context.
func (c *Camera) Next(ctx context.Context, after uint64) (Picture, error) {
	for {
		c.mu.Lock()
		newest, came, failure := c.newest, c.came, c.failure
		c.mu.Unlock()
		if newest.JPEG != nil && newest.Number > after {
			return newest, nil
		}
		if failure != nil {
			return Picture{}, failure
		}
		select {
		case <-came:
		case <-ctx.Done():
			return Picture{}, ctx.Err()
		}
	}
}

// Follow calls show with the newest picture again and again, until ctx ends or show fails.
// The camera itself decides when it is started again after a failure.
func (c *Camera) Follow(ctx context.Context, show func(Picture) error) error {
	for number := uint64(0); ; {
		picture, err := c.Next(ctx, number)
		if err != nil {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(failurePause):
				continue
			}
		}
		number = picture.Number
		if err := show(picture); err != nil {
			return err
		}
	}
}

// Status returns the camera's state.
func (c *Camera) Status() status.Camera {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.counts
	s.Viewers, s.State = c.viewers, status.Idle
	switch {
	case c.stop == nil:
	case c.failure != nil:
		s.State, s.Error = status.Failed, c.failure.Error()
	case c.newest.JPEG == nil:
		s.State = status.Starting
	default:
		s.State = status.Ready
	}
	if c.newest.JPEG != nil {
		age := status.Millis(time.Since(c.newest.At))
		s.Age = &age
	}
	return s
}

// run starts the source again and again until ctx ends.
func (c *Camera) run(ctx context.Context) {
	var policy retry.Retry
	began := time.Now()
	for ctx.Err() == nil {
		err := c.try(ctx, func() { policy.Worked(time.Since(began), c.log) })
		if ctx.Err() != nil {
			return
		}
		c.fail(err)
		now := time.Since(began)
		select {
		case <-ctx.Done():
		case <-time.After(policy.Failed(now, c.log, err) - now):
		}
	}
}

func (c *Camera) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failure = err
	c.counts.Errors++
	c.wake()
}

// wake wakes the viewers that wait for a picture. The caller has the mutex.
func (c *Camera) wake() {
	close(c.came)
	c.came = make(chan struct{})
}

// try reads pictures until the source fails. worked is called for each.
func (c *Camera) try(ctx context.Context, worked func()) error {
	if c.source.Draw != nil {
		return c.draw(ctx, worked)
	}
	inner, end := context.WithCancelCause(ctx)
	defer end(errLeft)
	watch := time.AfterFunc(silence, func() { end(errSilent) })
	defer watch.Stop()
	stream, err := c.source.open(inner)
	if err != nil {
		return err
	}
	err = c.read(inner, stream, func() { watch.Reset(silence); worked() })
	if inner.Err() != nil {
		err = context.Cause(inner)
	}
	end(errLeft) // before the stream is closed: a program is not waited for
	if why := stream.Close(); errors.Is(err, io.EOF) {
		err = why
	}
	return err
}

// draw passes on pictures that are drawn. worked is called for each.
func (c *Camera) draw(ctx context.Context, worked func()) error {
	ticker := time.NewTicker(c.period())
	defer ticker.Stop()
	if c.source.Rest != nil {
		defer c.source.Rest()
	}
	for {
		picture, view, err := c.source.Draw(ctx)
		if err != nil {
			return err
		}
		worked()
		c.mu.Lock()
		if ctx.Err() == nil && picture != nil {
			c.take(picture, time.Now(), view)
		}
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// period is the time between two pictures that are passed on.
func (c *Camera) period() time.Duration { return time.Duration(float64(time.Second) / c.source.Rate) }

// read passes on the pictures of a stream until it fails.
func (c *Camera) read(ctx context.Context, stream io.Reader, worked func()) error {
	var splitter Splitter
	buffer := make([]byte, readSize)
	second, flow := time.Now(), 0
	for ctx.Err() == nil {
		n, failure := stream.Read(buffer)
		now := time.Now()
		if flow += n; now.Sub(second) >= time.Second {
			second, flow = now, 0
		} else if flow > maxFlow {
			return errFlow
		}
		before := splitter.Broken
		for in := buffer[:n]; len(in) > 0; {
			picture, rest, err := splitter.Next(in)
			if err != nil {
				return err
			}
			if picture != nil {
				worked()
				c.pass(ctx, picture, now)
			}
			in = rest
		}
		if broken := splitter.Broken - before; broken > 0 {
			c.mu.Lock()
			c.counts.Broken += broken
			c.mu.Unlock()
		}
		if failure != nil {
			return failure
		}
	}
	return ctx.Err()
}

// pass makes a picture the newest, unless the last one was too short ago.
func (c *Camera) pass(ctx context.Context, picture []byte, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil { // of an earlier run
		return
	}
	c.failure = nil
	if now.Before(c.due) {
		c.counts.Dropped++
		return
	}
	// A picture that comes late does not delay the next one: sources jitter.
	period := c.period()
	if c.due = c.due.Add(period); now.Sub(c.due) > period {
		c.due = now.Add(period / 2)
	}
	c.take(picture, now, c.source.View)
}

// take stores the newest picture. The caller has the mutex.
func (c *Camera) take(picture []byte, now time.Time, view View) {
	c.failure = nil
	c.newest = Picture{picture, c.newest.Number + 1, now, view}
	c.counts.Pictures++
	c.counts.Bytes += uint64(len(picture))
	c.wake()
}
