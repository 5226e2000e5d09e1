package visitors

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"player/client"
	"player/codec"
	"player/formats/telemetry"
)

// dialLimit is how long connecting to a robot may take.
const dialLimit = 5 * time.Second

// Dialer returns a function that connects to the robot at an address, HOST:PORT, within the
// quota of descriptors. The robot's list of clients shows the visitor by the name.
func (c Common) Dialer(address, name string) Dial {
	quota, dial := c.Descriptors, client.DialAs
	if connect := c.Connect; connect != nil {
		dial = func(ctx context.Context, address, name string, limit time.Duration) (*client.Client, error) {
			r, err := client.DialBy(ctx, func(ctx context.Context) (net.Conn, error) { return connect(ctx, address) })
			if err != nil {
				return nil, err
			}
			return r, r.SetName(name)
		}
	}
	return func(ctx context.Context) (*client.Client, func(), error) {
		if err := quota.Take(1); err != nil {
			return nil, nil, Notice{Text: "the server has too many pages and viewers open: close some", Cause: err}
		}
		r, err := dial(ctx, address, name, dialLimit)
		if err != nil {
			quota.Return(1)
			return nil, nil, err
		}
		return r, func() { quota.Return(1) }, nil
	}
}

// Feed reads the data of a robot for a visitor, in its own goroutine (Run) and by its own
// connection.
type Feed struct {
	dial    Dial
	granted func(pairs string, refused []client.Access) error
	send    func([]News) error
	// Stranger makes the error for a server whose answer is not the Player protocol. Nil: the error stays as it is.
	Stranger func(error) error
	// Equipped gets the robot's description of its devices: before the first data, and again when a device that has a
	// description is opened, because its driver may have learnt it then. send runs in the same goroutine. It is not called
	// for a server that answers no questions. Nil: the robot is not asked.
	Equipped func(Equipment) error

	mu        sync.Mutex
	interrupt context.CancelFunc // of the pass of Run under way; nil: there is none
	requests  []Request
	wants     bool   // Want was called
	wanted    string // devices, by Want
	rate      int    // Hz, the same
	open      string // wanted at the last call of next
	served    int    // rate at that time
}

// Request asks a robot for data.
type Request struct {
	Pairs string // of a device and its access, r or c
	Rate  int    // Hz; 0: as before
}

// Equipment is a robot's description of its devices.
type Equipment struct {
	Devices  []codec.Entry   // all of them
	Rays     []codec.Rays    // of lasers, sonars and rangers
	Channels []codec.Channel // inputs, outputs and joints
}

// News is data that a visitor has not been sent.
type News struct {
	Device  byte
	Age     time.Duration // when send is called
	Known   bool          // the age
	Payload []byte        // valid until send returns; empty: the device has no data
}

// maxRequests is how many requests may wait while devices start: a user's clicks make far
// fewer.
const maxRequests = 64

// NewFeed returns a feed of the robot that dial connects to. granted gets the pairs of each request when the robot
// has answered, and the devices to which it grants less. send gets new data. Their errors end Run.
func NewFeed(dial Dial, granted func(pairs string, refused []client.Access) error, send func([]News) error) *Feed {
	return &Feed{dial: dial, granted: granted, send: send}
}

// Feed returns a feed of a robot of this server, which runs when it is started. The guest is shown which devices
// the robot refuses. send is as in NewFeed. describe gets how the device with an index in robot.Devices describes its data,
// in the goroutine of send and before it; the driver may have learnt it when the device was opened.
func (g *Guest) Feed(robot Robot, describe func(device int, d telemetry.Description), send func([]News) error) *Feed {
	granted := func(_ string, refused []client.Access) error {
		for _, a := range refused {
			i := robot.Device(a.Device)
			if i < 0 {
				continue
			}
			if err := g.Report(fmt.Errorf("%s refuses %s: %s", robot.Name, robot.Devices[i].Interface, a.Reason())); err != nil {
				return err
			}
		}
		return nil
	}
	f := NewFeed(g.common.Dialer(robot.Address, g.terms.Name), granted, send)
	f.Equipped = func(e Equipment) error {
		for i, d := range robot.descriptions(e) {
			describe(i, d)
		}
		return nil
	}
	return f
}

// descriptions returns the descriptions of the robot's devices, by the index of the device, where there is one.
func (r Robot) descriptions(e Equipment) map[int]telemetry.Description {
	known := map[int]telemetry.Description{}
	for _, ray := range e.Rays {
		d := known[r.Device(ray.Device)]
		d.Rays = append(d.Rays, ray)
		known[r.Device(ray.Device)] = d
	}
	for _, c := range e.Channels {
		d := known[r.Device(c.Device)]
		d.Channels = append(d.Channels, c)
		known[r.Device(c.Device)] = d
	}
	delete(known, -1) // a reload has added the device
	return known
}

// Request has Run make a request. Requests are made one after the other.
func (f *Feed) Request(r Request) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.requests) == maxRequests {
		return Notice{Text: "too many requests wait for devices to start"}
	}
	f.requests = append(f.requests, r)
	f.wake()
	return nil
}

// Want sets the devices that are read, by their letters; without devices Run ends.
func (f *Feed) Want(devices string, rate int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wants, f.wanted, f.rate = true, devices, rate
	f.wake()
}

// wake has Run begin another pass. The caller has the mutex.
func (f *Feed) wake() {
	if f.interrupt != nil {
		f.interrupt()
	}
}

// next returns the requests that wait when a pass begins. ended reports that no device is wanted any more.
func (f *Feed) next(interrupt context.CancelFunc) (requests []Request, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.interrupt = interrupt
	requests, f.requests = f.requests, nil
	if !f.wants || f.wanted == "" {
		return requests, f.wants
	}
	var r Request
	for _, d := range []byte(f.wanted) {
		if strings.IndexByte(f.open, d) < 0 {
			r.Pairs += string([]byte{d, codec.AccessRead})
		}
	}
	for _, d := range []byte(f.open) {
		if strings.IndexByte(f.wanted, d) < 0 {
			r.Pairs += string([]byte{d, codec.AccessClose})
		}
	}
	if f.rate != f.served {
		r.Rate = f.rate
	}
	f.open, f.served = f.wanted, f.rate
	return append(requests, r), false
}

// reader reads a robot.
type reader struct {
	robot  *client.Client         // not embedded: a table of all its methods takes 6 kB of the program
	listed bool                   // the robot was asked which devices it has
	equip  bool                   // the visitor gets the equipment before the next data
	fresh  bool                   // the robot's server sends ages, and only new data
	open   []byte                 // devices that are read
	taken  map[byte]time.Duration // when the data that was sent was taken, by device
	round  time.Duration          // the server's time of the round that came last while nothing was requested
	came   time.Time              // when that came; zero: none has
	news   []News
}

// identify checks that this is a Player server, and subscribes to ages if it
// supports them.
func (f *Feed) identify(ctx context.Context, r *reader) error {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	err := r.robot.Request(ctx, string([]byte{codec.Server, codec.AccessRead}))
	if _, refused := errors.AsType[*client.AccessError](err); refused {
		return nil
	}
	if err != nil && f.Stranger != nil {
		err = f.Stranger(err)
	}
	if err != nil {
		return err
	}
	r.fresh, r.equip = true, f.Equipped != nil
	return r.robot.SetFresh(true)
}

// Run makes requests and reads rounds of data, until no device is wanted any more.
func (f *Feed) Run(ctx context.Context) error {
	robot, closed, err := f.dial(ctx)
	if err != nil {
		return err
	}
	defer closed()
	defer robot.Close()
	r := reader{robot: robot, taken: map[byte]time.Duration{}}
	if err := f.identify(ctx, &r); err != nil {
		return err
	}
	for {
		reading, interrupt := context.WithCancel(ctx)
		requests, ended := f.next(interrupt)
		err = nil
		if !ended {
			err = f.pass(ctx, reading, &r, requests)
		}
		interrupt()
		if ctx.Err() != nil || !errors.Is(err, context.Canceled) {
			return err
		}
	}
}

// pass makes requests, and reads until the end of the context reading.
func (f *Feed) pass(ctx, reading context.Context, r *reader, requests []Request) error {
	for _, q := range requests {
		if err := f.request(ctx, r, q); err != nil {
			return err
		}
	}
	if r.equip {
		r.equip = false
		if err := f.equip(ctx, r); err != nil {
			return err
		}
	}
	// The client has read rounds while it waited for the replies, and does not report them as new any more.
	unread := len(requests) > 0
	for {
		if news := r.unsent(unread); len(news) > 0 {
			if err := f.send(news); err != nil {
				return err
			}
		}
		unread = false
		if !r.fresh && len(r.open) == 0 { // the robot's server sends no rounds
			<-reading.Done()
			return reading.Err()
		}
		if err := r.robot.Read(reading); err != nil {
			return err
		}
		r.round, r.came = r.robot.ServerTime(), time.Now()
	}
}

// unsent returns the data that is newer than the data that it returned before. unread: it was not called after
// each round.
func (r *reader) unsent(unread bool) []News {
	r.news = r.news[:0]
	since := time.Duration(0) // the latest round, which came while the reply to a request was late
	if unread && !r.came.IsZero() {
		since = max(0, time.Since(r.came)-(r.robot.ServerTime()-r.round))
	}
	for _, d := range r.open {
		age, known := r.robot.Age(d)
		at := r.robot.ServerTime() - age
		last, sent := r.taken[d]
		if known && sent && at == last || !known && !r.robot.New(d) && !(unread && r.robot.Has(d)) {
			continue
		}
		if known {
			r.taken[d] = at
		}
		r.news = append(r.news, News{d, age + since, known, r.robot.Raw(d)})
	}
	return r.news
}

// list asks for the robot's devices once, before one without a letter is requested: the client has to know its interface.
func (r *reader) list(ctx context.Context, pairs string) error {
	for i := 0; i < len(pairs) && !r.listed; i += 2 {
		if codec.IsLetter(pairs[i]) {
			continue
		}
		r.listed = true
		if _, err := r.robot.Devices(ctx); err != nil && !errors.Is(err, client.ErrUnknownQuestion) {
			return err
		}
	}
	return nil
}

// equip asks for the robot's equipment and passes it on.
func (f *Feed) equip(ctx context.Context, r *reader) (err error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	var known Equipment
	known.Devices, err = r.robot.Devices(ctx)
	r.listed = true
	if err == nil {
		known.Rays, err = r.robot.Rays(ctx)
	}
	if err == nil {
		known.Channels, err = r.robot.Channels(ctx)
	}
	switch {
	case errors.Is(err, client.ErrUnknownQuestion) && known.Devices == nil:
		return nil
	case err != nil && !errors.Is(err, client.ErrUnknownQuestion):
		return err
	}
	return f.Equipped(known)
}

// hasDescription reports whether a robot may describe the data of a device.
func hasDescription(device byte) bool {
	return !codec.IsLetter(device) || device == codec.Laser || device == codec.Sonar
}

// request makes a request. The newest data of a reopened device is sent again when it comes.
func (f *Feed) request(ctx context.Context, r *reader, q Request) error {
	if q.Rate != 0 {
		if err := r.robot.SetFrequency(q.Rate); err != nil {
			return err
		}
	}
	if q.Pairs == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	if err := r.list(ctx, q.Pairs); err != nil {
		return err
	}
	err := r.robot.Request(ctx, q.Pairs)
	refused, ok := errors.AsType[*client.AccessError](err)
	switch {
	case err == nil:
		refused = new(client.AccessError)
	case !ok:
		return err
	}
	access := map[byte]byte{}
	for i := 0; i < len(q.Pairs); i += 2 {
		access[q.Pairs[i]] = q.Pairs[i+1]
	}
	for _, a := range refused.Devices {
		access[a.Device] = a.Granted
	}
	r.open = slices.DeleteFunc(r.open, func(d byte) bool { return access[d] != 0 })
	for i := 0; i < len(q.Pairs); i += 2 {
		if d := q.Pairs[i]; access[d] == codec.AccessRead && !slices.Contains(r.open, d) {
			r.open = append(r.open, d)
			r.equip = r.equip || f.Equipped != nil && hasDescription(d)
		}
		delete(r.taken, q.Pairs[i])
	}
	return f.granted(q.Pairs, refused.Devices)
}
