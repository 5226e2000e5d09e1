package logfile

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"player/codec"
	"player/e2e/npm"
)

// bagOf exports a log as a bag.
func bagOf(t testing.TB, log []byte, b Bag) (folder string, s *Summary) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "drive")
	in := filepath.Join(t.TempDir(), "run.mcap")
	if err := os.WriteFile(in, log, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	b.Name = folder
	s, err := ExportBag(in, b, func(name string) (io.Writer, error) { return created(t, filepath.Join(folder, name))() }, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return folder, s
}

// npm's readers of ROS 2 read each message of a bag from the definitions in it, and find
// those equal to ROS 2's. Values are those that the log has.
func TestBag(t *testing.T) {
	directory := npm.Install(t, "readers")
	for _, compress := range []bool{false, true} {
		folder, _ := bagOf(t, everything(t), Bag{Compress: compress})
		checkBag(t, node(t, directory, "ros.js", folder))
	}
}

func checkBag(t *testing.T, lines []string) {
	t.Helper()
	// What the messages of each topic must have in them, of all 30 rounds of the log.
	type expected struct {
		count int
		text  []string
	}
	want := map[string]expected{
		"/odom": {30, []string{"nav_msgs/msg/Odometry", `"frame_id":"odom"`, `"child_frame_id":"base_link"`, `"position":{"x":1,"y":0,"z":0}`,
			`"orientation":{"x":0,"y":0,"z":0.7071067811865475,"w":0.7071067811865476}`, `"covariance":[0.01,0,`}},
		"/cmd_vel":  {30, []string{"geometry_msgs/msg/Twist", `"linear":{"x":0.2,"y":0,"z":0},"angular":{"x":0,"y":0,"z":0}`}},
		"/scan":     {30, []string{"sensor_msgs/msg/LaserScan", `"frame_id":"laser"`, `"ranges":[0.5,0,`, `,0,"Infinity"],"intensities":[]`, `"range_max":8.18`}},
		"/sonar/0":  {30, []string{"sensor_msgs/msg/Range", `"frame_id":"sonar_0"`, `"range":"NaN"`, `"radiation_type":0`, `"max_range":5`}},
		"/sonar/1":  {30, []string{`"range":1,`, `"frame_id":"sonar_1"`}},
		"/sonar/2":  {30, []string{`"range":"Infinity"`}},
		"/sonar/15": {30, []string{`"frame_id":"sonar_15"`}},
		"/bumpers":  {30, []string{"std_msgs/msg/UInt8MultiArray", `"data":[0,0,1,0,0,0,0,0,0,0]`, `"label":"bumper","size":5,"stride":5`}},
		"/detections": {30, []string{"vision_msgs/msg/Detection2DArray", `"class_id":"2","score":1`, `"bbox":{"center":{"position":{"x":80,"y":60},"theta":0},"size_x":20,"size_y":20}`,
			`"frame_id":"camera"`}},
		"/joint_states":  {30, []string{"sensor_msgs/msg/JointState", `"name":["pan","tilt"],"position":[0.17453292519943295,0]`}},
		"/joy":           {30, []string{"sensor_msgs/msg/Joy", `"axes":[0,0,0,0,0,0,0,0],"buttons":[1,0,`}},
		"/battery_state": {30, []string{"sensor_msgs/msg/BatteryState", `"percentage":"NaN"`, `"present":true`, fmt.Sprintf(`"voltage":%v`, float64(float32(12.6)))}},
		"/tf":            {60, []string{"tf2_msgs/msg/TFMessage"}},
		"/tf_static":     {1, []string{"tf2_msgs/msg/TFMessage", `"frame_id":"base_link"`, `"child_frame_id":"laser"`, `"child_frame_id":"sonar_15"`}},
	}
	for i := 3; i < codec.SonarCount; i++ {
		want[fmt.Sprintf("/sonar/%d", i)] = expected{30, []string{fmt.Sprintf(`"frame_id":"sonar_%d"`, i), `"range":"NaN"`}}
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

// Each stamp is the time at which the data was taken, which is the message's time, too.
func TestStampsOfABag(t *testing.T) {
	folder, _ := bagOf(t, everything(t), Bag{})
	lines := node(t, npm.Install(t, "readers"), "ros.js", folder)
	for _, line := range lines {
		words := strings.SplitN(line, " ", 4)
		var message struct {
			Header struct {
				Stamp struct{ Sec, Nsec, Nanosec int64 }
			}
		}
		if err := json.Unmarshal([]byte(words[3]), &message); err != nil {
			t.Fatal(err)
		}
		at := message.Header.Stamp
		if words[0] != "/tf" && words[0] != "/tf_static" && words[0] != "/cmd_vel" && words[0] != "/bumpers" && fmt.Sprint(at.Sec*1e9+at.Nsec+at.Nanosec) != words[1] {
			t.Fatalf("%v at %s", at, words[1])
		}
	}
}
