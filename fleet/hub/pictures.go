package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"player/fleet/bridge"
)

const (
	// pictureLimit is more than the 10 s that a robot's server waits for a camera.
	pictureLimit = 12 * time.Second
	// robotsSize bounds the list of a server's robots, and pictureSize a picture, in bytes.
	// The server's own limit is 1 MiB.
	robotsSize, pictureSize = 1 << 20, 2 << 20
	// headersSize is the most bytes that the headers of a picture take.
	headersSize = 512
)

// pictures publishes the pictures of a robot's cameras, each while a program asks for them and
// there is a listener. The dashboard of the robot's server has them.
type pictures struct {
	hub     *hub
	robot   Robot
	state   *state
	cameras map[string]*camera // the ones that a listener has asked for
	running sync.WaitGroup
}

func newPictures(h *hub, r Robot, s *state) *pictures {
	return &pictures{hub: h, robot: r, state: s, cameras: map[string]*camera{}}
}

func (f *pictures) run(ctx context.Context) error {
	defer f.running.Wait()
	return f.hub.receive(ctx, f.asked, bridge.CameraSubject(f.hub.Fleet, f.robot.Name, "*", bridge.Rate))
}

// asked takes a request for pictures at a rate.
func (f *pictures) asked(ctx context.Context, m *nats.Msg) {
	body, _, err := f.hub.read(f.robot, m)
	hz := 0
	if err == nil {
		hz, err = body.Rate()
	}
	if err == nil {
		hz, err = f.ask(ctx, bridge.CameraOf(m.Subject), min(hz, bridge.MaxPictures))
	}
	if err != nil {
		f.hub.answer(m, refusal{Error: err.Error()})
		return
	}
	f.hub.answer(m, rated{hz, bridge.AskLimit.Milliseconds()})
}

// ask asks a camera for a rate, and returns which it has, or why there are no pictures.
func (f *pictures) ask(ctx context.Context, name string, hz int) (rate int, err error) {
	now := time.Now()
	if c := f.cameras[name]; c != nil {
		if rate, ok := c.ask(hz, now); ok {
			return rate, c.failure()
		}
		delete(f.cameras, name) // it has ended
	}
	names, err := f.names(ctx)
	switch {
	case err != nil:
		return 0, err
	case !slices.Contains(names, name):
		return 0, fmt.Errorf("the robot has no camera %.40q; there is %s", name, strings.Join(names, ", "))
	}
	c := &camera{pictures: f, name: name}
	rate, _ = c.ask(hz, now)
	f.cameras[name] = c
	f.running.Go(func() { c.run(ctx) })
	return rate, nil
}

// names returns the cameras of the robot.
func (f *pictures) names(ctx context.Context) ([]string, error) {
	if f.robot.Page == "" {
		return nil, fmt.Errorf("the bridge does not know the robot's dashboard, which has the pictures: -robot %s=%s page=URL", f.robot.Name, f.robot.Address)
	}
	_, text, err := f.robot.get(ctx, dialLimit, robotsSize, "", "robots")
	if err != nil {
		return nil, err
	}
	var list struct {
		Robots []struct {
			Address string
			Cameras []string
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s is no dashboard: %w", f.robot.Page, err)
	}
	_, port, _ := net.SplitHostPort(f.robot.Address) // it was checked
	for _, r := range list.Robots {
		if _, of, _ := net.SplitHostPort(r.Address); of == port && len(r.Cameras) > 0 {
			return r.Cameras, nil
		}
	}
	return nil, fmt.Errorf("the robot has no camera with pictures")
}

// camera is a camera that a listener has asked for.
type camera struct {
	*pictures
	name string

	mu      sync.Mutex
	demand  bridge.Demand
	err     error // why there was no picture
	expired bool  // its goroutine ends
}

// ask notes a request, and returns the rate, or false if the camera has ended.
func (c *camera) ask(hz int, now time.Time) (rate int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.expired {
		return 0, false
	}
	c.demand.Ask(hz, now)
	rate, _ = c.demand.Asked(now)
	return rate, true
}

// wanted returns the rate that is asked for, or false, and then for ever.
func (c *camera) wanted(ctx context.Context) (rate int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rate, ok = c.demand.Asked(time.Now())
	ok = ok && ctx.Err() == nil
	c.expired = !ok
	return rate, ok
}

func (c *camera) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// noted notes why there is no picture, or that there is one, and returns the error.
func (c *camera) noted(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	return err
}

// run publishes pictures while programs ask for them. Without listeners the camera is left
// alone: a message without picture finds out whether there are some.
func (c *camera) run(ctx context.Context) {
	refusals := make(chan *nats.Msg, backlog)
	inbox := nats.NewInbox()
	sub, err := c.hub.nats.ChanSubscribe(inbox, refusals)
	if c.noted(err) != nil {
		return // its connection is closed
	}
	defer sub.Unsubscribe()
	sample, number := bridge.Sample{Interface: bridge.Picture, Epoch: bridge.NewEpoch(time.Now())}, "0"
	listened, due := false, time.Now()
	for {
		hz, ok := c.wanted(ctx)
		if !ok {
			return
		}
		pause := roundPeriod
		if !listened {
			sample.Payload, sample.Aged = nil, false
			listened = c.publish(ctx, sample, inbox, refusals)
		}
		if listened {
			next, number2, err := c.next(ctx, number)
			if now := time.Now(); c.noted(err) == nil {
				number, next.Epoch, next.Sequence = number2, sample.Epoch, sample.Sequence+1
				sample = next
				listened = c.publish(ctx, sample, inbox, refusals)
				if due = due.Add(time.Second / time.Duration(hz)); due.Before(now) {
					due = now // missed periods are not made up
				}
				pause = time.Until(due)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// publish publishes a picture and waits until NATS has it, so that none waits behind it. It
// reports whether there is a listener: NATS answers first if there is none.
func (c *camera) publish(ctx context.Context, s bridge.Sample, inbox string, refusals <-chan *nats.Msg) (listened bool) {
	s = s.At(time.Now())
	m := &nats.Msg{Subject: bridge.CameraSubject(c.hub.Fleet, c.robot.Name, c.name, bridge.Picture), Reply: inbox, Header: s.Headers(), Data: s.Payload}
	ctx, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	if c.hub.nats.PublishMsg(m) != nil || c.hub.nats.FlushWithContext(ctx) != nil {
		return false // lost with the connection
	}
	c.state.count(func(n *Counts) { n.Messages, n.Bytes = n.Messages+1, n.Bytes+uint64(len(m.Data)) })
	for listened = true; ; {
		select {
		case r := <-refusals:
			listened = listened && r.Header.Get("Status") != noResponders
		default:
			return listened
		}
	}
}

// next waits for a picture with a number above another one's.
func (c *camera) next(ctx context.Context, after string) (s bridge.Sample, number string, err error) {
	header, picture, err := c.robot.get(ctx, pictureLimit, pictureSize, "after="+url.QueryEscape(after), "camera", url.PathEscape(c.name), "picture")
	if err != nil {
		return s, "", err
	}
	if most := c.hub.nats.MaxPayload() - headersSize; int64(len(picture)) > most {
		return s, "", fmt.Errorf("a picture of camera %s has %d bytes, and NATS carries %d (max_payload)", c.name, len(picture), most)
	}
	age, err := strconv.Atoi(header.Get("Picture-Age"))
	s = bridge.Sample{Interface: bridge.Picture, Arrived: time.Now(), Age: time.Duration(age) * time.Millisecond, Aged: err == nil, Payload: picture}
	return s, header.Get("Picture-Number"), nil
}
