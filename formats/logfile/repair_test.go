package logfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foxglove/mcap/go/mcap"

	"player/e2e/must"
	"player/e2e/needs"
)

// repaired repairs a log and returns the result.
func repaired(t testing.TB, log []byte) ([]byte, Repaired, string) {
	t.Helper()
	path := store(t, log)
	must.Do(t, os.Chmod(path, 0o640))
	done := must.Get(Repair(path, quiet))(t)
	after := must.Get(os.ReadFile(path))(t)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if want := 1 + min(len(done.Kept), 1); err != nil || len(files) != want {
		t.Errorf("%d files, want %d: %v", len(files), want, err)
	}
	return after, done, path
}

// A log that was cut at any byte has the same messages when it was repaired, and all
// readers find them. A second repair finds nothing to do.
func TestRepairCutLogs(t *testing.T) {
	needs.Time(t)
	for _, about := range []Info{info(), compressed()} {
		log, _ := recordWith(t, about, script())
		for cut := len(mcap.Magic) + 40; cut < len(log); cut += 31 {
			want, _ := read(t, log[:cut])
			after, done, path := repaired(t, log[:cut])
			got, damage := read(t, after)
			if !slices.Equal(got, want) || damage != nil || done.Intact || done.Messages != len(want) || done.Kept != "" {
				t.Fatalf("cut at %d of %d: %+v, %d of %d messages, %v", cut, len(log), done, len(got), len(want), damage)
			}
			slices.Sort(want)
			if len(want) > 0 {
				for _, index := range []bool{false, true} {
					if got := indexed(t, after, index); !slices.Equal(got, want) {
						t.Fatalf("cut at %d, index %v: %q, want %q", cut, index, got, want)
					}
				}
			}
			if len(want) > 0 && bytes.Contains(log, []byte("zstd")) && !bytes.Contains(after, []byte("zstd")) {
				t.Fatalf("cut at %d: no longer compressed", cut)
			}
			if again, err := Repair(path, quiet); err != nil || !again.Intact {
				t.Fatalf("again: %+v, %v", again, err)
			}
		}
	}
}

// A complete log stays as it is.
func TestRepairIntactLog(t *testing.T) {
	log, _ := record(t, script())
	after, done, _ := repaired(t, log)
	if !done.Intact || !bytes.Equal(after, log) {
		t.Errorf("%+v", done)
	}
}

// After a power failure the end of a file may be zero. Damaged parts in the middle are kept.
func TestRepairDamagedLogs(t *testing.T) {
	log, ends := record(t, script())
	zeros := append(bytes.Clone(log[:ends[2]]), make([]byte, 4096)...)
	for name, tt := range map[string]struct {
		log  []byte
		want [][]said
	}{
		"zeros":  {zeros, script()[:2]},
		"middle": {damagedAt(log, ends[1]+80), [][]said{script()[0], script()[2]}},
	} {
		after, done, path := repaired(t, tt.log)
		got, damage := read(t, after)
		if want := lines(tt.want); !slices.Equal(got, want) || damage != nil || done.Damage == nil {
			t.Errorf("%s: %+v, %q, %v", name, done, got, damage)
		}
		if original, err := os.ReadFile(path + ".damaged"); done.Kept != path+".damaged" || err != nil || !bytes.Equal(original, tt.log) {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
		// The original of another repair is not replaced.
		must.Do(t, os.WriteFile(path, tt.log, 0o600))
		if _, err := Repair(path, quiet); err == nil || !strings.Contains(err.Error(), ".damaged exists") {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, tt.log) {
			t.Errorf("%s: the log has changed, %v", name, err)
		}
		if _, err := os.Stat(path + repairing); err == nil {
			t.Errorf("%s: the copy is left", name)
		}
	}
}

// A log of an older server gets an index, and keeps the records of other programs: their
// profile, channels, metadata and attachments, also outside of chunks.
func TestRepairForeignLogs(t *testing.T) {
	for name, options := range map[string]mcap.WriterOptions{
		"no index":  {Chunked: true, ChunkSize: 64, SkipMessageIndexing: true, SkipChunkIndex: true, IncludeCRC: true},
		"no chunks": {},
		"lz4":       {Chunked: true, ChunkSize: 64, Compression: mcap.CompressionLZ4, SkipMessageIndexing: true},
	} {
		var out bytes.Buffer
		w := must.Get(mcap.NewWriter(&out, &options))(t)
		err := errors.Join(
			w.WriteHeader(&mcap.Header{Profile: "other"}),
			w.WriteSchema(&mcap.Schema{ID: 7, Name: "Scan", Encoding: "ros2msg", Data: []byte("float32 x")}),
			w.WriteChannel(&mcap.Channel{ID: 65535, SchemaID: 7, Topic: "/scan", MessageEncoding: "cdr", Metadata: map[string]string{"b": "2", "a": "1"}}),
			w.WriteAttachment(&mcap.Attachment{LogTime: 1, CreateTime: 2, Name: "map", MediaType: "text/plain", DataSize: 5, Data: strings.NewReader("walls")}),
			w.WriteMetadata(&mcap.Metadata{Name: "site", Metadata: map[string]string{"room": "12"}}),
		)
		for i := range uint64(9) {
			err = errors.Join(err, w.WriteMessage(&mcap.Message{ChannelID: 65535, Sequence: uint32(i), LogTime: 100 - i, PublishTime: i, Data: []byte("payload of a message")}))
		}
		must.Do(t, errors.Join(err, w.Close()))
		after, done, path := repaired(t, out.Bytes())
		if done.Intact || done.Damage != nil || done.Messages != 9 {
			t.Errorf("%s: %+v", name, done)
		}
		want := indexed(t, out.Bytes(), false)
		for _, index := range []bool{false, true} {
			if got := indexed(t, after, index); !slices.Equal(got, want) {
				t.Errorf("%s, index %v: %q, want %q", name, index, got, want)
			}
		}
		r, summary := library(t, after)
		if got := fmt.Sprint(summary.Header.Profile, *summary.Channels[65535], summary.Schemas[7].Name); got != "other{65535 7 /scan cdr map[a:1 b:2]}Scan" {
			t.Errorf("%s: %s", name, got)
		}
		attachment := must.Get(r.GetAttachmentReader(summary.AttachmentIndexes[0].Offset))(t)
		var text bytes.Buffer
		_, err = text.ReadFrom(attachment.Data())
		if err != nil || text.String() != "walls" || attachment.Name != "map" || attachment.CreateTime != 2 {
			t.Errorf("%s: attachment %+v, %q, %v", name, attachment, &text, err)
		}
		if parsed, err := attachment.ParsedCRC(); err != nil {
			t.Error(err)
		} else if computed, err := attachment.ComputedCRC(); err != nil || computed != parsed {
			t.Errorf("%s: CRC %x, want %x: %v", name, parsed, computed, err)
		}
		if m, err := r.GetMetadata(summary.MetadataIndexes[0].Offset); err != nil || m.Name != "site" || m.Metadata["room"] != "12" {
			t.Errorf("%s: metadata %+v, %v", name, m, err)
		}
		if again, err := Repair(path, quiet); err != nil || !again.Intact {
			t.Errorf("%s, again: %+v, %v", name, again, err)
		}
	}
}

func TestRepairErrors(t *testing.T) {
	log, ends := record(t, script())
	path := store(t, log[:ends[2]])
	file := must.Get(os.Open(path))(t)
	Lock(file)
	if _, err := Repair(path, quiet); err == nil || !strings.Contains(err.Error(), "is being recorded") {
		t.Error(err)
	}
	must.Do(t, file.Close())
	if _, err := Repair("repair.go", quiet); err == nil || !strings.Contains(err.Error(), "not a log") {
		t.Error(err)
	}
	if _, err := Repair("nowhere.mcap", quiet); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for _, cut := range []int{len(mcap.Magic), len(mcap.Magic) + 5} {
		path := store(t, log[:cut])
		if _, err := Repair(path, quiet); err == nil || !strings.Contains(err.Error(), "not closed") {
			t.Errorf("cut at %d: %v", cut, err)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
			t.Errorf("cut at %d: %d files", cut, len(left))
		}
	}
}
