package server

import (
	"context"
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

// Programs in the simulation: of ROS, of Foxglove and pages of the dashboard (simulation_ros, _viewer and _page_test.go).
// Each drives and may watch a robot by the servers for programs (simulation_site_test.go), and judges their messages. The
// commands of the servers for programs are judged by the messages that the programs have published.

const (
	// programDelay is the time that goroutines and messages of a program, and delays of the loop, may add.
	programDelay = 300 * time.Millisecond
	// programDeaf is after how long a server for programs gives up a program that has vanished: it pings one that is idle
	// each 5 s, and waits 10 s for an answer.
	programDeaf = 17 * time.Second
)

// hand is a kind of programs: what they do, and the form of their messages.
type hand interface {
	// dials returns the path of the WebSocket, and the subprotocols that the program asks for.
	dials() (path string, subprotocols []string)
	// silence is how long a command to the wheels is good.
	silence() time.Duration
	// publishes sends a command to the wheels.
	publishes(w velocity)
	// calls asks for a stop or a release, or configures the motors or the odometry. on is the argument of motors.
	calls(number int, service string, on bool)
	// acts does something else than to drive, by a number of 16.
	acts(event int)
	// gets judges a message.
	gets(kind websocket.MessageType, message []byte)
}

// simProgram is a program at a WebSocket.
type simProgram struct {
	site    *simSite
	name    int
	robot   *simRobot
	address string
	drives  bool
	hand    hand
	pipe    *programEnd
	out     chan programMessage // what its writer sends
	posts   chan programPost    // what its other connections send

	published []velocity
	topics    map[string]*simTopic
	calls     map[int]*simCall // that are not answered, by their numbers
	number    int              // of calls
	busy      bool             // it does not read
	since     time.Duration    // when it has begun to read again, or for the first time
	left      time.Duration    // when it has left or vanished; zero: it is there
	patience  time.Duration    // in which its end must be noticed
	taken     time.Duration    // of its newest stop of any driver

	mu   sync.Mutex
	open chan struct{} // closed while it reads
}

// programMessage is a message of a WebSocket.
type programMessage struct {
	kind websocket.MessageType
	data []byte
}

// programPost is a request with a connection of its own, which asks for a stop or a release.
type programPost struct {
	path string
	call int
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
		address: fmt.Sprintf("10.2.%d.%d", v.names/250, v.names%250+1), out: make(chan programMessage, 100),
		posts: make(chan programPost, 100), topics: map[string]*simTopic{}, calls: map[int]*simCall{}, since: s.now,
		open: make(chan struct{}),
	}
	switch s.random.IntN(3) {
	case 0:
		p.hand = &rosHand{p}
	case 1:
		s.summary.Viewers++
		p.hand = &viewerHand{simProgram: p}
	case 2:
		s.summary.Pages++
		p.hand = &pageHand{p}
	}
	close(p.open)
	s.note("%v connects: a %T, drives %v, robot %d", p, p.hand, p.drives, p.robot.index)
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
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return p.pipe, v.brings(theirs)
	}}
	defer transport.CloseIdleConnections()
	path, subprotocols := p.hand.dials()
	options := websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}, Subprotocols: subprotocols}
	ws, _, err := websocket.Dial(v.ctx, "ws://127.0.0.1"+path, &options)
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(1 << 20) // lists of topics have their schemas
	ctx, cancel := context.WithCancel(v.ctx)
	defer cancel()
	go p.post(ctx)
	go func() {
		for {
			select {
			case m := <-p.out:
				time.Sleep(time.Microsecond)      // time passes when the one before has had all its effects
				_ = ws.Write(ctx, m.kind, m.data) // the reader notices
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
		kind, message, err := ws.Read(ctx)
		if err != nil {
			return
		}
		v.want(p, func() {
			if p.left == 0 {
				p.hand.gets(kind, message)
			}
		})
	}
}

// post is the program's goroutine for requests, until ctx ends.
func (p *simProgram) post(ctx context.Context) {
	v := p.site
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		return ours, v.brings(pipeEnd{theirs, tcpAddr(p.address, 40001)})
	}}
	for {
		select {
		case post := <-p.posts:
			time.Sleep(time.Microsecond) // as for messages
			code := 0
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1"+post.path, nil)
			if err == nil {
				var response *http.Response
				if response, err = transport.RoundTrip(r); err == nil {
					code = response.StatusCode
					response.Body.Close()
				}
			}
			v.want(p, func() {
				p.site.sim.note("%v gets %d, %v from %s", p, code, err, post.path)
				p.site.sim.summary.Posted++
				if p.left == 0 && err == nil {
					p.answer(post.call, code == http.StatusNoContent)
				}
			})
		case <-ctx.Done():
			return
		}
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
	p.sendsAll(websocket.MessageText, fmt.Appendf(nil, format, args...))
}

func (p *simProgram) sendsAll(kind websocket.MessageType, message []byte) {
	p.site.sim.note("%v sends %q", p, message)
	p.site.act(func() {
		select {
		case p.out <- programMessage{kind, message}:
		default: // its socket takes nothing
		}
	})
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
		if p.publish(); s.chance(15) { // it has had enough: a page stops the robot, others give the topic up
			s.after(s.wait(100*time.Millisecond), func() {
				if p.left == 0 {
					p.hand.acts(10)
				}
			})
		}
		return
	}
	event := s.random.IntN(16)
	if _, emulated := p.robot.base.(*emulatedBase); emulated && (event == 8 || event == 9) {
		event = 0 // clients do that, and the judge of its pose knows when
	}
	switch event {
	case 5, 6:
		p.call("release", false)
	case 7:
		p.call("emergency_stop", true)
	case 8:
		p.callOther("motors", !s.chance(4))
	case 9:
		p.callOther("reset_odometry", false)
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
			p.goes(programDeaf)
			s.after(programDeaf+10*time.Second, func() { p.site.act(func() { p.pipe.Close() }) })
		}
	case 14, 15:
		p.publish()
	default:
		p.hand.acts(event)
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
	p.hand.publishes(w)
}

// call has the robot stopped or released, and expects the answer.
func (p *simProgram) call(service string, on bool) {
	s := p.site.sim
	c := &simCall{stop: p.robot.addStop(on), asked: s.now}
	if on {
		c.write = p.robot.history.write(s.now, nil, 0, 0, true)
	}
	p.request(service, on, c)
	p.expectAnswer(p.number, c)
}

func (p *simProgram) callOther(service string, on bool) {
	p.request(service, on, &simCall{asked: p.site.sim.now})
}

func (p *simProgram) request(service string, on bool, c *simCall) {
	p.number++
	p.calls[p.number] = c
	p.hand.calls(p.number, service, on)
}

// calledNothing is called for a call that is not made, or has no answer.
func (p *simProgram) calledNothing(number int) {
	c := p.calls[number]
	delete(p.calls, number)
	c.end(p.site.sim.now, true)
}

// twist is a velocity in JSON, as in ROS.
func (w velocity) twist() string {
	return fmt.Sprintf(`{"linear":{"x":%v},"angular":{"z":%v}}`, float64(w.speed)/1000, float64(w.turn)*math.Pi/180)
}

// expectAnswer is called when a stop or a release was asked for.
func (p *simProgram) expectAnswer(id int, c *simCall) {
	const patience = time.Second
	s := p.site.sim
	s.at(max(s.now, s.busy)+patience, func() {
		switch {
		case p.left != 0 || p.calls[id] != c || s.stopped != 0:
		case p.busy || s.now < p.since+patience || !s.awake(patience) || s.now < s.busy:
			p.expectAnswer(id, c)
		default:
			s.fail("%v: no answer to call %d of %v", p, id, c.asked)
		}
	})
}

// answer judges the answer to a call: it is true when it comes.
func (p *simProgram) answer(number int, result bool) {
	s := p.site.sim
	c := p.calls[number]
	if c == nil {
		return // about topics
	}
	delete(p.calls, number)
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
	if taken < p.since-programDelay {
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
