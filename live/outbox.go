package live

import (
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// maxReplies is how many replies may wait for a viewer, and replySize how many
	// bytes they may have before the last one: a viewer gets them faster than it asks.
	maxReplies = 256
	replySize  = 1 << 20
	// logLines is how many lines of the log may wait for a viewer.
	logLines = 100
)

var errDeaf = errors.New("the viewer asks without reading the replies")

// outbox has what waits for a viewer: replies, and of each subscribed channel the
// newest messages. It is used by several goroutines.
type outbox struct {
	changed chan struct{} // buffers one
	mu      sync.Mutex
	replies []reply
	size    int              // of the replies, bytes
	flows   map[uint32]*flow // by channel
}

// reply is a whole message of the protocol.
type reply struct {
	text    bool
	message []byte
}

// flow is a subscribed channel.
type flow struct {
	subscription uint32
	keep         int           // how many messages of a frame may wait; older ones are dropped
	period       time.Duration // of the messages of a frame, at least
	frames       []*frame      // one, but for transforms
}

// frame has the messages of a flow that replace each other.
type frame struct {
	name    string
	waiting []data
	due     time.Time
}

// data is a message of a channel. It is encoded when it is sent: many never are.
type data struct {
	subscription uint32
	taken        int64 // ns since 1970
	content      any
}

func newOutbox() *outbox {
	return &outbox{changed: make(chan struct{}, 1), flows: map[uint32]*flow{}}
}

func (o *outbox) wake() {
	select {
	case o.changed <- struct{}{}:
	default: // not noticed yet
	}
}

// reply adds a reply. Replies are not dropped.
func (o *outbox) reply(text bool, message []byte) error {
	defer o.wake()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.replies) == maxReplies || o.size > replySize {
		return errDeaf
	}
	o.size += len(message)
	o.replies = append(o.replies, reply{text, message})
	return nil
}

// subscribe lets messages of a channel through.
func (o *outbox) subscribe(channel, subscription uint32, keep int, period time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flows[channel] = &flow{subscription: subscription, keep: keep, period: period}
}

// unsubscribe drops the messages of a channel: those that wait, and later ones.
func (o *outbox) unsubscribe(channel uint32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.flows, channel)
}

// pace sets the least period of a channel.
func (o *outbox) pace(channel uint32, period time.Duration) {
	defer o.wake()
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.flows[channel]; f != nil {
		f.period = period
		for _, frame := range f.frames {
			frame.due = time.Time{}
		}
	}
}

// put adds a message of a channel if it is subscribed. It replaces the oldest one of
// its frame if too many wait.
func (o *outbox) put(channel uint32, name string, taken int64, content any) {
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
	p.waiting = append(p.waiting, data{f.subscription, taken, content})
	o.wake()
}

// take returns the replies and the messages that are due at now, and the time until
// the next one is due; zero: none waits.
func (o *outbox) take(now time.Time) (replies []reply, messages []data, wait time.Duration) {
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
