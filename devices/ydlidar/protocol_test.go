package ydlidar

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"player/devices/transport"
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// golden is the example of the SDK's protocol document: a new turn, one sample without a
// return.
func golden(t testing.TB) []byte { return unhex(t, "AA 55 01 01 53 AE 53 AE AB 54 00 00") }

// sealed is a packet with angles in degrees and distances in 1/4 mm.
func sealed(from, to float64, quarters ...uint16) []byte {
	p := []byte{0xAA, 0x55, 0, byte(len(quarters))}
	sum := binary.LittleEndian.Uint16(p) ^ binary.LittleEndian.Uint16(p[2:])
	for _, degrees := range []float64{from, to} {
		word := uint16(degrees*64)<<1 | 1
		sum ^= word
		p = binary.LittleEndian.AppendUint16(p, word)
	}
	for _, q := range quarters {
		sum ^= q
	}
	p = binary.LittleEndian.AppendUint16(p, sum)
	for _, q := range quarters {
		p = binary.LittleEndian.AppendUint16(p, q)
	}
	return p
}

// dataAhead is the descriptor of an answer to Scan.
var dataAhead = [...]byte{0xA5, 0x5A, 5, 0, 0, 0x40, 0x81}

func answer(model byte) []byte {
	return append([]byte{0xA5, 0x5A, 20, 0, 0, 0, 4, model}, make([]byte, 19)...)
}

func TestGoldenPacket(t *testing.T) {
	b := golden(t)
	if size, v := inspect(b); size != len(b) || v != transport.Whole {
		t.Fatalf("%d, %v", size, v)
	}
	if degrees, mm := Packet(b).sample(0); math.Abs(degrees-0xAE53>>1/64.) > 0.02 || mm != 0 {
		t.Errorf("%v degrees, %d mm", degrees, mm)
	}
}

// The example of the document: 40 samples from 223.78 to 243.47 degrees, the first at 1000
// mm, the last at 8000.
func TestGoldenAngles(t *testing.T) {
	quarters := make([]uint16, 40)
	quarters[0], quarters[39] = 4000, 32000
	b := sealed(0, 0, quarters...)
	copy(b[4:], unhex(t, "E5 6F BD 79"))
	p := Packet(b)
	for k, want := range map[int]struct {
		degrees float64
		mm      int
	}{0: {217.0178, 1000}, 1: {223.78 + 19.69/39, 0}, 39: {235.6326, 8000}} {
		if degrees, mm := p.sample(k); math.Abs(degrees-want.degrees) > 0.01 || mm != want.mm {
			t.Errorf("sample %d: %v degrees, %d mm, want %+v", k, degrees, mm, want)
		}
	}
}

func TestVerdicts(t *testing.T) {
	unchecked := sealed(10, 20, 4000, 4000)
	unchecked[6] ^= 1
	flipped := sealed(10, 20, 4000, 4000)
	flipped[12] ^= 4
	for name, tt := range map[string]struct {
		in   []byte
		want transport.Verdict
	}{
		"across the front": {sealed(355, 5, 4000, 4000), transport.Whole},
		"the widest":       {sealed(10, 190, 4000, 4000), transport.Whole},
		"too wide":         {sealed(10, 191, 4000, 4000), transport.Damaged},
		"counting down":    {sealed(10, 9, 4000, 4000), transport.Damaged},
		"no samples":       {sealed(10, 10), transport.Junk},
		"the most":         {sealed(10, 20, make([]uint16, 255)...), transport.Whole},
		"no check bit":     {unchecked, transport.Junk},
		"flipped":          {flipped, transport.Damaged},
		"info":             {answer(6), transport.Whole},
		"half of it":       {answer(6)[:20], transport.Partial},
		"another answer":   {dataAhead[:], transport.Junk},
	} {
		if _, got := inspect(tt.in); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// found returns what is recognised in the parts of a stream.
func found(parts ...[]byte) (all [][]byte) {
	var f transport.Framing
	var buf [packetSize]byte
	for _, part := range parts {
		for b, rest := f.Next(buf[:], part, inspect); b != nil; b, rest = f.Next(buf[:], rest, inspect) {
			all = append(all, slices.Clone(b))
		}
	}
	return all
}

// Packets are found however they are cut, and behind whatever is in front of them.
func TestCuts(t *testing.T) {
	good := sealed(350, 3, 4000, 0, 8000)
	bad := slices.Clone(good)
	bad[11] ^= 1
	in := slices.Concat([]byte{0xA5, 0xAA, 0xAA}, golden(t), dataAhead[:], answer(5), good[:9], good, bad, good)
	want := [][]byte{golden(t), answer(5), good, good}
	for cut := range len(in) + 1 {
		if got := found(in[:cut], in[cut:]); !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("cut at %d: % X", cut, got)
		}
	}
}

func TestProbe(t *testing.T) {
	noise := make([]byte, 4096)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	p := Kind().Probe
	good := sealed(10, 20, 4000, 4000)
	for name, tt := range map[string]struct {
		heard []byte
		model string
		found bool
	}{
		"nothing":         {nil, "", false},
		"noise":           {noise, "", false},
		"its own request": {p.Ask, "", false},
		"an X4":           {answer(6), "YDLIDAR X4", true},
		"one packet":      {good, "", false},
		"two":             {slices.Concat(good[3:], good, good, good[:9]), "", true},
	} {
		if a := p.Recognise(tt.heard); a.Found != tt.found || a.Found && a.Model != tt.model {
			t.Errorf("%s: %+v", name, a)
		}
	}
	for _, model := range []byte{0x18, 0x71, 13, 100, 255} { // an RPLIDAR's, and those with other packets
		if p.Recognise(answer(model)).Found {
			t.Errorf("model %d", model)
		}
	}
}

// FuzzInspect: what is recognised is in the input and can be read; every byte is accounted
// for.
func FuzzInspect(f *testing.F) {
	f.Add(golden(f), 3)
	f.Add(sealed(350, 3, 4000, 0, 8000), 11)
	f.Add(answer(6), 7)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		cut = max(0, min(cut, len(in)))
		var framing transport.Framing
		var buf [packetSize]byte
		size := 0
		for _, part := range [][]byte{in[:cut], in[cut:]} {
			for b, rest := framing.Next(buf[:], part, inspect); b != nil; b, rest = framing.Next(buf[:], rest, inspect) {
				size += len(b)
				if !bytes.Contains(in, b) {
					t.Fatalf("% X is not in % X", b, in)
				}
				if b[0] == info[0] {
					modelName(b[len(info)])
					continue
				}
				for k := range Packet(b).count() {
					if degrees, mm := Packet(b).sample(k); mm < 0 || !(math.Abs(degrees) < 700) {
						t.Fatalf("sample %d: %v degrees, %d mm", k, degrees, mm)
					}
				}
			}
		}
		if total := uint64(size) + framing.Stats.Garbage + uint64(len(framing.Waiting(buf[:]))); total != uint64(len(in)) {
			t.Fatalf("%d bytes of %d are accounted for", total, len(in))
		}
	})
}
