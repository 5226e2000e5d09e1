// Package hub connects robots to NATS: it reads the data that has listeners, passes on
// the commands of the holders of leases, and shares the robots with other bridges. Package
// bridge has the rules.
package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"player/devices"
	"player/fleet/bridge"
)

// Robot is a robot of the fleet.
type Robot struct {
	Name    string         // bridge.CheckName
	Address string         // host:port of its server
	Page    string         // URL of its dashboard; empty: none is known
	Origin  *bridge.Origin // nil: unknown
}

// Config configures a hub.
type Config struct {
	Bridge    string // the name of this bridge, which no other has
	Fleet     string // bridge.CheckName
	Robots    []Robot
	Replicas  int    // of the bucket with the leases, and of the recording
	Domain    string // of JetStream, where these are; empty: the server's
	Recording Recording
	Log       *zap.Logger
	// Found delivers robots that are found while the hub runs; nil: none. A name
	// that is known is ignored.
	Found <-chan Robot
	// Reports asks for reports: each channel, which must have room, is sent one. Nil:
	// no reports. A bridge that starts, or hangs, sends none.
	Reports <-chan chan<- Report
}

const (
	// readyLimit bounds the wait for JetStream at the start: a cluster elects a leader.
	readyLimit = 30 * time.Second
	// readyPause is the time between two attempts.
	readyPause = 500 * time.Millisecond
	// maxFound is how many robots may be found: every computer on the network can announce some,
	// and each takes a dozen goroutines and subscriptions.
	maxFound = 1000
	// maxSearches is how many leases are searched at once. JetStream answers one request after the other,
	// also those that this bridge has given up: with all 300 of a hundred robots at once, a JetStream that
	// needs longer than bucketLimit for them would answer the old ones only, for ever.
	maxSearches = 64
)

// hub is one bridge.
type hub struct {
	Config
	world
	nats  *nats.Conn
	peers bridge.Peers
	found int // robots, while it runs
	hangs uint64
	parts func(r Robot, s *state) []part // of serving a robot

	awake    atomic.Pointer[time.Time] // when share went on last, which it does each BeatPeriod
	searches chan struct{}             // as many values as leases are searched

	balances atomic.Bool // this bridge balances the leaders of the buckets
	again    again       // the connection to NATS is there again

	stoppers map[string]*stopper // by robot
	stopping sync.WaitGroup      // the stoppers, and others that end with Run
}

// errHandedOver is the cause of the end of a robot's goroutines when another bridge
// serves it from now on.
var errHandedOver = errors.New("another bridge serves the robot")

// Run connects the robots until ctx ends. Before it returns, the robots that a program
// drove have been stopped and their leases given up. ready is called when requests are
// served.
func Run(ctx context.Context, conn *nats.Conn, c Config, ready func()) error {
	h := newHub(c, world{clock: realTime{}, bus: realBus{conn}})
	h.nats, h.parts = conn, h.allParts
	h.drive = func(ctx context.Context, r Robot) (driving, error) {
		c, err := h.dial(ctx, r)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer h.stopping.Wait()
	defer cancel()
	h.stopping.Go(func() { h.again.run(ctx, conn) })
	for _, r := range h.Robots { // a stop does not wait for JetStream
		h.stand(ctx, r)
	}
	js, err := JetStream(conn, c.Domain)
	if err != nil {
		return err
	}
	if err := h.openLeases(ctx, js); err != nil {
		return err
	}
	h.stopping.Go(func() { h.balance(ctx, js) })
	if err := h.record(ctx, js); err != nil {
		return err
	}
	return h.share(ctx, ready, func() {
		if err := conn.FlushTimeout(time.Second); err != nil && conn.IsConnected() {
			h.Log.Warn("the last messages were not sent", zap.Error(err))
		}
	})
}

func newHub(c Config, w world) *hub {
	return &hub{Config: c, world: w, stoppers: map[string]*stopper{}, peers: bridge.Peers{Self: c.Bridge},
		again: again{next: make(chan struct{})}, searches: make(chan struct{}, maxSearches)}
}

// share serves the robots that are this bridge's until ctx ends. Then flush sends the rest.
func (h *hub) share(ctx context.Context, ready, flush func()) error {
	beats := make(chan *nats.Msg, 256)
	sub, err := h.bus.ChanSubscribe(h.beatSubject(), beats)
	if err != nil {
		return err
	}
	defer sub.Unsubscribe()

	serving := map[string]*served{}
	defer func() {
		for _, s := range serving {
			s.cancel(context.Cause(ctx))
		}
		for _, s := range serving {
			<-s.done
		}
		h.beat(leaving)
		flush()
	}()

	// Bridges that run already are heard within a period.
	settled := h.Now().Add(2 * bridge.BeatPeriod)
	due := h.After(bridge.BeatPeriod)
	h.beat(alive)
	for last := h.Now(); ; last = h.Now() {
		h.awake.Store(&last)
		waiting := beats
		if ctx.Err() != nil || len(due) > 0 { // which come first
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil
		case m := <-waiting:
			h.heard(m)
		case r := <-h.Found:
			h.add(ctx, r)
		case to := <-h.Reports:
			to <- h.report(serving)
		case <-due:
			due = h.After(bridge.BeatPeriod)
			h.beat(alive)
		}
		if gap := h.Now().Sub(last); gap >= bridge.BeatLimit {
			// This bridge has hung, and others may have given leases of its robots. Its
			// knowledge of them is old: it begins again, as a bridge that has just started.
			h.hangs++
			h.Log.Warn("this bridge has hung, and takes its robots back", zap.Duration("for", gap))
			h.handOver(serving)
			clear(serving)
			settled = h.Now().Add(2 * bridge.BeatPeriod)
		}
		if h.Now().Before(settled) {
			continue
		}
		h.assign(ctx, serving)
		if ready != nil {
			ready()
			ready = nil
		}
	}
}

// hung reports whether this bridge has hung, and share does not know it yet.
func (h *hub) hung() bool { return h.Now().Sub(*h.awake.Load()) >= bridge.BeatLimit }

// served is a robot that this bridge serves.
type served struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
	state  *state
}

// assign begins to serve the robots that are this bridge's, and hands over others.
func (h *hub) assign(ctx context.Context, serving map[string]*served) {
	now := h.Now()
	h.balances.Store(h.peers.Mine(balancer, now))
	for _, r := range h.Robots {
		s, mine := serving[r.Name], h.peers.Mine(r.Name, now)
		switch {
		case s == nil && mine:
			serving[r.Name] = h.serve(ctx, r)
		case s != nil && !mine:
			h.handOver(map[string]*served{r.Name: s})
			delete(serving, r.Name)
		}
	}
}

// handOver ends to serve robots. Their leases go on.
func (h *hub) handOver(robots map[string]*served) {
	for name, s := range robots {
		h.stoppers[name].state.Store(nil)
		s.cancel(errHandedOver)
	}
	for _, s := range robots {
		<-s.done
	}
}

// stand makes a robot stop for emergency stops until ctx ends.
func (h *hub) stand(ctx context.Context, r Robot) {
	s := &stopper{hub: h, robot: r}
	h.stoppers[r.Name] = s
	h.stopping.Go(func() {
		if err := s.run(ctx); err != nil && ctx.Err() == nil {
			h.Log.Error("this bridge does not stop a robot", zap.String("robot", r.Name), zap.Error(err))
		}
	})
}

// serve starts the goroutines of a robot: one reads, one configures, one publishes its
// status, and one for each device that takes commands.
func (h *hub) serve(ctx context.Context, r Robot) *served {
	ctx, cancel := context.WithCancelCause(ctx)
	state := newState(r)
	s := &served{cancel: cancel, done: make(chan struct{}), state: state}
	var all sync.WaitGroup
	for _, p := range h.parts(r, state) {
		all.Go(func() {
			if err := p.run(ctx); err != nil && ctx.Err() == nil {
				h.Log.Error("a robot is not served", zap.String("robot", r.Name), zap.String("part", p.name), zap.Error(err))
			}
		})
	}
	h.stoppers[r.Name].state.Store(state)
	go func() {
		all.Wait()
		close(s.done)
	}()
	return s
}

// part is one of the goroutines of a robot.
type part struct {
	name string
	run  func(context.Context) error
}

func (h *hub) allParts(r Robot, s *state) []part {
	all := []part{
		{"data", newReader(h, r, s).run},
		{"status", (&watcher{hub: h, robot: r, state: s}).run},
		{"configurations", (&configurer{hub: h, robot: r}).run},
		{"floor plan", planner{h, r}.run},
		{"pictures", newPictures(h, r, s).run},
		{"further devices", (&lister{hub: h, robot: r, state: s}).run},
	}
	for _, spec := range devices.Lettered() {
		if spec.CommandSize > 0 {
			all = append(all, part{spec.Name, newController(h, r, spec, s).run})
		}
	}
	return all
}

// add adds a robot that was found.
func (h *hub) add(ctx context.Context, r Robot) {
	if slices.ContainsFunc(h.Robots, func(known Robot) bool { return known.Name == r.Name }) {
		return
	}
	if h.found++; h.found > maxFound {
		h.Log.Warn("a robot is found and not joined: too many are", zap.String("robot", r.Name), zap.Int("most", maxFound))
		return
	}
	h.Log.Info("found a robot", zap.String("robot", r.Name), zap.String("address", r.Address))
	h.Robots = append(h.Robots, r)
	h.stand(ctx, r)
}

// The states of a bridge in its beats.
const (
	alive   = "alive"
	leaving = "leaving"
)

type beat struct {
	Bridge string `json:"bridge"`
	State  string `json:"state"` // alive or leaving
}

func (h *hub) beatSubject() string { return "player." + h.Fleet + ".bridges" }

func (h *hub) beat(state string) {
	// A beat that is lost with the connection is followed by another.
	_ = h.bus.Publish(h.beatSubject(), mustJSON(beat{h.peers.Self, state}))
}

func (h *hub) heard(m *nats.Msg) {
	var b beat
	if err := json.Unmarshal(m.Data, &b); err != nil || bridge.CheckName(b.Bridge) != nil {
		return
	}
	if b.State == leaving {
		h.peers.Left(b.Bridge)
		return
	}
	h.peers.Heard(b.Bridge, h.Now())
}

// mustJSON returns v as JSON. v consists of strings, numbers and maps.
func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// read reads the body of a message to a robot, and the token of a lease, which is in a
// header or in the body. An answer goes where the body says if the message is no request.
func (h *hub) read(r Robot, m *nats.Msg) (b bridge.Body, token string, err error) {
	b, err = bridge.ReadBody(m.Data)
	if m.Reply == "" && b.Answer != "" {
		m.Reply = bridge.AnswerSubject(h.Fleet, r.Name, b.Answer)
	}
	return b, cmp.Or(m.Header.Get(bridge.HeaderLease), b.Token), err
}

// answer answers a message if it is a request.
func (h *hub) answer(m *nats.Msg, v any) {
	if m.Reply != "" {
		_ = h.bus.Publish(m.Reply, mustJSON(v)) // the client that asked notices the lost connection
	}
}

// refusal is the answer to a request that was not carried out.
type refusal struct {
	Error  string `json:"error"`
	Holder string `json:"holder,omitempty"` // of the lease
}

// done is the answer to a request that was carried out.
type done struct {
	OK bool `json:"ok"`
}

// JetStream returns JetStream in a domain; empty: the server's.
func JetStream(conn *nats.Conn, domain string) (jetstream.JetStream, error) {
	if domain == "" {
		return jetstream.New(conn)
	}
	return jetstream.NewWithDomain(conn, domain)
}

// whenReady calls do until it succeeds or JetStream had enough time to start. what names
// the thing that do opens.
func (h *hub) whenReady(ctx context.Context, what string, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	for {
		attempt, end := context.WithTimeout(ctx, readyLimit/6)
		err := do(attempt)
		end()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, err)
		case <-time.After(readyPause):
		}
	}
}
