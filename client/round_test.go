package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
)

// sessions holds the bytes that a server sent on one connection: replies to
// requests and, between them, rounds.
var sessions = []struct {
	name   string
	stream []string // hex
	rounds []string // letters of each round that Read must return
}{
	{"in the order of the request", []string{"720006 7A7270726C72", ptzBlock, positionBlock, laserBlock, ptzBlock, positionBlock, laserBlock},
		[]string{"lpz", "lpz"}},
	{"incremental opening", []string{"720002 6C72", laserBlock, laserBlock, "720002 7372", laserBlock, sonarBlock, "720002 7072", laserBlock, sonarBlock, positionBlock},
		[]string{"l", "l", "ls", "lps"}},
	{"a closed device keeps its place", []string{"720006 73727072 7A72", sonarBlock, positionBlock, ptzBlock,
		"720002 7363", positionBlock, ptzBlock, "720002 6C72", positionBlock, ptzBlock, laserBlock,
		"720002 7372", sonarBlock, positionBlock, ptzBlock, laserBlock},
		[]string{"psz", "pz", "lpz", "lpsz"}},
	{"write-only in between", []string{"720006 73727077 7A72", sonarBlock, ptzBlock, "720002 7061", sonarBlock, positionBlock, ptzBlock},
		[]string{"sz", "psz"}},
	{"failed in between", []string{"720006 73727165 7072", sonarBlock, positionBlock}, []string{"ps"}},
	{"downgrade to write", []string{"720004 73727061", sonarBlock, positionBlock, "720002 7077", sonarBlock, sonarBlock},
		[]string{"ps", "s", "s"}},
	{"a round that broke off", []string{"720004 73727072", sonarBlock, sonarBlock, positionBlock}, []string{"ps"}},
	{"a reply within a round", []string{"720006 7372 7072 6D72", sonarBlock, "720002 7363", positionBlock, miscBlock},
		[]string{"mp"}},
	{"unknown letters", []string{"720004 58725172", "580001 07", "510000", "580000", "510002 0102"}, []string{"QX", "QX"}},
	{"with y", []string{"720006 73727972 7072",
		"790010 0000000000000010 00000001 00000002", sonarBlock, positionBlock,
		"790010 0000000000000020 00000001 00000002", sonarBlock, positionBlock},
		[]string{"psy", "psy"}},
	{"only y", []string{"720002 7972", "790008 0000000000000010", "790008 0000000000000020"}, []string{"y", "y"}},
	{"only what is new", []string{"720006 79727372 7072",
		"79000C 0000000000000010 00000001", sonarBlock,
		"79000C 0000000000000020 00000002", positionBlock,
		"790010 0000000000000030 00000001 00000002", sonarBlock, positionBlock},
		[]string{"sy", "py", "psy"}},
	{"y closed again", []string{"720004 79727372", "79000C 0000000000000010 00000001", sonarBlock, "720002 7963", sonarBlock},
		[]string{"sy", "s"}},
}

// newSession returns a client that has made all requests with replies in the stream, so that
// Read accepts the replies.
func newSession(stream []byte, pieces ...[]byte) *Client {
	c := New(&recording{pieces: pieces})
	for len(stream) > 0 {
		letter, _, rest, ok := codec.Block(stream)
		if !ok {
			break
		}
		if letter == codec.KindReply {
			c.awaited++
		}
		stream = rest
	}
	return c
}

// rounds reads to the end and returns the letters of each round.
func rounds(t testing.TB, c *Client) (got []string) {
	t.Helper()
	for {
		if err := c.Read(context.Background()); errors.Is(err, io.EOF) {
			return got
		} else if err != nil {
			t.Fatal(err)
		}
		var letters []byte
		for letter := range c.devices {
			if c.New(letter) {
				letters = append(letters, letter)
			}
		}
		slices.Sort(letters)
		got = append(got, string(letters))
	}
}

// Every session in one piece, byte by byte, and cut at every byte.
func TestRounds(t *testing.T) {
	for _, tt := range sessions {
		t.Run(tt.name, func(t *testing.T) {
			stream := unhex(tt.stream...)
			check := func(what string, at int, pieces ...[]byte) {
				t.Helper()
				if got := rounds(t, newSession(stream, pieces...)); !slices.Equal(got, tt.rounds) {
					t.Errorf("%s %d: rounds %q, want %q", what, at, got, tt.rounds)
				}
			}
			check("pieces", 1, stream)
			for n := 1; n < 9; n++ {
				check("pieces of", n, slices.Collect(slices.Chunk(stream, n))...)
			}
			for cut := 1; cut < len(stream); cut++ {
				check("cut at", cut, stream[:cut], stream[cut:])
			}
		})
	}
}

// A block of size 0 completes the round and means that there is no data.
func TestNoDataYet(t *testing.T) {
	c, s := dial(t)
	open(t, c, s, "mrvrsr")
	s.send(miscBlock, noVision, "730000")
	read(t, c)
	if !c.Has('m') || c.Has('v') || c.Has('s') || !c.New('v') {
		t.Error("empty blocks give data")
	}
	s.send(miscBlock, visionBlock, sonarBlock)
	read(t, c)
	if !c.Has('v') || len(c.Vision.Channel(0)) != 1 || !c.Has('s') {
		t.Error("no data after a block with data")
	}
	s.send(miscBlock, noVision, sonarBlock)
	read(t, c)
	if c.Has('v') {
		t.Error("data after an empty block")
	}
}

func TestUnknownLetters(t *testing.T) {
	c, s := dial(t)
	open(t, c, s, "srXr")
	s.send(sonarBlock, "580003 010203", "510001 07") // Q was never requested
	read(t, c)
	if got := c.Raw('X'); !bytes.Equal(got, []byte{1, 2, 3}) || !c.Has('X') {
		t.Errorf("raw X is % X", got)
	}
	s.send(sonarBlock, "580001 04")
	read(t, c)
	if got := c.Raw('X'); !bytes.Equal(got, []byte{4}) {
		t.Errorf("raw X is % X", got)
	}
	if got := c.Raw('Q'); !bytes.Equal(got, []byte{7}) || c.New('Q') {
		t.Errorf("raw Q is % X, in the round %v", got, c.New('Q'))
	}
	if c.Raw('W') != nil || c.Has('W') || c.New('W') {
		t.Error("W has a block")
	}
	large := append([]byte{'X', 0xFF, 0xFF}, bytes.Repeat([]byte{9}, 65535)...)
	s.send(sonarBlock)
	s.conn.Write(large)
	read(t, c)
	if !bytes.Equal(c.Raw('X'), large[3:]) {
		t.Errorf("%d bytes of X", len(c.Raw('X')))
	}
}

// Bad data is an error of that round; the next round is good.
func TestBadData(t *testing.T) {
	for _, tt := range []struct{ name, request, bad, want, good string }{
		{"short sonar", "srmr", "730002 0102", "sonar payload has 2 bytes, want 32", sonarBlock},
		{"long sonar", "srmr", "730021" + strings.Repeat("00", 33), "sonar payload has 33 bytes, want 32", sonarBlock},
		{"vision", "vrmr", "760001 01", "vision payload is not an ACTS 1.0 packet: 1 bytes, shorter than the header", visionBlock},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, s := dial(t)
			open(t, c, s, tt.request)
			s.send(tt.good, miscBlock)
			read(t, c)
			s.send(tt.bad, miscBlock, tt.good, miscBlock)
			if err := c.Read(within(t)); err == nil || err.Error() != tt.want {
				t.Fatalf("%v, want %s", err, tt.want)
			}
			if c.Has(tt.request[0]) {
				t.Error("has data after bad data")
			}
			read(t, c) // the rest of the round
			if c.Has(tt.request[0]) {
				t.Error("has data after bad data")
			}
			read(t, c)
			if !c.Has(tt.request[0]) {
				t.Error("has no data after good data")
			}
		})
	}
}

func TestServerTime(t *testing.T) {
	c, s := dial(t)
	open(t, c, s, "yrsr")
	if c.ServerTime() != 0 {
		t.Error("server time before a block of y")
	}
	s.send("79000C 00000000000F4240 000000FA", sonarBlock)
	read(t, c)
	if got := c.ServerTime(); got != time.Second {
		t.Errorf("server time %v", got)
	}
	if age, ok := c.Age('q'); age != 0 || ok {
		t.Errorf("a device that was not asked for has the age %v", age)
	}
}

// A device that is opened again has none of the data from before it was closed.
func TestReopened(t *testing.T) {
	c, s := dial(t)
	open(t, c, s, "yrsrpr")
	s.send("790010 00000000000F4240 000000FA 000000FA", sonarBlock, positionBlock)
	read(t, c)
	open(t, c, s, "sc")
	if !c.Has('s') {
		t.Error("the data of a closed device is lost")
	}
	open(t, c, s, "srpr")
	if _, aged := c.Age('s'); aged || c.Has('s') || c.New('s') || c.Raw('s') != nil {
		t.Error("a device that was opened again has its old data")
	}
	if _, aged := c.Age('p'); !aged || !c.Has('p') {
		t.Error("a device that was open has lost its data")
	}
	s.send("79000C 00000000001E8480 000000FA", sonarBlock)
	read(t, c)
	if age, aged := c.Age('s'); age != 250*time.Microsecond || !aged || !c.Has('s') || !c.New('s') {
		t.Errorf("new data has the age %v: %v", age, aged)
	}
}

func TestFreshNeedsServer(t *testing.T) {
	c, s := dial(t)
	open(t, c, s, "sr")
	if err := c.SetFresh(true); err != errNoServer {
		t.Error(err)
	}
	open(t, c, s, "yr")
	if err := c.SetFresh(true); err != nil {
		t.Error(err)
	}
	s.expect("7879 0002 6E01")
	open(t, c, s, "yc")
	if err := c.Read(within(t)); err != errNoServer {
		t.Error(err)
	}
}

// Malformed rounds of y are errors, and the next y starts a good round.
func TestBadAges(t *testing.T) {
	for _, tt := range []struct{ name, bad, want string }{
		{"no y", sonarBlock, "block of device 's' without a block of device y before it"},
		{"one age too few", "790008 0000000000000001" + sonarBlock, "block of device 's' without a block of device y before it"},
		{"bad size", "790009 000000000000000100" + sonarBlock, "freshness payload has 9 bytes, want 8 plus 4 for each age"},
		{"no data", "790000" + sonarBlock, "block of device y has no data"},
		{"no data within a round", "790010 0000000000000001 00000005 00000005" + sonarBlock + "790000" + sonarBlock, "block of device y has no data"},
	} {
		c, s := dial(t)
		open(t, c, s, "yrsr")
		s.send(tt.bad, "79000C 0000000000000010 00000001", sonarBlock)
		err := c.Read(within(t))
		if tt.name == "one age too few" && err == nil { // y alone is a round
			err = c.Read(within(t))
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
		for range 2 { // skips the rest of the bad round
			if err = c.Read(within(t)); err == nil {
				break
			}
		}
		if age, ok := c.Age('s'); err != nil || age != time.Microsecond || !ok {
			t.Errorf("%s: the next round: %v, age %v %v", tt.name, err, age, ok)
		}
	}
}

// endless is a connection that repeats the same rounds forever.
type endless struct {
	recording
	stream []byte
	at     int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.stream[e.at:])
	e.at = (e.at + n) % len(e.stream)
	return n, nil
}

func TestReadAllocates(t *testing.T) {
	cancellable, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, tt := range []struct {
		name, request string
		round         []string
	}{
		{"seven devices", "lrsrprgrmrzrvr", []string{laserBlock, sonarBlock, positionBlock, gripperBlock, miscBlock, ptzBlock, visionBlock}},
		{"with ages", "yrsrmr", []string{"790010 0000000000000001 00000001 00000001", sonarBlock, miscBlock}},
		{"unknown", "srXr", []string{sonarBlock, "580003 010203"}},
	} {
		c := New(&endless{stream: unhex(tt.round...)})
		c.reply([]byte(tt.request))
		for _, ctx := range []context.Context{context.Background(), cancellable, context.Background()} {
			if n := testing.AllocsPerRun(100, func() {
				if err := c.Read(ctx); err != nil {
					t.Error(err)
				}
			}); n != 0 {
				t.Errorf("%s: %v allocations a round", tt.name, n)
			}
		}
		if len(c.buf) != bufferSize {
			t.Errorf("%s: buffer has grown to %d", tt.name, len(c.buf))
		}
	}
}

// FuzzRead checks that the client's memory is bounded whatever a server sends,
// and that the result does not depend on the cuts.
func FuzzRead(f *testing.F) {
	for _, tt := range sessions {
		f.Add(unhex(tt.stream...), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		whole := transcript(t, newSession(stream, stream))
		pieces := slices.Collect(slices.Chunk(stream, int(size)+1))
		if got := transcript(t, newSession(stream, pieces...)); !slices.Equal(got, whole) {
			t.Fatalf("in pieces %q\nin one %q", got, whole)
		}
	})
}

func transcript(t *testing.T, c *Client) (got []string) {
	for {
		err := c.Read(context.Background())
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), err == errNothingOpen:
			return append(got, err.Error())
		case err != nil:
			got = append(got, err.Error())
		default:
			got = append(got, "round")
		}
		if len(c.buf) > 1<<17 || len(c.devices) > 256 {
			t.Fatalf("buffer of %d bytes, %d devices", len(c.buf), len(c.devices))
		}
	}
}

func BenchmarkRead(b *testing.B) {
	stream := unhex(laserBlock, sonarBlock, positionBlock, gripperBlock, miscBlock, ptzBlock, noVision)
	c := New(&endless{stream: stream})
	c.reply([]byte("lrsrprgrmrzrvr"))
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		must.Do(b, c.Read(b.Context()))
	}
}
