package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"player/fleet/bridge"
	"player/fleet/hub"
	"player/server/status"
)

// lookLimit bounds the answers of the bridge and of NATS to an observer. A side that has
// not answered by then is not well: leases last half as long. It is less than the least
// timeout of programs that read metrics, so that they get the other answers.
const lookLimit = 2 * time.Second

// observer reports the state of the bridge and of NATS to an operator: /metrics and
// /healthz.
type observer struct {
	fleet, bridge string
	recorded      bool // with -record
	began         time.Time
	conn          *nats.Conn
	js            jetstream.JetStream
	reports       chan<- chan<- hub.Report
	server        *server.Server // nil: NATS is another program
	troubles      troubles
}

// troubles counts troubles of the connection to NATS.
type troubles struct {
	dropped atomic.Uint64 // how often messages were dropped because this program was too slow
	errors  atomic.Uint64 // others: rights that are missing
}

// observation is the state of a bridge and of NATS at one moment.
type observation struct {
	fleet, bridge string
	recorded      bool
	uptime        time.Duration
	report        *hub.Report // nil: the bridge starts, or hangs
	connection    connection
	leases        [bridge.Groups]stream
	recording     stream    // zero if nothing is recorded
	server        *embedded // nil: NATS is another program
}

// connection is the state of the connection to NATS.
type connection struct {
	connected        bool
	rtt              time.Duration // 0: there was no answer
	reconnects       uint64
	dropped, errors  uint64 // troubles
	buffered         int    // bytes that wait to be sent
	in, out          uint64 // messages
	inBytes, outByte uint64
}

// stream is one of JetStream's.
type stream struct {
	err             error // why it cannot be used
	messages, bytes uint64
	most            int64 // bytes
}

// embedded is the server of NATS in this program.
type embedded struct {
	clients, subscriptions int
	slow                   uint64 // clients that were disconnected because they did not keep up
	off                    bool   // JetStream
	stored                 uint64 // bytes on the disk
	most                   int64
}

// observe asks the bridge and NATS at the same time.
func (o *observer) observe(ctx context.Context) observation {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	seen := observation{fleet: o.fleet, bridge: o.bridge, recorded: o.recorded, uptime: time.Since(o.began)}
	var all sync.WaitGroup
	all.Go(func() { seen.report = o.ask(ctx) })
	all.Go(func() { seen.connection = o.connection(ctx) })
	for group := range seen.leases {
		all.Go(func() { seen.leases[group] = o.stream(ctx, hub.Leases(o.fleet, group)) })
	}
	if o.recorded {
		all.Go(func() { seen.recording = o.stream(ctx, bridge.Stream(o.fleet)) })
	}
	if o.server != nil {
		seen.server = o.embedded()
	}
	all.Wait()
	return seen
}

func (o *observer) ask(ctx context.Context) *hub.Report {
	answer := make(chan hub.Report, 1)
	select {
	case o.reports <- answer:
		r := <-answer // the bridge sends it at once
		return &r
	case <-ctx.Done():
		return nil
	}
}

func (o *observer) connection(ctx context.Context) connection {
	stats := o.conn.Stats()
	c := connection{
		connected: o.conn.IsConnected(), reconnects: stats.Reconnects,
		dropped: o.troubles.dropped.Load(), errors: o.troubles.errors.Load(),
		in: stats.InMsgs, inBytes: stats.InBytes, out: stats.OutMsgs, outByte: stats.OutBytes,
	}
	c.buffered, _ = o.conn.Buffered() // none while it is not connected
	if c.connected {
		if sent := time.Now(); o.conn.FlushWithContext(ctx) == nil {
			c.rtt = time.Since(sent)
		}
	}
	return c
}

func (o *observer) stream(ctx context.Context, name string) stream {
	if !o.conn.IsConnected() { // a request would wait for the connection
		return stream{err: errors.New("the connection to NATS is lost")}
	}
	found, err := o.js.Stream(ctx, name)
	if err != nil {
		return stream{err: err}
	}
	info := found.CachedInfo()
	return stream{messages: info.State.Msgs, bytes: info.State.Bytes, most: info.Config.MaxBytes}
}

func (o *observer) embedded() *embedded {
	s := &embedded{clients: o.server.NumClients(), subscriptions: int(o.server.NumSubscriptions()), slow: uint64(o.server.NumSlowConsumers())}
	js, err := o.server.Jsz(nil)
	if s.off = err != nil || js.Disabled; !s.off {
		s.stored, s.most = js.Store, js.Config.MaxStore
	}
	return s
}

// problems returns why the bridge cannot do its work.
func (o observation) problems() []string {
	all := []string{}
	add := func(wrong bool, text string) {
		if wrong {
			all = append(all, text)
		}
	}
	add(o.report == nil, "the bridge serves no robots: it starts, or it hangs")
	add(!o.connection.connected, "the connection to NATS is lost")
	add(o.connection.connected && o.connection.rtt == 0, "NATS does not answer")
	if o.connection.connected {
		for group, s := range o.leases {
			add(s.err != nil, fmt.Sprintf("no program gets a lease of a robot of group %d: %v", group+1, s.err))
		}
		add(o.recording.err != nil, fmt.Sprintf("nothing is recorded: %v", o.recording.err))
	}
	add(o.server != nil && o.server.off, "JetStream has stopped: is the disk full?")
	return all
}

// verdict is the reply to GET /healthz.
type verdict struct {
	Well     bool     `json:"well"`
	Fleet    string   `json:"fleet"`
	Bridge   string   `json:"bridge"`
	Problems []string `json:"problems"` // why it is not well
	// Robots are those that this bridge serves and that are in trouble, which is not the
	// bridge's fault: the trouble by name.
	Robots map[string]string `json:"robots"`
}

func (o observation) verdict() verdict {
	v := verdict{Fleet: o.fleet, Bridge: o.bridge, Problems: o.problems(), Robots: map[string]string{}}
	v.Well = len(v.Problems) == 0
	if o.report == nil {
		return v
	}
	for _, r := range o.report.Robots {
		if trouble := r.Status.Trouble(); trouble != "" {
			v.Robots[r.Name] = trouble
		}
	}
	return v
}

// health replies with the verdict: 200, or 503 if the bridge is not well.
func (o *observer) health(w http.ResponseWriter, r *http.Request) {
	v := o.observe(r.Context()).verdict()
	w.Header().Set("Content-Type", "application/json")
	if !v.Well {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(v) // fails if the reader has disconnected
}

// metrics replies with Prometheus text.
func (o *observer) metrics(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", status.ContentType)
	_, _ = w.Write(o.observe(r.Context()).metrics()) // fails if the reader has disconnected
}

// metrics returns the observation as Prometheus text.
func (o observation) metrics() []byte {
	var t status.Text
	t.Single("player_fleet_info", status.Gauge, "Always 1; the labels are the names of the fleet and of this bridge.", 1, "fleet", o.fleet, "bridge", o.bridge)
	t.Single("player_fleet_uptime_seconds", status.Gauge, "Time since the bridge was started.", o.uptime.Seconds())
	t.Single("player_fleet_well", status.Gauge, "0 while the bridge cannot do its work; /healthz says why.", status.One(len(o.problems()) == 0))
	well := !slices.ContainsFunc(o.leases[:], func(s stream) bool { return s.err != nil })
	t.Single("player_fleet_leases_well", status.Gauge, "0 while one of the buckets with leases does not answer: no program gets a lease of its group.", status.One(well))
	o.connection.metrics(&t)
	if o.recorded {
		t.Single("player_fleet_recording_well", status.Gauge, "0 while nothing is recorded: JetStream does not answer.", status.One(o.recording.err == nil))
		t.Single("player_fleet_recording_messages", status.Gauge, "Messages of the recording.", float64(o.recording.messages))
		t.Single("player_fleet_recording_bytes", status.Gauge, "Size of the recording.", float64(o.recording.bytes))
		t.Single("player_fleet_recording_max_bytes", status.Gauge, "Size from which on the oldest messages are deleted.", float64(o.recording.most))
	}
	if o.server != nil {
		o.server.metrics(&t)
	}
	if o.report == nil {
		return t.Bytes
	}
	t.Single("player_fleet_bridges", status.Gauge, "Bridges that are alive, as this one knows.", float64(o.report.Bridges), "fleet", o.fleet)
	t.Single("player_fleet_hangs_total", status.Counter, "Times that this bridge has hung for so long that others took its robots.", float64(o.report.Hangs))
	for _, f := range robotFamilies {
		t.Family(f.name, f.kind, f.help)
		for _, r := range o.report.Robots {
			if v, known := f.value(r); known {
				t.Sample(f.name, v, "fleet", o.fleet, "robot", r.Name)
			}
		}
	}
	return t.Bytes
}

func (c connection) metrics(t *status.Text) {
	t.Single("player_fleet_nats_connected", status.Gauge, "1 while the bridge is connected to NATS.", status.One(c.connected))
	t.Family("player_fleet_nats_rtt_seconds", status.Gauge, "Time until NATS has answered; missing: it has not.")
	if c.rtt > 0 {
		t.Sample("player_fleet_nats_rtt_seconds", c.rtt.Seconds())
	}
	t.Single("player_fleet_nats_reconnects_total", status.Counter, "Times that the bridge has connected to NATS again.", float64(c.reconnects))
	t.Single("player_fleet_nats_dropped_total", status.Counter, "Times that the bridge was too slow and began to drop messages of NATS.", float64(c.dropped))
	t.Single("player_fleet_nats_errors_total", status.Counter, "Other errors of the connection to NATS: missing rights.", float64(c.errors))
	t.Single("player_fleet_nats_buffered_bytes", status.Gauge, "Bytes that wait to be sent to NATS.", float64(c.buffered))
	t.Single("player_fleet_nats_received_total", status.Counter, "Messages received from NATS.", float64(c.in))
	t.Single("player_fleet_nats_received_bytes_total", status.Counter, "Bytes of these messages.", float64(c.inBytes))
	t.Single("player_fleet_nats_sent_total", status.Counter, "Messages sent to NATS.", float64(c.out))
	t.Single("player_fleet_nats_sent_bytes_total", status.Counter, "Bytes of these messages.", float64(c.outByte))
}

func (s embedded) metrics(t *status.Text) {
	t.Single("player_fleet_server_clients", status.Gauge, "Connections to the server of NATS in this program.", float64(s.clients))
	t.Single("player_fleet_server_subscriptions", status.Gauge, "Subscriptions there.", float64(s.subscriptions))
	t.Single("player_fleet_server_slow_total", status.Counter, "Times that the server disconnected a client that did not keep up.", float64(s.slow))
	t.Single("player_fleet_server_jetstream", status.Gauge, "0 when JetStream of the server has stopped, for example because the disk is full.", status.One(!s.off))
	t.Single("player_fleet_server_stored_bytes", status.Gauge, "Bytes that JetStream of the server has on the disk.", float64(s.stored))
	t.Single("player_fleet_server_stored_max_bytes", status.Gauge, "Bytes that it may have there.", float64(s.most))
}

// robotFamilies have a sample for each robot that value returns true for.
var robotFamilies = [...]struct {
	name, kind, help string
	value            func(hub.RobotReport) (float64, bool)
}{
	{"player_fleet_robot_served", status.Gauge, "1 if this bridge serves the robot.", func(r hub.RobotReport) (float64, bool) { return status.One(r.Served), true }},
	{"player_fleet_robot_well", status.Gauge, "0 while data that has a listener cannot be read, a device does not work, or the robot's server refuses the bridge.",
		func(r hub.RobotReport) (float64, bool) { return status.One(r.Status.Trouble() == ""), r.Served }},
	{"player_fleet_robot_stopped", status.Gauge, "1 while the emergency stop holds; known while the status has a listener.", func(r hub.RobotReport) (float64, bool) {
		return status.One(r.Status.Stopped != nil && *r.Status.Stopped), r.Status.Stopped != nil
	}},
	{"player_fleet_robot_driven", status.Gauge, "1 while a program has the lease of position.", func(r hub.RobotReport) (float64, bool) {
		return status.One(r.Status.Holders["position"] != ""), r.Served
	}},
	{"player_fleet_messages_total", status.Counter, "Messages of the robot's data sent to NATS.", count(func(c hub.Counts) uint64 { return c.Messages })},
	{"player_fleet_messages_bytes_total", status.Counter, "Bytes of their payloads.", count(func(c hub.Counts) uint64 { return c.Bytes })},
	{"player_fleet_commands_total", status.Counter, "Commands passed on to the robot.", count(func(c hub.Counts) uint64 { return c.Commands })},
	{"player_fleet_commands_refused_total", status.Counter, "Commands dropped: without a lease, wrong, or not obeyed by the robot.", count(func(c hub.Counts) uint64 { return c.Refused })},
	{"player_fleet_leases_total", status.Counter, "Leases given, or taken over from another bridge.", count(func(c hub.Counts) uint64 { return c.Leases })},
	{"player_fleet_leases_lapsed_total", status.Counter, "Leases that ended because they were not renewed.", count(func(c hub.Counts) uint64 { return c.Lapsed })},
}

// count makes a value of one of the counts.
func count(of func(hub.Counts) uint64) func(hub.RobotReport) (float64, bool) {
	return func(r hub.RobotReport) (float64, bool) { return float64(of(r.Counts)), r.Served }
}
