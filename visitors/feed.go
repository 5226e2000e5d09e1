package visitors

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"player/client"
	"player/codec"
)

// dialLimit is how long connecting to a robot may take.
const dialLimit = 5 * time.Second

// Dialer returns what connects to the robot at an address, HOST:PORT, within the share of
// descriptors. The robot sees who the visitor is by the name.
func (c Common) Dialer(address, name string) Dial {
	share := c.Descriptors
	return func(ctx context.Context) (*client.Client, func(), error) {
		if err := share.Take(1); err != nil {
			return nil, nil, Notice{Text: "the server has too many pages and viewers open: close some", Cause: err}
		}
		r, err := client.DialAs(ctx, address, name, dialLimit)
		if err != nil {
			share.Return(1)
			return nil, nil, err
		}
		return r, func() { share.Return(1) }, nil
	}
}

// Feed reads what a visitor watches of a robot, in a goroutine and by a connection of its
// own (Run).
type Feed struct {
	dial   Dial
	robot  Robot
	report func(error) error
	send   func([]News) error

	turns  Turns
	mu     sync.Mutex
	wanted string // devices
	rate   int    // Hz
}

// News is data that a visitor has not been sent.
type News struct {
	Device  byte
	Age     time.Duration
	Payload []byte // valid until send returns
}

// Feed returns a feed of a robot, which runs when it is started. report tells the guest that
// the robot refuses a device, and send gets what is new. Their errors end Run.
func (g *Guest) Feed(robot Robot, report func(error) error, send func([]News) error) *Feed {
	return &Feed{dial: g.common.Dialer(robot.Address, g.name), robot: robot, report: report, send: send}
}

// Want sets the devices that are read, by their letters; without devices Run ends.
func (f *Feed) Want(devices string, rate int) {
	defer f.turns.Wake()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted, f.rate = devices, rate
}

// next returns what is wanted.
func (f *Feed) next() (devices string, rate int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wanted, f.rate
}

// Run reads what is wanted until nothing is.
func (f *Feed) Run(ctx context.Context) error {
	r, closed, err := f.dial(ctx)
	if err != nil {
		return err
	}
	defer closed()
	defer r.Close()
	if err := r.Request(ctx, "yr"); err != nil {
		return err
	}
	if err := r.SetFresh(true); err != nil {
		return err
	}
	var open string
	var served int
	var news []News
	taken := map[byte]time.Duration{} // when the data that was sent was taken, by device
	return f.turns.Run(ctx, func(reading context.Context) error {
		devices, rate := f.next()
		if devices == "" {
			return nil
		}
		if rate != served {
			if err := r.SetFrequency(rate); err != nil {
				return err
			}
			served = rate
		}
		err := f.request(ctx, r, open, devices)
		open = devices
		for err == nil {
			// Also what has come while the devices were requested.
			if news = appendNews(news[:0], r, devices, taken); len(news) > 0 {
				err = f.send(news)
			}
			if err == nil {
				err = r.Read(reading)
			}
		}
		return err
	})
}

// appendNews appends what has been taken later than taken, and notes it there.
func appendNews(news []News, r *client.Client, devices string, taken map[byte]time.Duration) []News {
	for _, d := range []byte(devices) {
		age, known := r.Age(d)
		at := r.ServerTime() - age
		if last, sent := taken[d]; !known || !r.Has(d) || sent && last == at {
			continue
		}
		taken[d] = at
		news = append(news, News{d, age, r.Raw(d)})
	}
	return news
}

// request opens and closes devices. What is refused is told to the visitor.
func (f *Feed) request(ctx context.Context, r *client.Client, open, devices string) error {
	var pairs []byte
	for _, d := range []byte(devices) {
		if strings.IndexByte(open, d) < 0 {
			pairs = append(pairs, d, codec.AccessRead)
		}
	}
	for _, d := range []byte(open) {
		if strings.IndexByte(devices, d) < 0 {
			pairs = append(pairs, d, codec.AccessClose)
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
			i := f.robot.Device(a.Device)
			if i < 0 {
				continue
			}
			if err := f.report(fmt.Errorf("%s refuses %s: %s", f.robot.Name, f.robot.Devices[i].Interface, a.Reason())); err != nil {
				return err
			}
		}
		return nil
	}
	return err
}
