package hub

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"player/fleet/bridge"
)

// judge knows all that bridges and programs do, and compares it with docs/fleet/subjects.md.
type judge struct {
	sim      *sim
	commands []command             // by value
	leases   map[uint64]*leaseLife // by number
	secrets  map[string]bool       // of leases
	last     *process              // that has written a command when all was healed
	newest   uint64                // lease that was given to anybody, or of which a command was written
	told     uint64                // the newest lease of which a program was answered
}

// command is one that a program has sent.
type command struct {
	driver *driver
	token  string
	number uint64
	obeyed bool
}

// leaseLife is the life of a lease so far.
type leaseLife struct {
	token    string
	holder   string
	bridge   string                   // that has written it
	stored   time.Duration            // when the bucket has got it last
	by       map[string]time.Duration // the same, by a bridge
	released bool                     // its holder was answered ok
}

func newJudge(s *sim) judge {
	return judge{sim: s, commands: make([]command, 1), leases: map[uint64]*leaseLife{}, secrets: map[string]bool{}}
}

// slack is for messages on their way.
const slack = 40 * time.Millisecond

// stored notes an entry of the bucket.
func (j *judge) stored(e *simEntry) {
	if e.value == nil {
		return
	}
	l := e.lease()
	life := j.leases[l.First]
	if life == nil {
		if j.secrets[l.Secret] {
			j.sim.breaks("two leases have one secret")
		}
		j.secrets[l.Secret] = true
		life = &leaseLife{token: l.token(), holder: l.Holder, bridge: l.Bridge, by: map[string]time.Duration{}}
		j.leases[l.First] = life
	}
	life.stored, life.by[l.Bridge] = j.sim.now, j.sim.now
	if l.Bridge != "" && l.Bridge != life.bridge {
		j.sim.summary.Adoptions++
		life.bridge = l.Bridge
	}
}

// sends gives a command a value.
func (j *judge) sends(d *driver, token string) (value int) {
	j.commands = append(j.commands, command{driver: d, token: token, number: numberOf(token)})
	return len(j.commands) - 1
}

// came notes a bridge's input.
func (j *judge) came(p *process, m *nats.Msg) {
	token := m.Header.Get(bridge.HeaderLease)
	if l := j.leases[numberOf(token)]; l != nil && l.token == token {
		p.heard[numberOf(token)] = j.sim.now
	}
	if m.Subject == commandSubject() {
		p.took[int(binary.BigEndian.Uint32(m.Data))] = j.sim.now
	}
}

// published notes a bridge's answer.
func (j *judge) published(p *process, subject string, data []byte) {
	var r reply
	if json.Unmarshal(data, &r) == nil && r.Token != "" {
		j.sim.say("%s answers %s: lease %d", p.name, subject, numberOf(r.Token))
		j.told = max(j.told, numberOf(r.Token))
		j.newest = max(j.newest, j.told)
		if l := j.leases[numberOf(r.Token)]; l != nil && j.sim.now > l.stored+bridge.TTL {
			j.sim.breaks("%s answers that lease %d is valid, which the bucket has got %v ago",
				p.name, numberOf(r.Token), j.sim.now-l.stored)
		}
	}
}

// wrote judges a command that a bridge writes to the robot.
func (j *judge) wrote(l *link, value int) {
	s := j.sim
	c := j.commands[value]
	life := j.leases[c.number]
	s.summary.Commands++
	s.say("%s writes command %d of lease %d", l.owner.name, value, c.number)
	switch {
	case life == nil || life.token != c.token:
		s.breaks("%s obeys a token that was never given", l.owner.name)
	case c.number < j.newest:
		s.breaks("%s obeys lease %d after lease %d was given", l.owner.name, c.number, j.newest)
	case life.released:
		s.breaks("%s obeys lease %d after its release was answered", l.owner.name, c.number)
	case s.now > l.owner.took[value]+bridge.TTL:
		s.breaks("%s obeys a command that came %v ago", l.owner.name, s.now-l.owner.took[value])
	case s.now > life.by[l.owner.name]+bridge.TTL+time.Millisecond:
		s.breaks("%s obeys lease %d, which the bucket has got from it %v ago",
			l.owner.name, c.number, s.now-life.by[l.owner.name])
	}
	if s.now > stormTime+healLimit {
		if j.last != nil && j.last != l.owner {
			s.breaks("%s and %s drive, though all faults are healed", j.last.name, l.owner.name)
		}
		j.last = l.owner
	}
	j.newest = max(j.newest, c.number)
	l.owner.heard[c.number] = s.now
}

func (j *judge) obeyed(l *link, value int) {
	j.sim.summary.Obeyed++
	j.sim.say("the robot obeys command %d, of %s", value, l.owner.name)
	j.commands[value].obeyed = true
}

// answered judges the answer to a command.
func (j *judge) answered(d *driver, value int, r reply) {
	if !r.OK {
		j.sim.summary.Refusals++
		return
	}
	j.sim.summary.Confirmed++
	d.served = j.sim.now
	if !j.commands[value].obeyed {
		j.sim.breaks("%s is answered that command %d was obeyed, and it was not", d.name, value)
	}
}

// granted judges the answer to a request for a lease.
func (j *judge) granted(d *driver, r reply) {
	j.sim.summary.Grants++
	j.sim.say("%s has lease %d", d.name, numberOf(r.Token))
	if l := j.leases[numberOf(r.Token)]; l == nil || l.token != r.Token || l.holder != d.name || r.Holder != d.name {
		j.sim.breaks("%s is answered %+v, and the bucket never had that", d.name, r)
	}
}

// refused judges why a program does not get the lease.
func (j *judge) refused(d *driver, r reply) {
	if r.lost || r.Holder == "" {
		return
	}
	j.sim.summary.Refusals++
	for _, l := range j.leases {
		// It ends a TTL after the bucket has got it, and the answer may be late.
		if l.holder == r.Holder && j.sim.now-l.stored < bridge.TTL+answerLimit {
			return
		}
	}
	j.sim.breaks("%s is answered that %s has the lease, which has ended for long", d.name, r.Holder)
}

// released notes the answer to a release.
func (j *judge) released(d *driver, token string) {
	j.sim.summary.Releases++
	j.sim.say("%s has released lease %d", d.name, numberOf(token))
	j.leases[numberOf(token)].released = true
}

// always judges the robot at each moment.
func (j *judge) always() {
	s, l := j.sim, j.sim.robot.driver
	if l == nil || j.commands[s.robot.value].driver == nil {
		return
	}
	p, number := l.owner, j.commands[s.robot.value].number
	// The robot's server stops the devices of a bridge that does not go on.
	if since := s.now - l.heard; since > bridge.CommandLifetime+slack {
		s.breaks("the robot drives %v after the last word of %s", since, p.name)
	}
	if p.dead || s.robot.cuts[p] > 0 || s.now < p.disturbed+slack {
		return
	}
	if number < j.told && !l.closed { // a bridge that hangs is no excuse
		s.breaks("the robot drives by lease %d of %s after lease %d was given", number, p.name, j.told)
	}
	if p.paused {
		return
	}
	if since := s.now - p.heard[number]; since > bridge.TTL+slack {
		s.breaks("the robot drives %v after %s has heard of lease %d", since, p.name, number)
	}
	if since := s.now - j.leases[number].stored; since > bridge.TTL+slack {
		s.breaks("the robot drives %v after the bucket has heard of lease %d", since, number)
	}
}

// healed judges the end of a story.
func (j *judge) healed() {
	s := j.sim
	for _, d := range s.drivers {
		if d.served > stormTime+healLimit {
			s.summary.Healed++
			return
		}
	}
	s.breaks("no program drives, %v after all faults were healed", healLimit+calmTime)
}
