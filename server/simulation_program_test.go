package server

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// Programs of ROS in the simulation: each drives and watches a robot by the server for programs
// (simulation_site_test.go), and judges its messages. The commands of the server for programs are judged by the
// messages that the programs have published.

const (
	// rosSilence is how long a command of a program is good.
	rosSilence = 500 * time.Millisecond
	// rosDelay is the time that goroutines and messages of a program, and delays of the loop, may add.
	rosDelay = 300 * time.Millisecond
	// rosDeaf is after how long the server for programs gives up a program that has vanished: it pings one that is idle
	// each 5 s, and waits 10 s for an answer.
	rosDeaf = 17 * time.Second
)

// simProgram is a program at a WebSocket.
type simProgram struct {
	site    *simSite
	name    int
	robot   *simRobot
	address string
	drives  bool
	pipe    *programEnd
	out     chan string // what its writer sends

	published []velocity
	topics    map[string]*simTopic
	calls     map[string]*simCall // that are not answered
	number    int                 // of calls
	busy      bool                // it does not read
	since     time.Duration       // when it has begun to read again, or for the first time
	left      time.Duration       // when it has left or vanished; zero: it is there
	patience  time.Duration       // in which its end must be noticed

	mu   sync.Mutex
	open chan struct{} // closed while it reads
}

// velocity is a message that a program has published.
type velocity struct {
	at          time.Duration
	speed, turn int16
}

// simTopic is a topic that a program has subscribed to.
type simTopic struct {
	subscribed time.Duration // or renewed
	throttle   time.Duration
	queue      int
	taken      time.Duration   // of the newest data
	came       []time.Duration // when the newest messages have come, or were sent at the earliest
	waited     bool            // the next message may have been sent before the program has read again
	old        int             // messages from before it has read again
}

// simCall is a call of a service.
type simCall struct {
	stop  *stopOp // nil: another service
	write *op     // of a stop
	asked time.Duration
}

func (p *simProgram) String() string { return fmt.Sprintf("program %d", p.name) }

// newProgram connects a program.
func (v *simSite) newProgram() {
	s := v.sim
	if v.closed || s.closing {
		return
	}
	if v.names++; !s.programComes(v.names) {
		s.after(s.wait(5*time.Second), v.newProgram)
		return
	}
	s.summary.Programs++
	before := s.random
	defer func() { s.random = before }()
	s.random = s.stream(aProgram, v.names, 0)
	p := &simProgram{
		site: v, name: v.names, robot: s.robots[s.random.IntN(len(s.robots))], drives: s.chance(2),
		address: fmt.Sprintf("10.2.%d.%d", v.names/250, v.names%250+1), out: make(chan string, 100),
		topics: map[string]*simTopic{}, calls: map[string]*simCall{}, since: s.now, open: make(chan struct{}),
	}
	close(p.open)
	s.note("%v connects: drives %v, robot %d", p, p.drives, p.robot.index)
	v.programs = append(v.programs, p)
	v.act(func() {
		ours, theirs := net.Pipe()
		p.pipe = &programEnd{Conn: ours, closed: make(chan struct{})}
		go p.run(pipeEnd{theirs, tcpAddr(p.address, 40000)})
	})
	s.after(s.wait(time.Second), p.act)
}

// pipeEnd is the server's end of the connection of a program.
type pipeEnd struct {
	net.Conn
	remote net.Addr
}

func (e pipeEnd) RemoteAddr() net.Addr { return e.remote }

// programEnd is the program's end.
type programEnd struct {
	net.Conn
	dead   atomic.Bool // its computer has vanished: nothing comes any more
	once   sync.Once
	closed chan struct{}
}

func (e *programEnd) Read(p []byte) (int, error) {
	n, err := e.Conn.Read(p)
	if err == nil && e.dead.Load() {
		<-e.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (e *programEnd) Close() error {
	e.once.Do(func() { close(e.closed) })
	return e.Conn.Close()
}

// order is behind those of connections.
func (p *simProgram) order() int { return math.MaxInt32 + p.name }

// run is the program's goroutine, which reads.
func (p *simProgram) run(theirs net.Conn) {
	v := p.site
	defer v.want(p, p.ended)
	defer p.pipe.Close()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		select {
		case v.pipes <- theirs:
			return p.pipe, nil
		case <-v.ctx.Done():
			return nil, v.ctx.Err()
		}
	}
	transport := &http.Transport{DialContext: dial}
	defer transport.CloseIdleConnections()
	options := websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}}
	ws, _, err := websocket.Dial(v.ctx, "ws://127.0.0.1/", &options)
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ctx, cancel := context.WithCancel(v.ctx)
	defer cancel()
	go func() {
		for {
			select {
			case text := <-p.out:
				time.Sleep(time.Microsecond)                           // time passes when the one before has had all its effects
				_ = ws.Write(ctx, websocket.MessageText, []byte(text)) // the reader notices
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		p.mu.Lock()
		open := p.open
		p.mu.Unlock()
		select {
		case <-open:
		case <-ctx.Done():
			return
		}
		_, message, err := ws.Read(ctx)
		if err != nil {
			return
		}
		v.want(p, func() { p.gets(message) })
	}
}

// ended is called when the program's connection has ended.
func (p *simProgram) ended() {
	v := p.site
	s := v.sim
	s.note("%v has ended", p)
	p.goes(2 * time.Second)
	v.programs = slices.DeleteFunc(v.programs, func(o *simProgram) bool { return o == p })
	s.after(s.wait(5*time.Second), v.newProgram)
}

func (c *simCall) end(now time.Duration, maybe bool) {
	if c.stop != nil {
		c.stop.maybe = maybe
		c.stop.end(now)
	}
	if c.write != nil {
		c.write.end(now)
	}
}

// goes records that the program ends now, and expects that the server for programs notices it in some time: it must
// close the program's connections.
func (p *simProgram) goes(patience time.Duration) {
	s := p.site.sim
	if p.left == 0 {
		p.left, p.patience = s.now, patience
	} else {
		p.patience = min(p.patience, s.now+patience-p.left)
	}
	s.at(p.left+p.patience, p.mustBeGone)
}

// mustBeGone checks that the program has no connections any more. While the loop is paused, the server for programs
// waits for the answer to a program's call.
func (p *simProgram) mustBeGone() {
	s := p.site.sim
	if !s.awake(2*time.Second) || s.now < s.busy {
		s.at(max(s.woke, s.busy)+2*time.Second, p.mustBeGone)
		return
	}
	for _, c := range s.clients {
		if c.program == p && c.left == 0 {
			s.fail("%v has gone %v ago, and its connection %v is open", p, s.now-p.left, c)
		}
	}
	for _, c := range p.calls { // they may have been carried out in the meantime
		c.end(s.now, true)
	}
}

// drop ends the program's connection without a word.
func (p *simProgram) drop() {
	p.goes(2 * time.Second)
	p.site.act(func() { p.pipe.Close() })
}

// reads has the program read or not.
func (p *simProgram) reads(on bool) {
	s := p.site.sim
	if on == !p.busy || p.left != 0 {
		return
	}
	p.busy = !on
	s.note("%v reads: %v", p, on)
	p.site.act(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if on {
			close(p.open)
		} else {
			p.open = make(chan struct{})
		}
	})
	if on {
		p.since = s.now
	}
	for _, t := range p.topics {
		t.old, t.came, t.waited = 0, nil, on
	}
}

// sends sends a message.
func (p *simProgram) sends(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.site.sim.note("%v sends %s", p, text)
	p.site.act(func() {
		select {
		case p.out <- text:
		default: // its socket takes nothing
		}
	})
}

// topic returns the full name of a topic or a service.
func (p *simProgram) topic(name string) string {
	if len(p.site.sim.robots) == 1 {
		return "/" + name
	}
	return "/" + p.robot.name() + "/" + name
}

// act does something at random, and again after a while.
func (p *simProgram) act() {
	s := p.site.sim
	if p.left != 0 {
		return
	}
	mean := time.Second
	if p.drives {
		mean = 150 * time.Millisecond
	}
	if s.chance(8) { // its hand rests, perhaps while the wheels start
		mean = 5 * time.Second
	}
	s.after(s.wait(mean), p.act)
	if p.drives && !s.chance(15) {
		p.publish()
		return
	}
	event := s.random.IntN(16)
	if _, emulated := p.robot.base.(*emulatedBase); emulated && (event == 8 || event == 9) {
		event = 0 // clients do that, and the judge of its pose knows when
	}
	switch event {
	case 0, 1, 2, 3:
		p.subscribe()
	case 4:
		name := p.anyTopic()
		delete(p.topics, name)
		p.sends(`{"op":"unsubscribe","topic":%q}`, name)
	case 5, 6:
		p.call("release", "{}", false)
	case 7:
		p.call("emergency_stop", "{}", true)
	case 8:
		p.callOther("motors", fmt.Sprintf(`{"data":%v}`, !s.chance(4)))
	case 9:
		p.callOther("reset_odometry", "{}")
	case 10:
		p.sends(`{"op":"unadvertise","topic":%q}`, p.topic("cmd_vel"))
	case 11:
		p.reads(false)
		s.after(s.wait(5*time.Second), func() { p.reads(true) })
	case 12:
		switch s.random.IntN(8) {
		case 0:
			s.note("%v drops its connection", p)
			p.drop()
		case 1:
			s.note("%v vanishes", p)
			p.pipe.dead.Store(true)
			p.goes(rosDeaf)
			s.after(rosDeaf+10*time.Second, func() { p.site.act(func() { p.pipe.Close() }) })
		}
	case 13:
		p.sends(`{"op":"call_service","service":"/rosapi/topics"}`)
	default:
		p.publish()
	}
}

func (p *simProgram) anyTopic() string {
	return p.topic([]string{"odom", "odom", "battery_state", "sonar/range_0"}[p.site.sim.random.IntN(4)])
}

// subscribe subscribes to a topic, or again.
func (p *simProgram) subscribe() {
	s := p.site.sim
	t := &simTopic{
		subscribed: s.now, queue: 1 + s.random.IntN(4),
		throttle: time.Duration([]int{0, 0, 150, 300, 1000}[s.random.IntN(5)]) * time.Millisecond,
	}
	name := p.anyTopic()
	if before := p.topics[name]; before != nil { // the pace is the same, and so is the judge
		t.throttle, t.queue, t.taken, t.came, t.waited = before.throttle, before.queue, before.taken, before.came, before.waited
	}
	p.topics[name] = t
	renew := func() {
		if p.topics[name] == t {
			p.sends(`{"op":"subscribe","topic":%q,"throttle_rate":%d,"queue_length":%d}`, name, t.throttle.Milliseconds(), t.queue)
		}
	}
	if renew(); s.chance(3) { // this changes nothing
		s.after(110*time.Millisecond, renew)
		s.after(220*time.Millisecond, renew)
	}
}

// publish drives.
func (p *simProgram) publish() {
	s := p.site.sim
	w := velocity{s.now, int16(s.random.IntN(1001) - 500), int16(s.random.IntN(201) - 100)}
	if s.chance(8) {
		w.speed, w.turn = 0, 0
	}
	p.published = append(p.published, w)
	if len(p.published) > 200 {
		p.published = slices.Delete(p.published, 0, 100)
	}
	p.sends(`{"op":"publish","topic":%q,"msg":{"linear":{"x":%v},"angular":{"z":%v}}}`, p.topic("cmd_vel"),
		float64(w.speed)/1000, float64(w.turn)*math.Pi/180)
}

// call has the robot stopped or released, and expects the answer.
func (p *simProgram) call(service, args string, on bool) {
	s := p.site.sim
	c := &simCall{stop: p.robot.addStop(on), asked: s.now}
	if on {
		c.write = p.robot.history.write(s.now, nil, 0, 0, true)
	}
	p.request(service, args, c)
}

func (p *simProgram) callOther(service, args string) {
	p.request(service, args, &simCall{asked: p.site.sim.now})
}

func (p *simProgram) request(service, args string, c *simCall) {
	p.number++
	id := fmt.Sprintf("%q", fmt.Sprint(p.number))
	p.calls[id] = c
	p.sends(`{"op":"call_service","id":%s,"service":%q,"args":%s}`, id, p.topic(service), args)
	if c.stop != nil {
		p.expectAnswer(id, c)
	}
}

// expectAnswer is called when a stop or a release was asked for.
func (p *simProgram) expectAnswer(id string, c *simCall) {
	const patience = time.Second
	s := p.site.sim
	s.at(max(s.now, s.busy)+patience, func() {
		switch {
		case p.left != 0 || p.calls[id] != c || s.stopped != 0:
		case p.busy || s.now < p.since+patience || !s.awake(patience) || s.now < s.busy:
			p.expectAnswer(id, c)
		default:
			s.fail("%v: no answer to call %s of %v", p, id, c.asked)
		}
	})
}

// rosMessage is a message of the server for programs.
type rosMessage struct {
	Op, Topic, Service, Text string
	ID                       json.RawMessage
	Result                   bool
	Msg                      struct {
		Header struct{ Stamp struct{ Sec, Nanosec int64 } }
	}
}

// gets judges a message.
func (p *simProgram) gets(text []byte) {
	s := p.site.sim
	if p.left != 0 {
		return
	}
	var op struct {
		Op string
		ID json.RawMessage
	}
	if json.Unmarshal(text, &op) == nil && op.Op == "status" {
		s.note("%v gets %s", p, text)
		return // its msg is a text
	}
	var m rosMessage
	if err := json.Unmarshal(text, &m); err != nil {
		s.fail("%v gets %s: %v", p, text, err)
	}
	switch m.Op {
	case "publish":
		stamp := time.Unix(m.Msg.Header.Stamp.Sec, m.Msg.Header.Stamp.Nanosec)
		p.data(m.Topic, stamp.Sub(p.site.epoch))
	case "service_response":
		s.note("%v gets %s", p, text[:min(len(text), 200)])
		p.answer(string(m.ID), m.Result)
	default:
		s.fail("%v gets %s", p, text)
	}
}

// answer judges the answer to a call: it is true when it comes.
func (p *simProgram) answer(id string, result bool) {
	s := p.site.sim
	c := p.calls[id]
	if c == nil {
		return // about topics
	}
	delete(p.calls, id)
	c.end(s.now, !result)
	switch {
	case c.stop == nil:
	case !result && !p.robot.wasGone(c.stop.call):
		s.fail("%v may not stop or release", p)
	case !result: // there was no robot to stop
	case c.stop.on:
		p.robot.expectHeld(nil, c.stop)
	}
}

// data judges data of a topic.
func (p *simProgram) data(topic string, taken time.Duration) {
	s := p.site.sim
	s.summary.Messages++
	t := p.topics[topic]
	if t == nil {
		return // it has unsubscribed just now
	}
	if taken < t.taken-2*slowness || taken > s.now+slowness {
		s.fail("%v: data of %s taken at %v, after data taken at %v", p, topic, taken, t.taken)
	}
	t.taken = max(t.taken, taken)
	if taken < p.since-rosDelay {
		if t.old++; p.since > t.subscribed && t.old > 2*t.queue+2 {
			s.fail("%v: %d messages of %s from before it has read again, with a queue of %d", p, t.old, topic, t.queue)
		}
	}
	came := s.now
	if t.waited && taken < p.since {
		came = taken
	}
	t.came, t.waited = append(t.came, came), false
	if n := len(t.came) - 3; n >= 0 {
		if span := s.now - t.came[n]; span < t.throttle-20*time.Millisecond { // one may have been late
			s.fail("%v: three messages of %s in %v, at one in %v", p, topic, span, t.throttle)
		}
		t.came = t.came[n:]
	}
	p.judgeAge(t, topic, taken)
}

// judgeAge judges whether data is the newest of the robot, unless its program, its subscription or the loop has
// just begun.
func (p *simProgram) judgeAge(t *simTopic, topic string, taken time.Duration) {
	s := p.site.sim
	steady := s.now > max(t.subscribed, p.since)+t.throttle+3*time.Second && s.awake(3*time.Second)
	if !steady || p.robot.garbled > s.now-5*time.Second {
		return
	}
	for _, newer := range slices.Backward(p.robot.reports) {
		if newer.at > s.now-500*time.Millisecond || newer.unsure {
			continue
		}
		if taken < newer.at-2*slowness {
			s.fail("%v: data of %s taken at %v, at one in %v, and the robot has reported at %v", p, topic, taken, t.throttle, newer.at)
		}
		return
	}
}
