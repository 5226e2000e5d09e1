package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The letters and numbers of tables 3, 4, 6 and 8 of the manual.
func TestLetters(t *testing.T) {
	for _, tt := range []struct {
		name string
		got  byte
		want byte
	}{
		{"table 3a laser", Laser, 0x6C},
		{"table 3a sonar", Sonar, 0x73},
		{"table 3a position", Position, 0x70},
		{"table 3a gripper", Gripper, 0x67},
		{"table 3a misc", Misc, 0x6D},
		{"table 3a vision", Vision, 0x76},
		{"table 3a ptz", PTZ, 0x7A},
		{"table 8 server", Server, 0x79},
		{"table 3b read", AccessRead, 0x72},
		{"table 3b write", AccessWrite, 0x77},
		{"table 3b all", AccessAll, 0x61},
		{"table 3b close", AccessClose, 0x63},
		{"table 3b error", AccessError, 0x65},
		{"3.3 request", KindRequest, 0x64},
		{"3.4 command", KindCommand, 0x63},
		{"3.6 config", KindConfig, 0x78},
		{"3.3 reply", KindReply, 0x72},
		{"table 8 frequency", ConfigFrequency, 0x66},
		{"table 8 mode", ConfigMode, 0x72},
		{"table 8 data", ConfigData, 0x64},
		{"table 8 motors", ConfigMotors, 0x6D},
		{"table 8 velocity", ConfigVelocity, 0x76},
		{"table 8 odometry", ConfigOdometry, 0x52},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %#x, want %#x", tt.name, tt.got, tt.want)
		}
	}
}

// The message formats of tables 9 and 10, byte for byte.
func TestMessageFormats(t *testing.T) {
	for _, tt := range []struct {
		name string
		got  []byte
		want string
	}{
		{"device request", AppendRequest(nil, []byte("srpw")), "dr\x00\x04srpw"},
		{"empty device request", AppendRequest(nil, nil), "dr\x00\x00"},
		{"device command", AppendMessage(nil, KindCommand, Position, []byte{0, 100, 0xFF, 0xEC}), "cp\x00\x04\x00\x64\xFF\xEC"},
		{"config request", AppendMessage(nil, KindConfig, Server, []byte{'f', 0, 20}), "xy\x00\x03f\x00\x14"},
		{"device response", AppendBlock(nil, KindReply, []byte("srpe")), "r\x00\x04srpe"},
		{"sensor data", AppendBlock(nil, Misc, []byte{1, 2, 124}), "m\x00\x03\x01\x02\x7C"},
		{"no data yet", AppendBlock(nil, Vision, nil), "v\x00\x00"},
		{"large header", AppendBlockHeader(nil, Laser, LaserSize), "l\x02\xD2"},
		{"appends", AppendRequest([]byte("before"), []byte("pa")), "beforedr\x00\x02pa"},
	} {
		if string(tt.got) != tt.want {
			t.Errorf("%s: % X, want % X", tt.name, tt.got, tt.want)
		}
	}
}

// decode feeds the pieces to a new decoder and returns copies of the messages.
// It fails the test if the decoder keeps more than it may.
func decode(t testing.TB, pieces ...[]byte) []Message {
	t.Helper()
	var d Decoder
	var got []Message
	for _, in := range pieces {
		for {
			m, rest, ok := d.Next(in)
			checkBounded(t, &d)
			if !ok {
				break
			}
			if len(rest) > len(in) {
				t.Fatalf("rest of %d bytes from %d", len(rest), len(in))
			}
			m.Payload = slices.Clone(m.Payload)
			got = append(got, m)
			in = rest
		}
	}
	return got
}

func checkBounded(t testing.TB, d *Decoder) {
	t.Helper()
	const most = ClientHeaderSize + MaxPayload
	if len(d.split.partial) > most || cap(d.split.partial) > 2*most {
		t.Fatalf("decoder keeps %d of %d bytes, may %d", len(d.split.partial), cap(d.split.partial), most)
	}
	if d.skip > MaxBlock {
		t.Fatalf("decoder skips %d bytes, more than a size field can hold", d.skip)
	}
}

func sameMessages(a, b []Message) bool {
	return slices.EqualFunc(a, b, func(a, b Message) bool {
		return a.Kind == b.Kind && a.Device == b.Device && a.Size == b.Size &&
			a.Malformed == b.Malformed && bytes.Equal(a.Payload, b.Payload)
	})
}

// bytewise cuts b into single bytes.
func bytewise(b []byte) [][]byte { return slices.Collect(slices.Chunk(b, 1)) }

func good(kind, device byte, payload string) Message {
	return Message{Kind: kind, Device: device, Size: len(payload), Payload: []byte(payload)}
}

func bad(kind, device byte, size int) Message {
	return Message{Kind: kind, Device: device, Size: size, Malformed: true}
}

// Every kind of message, with a malformed one after each good one, so that a
// wrong skip spoils the next message.
var (
	mixedMessages = []Message{
		good('d', 'r', "srpw"),
		good('c', 'p', "\x00\x64\xFF\xEC"),
		bad('q', 'r', 5),
		good('x', 'y', "f\x00\x14"),
		bad('d', 'x', 2),
		good('d', 'r', ""),
		bad('c', 'p', MaxPayload+1),
		good('x', 'y', "d"),
		bad(0, 0, 0),
		good('c', 'g', "\x11\x14"),
		good('c', 'z', strings.Repeat("z", MaxPayload)), // in no table, but kept complete
		good('x', 'p', "R"),
		good('d', 'r', "s"), // odd size: checked by the session, not by the decoder
	}
	mixedStream = encode(mixedMessages)
)

// encode writes messages. The payload of a malformed one looks like messages.
func encode(messages []Message) []byte {
	var b []byte
	for _, m := range messages {
		p := m.Payload
		if m.Malformed {
			p = bytes.Repeat([]byte("xy\x00\x01d"), m.Size/5+1)[:m.Size]
		}
		b = AppendMessage(b, m.Kind, m.Device, p)
	}
	return b
}

func TestDecoderCuts(t *testing.T) {
	if got := decode(t, mixedStream); !sameMessages(got, mixedMessages) {
		t.Fatalf("all in one: %+v", got)
	}
	if got := decode(t, bytewise(mixedStream)...); !sameMessages(got, mixedMessages) {
		t.Errorf("byte by byte: %+v", got)
	}
	for cut := range mixedStream {
		got := decode(t, mixedStream[:cut], mixedStream[cut:])
		if !sameMessages(got, mixedMessages) {
			t.Errorf("cut at %d: %+v", cut, got)
		}
		// A message that is complete before the cut must be returned before
		// it.
		before, size := 0, 0
		for _, m := range mixedMessages {
			if size += ClientHeaderSize; !m.Malformed { // the header alone shows that a message is malformed
				size += m.Size
			}
			if size > cut {
				break
			}
			if before++; m.Malformed {
				size += m.Size
			}
		}
		if got := decode(t, mixedStream[:cut]); len(got) != before {
			t.Errorf("the first %d bytes give %d messages, want %d", cut, len(got), before)
		}
	}
	for size := 2; size < 20; size++ {
		pieces := slices.Collect(slices.Chunk(mixedStream, size))
		if got := decode(t, pieces...); !sameMessages(got, mixedMessages) {
			t.Errorf("pieces of %d: %+v", size, got)
		}
	}
}

func TestDecoderEmptyInput(t *testing.T) {
	var d Decoder
	for _, b := range bytewise([]byte("dr\x00\x02sr")) {
		if m, _, ok := d.Next(nil); ok {
			t.Fatalf("message from nothing: %+v", m)
		}
		d.Next(b)
	}
	if m, rest, ok := d.Next(nil); ok || rest != nil {
		t.Fatalf("message from nothing: %+v, rest %q", m, rest)
	}
}

// Payloads up to the largest size are skipped in any pieces and never kept,
// and the message that follows is found.
func TestDecoderSkips(t *testing.T) {
	after := AppendRequest(nil, []byte("sr"))
	for _, head := range []string{"cp", "xy", "dr", "dx", "q!"} {
		for _, size := range []int{MaxPayload + 1, 4096, MaxBlock} {
			header := binary.BigEndian.AppendUint16([]byte(head), uint16(size))
			want := []Message{bad(head[0], head[1], size), good('d', 'r', "sr")}
			stream := slices.Concat(header, make([]byte, size), after)
			for _, piece := range []int{1, 3, 1024, 4096, len(stream)} {
				got := decode(t, slices.Collect(slices.Chunk(stream, piece))...)
				if !sameMessages(got, want) {
					t.Errorf("%s %d in pieces of %d: %+v", head, size, piece, got)
				}
			}
			var d Decoder
			d.Next(stream[:len(stream)-len(after)-1])
			if d.Next(nil); cap(d.split.partial) != 0 {
				t.Errorf("%s %d: decoder keeps %d bytes", head, size, cap(d.split.partial))
			}
		}
	}
}

// An incomplete payload costs only the bytes that arrived.
func TestDecoderKeepsWhatCame(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int
	}{
		{"", 0},
		{"d", 1},
		{"dr\x02", 3},
		{"dr\x02\x00", 4},
		{"dr\x02\x00sr", 6},
		{"dr\xFF\xFF", 0},
		{"dr\xFF\xFFsrsr", 0},
		{"dr\x00\x02sr", 0},
		{"dr\x00\x02srdr", 2},
	} {
		var d Decoder
		for in, ok := []byte(tt.in), true; ok; {
			_, in, ok = d.Next(in)
		}
		if len(d.split.partial) != tt.want {
			t.Errorf("%q: keeps %d bytes, want %d", tt.in, len(d.split.partial), tt.want)
		}
	}
}

func TestBlockCuts(t *testing.T) {
	var stream []byte
	for _, size := range []int{0, 1, 21, LaserSize, MaxBlock} {
		stream = AppendBlock(stream, Laser, bytes.Repeat([]byte{byte(size)}, size))
	}
	rest := stream
	for _, size := range []int{0, 1, 21, LaserSize, MaxBlock} {
		end := BlockHeaderSize + size
		for cut := range end {
			if _, _, left, ok := Block(rest[:cut]); ok || len(left) != cut {
				t.Fatalf("size %d cut at %d: ok %v, %d bytes left", size, cut, ok, len(left))
			}
		}
		letter, payload, left, ok := Block(rest)
		if !ok || letter != Laser || !bytes.Equal(payload, bytes.Repeat([]byte{byte(size)}, size)) {
			t.Fatalf("size %d: letter %q, %d bytes, ok %v", size, letter, len(payload), ok)
		}
		rest = left
	}
	if len(rest) != 0 {
		t.Fatalf("%d bytes left", len(rest))
	}
}

// FuzzDecoder checks three things: the decoder keeps no more than it may; the
// messages do not depend on the cuts; and encoding each message again at its
// position gives the input.
func FuzzDecoder(f *testing.F) {
	// The seeds are short, because the fuzzer would spend its time shrinking
	// long ones.
	f.Add([]byte{}, []byte{})
	f.Add(encode(mixedMessages[:6]), []byte{1})
	f.Add(encode(mixedMessages[7:10]), []byte{0, 3, 200, 5})
	f.Add([]byte("dr\x00\x04srpwdr\xFF\xFFxy\x00\x01d"), []byte{6, 1})
	f.Add([]byte("dr\x02\x01"), []byte{2})
	f.Fuzz(func(t *testing.T, stream, cuts []byte) {
		whole := decode(t, stream)
		rest := stream
		for i, m := range whole {
			size := ClientHeaderSize + m.Size
			if m.Malformed {
				size = ClientHeaderSize
			}
			again := AppendMessage(nil, m.Kind, m.Device, m.Payload)
			binary.BigEndian.PutUint16(again[2:], uint16(m.Size))
			if len(rest) < size || !bytes.Equal(again, rest[:size]) {
				t.Fatalf("message %d %+v is not what was sent: %q", i, m, rest)
			}
			rest = rest[min(ClientHeaderSize+m.Size, len(rest)):]
		}
		if len(rest) >= ClientHeaderSize {
			if m := header(rest); m.Malformed || len(rest) >= ClientHeaderSize+m.Size {
				t.Fatalf("not decoded: %q", rest)
			}
		}
		if got := decode(t, split(stream, cuts)...); !sameMessages(got, whole) {
			t.Fatalf("in pieces: %+v\nin one: %+v", got, whole)
		}
		if got := decode(t, bytewise(stream)...); !sameMessages(got, whole) {
			t.Fatalf("byte by byte: %+v\nin one: %+v", got, whole)
		}
	})
}

// split cuts b into pieces of the given sizes, which repeat. Size 0 is an
// empty piece.
func split(b, sizes []byte) (pieces [][]byte) {
	if !slices.ContainsFunc(sizes, func(n byte) bool { return n > 0 }) {
		return [][]byte{b}
	}
	for i := 0; len(b) > 0; i++ {
		n := min(int(sizes[i%len(sizes)]), len(b))
		pieces = append(pieces, b[:n])
		b = b[n:]
	}
	return pieces
}

func TestDecoderAllocates(t *testing.T) {
	burst := burstOfTen()
	var d Decoder
	if n := testing.AllocsPerRun(100, func() { drain(&d, burst) }); n != 0 {
		t.Errorf("a burst of whole messages: %v allocations", n)
	}
	if cap(d.split.partial) != 0 {
		t.Errorf("whole messages were copied: %d bytes", cap(d.split.partial))
	}
	if n := testing.AllocsPerRun(100, func() {
		drain(&d, burst[:len(burst)/2+1])
		drain(&d, burst[len(burst)/2+1:])
	}); n != 0 {
		t.Errorf("a cut burst, once the buffer exists: %v allocations", n)
	}
}

func drain(d *Decoder, in []byte) (messages int) {
	for {
		_, rest, ok := d.Next(in)
		if !ok {
			return messages
		}
		messages++
		in = rest
	}
}

// burstOfTen returns ten messages that a busy client sends at once.
func burstOfTen() []byte {
	b := AppendRequest(nil, []byte("srpalrgrmrvrzr"))
	for i := range 8 {
		b = AppendMessage(b, KindCommand, Position, PositionCommand{int16(i * 50), -20}.Append(nil))
	}
	return AppendMessage(b, KindConfig, Server, Config{Code: ConfigData}.Append(nil))
}

func BenchmarkDecodeBurst(b *testing.B) {
	burst := burstOfTen()
	var d Decoder
	b.SetBytes(int64(len(burst)))
	b.ReportAllocs()
	for b.Loop() {
		if n := drain(&d, burst); n != 10 {
			b.Fatal(n, "messages")
		}
	}
}

func ExampleDecoder() {
	var d Decoder
	for _, in := range []string{"dr\x00\x04sr", "pwcp\x00\x04\x00\x64\x00\x00"} {
		b := []byte(in)
		for {
			m, rest, ok := d.Next(b)
			if !ok {
				break
			}
			fmt.Printf("%c%c %q\n", m.Kind, m.Device, m.Payload)
			b = rest
		}
	}
	// Output:
	// dr "srpw"
	// cp "\x00d\x00\x00"
}
