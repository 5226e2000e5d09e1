package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"player/client"
	"player/codec"
	"player/devices"
	"player/fleet/bridge"
)

const (
	// bucketLimit bounds the wait for the bucket. Later, an answer is of no use: the
	// lease has ended.
	bucketLimit = bridge.TTL
	// adoptPause is the time between two attempts to find the holder of an earlier lease.
	adoptPause = bridge.TTL / 4
	// lateLimit is for how long after the start a lease is searched again: the bridge before
	// may have written it until it heard of this one, and it lasts for a TTL.
	lateLimit = bridge.BeatLimit + bridge.TTL

	// nobody is the name of a holder that gives none.
	nobody = "a program without a name"
)

// Messages of the log, by which tests find lines.
const (
	LogGoesOn = "a lease goes on"
	LogEnds   = "a lease ends"
)

// granted is the answer to a request for a lease, and to its renewal.
type granted struct {
	Token  string `json:"token"`
	TTL    int64  `json:"ttl_ms"`
	Holder string `json:"holder"`
}

// controller gives the lease of one device, and passes on the commands of its holder.
// The connection to the robot lasts as long as the lease: the robot's server stops
// the connection's devices when it closes (PROTOCOL 5.4), or when it is not heard for
// bridge.CommandLifetime (5.5). Devices that another client has taken over go on.
type controller struct {
	hub   *hub
	robot Robot
	spec  devices.Spec
	name  string // of the device
	state *state

	bucket   leases    // of the robot's group
	began    time.Time // when this bridge had searched for a lease
	searched time.Time // when it has searched again
	lease    bridge.Control
	entry    leaseEntry   // the lease in the bucket
	silent   bool         // the last renewal has failed, which was logged
	writing  chan renewal // not nil: a renewal is on its way
	conn     driving      // nil: there is none
	code     byte         // of the device on it
}

// renewal is the result of one.
type renewal struct {
	entry leaseEntry
	sent  time.Time
	err   error
}

func newController(h *hub, r Robot, spec devices.Spec, s *state) *controller {
	return &controller{hub: h, robot: r, spec: spec, name: bridge.NameOf(spec), state: s, bucket: h.leases[bridge.GroupOf(r.Name)]}
}

func (c *controller) key() string { return leaseKey(c.robot.Name, c.spec) }

func (c *controller) String() string { return c.name + " of " + c.robot.Name }

func (c *controller) run(ctx context.Context) error {
	if !c.adopt(ctx) {
		return nil
	}
	c.began = c.hub.Now()
	messages := make(chan *nats.Msg, backlog) // one channel: their order is kept
	subject := bridge.Subject(c.hub.Fleet, c.robot.Name, c.name, bridge.Command)
	commands, err := c.hub.bus.ChanSubscribe(subject, messages)
	if err != nil {
		return err
	}
	defer commands.Unsubscribe()
	requests, err := c.hub.bus.ChanSubscribe(bridge.Subject(c.hub.Fleet, c.robot.Name, c.name, bridge.Lease), messages)
	if err != nil {
		return err
	}
	defer c.hub.refuseRest(messages, commands, requests)

	for {
		// The end comes first, and the bucket's answer before messages.
		writing, waiting := c.writing, messages
		if ctx.Err() != nil {
			writing = nil
		}
		if ctx.Err() != nil || len(writing) > 0 {
			waiting = nil
		}
		select {
		case <-ctx.Done():
			if handedOver(ctx) {
				c.handOver()
				return nil
			}
			_ = c.end("the bridge ends") // remove has logged it
			return nil
		case r := <-writing:
			c.wrote(r)
		case m := <-waiting:
			c.settle(ctx) // the lease may have ended while this process was stopped
			began := c.hub.Now()
			if m.Subject == subject {
				c.command(ctx, m)
			} else {
				c.request(ctx, m)
			}
			if c.hub.Now().Sub(began) >= bridge.TTL {
				c.settle(ctx)
				c.refuseWaiting(messages)
			}
		case <-c.hub.After(c.next()):
		}
		c.settle(ctx)
	}
}

// errWaited answers messages that have waited for longer than a lease lasts.
var errWaited = errors.New("the robot's server has not answered for long: ask again")

// refuseWaiting answers messages that came while the robot kept this bridge waiting. Their senders may
// have given up: a lease that no program waits for would keep all programs from the robot for a TTL.
func (c *controller) refuseWaiting(messages <-chan *nats.Msg) {
	for range len(messages) {
		c.hub.answer(<-messages, c.refuse(errWaited))
	}
}

// next returns the time until something is due.
func (c *controller) next() time.Duration {
	if c.lease.Token == "" {
		return time.Hour
	}
	at := c.lease.Ends()
	if due, ok := c.lease.WriteDue(); ok && c.writing == nil && due.Before(at) {
		at = due
	}
	return max(0, at.Sub(c.hub.Now()))
}

// settle does the work that is due: the end of the lease, or its renewal in the bucket.
func (c *controller) settle(ctx context.Context) {
	if c.lease.Token == "" {
		return
	}
	now := c.hub.Now()
	if !now.Before(c.lease.Ends()) {
		c.state.count(func(n *Counts) { n.Lapsed++ })
		_ = c.end("it was not renewed") // the entry has also expired, or does soon
		return
	}
	if due, ok := c.lease.WriteDue(); !ok || c.writing != nil || now.Before(due) {
		return
	}
	c.lease.Write(now)
	entry, result := c.entry, make(chan renewal, 1)
	c.writing = result
	go func() {
		ctx, cancel := c.hub.WithTimeout(ctx, bucketLimit)
		defer cancel()
		ctx, end := c.hub.again.context(ctx)
		defer end()
		renewed, err := c.bucket.renew(ctx, c.key(), entry)
		result <- renewal{renewed, now, err}
	}()
}

// wrote takes the result of a renewal in the bucket.
func (c *controller) wrote(r renewal) {
	c.writing = nil
	switch {
	case errors.Is(r.err, errLeased):
		// Another bridge has taken over, or the entry has expired.
		c.entry = leaseEntry{}
		_ = c.end(r.err.Error()) // there is no entry
	case r.err != nil: // the lease ends by itself unless a later one succeeds
		c.lease.Fail(c.hub.Now())
		if !c.silent {
			c.hub.Log.Warn("a lease could not be renewed in the bucket", zap.Stringer("device", c), zap.Error(r.err))
		}
		c.silent = true
	default:
		c.entry, c.silent = r.entry, false
		c.lease.Confirm(r.sent)
	}
}

// late adopts a lease that the bridge before this one gave at the moment of the handover, when
// this one had searched already. It reports whether there was one. Later, an entry that this
// bridge does not know is one of a bridge that also believes that it serves the robot.
func (c *controller) late(ctx context.Context) bool {
	now := c.hub.Now()
	if c.lease.Token != "" || now.Sub(c.began) > lateLimit || now.Sub(c.searched) < adoptPause {
		return false
	}
	c.searched = now
	if err := c.tryAdopt(ctx); err != nil && ctx.Err() == nil {
		c.hub.Log.Warn("the lease of a device is not known", zap.Stringer("device", c), zap.Error(err))
	}
	return c.lease.Token != ""
}

// adopt continues a lease that another bridge gave. It returns false if ctx ends first.
func (c *controller) adopt(ctx context.Context) bool {
	for attempt := 1; ; attempt++ {
		select {
		case c.hub.searches <- struct{}{}:
		case <-ctx.Done():
			return false
		}
		err := c.tryAdopt(ctx)
		<-c.hub.searches
		if err == nil || ctx.Err() != nil {
			return ctx.Err() == nil
		}
		if attempt == 1 {
			c.hub.Log.Warn("the lease of a device is not known yet", zap.Stringer("device", c), zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return false
		case <-c.hub.After(adoptPause):
		}
	}
}

func (c *controller) tryAdopt(ctx context.Context) error {
	ctx, cancel := c.hub.WithTimeout(ctx, bucketLimit)
	defer cancel()
	entry, is, err := c.bucket.find(ctx, c.key())
	if err == nil && is == expired && c.began.IsZero() { // the bridge before has not removed it: it may hang
		c.lease.Wait(c.hub.Now())
	}
	if err != nil || is != given {
		return err
	}
	sent, handedOver := c.hub.Now(), entry.Bridge == ""
	if entry, err = c.bucket.renew(ctx, c.key(), entry); err != nil {
		return err // the other bridge has written it, or it has expired: search again
	}
	c.entry = entry
	c.lease.Adopt(entry.token(), entry.Holder, handedOver, sent, c.hub.Now())
	c.state.holder(c.name, entry.Holder)
	c.state.count(func(n *Counts) { n.Leases++ })
	c.hub.Log.Info(LogGoesOn, zap.Stringer("device", c), zap.String("holder", entry.Holder), zap.Uint64("number", entry.First), zap.Time("renewed", sent))
	return nil
}

// request answers a request on .lease.
func (c *controller) request(ctx context.Context, m *nats.Msg) {
	body, token, err := c.hub.read(c.robot, m)
	if m.Reply == "" {
		return // no program would learn the token
	}
	var holder string
	var released bool
	if err == nil {
		holder, released, err = body.Lease()
	}
	switch {
	case err != nil:
	case token != "" || released:
		err = c.renew(ctx, token)
	default:
		err = c.acquire(ctx, m, cmp.Or(holder, nobody))
	}
	switch {
	case errors.Is(err, errOnItsWay):
	case err != nil:
		c.hub.answer(m, c.refuse(err))
	case released:
		if err := c.end("it was released"); err != nil {
			c.hub.answer(m, c.refuse(err))
			return
		}
		c.hub.answer(m, done{OK: true})
	default:
		c.hub.answer(m, granted{c.lease.Token, bridge.TTL.Milliseconds(), c.lease.Holder})
	}
}

// renew lets the lease and the motion of the device go on.
func (c *controller) renew(ctx context.Context, token string) error {
	if token != "" {
		c.late(ctx)
	}
	if err := c.lease.Renew(token, c.hub.Now()); err != nil || c.conn == nil {
		return err
	}
	if err := c.live(c.conn); err != nil {
		c.disconnect() // the next command connects again
		c.hub.Log.Warn("the connection to a robot has failed", zap.Stringer("device", c), zap.Error(err))
	}
	return nil
}

// live begins the lifetime of the commands of a connection anew.
func (c *controller) live(conn driving) error {
	if c.spec.Stop == "" {
		return nil
	}
	return conn.SetCommandLifetime(bridge.CommandLifetime)
}

// errOnItsWay means that the request is answered later: the robot was handed over, and
// whether the bucket has the entry of the lease is not known yet.
var errOnItsWay = errors.New("the answer is on its way")

// acquire gives the lease to the sender of a request, or returns why not.
func (c *controller) acquire(ctx context.Context, m *nats.Msg, holder string) error {
	if _, err := codec.DecodeServerConfig(append([]byte{codec.ConfigName}, holder...)); err != nil {
		return fmt.Errorf("the name of the holder: %w", err)
	}
	if c.lease.Token != "" {
		return fmt.Errorf("%v is held by %s", c, c.lease.Holder)
	}
	if !c.lease.Free(c.hub.Now()) || c.hub.hung() {
		return fmt.Errorf("%v has changed its bridge: try again", c)
	}
	// First the entry: if another bridge has given the lease, the robot is left alone.
	sent := c.hub.Now()
	creation := c.create(ctx, holder)
	var made created
	select {
	case made = <-creation:
	case <-ctx.Done():
		if handedOver(ctx) {
			go func() { c.tell(m, <-creation, sent) }()
			return errOnItsWay
		}
		if made = <-creation; made.err == nil {
			_ = c.remove(context.Background(), made.entry) // remove has logged it
		}
		return errors.New("the bridge ends")
	}
	entry, err := made.entry, made.err
	if errors.Is(err, errLeased) && c.late(ctx) {
		return fmt.Errorf("%v is held by %s", c, c.lease.Holder)
	}
	if err != nil {
		return fmt.Errorf("%v: %w", c, err)
	}
	if err := c.connect(ctx); err != nil {
		if handedOver(ctx) && c.hub.Now().Sub(sent) < bridge.TTL {
			c.tell(m, made, sent)
			return errOnItsWay
		}
		_ = c.remove(context.Background(), entry) // remove has logged it
		return fmt.Errorf("%v: %w", c, err)
	}
	if c.hub.Now().Sub(sent) >= bridge.WritePeriod { // the hardware may need seconds: the entry has expired, or will soon
		sent = c.hub.Now()
		if entry, err = c.recreate(ctx, entry); err != nil {
			c.disconnect()
			return fmt.Errorf("%v: %w", c, err)
		}
		if c.hub.Now().Sub(sent) >= bridge.TTL { // this process was stopped
			c.disconnect()
			return fmt.Errorf("%v: %w", c, bridge.ErrNoLease)
		}
	}
	c.entry = entry
	c.lease.Grant(entry.token(), holder, sent, c.hub.Now())
	c.state.holder(c.name, holder)
	c.state.count(func(n *Counts) { n.Leases++ })
	c.hub.Log.Info("a lease begins", zap.Stringer("device", c), zap.String("holder", holder))
	return nil
}

// handedOver reports whether ctx has ended because another bridge serves the robot.
func handedOver(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errHandedOver) }

// tell answers a request for a lease that came while the robot was handed over. A lease that
// was given is in the bucket, where the other bridge finds it and goes on with it. Only this
// bridge knows the token: without an answer the lease would keep all programs from the robot
// until it ended. sent is when it was asked for: this process may have been stopped until the lease ended.
func (c *controller) tell(m *nats.Msg, made created, sent time.Time) {
	if made.err == nil && c.hub.Now().Sub(sent) >= bridge.TTL {
		made.err = bridge.ErrNoLease
	}
	if made.err != nil {
		c.hub.answer(m, refusal{Error: fmt.Sprintf("%v has changed its bridge: try again: %v", c, made.err)})
		return
	}
	c.hub.answer(m, granted{made.entry.token(), bridge.TTL.Milliseconds(), made.entry.Holder})
}

// created is the result of a create.
type created struct {
	entry leaseEntry
	err   error
}

// create makes the entry of a lease in the bucket. It goes on if ctx ends: JetStream has the
// request, and its answer reports whether the lease was given.
func (c *controller) create(ctx context.Context, holder string) <-chan created {
	ctx = context.WithoutCancel(ctx)
	result := make(chan created, 1)
	go func() {
		ctx, cancel := c.hub.WithTimeout(ctx, bucketLimit)
		defer cancel()
		entry, err := c.bucket.create(ctx, c.key(), holder)
		result <- created{entry, err}
	}()
	return result
}

// recreate renews an entry, or makes another one if it has expired.
func (c *controller) recreate(ctx context.Context, old leaseEntry) (leaseEntry, error) {
	renewal, cancel := c.hub.WithTimeout(ctx, bucketLimit)
	defer cancel()
	entry, err := c.bucket.renew(renewal, c.key(), old)
	if errors.Is(err, errLeased) {
		again := <-c.create(ctx, old.Holder)
		return again.entry, again.err
	}
	return entry, err
}

// remove removes an entry from the bucket. If it returns an error, another bridge may go
// on with the lease.
func (c *controller) remove(ctx context.Context, entry leaseEntry) error {
	ctx, cancel := c.hub.WithTimeout(ctx, bucketLimit)
	defer cancel()
	err := c.bucket.remove(ctx, c.key(), entry)
	switch {
	case errors.Is(err, errLeased):
		return fmt.Errorf("the lease has ended in this bridge, and may go on in another one for %v at most", bridge.TTL)
	case err != nil:
		c.hub.Log.Warn("a lease stays in the bucket until it expires", zap.Stringer("device", c), zap.Error(err))
		return fmt.Errorf("the lease has ended, and is free in %v at most: %w", bridge.TTL, err)
	}
	return nil
}

func (c *controller) refuse(err error) refusal {
	return refusal{Error: err.Error(), Holder: c.lease.Holder}
}

// command passes a command on, or answers why not.
func (c *controller) command(ctx context.Context, m *nats.Msg) {
	body, token, err := c.hub.read(c.robot, m)
	if err == nil {
		err = c.pass(ctx, token, body, m.Reply != "")
	}
	if err != nil {
		c.state.count(func(n *Counts) { n.Refused++ })
		c.hub.answer(m, c.refuse(err))
		return
	}
	c.state.count(func(n *Counts) { n.Commands++ })
	c.hub.answer(m, done{OK: true})
}

// pass passes a command on. If it is asked whether the robot has obeyed, it waits for that.
func (c *controller) pass(ctx context.Context, token string, body bridge.Body, asked bool) (err error) {
	if token != "" {
		c.late(ctx)
	}
	if err := c.lease.Check(token, c.hub.Now()); err != nil {
		return err
	}
	defer func() { c.state.refused(c.name, err) }()
	payload, err := body.Command(c.spec)
	if err != nil {
		return err
	}
	if err := c.connect(ctx); err != nil {
		return fmt.Errorf("%v: %w", c, err)
	}
	// Again: connecting may have taken long, or this process was stopped meanwhile.
	if err := c.lease.Renew(token, c.hub.Now()); err != nil {
		return err
	}
	if err := c.conn.Command(c.code, payload); err != nil {
		c.disconnect()
		return fmt.Errorf("%v: %w", c, inWords(c.robot.Address, err))
	}
	if !asked {
		return nil
	}
	wait, cancel := c.hub.WithTimeout(ctx, bridge.TTL/2)
	defer cancel()
	lines, err := c.conn.Ask(wait, codec.QuestionObstacles) // the answer comes after the command was obeyed, or dropped
	if err != nil && !errors.Is(err, client.ErrUnknownQuestion) {
		c.disconnect()
		return fmt.Errorf("%v: %w", c, inWords(c.robot.Address, err))
	}
	if err := readObstacles(lines).to(c.spec); err != nil {
		return fmt.Errorf("%v: %w", c, err)
	}
	return nil
}

// handOver leaves the lease to the other bridge. The note for that bridge is written when the robot
// has been let go already: that bridge waits until this one has heard of it.
func (c *controller) handOver() {
	c.disconnect()
	if c.lease.Token == "" || c.writing != nil { // a renewal, under the name of this bridge, is on its way
		return
	}
	entry := c.entry
	go func() {
		ctx, cancel := c.hub.WithTimeout(context.Background(), bucketLimit)
		defer cancel()
		if err := c.bucket.handOver(ctx, c.key(), entry); err != nil { // the other bridge waits before it gives the lease on
			c.hub.Log.Debug("a lease was passed on without a note in the bucket", zap.Stringer("device", c), zap.Error(err))
		}
	}()
}

// end ends the lease, and stops the device. It returns an error if another bridge may
// go on with the lease.
func (c *controller) end(reason string) (err error) {
	if c.lease.Token == "" {
		return nil
	}
	c.disconnect()
	c.hub.Log.Info(LogEnds, zap.Stringer("device", c), zap.String("holder", c.lease.Holder), zap.String("reason", reason))
	ctx, cancel := c.hub.WithTimeout(context.Background(), bucketLimit)
	defer cancel()
	if c.writing != nil { // its sequence number is needed
		select {
		case r := <-c.writing:
			if r.err == nil {
				c.entry = r.entry
			}
		case <-ctx.Done():
		}
		c.writing = nil
	}
	if c.entry.sequence != 0 {
		err = c.remove(ctx, c.entry)
	}
	c.entry = leaseEntry{}
	c.lease.End()
	c.state.holder(c.name, "")
	return err
}

// connect opens the device for writing, unless it is.
func (c *controller) connect(ctx context.Context) error {
	if c.conn != nil {
		return nil
	}
	conn, err := c.hub.drive(ctx, c.robot)
	if err != nil {
		return err
	}
	ctx, cancel := c.hub.WithTimeout(ctx, setupLimit)
	defer cancel()
	code, err := c.open(ctx, conn)
	if err := errors.Join(c.live(conn), err); err != nil {
		return errors.Join(inWords(c.robot.Address, err), conn.Close())
	}
	c.conn, c.code = conn, code
	return nil
}

// open opens the device for writing, and returns its byte on this connection. A device without a letter is asked for by its
// name.
func (c *controller) open(ctx context.Context, conn driving) (code byte, err error) {
	if bridge.HasLetter(c.spec) {
		return c.spec.Letter, conn.Request(ctx, string([]byte{c.spec.Letter, codec.AccessWrite}))
	}
	return conn.Open(ctx, c.name, codec.AccessWrite, nil)
}

// disconnect closes the connection, upon which the robot stops.
func (c *controller) disconnect() {
	if c.conn != nil {
		_ = c.conn.Close() // the kernel has taken all bytes
		c.conn = nil
	}
}
