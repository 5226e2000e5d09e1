package load

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// The clients of a group with NATS are subscriptions. Each speaks the client protocol
// of NATS (docs.nats.io, "NATS Protocol", "Client Protocol") on the same thread as
// other clients, so that both kinds are measured alike.

// ratePeriod is the time between two requests for a rate, each of which counts for 10 s
// (docs/FLEET.md).
const ratePeriod = 4 * time.Second

// subscribe opens the connections of a group and subscribes.
func (e *engine) subscribe(g *group) error {
	servers := append([]string{g.Address}, g.NATS.Others...)
	for n := 0; n < g.Clients; n += g.NATS.Each {
		parser := &natsParser{suffix: []byte(g.NATS.Suffix), subscriptions: min(g.NATS.Each, g.Clients-n)}
		to := servers[n/g.NATS.Each%len(servers)]
		fd, err := dial(to)
		if err != nil {
			return fmt.Errorf("client %d of %s cannot connect to %s: %w", n+1, g.Name, to, err)
		}
		first := len(e.clients)
		said := []byte("CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":false,\"protocol\":1}\r\n")
		for i := range parser.subscriptions {
			e.clients = append(e.clients, client{group: g, index: int32(first + i), fd: -1})
			said = fmt.Appendf(said, "SUB %s %d\r\n", g.NATS.Subjects[(n+i)%len(g.NATS.Subjects)], i)
			e.waiting++
		}
		c := &e.clients[first]
		c.fd, c.nats = fd, parser
		ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP, Fd: c.index}
		if err := unix.EpollCtl(e.epoll, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			return err
		}
		if g.NATS.WebSocket {
			parser.web, parser.greeting, said = &webSocket{}, said, handshake(to)
		}
		if sent, err := unix.Write(fd, said); err != nil || sent < len(said) {
			return fmt.Errorf("client %d of %s cannot subscribe: %d of %d bytes, %w", n+1, g.Name, sent, len(said), err)
		}
		if n == 0 && len(g.NATS.Rates) > 0 {
			e.rates.clients = append(e.rates.clients, c)
			e.askRate(c)
		}
		e.poll(0)
	}
	return nil
}

// askRate asks for the rate of the client's group.
func (e *engine) askRate(c *client) {
	var said []byte
	rate := strconv.Itoa(c.group.Rate)
	for _, subject := range c.group.NATS.Rates {
		said = fmt.Appendf(said, "PUB %s %d\r\n%s\r\n", subject, len(rate), rate)
	}
	e.send(c, said)
}

// messages takes bytes of a connection to NATS.
func (e *engine) messages(c *client, now time.Duration, b []byte) {
	p := c.nats
	if w := p.web; w != nil {
		if !w.open {
			var err error
			if b, err = w.opens(b); err != nil {
				e.lose(c)
				return
			}
			if !w.open {
				return
			}
			e.send(c, p.greeting)
		}
		b = w.content(b)
	}
	if len(p.rest) > 0 {
		p.rest = append(p.rest, b...)
		b = p.rest
	}
	for {
		m, n, err := p.next(b)
		if err != nil {
			e.lose(c)
			return
		}
		if n == 0 {
			break
		}
		b = b[n:]
		switch {
		case m.ping:
			e.send(c, []byte("PONG\r\n"))
		case len(m.payload) > 0 && bytes.HasSuffix(m.subject, p.suffix):
			monitor := &e.clients[int(c.index)+m.subscription]
			monitor.parser.size = len(m.payload)
			copy(monitor.parser.stamp[:], m.payload)
			e.replied(monitor)
			e.frame(monitor, now)
		}
	}
	p.rest = append(p.rest[:0], b...)
}

// natsParser finds the messages in the bytes of a NATS server.
type natsParser struct {
	suffix        []byte // of the subjects that count
	subscriptions int
	rest          []byte     // the beginning of a message that is cut
	web           *webSocket // nil: the connection is none
	greeting      []byte     // bytes to send when it is open
}

// message is a message, or a ping. It is zero for anything else.
type message struct {
	ping         bool
	subscription int
	subject      []byte
	payload      []byte
}

var errNATS = errors.New("not the protocol of NATS")

// next takes the first message of b, and returns its length, or 0 if it is cut.
func (p *natsParser) next(b []byte) (m message, n int, err error) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return m, 0, nil
	}
	line, n := bytes.TrimSuffix(b[:end], []byte("\r")), end+1
	verb, line, _ := bytes.Cut(line, []byte(" "))
	switch string(verb) {
	case "INFO", "PONG":
		return m, n, nil
	case "PING":
		return message{ping: true}, n, nil
	case "HMSG", "MSG":
	default: // the server reports errors
		return m, 0, errNATS
	}
	// HMSG SUBJECT ID [REPLY] SIZE-OF-HEADERS SIZE; MSG SUBJECT ID [REPLY] SIZE
	var id, sizes []byte
	m.subject, line, _ = bytes.Cut(line, []byte(" "))
	id, sizes, _ = bytes.Cut(line, []byte(" "))
	last, headers := bytes.LastIndexByte(sizes, ' '), []byte("0")
	if verb[0] == 'H' {
		if last < 0 {
			return m, 0, errNATS
		}
		headers = sizes[bytes.LastIndexByte(sizes[:last], ' ')+1 : last]
	}
	number, err1 := strconv.Atoi(string(id))
	head, err2 := strconv.Atoi(string(headers))
	size, err3 := strconv.Atoi(string(sizes[last+1:]))
	if err1 != nil || err2 != nil || err3 != nil || number < 0 || number >= p.subscriptions || head < 0 || head > size {
		return m, 0, errNATS
	}
	const lineEnd = 2 // CR, LF
	if len(b) < n+size+lineEnd {
		return message{}, 0, nil
	}
	m.subscription, m.payload = number, b[n+head:n+size]
	return m, n + size + lineEnd, nil
}
