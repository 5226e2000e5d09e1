package load

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"player/bench/baseline"
	"player/codec"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
)

// Messages with and without a reply subject between other lines, cut at every byte.
func TestNATSMessagesHoweverCut(t *testing.T) {
	const headers = "NATS/1.0\r\nPlayer-Age: 1\r\n\r\n"
	message := func(subject string, id int, reply, payload string) string {
		return fmt.Sprintf("HMSG %s %d %s%d %d\r\n%s%s\r\n", subject, id, reply, len(headers), len(headers)+len(payload), headers, payload)
	}
	stream := "INFO {\"headers\":true}\r\nPING\r\nPONG\r\n" + message("a.data", 1, "", "one\r\n") + message("b.json", 0, "_INBOX.1 ", "") + message("b.data", 0, "_INBOX.2 ", "two") +
		"MSG a.data 1 3\r\nbar\r\nMSG b.data 0 _INBOX.3 4\r\nbare\r\n"
	const want = "ping; a.data 1 \"one\\r\\n\"; b.json 0 \"\"; b.data 0 \"two\"; a.data 1 \"bar\"; b.data 0 \"bare\"; "
	for cut := range len(stream) + 1 {
		p := natsParser{subscriptions: 2}
		got := ""
		var rest []byte
		for _, piece := range []string{stream[:cut], stream[cut:]} {
			b := append(rest, piece...)
			for {
				m, n, err := p.next(b)
				if err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				if n == 0 {
					break
				}
				b = b[n:]
				if m.ping {
					got += "ping; "
				} else if m.subject != nil {
					got += fmt.Sprintf("%s %d %q; ", m.subject, m.subscription, m.payload)
				}
			}
			rest = b
		}
		if got != want || len(rest) > 0 {
			t.Fatalf("cut at %d: %s, %d bytes are left, want %s", cut, got, len(rest), want)
		}
	}
	for _, bad := range []string{"-ERR 'Maximum Connections Exceeded'\r\n", "HMSG a.data 2 4 5\r\n", "HMSG a.data 1 5 4\r\n", "HMSG a.data 1\r\n", "HMSG\r\n"} {
		p := natsParser{subscriptions: 2}
		if _, _, err := p.next([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// natsServer sends each subscription of its connections 200 messages of a robot a second,
// and one that is no frame with each. PINGs and cut messages are among them.
type natsServer struct {
	address string
	payload int // bytes

	mu           sync.Mutex
	rates, pongs int
}

func startNATSServer(t *testing.T, payload int) *natsServer {
	t.Helper()
	s := &natsServer{payload: payload}
	s.address = ports.Serve(t, s.serve)
	return s
}

func (s *natsServer) serve(conn net.Conn) {
	fmt.Fprint(conn, "INFO {\"headers\":true}\r\n")
	for in := bufio.NewScanner(conn); in.Scan(); {
		var subject, id string
		switch verb, _, _ := strings.Cut(in.Text(), " "); verb {
		case "SUB":
			_, _ = fmt.Sscanf(in.Text(), "SUB %s %s", &subject, &id)
			go s.stream(conn, subject, id)
		case "PUB":
			in.Scan()
			s.mu.Lock()
			s.rates++
			s.mu.Unlock()
		case "PONG":
			s.mu.Lock()
			s.pongs++
			s.mu.Unlock()
		}
	}
}

func (s *natsServer) stream(conn net.Conn, subject, id string) {
	const headers = "NATS/1.0\r\n\r\n"
	for {
		time.Sleep(5 * ms)
		payload := make([]byte, s.payload)
		binary.BigEndian.PutUint64(payload, uint64(baseline.Now()))
		text := ""
		for _, kind := range []string{".json", ".data"} {
			text += fmt.Sprintf("HMSG %s %s %d %d\r\n%s%s\r\n", strings.Replace(subject, ".>", kind, 1), id, len(headers), len(headers)+len(payload), headers, payload)
		}
		s.mu.Lock() // messages of other subscriptions are not between the halves
		_, err := io.WriteString(conn, text[:len(text)/2])
		if err == nil {
			_, err = io.WriteString(conn, text[len(text)/2:]+"PING\r\n")
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Three clients on two connections to NATS get their frames, and ask for their rate. A
// frame of another size is a bad one.
func TestClientsOfNATS(t *testing.T) {
	needs.Time(t)
	for payload, bad := range map[int]bool{725: false, 100: true} {
		s := startNATSServer(t, payload)
		r := must.Get(Run(Spec{
			FrameSize: 725, Stamp: codec.Laser, Warmup: ms, Window: 300 * ms,
			Groups: []Group{{Name: "monitors", Clients: 3, Rate: 200, Task: Stream, Address: s.address, NATS: &Subscriptions{
				Each: 2, Subjects: []string{"a.>", "b.>"}, Suffix: ".data", Rates: []string{"a.rate", "b.rate"},
			}}},
		}, func() {}, func() {}))(t)
		g := r.Groups[0]
		if g.Closed != 0 || (g.Bad > 0) != bad || (g.Frames > 0) == bad {
			t.Errorf("%d bytes: %+v", payload, g)
		}
		if !bad {
			if g.AgeMean <= 0 || g.AgeMean > r.Window {
				t.Errorf("mean age %v", g.AgeMean)
			}
			// Without frames for one client, Jain's index cannot be above this.
			if least := float64(g.Clients-1) / float64(g.Clients); g.Jain <= least {
				t.Errorf("Jain's index is %g: a client got nothing, or far less than others", g.Jain)
			}
		}
		s.mu.Lock()
		if s.rates < 2 || s.pongs == 0 {
			t.Errorf("%d requests for a rate, %d answers to pings", s.rates, s.pongs)
		}
		s.mu.Unlock()
	}
}
