package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/coder/websocket"

	"player/config/rights"
	"player/e2e/must"
	"player/e2e/npm"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/visitors"
	"player/visitors/rosbridge"
)

// rosbridge waits until the log has the address of the server for programs of ROS.
func (s *server) rosbridge(t *testing.T) (url string) {
	t.Helper()
	line := regexp.MustCompile(`"msg":"rosbridge","address":"([^"]+)"`)
	waiting.Until(t, "the address for programs of ROS in the log", func() bool {
		match := line.FindStringSubmatch(s.Output.String())
		if match != nil {
			url = "ws://" + match[1]
		}
		return match != nil
	})
	return url
}

// rosProgram is a program that speaks rosbridge without a library.
type rosProgram struct {
	t  *testing.T
	ws *websocket.Conn
}

// rosMessage is a message to a program.
type rosMessage struct {
	ID                        rosID
	Op, Topic, Service, Level string
	Msg, Values               json.RawMessage
	Result                    bool
}

// rosID is an id: of a string its text, of a number its JSON.
type rosID string

func (i *rosID) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) != nil {
		s = string(text)
	}
	*i = rosID(s)
	return nil
}

// openROS connects from an address.
func openROS(t *testing.T, url, from, origin string) (*rosProgram, *http.Response) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	ws, reply, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: header,
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}})
	if reply == nil {
		t.Fatal(err)
	}
	if err == nil {
		ws.SetReadLimit(1 << 20)
		t.Cleanup(func() { ws.CloseNow() })
	}
	return &rosProgram{t, ws}, reply
}

func (p *rosProgram) send(format string, args ...any) {
	p.t.Helper()
	say(p.t, p.ws, websocket.MessageText, fmt.Appendf(nil, format, args...))
}

// next reads until a message comes that is wanted.
func (p *rosProgram) next(wanted func(rosMessage) bool) rosMessage {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for {
		_, text, err := p.ws.Read(ctx)
		if err != nil {
			p.t.Fatal(err)
		}
		var m rosMessage
		if err := json.Unmarshal(text, &m); err != nil {
			p.t.Fatalf("%s: %v", text, err)
		}
		if wanted(m) {
			return m
		}
	}
}

func (p *rosProgram) message(topic string) json.RawMessage {
	p.t.Helper()
	return p.next(func(m rosMessage) bool { return m.Op == "publish" && m.Topic == topic }).Msg
}

// call calls a service, and returns the values and whether it has succeeded.
func (p *rosProgram) call(service, args string) (string, bool) {
	p.t.Helper()
	p.send(`{"op":"call_service","id":"c","service":%q,"args":%s}`, service, args)
	m := p.next(func(m rosMessage) bool { return m.Op == "service_response" && m.ID == "c" })
	return string(m.Values), m.Result
}

// Programs with npm's roslib see everything, call services, drive the robot, and stop it
// when they are killed.
func TestRosbridgeRoslib(t *testing.T) {
	t.Parallel()
	directory := npm.Install(t, "../examples/teleop")
	text := must.Get(os.ReadFile("testdata/roslib.js"))(t)
	write(t, directory, "roslib.js", string(text))
	s := start(t, "-stage", room, "-rosbridge", "127.0.0.1:0")
	p := s.dial(t)
	p.request("pr")
	program := exec.Command("node", "roslib.js", s.rosbridge(t))
	program.Dir = directory
	running := programs.Start(t, program)
	out := running.Output
	for _, line := range []string{
		"nodes /player", "services 21", "type sensor_msgs/msg/LaserScan", "odometry odom base_link 36",
		"message /scan sensor_msgs/msg/LaserScan 361", "message /odom nav_msgs/msg/Odometry ", "message /tf tf2_msgs/msg/TFMessage ",
		"message /tf_static tf2_msgs/msg/TFMessage ", "message /battery_state sensor_msgs/msg/BatteryState ", "message /sonar/range_15 sensor_msgs/msg/Range ",
		"message /detections vision_msgs/msg/Detection2DArray ", "details sensor_msgs/msg/LaserScan header:std_msgs/msg/Header ranges:float32", "raw /odom nav_msgs/msg/Odometry true", "raw /cmd_vel geometry_msgs/msg/Twist true",
		"node /cmd_vel true", "triggers /emergency_stop,/release,/reset_odometry", "request std_srvs/srv/SetBool_Request data", "response success,message", "parameters 0", "actions 0",
		"service /motors true", "service /reset_odometry true", "failed ",
	} {
		waiting.Until(t, line, func() bool { return strings.Contains("\n"+out.String(), "\n"+line) })
	}
	waiting.Until(t, "motion", func() bool { return p.position().Speed > 50 })
	running.Signal(t, os.Kill)
	waiting.Until(t, "the stop", func() bool { return p.position().Speed == 0 })
	s.Await(t, rosbridge.LogDisconnected)
	for _, bad := range []string{"error", "closed", "status"} {
		if strings.Contains(out.String(), "\n"+bad) {
			t.Errorf("%s in: %s", bad, out.String())
		}
	}
}

// A value without a number in JSON is null, a topic comes as seldom as it is wanted, also to several
// subscriptions, and not after the last has ended. Latched frames also come to the
// second subscription.
func TestRosbridgeTopics(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room, "-rosbridge", "127.0.0.1:0")
	p, _ := openROS(t, s.rosbridge(t), "127.0.0.1", "")
	p.send(`{"op":"subscribe","id":"a","topic":"scan","type":"sensor_msgs/LaserScan"}`)
	p.message("/scan")
	p.send(`{"op":"unsubscribe","topic":"/scan"}`)
	p.send(`{"op":"subscribe","topic":"/battery_state"}`)
	if m := p.message("/battery_state"); !strings.Contains(string(m), `"current":null`) {
		t.Errorf("%s", m)
	}
	p.send(`{"op":"subscribe","id":"b","topic":"/odom","throttle_rate":60000}`)
	p.send(`{"op":"subscribe","id":"c","topic":"/odom","throttle_rate":300}`)
	p.send(`{"op":"subscribe","topic":"/tf"}`)
	taken, end := iter.Pull(odometry(p))
	defer end()
	first, _ := taken()
	if second, _ := taken(); second.Sub(first) < 150*time.Millisecond { // it is taken every 100 ms
		t.Errorf("%v apart", second.Sub(first))
	}
	p.send(`{"op":"unsubscribe","id":"c","topic":"/odom"}`)
	p.send(`{"op":"call_service","service":"/rosapi/nodes"}`) // answered behind what was sent before
	p.next(func(m rosMessage) bool { return m.Op == "service_response" })
	p.message("/odom") // the remaining one begins
	for range 5 {
		p.next(func(m rosMessage) bool {
			if m.Topic == "/odom" || m.Topic == "/scan" {
				t.Errorf("a message on %s", m.Topic)
			}
			return m.Topic == "/tf"
		})
	}
	for range 2 {
		p.send(`{"op":"subscribe","topic":"/tf_static"}`)
		p.message("/tf_static")
	}
}

// A program that does not read for a while gets the newest messages then: as many as its
// queue has room for. An idle program does not wake the loop.
func TestRosbridgeSlowProgram(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room, "-http", "127.0.0.1:0", "-rosbridge", "127.0.0.1:0")
	page, url := s.dashboard(t), s.rosbridge(t)
	idle, _ := openROS(t, url, "127.0.0.1", "")
	idle.call("/rosapi/topics", "{}")
	// The counted wakes come from the questions for the count. On a busy machine the beginning
	// may last into the first second.
	waiting.Until(t, "a second without wakes", func() bool {
		before := status(t, page).Loop.Wakes
		time.Sleep(time.Second)
		return status(t, page).Loop.Wakes-before <= 2
	})
	clock := s.dial(t)
	clock.request("pr")
	const period = 100 * time.Millisecond // of odometry
	var programs []*rosProgram
	queues := []int{1, 8}
	for _, queue := range queues {
		p, _ := openROS(t, url, "127.0.0.1", "")
		p.send(`{"op":"subscribe","topic":"/odom","queue_length":%d}`, queue)
		p.message("/odom")
		programs = append(programs, p)
	}
	for range 20 { // the odometry is taken as often
		clock.position()
	}
	woke := time.Now()
	for i, p := range programs {
		old := 0
		for taken := range odometry(p) {
			if taken.After(woke) {
				break
			}
			old++
		}
		// One or two were on their way before; each that has come since takes a place.
		since := 1 + int(time.Since(woke)/period)
		if old < queues[i]-since || old > queues[i]+2 {
			t.Errorf("a queue of %d: %d old messages", queues[i], old)
		}
	}
}

// odometry yields when each odometry that comes was taken.
func odometry(p *rosProgram) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for {
			var m struct {
				Header struct{ Stamp struct{ Sec, Nanosec int64 } }
			}
			must.Do(p.t, json.Unmarshal(p.message("/odom"), &m))
			if !yield(time.Unix(m.Header.Stamp.Sec, m.Header.Stamp.Nanosec)) {
				return
			}
		}
	}
}

// A program that may only read sees everything, and moves nothing. Strangers and pages are refused.
func TestRosbridgeRights(t *testing.T) {
	t.Parallel()
	s := start(t, "-rosbridge", "127.0.0.1:0", "-rosbridge-origin", "http://app.example", write(t, t.TempDir(), "rights.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q )
		access ( allow ["read" "write" "config"] from "127.0.0.1" )
		access ( allow "read" from "127.0.0.2" )`, absolute(t, room))))
	url := s.rosbridge(t)
	for _, tt := range []struct {
		from, origin string
		status       int
	}{
		{"127.0.0.1", "http://app.example", http.StatusSwitchingProtocols},
		{"127.0.0.1", "http://evil.example", http.StatusForbidden},
		{"127.0.0.1", "null", http.StatusForbidden},
		{"127.0.0.3", "", http.StatusForbidden},
	} {
		if _, reply := openROS(t, url, tt.from, tt.origin); reply.StatusCode != tt.status {
			t.Errorf("%s, %q: %d", tt.from, tt.origin, reply.StatusCode)
		}
	}
	reader, _ := openROS(t, url, "127.0.0.2", "")
	for _, service := range []string{"/motors", "/reset_odometry", "/emergency_stop", "/release"} {
		if got, ok := reader.call(service, `{"data":true}`); ok || !strings.Contains(got, visitors.NotAllowed) {
			t.Errorf("%s: %s", service, got)
		}
	}
	reader.send(`{"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":0.3}}}`)
	if m := reader.next(func(m rosMessage) bool { return m.Op == "status" }); m.Level != "error" || !strings.Contains(string(m.Msg), visitors.Need(rights.Read, rights.Write).Error()) {
		t.Errorf("%+v", m)
	}
	reader.send(`{"op":"subscribe","topic":"/odom"}`)
	reader.message("/odom")

	p := s.dial(t)
	p.request("pr")
	owner, _ := openROS(t, url, "127.0.0.1", "")
	const forward = `{"op":"publish","topic":"/cmd_vel","msg":{"header":{},"twist":{"linear":{"x":0.3}}}}`
	waiting.Until(t, "motion", func() bool { owner.send(forward); return p.position().Speed > 200 })
	if got, ok := owner.call("/emergency_stop", `{}`); !ok || got != `{"success":true,"message":""}` {
		t.Errorf("%s", got)
	}
	waiting.Until(t, "the stop", func() bool { owner.send(forward); return p.position().Speed == 0 })
	if got, ok := owner.call("/release", `{}`); !ok {
		t.Errorf("%s", got)
	}
	waiting.Until(t, "motion again", func() bool { owner.send(forward); return p.position().Speed > 200 })
}

// A program learns why a request is refused, and stays connected.
func TestRosbridgeMistakes(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room, "-rosbridge", "127.0.0.1:0")
	p, _ := openROS(t, s.rosbridge(t), "127.0.0.1", "")
	for _, tt := range []struct{ message, status string }{
		{`{`, "not understood"},
		{`{"op":"fragment"}`, "no operation"},
		{`{"op":"subscribe","topic":"/map"}`, "no topic"},
		{`{"op":"subscribe","topic":"/odom","type":"nav_msgs/Path"}`, "is nav_msgs/msg/Odometry"},
		{`{"op":"unsubscribe","topic":"/goal"}`, "no topic"},
		{`{"op":"advertise","topic":"/chatter","type":"std_msgs/String"}`, "no topic"},
		{`{"op":"advertise","topic":"/cmd_vel","type":"std_msgs/String"}`, "TwistStamped"},
		{`{"op":"publish","topic":"/cmd_vel","msg":{"linear":1}}`, "not a velocity"},
	} {
		p.send("%s", tt.message)
		if m := p.next(func(m rosMessage) bool { return m.Op == "status" }); !strings.Contains(string(m.Msg), tt.status) {
			t.Errorf("%s: %s", tt.message, m.Msg)
		}
	}
	// A mistake is answered as often as it is made, except to a program that drives.
	for _, id := range []string{"x", "y"} {
		p.send(`{"op":"subscribe","id":%q,"topic":"/map"}`, id)
		if m := p.next(func(m rosMessage) bool { return m.Op == "status" }); string(m.ID) != id {
			t.Errorf("%s: %+v", id, m)
		}
	}
	for range 3 {
		p.send(`{"op":"publish","id":"p","topic":"/cmd_vel","msg":{"angular":1}}`)
	}
	p.send(`{"op":"subscribe","id":"z","topic":"/map"}`)
	answers := 0
	for p.next(func(m rosMessage) bool { return m.Op == "status" }).ID != "z" {
		answers++
	}
	if answers != 1 {
		t.Errorf("a program that drives in vain has %d answers", answers)
	}
	for _, args := range []string{`{}`, `[]`, `1`} {
		if got, ok := p.call("motors", args); ok {
			t.Errorf("%s: %s", args, got)
		}
	}
	for _, args := range []string{`{}`, `[]`, `null`} { // no arguments
		if got, ok := p.call("/rosapi/nodes", args); !ok || got != `{"nodes":["/player"]}` {
			t.Errorf("%s: %s", args, got)
		}
	}
	p.send(`{"op":"set_level","level":"none"}`)
	p.send(`{"op":"subscribe","topic":"/costmap"}`)
	p.send(`{"op":"call_service","id":"c","service":"rosapi/topic_type","args":{"topic":"odom"}}`)
	if m := p.next(func(rosMessage) bool { return true }); string(m.Values) != `{"type":"nav_msgs/msg/Odometry"}` {
		t.Errorf("%+v", m)
	}
}

// Programs write the same in many forms: ids are strings or numbers and come back as they were,
// arguments are an object or a list, names lack their slash and types their /msg/, and JSON comes in
// frames of text or bytes.
func TestRosbridgeForms(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room, "-rosbridge", "127.0.0.1:0")
	p, _ := openROS(t, s.rosbridge(t), "127.0.0.1", "")
	const scan = `{"type":"sensor_msgs/msg/LaserScan"}`
	forms := []struct{ message, reply string }{}
	add := func(message, reply string) { forms = append(forms, struct{ message, reply string }{message, reply}) }
	for _, id := range []string{`"a"`, `""`, `7`, `-1`, `0`, `1.5`, `1e3`, `12345678901234567890`, `null`, `"ü\"x"`} {
		answered := `"id":` + id + `,`
		if id == `""` || id == `null` {
			answered = ""
		}
		add(`{"op":"call_service","id":`+id+`,"service":"/rosapi/nodes"}`, `{"op":"service_response",`+answered+`"service":"/rosapi/nodes","values":{"nodes":["/player"]},"result":true}`)
		add(`{"op":"subscribe","id":`+id+`,"topic":"/map"}`, `{"op":"status",`+answered+`"level":"error",`)
	}
	for _, id := range []string{`{}`, `["a"]`, `true`} {
		add(`{"op":"call_service","id":`+id+`,"service":"/rosapi/nodes"}`, `"level":"error"`)
	}
	for _, args := range []string{`{"topic":"/scan"}`, `["/scan"]`, `[{"topic":"scan"}]`, `["scan", 5]`, `{"topic":"scan","more":[1]}`} {
		add(`{"op":"call_service","service":"rosapi/topic_type","args":`+args+`}`, `"values":`+scan)
	}
	for _, args := range []string{`{"topic":5}`, `[5]`, `[["/scan"]]`, `[{"topic":{}}]`} {
		add(`{"op":"call_service","service":"rosapi/topic_type","args":`+args+`}`, `"result":false`)
	}
	for _, args := range []string{`{}`, `[]`, `null`, `""`, `0`, `[null]`} { // none
		add(`{"op":"call_service","service":"rosapi/services","args":`+args+`,"timeout":0.5,"fragment_size":100,"compression":"none"}`, `"result":true`)
	}
	for _, args := range []string{`{"data":false}`, `[false]`, `[{"data":false}]`} {
		add(`{"op":"call_service","service":"/motors","args":`+args+`}`, `"values":{"success":true,"message":""},"result":true`)
	}
	add(`{"op":"call_service","service":"/rosapi/get_time"}`, `"values":{"time":{"nanosec":`)
	for _, number := range []string{`0`, `100`, `33.3`, `-5`, `1e300`, `null`} {
		add(`{"op":"subscribe","id":"n","topic":"battery_state","type":null,"throttle_rate":`+number+`,"queue_length":`+number+`,"compression":null,"qos":{}}`, `"op":"publish","topic":"/battery_state"`)
		add(`{"op":"unsubscribe","id":"n","topic":"battery_state"}`, "")
	}
	add(`{"op":"subscribe","topic":"/scan","throttle_rate":"100"}`, `"level":"error"`)
	add(`{"op":"advertise","id":1,"topic":"cmd_vel","type":"geometry_msgs/Twist","latch":false,"queue_size":100}`, "")
	add(`{"op":"publish","id":2,"topic":"cmd_vel","msg":{"linear":{"x":0,"y":0,"z":0},"angular":{"x":0,"y":0,"z":0}},"latch":false}`, "")
	add(`{"op":"unadvertise","id":1,"topic":"cmd_vel"}`, "")
	for _, kind := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
		for _, tt := range forms {
			say(t, p.ws, kind, []byte(tt.message))
			if tt.reply == "" {
				continue // the next reply shows that it was no mistake
			}
			if kind == websocket.MessageBinary && tt.reply == "not understood" {
				tt.reply = "CBOR and BSON are not understood"
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			for {
				_, text, err := p.ws.Read(ctx)
				if err != nil {
					t.Fatalf("%s: %v", tt.message, err)
				}
				if strings.HasPrefix(string(text), `{"op":"publish"`) && !strings.Contains(tt.reply, `"op":"publish"`) {
					continue // it was on its way
				}
				if !strings.Contains(string(text), tt.reply) {
					t.Errorf("%v %s: %s, want %s", kind, tt.message, text, tt.reply)
				}
				break
			}
			cancel()
		}
	}
	say(t, p.ws, websocket.MessageBinary, []byte("\x16\x00\x00\x00\x02op\x00")) // BSON
	if m := p.next(func(m rosMessage) bool { return m.Op == "status" }); !strings.Contains(string(m.Msg), "CBOR and BSON") {
		t.Errorf("%s", m.Msg)
	}
}

// The topics and services of several robots begin with their names.
func TestRosbridgeNamespaces(t *testing.T) {
	t.Parallel()
	other := ports.Free(t, 1)
	s := start(t, "-rosbridge", "127.0.0.1:0", write(t, t.TempDir(), "two.cfg", fmt.Sprintf(`
		driver ( name "testpattern" provides ["position:0" "laser:0"] )
		driver ( name "testpattern" provides ["%d:position:0"] )`, other)))
	p, _ := openROS(t, s.rosbridge(t), "127.0.0.1", "")
	_, port, _ := net.SplitHostPort(s.address)
	topics, _ := p.call("rosapi/topics", `{}`)
	services, _ := p.call("rosapi/services", `{}`)
	for _, name := range []string{"/robot" + port + "/scan", "/robot" + port + "/cmd_vel", fmt.Sprintf("/robot%d/odom", other), fmt.Sprintf("/robot%d/emergency_stop", other), "/tf"} {
		if !strings.Contains(topics+services, `"`+name+`"`) {
			t.Errorf("no %s in %s, %s", name, topics, services)
		}
	}
	p.send(`{"op":"subscribe","topic":"/robot%d/odom"}`, other)
	if m := p.message(fmt.Sprintf("/robot%d/odom", other)); !strings.Contains(string(m), fmt.Sprintf(`"frame_id":"robot%d/odom"`, other)) {
		t.Errorf("%s", m)
	}
	// The frames of all robots are on one topic.
	p.send(`{"op":"subscribe","topic":"/tf"}`)
	for _, robot := range []string{port, fmt.Sprint(other)} {
		p.next(func(m rosMessage) bool {
			return m.Topic == "/tf" && strings.Contains(string(m.Msg), `"robot`+robot+`/base_link"`)
		})
	}
}

// The page of the examples drives.
func testTeleop(t *testing.T, chromium browser) {
	directory := npm.Install(t, "../examples/teleop")
	files := httptest.NewServer(http.FileServer(http.Dir(directory)))
	defer files.Close()
	s := start(t, "-stage", room, "-rosbridge", "127.0.0.1:0", "-rosbridge-origin", files.URL)
	p := s.dial(t)
	p.request("pr")
	b := chromium.open(t, files.URL+"/?url="+s.rosbridge(t))
	b.until(shows("state", "^connection$") + ` && ` + shows("pose", `^x -?\d`))
	b.key(input.DispatchKeyEventTypeKeyDown, arrowUp, arrowUpCode)
	waiting.Until(t, "motion", func() bool { return p.position().Speed > 200 })
	b.key(input.DispatchKeyEventTypeKeyUp, arrowUp, arrowUpCode)
	waiting.Until(t, "the stop", func() bool { return p.position().Speed == 0 })
	b.click("stop")
	b.until(shows("state", "^stop$"))
	b.click("release")
	b.until(shows("state", "^release$"))
}
