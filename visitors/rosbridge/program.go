package rosbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"player/config/rights"
	"player/formats/telemetry"
	"player/visitors"
)

const (
	// maxSubscriptions is how many subscriptions a program may have: all topics of a dozen
	// robots.
	maxSubscriptions = 256
	// maxID is the longest id of a subscription in bytes: roslib's have the topic and 36.
	maxID = 256
	// maxQueue bounds queue_length: how many messages of a topic may wait for a program.
	maxQueue = 100
	// maxThrottle bounds throttle_rate: larger ones would overflow a time.
	maxThrottle = time.Hour
)

// program has the rules for the messages of a program, and their state. It has no socket. Its maps are used by
// the reader only.
type program struct {
	server *server
	guest  guest
	may    rights.Set
	mute   atomic.Bool // no status messages

	subscriptions subscriptions
	warnings      visitors.Limiter
}

// guest carries out the decisions of the rules: a connection.
type guest interface {
	// reply sends a message of the protocol.
	reply(text []byte) error
	// flow sets the pace at which the messages of a topic are sent. The zero pace: they are not sent.
	flow(topic int, wanted pace)
	// watch sets the devices of a robot that are read, by their letters. Latched messages are sent again.
	watch(robot int, devices string)
	// drive drives a robot in mm/s and deg/s.
	drive(robot, speed, turnRate int)
	// stand stops a robot if the program drives it.
	stand(robot int)
	// command carries out a message to a device other than the wheels.
	command(t target, message []byte) error
	// release gives a device up that the program commands.
	release(t target)
	// call carries out a service of a robot, and answers: now, or when the wheels have started.
	call(v service, on bool, answer func(error) error) error
}

// subscription is one subscription of a program: it may have several of a topic.
type subscription struct {
	topic int // index in server.topics
	id    identity
}

// subscriptions are a program's subscriptions.
type subscriptions map[subscription]pace

// pace is how a program wants the messages of a topic.
type pace struct {
	period time.Duration
	queue  int // at least 1
}

func newProgram(s *server, g guest, may rights.Set) *program {
	return &program{server: s, guest: g, may: may, subscriptions: subscriptions{}}
}

func (p *program) reply(content any) error {
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return p.guest.reply(text)
}

// status sends the program an error; id is the id of the message that caused it.
func (p *program) status(id identity, err error) error {
	if p.mute.Load() {
		return nil
	}
	return p.reply(struct {
		Op    string   `json:"op"`
		ID    identity `json:"id,omitempty"`
		Level string   `json:"level"`
		Text  string   `json:"msg"`
	}{"status", id, "error", err.Error()})
}

type request struct {
	ID                              identity
	Op, Topic, Type, Service, Level string
	ThrottleRate                    float64 `json:"throttle_rate"` // ms
	QueueLength                     float64 `json:"queue_length"`
	Msg, Args                       json.RawMessage
}

// identity is the id of a message as the program has written it, in JSON: a string or a number.
// Replies have it in the same form. Empty: the message has none.
type identity string

// UnmarshalJSON implements json.Unmarshaler.
func (i *identity) UnmarshalJSON(text []byte) error {
	switch text[0] {
	case '{', '[', 't', 'f':
		return errors.New("an id is a string or a number")
	case 'n': // null
		text = nil
	}
	if *i = identity(text); *i == `""` {
		*i = ""
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (i identity) MarshalJSON() ([]byte, error) { return []byte(i), nil }

// take takes a message of the program. The answer to a failed one is a status; the
// connection stays. Some programs send their JSON in binary frames.
func (p *program) take(binary bool, message []byte) error {
	var r request
	err := json.Unmarshal(message, &r)
	switch {
	case err == nil:
		err = p.carryOut(r)
	case binary:
		err = fmt.Errorf("the message is not JSON, and CBOR and BSON are not understood: %w", err)
	default:
		err = fmt.Errorf("the message is not understood: %w", err)
	}
	if err == nil || errors.Is(err, visitors.ErrDeaf) {
		return err
	}
	if r.Op == "publish" && !p.warnings.Allow(err.Error()) {
		return nil // without control a program drives in vain many times a second
	}
	return p.status(r.ID, err)
}

func (p *program) carryOut(r request) error {
	switch r.Op {
	case "subscribe":
		return p.subscribe(r)
	case "unsubscribe":
		return p.unsubscribe(r)
	case "advertise":
		return p.advertise(r)
	case "unadvertise":
		return p.unadvertise(r)
	case "publish":
		return p.publish(r)
	case "call_service":
		return p.call(r)
	case "set_level":
		p.mute.Store(r.Level == "none") // all statuses are errors
		return nil
	}
	return fmt.Errorf("there is no operation %.60q", r.Op)
}

// absolute returns the name of a topic or service with its slash.
func absolute(name string) string { return "/" + strings.TrimPrefix(name, "/") }

// sameType reports whether a type that a program gives is a type of ROS 2. Programs may
// write it as in ROS 1: sensor_msgs/LaserScan. An empty type matches any.
func sameType(given, kind string) bool {
	return given == "" || given == kind || given == strings.NewReplacer("/msg/", "/", "/srv/", "/").Replace(kind)
}

func (p *program) subscribe(r request) error {
	i, known := p.server.index[absolute(r.Topic)]
	if !known {
		return fmt.Errorf("there is no topic %.60q", r.Topic)
	}
	t := p.server.topics[i]
	if !sameType(r.Type, t.kind) {
		return fmt.Errorf("%s is %s, not %.60q", t.name, t.kind, r.Type)
	}
	if len(r.ID) > maxID {
		return fmt.Errorf("an id has at most %d bytes", maxID)
	}
	key := subscription{i, r.ID}
	if _, renewed := p.subscriptions[key]; !renewed && len(p.subscriptions) == maxSubscriptions {
		return errors.New("too many topics are subscribed to")
	}
	throttle := time.Duration(max(0, min(r.ThrottleRate, float64(maxThrottle/time.Millisecond)))) * time.Millisecond
	p.subscriptions[key] = pace{throttle, int(max(1, min(r.QueueLength, maxQueue)))}
	p.flow(i)
	return nil
}

// unsubscribe ends a subscription; without an id all of the topic.
func (p *program) unsubscribe(r request) error {
	i, known := p.server.index[absolute(r.Topic)]
	if !known {
		return fmt.Errorf("there is no topic %.60q", r.Topic)
	}
	for key := range p.subscriptions {
		if key.topic == i && (r.ID == "" || r.ID == key.id) {
			delete(p.subscriptions, key)
		}
	}
	p.flow(i)
	return nil
}

// paceOf returns the pace at which a topic is sent: each message once, at the pace of its fastest subscription. The
// zero pace: it has no subscriptions.
func (s subscriptions) paceOf(topic int) (all pace) {
	for key, wanted := range s {
		if key.topic != topic {
			continue
		}
		if all.queue == 0 || wanted.period < all.period {
			all.period = wanted.period
		}
		all.queue = max(all.queue, wanted.queue)
	}
	if all.period > 0 {
		all.queue = 1 // a subscriber with a period wants the newest
	}
	return all
}

// flow adapts the messages sent of a topic, and the data read for it, to the subscriptions.
func (p *program) flow(i int) {
	p.guest.flow(i, p.subscriptions.paceOf(i))
	for _, from := range p.server.topics[i].sources {
		p.watch(from.robot)
	}
}

// watch adapts the subscriptions at a robot to the program's subscriptions.
func (p *program) watch(robot int) {
	var devices strings.Builder
	for _, d := range p.server.config.Robots[robot].Devices {
		if p.watches(source{robot, d.Code}) {
			devices.WriteByte(d.Code)
		}
	}
	p.guest.watch(robot, devices.String())
}

// watches reports whether a device is part of a subscribed topic.
func (p *program) watches(from source) bool {
	for key := range p.subscriptions {
		if slices.Contains(p.server.topics[key.topic].sources, from) {
			return true
		}
	}
	return false
}

// target returns the device that a topic commands.
func (p *program) target(name string) (target, error) {
	i := slices.IndexFunc(p.server.targets, func(t target) bool { return t.topic == absolute(name) })
	if i < 0 {
		return target{}, fmt.Errorf("there is no topic %.60q for commands", name)
	}
	return p.server.targets[i], visitors.Need(p.may, rights.Write)
}

func (p *program) advertise(r request) error {
	t, err := p.target(r.Topic)
	switch {
	case err != nil:
		return err
	case sameType(r.Type, t.kind) || t.parse == nil && sameType(r.Type, "geometry_msgs/msg/TwistStamped"):
		return nil
	case t.parse == nil:
		return fmt.Errorf("%.60s is geometry_msgs/msg/Twist or TwistStamped, not %.60q", r.Topic, r.Type)
	}
	return fmt.Errorf("%.60s is %s, not %.60q", r.Topic, t.kind, r.Type)
}

// unadvertise stops the robot if the program drives it, and servos that it moves.
func (p *program) unadvertise(r request) error {
	t, err := p.target(r.Topic)
	switch {
	case err != nil:
		return err // a program without the right commands nothing
	case t.parse != nil:
		p.guest.release(t)
	default:
		p.guest.stand(t.robot)
	}
	return nil
}

// publish commands a device. A topic need not be advertised.
func (p *program) publish(r request) error {
	t, err := p.target(r.Topic)
	if err != nil {
		return err
	}
	if t.parse != nil {
		return p.guest.command(t, r.Msg)
	}
	var stamped struct{ Twist json.RawMessage }
	if json.Unmarshal(r.Msg, &stamped) == nil && stamped.Twist != nil {
		r.Msg = stamped.Twist
	}
	speed, turnRate, err := telemetry.ParseVelocity(r.Msg)
	if err != nil {
		return err
	}
	if speed == 0 && turnRate == 0 {
		p.endGoal(t.robot) // the robot's server drops such a command, because the goto device drives (PROTOCOL 5.5)
	}
	p.guest.drive(t.robot, speed, turnRate)
	return nil
}

// endGoal ends the goal that the program has given to a robot.
func (p *program) endGoal(robot int) {
	for _, t := range p.server.targets {
		if t.robot == robot && t.device.Interface == "goto" {
			p.guest.release(t)
		}
	}
}
