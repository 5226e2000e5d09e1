package session

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/codec/compact"
)

// plain returns a frame without compact blocks, and whether it had one.
func plain(t testing.TB, frame []byte) (out []byte, was bool) {
	t.Helper()
	letter, payload, rest, ok := codec.Block(frame)
	if !ok || letter != codec.KindCompact {
		return frame, false
	}
	if len(rest) != 0 {
		t.Errorf("%d bytes behind the compact block", len(rest))
	}
	var r compact.Reader
	r.Reset(payload)
	for {
		letter, payload, ok, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return out, true
		}
		out = codec.AppendBlock(out, letter, payload)
	}
}

// 8.4: whatever clients ask for and devices publish, a compact frame has the data of the plain one, and
// old clients see no difference.
func TestCompact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r := newRobot(t)
	r.of('v').mute = true
	p, small, auto := newPeer(t, r), newPeer(t, r), newPeer(t, r)
	small.send(config('z', 1))
	auto.send(config('z', 2))
	all := []*peer{p, small, auto}
	requests := []string{"yr", "srpr", "lr", "yc", "vrzr", "lc", "mrgrla", "sc"}
	frames := 0
	for i := range 2000 {
		switch random.IntN(20) {
		case 0:
			pairs := requests[random.IntN(len(requests))]
			for _, p := range all {
				p.send(request(pairs))
				p.replies()
			}
		case 1:
			onlyNew := byte(random.IntN(2))
			for _, p := range all {
				p.send(config('n', onlyNew))
			}
		case 2, 3, 4, 5:
			letter := letters[random.IntN(len(letters))]
			size := r.table.Device(letter).Spec().DataSize
			if random.IntN(3) == 0 {
				size = random.IntN(size)
			}
			payload := make([]byte, size)
			for i := range payload {
				payload[i] = byte(random.IntN(4))
			}
			r.table.Device(letter).Publish(r.now, payload)
		}
		r.now += time.Duration(random.IntN(100)) * ms
		full := random.IntN(2) == 0
		want := p.AppendFrame(nil, r.now)
		for _, c := range all[1:] {
			c.SetCongested(full)
			got, was := plain(t, c.AppendFrame(nil, r.now))
			if !slices.Equal(got, want) {
				t.Fatalf("step %d: %q, want %q", i, got, want)
			}
			if len(got) > 0 && was != (c == small || full) {
				t.Fatalf("step %d: compact %v, full %v", i, was, full)
			}
			frames += len(got)
		}
	}
	if frames == 0 {
		t.Error("no frames")
	}
	small.send(config('z', 0))
	if _, was := plain(t, small.AppendFrame(nil, r.now)); was {
		t.Error("there is no way back")
	}
	// A compact frame without items is not sent.
	small.send(config('z', 1), config('n', 1))
	small.AppendFrame(nil, r.now)
	small.expectFrame("")
}

// 8.4.7: the selection of one client does not change the frames of others.
func TestCompactSelection(t *testing.T) {
	r := newRobot(t)
	part, whole := newPeer(t, r), newPeer(t, r)
	part.send(config('z', 1, 10, 0, 0, 0, 100, 1), config('z', 1, 0)) // the second is refused
	whole.send(config('z', 1))
	for _, p := range []*peer{part, whole} {
		p.request("lr", "lr")
	}
	var scan codec.LaserData
	for i := range scan {
		scan[i] = uint16(1000 + i)
	}
	r.table.Device('l').Publish(r.now, scan.Append(nil))
	var got codec.LaserData
	for _, p := range []*peer{part, whole} {
		frame, was := plain(t, p.AppendFrame(nil, r.now))
		if !was || got.Decode(frame[codec.BlockHeaderSize:]) != nil {
			t.Fatalf("frame % X", frame)
		}
		if got[10] != 1010 || (got[11] == 1011) != (p == whole) || (got[110] == 1110) != (p == whole) {
			t.Errorf("scan %v", got)
		}
	}
}

func TestCompactAllocatesNothing(t *testing.T) {
	s := everything(t)
	laser := s.table.Device(codec.Laser)
	scan := make([]byte, codec.LaserSize)
	dst := make([]byte, 0, 1000)
	s.freshness, s.agesShown = read, true
	forms := [][]byte{config('z', 1), config('z', 1, 2, 0, 0, 1, 0, 10), config('z', 2)}
	if n := testing.AllocsPerRun(100, func() {
		laser.Publish(time.Minute, scan)
		for _, form := range forms {
			s.Receive(time.Minute, form)
			dst = s.AppendFrame(dst[:0], time.Hour)
		}
	}); n != 0 || len(dst) != 807+codec.BlockHeaderSize+8+7*4 {
		t.Errorf("%v allocations, a frame of %d bytes", n, len(dst))
	}
}
