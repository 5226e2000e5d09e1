package ros

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"player/codec"
	"player/formats/telemetry"
)

// A message with all kinds of fields, byte by byte: alignment counts from behind the
// encapsulation, and so are the elements of a sequence aligned.
func TestCDR(t *testing.T) {
	got := AppendCDR([]byte("before"), JointState{
		Header: Header{Time{1, 2}, "ab"}, Name: []string{"p"}, Position: []float64{1},
	})
	want := []byte("before\x00\x01\x00\x00" +
		"\x01\x00\x00\x00\x02\x00\x00\x00" + // stamp
		"\x03\x00\x00\x00ab\x00\x00" + // frame_id, and the gap before the next length
		"\x01\x00\x00\x00\x02\x00\x00\x00p\x00\x00\x00" + // name
		"\x01\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\xf0\x3f" + // position, at a multiple of 8
		"\x00\x00\x00\x00\x00\x00\x00\x00") // velocity, effort
	if !bytes.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAppendJSON(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, tt := range []struct {
		message any
		want    string
	}{
		{LaserScan{Header: Header{Time{-1, 5}, "a\"b"}, AngleMin: -1.5, RangeMax: inf, Ranges: []float32{0.1, inf, -inf, nan, 1e-9}},
			`{"header":{"stamp":{"sec":-1,"nanosec":5},"frame_id":"a\"b"},"angle_min":-1.5,"angle_max":0,"angle_increment":0,"time_increment":0,"scan_time":0,"range_min":0,"range_max":null,"ranges":[0.1,null,null,null,1e-09],"intensities":[]}`},
		{UInt8MultiArray{Data: []uint8{1, 0, 255}}, `{"layout":{"dim":[],"data_offset":0},"data":"AQD/"}`},
		{Twist{Vector3{X: 0.1}, Vector3{Z: math.NaN()}}, `{"linear":{"x":0.1,"y":0,"z":0},"angular":{"x":0,"y":0,"z":null}}`},
	} {
		if got := string(AppendJSON(nil, tt.message)); got != tt.want || !json.Valid([]byte(got)) {
			t.Errorf("%T:\n%s, want\n%s", tt.message, got, tt.want)
		}
	}
	for _, messages := range packages() {
		for _, m := range messages {
			if got := AppendJSON(nil, m); !json.Valid(got) {
				t.Errorf("%T: %s", m, got)
			}
		}
	}
}

func TestDefinitions(t *testing.T) {
	for _, d := range definitions() {
		if strings.Contains(d.text, "MSG: /") || strings.Contains(d.text, "struct") {
			t.Errorf("%s has a message in it that has no package: %s", d.name, d.text)
		}
	}
}

// ROS 2 refuses topics with parts of another form.
var legal = regexp.MustCompile("^[A-Za-z](_?[A-Za-z0-9])*$")

func TestName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"r1": "r1", "A_b2": "A_b2", "robot-1": "robot_1", "3pi": "robot_3pi", "Röbot 2": "R_bot_2", "日本": "robot", "": "robot",
		"_hidden_": "hidden", "a__b": "a_b", "../x\x1b[2J\n": "x_2J", "a/b": "a_b", "\xff": "robot",
	} {
		if got := Name(Robot, name); got != want || !legal.MatchString(got) || Name(Robot, got) != got {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	got := Names(Robot, []string{"a-1", "a_1", "a 1", "a_1_2", "a-1", "3", "robot_3", "日", "本"})
	want := []string{"a_1_3", "a_1", "a_1_4", "a_1_2", "a_1_3", "robot_3_2", "robot_3", "robot", "robot_2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Of several robots each has a namespace, and of several devices each a number.
func TestTopics(t *testing.T) {
	c := New("r1", []telemetry.Device{{Interface: "position"}, {Interface: "laser", Index: 1}, {Interface: "sonar", Index: 2}, {Interface: "vision", Index: 1}, {Interface: "ptz", Index: 1}})
	c.Data(0, 1e9, (&codec.PositionData{}).Append(nil))
	c.Data(1, 1e9, (&codec.LaserData{}).Append(nil))
	c.Data(2, 1e9, (&codec.SonarData{}).Append(nil))
	c.Data(3, 1e9, (&codec.VisionData{}).Append(nil))
	c.Data(4, 1e9, (&codec.PTZData{}).Append(nil))
	c.Command(0, 1e9, codec.PositionCommand{Speed: 1}.Append(nil))
	var names []string
	for _, topic := range c.Topics() {
		names = append(names, topic.Name)
	}
	got := " " + strings.Join(names, " ")
	for _, want := range []string{"/r1/odom", " /tf ", " /tf_static ", "/r1/scan_1", "/r1/sonar_2/range_15", "/r1/detections_1", "/r1/joint_states_1", "/r1/cmd_vel"} {
		if !strings.Contains(got+" ", want) {
			t.Errorf("%s is not among %s", want, got)
		}
	}
	for _, m := range c.Data(1, 2e9, (&codec.LaserData{}).Append(nil)) {
		if scan, ok := m.Content.(LaserScan); ok && scan.Header.FrameID != "r1/laser1" {
			t.Errorf("frame %s", scan.Header.FrameID)
		}
	}
}

// A receiver's place is a NavSatFix with its fix, and an Imu marks its unknown values.
func TestSensors(t *testing.T) {
	c := New("", []telemetry.Device{{Interface: "gps"}, {Interface: "imu", Index: 2}})
	one := func(device int, payload []byte, topic string) (content any) {
		t.Helper()
		for _, m := range c.Data(device, 1e9, payload) {
			if c.Topics()[m.Topic].Name == topic {
				content = m.Content
			}
		}
		return content
	}
	for fix, status := range map[codec.Fix]int8{codec.PlainFix: 0, codec.RTKFix: 2, codec.FloatFix: 2, codec.DGPSFix: 2, codec.DeadReckon: 0} {
		gps := codec.GPSData{Fix: fix, Latitude: 525000000, Longitude: 10000000, Height: 1000, Horizontal: codec.UnknownAmount}
		got := one(0, gps.Append(nil), "/fix").(NavSatFix)
		want := NavSatFix{Header: got.Header, Status: NavSatStatus{status, 1}, Latitude: 52.5, Longitude: 1, Altitude: 1}
		if got != want || got.Header.FrameID != "gps" {
			t.Errorf("%+v, want %+v", got, want)
		}
		cdr := AppendCDR(nil, got)
		// Behind the header, of 4 + 8 + 8 bytes, come the status, a byte of padding, the service, and the latitude at a multiple of 8.
		if cdr[4+16] != byte(status) || cdr[4+18] != 1 || math.Float64frombits(binary.LittleEndian.Uint64(cdr[4+24:])) != 52.5 {
			t.Errorf("% X", cdr)
		}
	}
	none := codec.UnknownGPS()
	if got := one(0, none.Append(nil), "/fix"); got != nil {
		t.Errorf("without a fix: %+v", got)
	}
	imu := codec.UnknownIMU()
	imu.Yaw = 90000
	got := one(1, imu.Append(nil), "/imu_2").(Imu)
	if got.OrientationCovariance[0] != 0 || got.AngularVelocityCovariance[0] != -1 || got.LinearAccelerationCovariance[0] != -1 || got.Header.FrameID != "imu2" {
		t.Errorf("%+v", got)
	}
}

// A reading that means "nothing seen" becomes infinite; other readings stay as they are.
func TestReach(t *testing.T) {
	for _, tt := range []struct {
		reach float64
		mm    uint16
		want  float32
		most  float32
	}{
		{0, 500, 0.5, noEcho}, {0, 8182, 8.182, noEcho}, {0, 8183, float32(math.Inf(1)), noEcho}, {0, 8191, float32(math.Inf(1)), noEcho},
		{0, 12000, 12, farthest}, {12, 8191, 8.191, 12}, {12, 11999, 11.999, 12}, {12, 12000, float32(math.Inf(1)), 12},
	} {
		c := New("", []telemetry.Device{{Interface: "laser"}})
		c.Reach = tt.reach
		for _, m := range c.Data(0, 1e9, (&codec.LaserData{7: tt.mm}).Append(nil)) {
			if scan, ok := m.Content.(LaserScan); ok && (scan.Ranges[7] != tt.want || scan.RangeMax != tt.most) {
				t.Errorf("%d mm, reach %v: %v, at most %v", tt.mm, tt.reach, scan.Ranges[7], scan.RangeMax)
			}
		}
	}
}

// Too near, too far, not fired (REP 117).
func TestSonarRange(t *testing.T) {
	for r, want := range map[float64]float32{0.05: float32(math.Inf(-1)), 0.1: 0.1, 4.999: 4.999, 5: float32(math.Inf(1))} {
		if got := sonarRange(r); got != want {
			t.Errorf("%v: %v, want %v", r, got, want)
		}
	}
	if got := sonarRange(0); got == got {
		t.Errorf("0: %v", got)
	}
}

// A bag without messages has a list of topics that is empty.
func TestEmptyBag(t *testing.T) {
	if got := string(AppendBagIndex(nil, "a_0.mcap", 0, 0, nil)); !strings.HasSuffix(got, "topics_with_message_count: []\n") {
		t.Error(got)
	}
}

// Fixed frames are sent again every ten seconds, and moving ones always.
func TestStaticFrames(t *testing.T) {
	c := New("", []telemetry.Device{{Interface: "position"}, {Interface: "laser"}})
	count := map[string]int{}
	for second := range int64(21) {
		for _, m := range c.Data(0, second*1e9, (&codec.PositionData{}).Append(nil)) {
			count[c.Topics()[m.Topic].Name]++
		}
	}
	if count["/tf"] != 21 || count["/tf_static"] != 3 {
		t.Errorf("%v", count)
	}
}

// No payload makes the converter panic.
func FuzzData(f *testing.F) {
	devices := []telemetry.Device{{Interface: "position"}, {Interface: "laser"}, {Interface: "sonar"}, {Interface: "misc"}, {Interface: "gripper"},
		{Interface: "vision"}, {Interface: "ptz"}, {Interface: "joystick"}, {Interface: "ranger", Description: rays(codec.Rays{Count: 2, Step: -1})},
		{Interface: "io"}, {Interface: "servo"}, {Interface: "imu"}, {Interface: "gps"}}
	f.Add(uint8(0), (&codec.PositionData{}).Append(nil))
	f.Add(uint8(5), (&codec.VisionData{Blobs: []codec.Blob{{Area: 1}}}).Append(nil))
	f.Fuzz(func(_ *testing.T, device uint8, payload []byte) {
		c := New("", devices)
		var b []byte
		for range 2 {
			for _, m := range append(c.Data(int(device)%len(devices), 1, payload), c.Command(int(device)%len(devices), 1, payload)...) {
				b = AppendCDR(b[:0], m.Content)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	c := New("", []telemetry.Device{{Interface: "laser"}})
	payload := (&codec.LaserData{}).Append(nil)
	var out []byte
	for b.Loop() {
		for _, m := range c.Data(0, 1e9, payload) {
			out = AppendCDR(out[:0], m.Content)
		}
	}
}

// Programs ask for definitions again and again, and each connection needs all of them.
func TestSchemaIsMadeOnce(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Schema("sensor_msgs/msg/LaserScan") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
