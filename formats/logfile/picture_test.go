package logfile

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// pictured returns a log of a robot with two cameras, and its pictures with their times.
func pictured(t *testing.T) (log []byte, want []string) {
	t.Helper()
	about := Info{Start: started, Channels: []Channel{{Interface: "position"}, {Interface: "laser"}}, Cameras: []string{"front", "rear"}}
	var chunks [][]said
	for i := range 40 {
		at := time.Duration(i) * 100 * ms
		picture := bytes.Repeat([]byte{byte(i), 0xFF}, 500*i+1) // of all lengths modulo 4
		camera := i % 2
		payload := AppendPicture(nil, about.Cameras[camera], started.Add(at).UnixNano(), picture)
		chunks = append(chunks, []said{{0, at, "position"}, {2 + camera, at, string(payload)}})
		want = append(want, fmt.Sprintf("%s %d %x", about.Cameras[camera], started.Add(at).UnixNano(), picture))
	}
	log, _ = recordWith(t, about, chunks)
	return log, want
}

// The pictures in a log are those that were recorded, byte by byte. Readers of devices skip
// them.
func TestPictures(t *testing.T) {
	log, want := pictured(t)
	r := reader(t, log)
	var got []string
	for {
		m, err := r.NextRecord()
		if err == io.EOF {
			break
		}
		if m.Camera != "" {
			got = append(got, fmt.Sprintf("%s %d %x", m.Camera, m.Time, m.JPEG()))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d pictures of %d", len(got), len(want))
	}
	lines, damage := read(t, log)
	if len(lines) != 40 || damage != nil || !strings.Contains(lines[0], "/position") {
		t.Errorf("%d messages of devices: %v", len(lines), damage)
	}
}

// A payload that is no picture yields none, whatever lengths it claims.
func FuzzJPEG(f *testing.F) {
	f.Add(AppendPicture(nil, "front", 1, []byte("picture")))
	f.Add([]byte{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF})
	f.Fuzz(func(t *testing.T, payload []byte) {
		if picture := (Message{Payload: payload}).JPEG(); len(picture) > len(payload) {
			t.Error(len(picture))
		}
	})
}
