package rosbridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"player/codec"
	"player/config/rights"
	"player/e2e/must"
	"player/formats/telemetry"
	"player/visitors"
)

// notes is a guest that notes the decisions of the rules.
type notes struct {
	may     rights.Set
	replies [][]byte
	flows   map[string]pace // of the topics that are sent
	watched map[int]string
	actions []string
	starts  []func(error) error // answers of calls that wait for the wheels
	deaf    bool
	server  *server
}

func (n *notes) reply(text []byte) error {
	if n.deaf {
		return visitors.ErrDeaf
	}
	n.replies = append(n.replies, text)
	return nil
}

func (n *notes) flow(topic int, wanted pace) {
	name := n.server.topics[topic].name
	if delete(n.flows, name); wanted.queue > 0 {
		n.flows[name] = wanted
	}
}

func (n *notes) watch(robot int, devices string) { n.watched[robot] = devices }

func (n *notes) drive(robot, speed, turnRate int) {
	n.actions = append(n.actions, fmt.Sprint("drive ", robot, speed, turnRate))
}

func (n *notes) command(t target, message []byte) error {
	n.actions = append(n.actions, fmt.Sprintf("command %s:%d of %d %s", t.device.Interface, t.device.Index, t.robot, message))
	return nil
}

func (n *notes) release(t target) {
	n.actions = append(n.actions, fmt.Sprintf("release %s:%d of %d", t.device.Interface, t.device.Index, t.robot))
}

func (n *notes) stand(robot int) { n.actions = append(n.actions, fmt.Sprint("stand ", robot)) }

// call refuses as a guest does, and keeps the answers that wait for the wheels.
func (n *notes) call(v service, on bool, answer func(error) error) error {
	if n.may != all {
		return (&visitors.Guest{May: n.may}).Call(v.of, on, v.robot, n.server.config.Robots[v.robot], answer)
	}
	n.actions = append(n.actions, fmt.Sprint(v.of.Name, " ", v.robot, " ", on))
	n.starts = append(n.starts, answer)
	return nil
}

// last returns the reply to the last message, and "" if there was none.
func (n *notes) last() string {
	defer func() { n.replies = nil }()
	return string(bytes.Join(n.replies, []byte(" and ")))
}

const all = rights.Read | rights.Write | rights.Config

// robotOf returns a robot with devices, by their letters.
func robotOf(name, letters string) visitors.Robot {
	interfaces := map[byte]string{
		codec.Position: "position", codec.Sonar: "sonar", codec.Laser: "laser", codec.Misc: "misc", codec.PTZ: "ptz",
	}
	r := visitors.Robot{Name: name, Address: "192.0.2.1:6665", Port: 6665}
	for _, letter := range []byte(letters) {
		drawn := telemetry.Device{Interface: interfaces[letter]}
		r.Devices = append(r.Devices, visitors.Device{Device: drawn, Code: letter})
	}
	return r
}

// programOf returns the rules for a program with rights at robots. It has no socket.
func programOf(t testing.TB, may rights.Set, robots ...visitors.Robot) (*program, *notes) {
	s := newServer(t.Context(), Config{Common: visitors.Common{Log: zap.NewNop()}, Robots: robots})
	n := &notes{may: may, flows: map[string]pace{}, watched: map[int]string{}, server: s}
	return newProgram(s, n, may), n
}

func single(t testing.TB, may rights.Set) (*program, *notes) {
	return programOf(t, may, robotOf("r0", "pl"))
}

// answer is a reply of the protocol.
type answer struct {
	Op, Level, Service string
	ID                 json.RawMessage
	Result             *bool
	Values             json.RawMessage
}

// say has the rules take a message, and returns the only reply; no reply is the zero answer.
func say(t testing.TB, p *program, n *notes, format string, args ...any) (a answer) {
	t.Helper()
	must.Do(t, p.take(false, fmt.Appendf(nil, format, args...)))
	if len(n.replies) > 1 {
		t.Fatalf("%d replies: %s", len(n.replies), n.last())
	}
	if text := n.last(); text != "" {
		must.Do(t, json.Unmarshal([]byte(text), &a))
	}
	return a
}

// isError reports whether an answer is a status of level error with an id.
func (a answer) isError(id string) bool {
	return a.Op == "status" && a.Level == "error" && string(a.ID) == id && a.Result == nil
}

// A topic comes from the first subscription to the last unsubscription (rosbridge v2, 3.4.4 and 3.4.5), and only the
// devices of subscribed topics are read.
func TestSubscriptions(t *testing.T) {
	p, n := single(t, rights.Read)
	for _, tt := range []struct {
		message string
		flows   string // topics that come
		watched string // devices that are read
	}{
		{`{"op":"subscribe","id":"a","topic":"/scan","type":"sensor_msgs/msg/LaserScan"}`, "/scan", "l"},
		{`{"op":"subscribe","id":"a","topic":"scan","type":"sensor_msgs/LaserScan"}`, "/scan", "l"}, // renewed
		{`{"op":"subscribe","id":"b","topic":"/scan"}`, "/scan", "l"},
		{`{"op":"subscribe","topic":"/odom","type":""}`, "/odom /scan", "pl"},
		{`{"op":"unsubscribe","id":"a","topic":"/scan"}`, "/odom /scan", "pl"},     // b remains
		{`{"op":"unsubscribe","id":"other","topic":"/scan"}`, "/odom /scan", "pl"}, // not subscribed
		{`{"op":"unsubscribe","id":"b","topic":"scan"}`, "/odom", "p"},
		{`{"op":"subscribe","id":7,"topic":"/odom"}`, "/odom", "p"},
		{`{"op":"subscribe","id":"7","topic":"/odom"}`, "/odom", "p"},
		{`{"op":"unsubscribe","topic":"/odom"}`, "", ""}, // without an id: all
		{`{"op":"unsubscribe","topic":"/odom"}`, "", ""},
		// Options of transport change no rule: messages are sent as JSON, whole.
		{`{"op":"subscribe","topic":"/odom","fragment_size":10,"compression":"png","qos":{"depth":1}}`, "/odom", "p"},
	} {
		if a := say(t, p, n, "%s", tt.message); a.Op != "" {
			t.Errorf("%s: answered %+v", tt.message, a)
		}
		var flows []string
		for name := range n.flows {
			flows = append(flows, name)
		}
		slices.Sort(flows)
		if got := strings.Join(flows, " "); got != tt.flows || n.watched[0] != tt.watched {
			t.Errorf("%s: topics %q of devices %q, want %q of %q", tt.message, got, n.watched[0], tt.flows, tt.watched)
		}
	}
}

// throttle_rate is in ms, queue_length in messages; both have limits, and defaults of 0: no period, and the newest
// message.
func TestPace(t *testing.T) {
	p, n := single(t, rights.Read)
	for _, tt := range []struct {
		options string
		want    pace
	}{
		{``, pace{0, 1}},
		{`,"throttle_rate":250`, pace{250 * time.Millisecond, 1}},
		{`,"throttle_rate":33.9`, pace{33 * time.Millisecond, 1}},
		{`,"throttle_rate":-5,"queue_length":-5`, pace{0, 1}},
		{`,"throttle_rate":1e300`, pace{maxThrottle, 1}},
		{`,"queue_length":8`, pace{0, 8}},
		{`,"queue_length":1e300`, pace{0, maxQueue}},
		{`,"queue_length":8,"throttle_rate":100`, pace{100 * time.Millisecond, 1}},
		{`,"queue_length":null,"throttle_rate":null`, pace{0, 1}},
	} {
		say(t, p, n, `{"op":"subscribe","topic":"/odom"%s}`, tt.options)
		if got := n.flows["/odom"]; got != tt.want {
			t.Errorf("%s: %v, want %v", tt.options, got, tt.want)
		}
	}
}

// A robot among others has a namespace, and each program's messages go to the robot of the topic.
func TestNamespaces(t *testing.T) {
	p, n := programOf(t, all, robotOf("north", "l"), robotOf("south-2", "pl"))
	for message, want := range map[string]string{
		`{"op":"publish","topic":"/south_2/cmd_vel","msg":{"linear":{"x":0.25},"angular":{"z":1}}}`: "drive 1 250 57",
		`{"op":"unadvertise","topic":"south_2/cmd_vel"}`:                                            "stand 1",
		`{"op":"call_service","service":"/north/emergency_stop"}`:                                   "emergency_stop 0 false",
		`{"op":"call_service","service":"/south_2/motors","args":[true]}`:                           "motors 1 true",
	} {
		n.actions = nil
		if a := say(t, p, n, "%s", message); a.Op != "" || !slices.Equal(n.actions, []string{want}) {
			t.Errorf("%s: %q and %+v, want %q", message, n.actions, a, want)
		}
	}
	say(t, p, n, `{"op":"subscribe","topic":"/south_2/scan"}`)
	if n.watched[1] != "l" || n.watched[0] != "" {
		t.Errorf("watched: %v", n.watched)
	}
	for _, message := range []string{
		`{"op":"publish","topic":"/cmd_vel","msg":{}}`,
		`{"op":"publish","topic":"/north/cmd_vel","msg":{}}`, // without wheels
		`{"op":"subscribe","topic":"/scan"}`, `{"op":"subscribe","topic":"/south-2/scan"}`,
	} {
		if a := say(t, p, n, "%s", message); !a.isError("") {
			t.Errorf("%s: %+v", message, a)
		}
	}
}

// A mistake is answered by one status with the id of its message, and changes nothing.
func TestMistakes(t *testing.T) {
	p, n := single(t, all)
	for _, tt := range []struct{ message, id string }{
		{``, ``}, {`{`, ``}, {`[]`, ``}, {`"subscribe"`, ``}, {`5`, ``}, {`{"op":5,"id":"a"}`, `"a"`}, {"\xff", ``},
		{`null`, ``}, {`{}`, ``}, {`{"id":3}`, `3`}, {`{"op":"","id":"a"}`, `"a"`},
		{`{"op":"subscribe","id":"a","topic":"/odom"}}`, ``}, // more behind
		// Operations of rosbridge that this server does not have.
		{`{"op":"fragment","id":"a","data":"{","num":0,"total":2}`, `"a"`}, {`{"op":"png","id":"a","data":""}`, `"a"`},
		{`{"op":"advertise_service","id":"a","service":"/x","type":"std_srvs/Trigger"}`, `"a"`},
		{`{"op":"unadvertise_service","id":"a","service":"/x"}`, `"a"`},
		{`{"op":"service_response","id":"a","service":"/x","result":true}`, `"a"`},
		{`{"op":"auth","id":"a","mac":""}`, `"a"`}, {`{"op":"send_action_goal","id":"a"}`, `"a"`},
		{`{"op":"Subscribe","id":"a","topic":"/odom"}`, `"a"`},
		// Topics and types.
		{`{"op":"subscribe","id":"a"}`, `"a"`}, {`{"op":"subscribe","id":"a","topic":"//odom"}`, `"a"`},
		{`{"op":"subscribe","id":"a","topic":"/cmd_vel"}`, `"a"`}, {`{"op":"subscribe","id":"a","topic":["/odom"]}`, `"a"`},
		{`{"op":"subscribe","id":"a","topic":"/odom","type":"nav_msgs/Path"}`, `"a"`},
		{`{"op":"subscribe","id":"a","topic":"/odom","type":"Odometry"}`, `"a"`},
		{`{"op":"subscribe","id":"a","topic":"/odom","throttle_rate":"1"}`, `"a"`},
		{`{"op":"subscribe","id":"a","topic":"/odom","queue_length":1e999}`, `"a"`},
		{`{"op":"subscribe","id":{},"topic":"/odom"}`, ``}, {`{"op":"subscribe","id":true,"topic":"/odom"}`, ``},
		{`{"op":"unsubscribe","id":1.5,"topic":"/map"}`, `1.5`},
		{`{"op":"advertise","id":"a","topic":"/odom","type":"nav_msgs/Odometry"}`, `"a"`},
		{`{"op":"advertise","id":"a","topic":"/cmd_vel","type":"geometry_msgs/Pose"}`, `"a"`},
		{`{"op":"unadvertise","id":"a","topic":"/chatter"}`, `"a"`},
		{`{"op":"publish","id":"a1","topic":"/odom","msg":{}}`, `"a1"`},
		{`{"op":"publish","id":"a2","topic":"/cmd_vel"}`, `"a2"`},
		{`{"op":"publish","id":"a3","topic":"/cmd_vel","msg":[1]}`, `"a3"`},
	} {
		p.warnings = visitors.Limiter{}
		if a := say(t, p, n, "%s", tt.message); !a.isError(tt.id) {
			t.Errorf("%s: %+v", tt.message, a)
		}
	}
	if len(n.flows)+len(n.actions)+len(p.subscriptions) > 0 {
		t.Errorf("mistakes have caused %v, %v and %v", n.flows, n.actions, p.subscriptions)
	}
	// Without errors there are no other statuses.
	say(t, p, n, `{"op":"set_level","level":"none"}`)
	if a := say(t, p, n, `{"op":"subscribe","id":"a","topic":"/map"}`); a.Op != "" {
		t.Errorf("muted: %+v", a)
	}
	if a := say(t, p, n, `{"op":"call_service","id":"a","service":"/map"}`); a.Op != "service_response" || *a.Result {
		t.Errorf("a call of a program that gets no status: %+v", a)
	}
	say(t, p, n, `{"op":"set_level","level":"error"}`)
	if a := say(t, p, n, `{"op":"subscribe","id":"a","topic":"/map"}`); !a.isError(`"a"`) {
		t.Errorf("muted no more: %+v", a)
	}
}

// A program that drives in vain learns it once, not many times a second.
func TestDrivesInVain(t *testing.T) {
	p, n := single(t, rights.Read)
	const forward = `{"op":"publish","id":"a","topic":"/cmd_vel","msg":{"linear":{"x":1}}}`
	if a := say(t, p, n, forward); !a.isError(`"a"`) {
		t.Errorf("the first time: %+v", a)
	}
	if a := say(t, p, n, forward); a.Op != "" {
		t.Errorf("the second time: %+v", a)
	}
	if a := say(t, p, n, `{"op":"publish","id":"b","topic":"/odom"}`); !a.isError(`"b"`) {
		t.Errorf("another mistake: %+v", a)
	}
	if n.actions != nil {
		t.Errorf("caused %q", n.actions)
	}
}

// A program that may only read sees and asks, and changes nothing.
func TestRights(t *testing.T) {
	for _, tt := range []struct {
		may      rights.Set
		message  string
		accepted bool
	}{
		{rights.Read, `{"op":"subscribe","topic":"/odom"}`, true},
		{rights.Read, `{"op":"advertise","topic":"/cmd_vel"}`, false},
		{rights.Read, `{"op":"publish","topic":"/cmd_vel","msg":{}}`, false},
		{rights.Read, `{"op":"unadvertise","topic":"/cmd_vel"}`, false},
		{rights.Read, `{"op":"call_service","service":"/rosapi/topics"}`, true},
		{rights.Read, `{"op":"call_service","service":"/emergency_stop"}`, false},
		{rights.Read, `{"op":"call_service","service":"/release"}`, false},
		{rights.Read, `{"op":"call_service","service":"/motors","args":{"data":true}}`, false},
		{rights.Read | rights.Write, `{"op":"advertise","topic":"/cmd_vel"}`, true},
		{rights.Read | rights.Write, `{"op":"publish","topic":"/cmd_vel","msg":{}}`, true},
		{rights.Read | rights.Write, `{"op":"unadvertise","topic":"/cmd_vel"}`, true},
		{rights.Read | rights.Write, `{"op":"call_service","service":"/motors","args":{"data":true}}`, false},
		{rights.Read | rights.Write, `{"op":"call_service","service":"/reset_odometry"}`, false},
	} {
		p, n := single(t, tt.may)
		a := say(t, p, n, "%s", tt.message)
		accepted := a.Op == "" || a.Result != nil && *a.Result
		if accepted != tt.accepted {
			t.Errorf("%v: %s: %+v", tt.may, tt.message, a)
		}
		if strings.Contains(strings.Join(n.actions, " "), "drive") && !accepted {
			t.Errorf("%v: %s: %q", tt.may, tt.message, n.actions)
		}
	}
}

// A velocity is in m/s and rad/s, with or without a header; the robot gets mm/s and deg/s within the range of the wire.
func TestPublish(t *testing.T) {
	p, n := single(t, all)
	for msg, want := range map[string]string{
		`{"linear":{"x":0.3,"y":9},"angular":{"z":-0.5}}`:                                "drive 0 300 -29",
		`{"header":{"frame_id":"base_link"},"twist":{"linear":{"x":-0.3},"angular":{}}}`: "drive 0 -300 0",
		`{}`: "drive 0 0 0", `null`: "drive 0 0 0",
		`{"linear":{"x":1e300},"angular":{"z":-1e300}}`: "drive 0 32767 -32768",
	} {
		n.actions = nil
		say(t, p, n, `{"op":"publish","topic":"/cmd_vel","msg":%s}`, msg)
		if !slices.Equal(n.actions, []string{want}) {
			t.Errorf("%s: %q, want %q", msg, n.actions, want)
		}
	}
}

// A call is answered once, with its id and service as they were written: when the wheels have started, or at once.
func TestCalls(t *testing.T) {
	p, n := single(t, all)
	for _, result := range []error{nil, errors.New("no wheels")} {
		if a := say(t, p, n, `{"op":"call_service","id":12,"service":"motors","args":{"data":false}}`); a.Op != "" {
			t.Fatalf("answered before the wheels have started: %+v", a)
		}
		must.Do(t, n.starts[0](result))
		n.starts = nil
		want := `{"op":"service_response","id":12,"service":"motors","values":{"success":true,"message":""},"result":true}`
		if result != nil {
			want = `{"op":"service_response","id":12,"service":"motors","values":"no wheels","result":false}`
		}
		if got := n.last(); got != want {
			t.Errorf("%v: %s, want %s", result, got, want)
		}
	}
	n.actions = nil
	for _, call := range []string{
		`"service":"/motors"`, `"service":"/motors","args":{}`, `"service":"/motors","args":{"data":1}`,
		`"service":"/motors","args":[null]`,
		`"service":"/nothing"`, `"args":[]`, `"service":"/rosapi/topic_type","args":["/nothing"]`,
		`"service":"/rosapi/get_param","args":{"name":"x"}`,
	} {
		a := say(t, p, n, `{"op":"call_service","id":"a",%s}`, call)
		if a.Op != "service_response" || string(a.ID) != `"a"` || a.Result == nil || *a.Result || n.actions != nil {
			t.Errorf("%s: %+v, %q", call, a, n.actions)
		}
	}
	n.deaf = true
	err := p.take(false, []byte(`{"op":"call_service","service":"/rosapi/topics"}`))
	if !errors.Is(err, visitors.ErrDeaf) {
		t.Errorf("a program that reads no replies: %v", err)
	}
}

// A program has a limit of subscriptions; it can renew those that it has, and make others when it has ended some.
func TestSubscriptionLimit(t *testing.T) {
	p, n := single(t, rights.Read)
	for i := range maxSubscriptions {
		if a := say(t, p, n, `{"op":"subscribe","id":%d,"topic":"/odom"}`, i); a.Op != "" {
			t.Fatalf("subscription %d: %+v", i, a)
		}
	}
	a := say(t, p, n, `{"op":"subscribe","id":0,"topic":"/odom","queue_length":3}`)
	if a.Op != "" || n.flows["/odom"].queue != 3 {
		t.Errorf("renewed: %+v, %v", a, n.flows)
	}
	a = say(t, p, n, `{"op":"subscribe","id":"more","topic":"/scan"}`)
	if !a.isError(`"more"`) || n.flows["/scan"].queue != 0 {
		t.Errorf("too many: %+v", a)
	}
	say(t, p, n, `{"op":"unsubscribe","id":5,"topic":"/odom"}`)
	if a := say(t, p, n, `{"op":"subscribe","id":"more","topic":"/scan"}`); a.Op != "" {
		t.Errorf("a free one: %+v", a)
	}
	for length, want := range map[int]bool{maxID: true, maxID + 1: false} {
		id := `"` + strings.Repeat("x", length-2) + `"`
		say(t, p, n, `{"op":"unsubscribe","topic":"/odom"}`)
		if a := say(t, p, n, `{"op":"subscribe","id":%s,"topic":"/odom"}`, id); (a.Op == "") != want {
			t.Errorf("an id of %d bytes: %+v", length, a)
		}
	}
}

// Whatever a program sends, each message has at most one answer, and each call that can be read exactly one, with its
// id. Answers are JSON and UTF-8. The subscriptions decide which topics are sent.
func FuzzProgram(f *testing.F) {
	for _, seed := range []string{
		`{"op":"subscribe","id":"a","topic":"/odom","throttle_rate":100,"queue_length":5,"compression":"cbor"}` +
			"\n" + `{"op":"unsubscribe","id":"a","topic":"/odom"}`,
		`{"op":"call_service","id":1,"service":"/motors","args":[{"data":true}]}` + "\n" +
			`{"op":"call_service","service":"/rosapi/topics"}`,
		`{"op":"call_service","id":"<&>","service":"rosapi/message_details","args":["sensor_msgs/LaserScan"]}`,
		`{"op":"publish","topic":"/cmd_vel","msg":{"header":{},"twist":{"linear":{"x":1e9}}}}` + "\n" +
			`{"op":"unadvertise","topic":"cmd_vel"}`,
		`{"op":"set_level","level":"none"}` + "\n" + `{"op":"fragment","id":null,"data":"{","num":0,"total":2}`,
		`{"op":"call_service","id":"é","service":"/rosapi/node_details","args":[null]}` + "\n" +
			`{"OP":"call_service","Id":-0.5e3}`,
		"{\"op\":\"call_service\",\"id\":\"\xff\",\"service\":\"\xff\"}",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, script []byte, owner bool) {
		may := rights.Read
		if owner {
			may = all
		}
		p, n := single(t, may)
		for message := range bytes.SplitSeq(script, []byte("\n")) {
			n.replies, n.starts = nil, nil
			if err := p.take(true, message); err != nil {
				t.Fatalf("%q ends the connection: %v", message, err)
			}
			for _, start := range n.starts {
				must.Do(t, start(nil))
			}
			if len(n.replies) > 1 {
				t.Fatalf("%q has %d answers: %s", message, len(n.replies), n.last())
			}
			var sent request
			called := json.Unmarshal(message, &sent) == nil && sent.Op == "call_service"
			if len(n.replies) == 0 {
				if called {
					t.Fatalf("the call %q has no answer", message)
				}
				continue
			}
			var a struct {
				Op string
				ID any
			}
			must.Do(t, json.Unmarshal(n.replies[0], &a))
			if called != (a.Op == "service_response") || !called && a.Op != "status" {
				t.Fatalf("%q is answered by %s", message, n.replies[0])
			}
			if utf8.Valid(message) && !utf8.Valid(n.replies[0]) {
				t.Fatalf("%q is answered by %q", message, n.replies[0])
			}
			var asked struct{ ID any }
			if json.Unmarshal(message, &asked) == nil && called && a.ID != asked.ID && asked.ID != "" {
				t.Fatalf("%q is answered by %s", message, n.replies[0])
			}
		}
		wanted := map[string]pace{}
		for key := range p.subscriptions {
			wanted[n.server.topics[key.topic].name] = p.subscriptions.paceOf(key.topic)
		}
		if fmt.Sprint(wanted) != fmt.Sprint(n.flows) || len(p.subscriptions) > maxSubscriptions {
			t.Fatalf("sent %v, subscribed to %v", n.flows, wanted)
		}
		if !owner && n.actions != nil {
			t.Fatalf("a reader has caused %q", n.actions)
		}
	})
}
