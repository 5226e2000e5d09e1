package server

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/coder/websocket"
)

// viewerHand is a program of Foxglove.
type viewerHand struct {
	*simProgram
	channels, services map[string]uint32 // of the server; nil: their lists have not come
	subscribed         map[uint32]string // topics, by the numbers of subscriptions
	advertises         bool              // the topic of the wheels
	subscriptions      uint32            // so far
}

func (p *viewerHand) dials() (string, []string) { return "/viewers", []string{"foxglove.sdk.v1"} }
func (p *viewerHand) silence() time.Duration    { return 1500 * time.Millisecond }

// wheels is the program's number of the topic of the wheels.
const wheels = 1

func (p *viewerHand) topic(name string) string { return "/" + p.robot.name() + "/" + name }

// publishes advertises the topic when it needs it.
func (p *viewerHand) publishes(w velocity) {
	if !p.advertises {
		p.advertises = true
		p.sends(`{"op":"advertise","channels":[{"id":%d,"topic":%q,"encoding":"json","schemaName":"geometry_msgs/Twist"}]}`,
			wheels, p.topic("cmd_vel"))
	}
	b := binary.LittleEndian.AppendUint32([]byte{1}, wheels)
	p.sendsAll(websocket.MessageBinary, append(b, w.twist()...))
}

func (p *viewerHand) calls(number int, service string, on bool) {
	id, known := p.services[p.topic(service)]
	if !known { // it has just connected
		p.calledNothing(number)
		return
	}
	b := binary.LittleEndian.AppendUint32([]byte{2}, id)
	b = binary.LittleEndian.AppendUint32(b, uint32(number))
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len("json"))), "json"...)
	args := "{}"
	if service == "motors" {
		args = `{"data":` + map[bool]string{true: "true", false: "false"}[on] + "}"
	}
	p.sendsAll(websocket.MessageBinary, append(b, args...))
}

func (p *viewerHand) acts(event int) {
	switch {
	case event == 10 && p.advertises:
		p.advertises = false
		p.sends(`{"op":"unadvertise","channelIds":[%d]}`, wheels)
		p.expectStands(p.site.sim.now)
	case p.channels != nil:
		p.subscribes(p.topic([]string{"position", "position", "misc/battery", "sonar/ranges"}[p.site.sim.random.IntN(4)]))
	}
}

// subscribes begins or ends a subscription.
func (p *viewerHand) subscribes(name string) {
	for id, topic := range p.subscribed {
		if topic == name {
			delete(p.subscribed, id)
			delete(p.simProgram.topics, name)
			p.sends(`{"op":"unsubscribe","subscriptionIds":[%d]}`, id)
			return
		}
	}
	p.subscriptions++
	p.subscribed[p.subscriptions] = name
	p.simProgram.topics[name] = &simTopic{subscribed: p.site.sim.now, queue: 1}
	p.sends(`{"op":"subscribe","subscriptions":[{"id":%d,"channelId":%d}]}`, p.subscriptions, p.channels[name])
}

func (p *viewerHand) gets(kind websocket.MessageType, message []byte) {
	s, le := p.site.sim, binary.LittleEndian
	if kind == websocket.MessageText {
		p.getsText(message)
		return
	}
	switch op, rest := message[0], message[1:]; op {
	case 1: // data: the subscription, ns since 1970
		if name, known := p.subscribed[le.Uint32(rest)]; known {
			s.summary.Shown++
			p.data(name, time.Unix(0, int64(le.Uint64(rest[4:]))).Sub(p.site.epoch))
		}
	case 3: // an answer: the service, the call
		s.note("%v gets the answer to call %d", p, le.Uint32(rest[4:]))
		p.answer(int(le.Uint32(rest[4:])), true)
	default:
		s.fail("%v gets %q", p, message)
	}
}

func (p *viewerHand) getsText(text []byte) {
	s := p.site.sim
	type named struct {
		ID          uint32
		Topic, Name string
	}
	var m struct {
		Op                 string
		Channels, Services []named
		CallID             int
	}
	if err := json.Unmarshal(text, &m); err != nil {
		s.fail("%v gets %s: %v", p, text, err)
	}
	switch m.Op {
	case "serverInfo":
	case "advertise":
		p.channels, p.subscribed = map[string]uint32{}, map[uint32]string{}
		for _, c := range m.Channels {
			p.channels[c.Topic] = c.ID
		}
	case "advertiseServices":
		p.services = map[string]uint32{}
		for _, c := range m.Services {
			p.services[c.Name] = c.ID
		}
	case "status":
		s.note("%v gets %s", p, text)
	case "serviceCallFailure":
		s.note("%v gets %s", p, text)
		p.answer(m.CallID, false)
	default:
		s.fail("%v gets %s", p, text)
	}
}
