package logfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foxglove/mcap/go/mcap"

	"player/codec"
	"player/e2e/must"
	"player/e2e/needs"
)

// TestMain has garbage collected seldom: readers of damaged logs take much memory, for a moment.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

const ms = time.Millisecond

// started is the start time of the tests' server.
var started = time.Date(2026, 7, 28, 10, 15, 0, 123456789, time.UTC)

func info() Info {
	return Info{Server: "player test", Start: started, Channels: []Channel{
		{Interface: "position"}, {Interface: "position", Content: Command}, {Interface: "position", Content: Configuration},
		{Interface: "laser"}, {Interface: "misc", Index: 2}, {Interface: "vision"},
	}}
}

// compressed is info of a log with compressed chunks.
func compressed() Info {
	about := info()
	about.Compress = true
	return about
}

// said is one message of a test.
type said struct {
	channel int
	at      time.Duration
	payload string
}

func (s said) String() string {
	return fmt.Sprintf("%s %d %q", info().Channels[s.channel].Topic(), started.UnixNano()+int64(s.at), s.payload)
}

// script returns the messages of a robot, in chunks.
func script() [][]said {
	position := codec.PositionData{Time: 250, X: -5, Y: 7, Heading: 359, Speed: -200, TurnRate: 3, Compass: 90, Stall: 1}
	return [][]said{
		{{0, 100 * ms, string(position.Append(nil))}, {1, 101 * ms, "\x00\xC8\xFF\xF6"}, {2, 102 * ms, "m\x01"}, {2, 102 * ms, "R"}},
		{{4, 350 * ms, "\x1F\x01\x7E"}, {3, 340 * ms, ""}, {3, 345 * ms, "\x03\xE8\x03\xE9"}},
		{{0, 600 * ms, string(position.Append(nil))}, {5, 610 * ms, string((&codec.VisionData{}).Append(nil))}},
	}
}

// record writes chunks and returns the log, and its size after each chunk.
func record(t testing.TB, chunks [][]said) (log []byte, ends []int) {
	t.Helper()
	return recordWith(t, info(), chunks)
}

// recordWith is record with given options of the writer.
func recordWith(t testing.TB, about Info, chunks [][]said) (log []byte, ends []int) {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(NewWriter(&out, about))(t)
	for _, chunk := range chunks {
		ends = append(ends, out.Len())
		before, b := w.Size(), batchOf(chunk)
		must.Do(t, w.WriteChunk(b))
		if grown := w.Size() - before; grown > int64(b.Size()) {
			t.Errorf("a chunk of %d bytes, Size reported %d", grown, b.Size())
		}
	}
	ends = append(ends, out.Len())
	most := w.Size()
	must.Do(t, w.Close())
	if int64(out.Len()) > most {
		t.Errorf("%d bytes, Size reported at most %d", out.Len(), most)
	}
	return out.Bytes(), ends
}

func batchOf(chunk []said) *Batch {
	var b Batch
	for _, s := range chunk {
		b.Add(s.channel, s.at, []byte(s.payload))
	}
	return &b
}

// reader returns a reader of a log.
func reader(t testing.TB, log []byte) *Reader {
	t.Helper()
	return must.Get(NewReader(bytes.NewReader(log)))(t)
}

// read reads a log to its end, one text line per message.
func read(t testing.TB, log []byte) (lines []string, damage error) {
	t.Helper()
	return drain(reader(t, log))
}

// library returns the library's reader of a log, and the summary that it finds.
func library(t testing.TB, log []byte) (*mcap.Reader, *mcap.Info) {
	t.Helper()
	r := must.Get(mcap.NewReader(bytes.NewReader(log)))(t)
	summary := must.Get(r.Info())(t)
	return r, summary
}

// each calls fn with all messages that the library's reader finds in a log.
func each(t testing.TB, log []byte, fn func(*mcap.Schema, *mcap.Channel, *mcap.Message) error, options ...mcap.ReadOpt) {
	t.Helper()
	r := must.Get(mcap.NewReader(bytes.NewReader(log)))(t)
	messages, err := r.Messages(options...)
	if err == nil {
		err = mcap.Range(messages, fn)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func drain(r *Reader) (lines []string, damage error) {
	for {
		m, err := r.Next()
		if err != nil {
			return lines, r.Damage()
		}
		lines = append(lines, fmt.Sprintf("%s %d %q", m.Channel.Topic(), m.Time, m.Payload))
	}
}

func lines(chunks [][]said) (want []string) {
	for _, s := range slices.Concat(chunks...) {
		want = append(want, s.String())
	}
	return want
}

func TestRoundTrip(t *testing.T) {
	log, _ := record(t, script())
	r := reader(t, log)
	got, damage := drain(r)
	if damage != nil {
		t.Error(damage)
	}
	if want := lines(script()); !slices.Equal(got, want) {
		t.Errorf("read %s\nwritten %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.server != "player test" || !r.start.Equal(started) {
		t.Errorf("by %q, started %v", r.server, r.start)
	}
}

// The library's own reader, which checks more, gives the same result.
func TestOtherReaders(t *testing.T) {
	log, _ := record(t, script())
	_, summary := library(t, log)
	if n := summary.Statistics.MessageCount; n != 9 || len(summary.Channels) != 6 {
		t.Errorf("%d messages of %d channels", n, len(summary.Channels))
	}
	var got []string
	each(t, log, func(s *mcap.Schema, c *mcap.Channel, m *mcap.Message) error {
		if s.Encoding != encoding || len(s.Data) == 0 || m.PublishTime != m.LogTime {
			t.Errorf("%s: schema %+v, times %d %d", c.Topic, s, m.LogTime, m.PublishTime)
		}
		got = append(got, fmt.Sprintf("%s %d %q", c.Topic, m.LogTime, m.Data))
		return nil
	})
	if want := lines(script()); !slices.Equal(got, want) {
		t.Errorf("read %s\nwritten %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// rewrite changes a log as other programs do: it compresses, or removes
// chunks.
func rewrite(t testing.TB, log []byte, options mcap.WriterOptions) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(mcap.NewWriter(&out, &options))(t)
	known := map[uint16]bool{}
	err := w.WriteHeader(&mcap.Header{})
	each(t, log, func(s *mcap.Schema, c *mcap.Channel, m *mcap.Message) error {
		if !known[c.ID] {
			known[c.ID] = true
			err = errors.Join(err, w.WriteSchema(s), w.WriteChannel(c))
		}
		return w.WriteMessage(m)
	}, mcap.UsingIndex(false))
	must.Do(t, errors.Join(err, w.Close()))
	return out.Bytes()
}

func TestRewrittenLogs(t *testing.T) {
	log, _ := record(t, script())
	for name, options := range map[string]mcap.WriterOptions{
		"zstd":      {Chunked: true, ChunkSize: 64, Compression: mcap.CompressionZSTD, IncludeCRC: true},
		"lz4":       {Chunked: true, ChunkSize: 64, Compression: mcap.CompressionLZ4, IncludeCRC: true},
		"no CRC":    {Chunked: true, ChunkSize: 64},
		"no chunks": {},
	} {
		t.Run(name, func(t *testing.T) {
			got, damage := read(t, rewrite(t, log, options))
			if want := lines(script()); !slices.Equal(got, want) || damage != nil {
				t.Errorf("read %s: %v", strings.Join(got, "\n"), damage)
			}
		})
	}
}

// chunkEnd returns where the chunk that begins at an offset ends, and its index begins.
func chunkEnd(log []byte, at int) int {
	return at + recordHeader + int(binary.LittleEndian.Uint64(log[at+1:]))
}

// damagedAt returns a log with another bit at a place.
func damagedAt(log []byte, at int) []byte {
	damaged := bytes.Clone(log)
	damaged[at] ^= 0x10
	return damaged
}

// Wherever a log ends, its complete chunks can be read, and nothing else.
func TestCutAtEveryByte(t *testing.T) {
	log, ends := record(t, script())
	for cut := range log {
		r, err := NewReader(bytes.NewReader(log[:cut]))
		if cut < len(mcap.Magic) {
			if !errors.Is(err, errNoLog) {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		chunks := 0
		for chunks < len(script()) && chunkEnd(log, ends[chunks]) <= cut {
			chunks++
		}
		got, damage := drain(r)
		if want := lines(script()[:chunks]); !slices.Equal(got, want) {
			t.Fatalf("cut at %d: read %q, want %q", cut, got, want)
		}
		// Nothing is missing if the end of the data is there.
		const dataEnd = 1 + 8 + 4
		if whole := cut >= ends[len(ends)-1]+dataEnd; whole != (damage == nil) || damage != nil && damage != ErrCut {
			t.Fatalf("cut at %d of %d: %v", cut, len(log), damage)
		}
	}
}

// A damaged chunk is skipped, and the chunks after it are read.
func TestDamagedChunk(t *testing.T) {
	log, ends := record(t, script())
	for at := ends[1] + 70; at < chunkEnd(log, ends[1]); at++ { // after the lengths
		got, damage := read(t, damagedAt(log, at))
		want := lines([][]said{script()[0], script()[2]})
		if !slices.Equal(got, want) || damage == nil || !strings.Contains(damage.Error(), "1 chunks were left out") {
			t.Fatalf("damage at %d: read %q, %v", at, got, damage)
		}
	}
}

// readFile is read of a file, which has a summary.
func readFile(t testing.TB, log []byte) (lines []string, damage error) {
	t.Helper()
	r := must.Get(Open(store(t, log)))(t)
	defer r.Close()
	return drain(r)
}

// The first chunk has the schemas and the channels. Without it they are read from the
// summary, unless that is also damaged.
func TestDamagedFirstChunk(t *testing.T) {
	needs.Time(t)
	log, ends := record(t, script())
	for at := ends[0] + 70; at < chunkEnd(log, ends[0]); at += 7 {
		damaged := damagedAt(log, at)
		for _, again := range []bool{false, true} {
			got, damage := readFile(t, damaged)
			if want := lines(script()[1:]); !slices.Equal(got, want) || (damage == nil) != again {
				t.Fatalf("damage at %d, repaired %v: read %q, %v", at, again, got, damage)
			}
			damaged, _, _ = repaired(t, damaged)
		}
	}
	damaged := damagedAt(damagedAt(log, ends[0]+100), len(log)-60)
	if got, damage := readFile(t, damaged); len(got) > 0 || damage == nil {
		t.Errorf("of a damaged summary: %q, %v", got, damage)
	}
}

// A damaged chunk that is compressed is also skipped.
func TestDamagedCompressedChunk(t *testing.T) {
	log, _ := recordWith(t, compressed(), script())
	second := bytes.Index(log, []byte("zstd"))
	second += bytes.Index(log[second+4:], []byte("zstd")) + 4
	size := int(binary.LittleEndian.Uint64(log[second+4:]))
	rest := lines([][]said{script()[0], script()[2]})
	left := 0
	for at := second; at < second+4+8+size; at++ {
		got, damage := read(t, damagedAt(log, at))
		if slices.Equal(got, lines(script())) && damage == nil {
			continue // a bit of the compression that does not matter
		}
		if !slices.Equal(got, rest) || damage == nil || !strings.Contains(damage.Error(), "1 chunks were left out") {
			t.Fatalf("damage at %d: read %q, %v", at, got, damage)
		}
		left++
	}
	if left < size/2 {
		t.Errorf("the damage of only %d of %d bytes was found", left, size)
	}
}

// Records that would take too much memory are not read.
func TestLargeChunks(t *testing.T) {
	large := [][]said{{{0, 0, "small"}}, {{0, ms, string(make([]byte, maxChunk))}}}
	log, _ := record(t, large)
	for name, options := range map[string]mcap.WriterOptions{
		"zstd":      {Chunked: true, ChunkSize: 1, Compression: mcap.CompressionZSTD, CompressionLevel: mcap.CompressionLevelFastest},
		"lz4":       {Chunked: true, ChunkSize: 1, Compression: mcap.CompressionLZ4, CompressionLevel: mcap.CompressionLevelFastest},
		"no chunks": {},
	} {
		got, damage := read(t, rewrite(t, log, options))
		if want := lines(large[:1]); !slices.Equal(got, want) || damage == nil || damage == ErrCut {
			t.Errorf("%s: %d messages, %v", name, len(got), damage)
		}
	}
}

type failing struct{ r io.Reader }

var errBroken = errors.New("input/output error")

func (f failing) Read(p []byte) (int, error) {
	if n, err := f.r.Read(p); err == nil {
		return n, nil
	}
	return 0, errBroken
}

func TestUnreadableFiles(t *testing.T) {
	log, _ := record(t, script())
	r := must.Get(NewReader(failing{bytes.NewReader(log[:len(log)/2])}))(t)
	if _, damage := drain(r); damage != errBroken {
		t.Errorf("a broken disk is reported as %v", damage)
	}
	if _, err := NewReader(failing{bytes.NewReader(nil)}); err != errBroken {
		t.Errorf("a broken disk is reported as %v", err)
	}
	if _, err := Open("nowhere.mcap"); err == nil || !strings.Contains(err.Error(), "nowhere.mcap") {
		t.Error(err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a directory was opened")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	if _, err := Open(pipe); err == nil || !strings.Contains(err.Error(), pipe+": not a regular file") {
		t.Error(err)
	}
	if _, err := Open("reader.go"); !errors.Is(err, errNoLog) || !strings.Contains(err.Error(), "reader.go") {
		t.Error(err)
	}
}

// A log that is being recorded is not damaged.
func TestRecording(t *testing.T) {
	log, ends := record(t, script())
	path := store(t, log[:ends[2]])
	for _, tt := range []struct {
		lock bool
		want error
	}{{false, ErrCut}, {true, ErrRecording}, {false, ErrCut}} {
		file := must.Get(os.OpenFile(path, os.O_WRONLY, 0))(t)
		if tt.lock {
			Lock(file)
		}
		s, err := Scan(path)
		if err != nil || s.Damage != tt.want || s.Messages != 7 {
			t.Errorf("%+v, %v", s, err)
		}
		must.Do(t, file.Close())
	}
}

// Messages that other programs recorded in the same file are ignored.
func TestForeignChannels(t *testing.T) {
	for topic, want := range map[string]bool{
		"/laser": true, "/laser:3": true, "/laser/command": true, "/laser:1/configuration": true,
		"laser": false, "/": false, "/laser:x": false, "/laser:0": false, "/laser/x": false, "/../laser": false, "/Laser": false, "/a\n": false, "": false, "/laser:01": false,
	} {
		c, ok := parseTopic(topic)
		if ok != want || ok && c.Topic() != topic {
			t.Errorf("%q: %+v, %v", topic, c, ok)
		}
	}
	var out bytes.Buffer
	w := must.Get(mcap.NewWriter(&out, &mcap.WriterOptions{Chunked: true}))(t)
	for i, c := range []mcap.Channel{
		{Topic: "/scan", MessageEncoding: "cdr"}, {Topic: "/sonar", MessageEncoding: encoding}, {Topic: "sonar", MessageEncoding: encoding},
	} {
		c.ID = uint16(i)
		must.Do(t, errors.Join(w.WriteChannel(&c), w.WriteMessage(&mcap.Message{ChannelID: c.ID, LogTime: 1, Data: []byte(c.Topic)})))
	}
	must.Do(t, w.Close())
	if got, damage := read(t, out.Bytes()); damage != nil || !slices.Equal(got, []string{`/sonar 1 "/sonar"`}) {
		t.Errorf("%q, %v", got, damage)
	}
	r := reader(t, out.Bytes()) // record by record each message counts
	var got []string
	for m, err := r.NextRecord(); err == nil; m, err = r.NextRecord() {
		if len(m.Payload) > 0 {
			got = append(got, fmt.Sprintf("%s %v", m.Payload, m.Channel != nil))
		}
	}
	if want := []string{"/scan false", "/sonar true", "sonar false"}; !slices.Equal(got, want) || r.Damage() != nil {
		t.Errorf("%q, want %q; %v", got, want, r.Damage())
	}
	if _, err := r.NextRecord(); err != io.EOF {
		t.Error(err)
	}
}

// Once a batch has grown, recording allocates nothing but a block of the index now and
// then.
func TestRecordingAllocates(t *testing.T) {
	w := must.Get(NewWriter(io.Discard, info()))(t)
	var b Batch
	scan := make([]byte, codec.LaserSize)
	chunk := func(messages int) func() {
		return func() {
			b.Reset()
			for i := range messages {
				b.Add(3, time.Duration(i)*ms, scan)
			}
			must.Do(t, w.WriteChunk(&b))
		}
	}
	chunk(1000)()
	small, large := testing.AllocsPerRun(200, chunk(1)), testing.AllocsPerRun(200, chunk(1000))
	if small != 0 || large != 0 {
		t.Errorf("%v allocations for a chunk of one message, %v of a thousand", small, large)
	}
}

func BenchmarkRecord(b *testing.B) {
	w := must.Get(NewWriter(io.Discard, info()))(b)
	var batch Batch
	scan := make([]byte, codec.LaserSize)
	b.ReportAllocs()
	b.SetBytes(codec.LaserSize)
	for b.Loop() {
		batch.Add(3, 0, scan)
		if batch.Size() >= 64<<10 {
			must.Do(b, w.WriteChunk(&batch))
			batch.Reset()
		}
	}
}

// Reading never panics, always ends, and uses bounded memory, whatever the
// file contains.
func FuzzReader(f *testing.F) {
	log, ends := record(f, script())
	f.Add(log)
	f.Add(log[:ends[2]-3])
	f.Add(rewrite(f, log, mcap.WriterOptions{Chunked: true, ChunkSize: 64, Compression: mcap.CompressionZSTD, IncludeCRC: true}))
	f.Add(rewrite(f, log, mcap.WriterOptions{Chunked: true, ChunkSize: 64, Compression: mcap.CompressionLZ4}))
	f.Add(rewrite(f, log, mcap.WriterOptions{}))
	// A chunk with a compression name of 200 letters, which is longer
	// than the chunk.
	long := bytes.Clone(log)
	long[ends[0]+1+8+8+8+8+4] = 200
	f.Add(long)
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := NewReader(bytes.NewReader(log))
		if err != nil {
			return
		}
		table := newTable(ChannelSummary{Channel: Channel{Interface: "laser"}}, discard(), "", "")
		for n := 0; ; n++ {
			m, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil || m.Channel == nil || len(m.Payload) > maxChunk {
				t.Fatalf("%+v, %v", m, err)
			}
			if n < 10 { // also parse schemas
				table.layout = parseLayout(m.Channel.Schema)
				must.Do(t, table.add(m, 0))
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatal("reading continues after the end")
		}
		// Readable messages are copied, and the copy is complete.
		all, _ := read(t, log)
		var out bytes.Buffer
		if _, err := copyLog(&out, reader(t, log), int64(len(log)), quiet); err == nil {
			if copied, damage := read(t, out.Bytes()); damage != nil || !slices.Equal(copied, all) {
				t.Fatalf("%d of %d messages were copied: %v", len(copied), len(all), damage)
			}
		}
		if len(r.buf) > maxChunk || cap(r.unpack.out) > 2*maxChunk || len(r.channels) > maxChannels || r.Offset() > int64(len(log)) {
			t.Fatalf("%d bytes, %d channels", len(r.buf), len(r.channels))
		}
	})
}
