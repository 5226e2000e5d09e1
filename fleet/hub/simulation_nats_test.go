package hub

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"player/fleet/bridge"
)

// simNATS is a server of NATS with one bucket.
type simNATS struct {
	sim     *sim
	down    bool
	outages int           // of JetStream, which last
	slow    time.Duration // JetStream, at least
	life    int           // counts restarts: what is on its way is lost then
	conns   []*simConn
	subs    []*simSub // as the server knows them

	sequence uint64
	keys     map[string]*simEntry
}

// simEntry is the last message of a key.
type simEntry struct {
	value    []byte // nil: a tombstone
	expired  bool   // a tombstone: nobody has removed the value
	sequence uint64
}

// simConn is a connection of a process, or of a program that drives, to the server.
type simConn struct {
	nats      *simNATS
	name      string
	owner     *process // nil: of a program that drives
	connected bool     // by what the client knows
	closed    bool
	epoch     int // counts connections of this client
	life      int // of the server to which it is connected
	cuts      int // that last
	cutting   int // counts cuts
	up, down  way
	subs      []*simSub // of the client
}

// way carries messages in one direction, in order.
type way struct {
	last  time.Duration // when the last one arrives
	stuck []func()      // what has arrived at the cut
}

// simSub is a subscription.
type simSub struct {
	conn    *simConn
	subject string
	epoch   int
	take    func(m *nats.Msg)
	valid   bool
}

func newSimNATS(s *sim) *simNATS { return &simNATS{sim: s, keys: map[string]*simEntry{}} }

func (n *simNATS) connect(name string, owner *process) *simConn {
	c := &simConn{nats: n, name: name, owner: owner}
	n.conns = append(n.conns, c)
	c.reconnect()
	return c
}

// The server is left when two pings are not answered.
const (
	pingPeriod = 200 * time.Millisecond
	natsPause  = 500 * time.Millisecond
)

// lose ends the connection. A message may still arrive, if the server lives and the way is only cut.
func (c *simConn) lose() {
	s := c.nats.sim
	if !c.connected {
		return
	}
	s.say("%s has lost NATS", c.name)
	c.connected = false
	c.epoch++
	c.down = way{}
	if c.cuts == 0 || s.chance(c.name+"stuck") < 0.5 {
		c.up.stuck = nil
	}
	c.retry()
}

func (c *simConn) retry() {
	s := c.nats.sim
	s.after(s.delay(c.name+"retry", time.Millisecond, natsPause), c.owner, c.reconnect)
}

func (c *simConn) reconnect() {
	switch {
	case c.closed || c.connected:
	case c.cuts > 0 || c.nats.down:
		c.retry()
	default:
		c.connected, c.life = true, c.nats.life
		for _, sub := range c.subs {
			c.subscribe(sub)
		}
		if c.owner != nil && c.owner.hub != nil {
			c.nats.sim.say("%s has NATS again", c.name)
			c.owner.hub.again.connected()
		}
	}
}

// cut holds all that passes, for a while.
func (c *simConn) cut(d time.Duration) {
	s := c.nats.sim
	s.say("%s is cut off from NATS for %v", c.name, d)
	c.cuts++
	c.cutting++
	cutting := c.cutting
	s.after(s.between(2*pingPeriod, 3*pingPeriod), c.owner, func() {
		if c.cuts > 0 && c.cutting == cutting {
			c.lose()
		}
	})
	s.after(d, nil, func() {
		if c.cuts--; c.cuts > 0 {
			return
		}
		s.say("%s is not cut off any more", c.name)
		if c.life != c.nats.life {
			c.lose()
		}
		for _, w := range []*way{&c.up, &c.down} {
			stuck := w.stuck
			w.stuck = nil
			w.last = s.now
			for _, do := range stuck {
				c.pass(w, 0, do)
			}
		}
	})
}

// pass carries something, in order.
func (c *simConn) pass(w *way, delay time.Duration, do func()) {
	s := c.nats.sim
	w.last = max(w.last, s.now+delay)
	s.at(w.last, nil, func() {
		if c.cuts > 0 {
			w.stuck = append(w.stuck, do)
		} else {
			do()
		}
	})
}

func (c *simConn) latency(name string) time.Duration {
	return c.nats.sim.delay(c.name+name, 200*time.Microsecond, 5*time.Millisecond)
}

// send sends something to the server.
func (c *simConn) send(do func()) {
	life, epoch := c.life, c.epoch
	c.pass(&c.up, c.latency("up"), func() {
		if life != c.nats.life || c.nats.down {
			return
		}
		if epoch != c.epoch {
			c.nats.sim.summary.Late++
		}
		do()
	})
}

// deliver sends something to the client, on the connection of an epoch.
func (c *simConn) deliver(epoch int, do func()) {
	if epoch != c.epoch || c.closed {
		return
	}
	life := c.life
	c.pass(&c.down, c.latency("down"), func() {
		// The process may be paused. Then the kernel has it, in order.
		c.nats.sim.take(c.owner, func() {
			if epoch == c.epoch && life == c.nats.life && !c.closed {
				do()
			}
		})
	})
}

// take has the process of an owner do something when it runs, in order.
func (s *sim) take(owner *process, do func()) {
	switch {
	case owner == nil:
		do()
	case owner.dead:
	case owner.paused:
		owner.held = append(owner.held, event{owner: owner, do: do})
	default:
		do()
	}
}

// close is the end of the client: the kernel closes the connection.
func (c *simConn) close() {
	if c.closed {
		return
	}
	c.closed, c.connected = true, false
	c.nats.sim.after(c.latency("close"), nil, func() {
		c.nats.subs = slices.DeleteFunc(c.nats.subs, func(sub *simSub) bool { return sub.conn == c })
	})
}

func (c *simConn) subscribe(sub *simSub) {
	epoch := c.epoch
	c.send(func() {
		if sub.valid {
			known := *sub
			known.epoch = epoch
			c.nats.subs = append(c.nats.subs, &known)
		}
	})
}

// listen subscribes.
func (c *simConn) listen(subject string, take func(*nats.Msg)) *simSub {
	sub := &simSub{conn: c, subject: subject, take: take, valid: true}
	c.subs = append(c.subs, sub)
	if c.connected {
		c.subscribe(sub)
	}
	return sub
}

// publish sends a message, unless the client knows that there is no connection.
func (c *simConn) publish(m *nats.Msg) error {
	if !c.connected {
		return nats.ErrReconnectBufExceeded
	}
	epoch := c.epoch
	c.send(func() {
		found := false
		for _, sub := range c.nats.subs {
			if sub.subject == m.Subject {
				found = true
				copied := *m
				sub.conn.deliver(sub.epoch, func() { sub.take(&copied) })
			}
		}
		if !found && m.Reply != "" {
			c.deliver(epoch, func() { c.answered(m.Reply, nil) })
		}
	})
	return nil
}

// answered is the answer that no bridge listens.
func (c *simConn) answered(inbox string, m *nats.Msg) {
	for _, sub := range c.subs {
		if sub.subject == inbox {
			sub.take(m)
		}
	}
}

func (c *simConn) Publish(subject string, data []byte) (err error) {
	c.nats.sim.lock(func() {
		c.nats.sim.judge.published(c.owner, subject, data)
		err = c.publish(&nats.Msg{Subject: subject, Data: data})
	})
	return err
}

func (c *simConn) ChanSubscribe(subject string, to chan *nats.Msg) (sub subscription, err error) {
	c.nats.sim.lock(func() {
		sub = c.listen(subject, func(m *nats.Msg) {
			c.nats.sim.judge.came(c.owner, m)
			select {
			case to <- m:
			default: // a slow consumer
			}
		})
	})
	return sub, nil
}

// leave makes the server know that a subscription ends, and then the client that nothing more comes.
func (u *simSub) leave() {
	c, epoch := u.conn, u.conn.epoch
	c.send(func() {
		c.nats.subs = slices.DeleteFunc(c.nats.subs, func(o *simSub) bool {
			return o.conn == c && o.subject == u.subject && o.epoch == epoch
		})
		c.deliver(epoch, func() { u.valid = false })
	})
	c.subs = slices.DeleteFunc(c.subs, func(o *simSub) bool { return o == u })
}

func (u *simSub) Drain() (err error) {
	u.conn.nats.sim.lock(func() {
		if !u.conn.connected {
			err = nats.ErrConnectionReconnecting
			return
		}
		u.leave()
	})
	return err
}

func (u *simSub) Unsubscribe() error {
	u.conn.nats.sim.lock(func() {
		if u.valid {
			u.leave()
			u.valid = false
		}
	})
	return nil
}

func (u *simSub) IsValid() (valid bool) {
	u.conn.nats.sim.lock(func() { valid = u.valid })
	return valid
}

// restart ends the server, and starts it again with the data on its disk.
func (n *simNATS) restart(d time.Duration) {
	if n.down {
		return
	}
	s := n.sim
	s.summary.Restarts++
	s.say("NATS ends, for %v", d)
	n.down, n.subs = true, nil
	n.life++
	for _, c := range n.conns {
		s.after(c.latency("lost"), c.owner, func() {
			if c.cuts == 0 {
				c.lose()
			}
		})
	}
	s.after(d, nil, func() {
		s.say("NATS is there again")
		n.down = false
	})
}

// outage stops JetStream, as a full disk does, or an election.
func (n *simNATS) outage(d time.Duration) {
	s := n.sim
	s.summary.Outages++
	s.say("JetStream does not answer for %v", d)
	n.outages++
	s.after(d, nil, func() {
		s.say("JetStream answers again")
		n.outages--
	})
}

// put writes a value, or a tombstone, that expires.
func (n *simNATS) put(key string, value []byte) *simEntry {
	s := n.sim
	n.sequence++
	e := &simEntry{value: value, sequence: n.sequence}
	n.keys[key] = e
	if l := e.lease(); value == nil {
		s.say("the bucket has %d: a tombstone", e.sequence)
	} else {
		s.say("the bucket has %d: lease %d of %s, by %q", e.sequence, l.First, l.Holder, l.Bridge)
	}
	s.judge.stored(e)
	s.after(bridge.TTL+s.delay("expiry", 0, 50*time.Millisecond), nil, func() {
		switch {
		case n.keys[key] != e:
		case value != nil:
			s.summary.Expiries++
			n.put(key, nil).expired = true
		default:
			delete(n.keys, key)
		}
	})
	return e
}

// simStore is the bucket for a process.
type simStore struct{ process *process }

// ask has the server do something.
func (st simStore) ask(ctx context.Context, what string, do func() error) error {
	p := st.process
	return p.await(ctx, what, func(end func(error)) error {
		c := p.conn
		if !c.connected {
			return nats.ErrReconnectBufExceeded
		}
		epoch, life := c.epoch, c.life
		c.send(func() {
			delay := c.nats.sim.delay(c.name+what, 100*time.Microsecond, 20*time.Millisecond)
			c.nats.sim.after(max(delay, c.nats.slow), nil, func() {
				if c.nats.outages > 0 || life != c.nats.life {
					return
				}
				err := do()
				c.deliver(epoch, func() { end(err) })
			})
		})
		return nil
	})
}

// expect writes if the key has a sequence number; 0: none.
func (st simStore) expect(
	ctx context.Context, what, key string, value []byte, last uint64,
) (sequence uint64, err error) {
	n := st.process.conn.nats
	err = st.ask(ctx, what, func() error {
		var has uint64
		if e := n.keys[key]; e != nil {
			has = e.sequence
		}
		if has != last {
			return errLeased
		}
		n.sim.say("%s writes", st.process.name)
		sequence = n.put(key, value).sequence
		return nil
	})
	if err != nil {
		return 0, err
	}
	return sequence, nil
}

// create is like package jetstream's: it asks again if there is a tombstone.
func (st simStore) create(ctx context.Context, key string, value []byte) (uint64, error) {
	sequence, err := st.expect(ctx, "create", key, value, 0)
	if err == nil {
		return sequence, nil
	}
	n := st.process.conn.nats
	var tombstone uint64
	if asked := st.ask(ctx, "tombstone", func() error {
		if e := n.keys[key]; e != nil && e.value == nil {
			tombstone = e.sequence
		}
		return nil
	}); asked == nil && tombstone != 0 {
		return st.expect(ctx, "create again", key, value, tombstone)
	}
	return 0, err
}

func (st simStore) write(ctx context.Context, key string, value []byte, last uint64) (uint64, error) {
	return st.expect(ctx, "write", key, value, last)
}

func (st simStore) remove(ctx context.Context, key string, last uint64) error {
	_, err := st.expect(ctx, "remove", key, nil, last)
	return err
}

func (st simStore) last(ctx context.Context, key string) (value []byte, sequence uint64, is condition, err error) {
	n := st.process.conn.nats
	err = st.ask(ctx, "find", func() error {
		switch e := n.keys[key]; {
		case e == nil:
		case e.expired:
			is = expired
		case e.value != nil:
			value, sequence, is = e.value, e.sequence, given
		}
		return nil
	})
	if err != nil {
		return nil, 0, free, err
	}
	return value, sequence, is, nil
}

// lease returns the content of an entry.
func (e *simEntry) lease() (l entry) {
	if json.Unmarshal(e.value, &l) == nil && l.First == 0 {
		l.First = e.sequence
	}
	return l
}
