package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
)

// conversation contains every kind of message, good and bad.
var conversation = [][]byte{
	request("srpa"), request(""), request("s"), request("qrlxy"),
	message('c', 'p', 0, 100, 0, 20), message('c', 'p', 1), message('c', 's'), message('c', 'q', 1, 2),
	config('f', 0, 20), config('r', 1), config('d'), config('d'), config('n', 1), config('n', 0), config('z', 1), config('z', 2, 1), config('Z', 1), config(),
	message('x', 'p', 'm', 1), message('x', 'p', 'R'), message('x', 'l', 'R'), message('x', 0xFF),
	[]byte("?!\x00\x05hello"), []byte("ds\x00\x02sr"), message('c', 'p', make([]byte, codec.MaxPayload+1)...),
	request("yrgwzalw"), message('c', 'z', 0, 1, 0, 2, 0, 3), message('c', 'g', 1, 0), request("pcsrpw"), message('c', 'p', 0, 1, 0, 1),
}

// story returns everything that a client's input causes: driver calls,
// replies, frames, schedule, end. Slow setups end after all input.
func story(t testing.TB, moods [4]mood, pieces ...[]byte) string {
	t.Helper()
	r := newRobot(t)
	for i, part := range r.parts {
		part.mood = moods[i]
	}
	p := newPeer(t, r)
	var b strings.Builder
	received, replied := 0, 0
	tell := func() {
		for _, reply := range p.replies() {
			replied += codec.BlockHeaderSize + len(reply)
			fmt.Fprintf(&b, "reply %q\n", reply)
		}
		if received <= replied && replied > 0 {
			t.Errorf("%d bytes of replies to %d bytes", replied, received)
		}
		if len(p.input.kept) > maxKept || cap(p.input.kept) > 3*maxKept || len(p.Session.request) > codec.MaxPayload || len(p.slots) > len(letters) {
			t.Errorf("%d bytes held (%d), request of %d, %d slots", len(p.input.kept), cap(p.input.kept), len(p.Session.request), len(p.slots))
		}
	}
	for _, piece := range pieces {
		received += len(piece)
		p.send(piece)
		tell()
	}
	for waits := true; waits; {
		waits = false
		for _, part := range r.parts {
			if part.link != nil && part.link.State().String() == "starting" {
				part.end(r.now)
				tell()
				waits = true
			}
		}
	}
	if p.input.setups != 0 || len(p.input.kept) != 0 && p.Err() == nil {
		t.Errorf("waits for %d devices after all setups, %d bytes held", p.input.setups, len(p.input.kept))
	}
	fmt.Fprintf(&b, "asked %d, period %v, drives %v, error %v\n", p.Asked(), p.Period(), p.IsMover(), p.Err())
	for _, later := range []time.Duration{0, time.Second, time.Second} {
		r.now += later
		fmt.Fprintf(&b, "frame %s\n", p.frame())
	}
	p.Close(r.now)
	fmt.Fprintf(&b, "%s\n", r.take())
	if !r.table.Done() {
		t.Error("hardware still runs after the client left")
	}
	return b.String()
}

// 1.4: the stream may be cut anywhere.
func TestCutAtEveryByte(t *testing.T) {
	all := slices.Concat(conversation...)
	for _, moods := range [][4]mood{{}, {slow, broken, slowBroken, slow}, {slowBroken, slow, slow, broken}} {
		want := story(t, moods, all)
		if !strings.Contains(want, "command p 00010001") && moods[0] != slowBroken {
			t.Fatalf("the conversation was not understood: %s", want)
		}
		if got := story(t, moods, conversation...); got != want {
			t.Errorf("message by message:\n%s\nin one piece:\n%s", got, want)
		}
		if got := story(t, moods, slices.Collect(slices.Chunk(all, 1))...); got != want {
			t.Errorf("byte by byte:\n%s\nin one piece:\n%s", got, want)
		}
		for cut := range all {
			if got := story(t, moods, all[:cut], all[cut:]); got != want {
				t.Fatalf("cut at %d:\n%s\nin one piece:\n%s", cut, got, want)
			}
		}
	}
}

// 1.5: messages of unknown kind and messages that are too large are skipped by
// their size, and the next message is understood.
func TestMalformedIsSkipped(t *testing.T) {
	for _, bad := range [][]byte{
		[]byte("?!\x00\x00"), []byte("\x00\x00\x00\x00"), []byte("Dr\x00\x02pr"), []byte("ds\x00\x02pr"), []byte("r\x00\x00\x02pr"),
		[]byte("yy\x00\x07dr\x00\x02prx"),
		message('d', 'r', make([]byte, codec.MaxPayload+1)...),
		message('x', 'y', make([]byte, 10000)...), message('c', 'p', make([]byte, 65535)...),
	} {
		for _, pieces := range [][][]byte{
			{slices.Concat(bad, request("sr"))},
			{bad, request("sr")},
			{bad[:3], bad[3:], request("sr")},
			{bad[:len(bad)-1], slices.Concat(bad[len(bad)-1:], request("sr"))},
		} {
			_, p := connect(t)
			p.request("", "")
			p.send(pieces...)
			if got := p.replies(); !slices.Equal(got, []string{"sr"}) || p.Err() != nil {
				t.Errorf("%.10q... in %d pieces: replies %q, %v", bad, len(pieces), got, p.Err())
			}
		}
	}
}

// 1.5: a hundred in a row end the connection; a good message in between resets
// the count, even if it is dropped.
func TestMalformedInARow(t *testing.T) {
	bad, large := []byte("??\x00\x03abc"), message('c', 'p', make([]byte, 600)...)
	for _, good := range [][]byte{request(""), message('c', 'p', 1), message('x', 'q'), config('Z')} {
		_, p := connect(t)
		p.send(good)
		for range 3 {
			for range maxMalformed - 1 {
				p.send(bad)
			}
			p.send(good)
		}
		p.replies()
		for i := range maxMalformed {
			if p.Err() != nil {
				t.Fatalf("ended after %d: %v", i, p.Err())
			}
			p.changed = false
			p.send([][]byte{bad, large}[i%2])
		}
		if !errors.Is(p.Err(), ErrMalformed) || !p.changed {
			t.Errorf("after %d in a row: %v, notified %v", maxMalformed, p.Err(), p.changed)
		}
		p.send(request("pr"))
		p.expectReplies()
		p.robot.expect(t)
	}
	// In one piece: input after the hundredth is ignored.
	_, p := connect(t)
	p.send(slices.Concat(request("pa"), slices.Repeat(bad, maxMalformed), request("lr")))
	p.expectReplies("pa")
	p.robot.expect(t, "setup base")
}

// 1.7: a connection that begins with anything but a Player message is closed before anything behind
// its header is obeyed, wherever the stream is cut.
func TestOtherProtocols(t *testing.T) {
	drive := slices.Concat(request("pa"), message('x', 'p', 'm', 1), message('c', 'p', 0, 100, 0, 0))
	for first, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: robot:6665\r\n\r\n": "HTTP", "POST / HTTP/1.1\r\nContent-Length: 30\r\n\r\n": "HTTP", "HEAD / HTTP/1.0\r\n\r\n": "HTTP",
		"PUT / HTTP/1.1\r\n": "HTTP", "DELETE / HTTP/1.1\r\n": "HTTP", "CONNECT robot:6665 HTTP/1.1\r\n": "HTTP", "OPTIONS * HTTP/1.1\r\n": "HTTP",
		"TRACE / HTTP/1.1\r\n": "HTTP", "PATCH / HTTP/1.1\r\n": "HTTP", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n": "HTTP/2", "SSH-2.0-OpenSSH_9.6\r\n": "SSH",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03": "TLS", "\x16\x03\x03\x00\x00": "TLS", "EHLO robot\r\n": "malformed", "\x00\x00\x00\x00": "malformed",
		"Dr\x00\x00": "malformed", "ds\x00\x00": "malformed", "connect\r\n": "malformed", "get /\r\n": "malformed",
		string(message('c', 'p', make([]byte, codec.MaxPayload+1)...)): "malformed",
	} {
		for _, behind := range []int{0, 0x5354 - len(first) + codec.ClientHeaderSize} { // at once, or where the size of POST ends
			all := slices.Concat([]byte(first), make([]byte, max(behind, 0)), drive)
			pieces := [][][]byte{{all}, slices.Collect(slices.Chunk(all, 1))}
			for cut := range min(len(first)+8, 64) {
				pieces = append(pieces, [][]byte{all[:cut], all[cut:]})
			}
			for _, cut := range pieces {
				_, p := connect(t)
				p.send(cut...)
				notified := p.changed
				p.expectReplies()
				p.robot.expect(t)
				if err := p.Err(); !errors.Is(err, ErrForeign) || !strings.HasSuffix(err.Error(), ", which is "+want) || !notified {
					t.Fatalf("%.20q: %v, want %s", first, err, want)
				}
			}
		}
	}
	// After half a header the session waits: it may become a message.
	_, p := connect(t)
	p.send([]byte("PO"), []byte("S"))
	if p.Err() != nil {
		t.Error(p.Err())
	}
	// Every message that an old client may send first is one.
	for _, first := range [][]byte{request("sr"), request(""), config('r', 1), config('f', 0, 50), config('Z'), message('c', 'p', 1), message('x', 'v', 1), message('x', 'q')} {
		_, p := connect(t)
		p.send(first, []byte("??\x00\x00"), request("sr"))
		if got := p.replies(); len(got) == 0 || got[len(got)-1] != "sr" || p.Err() != nil {
			t.Errorf("%q: replies %q, %v", first, got, p.Err())
		}
	}
}

// FuzzSession sends arbitrary bytes in arbitrary pieces. Nothing panics,
// memory is bounded, and the result does not depend on the cuts (1.4).
func FuzzSession(f *testing.F) {
	f.Add(slices.Concat(conversation...), []byte{1, 3, 50, 7, 200}, byte(0b11100100))
	for i, m := range conversation {
		f.Add(m, []byte{1}, byte(i))
		f.Add(slices.Concat(request("pr"), m, request("lrpcvr"), m, request("pc")), []byte{byte(i)}, byte(i*37))
	}
	f.Add(slices.Concat(request("pr"), slices.Repeat(request("s"), 20000)), []byte{255}, byte(0b10))
	f.Add(slices.Repeat([]byte("??\x00\x00"), 120), []byte{2}, byte(0))
	f.Add(slices.Concat(request(""), slices.Repeat([]byte("??\x00\x00"), 120)), []byte{2}, byte(0))
	f.Add(slices.Concat([]byte("POST / HTTP/1.1\r\n\r\n"), request("pa")), []byte{1}, byte(0))
	f.Fuzz(func(t *testing.T, in, cuts []byte, seed byte) {
		moods := [4]mood{mood(seed & 3), mood(seed >> 2 & 3), mood(seed >> 4 & 3), mood(seed >> 6 & 3)}
		var pieces [][]byte
		for rest, i := in, 0; len(rest) > 0; i++ {
			n := len(rest)
			if len(cuts) > 0 && i < 1000 {
				n = min(n, int(cuts[i%len(cuts)]))
			}
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		whole, cut := story(t, moods, in), story(t, moods, pieces...)
		if whole != cut {
			t.Fatalf("in one piece:\n%s\nin %d pieces:\n%s", whole, len(pieces), cut)
		}
	})
}
