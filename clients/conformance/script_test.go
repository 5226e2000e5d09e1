package conformance

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
)

// cut is a way in which cases are run. next returns the size of the next piece of a write
// of which done bytes are sent; nil: nothing is cut.
type cut struct {
	name string
	next func(random *rand.Rand, done int) int
}

// cuts are the ways in which every case is run. They cut the server's output
// while the client reads.
var cuts = []cut{
	{"as written", nil},
	{"every byte", func(random *rand.Rand, done int) int {
		if done < bytewise {
			return 1
		}
		return 1 + random.IntN(maxPiece)
	}},
	{"random pieces", func(random *rand.Rand, _ int) int { return 1 + random.IntN(maxPiece) }},
}

const (
	// bytewise is how many bytes of a write are sent one by one in the second of
	// cuts: the header and the payload of all blocks but the laser's and the
	// camera's. More takes long, since each piece waits for the client.
	bytewise = 64
	// maxPiece is the most bytes of a random piece.
	maxPiece = 100
	// maxCut is the most bytes of a write that is cut into pieces. The largest
	// image of vision data fits.
	maxCut = 4096
)

// TestScripted runs every case in every language against a server that follows
// the case's script.
func TestScripted(t *testing.T) {
	t.Parallel()
	cases := make(map[string][]Case)
	for _, g := range groups {
		text := must.Get(os.ReadFile(casePath(g.name)))(t)
		var list []Case
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatalf("%s: %v", casePath(g.name), err)
		}
		cases[g.name] = list
	}
	run := func(t *testing.T, start func(t *testing.T) *adapter, cases map[string][]Case, cuts []cut) {
		all, a := t, start(t) // one for all cases that succeed: starting one can take a second
		for _, g := range groups {
			for _, c := range cases[g.name] {
				for _, cut := range cuts {
					ok := t.Run(fmt.Sprintf("%s/%s/%s", g.name, c.Name, cut.name), func(t *testing.T) {
						if a == nil {
							a = start(all)
						}
						random := rand.New(rand.NewPCG(uint64(crc32.ChecksumIEEE([]byte(c.Name))), 0))
						p := &player{t: t, adapter: a, queues: openQueues(t)}
						if cut.next != nil {
							p.cut = func(done int) int { return cut.next(random, done) }
						}
						p.run(c)
					})
					if !ok {
						a = nil
					}
				}
			}
		}
	}
	// The second cut has random pieces also, behind the first bytes of a write. The third is for the night.
	wanted := cuts[:acceptance.Rounds(2, len(cuts))]
	forEachLanguage(t, func(t *testing.T, l language) {
		run(t, l.adapters(t), cases, wanted)
		if l.face != "" {
			t.Run(l.face, func(t *testing.T) { run(t, l.adapters(t, l.face), cases, wanted) })
		}
		if l.objects != "" { // its input is taken by the client below, which was tried with all cuts
			t.Run(l.objects, func(t *testing.T) { run(t, l.adapters(t, l.objects), byObjects(t, cases), cuts[:1]) })
		}
		if l.newer != "" {
			t.Run(l.newer, func(t *testing.T) {
				needs.Program(t, l.newer)
				run(t, l.adapters(t, l.newer), cases, cuts[:1])
			})
		}
	})
}

// player carries out one case: it is the server.
type player struct {
	t       *testing.T
	adapter *adapter
	queues  queues
	cut     func(done int) int // size of the next piece; nil: nothing is cut
	early   *answer            // the answer of the current step, if it came while the server was busy
	conn    *net.TCPConn       // of the client
}

func (p *player) run(c Case) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(p.t)
	defer listener.Close()
	defer func() {
		if p.conn != nil {
			p.conn.Close()
		}
	}()
	for i, s := range c.Steps {
		if m := p.step(s, listener); m != "" {
			p.t.Fatalf("step %d, %s: %s", i+1, text(s.Do), m)
		}
	}
}

// step carries out one step and returns the difference from the wanted result, or "".
func (p *player) step(s Step, listener net.Listener) string {
	p.early = nil
	request := s.Do
	if request["op"] == "connect" {
		address := listener.Addr().(*net.TCPAddr)
		request = maps.Clone(request)
		request["host"], request["port"] = address.IP.String(), address.Port
	}
	if request != nil {
		p.adapter.send(p.t, request)
	}
	if request["op"] == "connect" || request["op"] == "reconnect" {
		if p.conn != nil {
			p.conn.Close()
		}
		if m := p.accept(listener.(*net.TCPListener)); m != "" {
			return m
		}
	}
	if m := p.expect(s.Expect); m != "" {
		return m
	}
	for i, message := range s.Send {
		if s.Hz > 0 && i > 0 {
			time.Sleep(time.Second / time.Duration(s.Hz)) // the pace is what the case is about
		}
		if err := p.send(unhex(p.t, message), request != nil && s.Hz == 0); err != nil {
			return err.Error()
		}
	}
	for _, exchange := range s.Then {
		if exchange.Again {
			p.conn.Close()
			if m := p.accept(listener.(*net.TCPListener)); m != "" {
				return m
			}
		}
		if m := p.expect(exchange.Expect); m != "" {
			return m
		}
		for _, message := range exchange.Send {
			if err := p.send(unhex(p.t, message), true); err != nil {
				return err.Error()
			}
		}
	}
	switch s.End {
	case endReset:
		_ = p.conn.SetLinger(0)
		p.conn.Close()
	case endClose:
		p.conn.Close()
	}
	if request == nil {
		return ""
	}
	got := p.answer(request)
	if s.End == endClient {
		if rest, err := io.ReadAll(p.conn); len(rest) > 0 || err != nil && !errors.Is(err, net.ErrClosed) {
			return fmt.Sprintf("the client sent % X, %v, want the end of the connection", rest, err)
		}
	}
	if m := mismatch("the answer", s.Want, got); m != "" || s.Until == nil {
		return cmp.Or(m, unsaid(got))
	}
	return p.until(s)
}

// unsaid returns which reason of a refusal the text for people does not have, or "".
func unsaid(answer Object) string {
	why, _ := answer["why"].(Object)
	said, _ := answer["text"].(string)
	for device, v := range why {
		reason, _ := v.(string)
		if _, forPeople, ok := strings.Cut(reason, " "); !ok || !strings.Contains(said, forPeople) {
			return fmt.Sprintf("the text %q does not say why %s is refused: %s", said, device, reason)
		}
	}
	return ""
}

// accept waits for the client's connection, unless the client fails before.
func (p *player) accept(listener *net.TCPListener) string {
	for deadline := time.Now().Add(limit); ; {
		_ = listener.SetDeadline(time.Now().Add(10 * time.Millisecond))
		conn, err := listener.AcceptTCP()
		if err == nil {
			p.conn = conn
			_ = p.conn.SetDeadline(time.Now().Add(limit))
			return ""
		}
		select {
		case a := <-p.adapter.answers:
			p.early = &a
			if a.err != nil || a.object["ok"] != true {
				return fmt.Sprintf("no connection: %v, %v\n%s", text(a.object), a.err, p.adapter.errors)
			}
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Sprintf("no connection: %v", err)
		}
	}
}

// answer waits for the answer to the current step.
func (p *player) answer(request Object) Object {
	if p.early == nil {
		return p.adapter.answer(p.t, request)
	}
	if p.early.err != nil {
		p.t.Fatalf("%s: no answer: %v\n%s", text(request), p.early.err, p.adapter.errors)
	}
	return p.early.object
}

// until repeats a step's request until its data are as wanted.
func (p *player) until(s Step) string {
	deadline := time.Now().Add(limit)
	for {
		data := p.adapter.call(p.t, Object{"op": "get", "device": s.Until.Get})
		late := mismatch("the data", s.Until.Want, data["data"])
		if late == "" {
			return ""
		}
		if time.Now().After(deadline) {
			return late
		}
		if m := mismatch("the answer", s.Want, p.adapter.call(p.t, s.Do)); m != "" {
			return m + "; " + late
		}
	}
}

// expect reads the client's output.
func (p *player) expect(want string) string {
	if want == "" {
		return ""
	}
	bytes := make([]byte, len(want)/2)
	n, err := io.ReadFull(p.conn, bytes)
	if err != nil {
		return fmt.Sprintf("the client sent %X, want %s: %v", bytes[:n], strings.ToUpper(want), err)
	}
	if got := hex.EncodeToString(bytes); got != want {
		return fmt.Sprintf("the client sent %s, want %s", got, want)
	}
	return ""
}

// send writes one message. If the client reads meanwhile, the message is cut, and
// each piece waits until the client has read the one before it.
func (p *player) send(b []byte, reading bool) error {
	for done := 0; done < len(b); {
		n := len(b) - done
		if p.cut != nil && reading && len(b) <= maxCut && p.early == nil {
			n = min(p.cut(done), n)
		}
		if _, err := p.conn.Write(b[done : done+n]); err != nil {
			return err
		}
		done += n
		if reading {
			if err := p.drained(); err != nil {
				return err
			}
		}
	}
	return nil
}

// drained waits until the client has taken all bytes from its socket, or has
// answered: then it need not read on.
func (p *player) drained() error {
	for deadline := time.Now().Add(limit); p.early == nil && time.Now().Before(deadline); {
		select {
		case a := <-p.adapter.answers:
			p.early = &a
			return nil
		default:
		}
		if n, err := p.queues.unread(p.conn); n == 0 || err != nil {
			return err
		}
		time.Sleep(20 * time.Microsecond)
	}
	return nil
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	return must.Get(hex.DecodeString(s))(t)
}
