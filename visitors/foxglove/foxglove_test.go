package foxglove

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"player/client"
	"player/config/rights"
	"player/e2e/must"
	"player/e2e/needs"
	"player/formats/foxglove"
	"player/formats/telemetry"
	"player/visitors"
)

// Viewers at this address may read only, and those at the next one nothing.
const reader, stranger = "127.0.0.2", "127.0.0.3"

// Every topic that is offered has data, taken since the test began.
func TestTopics(t *testing.T) {
	l := newLab(t, silenceLimit)
	began := time.Now()
	v := l.open("127.0.0.1")
	if v.info.Name != "player 1" || len(v.info.Capabilities) != 4 || !slices.Equal(v.info.SupportedEncodings, []string{"json"}) || v.Subprotocol() != "foxglove.sdk.v1" {
		t.Errorf("%+v, %s", v.info, v.Subprotocol())
	}
	missing := map[uint32]string{}
	var topics []string
	for i, c := range v.channels {
		if c.Encoding != "json" || c.SchemaEncoding != "jsonschema" || !json.Valid([]byte(c.Schema)) || !strings.HasPrefix(c.Topic, "/r0/") && c.Topic != "/log" {
			t.Errorf("%+v", c)
		}
		missing[uint32(i)] = c.Topic
		topics = append(topics, c.Topic)
	}
	for _, topic := range []string{"/r0/laser", "/r0/position", "/r0/sonar", "/r0/tf", "/log"} {
		v.channel(topic)
	}
	v.subscribe(topics...)
	for len(missing) > 0 {
		m := v.next("data")
		topic := topics[m.subscription]
		var content struct{ Timestamp telemetry.Time }
		if err := json.Unmarshal(m.payload, &content); err != nil {
			t.Fatalf("%s: %v", topic, err)
		}
		if taken := time.Unix(0, m.at); topic != "/log" && (taken.Before(began) || taken.After(time.Now())) {
			t.Errorf("%s taken %v, began %v", topic, taken, began)
		}
		if at := int64(content.Timestamp.Sec)*1e9 + int64(content.Timestamp.Nsec); at != 0 && at != m.at {
			t.Errorf("%s: %d and %d", topic, at, m.at)
		}
		delete(missing, m.subscription)
	}
	// Without subscriptions nothing is read.
	for i := range topics {
		v.Send(`{"op":"unsubscribe","subscriptionIds":[%d]}`, i)
	}
	l.Await("the robot to be left", func() bool { return len(l.Status().Clients) == 0 })
}

func TestSubprotocols(t *testing.T) {
	l := newLab(t, silenceLimit)
	for _, protocol := range foxglove.Subprotocols() {
		ws, _, err := l.dial("127.0.0.1", "", protocol)
		if err != nil || ws.Subprotocol() != protocol {
			t.Errorf("%s: %v", protocol, err)
		}
	}
	ws, _, err := l.dial("127.0.0.1", "", "another")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ws.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("another protocol: %v", err)
	}
}

// Pages and computers that the owner has not allowed are refused.
func TestRefused(t *testing.T) {
	l := newLab(t, silenceLimit)
	for _, tt := range []struct {
		from, origin string
		status       int
	}{
		{"127.0.0.1", "https://app.example", http.StatusSwitchingProtocols},
		{"127.0.0.1", "https://evil.example", http.StatusForbidden},
		{"127.0.0.1", "null", http.StatusForbidden},
		{stranger, "", http.StatusForbidden},
		{reader, "", http.StatusSwitchingProtocols},
	} {
		_, reply, err := l.dial(tt.from, tt.origin, "foxglove.sdk.v1")
		if reply == nil || reply.StatusCode != tt.status {
			t.Errorf("%s, %q: %v, %v", tt.from, tt.origin, reply, err)
		}
	}
}

// A viewer that may only read sees everything, and moves nothing.
func TestReader(t *testing.T) {
	l := newLab(t, silenceLimit)
	v := l.open(reader)
	v.advertise()
	if got := v.nextStatus(); !strings.Contains(got, visitors.Need(rights.Read, rights.Write).Error()) {
		t.Error(got)
	}
	v.drive(0.3, 0)
	for _, service := range []string{"/r0/motors", "/r0/reset_odometry", "/r0/emergency_stop", "/r0/release"} {
		if got := v.call(service, `{"data":true}`); !strings.Contains(got, visitors.NotAllowed) {
			t.Errorf("%s: %q", service, got)
		}
	}
	v.subscribe("/r0/position")
	v.next("data")
	if r := l.Status(); len(r.Clients) != 1 || r.Stopped || r.Totals.Commands != 0 {
		t.Errorf("%+v", r)
	}
}

func TestDriving(t *testing.T) {
	needs.Time(t)
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	v.advertise()
	l.AwaitMotion(func() { v.drive(0.3, 0.1) })
	l.AwaitStop() // though the viewer is still there
	v.Send(`{"op":"getParameters","parameterNames":[],"id":"there"}`)
	v.next("parameterValues")
	// The wheels are given back later.
	l.Await("the wheels to be given back", func() bool { return len(l.Status().Clients) == 0 })
}

// The robot of a killed viewer stops, and so does the robot of a viewer that no longer
// publishes.
func TestKilledViewer(t *testing.T) {
	needs.Time(t)
	l := newLab(t, time.Minute)
	other := must.Get(client.Dial(t.Context(), l.Address))(t) // without clients, the world is paused
	defer other.Close()
	must.Do(t, other.Request(t.Context(), "mr"))
	v := l.open("127.0.0.1")
	v.advertise()
	l.AwaitMotion(func() { v.drive(0.2, 0.5) })
	v.Send(`{"op":"unadvertise","channelIds":[5]}`)
	l.AwaitStop()
	v.advertise()
	l.AwaitMotion(func() { v.drive(0.2, 0.5) })
	v.CloseNow()
	l.AwaitStop()
	l.Await("all descriptors", func() bool {
		if l.Quota.Take(l.Quota.Most()) != nil {
			return false
		}
		l.Quota.Return(l.Quota.Most())
		return true
	})
}

func TestServices(t *testing.T) {
	needs.Time(t)
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	for _, tt := range []struct{ name, request, answer string }{
		{"/r0/motors", `{"data":true}`, ""},
		{"/r0/motors", `{}`, "data"},
		{"/r0/motors", `x`, "data"},
		{"/r0/emergency_stop", `{}`, ""},
	} {
		if got := v.call(tt.name, tt.request); (got == "") != (tt.answer == "") || !strings.Contains(got, tt.answer) {
			t.Errorf("%s %s: %q", tt.name, tt.request, got)
		}
	}
	if !l.Status().Stopped {
		t.Error("the emergency stop stops nothing")
	}
	v.advertise()
	before := l.Status().Totals.Refused
	l.Await("a command to be refused", func() bool { v.drive(0.3, 0); return l.Status().Totals.Refused > before })
	if got := v.call("/r0/release", ""); got != "" || l.Status().Stopped {
		t.Errorf("release: %q", got)
	}
	l.AwaitMotion(func() { v.drive(0.3, 0) })
	v.drive(0, 0)
	l.AwaitStop()
	if got := v.call("/r0/reset_odometry", "{}"); got != "" {
		t.Error(got)
	}
	v.subscribe("/r0/position")
	for { // the position that was reported before may still come
		var pose telemetry.PoseInFrame
		must.Do(t, json.Unmarshal(v.next("data").payload, &pose))
		if pose.Pose.Position == (telemetry.Vector3{}) {
			break
		}
	}
}

func TestParameters(t *testing.T) {
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	get := func() map[string]any {
		var p foxglove.ParameterValues
		v.decode(v.next("parameterValues"), &p)
		all := map[string]any{}
		for _, value := range p.Parameters {
			all[value.Name] = value.Value
		}
		all["id"] = p.ID
		return all
	}
	v.Send(`{"op":"getParameters","parameterNames":[],"id":"a"}`)
	all := get()
	states, _ := all["/r0.devices"].(map[string]any)
	if all["id"] != "a" || all["/r0.rate"] != 10.0 || all["/r0/laser.rate"] != 0.0 || states["laser"] != "idle" || len(all)+1 != len(v.channels) { // the log, the control topic and the camera's two have no rate
		t.Errorf("%v", all)
	}
	v.Send(`{"op":"getParameters","parameterNames":["/r0.rate","/nobody.rate","/nobody.devices"],"id":"b"}`)
	if all := get(); len(all) != 2 || all["id"] != "b" {
		t.Errorf("%v", all)
	}
	v.Send(`{"op":"subscribeParameterUpdates","parameterNames":["/r0/laser.rate"]}`)
	v.Send(`{"op":"setParameters","parameters":[{"name":"/r0.rate","value":20},{"name":"/r0/laser.rate","value":2.5}],"id":"c"}`)
	if all := get(); all["/r0.rate"] != 20.0 || all["/r0/laser.rate"] != 2.5 || all["id"] != "c" {
		t.Errorf("%v", all)
	}
	if all := get(); len(all) != 2 || all["/r0/laser.rate"] != 2.5 || all["id"] != "" {
		t.Errorf("%v", all)
	}
	v.subscribe("/r0/position")
	l.Await("the rate at the robot", func() bool { r := l.Status(); return len(r.Clients) == 1 && r.Clients[0].Rate == 20 })
	v.Send(`{"op":"setParameters","parameters":[{"name":"/r0.rate","value":5}]}`)
	l.Await("the new rate at the robot", func() bool { return l.Status().Clients[0].Rate == 5 })
	for _, bad := range []string{`"name":"/r0.rate","value":0`, `"name":"/r0.rate","value":2.5`, `"name":"/r0.rate","value":51`, `"name":"/r0.rate"`,
		`"name":"/r0/laser.rate","value":-1`, `"name":"/r0/laser.rate","value":"1"`, `"name":"/r0.devices","value":1`, `"name":"/other.rate","value":1`} {
		v.Send(`{"op":"setParameters","parameters":[{%s}],"id":"d"}`, bad)
		if all := get(); all["/r0.rate"] != nil && all["/r0.rate"] != 5.0 || all["/r0/laser.rate"] != nil && all["/r0/laser.rate"] != 2.5 {
			t.Errorf("%s: %v", bad, all)
		}
	}
}

// A viewer gets the reason why a request fails, and stays connected.
func TestMistakes(t *testing.T) {
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	for _, tt := range []struct{ message, status string }{
		{`{`, "not understood"},
		{`{"op":"fetchAsset"}`, "no operation"},
		{`{"op":"subscribe","subscriptions":[{"id":1,"channelId":0}]}`, "no channel 0"},
		{`{"op":"subscribe","subscriptions":[{"id":1,"channelId":99}]}`, "no channel 99"},
		{`{"op":"subscribe","subscriptions":[{"id":1,"channelId":1},{"id":1,"channelId":2}]}`, "subscription 1 is in use"},
		{`{"op":"subscribe","subscriptions":[{"id":2,"channelId":1}]}`, "already"},
		{`{"op":"unsubscribe","subscriptionIds":[7]}`, "no subscription 7"},
		{`{"op":"advertise","channels":[{"id":1,"topic":"/r1/cmd_vel","encoding":"json"}]}`, "there is no listener"},
		{`{"op":"advertise","channels":[{"id":1,"topic":"/r0/cmd_vel","encoding":"json"}]}`, "channel 1 is in use"},
		{`{"op":"advertise","channels":[{"id":2,"topic":"/r0/cmd_vel","encoding":"cdr"}]}`, "are json"},
		{`{"op":"unadvertise","channelIds":[9]}`, "not advertised"},
		{`{"op":"setParameters","parameters":[{"name":"x","value":1}]}`, "cannot be set"},
	} {
		v.Send("%s", tt.message)
		if got := v.nextStatus(); !strings.Contains(got, tt.status) {
			t.Errorf("%s: %q", tt.message, got)
		}
	}
}

// A viewer of the control topic gets the driving client, and emergency stops.
func TestWhoDrives(t *testing.T) {
	needs.Time(t)
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	v.subscribe("/r0/control")
	is := func(what string, is func(telemetry.Control) bool) {
		t.Helper()
		l.Await(what, func() bool {
			var c telemetry.Control
			must.Do(t, json.Unmarshal(v.next("data").payload, &c))
			return is(c)
		})
	}
	is("nobody drives", func(c telemetry.Control) bool { return c.Address == "" && !c.Stopped })
	ada := must.Get(client.Dial(t.Context(), l.Address))(t)
	defer ada.Close()
	must.Do(t, errors.Join(ada.SetName("ada"), ada.Request(t.Context(), "pa"), ada.SetSpeed(100, 0)))
	is("ada drives", func(c telemetry.Control) bool { return c.Driver == "ada" && c.Address != "" })
	must.Do(t, ada.EmergencyStop(true))
	is("the robot is stopped", func(c telemetry.Control) bool { return c.Stopped })
	must.Do(t, ada.Close())
	is("nobody drives any more", func(c telemetry.Control) bool { return c.Address == "" && c.Driver == "" })
}

// A camera's pictures come while a viewer watches.
func TestPictures(t *testing.T) {
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	v.subscribe("/r0/camera/front")
	for last := ""; ; {
		var image telemetry.CompressedImage
		must.Do(t, json.Unmarshal(v.next("data").payload, &image))
		if image.Format != "jpeg" || image.FrameID != "r0/camera_front" || !strings.HasPrefix(string(image.Data), "\xff\xd8") {
			t.Fatalf("%+v", image)
		}
		if last != "" && string(image.Data) != last {
			break // another one
		}
		last = string(image.Data)
	}
	v.Send(`{"op":"unsubscribe","subscriptionIds":[0]}`)
	l.Await("the camera to be left", func() bool { return l.camera.Status().Viewers == 0 })
}

// A camera with a known field of view has a calibration, and its lens a frame on the robot:
// together they map a place to its pixel in the picture.
func TestCalibration(t *testing.T) {
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	if c := v.channels[v.channel("/r0/camera/front/calibration")-1]; c.SchemaName != "foxglove.CameraCalibration" {
		t.Errorf("%+v", c)
	}
	v.subscribe("/r0/camera/front/calibration", "/r0/camera/front", "/r0/tf")
	var calibration telemetry.CameraCalibration
	var lens telemetry.FrameTransform
	for calibration.FrameID == "" || lens.ChildFrameID != "r0/camera_front" {
		m := v.next("data")
		into := map[uint32]any{0: &calibration, 2: &lens}[m.subscription]
		if into == nil {
			continue
		}
		must.Do(t, json.Unmarshal(m.payload, into))
	}
	if c := calibration; c.FrameID != lens.ChildFrameID || c.Width != 32 || c.Height != 24 || len(c.Distortion) != 5 || len(c.Rectification) != 9 ||
		!slices.EqualFunc(c.Intrinsic, []float64{16, 0, 15.5, 0, 16, 11.5, 0, 0, 1}, near) || // 90 degrees: as far as it is half wide
		!slices.EqualFunc(c.Projection, []float64{16, 0, 15.5, 0, 0, 16, 11.5, 0, 0, 0, 1, 0}, near) {
		t.Errorf("%+v", c)
	}
	// The camera looks to the left: the axes of its picture are x of the robot, down, and y of the robot.
	if q := lens.Rotation; lens.ParentFrameID != "r0/base_link" || !near(lens.Translation.X, 0.1) ||
		!near(math.Abs(q.X), math.Sqrt2/2) || !near(q.X, -q.W) || !near(q.Y, 0) || !near(q.Z, 0) {
		t.Errorf("%+v", lens)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// A viewer that does not read for a while then gets the newest data, and no older data.
func TestSlowViewer(t *testing.T) {
	needs.Time(t)
	l := newLab(t, silenceLimit)
	v := l.open("127.0.0.1")
	v.subscribe("/r0/position")
	v.next("data")
	l.Pass(2 * time.Second)
	woke, old := time.Now(), 0
	for {
		taken := time.Unix(0, v.next("data").at)
		if taken.After(woke) {
			break
		}
		old++
	}
	if old > 3 { // one was on its way, and one is the newest; 20 were taken
		t.Errorf("%d old messages", old)
	}
}
