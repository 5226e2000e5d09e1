package web

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"player/client"
	"player/config/rights"
)

const (
	// orderLimit is the largest message that a page may send, in bytes. The
	// longest real one has some hundred.
	orderLimit = 4096
	// windowSize is how many messages may be on their way to a page. What
	// comes meanwhile is merged or dropped instead of growing old in buffers. At
	// 20 Hz three of them are enough for a round trip of 150 ms; beyond that
	// the rate falls, not the freshness.
	windowSize = 3
	// reasonLimit is how many bytes of an error fit into the end of a socket
	// (RFC 6455, 5.5.1).
	reasonLimit = 123
	// probePeriod and probeLimit are how often a browser is asked for a sign of
	// life, and how long it may take to give one. One that vanishes with its
	// network closes nothing, and TCP would keep its socket and the Player
	// connection for a quarter of an hour. Together they are the patience of the
	// robot's server (PROTOCOL 9.1).
	probePeriod = 5 * time.Second
	probeLimit  = 10 * time.Second
	// statusRobot ends a socket because of the robot, not of the page.
	statusRobot websocket.StatusCode = 4000
)

// page is one socket to a page. One goroutine reads it and one writes.
type page struct {
	ws    *websocket.Conn
	robot string // host:port that the page named
	may   rights.Set
	sent  uint32 // number of the last message with data
	acked atomic.Uint32
	onAck func() // called by the reader after each acknowledgement; may be nil
}

// socket makes a handler of a function that serves one socket. If it fails, the
// page is told why.
func (s *server) socket(serve func(context.Context, *page) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil) // checks the origin as the guard did
		if err != nil {
			return // the browser was told
		}
		defer ws.CloseNow()
		ws.SetReadLimit(orderLimit)
		ctx, cancel := context.WithCancel(s.ctx) // that of a hijacked request means nothing
		defer cancel()

		p := &page{ws: ws, robot: r.URL.Query().Get("robot"), may: s.rightsOf(r)}
		log := s.log.With(zap.String("page", r.RemoteAddr), zap.String("socket", r.URL.Path[1:]))
		if p.robot != "" {
			log = log.With(zap.String("robot", p.robot))
		}
		log.Info("window opened")
		err = serve(ctx, p)
		if websocket.CloseStatus(err) != -1 || errors.Is(err, context.Canceled) {
			err = nil // the page has left, or the server ends
		} else {
			_ = ws.Close(statusRobot, reason(err))
		}
		log.Info("window closed", zap.Error(err))
	}
}

// rightsOf is what a browser may do: the robots see only this process connect.
func (s *server) rightsOf(r *http.Request) rights.Set {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return rights.None
	}
	return s.config.Access.Of(from.Addr())
}

// need is an error if the page may not do what it asks for.
func (p *page) need(want rights.Set) error {
	if p.may.Has(want) {
		return nil
	}
	return fmt.Errorf("the robot's owner does not allow it: your computer may %v, this needs %v", p.may, want)
}

// refused says that the server did not grant an access. The connection is good.
func refused(err error) bool {
	_, is := errors.AsType[*client.AccessError](err)
	return is
}

// reason is what of an error fits into the end of a socket.
func reason(err error) string {
	text := strings.ToValidUTF8(err.Error(), "?")
	for len(text) > reasonLimit {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// dial connects to the robot that the page named.
func (p *page) dial(ctx context.Context) (*client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	return client.Dial(ctx, p.robot)
}

// converse runs run, and meanwhile gives take the orders of the page. It ends
// when either does or the browser is silent, and returns the error. The context
// that both get ends then. While take waits, nobody sees the page leave.
func converse[order any](ctx context.Context, p *page, take func(context.Context, order) error, run func(context.Context) error) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Not with the inner context, whose end would cut off the page before it is
	// told why.
	go func() { cancel(receive(ctx, p, func(o order) error { return take(inner, o) })) }()
	go func() { cancel(p.probe(ctx)) }()
	if err := run(inner); inner.Err() == nil {
		return err
	}
	return context.Cause(inner)
}

// receive reads what the page sends: acknowledgements, and orders for take.
func receive[order any](ctx context.Context, p *page, take func(order) error) error {
	for {
		kind, message, err := p.ws.Read(ctx)
		if err != nil {
			return err
		}
		if kind == websocket.MessageBinary {
			if len(message) != 4 {
				return fmt.Errorf("acknowledgement of the page has %d bytes, want 4", len(message))
			}
			p.acked.Store(binary.BigEndian.Uint32(message))
			if p.onAck != nil {
				p.onAck()
			}
			continue
		}
		o, err := decodeOrder[order](message)
		if err == nil {
			err = take(o)
		}
		if err != nil {
			return err
		}
	}
}

// probe returns when the browser gives no sign of life, or ctx ends. A page that
// is merely slow or hidden has a browser that answers for it.
func (p *page) probe(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(probePeriod):
		}
		limited, cancel := context.WithTimeout(ctx, probeLimit)
		err := p.ws.Ping(limited)
		cancel()
		if err != nil {
			return fmt.Errorf("nothing heard from the browser: %w", err)
		}
	}
}

// decodeOrder reads one JSON object that has no other fields than order.
func decodeOrder[order any](message []byte) (o order, err error) {
	d := json.NewDecoder(bytes.NewReader(message))
	d.DisallowUnknownFields()
	if err = d.Decode(&o); err == nil && d.More() {
		err = errors.New("more than one")
	}
	if err != nil {
		err = fmt.Errorf("order %.60q of the page: %w", message, err)
	}
	return o, err
}

// full says that the page has not caught up with what is on its way.
func (p *page) full() bool { return p.sent-p.acked.Load() >= windowSize }

// data sends a message with data.
func (p *page) data(ctx context.Context, message []byte) error {
	return p.ws.Write(ctx, websocket.MessageBinary, message)
}

// tell sends anything else, as JSON.
func (p *page) tell(ctx context.Context, what any) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return p.ws.Write(ctx, websocket.MessageText, text)
}
