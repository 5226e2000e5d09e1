package sicklms200

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"player/devices/transport"
)

// unhex reads bytes written as "02 80 03".
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return b
}

// recording reads the telegrams of a recorded session.
func recording(t testing.TB) (telegrams [][]byte) {
	t.Helper()
	f, err := os.Open("testdata/session.hex")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := lines.Text(); !strings.HasPrefix(line, "#") {
			telegrams = append(telegrams, unhex(t, line))
		}
	}
	return telegrams
}

// feed gives the parser chunks in turn and returns copies of the telegrams.
func feed(p *Parser, chunks ...[]byte) (telegrams [][]byte) {
	for _, in := range chunks {
		for telegram, in := p.Next(in); telegram != nil; telegram, in = p.Next(in) {
			telegrams = append(telegrams, bytes.Clone(telegram))
		}
	}
	return telegrams
}

func equal(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

// reencode frames a device's telegram anew from its parts.
func reencode(t Telegram) []byte {
	return appendTelegram(nil, addressHost, byte(t.Code()), append(bytes.Clone(t.Data()), byte(t.Status()))...)
}

// The device's reference telegrams.
var answers = []struct {
	telegram string
	code     Code
	data     string
}{
	{"02 80 03 00 A0 00 10 16 0A", CodeAck, "\x00"},
	{"02 80 03 00 A0 01 10 14 0B", CodeAck, "\x01"},
	{"02 80 03 00 A0 02 10 12 08", CodeAck, "\x02"},
	{"02 80 02 00 92 10 7F 33", CodeNack, ""},
	{"02 80 07 00 BB 01 B4 00 32 00 10 03 9D", CodeVariantSet, "\x01\xB4\x00\x32\x00"},
	{"02 80 07 00 BB 00 B4 00 64 00 10 7B 20", CodeVariantSet, "\x00\xB4\x00\x64\x00"},
	{"02 80 16 00 BA 4C 4D 53 32 30 30 3B 33 30 31 30 36 3B 56 30 32 2E 31 30 20 10 99 AB",
		CodeType, "LMS200;30106;V02.10 "},
}

func TestTelegram(t *testing.T) {
	for _, tt := range answers {
		want := unhex(t, tt.telegram)
		var p Parser
		got := feed(&p, want)
		if !equal(got, [][]byte{want}) {
			t.Errorf("%s: parsed % X", tt.telegram, got)
			continue
		}
		telegram := Telegram(got[0])
		if telegram.Code() != tt.code || string(telegram.Data()) != tt.data || telegram.Status() != 0x10 {
			t.Errorf("%s: %v, data %q, status %X", tt.telegram, telegram.Code(), telegram.Data(), telegram.Status())
		}
		if again := reencode(telegram); !bytes.Equal(again, want) {
			t.Errorf("%s: re-encodes to % X", tt.telegram, again)
		}
	}
}

func TestCRC(t *testing.T) {
	// Each byte's register, worked by hand.
	tests := []struct {
		in   string
		want []uint16
	}{
		{"02 00 02 00 20 24", []uint16{0x0002, 0x0204, 0x040A, 0x0A14, 0x1408, 0x0834}},
		{"02 00 0A 00 20 00 53 49 43 4B 5F 4C 4D 53", []uint16{0x0002, 0x0204, 0x0402, 0x0204, 0x0428, 0x2850,
			0x50F3, 0xF2AF, 0x2C18, 0x1B7B, 0x7DA9, 0xA41E, 0x8474, 0xC5BE}},
	}
	for _, tt := range tests {
		in := unhex(t, tt.in)
		for i, want := range tt.want {
			if got := crc(in[:i+1]); got != want {
				t.Errorf("% X: %04X, want %04X", in[:i+1], got, want)
			}
		}
	}
}

func TestStatus(t *testing.T) {
	tests := []struct {
		status   Status
		severity int
		polluted bool
	}{{0x10, 0, false}, {0x12, 2, false}, {0x94, 4, true}}
	for _, tt := range tests {
		if tt.status.Severity() != tt.severity || tt.status.Polluted() != tt.polluted {
			t.Errorf("%X: severity %d, polluted %v", tt.status, tt.status.Severity(), tt.status.Polluted())
		}
	}
}

func TestParserCutAnywhere(t *testing.T) {
	telegrams := recording(t)
	longest := appendTelegram(nil, addressHost, byte(CodeScan), make([]byte, maxContent-1)...)
	if len(longest) != MaxTelegram {
		t.Fatalf("longest telegram has %d bytes, want %d", len(longest), MaxTelegram)
	}
	telegrams = append(telegrams, longest)
	stream := bytes.Join(telegrams, nil)
	for cut := range len(stream) + 1 {
		var p Parser
		if got := feed(&p, stream[:cut], stream[cut:]); !equal(got, telegrams) {
			t.Fatalf("cut at %d: %d telegrams, want %d", cut, len(got), len(telegrams))
		}
		if want := (transport.Stats{Packets: uint64(len(telegrams))}); p.Stats != want {
			t.Fatalf("cut at %d: %+v, want %+v", cut, p.Stats, want)
		}
	}
	var p Parser
	if got := feed(&p, slices.Collect(slices.Chunk(stream, 1))...); !equal(got, telegrams) {
		t.Fatalf("byte by byte: %d telegrams, want %d", len(got), len(telegrams))
	}
}

func TestParserRecovers(t *testing.T) {
	const good = "02 80 03 00 A0 00 10 16 0A "
	tests := []struct {
		name, in  string
		telegrams int // copies of good to come out
		stats     transport.Stats
	}{
		{"noise before, between, after", "00 FF 12" + good + "80 03" + good + "77", 2, transport.Stats{Packets: 2, Garbage: 6, Broken: 0}},
		{"header bytes before", "02 02 02 80 02 80 " + good, 1, transport.Stats{Packets: 1, Garbage: 6, Broken: 0}},
		{"our own request echoed", "02 00 02 00 20 25 35 08 " + good, 1, transport.Stats{Packets: 1, Garbage: 8, Broken: 0}},
		{"no status", "02 80 01 00 92 " + good, 1, transport.Stats{Packets: 1, Garbage: 5, Broken: 0}},
		{"length over the limit", "02 80 2D 03 " + good, 1, transport.Stats{Packets: 1, Garbage: 4, Broken: 0}},
		{"wrong CRC", "02 80 03 00 A0 00 10 16 0B " + good, 1, transport.Stats{Packets: 1, Garbage: 9, Broken: 1}},
		{"corrupt byte", "02 80 03 00 A0 01 10 16 0A " + good, 1, transport.Stats{Packets: 1, Garbage: 9, Broken: 1}},
		{"length lies over good telegrams", "02 80 1A 00 B0 " + good + good + good, 3, transport.Stats{Packets: 3, Garbage: 5, Broken: 1}},
		{"truncated scan", "02 80 08 00 B0 69 41 E8 03 " + good + good, 2, transport.Stats{Packets: 2, Garbage: 9, Broken: 1}},
		{"good telegram as data of a bad one", "02 80 0B 00 BA " + good + "10 00 00", 1, transport.Stats{Packets: 1, Garbage: 8, Broken: 1}},
	}
	for _, tt := range tests {
		var want [][]byte
		for range tt.telegrams {
			want = append(want, unhex(t, good))
		}
		in := unhex(t, tt.in)
		for cut := range len(in) + 1 {
			var p Parser
			got := feed(&p, in[:cut], in[cut:])
			if !equal(got, want) || p.Stats != tt.stats {
				t.Errorf("%s, cut at %d: % X, %+v, want %d telegrams, %+v",
					tt.name, cut, got, p.Stats, tt.telegrams, tt.stats)
				break
			}
		}
	}
}

// TestParserFindsTelegramsInNoise hides telegrams in random bytes full of
// header bytes. Only a chance CRC could hide one; with this seed there is none.
func TestParserFindsTelegramsInNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	want := unhex(t, answers[0].telegram)
	var p Parser
	found := 0
	count := func(telegrams [][]byte) {
		for _, got := range telegrams {
			if bytes.Equal(got, want) {
				found++
			}
		}
	}
	const rounds = 200
	for range rounds {
		noise := make([]byte, random.IntN(300))
		for i := range noise {
			noise[i] = []byte{stx, addressHost, 3, byte(random.Uint32())}[random.IntN(4)]
		}
		count(feed(&p, noise, want))
	}
	count(feed(&p, make([]byte, MaxTelegram))) // for a lying length at the very end
	if found != rounds {
		t.Errorf("found %d of %d telegrams, %+v", found, rounds, p.Stats)
	}
}

func TestParserReset(t *testing.T) {
	good := unhex(t, answers[0].telegram)
	var p Parser
	feed(&p, unhex(t, "02 80 D6 02 B0"))
	p.Reset()
	if got := feed(&p, good); !equal(got, [][]byte{good}) {
		t.Errorf("after Reset: % X", got)
	}
	if want := (transport.Stats{Packets: 1, Garbage: 5}); p.Stats != want {
		t.Errorf("%+v, want %+v", p.Stats, want)
	}
}

func TestReceiveAllocatesNothing(t *testing.T) {
	stream := append(bytes.Join(recording(t), nil), "\x02\x80\x03noise"...)
	var p Parser
	sum := 0
	scans := 0
	allocs := testing.AllocsPerRun(100, func() {
		for telegram, in := p.Next(stream); telegram != nil; telegram, in = p.Next(in) {
			if s, err := DecodeScan(telegram); err == nil {
				for i := range s.Count {
					sum += int(s.Range(i))
				}
				scans++
			}
		}
	})
	if allocs != 0 || scans == 0 || sum == 0 {
		t.Errorf("%v allocations in a stream of %d scans", allocs, scans)
	}
}

func FuzzParser(f *testing.F) {
	for _, tt := range answers {
		f.Add(unhex(f, tt.telegram))
	}
	f.Add(unhex(f, "02 80 0B 00 BA 02 80 03 00 A0 00 10 16 0A 10 00 00 02 02 80 FF"))
	for _, telegram := range recording(f) {
		f.Add(telegram)
	}
	f.Add(partOfScan)
	f.Fuzz(func(t *testing.T, in []byte) {
		var p Parser
		got := feed(&p, in)
		total := p.Stats.Garbage + uint64(len(p.Waiting(p.buf[:])))
		for _, b := range got {
			total += uint64(len(b))
			telegram := Telegram(b)
			if again := reencode(telegram); !bytes.Equal(again, b) {
				t.Fatalf("% X re-encodes to % X", b, again)
			}
			telegram.Ack()
			telegram.VariantSet()
			telegram.Variant()
			telegram.Config()
			telegram.ConfigSet()
			if s, _ := DecodeScan(telegram); len(s.values) != 2*s.Count {
				t.Fatalf("% X: %d bytes of %d ranges", b, len(s.values), s.Count)
			}
		}
		if total != uint64(len(in)) || p.Stats.Packets != uint64(len(got)) {
			t.Fatalf("%d bytes of %d accounted for, %+v", total, len(in), p.Stats)
		}
		var q Parser
		if split := feed(&q, slices.Collect(slices.Chunk(in, 1))...); !equal(split, got) || p.Stats != q.Stats {
			t.Fatalf("byte by byte % X %+v, at once % X %+v", split, q.Stats, got, p.Stats)
		}
	})
}
