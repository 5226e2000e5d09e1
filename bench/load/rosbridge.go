package load

import (
	"bytes"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// The clients of a group with a topic are programs of rosbridge v2 (JSON in WebSockets): each subscribes
// to the topic on a connection of its own. A message is a frame. Only its beginning is read, so
// that the clients' cost does not depend on its size.

// subscriber is the client's side of such a connection.
type subscriber struct {
	web   webSocket
	start [startSize]byte // the first bytes of the message
	have  int             // of start
}

// startSize is how many bytes of a message are kept: operation, topic and header need fewer.
const startSize = 256

// subscribeTo opens the connections of a group, and then subscribes: on a full network the messages for the
// first programs would keep the others from connecting.
func (e *engine) subscribeTo(g *group) error {
	opening := handshake(g.Address)
	if err := e.await(g.Address, opening); err != nil {
		return fmt.Errorf("%s does not serve: %w", g.Address, err)
	}
	first := len(e.clients)
	for n := range g.Clients {
		fd, err := dial(g.Address)
		if err != nil {
			return fmt.Errorf("client %d of %s cannot connect to %s: %w", n+1, g.Name, g.Address, err)
		}
		index := int32(len(e.clients))
		e.clients = append(e.clients, client{group: g, index: index, fd: fd, topic: &subscriber{}})
		e.waiting++
		ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP, Fd: index}
		if err := unix.EpollCtl(e.epoll, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			return err
		}
		e.send(&e.clients[index], opening)
		if n%burst == burst-1 {
			e.poll(0)
		}
	}
	programs := e.clients[first:]
	for limit := e.now() + replyLimit; connecting(programs) > 0; {
		if e.now() > limit {
			return fmt.Errorf("%d of %d clients of %s have no WebSocket within %v", connecting(programs), g.Clients, g.Name, replyLimit)
		}
		e.poll(100 * time.Millisecond)
	}
	request := fmt.Appendf(nil, `{"op":"subscribe","topic":%q}`, g.Topic)
	for i := range programs {
		if c := &programs[i]; !c.closed {
			e.send(c, c.topic.web.frame(textFrame, request))
			e.replied(c) // there is no reply to it
		}
	}
	return nil
}

// connecting is how many of the programs have neither a WebSocket nor a refusal.
func connecting(programs []client) (n int) {
	for i := range programs {
		if c := &programs[i]; !c.closed && !c.topic.web.open {
			n++
		}
	}
	return n
}

// published takes bytes of a program's connection that came at now.
func (e *engine) published(c *client, now time.Duration, b []byte) {
	s := c.topic
	if !s.web.open {
		var err error
		if b, err = s.web.opens(b); err != nil {
			e.lose(c)
			return
		}
	}
	for len(b) > 0 {
		var p piece
		p, b = s.web.next(b)
		s.have += copy(s.start[s.have:], p.content)
		if !p.last {
			continue
		}
		start := s.start[:s.have]
		s.have = 0
		switch p.kind {
		case pingFrame:
			e.send(c, s.web.frame(pongFrame, start))
		case textFrame:
			stamp, ok := stampOf(start)
			if !ok { // perhaps the report of an error
				c.bad++
				continue
			}
			c.arrived(now, stamp-e.epoch, c.group.period, e.counting)
		}
	}
}

// stampOf returns the time in the header of a published message, since 1970.
func stampOf(message []byte) (stamp time.Duration, ok bool) {
	_, rest, ok := bytes.Cut(message, []byte(`"stamp"`))
	if !ok || !bytes.Contains(message, []byte(`"publish"`)) {
		return 0, false
	}
	seconds, rest := number(rest)
	nanoseconds, _ := number(rest)
	return time.Duration(seconds)*time.Second + time.Duration(nanoseconds), true
}

// number returns the first number of b, which is whole and not negative, and the bytes behind it.
func number(b []byte) (n int64, rest []byte) {
	digit := func(c rune) bool { return c >= '0' && c <= '9' }
	b = b[max(bytes.IndexFunc(b, digit), 0):]
	for len(b) > 0 && digit(rune(b[0])) {
		n, b = n*10+int64(b[0]-'0'), b[1:]
	}
	return n, b
}
