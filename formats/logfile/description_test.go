package logfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
	"player/formats/telemetry"
)

// The last description of a device is valid for the log, wherever it is in the file, also of a log that was not closed. Logs
// of other devices have no description: their bytes are as before.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	scan := telemetry.Description{Rays: []codec.Rays{{Count: 3, X: 80, Heading: -45.5, Step: 0.25, Far: 5000}}}
	lamp := telemetry.Description{Channels: []codec.Channel{{Number: 1, Role: codec.Output, Unit: "mV", Min: codec.Unknown, Max: 5000, Name: "the lamp"}}}
	if Describe("laser", 0, scan) != "" || Describe("io", 0, telemetry.Description{}) != "" {
		t.Error("a description of nothing")
	}
	write := func(closed bool) string {
		var out bytes.Buffer
		w := must.Get(NewWriter(&out, Info{Start: time.Unix(1e9, 0), Channels: []Channel{{Interface: "ranger", Index: 1}, {Interface: "io"}}}))(t)
		var b Batch
		b.Add(0, 0, []byte{0, 1})
		b.Describe(0, Describe("ranger", 1, telemetry.Description{Rays: []codec.Rays{{Count: 9, Step: 9}}}))
		must.Do(t, w.WriteChunk(&b))
		b.Reset()
		b.Add(1, time.Second, []byte{0, 0, 0, 1})
		b.Describe(0, Describe("ranger", 1, scan))
		b.Describe(1, Describe("io", 0, lamp)+"\nno line")
		must.Do(t, w.WriteChunk(&b))
		if size := int64(out.Len()); size > w.Size() {
			t.Errorf("%d bytes, expected at most %d", size, w.Size())
		}
		if closed {
			must.Do(t, w.Close())
		}
		path := filepath.Join(t.TempDir(), "a.mcap")
		must.Do(t, os.WriteFile(path, out.Bytes(), 0o600))
		return path
	}
	for _, closed := range []bool{true, false} {
		s := must.Get(Scan(write(closed)))(t)
		devices := s.Devices()
		if len(devices) != 2 || fmt.Sprint(devices[0].Description, devices[1].Description) != fmt.Sprint(lamp, scan) {
			t.Errorf("%+v", devices)
		}
	}
	whole := must.Get(os.ReadFile(write(true)))(t)
	if n := strings.Count(string(whole), descriptionName); n < 3 {
		t.Errorf("%d descriptions", n)
	}
}

// Descriptions beyond the limit are left out, and the devices stay.
func TestDescriptionsAreBounded(t *testing.T) {
	t.Parallel()
	r := &Reader{descriptions: map[string]string{}}
	half := strings.Repeat("x", maxDescriptions/2)
	for i := range 4 {
		r.addDescription(map[string]string{topicKey: fmt.Sprint(i), linesKey: half})
	}
	if len(r.descriptions) != 2 {
		t.Errorf("%d descriptions", len(r.descriptions))
	}
}

// A batch learns the last description of each channel, for the next file.
func TestLearn(t *testing.T) {
	t.Parallel()
	var known, b Batch
	for i, text := range []string{"a", "b", "c"} {
		b.Reset()
		b.Describe(i/2, text)
		known.Learn(&b)
	}
	if got := fmt.Sprint(known.descriptions); got != "[{0 b} {1 c}]" || known.Len() != 0 {
		t.Errorf("%s", got)
	}
}
