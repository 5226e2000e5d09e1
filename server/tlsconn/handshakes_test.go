package tlsconn

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/e2e/certs"
	"player/e2e/waiting"
	"player/process/descriptors"
	"player/server/looptest"
)

// front is a listener with handshakes.
type front struct {
	*Handshakes
	lab     *certs.Authority
	address string
	ready   chan *Conn
	quota   *descriptors.Share
}

// serve serves clients, which need a certificate of the lab or none.
func serve(t *testing.T, certificates bool) *front {
	t.Helper()
	lab, authority := certs.New(t, "lab"), ""
	if certificates {
		authority = lab.File
	}
	robot := lab.Issue("robot", nil)
	config := load(t, robot.Cert, robot.Key, authority)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	looptest.Must(t, err)
	f := &front{lab: lab, address: l.Addr().String(), ready: make(chan *Conn, 10), quota: descriptors.NewShare(1000)}
	f.Handshakes = New(config, f.quota, zap.NewNop())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Serve(l, func(c *Conn) { f.ready <- c })
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return f
}

func load(t *testing.T, cert, key, clients string) *tls.Config {
	t.Helper()
	config, err := Load(cert, key, clients)
	looptest.Must(t, err)
	return config
}

// dial connects a client with a certificate.
func (f *front) dial(t *testing.T) *tls.Conn {
	t.Helper()
	c, err := tls.Dial("tcp", f.address, f.lab.Client(f.lab.Issue("ada", nil)))
	looptest.Must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// joined is both ends of a connection after the handshake.
type joined struct {
	*Conn
	client *tls.Conn
	tcp    net.Conn // of the server, detached
}

func join(t *testing.T) joined {
	t.Helper()
	f := serve(t, true)
	client := f.dial(t)
	looptest.Must(t, client.SetDeadline(time.Now().Add(looptest.Patience)))
	j := joined{Conn: looptest.Receive(t, f.ready, "connection"), client: client}
	fd, err := j.Detach()
	looptest.Must(t, err)
	file := os.NewFile(uintptr(fd), "detached")
	defer file.Close()
	if j.tcp, err = net.FileConn(file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.tcp.Close() })
	return j
}

// records returns the client's next n bytes as they are on the wire.
func (j joined) records(t *testing.T, text []byte) []byte {
	t.Helper()
	looptest.Send(t, j.client, text)
	return j.wireBytes(t, 1)
}

// wireBytes returns at least n bytes from the wire, and whatever comes with them.
func (j joined) wireBytes(t *testing.T, n int) []byte {
	t.Helper()
	b := make([]byte, 64<<10)
	looptest.Must(t, j.tcp.SetReadDeadline(time.Now().Add(looptest.Patience)))
	got, err := io.ReadAtLeast(j.tcp, b, n)
	looptest.Must(t, err)
	return b[:got]
}

// Records may come in any pieces, several in one, and with more content than the
// reader wants.
func TestReadInPieces(t *testing.T) {
	j := join(t)
	if j.Name != "ada" || j.Remote.String() != j.client.LocalAddr().String() || j.Local.String() != j.client.RemoteAddr().String() {
		t.Errorf("%q from %v to %v", j.Name, j.Remote, j.Local)
	}
	p := make([]byte, 512)
	for i, b := range j.records(t, []byte("hello")) {
		n, err := j.Read([]byte{b}, p)
		if last := i == Size(5)-1; err != nil || last != (n > 0) || last && string(p[:n]) != "hello" {
			t.Fatalf("byte %d: %q, %v", i, p[:n], err)
		}
	}
	two := append(j.records(t, []byte("one ")), j.records(t, []byte("two"))...)
	if n, err := j.Read(two[:30], p); string(p[:n]) != "one " || err != nil {
		t.Errorf("%q, %v", p[:n], err)
	}
	kept := bytes.Clone(two[30:])
	if n, err := j.Read(kept, p); string(p[:n]) != "two" || err != nil {
		t.Errorf("%q, %v", p[:n], err)
	}
	large := make([]byte, 16<<10)
	_, err := rand.Read(large)
	looptest.Must(t, err)
	looptest.Send(t, j.client, large)
	in := j.wireBytes(t, Size(len(large)))
	var got []byte
	for {
		n, err := j.Read(in, p)
		looptest.Must(t, err)
		clear(in) // the caller's
		in = nil
		if got = append(got, p[:n]...); n < len(p) {
			break
		}
	}
	if !bytes.Equal(got, large) {
		t.Errorf("%d bytes of %d, or others", len(got), len(large))
	}
	if j.HasOwnRecords() {
		t.Error("it has something to say")
	}
}

func TestSeal(t *testing.T) {
	j := join(t)
	for _, size := range []int{0, 1, 807, mostInRecord, mostInRecord + 1, 3 * mostInRecord} {
		p := bytes.Repeat([]byte{byte(size)}, size)
		records := j.Seal([]byte("x"), p)
		if len(records) != 1+Size(size) || records[0] != 'x' {
			t.Errorf("%d bytes are %d in records, want %d", size, len(records)-1, Size(size))
		}
		looptest.Send(t, j.tcp, records[1:])
		got := make([]byte, size)
		if _, err := io.ReadFull(j.client, got); err != nil || !bytes.Equal(got, p) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	looptest.Send(t, j.tcp, j.Bye(nil))
	if n, err := j.client.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("%d bytes, %v after the goodbye", n, err)
	}
	if records := j.Seal(nil, []byte("x")); len(records) > 0 {
		t.Error("records after the goodbye")
	}
}

func TestEnds(t *testing.T) {
	t.Run("goodbye", func(t *testing.T) {
		j := join(t)
		in := j.records(t, []byte("last"))
		looptest.Must(t, j.client.CloseWrite())
		in = append(in, j.wireBytes(t, 1)...)
		p := make([]byte, 10)
		if n, err := j.Read(in, p); string(p[:n]) != "last" || err != io.EOF {
			t.Errorf("%q, %v", p[:n], err)
		}
	})
	t.Run("forged", func(t *testing.T) {
		j := join(t)
		in := j.records(t, []byte("hello"))
		in[len(in)-1]++
		n, err := j.Read(in, make([]byte, 10))
		if n > 0 || err == nil || errors.Is(err, io.EOF) || !j.HasOwnRecords() {
			t.Fatalf("%d bytes, %v", n, err)
		}
		looptest.Send(t, j.tcp, j.Seal(nil, nil))
		if _, err := j.client.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "bad record MAC") {
			t.Errorf("the client gets %v", err)
		}
	})
	t.Run("not TLS", func(t *testing.T) {
		j := join(t)
		if _, err := j.Read([]byte("GET / HTTP/1.1\r\n\r\n"), make([]byte, 10)); err == nil {
			t.Error("no error")
		}
	})
}

// A frame allocates nothing.
func TestFrameAllocatesNothing(t *testing.T) {
	j := join(t)
	frame, scratch := make([]byte, 807), make([]byte, 0, 2048)
	least := math.Inf(1) // what goroutines of other tests allocate meanwhile counts as well
	for range 10 {
		least = min(least, testing.AllocsPerRun(100, func() { scratch = j.Seal(scratch[:0], frame) }))
	}
	if least > 0 {
		t.Errorf("%v allocations for a frame", least)
	}
}

func TestLoad(t *testing.T) {
	lab := certs.New(t, "lab")
	robot, other := lab.Issue("robot", nil), lab.Issue("other", nil)
	if config := load(t, robot.Cert, robot.Key, ""); config.ClientAuth != tls.NoClientCert || config.MinVersion != tls.VersionTLS13 {
		t.Errorf("%+v", config)
	}
	edited := func(path string) string {
		text, err := os.ReadFile(path)
		if err == nil {
			path = filepath.Join(t.TempDir(), "edited.pem")
			err = os.WriteFile(path, []byte("\ufeff"+strings.ReplaceAll(string(text), "\n", "\r\n")), 0o600)
		}
		looptest.Must(t, err)
		return path
	}
	if config := load(t, edited(robot.Cert), edited(robot.Key), edited(robot.Cert)); config.ClientAuth != tls.RequireAndVerifyClientCert {
		t.Errorf("files of another editor: %+v", config)
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	looptest.Must(t, os.WriteFile(empty, nil, 0o600))
	for _, tt := range []struct{ cert, key, clients, want string }{
		{robot.Cert, other.Key, "", "private key does not match public key"},
		{"nowhere.pem", robot.Key, "", "certificate nowhere.pem and key"},
		{robot.Cert, empty, "", "key.pem"},
		{robot.Cert, robot.Key, "nowhere.pem", "authority of clients: open nowhere.pem"},
		{robot.Cert, robot.Key, empty, "there is no certificate in " + empty},
	} {
		if tt.key == empty {
			tt.want = empty
		}
		if _, err := Load(tt.cert, tt.key, tt.clients); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

// Without authorities clients have no name, also those that have a certificate.
func TestNoCertificates(t *testing.T) {
	f := serve(t, false)
	f.dial(t)
	c := looptest.Receive(t, f.ready, "connection")
	if c.Name != "" {
		t.Errorf("the client is called %q", c.Name)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if f.quota.Take(f.quota.Most()) != nil {
		t.Error("descriptors are missing")
	}
}

// Handshakes that do not go on take places of their own: one address has half of
// them. A client without one is closed at once, and places are free again.
func TestHalfHandshakes(t *testing.T) {
	f := serve(t, false)
	var half []net.Conn
	hang := func(from string) {
		t.Helper()
		half = append(half, looptest.Dial(t, net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}, f.address))
	}
	await := func(n int) {
		t.Helper()
		waiting.Until(t, fmt.Sprint(n, " handshakes"), func() bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.all == n
		})
	}
	refused := func() {
		t.Helper()
		c := half[len(half)-1]
		looptest.Must(t, c.SetReadDeadline(time.Now().Add(handshakeLimit/2)))
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("one more: %v", err)
		}
	}
	for range perAddress {
		hang("127.0.0.2")
	}
	await(perAddress)
	hang("127.0.0.2")
	refused()
	f.dial(t).Close()
	_ = looptest.Receive(t, f.ready, "connection").Close()
	await(perAddress)
	for range perAddress {
		hang("127.0.0.3")
	}
	await(atOnce)
	hang("127.0.0.4")
	refused()
	for _, c := range half {
		c.Close()
	}
	await(0)
	if len(f.addresses) > 0 || f.quota.Take(f.quota.Most()) != nil {
		t.Error("places or descriptors are missing")
	}
}

// Computations are made one after the other.
func TestDelay(t *testing.T) {
	h := New(&tls.Config{}, descriptors.NewShare(0), zap.NewNop())
	now := time.Now()
	for i, want := range []time.Duration{0, period, 2 * period} {
		if got := h.delay(now); got != want {
			t.Errorf("computation %d comes after %v, want %v", i, got, want)
		}
	}
	if got := h.delay(now.Add(time.Second)); got != 0 {
		t.Errorf("the first one in a second comes after %v", got)
	}
	if err := h.enter(netip.MustParseAddr("10.0.0.1")); !errors.Is(err, descriptors.ErrNone) || h.all > 0 {
		t.Errorf("without descriptors: %v, %d handshakes", err, h.all)
	}
}
