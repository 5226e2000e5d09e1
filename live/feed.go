package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"player/client"
	"player/codec"
	"player/foxglove"
	"player/visitors"
)

const (
	// dialLimit is how long connecting to a robot of this computer may take.
	dialLimit = 5 * time.Second
	// setupLimit is how long a robot may take to start its devices: a laser whose
	// line speed must be found takes more than ten seconds.
	setupLimit = 40 * time.Second
)

// feed is what a viewer watches of a robot.
type feed struct {
	viewer    *viewer
	robot     Robot
	converter *foxglove.Converter
	channels  []uint32 // by topic of the converter; 0: it is not offered

	turns  visitors.Turns
	mu     sync.Mutex
	wanted []int // devices, ascending
	rate   int   // Hz
}

func (v *viewer) newFeed(robot int) *feed {
	f := &feed{viewer: v, robot: v.server.config.Robots[robot]}
	f.converter = f.robot.converter()
	for _, topic := range f.converter.Topics() {
		id := uint32(0)
		if i, offered := v.server.topics[topic.Name]; offered {
			id = uint32(i + 1)
		}
		f.channels = append(f.channels, id)
	}
	return f
}

// want sets what is read; without devices the feed ends.
func (f *feed) want(devices []int, rate int) {
	defer f.turns.Wake()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted, f.rate = devices, rate
}

// next returns what is wanted.
func (f *feed) next() (devices []int, rate int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wanted, f.rate
}

// run reads what is wanted until nothing is.
func (f *feed) run(ctx context.Context) error {
	r, err := f.viewer.dial(ctx, f.robot)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Request(ctx, "yr"); err != nil {
		return err
	}
	if err := r.SetFresh(true); err != nil {
		return err
	}
	var open []int
	var served int
	taken := make([]time.Duration, len(f.robot.Devices)) // when the data that was sent was taken
	return f.turns.Run(ctx, func(reading context.Context) error {
		devices, rate := f.next()
		if len(devices) == 0 {
			return nil
		}
		if rate != served {
			if err := r.SetFrequency(rate); err != nil {
				return err
			}
			served = rate
		}
		err := f.request(ctx, r.Client, open, devices)
		open = devices
		for err == nil {
			// Also what has come while the devices were requested.
			if err = f.send(r.Client, taken); err == nil {
				err = r.Read(reading)
			}
		}
		return err
	})
}

// request opens and closes devices. What is refused is told to the viewer.
func (f *feed) request(ctx context.Context, r *client.Client, open, devices []int) error {
	var pairs []byte
	for i, d := range f.robot.Devices {
		was, is := slices.Contains(open, i), slices.Contains(devices, i)
		switch {
		case is && !was:
			pairs = append(pairs, d.Letter, codec.AccessRead)
		case was && !is:
			pairs = append(pairs, d.Letter, codec.AccessClose)
		}
	}
	if pairs == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	err := r.Request(ctx, string(pairs))
	if refused, ok := errors.AsType[*client.AccessError](err); ok {
		for _, a := range refused.Devices {
			if i := f.robot.device(a.Device); i >= 0 {
				err := fmt.Errorf("%s refuses %s: %s", f.robot.Name, f.robot.Devices[i].Interface, a.Reason())
				if err := f.viewer.status(err); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return err
}

// send hands new data to the outbox. That of a replayed log has the times of the log.
func (f *feed) send(r *client.Client, taken []time.Duration) error {
	now, speed := time.Now().UnixNano(), 1.0
	if f.robot.Replay != nil {
		p, err := f.viewer.playback(f.robot.Replay)
		if err != nil {
			return err
		}
		now, speed = p.Time, p.Speed
	}
	for i, d := range f.robot.Devices {
		age, known := r.Age(d.Letter)
		if !known || !r.Has(d.Letter) || taken[i] == r.ServerTime()-age {
			continue
		}
		taken[i] = r.ServerTime() - age
		at := now - int64(float64(age)*speed)
		for _, m := range f.converter.Data(i, at, r.Raw(d.Letter)) {
			if channel := f.channels[m.Topic]; channel != 0 {
				f.viewer.outbox.put(channel, foxglove.Frame(m.Content), at, m.Content)
			}
		}
	}
	return nil
}

// robotClient is a connection to a robot, with its share of descriptors.
type robotClient struct {
	*client.Client
	release func()
}

// Close closes the connection.
func (r robotClient) Close() {
	r.Client.Close()
	r.release()
}

// dial connects to a robot. The robot sees who the viewer is by its name.
func (v *viewer) dial(ctx context.Context, robot Robot) (robotClient, error) {
	share := v.server.config.Descriptors
	if err := share.Take(1); err != nil {
		return robotClient{}, err
	}
	r := robotClient{release: func() { share.Return(1) }}
	host, _, _ := net.SplitHostPort(v.address) // the request has it from the connection
	var err error
	if r.Client, err = client.DialAs(ctx, robot.Address, "foxglove "+host, dialLimit); err != nil {
		r.release()
	}
	return r, err
}
