package logfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/foxglove/mcap/go/mcap"

	"player/codec"
	"player/e2e/must"
	"player/formats/telemetry"
)

// everything returns a log of three seconds with messages of all devices.
func everything(t testing.TB) []byte {
	t.Helper()
	vision := codec.VisionData{Blobs: []codec.Blob{{Area: 100, X: 80, Y: 60, Left: 70, Right: 90, Top: 50, Bottom: 70}}}
	vision.Count[2] = 1
	messages := []struct {
		Channel
		payload []byte
	}{
		{Channel{Interface: "position"}, (&codec.PositionData{X: 1000, Heading: 90}).Append(nil)},
		{Channel{Interface: "position", Content: Command}, codec.PositionCommand{Speed: 200}.Append(nil)},
		{Channel{Interface: "position", Content: Configuration}, []byte("m\x01")},
		{Channel{Interface: "laser", Geometry: telemetry.Geometry{X: 60}}, (&codec.LaserData{0: 500, 360: 8191}).Append(nil)},
		{Channel{Interface: "sonar"}, (&codec.SonarData{1: 1000, 2: 5000}).Append(nil)},
		{Channel{Interface: "misc"}, (&codec.MiscData{FrontBumpers: 4, Battery: 126}).Append(nil)},
		{Channel{Interface: "gripper"}, (&codec.GripperData{State: codec.PaddlesOpen, Beams: codec.OuterBeam}).Append(nil)},
		{Channel{Interface: "gripper", Content: Command}, []byte{1, 0}},
		{Channel{Interface: "vision"}, vision.Append(nil)},
		{Channel{Interface: "ptz"}, (&codec.PTZData{Pan: 10}).Append(nil)},
		{Channel{Interface: "ptz", Content: Command}, (&codec.PTZData{Pan: 10}).Append(nil)},
		{Channel{Interface: "joystick"}, (&codec.JoystickData{Buttons: 1}).Append(nil)},
	}
	about := Info{Server: "player test", Start: started, Cameras: []string{"front", "arm-2"}}
	for _, m := range messages {
		about.Channels = append(about.Channels, m.Channel)
	}
	var out bytes.Buffer
	w := must.Get(NewWriter(&out, about))(t)
	var b Batch
	for now := time.Duration(0); now < 3*time.Second; now += 100 * ms {
		b.Reset()
		for i, m := range messages {
			b.Add(i, now+time.Duration(i)*ms, m.payload)
		}
		for i, camera := range about.Cameras {
			b.Add(len(messages)+i, now, AppendPicture(nil, camera, started.Add(now).UnixNano(), []byte(camera+"'s picture")))
		}
		must.Do(t, w.WriteChunk(&b))
	}
	must.Do(t, w.Close())
	return out.Bytes()
}

// created creates a file for an export.
func created(t testing.TB, path string) func() (io.Writer, error) {
	return func() (io.Writer, error) {
		file, err := os.Create(path)
		t.Cleanup(func() { file.Close() })
		return file, err
	}
}

// drawn exports a log for viewers.
func drawn(t testing.TB, log []byte) (path string, s *Summary) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "drawn.mcap")
	s = must.Get(ExportMCAP(store(t, log), created(t, path), quiet))(t)
	return path, s
}

// Each recorded scan is one of the export, at the same time, in metres and radians.
func TestDrawnScans(t *testing.T) {
	path, s := drawn(t, everything(t))
	if s.Damage != nil || s.Messages != 360 {
		t.Errorf("%+v", s)
	}
	out := must.Get(os.ReadFile(path))(t)
	_, summary := library(t, out)
	for _, c := range summary.ChunkIndexes {
		if c.Compression != mcap.CompressionZSTD {
			t.Errorf("compression %q", c.Compression)
		}
	}
	topics := map[string]int{}
	scans := 0
	each(t, out, func(schema *mcap.Schema, c *mcap.Channel, m *mcap.Message) error {
		topics[c.Topic]++
		if c.MessageEncoding != "json" || schema.Encoding != "jsonschema" || m.PublishTime != m.LogTime {
			t.Errorf("%s: %s, %s, published %d, logged %d", c.Topic, c.MessageEncoding, schema.Encoding, m.PublishTime, m.LogTime)
		}
		if c.Topic != "/laser" {
			return nil
		}
		var scan telemetry.LaserScan
		if err := json.Unmarshal(m.Data, &scan); err != nil {
			return err
		}
		want := uint64(started.UnixNano()) + uint64(scans*100+3)*uint64(ms)
		if got := uint64(scan.Timestamp.Sec)*1e9 + uint64(scan.Timestamp.Nsec); m.LogTime != want || got != want || schema.Name != "foxglove.LaserScan" ||
			len(scan.Ranges) != 361 || scan.Ranges[0] != 0.5 || scan.Ranges[360] != 8.191 || scan.FrameID != "laser" {
			t.Errorf("scan %d at %d, taken at %d, want %d: %+v", scans, m.LogTime, got, want, scan)
		}
		scans++
		return nil
	})
	if scans != 30 || topics["/position"] != 30 || topics["/log"] != 30 || topics["/misc/battery"] != 30 || topics["/tf"] < 30+30+3*18 {
		t.Errorf("%d scans; messages by topic: %v", scans, topics)
	}
}

func TestDrawErrors(t *testing.T) {
	log, ends := record(t, script())
	path := store(t, log)
	if _, err := ExportMCAP(path, func() (io.Writer, error) { return nil, errBroken }, quiet); err != errBroken {
		t.Errorf("a file that cannot be created is reported as %v", err)
	}
	if _, err := ExportMCAP(path, func() (io.Writer, error) { return failingWriter{}, nil }, quiet); !errors.Is(err, errBroken) {
		t.Errorf("a full disk is reported as %v", err)
	}
	none := func() (io.Writer, error) { t.Error("a file for no log"); return io.Discard, nil }
	if _, err := ExportMCAP("draw.go", none, quiet); err == nil {
		t.Error("this is no log")
	}
	// The part of a log that has been recorded so far.
	growing := store(t, log[:ends[2]])
	file := must.Get(os.Open(growing))(t)
	defer file.Close()
	Lock(file)
	out := filepath.Join(t.TempDir(), "drawn.mcap")
	if s, err := ExportMCAP(growing, created(t, out), quiet); err != nil || s.Damage != ErrRecording {
		t.Errorf("%+v, %v", s, err)
	}
	if got, err := os.ReadFile(out); err != nil || len(indexed(t, got, true)) == 0 {
		t.Error(fmt.Sprint("nothing was exported: ", err))
	}
}
