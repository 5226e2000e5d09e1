package visitors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// maxReplies is how many replies may wait for a visitor, and replySize how many
	// bytes they may have before the last one: a visitor gets them faster than it asks.
	maxReplies = 256
	replySize  = 1 << 20
	// answerLimit is how long a visitor may take to answer a ping, and probePeriod how
	// often an idle one is pinged. A visitor that loses its network closes nothing, and TCP would
	// keep its connections for a quarter of an hour. Their sum is the limit of the robot's
	// server (PROTOCOL 9.1).
	answerLimit = 10 * time.Second
	probePeriod = 5 * time.Second
)

// ErrDeaf ends a visitor.
var ErrDeaf = errors.New("the visitor asks without reading the replies")

// Outbox queues messages for a visitor at a WebSocket: replies, and the newest messages of
// each subscribed channel. Several goroutines use it.
type Outbox struct {
	window  uint32        // Terms.Window
	changed chan struct{} // buffers one
	mu      sync.Mutex
	replies []reply
	size    int              // of the replies, bytes
	flows   map[uint32]*flow // by channel
	sent    uint32           // number of the last message, from 1
	acked   uint32           // with a window
}

// reply is a message of the protocol as it is sent.
type reply struct {
	text    bool
	message []byte
}

// flow is a subscribed channel.
type flow struct {
	subscription uint32
	keep         int           // how many messages of a frame may wait; older ones are dropped
	period       time.Duration // of the messages of a frame, at least
	frames       []*frame      // one, except for transforms
}

// frame has the messages of a flow that replace each other.
type frame struct {
	name    string
	waiting []Message
	due     time.Time
}

// Message is a message of a channel. It is encoded when it is sent: many never are.
type Message struct {
	Number       uint32 // of the messages to the visitor
	Subscription uint32
	Taken        int64 // ns since 1970
	Content      any
}

func newOutbox(window uint32) *Outbox {
	return &Outbox{window: window, changed: make(chan struct{}, 1), flows: map[uint32]*flow{}}
}

// Reply adds a reply. Replies are not dropped.
func (o *Outbox) Reply(text bool, message []byte) error {
	defer wake(o.changed)
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.replies) == maxReplies || o.size > replySize {
		return ErrDeaf
	}
	o.size += len(message)
	o.replies = append(o.replies, reply{text, message})
	return nil
}

// Subscribe lets messages of a channel through. A renewed subscription drops messages that wait, and its next
// message is due as before, or sooner if the period is shorter than before.
func (o *Outbox) Subscribe(channel, subscription uint32, keep int, period time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	newer := &flow{subscription: subscription, keep: keep, period: period}
	if f := o.flows[channel]; f != nil {
		for _, p := range f.frames {
			newer.frames = append(newer.frames, &frame{name: p.name, due: p.due.Add(min(0, period-f.period))})
		}
	}
	o.flows[channel] = newer
}

// Unsubscribe drops the messages of a channel: those that wait, and later ones.
func (o *Outbox) Unsubscribe(channel uint32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.flows, channel)
}

// Pace sets the least period of a channel.
func (o *Outbox) Pace(channel uint32, period time.Duration) {
	defer wake(o.changed)
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.flows[channel]; f != nil {
		f.period = period
		for _, frame := range f.frames {
			frame.due = time.Time{}
		}
	}
}

// Put adds a message of a channel if it is subscribed. If too many messages wait, it
// replaces the oldest one of its frame.
func (o *Outbox) Put(channel uint32, name string, taken int64, content any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.flows[channel]
	if f == nil {
		return
	}
	i := slices.IndexFunc(f.frames, func(p *frame) bool { return p.name == name })
	if i < 0 {
		i, f.frames = len(f.frames), append(f.frames, &frame{name: name})
	}
	p := f.frames[i]
	if len(p.waiting) == f.keep {
		p.waiting = slices.Delete(p.waiting, 0, 1)
	}
	p.waiting = append(p.waiting, Message{Subscription: f.subscription, Taken: taken, Content: content})
	wake(o.changed)
}

// Acknowledge notes that the visitor has got the messages up to a number.
func (o *Outbox) Acknowledge(number uint32) {
	defer wake(o.changed)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acked = number
}

// Congested reports whether the visitor has a window of messages to acknowledge.
func (o *Outbox) Congested() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.congested()
}

func (o *Outbox) congested() bool { return o.window > 0 && o.sent-o.acked >= o.window }

// Next returns the number of a message that the caller writes itself.
func (o *Outbox) Next() uint32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent++
	return o.sent
}

// take returns the replies and the messages that are due at now, and the time until
// the next one is due; zero: none waits.
func (o *Outbox) take(now time.Time) (replies []reply, messages []Message, wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	replies, o.replies, o.size = o.replies, nil, 0
	for _, f := range o.flows {
		for _, p := range f.frames {
			if len(p.waiting) == 0 {
				continue
			}
			if until := p.due.Sub(now); until > 0 {
				if wait == 0 || until < wait {
					wait = until
				}
				continue
			}
			if o.congested() {
				continue
			}
			for i := range p.waiting {
				o.sent++
				p.waiting[i].Number = o.sent
			}
			messages = append(messages, p.waiting...)
			p.waiting = p.waiting[:0]
			if now.Sub(p.due) > f.period {
				p.due = now // it was quiet
			}
			p.due = p.due.Add(f.period)
		}
	}
	return replies, messages, wait
}

// Encode appends a message as it is sent.
type Encode func(dst []byte, m Message) ([]byte, error)

// Write writes the outbox to the guest until ctx ends. Without a window it waits after each batch
// until the guest has answered a ping, and so has read the batch. Meanwhile newer
// data replaces older data, so that data does not age in buffers. encode appends a message
// as it is sent, in frames of a kind.
func (g *Guest) Write(ctx context.Context, kind websocket.MessageType, encode Encode) error {
	o := g.Outbox
	var out []byte
	for {
		replies, messages, wait := o.take(time.Now())
		if len(replies)+len(messages) == 0 {
			idle := wait == 0
			if idle {
				wait = probePeriod
			}
			select {
			case <-ctx.Done():
				return nil
			case <-o.changed:
				continue
			case <-time.After(wait):
				if !idle {
					continue
				}
			}
		}
		for _, r := range replies {
			kind := websocket.MessageBinary
			if r.text {
				kind = websocket.MessageText
			}
			g.Visitor.OweReply(len(r.message))
			if err := WriteMessage(ctx, g.WS, kind, r.message); err != nil {
				return err
			}
		}
		for _, m := range messages {
			if o.window == 0 { // otherwise the visitor pays for its acknowledgement
				g.Visitor.Wait()
			}
			var err error
			if out, err = encode(out[:0], m); err != nil {
				return err
			}
			if err := WriteMessage(ctx, g.WS, kind, out); err != nil {
				return err
			}
		}
		if o.window > 0 { // Serve pings
			continue
		}
		if err := ping(ctx, g.WS); err != nil {
			return err
		}
	}
}

// ping waits until a visitor has answered a ping.
func ping(ctx context.Context, ws *websocket.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	if err := ws.Ping(ctx); err != nil {
		return fmt.Errorf("nothing heard from the visitor: %w", err)
	}
	return nil
}

// WriteMessage writes a message to a visitor. It fails unless the visitor reads it within answerLimit.
func WriteMessage(ctx context.Context, ws *websocket.Conn, kind websocket.MessageType, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	return ws.Write(ctx, kind, message)
}
