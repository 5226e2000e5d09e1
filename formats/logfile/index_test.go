package logfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/foxglove/mcap/go/mcap"

	"player/codec"
	"player/e2e/must"
	"player/formats/telemetry"
)

// manyChunks returns random messages whose times overlap between chunks, some of them
// empty and some as large as they get.
func manyChunks(seed uint64) (chunks [][]said) {
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 40 {
		var chunk []said
		for range 1 + r.IntN(30) {
			payload := make([]byte, r.IntN(codec.MaxVisionSize)*r.IntN(2))
			for i := range payload {
				payload[i] = byte(r.Uint32())
			}
			chunk = append(chunk, said{r.IntN(len(info().Channels)), time.Duration(i*250-r.IntN(400)) * ms, string(payload)})
		}
		chunks = append(chunks, chunk)
	}
	return chunks
}

// indexed reads a log with the library's reader, by the index or from its start, and
// returns its messages sorted by time.
func indexed(t testing.TB, log []byte, index bool) (lines []string) {
	t.Helper()
	order := mcap.FileOrder
	if index {
		order = mcap.LogTimeOrder
	}
	last := uint64(0)
	each(t, log, func(_ *mcap.Schema, c *mcap.Channel, m *mcap.Message) error {
		if index && m.LogTime < last {
			t.Errorf("%d after %d", m.LogTime, last)
		}
		last = m.LogTime
		lines = append(lines, fmt.Sprintf("%s %d %q", c.Topic, m.LogTime, m.Data))
		return nil
	}, mcap.UsingIndex(index), mcap.InOrder(order))
	slices.Sort(lines)
	return lines
}

// The summary of a closed log agrees with its content, and all ways to read it give
// the same messages.
func TestIndex(t *testing.T) {
	for seed, about := range []Info{info(), compressed()} {
		chunks := manyChunks(uint64(seed))
		log, _ := recordWith(t, about, chunks)
		want := lines(chunks)
		got, damage := read(t, log)
		if damage != nil || !slices.Equal(got, want) {
			t.Fatalf("%d of %d messages, %v", len(got), len(want), damage)
		}
		slices.Sort(want)
		for _, index := range []bool{false, true} {
			if got := indexed(t, log, index); !slices.Equal(got, want) {
				t.Fatalf("index %v: %d of %d messages", index, len(got), len(want))
			}
		}
		check(t, log, chunks)
	}
}

// check compares the summary of a log with the file and the messages.
func check(t *testing.T, log []byte, chunks [][]said) {
	t.Helper()
	r, summary := library(t, log)
	all := slices.Concat(chunks...)
	times := make([]uint64, len(all))
	counts := map[uint16]uint64{}
	for i, s := range all {
		times[i] = uint64(started.UnixNano() + int64(s.at))
		counts[uint16(s.channel)]++
	}
	s := summary.Statistics
	if s.MessageCount != uint64(len(all)) || s.ChunkCount != uint32(len(chunks)) || len(summary.ChunkIndexes) != len(chunks) ||
		s.MessageStartTime != slices.Min(times) || s.MessageEndTime != slices.Max(times) || s.MetadataCount != 1 || len(summary.MetadataIndexes) != 1 ||
		int(s.ChannelCount) != len(info().Channels) || len(summary.Channels) != len(info().Channels) || int(s.SchemaCount) != len(summary.Schemas) {
		t.Fatalf("%+v", s)
	}
	for id, n := range s.ChannelMessageCounts {
		if n != counts[id] {
			t.Errorf("channel %d: %d messages, want %d", id, n, counts[id])
		}
	}
	if m, err := r.GetMetadata(summary.MetadataIndexes[0].Offset); err != nil || m.Name != profile {
		t.Errorf("metadata %+v, %v", m, err)
	}
	for i, chunk := range summary.ChunkIndexes {
		if log[chunk.ChunkStartOffset] != byte(mcap.OpChunk) || chunk.MessageStartTime != uint64(started.UnixNano())+uint64(slices.MinFunc(chunks[i], byTime).at) ||
			chunk.MessageEndTime != uint64(started.UnixNano())+uint64(slices.MaxFunc(chunks[i], byTime).at) {
			t.Fatalf("chunk %d: %+v", i, chunk)
		}
		for channel, at := range chunk.MessageIndexOffsets {
			index, err := mcap.ParseMessageIndex(log[at+recordHeader:])
			if log[at] != byte(mcap.OpMessageIndex) || err != nil || index.ChannelID != channel {
				t.Fatalf("chunk %d: message index of channel %d: %+v, %v", i, channel, index, err)
			}
		}
	}
}

func byTime(a, b said) int { return int(a.at - b.at) }

// A compressed log of a laser is smaller.
func TestCompress(t *testing.T) {
	chunks := make([][]said, 2)
	for i := range 20 {
		scan := codec.LaserData{}
		for k := range scan {
			scan[k] = uint16(1000 + 3*k + i)
		}
		chunks[i/10] = append(chunks[i/10], said{3, time.Duration(i) * ms, string(scan.Append(nil))})
	}
	plain, _ := record(t, chunks)
	if small, _ := recordWith(t, compressed(), chunks); len(small) > len(plain)*3/4 {
		t.Errorf("%d bytes, %d without compression", len(small), len(plain))
	}
}

// The geometry of the devices is in the log.
func TestGeometry(t *testing.T) {
	about := info()
	want := telemetry.Geometry{X: 80, Y: -1.5, Heading: 180, Length: 156, Width: 155}
	about.Channels[3].Geometry = want
	log, _ := recordWith(t, about, script())
	r := reader(t, log)
	for m, err := r.Next(); err == nil; m, err = r.Next() {
		if got := m.Channel.Geometry; got != want && m.Channel.Interface == "laser" || got != (telemetry.Geometry{}) && m.Channel.Interface != "laser" {
			t.Errorf("%s: %+v", m.Channel.Topic(), got)
		}
	}
	if r.Damage() != nil {
		t.Error(r.Damage())
	}
}

// hoursOfADay is by how much the next test multiplies: it records one hour.
const hoursOfADay = 24

// A robot records 50 KB/s in one file, on a clock of the test: in a day the index takes the
// memory that MaxIndex allows, and nothing else grows.
func TestMemoryOfADay(t *testing.T) {
	about := info()
	about.Channels = nil
	for _, name := range []string{"position", "sonar", "laser", "misc", "gripper", "vision", "ptz"} {
		for content := range Content(len(suffixes)) {
			about.Channels = append(about.Channels, Channel{Interface: name, Content: content})
		}
	}
	file := &sized{}
	w := must.Get(NewWriter(file, about))(t)
	var b Batch
	position, scan, small := make([]byte, codec.PositionSize), make([]byte, codec.LaserSize), make([]byte, codec.SonarSize)
	// quarter records a quarter of a second from now on.
	quarter := func(now time.Duration) {
		b.Reset()
		for i := range 15 {
			b.Add(6, now+time.Duration(i)*16*ms, scan)
		}
		for i := range 5 {
			b.Add(0, now+time.Duration(i)*50*ms+time.Duration(i), position)
			b.Add(1, now+time.Duration(i)*51*ms, position[:4])
		}
		for i := 3; i < len(about.Channels); i += 3 {
			b.Add(i, now+time.Duration(i)*ms, small)
		}
		must.Do(t, w.WriteChunk(&b))
	}
	quarter(0)
	before := heap()
	for now := 250 * ms; now < 24*time.Hour/hoursOfADay; now += 250 * ms {
		quarter(now)
	}
	grown, index, data := heap()-before, w.IndexMemory(), file.size
	t.Logf("%d MB in an hour; the index takes %d KB of memory, the heap has grown by %d KB", data>>20, index>>10, grown>>10)
	if data < 3600*50e3 {
		t.Errorf("only %d bytes", data)
	}
	// A block of the index may be almost empty.
	if index*hoursOfADay > MaxIndex+listBlock*hoursOfADay || grown > int64(index)+256<<10 {
		t.Errorf("the index takes %d bytes, the heap has grown by %d", index, grown)
	}
	most := w.Size()
	if err := w.Close(); err != nil || file.size > most {
		t.Errorf("%v; %d bytes, Size reported at most %d", err, file.size, most)
	}
	if grown := heap() - before; grown > int64(index)+256<<10 {
		t.Errorf("the heap has grown by %d at the end", grown)
	}
	t.Logf("the summary has %d KB", (file.size-data)>>10)
	runtime.KeepAlive(w)
}

// The list of the chunks of a day, in a file of 4.3 GB, returns all its entries unchanged.
func TestChunkListOfADay(t *testing.T) {
	const chunks = 24 * 3600 * 4
	source := rand.NewPCG(0, 0)
	r := rand.New(source)
	// nth returns the n-th chunk behind the one before.
	nth := func(n int, before *chunkInfo) *chunkInfo {
		source.Seed(uint64(n), 0)
		c := &chunkInfo{offset: before.end() + uint64(n%2*4), first: uint64(n)*250e6 + r.Uint64N(100e6), stored: 12000 + r.Uint64N(1000)}
		c.last, c.size = c.first+r.Uint64N(250e6), c.stored-500+r.Uint64N(1000)
		for id := range uint16(8) {
			c.channels = append(c.channels, channelCount{id * 3, 1 + r.Uint64N(15)})
		}
		return c
	}
	var l chunkList
	last := &chunkInfo{}
	for n := range chunks {
		last = nth(n, last)
		l.add(last)
	}
	if l.count != chunks || l.memory() > MaxIndex || last.offset < 4.3e9 {
		t.Errorf("%d chunks take %d bytes; the file has %d", l.count, l.memory(), last.offset)
	}
	t.Logf("%d KB of memory", l.memory()>>10)
	n := 0
	last = &chunkInfo{}
	l.each(func(got *chunkInfo) {
		last = nth(n, last)
		same := got.offset == last.offset && got.first == last.first && got.last == last.last && got.stored == last.stored && got.size == last.size
		if !same || !slices.Equal(got.channels, last.channels) {
			t.Fatalf("chunk %d: %+v, want %+v", n, got, last)
		}
		n++
	})
	if n != chunks {
		t.Errorf("%d of %d chunks", n, chunks)
	}
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

// A disk that fails at any byte is reported, and nothing is written after it.
func TestFailingWriter(t *testing.T) {
	log, _ := record(t, script())
	for limit := range len(log) {
		out := &limited{left: limit}
		w, err := NewWriter(out, info())
		for _, chunk := range script() {
			if err == nil {
				err = w.WriteChunk(batchOf(chunk))
			}
		}
		if err == nil {
			err = w.Close()
		}
		if err != errBroken || !bytes.Equal(out.written.Bytes(), log[:limit]) {
			t.Fatalf("%d bytes fit: %v, %d written", limit, err, out.written.Len())
		}
	}
}

// limited fails after a number of bytes.
type limited struct {
	left    int
	written bytes.Buffer
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.left -= n
	l.written.Write(b[:n])
	if n < len(b) {
		return n, errBroken
	}
	return n, nil
}
