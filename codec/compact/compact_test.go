package compact_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"player/codec"
	"player/codec/compact"
	"player/e2e/must"
)

// items are payloads of all kinds, in shape and out of it.
func items(t testing.TB) []plain {
	var all []plain
	add := func(letter byte, payload []byte) { all = append(all, plain{letter, payload}) }
	for _, m := range drive(t)[:20] {
		for _, letter := range []byte("lspmgzv") {
			add(letter, m[letter])
		}
	}
	vision := codec.VisionData{Count: [32]uint8{3: 1, 31: 2}, Blobs: make([]codec.Blob, 3)}
	add(codec.Vision, vision.Append(nil))
	joystick := codec.JoystickData{Buttons: 5, Axes: [8]int16{-32767, 32767, 1, -1}}
	add(codec.Joystick, joystick.Append(nil))
	fresh := codec.FreshnessData{Time: 1 << 40, Ages: []uint32{0, 20000, codec.MaxAge, codec.NoAge}}
	add(codec.Server, fresh.Append(nil))
	for _, n := range []int{0, 1, 2, 682, codec.MaxReadings} {
		ranger := codec.RangerData{Unit: 4, Ranges: make([]uint16, n)}
		for i := range ranger.Ranges {
			ranger.Ranges[i] = uint16(2000 + i/3)
		}
		add(codec.Ranger, ranger.Append(nil))
	}
	random := rand.New(rand.NewPCG(3, 4))
	for _, letter := range []byte("lspmgzvjyqR") {
		for _, size := range []int{0, 1, 2, 6, 12, 20, 21, 32, 63, 64, 74, 130, 722, 3264} {
			for _, b := range []byte{0, 1, 255} {
				add(letter, bytes.Repeat([]byte{b}, size))
			}
			payload := make([]byte, size)
			for i := range payload {
				payload[i] = byte(random.Uint32())
			}
			add(letter, payload)
		}
	}
	return all
}

// plain is a block of a plain frame.
type plain struct {
	letter  byte
	payload []byte
}

func TestIdentity(t *testing.T) {
	all := items(t)
	var block []byte
	for _, b := range all {
		before := len(block)
		block = compact.Append(block, b.letter, b.payload, codec.Scan{})
		if n := len(block) - before; n > len(b.payload)+4 {
			t.Errorf("%c: %d bytes of %d", b.letter, n, len(b.payload))
		}
	}
	var r compact.Reader
	r.Reset(block)
	for _, want := range all {
		letter, payload, ok, err := r.Next()
		if !ok || err != nil || letter != want.letter || !bytes.Equal(payload, want.payload) {
			t.Fatalf("%c % X became %c % X, %v", want.letter, want.payload, letter, payload, err)
		}
	}
	if _, _, ok, err := r.Next(); ok || err != nil {
		t.Error("an item too many", err)
	}
}

// Typical data is small.
func TestSizeOfFrame(t *testing.T) {
	var total, full int
	moments := drive(t)
	random := rand.New(rand.NewPCG(1, 2))
	sizes := map[byte]int{}
	for _, m := range moments {
		for letter, payload := range m {
			if letter == codec.Laser {
				payload = noisy(random, payload, 5)
			}
			n := len(compact.Append(nil, letter, payload, codec.Scan{}))
			sizes[letter] += n
			total += n
			full += codec.BlockHeaderSize + len(payload)
		}
	}
	t.Logf("%d of %d bytes", total/len(moments), full/len(moments))
	for letter, n := range sizes {
		t.Logf("%c %d", letter, n/len(moments))
	}
	if total/len(moments) > 370 {
		t.Error("more than 370 bytes a frame")
	}
}

func TestSelection(t *testing.T) {
	scan := drive(t)[30][codec.Laser]
	var whole, got codec.LaserData
	must.Do(t, whole.Decode(scan))
	for _, s := range []codec.Scan{
		{Step: 1, Last: 65535, Unit: 10}, {Step: 18, First: 9, Last: 360, Unit: 100}, {Step: 1, Last: 360, Unit: 255}, {Step: 7, First: 90, Last: 270, Unit: 10},
		{Step: 1, First: 360, Last: 360}, {Step: 1, First: 361, Last: 400}, {Step: 255, Last: 360},
	} {
		var r compact.Reader
		block := compact.Append(nil, codec.Laser, scan, s)
		r.Reset(block)
		_, payload, ok, err := r.Next()
		if !ok || got.Decode(payload) != nil {
			t.Fatal(s, err)
		}
		for i, r := range got {
			want := whole[i]
			if s.Unit > 1 {
				want = (want + uint16(s.Unit)/2) / uint16(s.Unit) * uint16(s.Unit)
			}
			if i < int(s.First) || i > int(s.Last) || (i-int(s.First))%int(s.Step) != 0 {
				want = 0
			}
			if r != want {
				t.Errorf("%+v: reading %d is %d, want %d", s, i, r, want)
			}
		}
	}
	// A payload that is no scan is sent unchanged.
	for _, size := range []int{0, 7, 40} {
		var r compact.Reader
		r.Reset(compact.Append(nil, codec.Laser, make([]byte, size), codec.Scan{Step: 2, Last: 9}))
		if _, payload, ok, err := r.Next(); !ok || len(payload) != size {
			t.Error(size, payload, err)
		}
	}
}

func TestAllocatesNothing(t *testing.T) {
	all := items(t)[:7]
	var block []byte
	var r compact.Reader
	if n := testing.AllocsPerRun(100, func() {
		block = block[:0]
		for _, b := range all {
			block = compact.Append(block, b.letter, b.payload, codec.Scan{})
			block = compact.Append(block, b.letter, b.payload, codec.Scan{Step: 2, Last: 360, Unit: 10})
		}
		r.Reset(block)
		for ok := true; ok; {
			_, _, ok, _ = r.Next()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Any payload is decoded unchanged after encoding. No block, however damaged, breaks the
// decoder, and the size of its result is bounded.
func FuzzBlock(f *testing.F) {
	f.Add([]byte("p"), []byte{0, 1, 2, 3, 255, 255, 0, 0}, uint8(0), uint8(0), uint16(0), uint16(0))
	f.Add(compact.Append(nil, codec.Laser, make([]byte, 722), codec.Scan{}), make([]byte, 722), uint8(3), uint8(50), uint16(2), uint16(300))
	f.Fuzz(func(t *testing.T, block, payload []byte, step, unit uint8, first, last uint16) {
		var r compact.Reader
		for _, letter := range []byte("lsvjypzq") {
			r.Reset(compact.Append([]byte("head"), letter, payload, codec.Scan{})[4:])
			if got, back, ok, err := r.Next(); !ok || err != nil || got != letter || !bytes.Equal(back, payload) {
				t.Fatalf("%c % X became %c % X: %v", letter, payload, got, back, err)
			}
		}
		if step > 0 && unit > 0 && first <= last && len(payload) < codec.MaxBlock {
			r.Reset(compact.Append(nil, codec.Laser, payload, codec.Scan{Step: step, First: first, Last: last, Unit: unit}))
			if _, back, ok, err := r.Next(); !ok || err != nil || len(back) != len(payload) {
				t.Fatalf("% X became % X: %v", payload, back, err)
			}
		}
		r.Reset(block)
		for ok := true; ok; {
			_, payload, ok, _ = r.Next()
			if len(payload) > codec.MaxBlock {
				t.Fatalf("%d bytes", len(payload))
			}
		}
		even := make([]byte, len(payload)/2*2)
		code := compact.AppendRanges([]byte("head"), payload[:len(even)])
		if string(code[:4]) != "head" || !compact.DecodeRanges(even, code[4:]) || !bytes.Equal(even, payload[:len(even)]) {
			t.Fatalf("% X became % X", payload, even)
		}
	})
}
