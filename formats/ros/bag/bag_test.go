package bag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/npm"
	"player/formats/logfile"
	"player/formats/ros"
	"player/formats/telemetry"
)

const ms = time.Millisecond

// started is the start time of the tests' server.
var started = time.Date(2026, 7, 28, 10, 15, 0, 123456789, time.UTC)

// content is the content of a channel of a test's log in a round.
type content struct {
	logfile.Channel
	payload []byte
}

// record returns a log of the devices in rounds, of which there is one each 100 ms, and in each
// round of a picture of each camera.
func record(t testing.TB, cameras []string, rounds [][]content) []byte {
	t.Helper()
	about := logfile.Info{Server: "player test", Start: started, Cameras: cameras}
	for _, c := range rounds[0] {
		about.Channels = append(about.Channels, c.Channel)
	}
	var out bytes.Buffer
	w := must.Get(logfile.NewWriter(&out, about))(t)
	var b logfile.Batch
	for i, round := range rounds {
		now := time.Duration(i) * 100 * ms
		b.Reset()
		for j, c := range round {
			b.Add(j, now+time.Duration(j)*ms, c.payload)
		}
		for j, camera := range cameras {
			b.Add(len(round)+j, now, logfile.AppendPicture(nil, camera, started.Add(now).UnixNano(), []byte(camera+"'s picture")))
		}
		must.Do(t, w.WriteChunk(&b))
	}
	must.Do(t, w.Close())
	return out.Bytes()
}

// everything returns a log of three seconds with messages of all devices.
func everything(t testing.TB) []byte {
	vision := codec.VisionData{Blobs: []codec.Blob{{Area: 100, X: 80, Y: 60, Left: 70, Right: 90, Top: 50, Bottom: 70}}}
	vision.Count[2] = 1
	round := []content{
		{logfile.Channel{Interface: "position"}, (&codec.PositionData{X: 1000, Heading: 90}).Append(nil)},
		{logfile.Channel{Interface: "position", Content: logfile.Command}, codec.PositionCommand{Speed: 200}.Append(nil)},
		{logfile.Channel{Interface: "position", Content: logfile.Configuration}, []byte("m\x01")},
		{logfile.Channel{Interface: "laser", Geometry: telemetry.Geometry{X: 60}}, (&codec.LaserData{0: 500, 360: 8191}).Append(nil)},
		{logfile.Channel{Interface: "sonar"}, (&codec.SonarData{1: 1000, 2: 5000}).Append(nil)},
		{logfile.Channel{Interface: "misc"}, (&codec.MiscData{FrontBumpers: 4, Battery: 126}).Append(nil)},
		{logfile.Channel{Interface: "gripper"}, (&codec.GripperData{State: codec.PaddlesOpen, Beams: codec.OuterBeam}).Append(nil)},
		{logfile.Channel{Interface: "vision"}, vision.Append(nil)},
		{logfile.Channel{Interface: "ptz"}, (&codec.PTZData{Pan: 10}).Append(nil)},
		{logfile.Channel{Interface: "joystick"}, (&codec.JoystickData{Buttons: 1}).Append(nil)},
		{logfile.Channel{Interface: "goto"}, (&codec.GotoData{State: codec.GotoStopped, Reason: codec.GotoByOther, X: 1500, Distance: 20}).Append(nil)},
		{logfile.Channel{Interface: "goto", Content: logfile.Command}, codec.GotoCommand{X: 1500, Heading: codec.AnyHeading}.Append(nil)},
	}
	return record(t, []string{"front", "arm-2"}, slices.Repeat([][]content{round}, 30))
}

// create creates the files of an export in a folder.
func create(t testing.TB, folder string) func(name string) (io.Writer, error) {
	return func(name string) (io.Writer, error) {
		file, err := os.Create(filepath.Join(folder, name))
		t.Cleanup(func() { file.Close() })
		return file, err
	}
}

// A log's definition of a picture equals the one in package ros, and so does its content.
func TestPictures(t *testing.T) {
	folder, _ := bagOf(t, everything(t), Options{})
	file := must.Get(os.ReadFile(filepath.Join(folder, "drive_0.mcap")))(t)
	if !bytes.Contains(file, []byte(ros.Schema(logfile.PictureType))) {
		t.Error("the definition of a picture differs")
	}
	for size := range 5 { // of all lengths modulo 4
		name, picture := strings.Repeat("c", size+1), make([]byte, size)
		frame := telemetry.New("", nil).Image(name, 1e18+7, picture).FrameID
		content := ros.CompressedImage{Header: ros.Header{Stamp: ros.Time{Sec: 1e9, Nanosec: 7}, FrameID: frame}, Format: "jpeg", Data: picture}
		got, want := logfile.AppendPicture(nil, name, 1e18+7, picture), ros.AppendCDR(nil, content)
		if !bytes.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// bagOf exports a log as a bag.
func bagOf(t testing.TB, log []byte, o Options) (folder string, s *logfile.Summary) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "drive")
	in := filepath.Join(t.TempDir(), "run.mcap")
	must.Do(t, os.WriteFile(in, log, 0o644))
	must.Do(t, os.Mkdir(folder, 0o755))
	o.Name = folder
	s = must.Get(Export(in, o, create(t, folder), func(int64, int64) {}))(t)
	return folder, s
}

// npm's readers of ROS 2 read each message of a bag from the definitions in it, and find
// those equal to ROS 2's. Values are those that the log has.
func TestBag(t *testing.T) {
	needs.Time(t)
	directory := npm.Install(t, readers)
	for _, compress := range []bool{false, true} {
		folder, _ := bagOf(t, everything(t), Options{Compress: compress})
		checkBag(t, npm.Node(t, directory, "ros.js", folder))
	}
}

func checkBag(t *testing.T, lines []string) {
	t.Helper()
	// The number of messages of each topic, and texts that they must have, of all 30 rounds of the log.
	type expected struct {
		count int
		text  []string
	}
	want := map[string]expected{
		"/odom": {30, []string{"nav_msgs/msg/Odometry", `"frame_id":"odom"`, `"child_frame_id":"base_link"`, `"position":{"x":1,"y":0,"z":0}`,
			`"orientation":{"x":0,"y":0,"z":0.7071067811865475,"w":0.7071067811865476}`, `"covariance":[0.01,0,`}},
		"/cmd_vel":        {30, []string{"geometry_msgs/msg/Twist", `"linear":{"x":0.2,"y":0,"z":0},"angular":{"x":0,"y":0,"z":0}`}},
		"/scan":           {30, []string{"sensor_msgs/msg/LaserScan", `"frame_id":"laser"`, `"ranges":[0.5,0,`, `,0,"Infinity"],"intensities":[]`, `"range_max":8.18`}},
		"/sonar/range_0":  {30, []string{"sensor_msgs/msg/Range", `"frame_id":"sonar_0"`, `"range":"NaN"`, `"radiation_type":0`, `"max_range":5`}},
		"/sonar/range_1":  {30, []string{`"range":1,`, `"frame_id":"sonar_1"`}},
		"/sonar/range_2":  {30, []string{`"range":"Infinity"`}},
		"/sonar/range_15": {30, []string{`"frame_id":"sonar_15"`}},
		"/bumpers":        {30, []string{"std_msgs/msg/UInt8MultiArray", `"data":[0,0,1,0,0,0,0,0,0,0]`, `"label":"bumper","size":5,"stride":5`}},
		"/detections": {30, []string{"vision_msgs/msg/Detection2DArray", `"class_id":"2","score":1`, `"bbox":{"center":{"position":{"x":80,"y":60},"theta":0},"size_x":20,"size_y":20}`,
			`"frame_id":"camera"`}},
		"/joint_states": {30, []string{"sensor_msgs/msg/JointState", `"name":["pan","tilt"],"position":[0.17453292519943295,0]`}},
		"/goal_status": {30, []string{"diagnostic_msgs/msg/DiagnosticStatus", `"level":2,"name":"goto","message":"stopped: other","hardware_id":"",` +
			`"values":[{"key":"distance","value":"0.020"},{"key":"x","value":"1.500"},{"key":"y","value":"0.000"}]`}},
		"/goal_pose":               {30, []string{"geometry_msgs/msg/PoseStamped", `"frame_id":"odom"},"pose":{"position":{"x":1.5,"y":0,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":0}}`}},
		"/joy":                     {30, []string{"sensor_msgs/msg/Joy", `"axes":[0,0,0,0,0,0,0,0],"buttons":[1,0,`}},
		"/camera_front/compressed": {30, []string{"sensor_msgs/msg/CompressedImage", `"frame_id":"camera_front"`, `"format":"jpeg"`, `"data":[102,114,111,110,116,39,115,`}},
		"/camera_arm_2/compressed": {30, []string{`"frame_id":"camera_arm-2"`, `"sec":`, `"data":[97,114,109,45,50,39,115,`}},
		"/battery_state":           {30, []string{"sensor_msgs/msg/BatteryState", `"percentage":"NaN"`, `"present":true`, fmt.Sprintf(`"voltage":%v`, float64(float32(12.6)))}},
		"/tf":                      {60, []string{"tf2_msgs/msg/TFMessage"}},
		"/tf_static":               {1, []string{"tf2_msgs/msg/TFMessage", `"frame_id":"base_link"`, `"child_frame_id":"laser"`, `"child_frame_id":"sonar_15"`}},
	}
	for i := 3; i < codec.SonarCount; i++ {
		want[fmt.Sprintf("/sonar/range_%d", i)] = expected{30, []string{fmt.Sprintf(`"frame_id":"sonar_%d"`, i), `"range":"NaN"`}}
	}
	got := map[string]int{}
	for _, line := range lines {
		topic, rest, _ := strings.Cut(line, " ")
		w, known := want[topic]
		if got[topic]++; !known {
			t.Errorf("unexpected %.200s", line)
			continue
		}
		for _, text := range w.text {
			if !strings.Contains(rest, text) {
				t.Errorf("%s lacks %s: %.600s", topic, text, rest)
				delete(want, topic)
			}
		}
	}
	for topic, w := range want {
		if got[topic] != w.count {
			t.Errorf("%s: %d messages, want %d", topic, got[topic], w.count)
		}
	}
}

// Each value of a bag equals the value that our own reader finds in the log at that time.
func TestValuesOfABag(t *testing.T) {
	log := changing(t)
	folder, _ := bagOf(t, log, Options{Compress: true})
	type place struct{ topic, at string }
	bag, stamped := map[place]any{}, 0
	for _, line := range npm.Node(t, npm.Install(t, readers), "ros.js", folder) {
		words := strings.SplitN(line, " ", 4)
		var fields any
		must.Do(t, json.Unmarshal([]byte(words[3]), &fields))
		if stamp := numbers(fields, "header.stamp.sec"); len(stamp) > 0 {
			at := fmt.Sprintf("%.0f%09.0f", stamp[0], append(numbers(fields, "header.stamp.nsec"), numbers(fields, "header.stamp.nanosec")...)[0])
			if stamped++; at != words[1] {
				t.Errorf("%s at %s has the stamp %s", words[0], words[1], at)
			}
		}
		bag[place{words[0], words[1]}] = fields
	}
	in := must.Get(logfile.NewReader(bytes.NewReader(log)))(t)
	compared := 0
	for {
		m, err := in.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, value := range valuesOf(t, m) {
			compared++
			got := numbers(bag[place{value.topic, fmt.Sprint(m.Time)}], value.path)
			if !slices.EqualFunc(got, value.want, func(a, b float64) bool {
				return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(b))
			}) {
				t.Fatalf("%s.%s at %d: %v, the log has %v", value.topic, value.path, m.Time, got, value.want)
			}
		}
	}
	const values, headers = 6 + 1 + codec.SonarCount + 2 + 2 + 1 + 1 + 2, 1 + 1 + codec.SonarCount + 1 + 1 + 1 + 1 // of a round
	if compared != changes*values || stamped != changes*headers {
		t.Errorf("%d values and %d stamps compared", compared, stamped)
	}
}

// A log of an hour, at night of two, becomes a bag of 30 MB an hour, and takes no more memory than its beginning,
// except for the index of chunks. Its progress goes from its beginning to its end.
func TestMemoryOfABag(t *testing.T) {
	in := filepath.Join(t.TempDir(), "run.mcap")
	file := must.Get(os.Create(in))(t)
	defer file.Close()
	w := must.Get(logfile.NewWriter(file, logfile.Info{Start: started, Channels: []logfile.Channel{{Interface: "position"}}}))(t)
	var b logfile.Batch
	hours := acceptance.Rounds(1, 2)
	for i := range hours * 60 * 60 {
		b.Reset()
		for j := range 10 {
			b.Add(0, time.Duration(i)*time.Second+time.Duration(j)*100*ms, (&codec.PositionData{X: int32(i)}).Append(nil))
		}
		must.Do(t, w.WriteChunk(&b))
	}
	must.Do(t, w.Close())
	var first, most, at, all int64
	out := &sized{}
	_, err := Export(in, Options{Name: "drive"}, func(string) (io.Writer, error) { return out, nil }, func(done, total int64) {
		if done < at {
			t.Errorf("%d done after %d", done, at)
		}
		at, all, most = done, total, max(most, heap())
		if first == 0 {
			first = most
		}
	})
	if err != nil || int(out.size) < hours*30e6 || at < all*8/10 || most-first > 2<<20 {
		t.Errorf("%v: %d bytes, progress to %d of %d, the heap grew by %d", err, out.size, at, all, most-first)
	}
	t.Logf("%d MB, the heap grew by %d KB", out.size>>20, (most-first)>>10)
}

// changes is how often each device has new data in changing.
const changes = 30

// changing returns a log in which no two messages have the same value.
func changing(t *testing.T) []byte {
	t.Helper()
	channels := []logfile.Channel{{Interface: "position"}, {Interface: "laser"}, {Interface: "sonar"}, {Interface: "misc"}, {Interface: "joystick"},
		{Interface: "ptz"}, {Interface: "vision"}, {Interface: "position", Content: logfile.Command}}
	var rounds [][]content
	for i := range changes {
		var scan codec.LaserData
		var ring codec.SonarData
		for j := range scan {
			scan[j] = uint16(i*271+j*23) % 8192
		}
		for j := range ring {
			ring[j] = uint16(i*200 + j*50)
		}
		vision := codec.VisionData{Blobs: []codec.Blob{{Area: i, X: i, Y: 2 * i, Left: i, Right: 3 * i, Top: i, Bottom: 2 * i}}}
		vision.Count[i] = 1
		var round []content
		for j, payload := range [][]byte{
			(&codec.PositionData{X: int32(-100 * i), Y: int32(77 * i), Heading: uint16(13 * i % 360), Speed: int16(10 - 3*i), TurnRate: int16(2*i - 9)}).Append(nil),
			scan.Append(nil), ring.Append(nil), (&codec.MiscData{FrontBumpers: uint8(i), RearBumpers: uint8(31 - i), Battery: uint8(90 + i)}).Append(nil),
			(&codec.JoystickData{Buttons: 1 << i, Axes: [codec.JoystickAxes]int16{int16(1000 * i), int16(-500 * i)}}).Append(nil),
			(&codec.PTZData{Pan: int16(i - 15), Tilt: int16(2 - i)}).Append(nil), vision.Append(nil),
			codec.PositionCommand{Speed: int16(9 * i), TurnRate: int16(-i)}.Append(nil),
		} {
			round = append(round, content{channels[j], payload})
		}
		rounds = append(rounds, round)
	}
	return record(t, nil, rounds)
}

// expectedValue is the expected value of a field of a message of ROS.
type expectedValue struct {
	topic, path string
	want        []float64
}

// valuesOf decodes a message of a log.
func valuesOf(t *testing.T, m logfile.Message) []expectedValue {
	t.Helper()
	decoded := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	rad := func(degrees int16) float64 { return float64(degrees) * math.Pi / 180 }
	bits := func(set uint32, n int) (all []float64) {
		for i := range n {
			all = append(all, float64(set>>i&1))
		}
		return all
	}
	if m.Channel.Content == logfile.Command {
		var c codec.PositionCommand
		decoded(c.Decode(m.Payload))
		return []expectedValue{{"/cmd_vel", "linear.x", []float64{float64(c.Speed) / 1000}}, {"/cmd_vel", "angular.z", []float64{rad(c.TurnRate)}}}
	}
	switch m.Channel.Interface {
	case "position":
		var d codec.PositionData
		decoded(d.Decode(m.Payload))
		half := float64(d.Heading) * math.Pi / 360
		return []expectedValue{{"/odom", "pose.pose.position.x", []float64{float64(d.X) / 1000}}, {"/odom", "pose.pose.position.y", []float64{float64(d.Y) / 1000}},
			{"/odom", "pose.pose.orientation.z", []float64{math.Sin(half)}}, {"/odom", "pose.pose.orientation.w", []float64{math.Cos(half)}},
			{"/odom", "twist.twist.linear.x", []float64{float64(d.Speed) / 1000}}, {"/odom", "twist.twist.angular.z", []float64{rad(d.TurnRate)}}}
	case "laser":
		var d codec.LaserData
		decoded(d.Decode(m.Payload))
		var ranges []float64
		for _, mm := range d {
			if mm >= 8183 { // nothing was seen
				ranges = append(ranges, math.Inf(1))
			} else {
				ranges = append(ranges, float64(mm)/1000)
			}
		}
		return []expectedValue{{"/scan", "ranges", ranges}}
	case "sonar":
		var d codec.SonarData
		decoded(d.Decode(m.Payload))
		var all []expectedValue
		for i, mm := range d {
			r := float64(mm) / 1000
			switch {
			case mm == 0:
				r = math.NaN()
			case mm < 100:
				r = math.Inf(-1)
			case mm >= 5000:
				r = math.Inf(1)
			}
			all = append(all, expectedValue{fmt.Sprintf("/sonar/range_%d", i), "range", []float64{r}})
		}
		return all
	case "misc":
		var d codec.MiscData
		decoded(d.Decode(m.Payload))
		return []expectedValue{{"/battery_state", "voltage", []float64{float64(d.Battery) / 10}}, {"/bumpers", "data", append(bits(uint32(d.FrontBumpers), 5), bits(uint32(d.RearBumpers), 5)...)}}
	case "joystick":
		var d codec.JoystickData
		decoded(d.Decode(m.Payload))
		var axes []float64
		for _, v := range d.Axes {
			axes = append(axes, float64(v)/32767)
		}
		return []expectedValue{{"/joy", "axes", axes}, {"/joy", "buttons", bits(d.Buttons, 32)}}
	case "ptz":
		var d codec.PTZData
		decoded(d.Decode(m.Payload))
		return []expectedValue{{"/joint_states", "position", []float64{rad(d.Pan), rad(d.Tilt)}}}
	case "vision":
		var d codec.VisionData
		decoded(d.Decode(m.Payload))
		return []expectedValue{{"/detections", "detections.0.bbox.size_x", []float64{float64(d.Blobs[0].Right - d.Blobs[0].Left)}}}
	}
	t.Fatalf("there is a %s", m.Channel.Interface)
	return nil
}

// numbers returns the numbers at a place in decoded JSON, none if there is nothing.
func numbers(in any, path string) (all []float64) {
	for name := range strings.SplitSeq(path, ".") {
		switch v := in.(type) {
		case map[string]any:
			in = v[name]
		case []any:
			i, _ := strconv.Atoi(name)
			in = v[i]
		}
	}
	list, many := in.([]any)
	if !many {
		list = []any{in}
	}
	for _, v := range list {
		switch v := v.(type) {
		case float64:
			all = append(all, v)
		case string: // "Infinity"
			if f, err := strconv.ParseFloat(v, 64); err == nil {
				all = append(all, f)
			}
		}
	}
	return all
}

// sized counts the bytes written to it.
type sized struct{ size int64 }

func (s *sized) Write(b []byte) (int, error) { s.size += int64(len(b)); return len(b), nil }

// heap returns the bytes of the heap that are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// readers has programs that read logs with npm's packages.
const readers = "../../logfile/readers"

func TestTopicsOfCameras(t *testing.T) {
	want := []string{"/camera_front/compressed", "/camera_3d_left/compressed", "/camera_a_b_2/compressed", "/camera_a_b/compressed", "/camera_a/compressed"}
	if got := topicsOf([]string{"front", "3d--left-", "a-b", "a_b", "a\n"}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
