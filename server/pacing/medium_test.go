package pacing

import (
	"math"
	"slices"
	"testing"
	"time"

	"player/e2e/acceptance"
	"player/timers"
)

const ms = time.Millisecond

// headers is the size of the headers of TCP, IP and Ethernet on the wire, in bytes.
const headers = 66

// sender does the server's part: it sends the frames and keeps the timers.
type sender struct {
	network *Network
	write   func(now time.Duration, c paced) (bytes int)
	timers  timers.Queue
	poll    *timers.Timer
	retries map[paced]*timers.Timer
	now     time.Duration
}

// paced is a connection that has its client.
type paced interface {
	Connection
	client() *Client
}

func newSender(write func(now time.Duration, c paced) (bytes int)) *sender {
	s := &sender{network: NewNetwork(), write: write, retries: map[paced]*timers.Timer{}, now: time.Second}
	s.poll = timers.NewTimer(func(now time.Duration) time.Duration {
		s.network.Poll(now)
		for c, answer, ok := s.network.Next(now); ok; c, answer, ok = s.network.Next(now) {
			s.follow(now, c.(paced), answer)
		}
		if !s.network.Waits() {
			return 0
		}
		return now + PollPeriod
	})
	return s
}

func (s *sender) due(asked bool, c paced) { s.follow(s.now, c, c.client().Due(s.now, asked)) }

func dueAll[C paced](s *sender, all []C) {
	for _, c := range all {
		s.due(false, c)
	}
}

func (s *sender) follow(now time.Duration, c paced, answer Answer) {
	switch {
	case answer == Now:
		c.client().Sent(now, s.write(now, c))
	case answer == Later && !s.poll.Armed():
		s.timers.Set(s.poll, now+PollPeriod)
	case answer == Aside && s.retries[c] == nil:
		s.retries[c] = timers.NewTimer(func(now time.Duration) time.Duration {
			answer := c.client().Retry(now)
			if answer == Aside {
				return c.client().RetryAt(now)
			}
			s.follow(now, c, answer)
			return 0
		})
		fallthrough
	case answer == Aside && !s.retries[c].Armed():
		s.timers.Set(s.retries[c], c.client().RetryAt(now))
	}
}

func (s *sender) leave(c paced) {
	if retry := s.retries[c]; retry != nil {
		s.timers.Stop(retry)
	}
	c.client().Leave()
}

// run lets the clock jump from deadline to deadline.
func (s *sender) run(d time.Duration) {
	for end := s.now + d; ; {
		at, ok := s.timers.Next()
		if !ok || at > end {
			s.now = end
			return
		}
		s.now = max(s.now, at)
		s.timers.Run(s.now, 0)
	}
}

// medium is a fake network. Frames wait in the transmit queue of this computer, then in the queue of a
// router, and are acknowledged by their receiver.
type medium struct {
	rate       float64       // bytes a second, zero: as fast as it is written
	routerRate float64       // the same for the router
	trip       time.Duration // half of the round trip
	burst      time.Duration // of silence, after which the network takes as much at once as in this time

	*sender
	grid  time.Duration // frames that are sent when due are sent at its multiples
	ticks *timers.Ticks[*peer]
	peers []*peer

	free, routerFree time.Duration // when the queues have run empty
	busy             time.Duration // how long the network has been sending
	checks, frames   int
	deepest          int // bytes in the transmit queue at most
	queued           []packet
}

type packet struct {
	bytes  int
	leaves time.Duration
}

// peer is a client on the medium.
type peer struct {
	net      *medium
	pace     Client
	size     int
	asked    bool
	delays   bool            // it delays acknowledgements by 40 ms
	stopped  []time.Duration // its process does not run from stopped[0] to stopped[1]
	vanishes time.Duration   // it is out of range from then on
	buffer   int             // bytes its kernel takes while it does not read; zero: any number
	reads    time.Duration   // it reads this often; zero: at once

	sent     []segmentSent
	arrivals []arrival
}

type segmentSent struct {
	bytes         int
	leaves, acked time.Duration
}

type arrival struct{ taken, came time.Duration }

func newMedium() *medium {
	n := &medium{}
	n.sender = newSender(func(now time.Duration, c paced) int { return n.send(now, c.(*peer)) })
	n.ticks = timers.NewTicks(&n.timers, func(_ time.Duration, p *peer) { n.due(p.asked, p) })
	return n
}

// join adds clients that want size bytes at rate Hz.
func (n *medium) join(count int, rate, size int, change func(p *peer)) {
	for range count {
		p := &peer{net: n, size: size}
		if change != nil {
			change(p)
		}
		n.network.Join(&p.pace, p)
		n.peers = append(n.peers, p)
		if rate > 0 {
			n.grid = min(5*ms, time.Second/time.Duration(rate))
			n.ticks.Join(p, time.Second/time.Duration(rate), n.now)
		}
	}
}

// send makes a frame and writes it, like the server.
func (n *medium) send(now time.Duration, p *peer) int {
	n.frames++
	s := segmentSent{bytes: p.size, leaves: now, acked: math.MaxInt64}
	wire := float64(p.size + headers)
	if n.rate > 0 {
		takes := time.Duration(wire / n.rate * float64(time.Second))
		n.free = max(n.free, now-n.burst) + takes
		n.busy += takes
		s.leaves = max(n.free, now)
	}
	n.queued = slices.DeleteFunc(n.queued, func(q packet) bool { return q.leaves <= now })
	n.queued = append(n.queued, packet{p.size, s.leaves})
	depth := 0
	for _, q := range n.queued {
		depth += q.bytes
	}
	n.deepest = max(n.deepest, depth)
	arrives := s.leaves
	if n.routerRate > 0 {
		n.routerFree = max(n.routerFree, arrives) + time.Duration(wire/n.routerRate*float64(time.Second))
		arrives = n.routerFree
	}
	arrives += n.trip
	if p.vanishes == 0 || arrives < p.vanishes {
		p.receive(now, arrives, &s)
	}
	p.sent = append(p.sent, s)
	return p.size
}

// receive decides when the frame is read and acknowledged.
func (p *peer) receive(taken, arrives time.Duration, s *segmentSent) {
	read := arrives
	if len(p.stopped) == 2 && arrives >= p.stopped[0] && arrives < p.stopped[1] {
		read = p.stopped[1]
	}
	if p.reads > 0 {
		read = (arrives/p.reads + 1) * p.reads
	}
	p.arrivals = append(p.arrivals, arrival{taken, read})
	acked := arrives
	if p.delays || read > arrives {
		acked += 40 * ms
	}
	// A second segment is acknowledged at once by a process that reads.
	if read == arrives {
		pending := s.bytes
		for _, o := range p.sent {
			if o.acked > arrives+p.net.trip && o.acked != math.MaxInt64 {
				pending += o.bytes
			}
		}
		if pending > max(segment, s.bytes) {
			acked = arrives
			for i := range p.sent {
				p.sent[i].acked = min(p.sent[i].acked, arrives+p.net.trip)
			}
		}
	}
	if p.buffer > 0 && p.unread(arrives) > p.buffer { // the window is closed
		acked = read
	}
	s.acked = acked + p.net.trip
}

func (p *peer) unread(at time.Duration) (frames int) {
	for _, a := range p.arrivals {
		if a.came > at {
			frames += p.size
		}
	}
	return frames
}

func (p *peer) Backlog() (bytes, room int) {
	p.net.checks++
	p.sent = slices.DeleteFunc(p.sent, func(s segmentSent) bool { return s.acked <= p.net.now && s.leaves <= p.net.now })
	for _, s := range p.sent {
		if s.acked > p.net.now {
			bytes += s.bytes
		}
	}
	if p.buffer == 0 {
		return bytes, math.MaxInt
	}
	return bytes, max(p.buffer-p.unread(p.net.now), 0)
}

func (p *peer) client() *Client { return &p.pace }

func (p *peer) Queued() bool {
	p.net.checks++
	return slices.ContainsFunc(p.sent, func(s segmentSent) bool { return s.leaves > p.net.now })
}

// ages returns mean and 99th percentile of the age of the newest data that the
// client has, sampled each millisecond from start on.
func (p *peer) ages(start time.Duration) (mean, p99 time.Duration) {
	var all []time.Duration
	next, newest := 0, time.Duration(-1)
	for at := start; at < p.net.now; at += ms {
		for next < len(p.arrivals) && p.arrivals[next].came <= at {
			newest = max(newest, p.arrivals[next].taken)
			next++
		}
		if newest >= 0 {
			all = append(all, at-newest)
			mean += at - newest
		}
	}
	if len(all) == 0 {
		return math.MaxInt64, math.MaxInt64
	}
	slices.Sort(all)
	return mean / time.Duration(len(all)), all[len(all)*99/100]
}

// result sums up the time since the function was called.
type result struct {
	frames    int
	checks    float64 // a frame
	use       float64 // part of the time in which the network was sending
	jain      float64
	mean, p99 time.Duration // of the age
	late      int           // frames that were not sent in their tick
}

func (n *medium) measure(d time.Duration) result {
	start := n.now
	n.checks, n.frames, n.busy = 0, 0, 0
	before := make([]int, len(n.peers))
	for i, p := range n.peers {
		before[i] = len(p.arrivals)
	}
	n.run(d)
	r := result{frames: n.frames, checks: float64(n.checks) / float64(max(n.frames, 1)), use: n.busy.Seconds() / d.Seconds()}
	var sum, squares float64
	for i, p := range n.peers {
		got := float64(len(p.arrivals) - before[i])
		sum += got
		squares += got * got
		mean, p99 := p.ages(start)
		r.mean += mean / time.Duration(len(n.peers))
		r.p99 = max(r.p99, p99)
		for _, a := range p.arrivals[before[i]:] {
			if a.taken%n.grid != 0 {
				r.late++
			}
		}
	}
	r.jain = sum * sum / (float64(len(n.peers)) * squares)
	return r
}

// floor is the least mean age with clients on one network: half a round, and
// one frame's way.
func floor(clients, size int, rate float64) time.Duration {
	frame := time.Duration(float64(size+headers) / rate * float64(time.Second))
	return time.Duration(clients)*frame/2 + frame
}

const wireless = 1_900_000 / 8.0

func TestHealthyLinks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		size   int
		rate   int
		trip   time.Duration
		change func(i int, p *peer)
		checks float64 // a frame at most
		late   int     // frames at most that are not sent when due
	}{
		{"readers", 807, 50, 0, nil, 0.2, 0},
		{"small frames", 85, 50, 0, nil, 0.2, 0},
		{"delayed acknowledgements", 807, 50, 0, func(_ int, p *peer) { p.delays = true }, 0.2, 0},
		{"small frames, delayed acknowledgements", 85, 50, 0, func(_ int, p *peer) { p.delays = true }, 0.2, 0},
		{"fast, delayed acknowledgements", 85, 1000, 0, func(_ int, p *peer) { p.delays = true }, 0.2, 0},
		{"round trip of 10 ms", 807, 50, 5 * ms, nil, 0.2, 0},
		{"slow readers among others", 807, 50, 0, func(i int, p *peer) {
			if i%5 == 0 {
				p.reads = 300 * ms
			}
		}, 0.3, 500},
		{"one that does not read", 807, 50, 0, func(i int, p *peer) {
			if i == 7 {
				p.buffer, p.reads = 10000, time.Hour
			}
		}, 0.2, 0},
		{"one that vanishes", 807, 50, 0, func(i int, p *peer) {
			if i == 7 {
				p.vanishes = 3 * time.Second
			}
		}, 0.2, 0},
		{"all stopped for 150 ms", 807, 50, 0, func(_ int, p *peer) { p.stopped = []time.Duration{4 * time.Second, 4*time.Second + 150*ms} }, 0.25, 50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newMedium()
			n.trip = tt.trip
			i := 0
			n.join(50, tt.rate, tt.size, func(p *peer) {
				if tt.change != nil {
					tt.change(i, p)
				}
				i++
			})
			n.run(2 * time.Second)
			r := n.measure(10 * time.Second)
			t.Logf("%+v", r)
			if r.checks > tt.checks {
				t.Errorf("%.2f checks a frame, want at most %.2f", r.checks, tt.checks)
			}
			if r.late > tt.late {
				t.Errorf("%d of %d frames were not sent when due", r.late, r.frames)
			}
			full := 50 * tt.rate * 10
			if least := full * 9 / 10; r.frames < least && tt.name != "slow readers among others" {
				t.Errorf("%d frames of %d", r.frames, full)
			}
			if n.network.queue.len() > 0 {
				t.Error("a healthy network has a queue")
			}
		})
	}
}

func TestFullLinks(t *testing.T) {
	for _, tt := range []struct {
		name         string
		clients      int
		rate, size   int
		local        float64 // bytes/s
		router       float64
		trip         time.Duration
		delays       bool
		mean, p99    float64 // times the floor
		leastUse     float64
		deepestBytes int
	}{
		{"50 x 50 Hz", 50, 50, 807, wireless, 0, 0, false, 1.15, 2.2, 0.99, 20 * 807},
		{"50 x 50 Hz, delayed acknowledgements", 50, 50, 807, wireless, 0, 0, true, 1.15, 2.2, 0.99, 20 * 807},
		{"50 x 10 Hz", 50, 10, 807, wireless, 0, 0, false, 1.25, 2.2, 0.99, 20 * 807},
		{"10 x 50 Hz", 10, 50, 807, wireless, 0, 0, false, 1.25, 2.5, 0.99, 20 * 807},
		{"50 x 50 Hz, Ethernet", 50, 50, 807, 10e6 / 8, 0, 0, false, 1.25, 2.5, 0.99, 40 * 807},
		{"round trip of 100 ms", 50, 50, 807, wireless, 0, 50 * ms, false, 1.15, 2.2, 0.99, 20 * 807},
		// A queue further away holds one frame of each client: the age is a round
		// more than where the queue is ours.
		{"behind a router", 50, 50, 807, 0, wireless, 0, false, 3, 4.5, 0, 64 * 807},
		{"behind a router, round trip of 20 ms", 50, 50, 807, 0, wireless, 10 * ms, false, 3, 4.5, 0, 64 * 807},
		{"behind a router, delayed acknowledgements", 50, 50, 807, 0, wireless, 0, true, 3, 4.5, 0, 64 * 807},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newMedium()
			n.rate, n.routerRate, n.trip = tt.local, tt.router, tt.trip
			n.join(tt.clients, tt.rate, tt.size, func(p *peer) { p.delays = tt.delays })
			n.run(3 * time.Second)
			n.deepest = 0
			seconds := acceptance.Rounds(10, 20)
			r := n.measure(time.Duration(seconds) * time.Second)
			least := floor(tt.clients, tt.size, max(tt.local, tt.router)) + tt.trip
			t.Logf("%+v floor %v deepest %d window %d", r, least, n.deepest, n.network.window)
			carried := float64(r.frames) * float64(tt.size+headers) / float64(seconds)
			if part := carried / max(tt.local, tt.router); part < 0.97 {
				t.Errorf("the network is used for %.3f of the time", part)
			}
			if r.use < tt.leastUse || r.jain < 0.99 {
				t.Errorf("use %.3f, Jain %.4f", r.use, r.jain)
			}
			if r.mean > time.Duration(tt.mean*float64(least)) || r.p99 > time.Duration(tt.p99*float64(least)) {
				t.Errorf("mean age %v, p99 %v: more than %.2f and %.2f times %v", r.mean, r.p99, tt.mean, tt.p99, least)
			}
			if n.deepest > tt.deepestBytes {
				t.Errorf("%d bytes in the transmit queue", n.deepest)
			}
		})
	}
}

// A tick of fifty on a slow network that carries them all: not all at once.
func TestSlowLinkGetsFramesOneByOne(t *testing.T) {
	for _, tt := range []struct {
		rate, size  int
		burst       time.Duration // a network that saves up while it is idle: what has left is no reason to send more at once
		most        time.Duration // percent of the age with one frame at a time, each with the data of its moment
		leastFrames int
	}{
		{1, 807, 0, 110, 50 * 19},
		{10, 348, 12 * ms, 125, 50 * 200},
	} {
		n := newMedium()
		n.rate, n.burst = wireless, tt.burst
		n.join(50, tt.rate, tt.size, nil)
		n.run(5 * time.Second)
		n.deepest = 0
		r := n.measure(20 * time.Second)
		ideal := time.Second/time.Duration(2*tt.rate) + floor(0, tt.size, wireless)
		t.Logf("%+v ideal %v deepest %d", r, ideal, n.deepest)
		if r.mean > ideal*tt.most/100 {
			t.Errorf("mean age %v, want at most %d %% of %v", r.mean, tt.most, ideal)
		}
		if n.deepest > 16*tt.size {
			t.Errorf("%d bytes in the transmit queue at once", n.deepest)
		}
		if r.frames < tt.leastFrames || r.frames > 50*20*tt.rate {
			t.Errorf("%d frames", r.frames)
		}
	}
}
