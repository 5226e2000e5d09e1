package bag

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
	"player/formats/logfile"
)

// The bag of a log with a damaged compressed chunk is the bag of the repaired log: it has the whole chunks. The damage is
// reported.
func TestBagOfADamagedLog(t *testing.T) {
	const chunks, each = 4, 5
	about := logfile.Info{Start: started, Compress: true, Channels: []logfile.Channel{{Interface: "position"}}}
	var out bytes.Buffer
	w := must.Get(logfile.NewWriter(&out, about))(t)
	var b logfile.Batch
	var begins []int
	for i := range chunks {
		b.Reset()
		for j := range each {
			at := time.Duration(i)*time.Second + time.Duration(j)*100*ms
			b.Add(0, at, (&codec.PositionData{X: int32(1000*i + j), Heading: uint16(90 * i)}).Append(nil))
		}
		begins = append(begins, out.Len())
		must.Do(t, w.WriteChunk(&b))
	}
	must.Do(t, w.Close())
	for i, begin := range begins {
		damaged := bytes.Clone(out.Bytes())
		compressed := begin + bytes.Index(damaged[begin:], []byte("zstd")) + len("zstd") + 8
		damaged[compressed] ^= 0x55 // the first byte of its magic
		folder, s := bagOf(t, damaged, Options{})
		if s.Damage == nil || s.Messages != (chunks-1)*each {
			t.Fatalf("chunk %d: %d messages, damage %v", i, s.Messages, s.Damage)
		}
		path := filepath.Join(t.TempDir(), "run.mcap")
		must.Do(t, os.WriteFile(path, damaged, 0o600))
		done := must.Get(logfile.Repair(path, func(int64, int64) {}))(t)
		if done.Damage == nil || done.Messages != s.Messages {
			t.Fatalf("chunk %d: repaired: %+v", i, done)
		}
		repaired, whole := bagOf(t, must.Get(os.ReadFile(path))(t), Options{})
		if whole.Damage != nil {
			t.Errorf("chunk %d: the repaired log: %v", i, whole.Damage)
		}
		for _, name := range []string{"drive_0.mcap", "metadata.yaml"} {
			got := must.Get(os.ReadFile(filepath.Join(folder, name)))(t)
			want := must.Get(os.ReadFile(filepath.Join(repaired, name)))(t)
			if !bytes.Equal(got, want) {
				t.Errorf("chunk %d: %s differs from that of the repaired log", i, name)
			}
		}
	}
}
