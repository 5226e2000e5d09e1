package bridge

import (
	"hash/fnv"
	"time"
)

const (
	// BeatPeriod is the time between two messages of a bridge that it is alive.
	BeatPeriod = 100 * time.Millisecond
	// BeatLimit is how long a bridge counts as alive after its last message. Then
	// the others take over its robots. That, and one BeatPeriod, is less than a lease
	// of a bridge that is killed lasts in the bucket, which is at least
	// TTL - WritePeriod, so they find its leases.
	BeatLimit = 5 * BeatPeriod
	// maxPeers is how many other bridges are known: more than any fleet has, so that
	// made-up names do not fill the memory.
	maxPeers = 1000
)

// Peers are the bridges of a fleet. They share the robots without a leader: each
// computes the bridge of each robot from the same names.
type Peers struct {
	Self string
	seen map[string]time.Time // other bridges: when they were last heard
}

// Heard notes a message of a bridge.
func (p *Peers) Heard(id string, now time.Time) {
	if _, known := p.seen[id]; id == p.Self || !known && len(p.seen) == maxPeers {
		return
	}
	if p.seen == nil {
		p.seen = map[string]time.Time{}
	}
	p.seen[id] = now
}

// Left notes that a bridge ends.
func (p *Peers) Left(id string) { delete(p.seen, id) }

// Alive returns how many bridges are alive, with this one.
func (p *Peers) Alive(now time.Time) int {
	n := 1
	for _, at := range p.seen {
		if now.Sub(at) < BeatLimit {
			n++
		}
	}
	return n
}

// Mine reports whether this bridge serves a robot: of all bridges alive, the hash of
// its name and the robot's is the greatest (rendezvous hashing). When a bridge comes
// or goes, only robots that it serves change their bridge.
func (p *Peers) Mine(robot string, now time.Time) bool {
	mine := weight(p.Self, robot)
	for id, at := range p.seen {
		if now.Sub(at) >= BeatLimit {
			delete(p.seen, id)
			continue
		}
		if other := weight(id, robot); other > mine || other == mine && id > p.Self {
			return false
		}
	}
	return true
}

func weight(id, robot string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id + " " + robot))
	// FNV's high bits hardly depend on the last bytes; this is the finalizer of
	// MurmurHash3.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
