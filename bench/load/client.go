package load

import (
	"math"
	"time"

	"player/bench/stats"
	"player/server/tlsconn"
)

// client is one connection and its counts. Times are on
// CLOCK_MONOTONIC.
type client struct {
	parser parser
	group  *group
	index  int32 // among all clients
	fd     int
	tls    *tlsconn.Conn // nil: no TLS
	nats   *natsParser   // of the first client of a connection to NATS
	topic  *subscriber   // of a program of rosbridge
	phase  int           // Flood: bytes of a command that are sent
	ready  bool          // has had its reply
	closed bool
	// answers is Answer: the time that the frames since its last command stand
	// for.
	answers time.Duration

	frames int
	bytes  int
	bad    int
	last   time.Duration // arrival of the last frame, zero for none
	newest time.Duration // stamp of the newest data
	asked  time.Duration // Request: when

	interval stats.Histogram // errors
	latency  stats.Histogram
	age      stats.Age
	foot     time.Duration // since when nothing newer came, or the window's start
	footAge  time.Duration // the age then
}

// arrived counts a frame that was stamped at the given time. Data that the
// client has had before counts for the age, not for the latency: it measures
// how often the device has news, not how long the way takes.
func (c *client) arrived(now, stamp, period time.Duration, counting bool) {
	if counting {
		c.frames++
		if c.last != 0 && period != 0 {
			c.interval.Add(now - c.last - period)
		}
		if stamp > c.newest {
			c.latency.Add(now - stamp)
		}
		c.tooth(now)
	}
	c.last, c.newest = now, stamp
	if stamp != 0 {
		c.foot, c.footAge = now, now-stamp
	}
}

// begin starts the window.
func (c *client) begin(now time.Duration) {
	if c.foot != 0 {
		c.footAge += now - c.foot
		c.foot = now
	}
}

// tooth accounts for the age up to now. The age is unknown before the first
// stamp.
func (c *client) tooth(now time.Duration) {
	if c.foot != 0 {
		c.age.Tooth(c.footAge, now-c.foot)
	}
}

// sum is the result of all clients of a group.
func sum(g *group, clients []client) GroupResult {
	r := GroupResult{Name: g.Name, Clients: len(clients), Commands: g.commands, Round: DistOf(&g.round)}
	var interval, latency stats.Histogram
	var age stats.Age
	shares := make([]float64, 0, len(clients))
	for i := range clients {
		c := &clients[i]
		r.Frames += c.frames
		r.Bytes += c.bytes
		r.Bad += c.bad
		if c.closed {
			r.Closed++
		}
		interval.Merge(&c.interval)
		latency.Merge(&c.latency)
		age.Merge(&c.age)
		shares = append(shares, float64(c.frames))
		if m := time.Duration(math.Abs(float64(c.interval.Mean()))); m > r.WorstMean {
			r.WorstMean = m
		}
	}
	r.Interval, r.IntervalCDF = DistOf(&interval), interval.CDF()
	r.Latency = DistOf(&latency)
	r.AgeMean, r.AgeP50, r.AgeP99 = age.Mean(), age.Quantile(0.5), age.Quantile(0.99)
	r.Jain = stats.Jain(shares)
	return r
}
