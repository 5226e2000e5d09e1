package server

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/coder/websocket"
)

// rosHand is a program of ROS.
type rosHand struct{ *simProgram }

func (p *rosHand) dials() (string, []string) { return "/", nil }
func (p *rosHand) silence() time.Duration    { return 500 * time.Millisecond }

func (p *rosHand) publishes(w velocity) {
	p.sends(`{"op":"publish","topic":%q,"msg":%s}`, p.topic("cmd_vel"), w.twist())
}

func (p *rosHand) calls(number int, service string, on bool) {
	args := "{}"
	if service == "motors" {
		args = fmt.Sprintf(`{"data":%v}`, on)
	}
	p.sends(`{"op":"call_service","id":"%d","service":%q,"args":%s}`, number, p.topic(service), args)
}

func (p *rosHand) acts(event int) {
	switch event {
	case 4:
		name := p.anyTopic()
		delete(p.topics, name)
		p.sends(`{"op":"unsubscribe","topic":%q}`, name)
	case 10:
		p.sends(`{"op":"unadvertise","topic":%q}`, p.topic("cmd_vel"))
		p.expectStands(p.site.sim.now)
	case 13:
		p.sends(`{"op":"call_service","service":"/rosapi/topics"}`)
	default:
		p.subscribe()
	}
}

// topic returns the full name of a topic or a service.
func (p *rosHand) topic(name string) string {
	if len(p.site.sim.robots) == 1 {
		return "/" + name
	}
	return "/" + p.robot.name() + "/" + name
}

func (p *rosHand) anyTopic() string {
	return p.topic([]string{"odom", "odom", "battery_state", "sonar/range_0"}[p.site.sim.random.IntN(4)])
}

// subscribe subscribes to a topic, or again.
func (p *rosHand) subscribe() {
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

// rosMessage is a message of the server for programs.
type rosMessage struct {
	Op, Topic, Service, Text string
	ID                       json.RawMessage
	Result                   bool
	Msg                      struct {
		Header struct{ Stamp struct{ Sec, Nanosec int64 } }
	}
}

func (p *rosHand) gets(_ websocket.MessageType, text []byte) {
	s := p.site.sim
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
		id, _ := strconv.Unquote(string(m.ID)) // none: about topics
		number, _ := strconv.Atoi(id)
		p.answer(number, m.Result)
	default:
		s.fail("%v gets %s", p, text)
	}
}
