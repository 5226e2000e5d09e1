package hub

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"player/fleet/bridge"
)

// driver is a program that asks for the lease, drives for a while, and releases it or falls silent. Then it
// sends a command with its earlier token.
type driver struct {
	sim    *sim
	name   string
	random *rand.Rand
	conn   *simConn
	ended  bool
	asked  int
	limit  time.Duration // for which it waits for an answer
	served time.Duration // when a command of it was obeyed last, by an answer
}

// answerLimit is how long a driver waits for an answer.
const answerLimit = 1500 * time.Millisecond

func leaseSubject() string { return bridge.Subject("lab", robotName, "position", bridge.Lease) }

func commandSubject() string { return bridge.Subject("lab", robotName, "position", bridge.Command) }

// drive starts a driver.
func (s *sim) drive() {
	n := len(s.drivers)
	d := &driver{sim: s, name: fmt.Sprint("driver", n), limit: answerLimit,
		random: rand.New(rand.NewPCG(s.seed, uint64(2+n)))}
	d.conn = s.nats.connect(d.name, nil)
	s.drivers = append(s.drivers, d)
	s.after(s.between(0, time.Second), nil, d.acquire)
}

// reply is an answer.
type reply struct {
	OK     bool
	Token  string
	Error  string
	Holder string
	lost   bool // there was no answer, or no bridge listens
}

// request sends a message, and calls then with the answer.
func (d *driver) request(subject, token string, body []byte, then func(reply)) {
	d.asked++
	inbox := fmt.Sprint("_INBOX.", d.name, ".", d.asked)
	m := &nats.Msg{Subject: subject, Reply: inbox, Data: body, Header: nats.Header{}}
	if token != "" {
		m.Header.Set(bridge.HeaderLease, token)
	}
	answered := false
	var sub *simSub
	end := func(r reply) {
		if !answered {
			answered = true
			sub.leave()
			then(r)
		}
	}
	sub = d.conn.listen(inbox, func(m *nats.Msg) {
		var r reply
		if m == nil {
			end(reply{lost: true})
		} else if err := json.Unmarshal(m.Data, &r); err != nil {
			d.sim.breaks("%s is answered %s", d.name, m.Data)
		} else {
			end(r)
		}
	})
	if err := d.conn.publish(m); err != nil {
		d.sim.after(time.Millisecond, nil, func() { end(reply{lost: true}) })
		return
	}
	d.sim.after(d.limit, nil, func() { end(reply{lost: true}) })
}

// acquire asks for the lease until it gets it.
func (d *driver) acquire() {
	if d.ended {
		return
	}
	d.request(leaseSubject(), "", []byte(d.name), func(r reply) {
		if r.Token == "" {
			d.sim.judge.refused(d, r)
			d.sim.after(time.Duration(20+d.random.IntN(100))*time.Millisecond, nil, d.acquire)
			return
		}
		d.sim.judge.granted(d, r)
		d.steer(r.Token, 1+d.random.IntN(8)*d.random.IntN(8))
	})
}

// steer sends some commands, and then ends in one of several ways.
func (d *driver) steer(token string, left int) {
	s := d.sim
	if left > 0 && !d.ended {
		next := func() { s.after(50*time.Millisecond, nil, func() { d.steer(token, left-1) }) }
		switch d.random.IntN(8) {
		case 0, 1, 2:
			d.command(token, true, func(r reply) {
				if r.lost || r.OK {
					next()
				} else { // the lease has ended
					d.stop(token)
				}
			})
		case 3:
			d.request(leaseSubject(), token, nil, func(r reply) {
				if r.Token != "" {
					s.summary.Renewals++
				}
				next()
			})
		default:
			d.command(token, false, nil)
			next()
		}
		return
	}
	if d.random.IntN(2) == 0 {
		d.request(leaseSubject(), token, []byte("release"), func(r reply) {
			if r.OK {
				s.judge.released(d, token)
			}
			d.stop(token)
		})
		if d.random.IntN(2) == 0 { // it does not know that it must not drive any more
			for i := range 20 {
				s.after(time.Duration(i)*50*time.Millisecond, nil, func() { d.command(token, false, nil) })
			}
		}
		return
	}
	d.stop(token)
}

// stop is silent for a while, sends commands that must not be obeyed or are late, and asks again.
func (d *driver) stop(token string) {
	s := d.sim
	s.after(time.Duration(d.random.IntN(2000))*time.Millisecond, nil, func() {
		number, _, _ := strings.Cut(token, "-")
		d.command(number+"-MADEUP", true, func(reply) {
			d.command(token, true, func(reply) { s.after(time.Millisecond, nil, d.acquire) })
		})
	})
}

// command sends a command with a value that no other has.
func (d *driver) command(token string, asked bool, then func(reply)) {
	value := d.sim.judge.sends(d, token)
	body := binary.BigEndian.AppendUint32(nil, uint32(value))
	if asked {
		d.request(commandSubject(), token, body, func(r reply) {
			d.sim.judge.answered(d, value, r)
			then(r)
		})
		return
	}
	m := &nats.Msg{Subject: commandSubject(), Data: body, Header: nats.Header{}}
	m.Header.Set(bridge.HeaderLease, token)
	_ = d.conn.publish(m) // it is lost
}

// numberOf is the fencing number of a token.
func numberOf(token string) uint64 {
	number, _, _ := strings.Cut(token, "-")
	n, _ := strconv.ParseUint(number, 10, 64) // 0 is no lease
	return n
}
