package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"player/codec"
	"player/e2e/must"
	"player/e2e/npm"
	"player/e2e/ports"
	"player/e2e/waiting"
	"player/fleet/bridge"
	"player/fleet/export"
)

// recorded returns the number of messages in the stream, by subject.
func recorded(t *testing.T, conn *nats.Conn) map[string]uint64 {
	t.Helper()
	js := must.Get(jetstream.New(conn))(t)
	stream := must.Get(js.Stream(t.Context(), bridge.Stream("lab")))(t)
	info := must.Get(stream.Info(t.Context(), jetstream.WithSubjectFilter(">")))(t)
	return info.State.Subjects
}

// The stream is the only listener, so exactly the chosen data is read and kept. A
// consumer that comes late gets the past data, and then the new. When the program starts
// without -record, the recording ends and stays.
func TestRecording(t *testing.T) {
	t.Parallel()
	robots := []robot{startRobot(t, "a"), startRobot(t, "b")}
	server := startEmbedded(t)
	first, conn := startFleet(t, robots, "-nats", server.ClientURL(), "-record", "sonar", "-record", "a.position")
	const sonars, odometry = "player.lab.b.sonar.0.data", "player.lab.a.position.0.data"
	waiting.Until(t, "recording", func() bool {
		have := recorded(t, conn)
		return have[sonars] > 20 && have[odometry] > 20
	})
	for subject := range recorded(t, conn) {
		if subject != odometry && !strings.HasSuffix(subject, ".sonar.0.data") {
			t.Errorf("%s is recorded", subject)
		}
	}
	for _, r := range robots {
		want := map[string]string{"a": "ps", "b": "s"}[r.name]
		var open string
		for _, letter := range "psl" {
			if r.report(t).Clients[0].Devices[string(letter)] == "r" {
				open += string(letter)
			}
		}
		if open != want {
			t.Errorf("of %s %q is read, want %q", r.name, open, want)
		}
	}

	// A request is answered by the bridge, not by the stream.
	if r := request(t, conn, "player.lab.a.sonar.0.rate", "", []byte("25")); r.Rate != 25 {
		t.Errorf("a request for a rate: %+v", r)
	}

	js := must.Get(jetstream.New(conn))(t)
	consumer := must.Get(js.OrderedConsumer(t.Context(), bridge.Stream("lab"), jetstream.OrderedConsumerConfig{FilterSubjects: []string{sonars}}))(t)
	history := consumer.CachedInfo().NumPending
	messages := must.Get(consumer.Messages())(t)
	defer messages.Stop()
	var last uint64
	for n := range history + 10 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		m, err := messages.Next(jetstream.NextContext(ctx))
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		about := must.Get(m.Metadata())(t)
		if n == 0 && about.Sequence.Stream > 20 {
			t.Errorf("the first message has number %d: what was before is missing", about.Sequence.Stream)
		}
		if about.Sequence.Stream <= last {
			t.Errorf("message %d after %d", about.Sequence.Stream, last)
		}
		last = about.Sequence.Stream
	}

	var calls, now, all int64
	_, err := export.Write(t.Context(), js, export.Choice{Fleet: "lab", To: time.Now()}, io.Discard, io.Discard, "", func(done, total int64) {
		if calls++; done < now {
			t.Errorf("%d done after %d", done, now)
		}
		now, all = done, total
	})
	if err != nil || calls < 20 || now < all*9/10 { // the recording goes on
		t.Errorf("%d calls, at last with %d of %d: %v", calls, now, all, err)
	}

	first.End(t, os.Interrupt)
	_, conn = startFleet(t, robots, "-nats", server.ClientURL())
	status := subscribe(t, conn, "player.lab.b.status")
	for range 3 { // a round has found nobody
		must.Get(status.NextMsg(patience))(t)
	}
	waiting.Until(t, "end of reading", func() bool { return len(robots[1].readers(t)) == 0 })
	if have := recorded(t, conn); have[sonars] < history {
		t.Errorf("%d messages are left, there were %d", have[sonars], history)
	}
}

// The oldest messages make room.
func TestRecordingIsBounded(t *testing.T) {
	t.Parallel()
	_, conn := startFleet(t, []robot{startRobot(t, "a")}, "-record", "all", "-record-size", "1")
	for range 40 { // as much as minutes of a laser
		must.Do(t, conn.Publish("player.lab.a.laser.0.data", make([]byte, 50_000)))
	}
	js := must.Get(jetstream.New(conn))(t)
	stream := must.Get(js.Stream(t.Context(), bridge.Stream("lab")))(t)
	waiting.Until(t, "end of the oldest messages", func() bool {
		info := must.Get(stream.Info(t.Context()))(t)
		if info.State.Bytes > 1<<20 {
			t.Fatalf("the recording has %d bytes, at most 1 MiB is allowed", info.State.Bytes)
		}
		return info.State.FirstSeq > 1
	})
	if age := stream.CachedInfo().Config.MaxAge; age != 24*time.Hour {
		t.Errorf("messages are kept for %v", age)
	}
}

// exported runs export and returns its output, and the file.
func exported(t *testing.T, url string, args ...string) (out, path string, err error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "out.mcap")
	text, err := exec.Command(program, append([]string{"export", "-fleet", "lab", "-nats", url, "-o", path}, args...)...).CombinedOutput()
	return string(text), path, err
}

// drawing is a file of MCAP as another program's library reads it.
type drawing struct {
	messages map[string]int    // by topic
	schemas  map[string]string // by topic
	frames   map[string]bool
	scan     struct {
		Ranges  []float64
		FrameID string `json:"frame_id"`
	}
	begin, end uint64 // ns since 1970
}

func read(t *testing.T, path string) drawing {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer file.Close()
	reader := must.Get(mcap.NewReader(file))(t)
	defer reader.Close()
	messages := must.Get(reader.Messages(mcap.UsingIndex(true), mcap.InOrder(mcap.LogTimeOrder)))(t)
	d := drawing{messages: map[string]int{}, schemas: map[string]string{}, frames: map[string]bool{}}
	for {
		schema, channel, m, err := messages.NextInto(nil)
		if err == io.EOF {
			return d
		}
		if err != nil {
			t.Fatal(err)
		}
		var content struct {
			Child string `json:"child_frame_id"`
		}
		if err := json.Unmarshal(m.Data, &content); err != nil || channel.MessageEncoding != "json" || schema.Encoding != "jsonschema" {
			t.Fatalf("%s: %s in %s: %v", channel.Topic, schema.Encoding, channel.MessageEncoding, err)
		}
		d.messages[channel.Topic]++
		d.schemas[channel.Topic] = schema.Name
		if content.Child != "" {
			d.frames[content.Child] = true
		}
		if channel.Topic == "/a/laser" {
			must.Do(t, json.Unmarshal(m.Data, &d.scan))
		}
		if d.begin == 0 {
			d.begin = m.LogTime
		}
		d.end = m.LogTime
	}
}

// Topics and frames of a bag have names that ROS takes, and the user sees which were changed.
func TestBagNames(t *testing.T) {
	t.Parallel()
	p, conn := startFleet(t, []robot{startRobot(t, "3pi"), startRobot(t, "robot-1")}, "-record", "laser")
	waiting.Until(t, "recording", func() bool {
		have := recorded(t, conn)
		return have["player.lab.3pi.laser.0.data"] > 5 && have["player.lab.robot-1.laser.0.data"] > 5 // the first ones may have no data
	})
	bag := filepath.Join(t.TempDir(), "bag")
	out, _, err := exported(t, natsOf(t, p), "-ros", "-o", bag)
	if err != nil || !strings.Contains(out, "3pi is robot_3pi in the bag") || !strings.Contains(out, "robot-1 is robot_1 in the bag") {
		t.Fatalf("export -ros: %v, %s", err, out)
	}
	about := must.Get(os.ReadFile(filepath.Join(bag, "metadata.yaml")))(t)
	for _, want := range []string{"name: /robot_3pi/scan\n", "name: /robot_1/scan\n"} {
		if !strings.Contains(string(about), want) {
			t.Errorf("%s lacks %q", about, want)
		}
	}
}

// Some messages say where the readings of a ranger look, and what channels and joints are called. An export from a moment
// between two of them has found the one before.
func TestExportOfDescribedDevices(t *testing.T) {
	t.Parallel()
	a := newRobot(t, "a")
	a.serveDevices(t, "position:0 ranger:0 io:0 servo:1")
	p, conn := startFleet(t, []robot{a}, "-record", "all")
	url, subjects := natsOf(t, p), []string{"player.lab.a.ranger.0.data", "player.lab.a.io.0.data", "player.lab.a.servo.1.data"}
	more := func(n uint64) {
		t.Helper()
		before := recorded(t, conn)
		waiting.Until(t, "recording", func() bool {
			have := recorded(t, conn)
			return !slices.ContainsFunc(subjects, func(s string) bool { return have[s] < before[s]+n })
		})
	}
	more(5)
	middle := time.Now().Add(time.Second).Truncate(time.Second) // -from has whole seconds
	waiting.Until(t, "the next second", func() bool { return time.Now().After(middle) })
	more(5)
	for _, args := range [][]string{nil, {"-from", middle.Format(time.RFC3339)}} {
		out, path, err := exported(t, url, args...)
		if err != nil {
			t.Fatalf("export: %v, %s", err, out)
		}
		if d := read(t, path); d.messages["/a/ranger"] < 3 || d.schemas["/a/ranger"] != "foxglove.LaserScan" {
			t.Errorf("%v: %v", args, d.messages)
		}
		bag := filepath.Join(t.TempDir(), "bag")
		if out, _, err := exported(t, url, append(args, "-ros", "-o", bag)...); err != nil {
			t.Fatalf("export -ros: %v, %s", err, out)
		}
		node := exec.Command("node", "ros.js", bag)
		node.Dir = npm.Install(t, "../formats/logfile/readers")
		text, err := node.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %.2000s", err, text)
		}
		for _, want := range []string{`\n/a/ranger/scan \d+ sensor_msgs/msg/LaserScan .*"frame_id":"a/ranger"`, `\n/a/io/states .*"Lamp"`, `\n/a/joint_states_1 .*"Elbow"`} {
			if !regexp.MustCompile(want).Match(text) {
				t.Errorf("%v: the bag lacks %s:\n%.3000s", args, want, text)
			}
		}
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	a, b := startRobot(t, "a"), startRobot(t, "b")
	begin := time.Now()
	p, conn := startFleet(t, []robot{a, b}, "-record", "laser", "-record", "position", "-record", "joystick")
	url := natsOf(t, p)
	enough := func() bool {
		have := recorded(t, conn)
		return have["player.lab.a.laser.0.data"] > 30 && have["player.lab.b.laser.0.data"] > 30 && have["player.lab.a.joystick.0.data"] > 0
	}
	waiting.Until(t, "recording", enough)
	middle := time.Now().Add(time.Second).Truncate(time.Second) // -from and -to have whole seconds
	waiting.Until(t, "more to record", func() bool { return time.Now().After(middle.Add(time.Second)) })

	out, path, err := exported(t, url)
	if err != nil || !strings.Contains(out, "of 2 robots") {
		t.Fatalf("export: %v, %s", err, out)
	}
	all := read(t, path)
	for topic, schema := range map[string]string{
		"/a/laser": "foxglove.LaserScan", "/b/laser": "foxglove.LaserScan",
		"/a/position": "foxglove.PoseInFrame", "/b/position/motion": "player.Motion", "/b/tf": "foxglove.FrameTransform",
	} {
		if all.schemas[topic] != schema || all.messages[topic] < 10 {
			t.Errorf("%s: %d messages of %q, want %s", topic, all.messages[topic], all.schemas[topic], schema)
		}
	}
	if len(all.scan.Ranges) != codec.LaserCount || all.scan.FrameID != "a/laser" || !all.frames["a/base_link"] || !all.frames["b/laser"] {
		t.Errorf("a scan of %d ranges in %q, frames %v", len(all.scan.Ranges), all.scan.FrameID, all.frames)
	}
	// The robots have no joystick, and no sonar was recorded.
	for topic := range all.messages {
		if strings.Contains(topic, "joystick") || strings.Contains(topic, "sonar") {
			t.Errorf("the file has %s", topic)
		}
	}
	if from, to := time.Unix(0, int64(all.begin)), time.Unix(0, int64(all.end)); from.Before(begin.Add(-time.Minute)) || to.After(time.Now()) || !to.After(middle) {
		t.Errorf("the file is from %v to %v", from, to)
	}

	out, path, err = exported(t, url, "-robot", "b", "-to", middle.Format(time.RFC3339))
	if err != nil {
		t.Fatalf("export: %v, %s", err, out)
	}
	half := read(t, path)
	if half.messages["/a/laser"] != 0 || half.messages["/b/laser"] < 10 || half.end > uint64(middle.UnixNano()) {
		t.Errorf("until %v of b: %v, the last one at %v", middle, half.messages, time.Unix(0, int64(half.end)))
	}
	if out, path, err = exported(t, url, "-from", middle.Format(time.RFC3339)); err != nil {
		t.Fatalf("export: %v, %s", err, out)
	}
	// Data was measured a little before it was recorded.
	if rest := read(t, path); rest.begin < uint64(middle.Add(-time.Second).UnixNano()) || rest.messages["/a/laser"] == 0 {
		t.Errorf("from %v: %v, the first one at %v", middle, rest.messages, time.Unix(0, int64(rest.begin)))
	}

	// npm's readers of ROS 2 read it as a bag: each robot has a namespace, and all share /tf.
	readers := npm.Install(t, "../formats/logfile/readers")
	bag := filepath.Join(t.TempDir(), "bag")
	if out, _, err := exported(t, url, "-ros", "-reach", "0.5", "-o", bag); err != nil {
		t.Fatalf("export -ros: %v, %s", err, out)
	}
	if out, _, err := exported(t, url, "-ros", "-o", bag); err == nil || !strings.Contains(out, bag) {
		t.Errorf("a bag is replaced unasked: %v, %s", err, out)
	}
	node := exec.Command("node", "ros.js", bag)
	node.Dir = readers
	text, err := node.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %.2000s", err, text)
	}
	for _, want := range []string{`\n/a/scan \d+ sensor_msgs/msg/LaserScan .*"frame_id":"a/laser".*"range_max":0.5,"ranges":\["Infinity",`, `\n/b/odom .*"child_frame_id":"b/base_link"`,
		`\n/tf .*"child_frame_id":"a/base_link"`, `\n/tf_static .*"child_frame_id":"b/laser"`} {
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("the bag lacks %s", want)
		}
	}

	taken := filepath.Join(t.TempDir(), "taken.mcap")
	must.Do(t, os.WriteFile(taken, []byte("precious"), 0o600))
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"-o", taken}, "taken.mcap exists: -f replaces it", exitUsage},
		{[]string{"-robot", "c"}, "nothing was recorded", exitFailure},
		{[]string{"-ros", "-robot", "c"}, "nothing was recorded", exitFailure},
		{[]string{"-to", "24h"}, "nothing was recorded", exitFailure},
		{[]string{"-fleet", "other"}, "has no recording", exitFailure},
		{[]string{"-nats", fmt.Sprintf("nats://127.0.0.1:%d", ports.Free(t, 1))}, "connect to NATS", exitFailure},
		{[]string{"-from", "yesterday"}, "RFC 3339", exitUsage},
		{[]string{"-o", ""}, "-o is missing", exitUsage},
		{[]string{"-reach", "12"}, "-reach is metres, for bags", exitUsage},
		{[]string{"-ros", "-reach", "NaN"}, "-reach is metres, for bags", exitUsage},
		{[]string{"-robot", "a b"}, "letters", exitUsage},
	} {
		out, path, err := exported(t, url, c.args...)
		if failed, ok := err.(*exec.ExitError); !ok || failed.ExitCode() != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%v: %v, %s", c.args, err, out)
		}
		if left, _ := filepath.Glob(filepath.Dir(path) + "/*"); len(left) > 0 {
			t.Errorf("%v leaves %v", c.args, left)
		}
	}
	if text, err = os.ReadFile(taken); err != nil || string(text) != "precious" {
		t.Errorf("%.20q, %v", text, err)
	}
	if out, _, err := exported(t, url, "-f", "-o", taken); err != nil {
		t.Errorf("%v, %s", err, out)
	}
}
