package dashboard

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"player/config/rights"
	"player/visitors"
)

const (
	// messageLimit is the largest message that a page may send, in bytes. The
	// longest real one has about a hundred.
	messageLimit = 4096
	// addressLimit is the longest address of a robot that a page may send, in bytes:
	// a name has at most 253, and it is logged.
	addressLimit = 256
	// maxUnacked is how many messages with data a page may have to acknowledge.
	// Data that arrives meanwhile is merged or dropped, so that it does not age in
	// buffers. At 20 Hz, three are enough for a round trip of 150 ms; with a longer
	// one the rate falls and the data stays new.
	maxUnacked = 3
	// maxName is the length of the longest name of a client (PROTOCOL 8.3).
	maxName = 64
	// probePeriod is how often a browser is pinged, and probeLimit how long it may
	// take to answer. A browser that loses its network closes nothing, and TCP
	// would keep its socket and the Player connections for a quarter of an hour.
	// Their sum is the limit of the robot's server (PROTOCOL 9.1).
	probePeriod = 5 * time.Second
	probeLimit  = 10 * time.Second
	// statusRobot is the close status of a socket that the server ends; the reason
	// is the error.
	statusRobot websocket.StatusCode = 4000
)

// socket is a WebSocket to a page. One goroutine reads it and one writes.
type socket struct {
	ws      *websocket.Conn
	visitor visitors.Visitor
	robot   string        // host:port, as requested by the dashboard
	dial    visitors.Dial // connects to the robot
	first   streamRequest // with which a stream begins
	may     rights.Set    // of the computer with the browser
	sent    uint32        // number of the last message with data
	acked   atomic.Uint32
	onAck   func() // called by the reader after each acknowledgement; may be nil
}

// accept returns a handler that accepts a WebSocket and calls serve for it. An
// error of serve is sent to the dashboard as the reason of closing.
func (s *server) accept(serve func(context.Context, *socket) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		visitor := visitors.VisitorOf(r)
		ws, err := visitor.Accept(w, r, nil)
		if err != nil {
			return // Accept has replied
		}
		defer ws.CloseNow()
		ws.SetReadLimit(messageLimit)
		ctx, cancel := context.WithCancel(s.ctx) // the request's context does not end with a WebSocket
		defer cancel()

		query := r.URL.Query()
		first := streamRequest{Request: query.Get("request")}
		first.Rate, _ = strconv.Atoi(query.Get("rate")) // 0, the robot's own rate, if it is none
		sock := &socket{ws: ws, visitor: visitor, robot: query.Get("robot"), first: first, may: s.config.RightsOf(r)}
		sock.dial = s.config.Dialer(sock.robot, nameOf(r))
		if err := s.admit(r, sock); err != nil {
			_ = ws.Close(statusRobot, visitors.CloseReason(explain(err)))
			return
		}
		log := s.config.Log.With(zap.String("browser", r.RemoteAddr), zap.String("socket", r.URL.Path[1:]))
		if sock.robot != "" {
			log = log.With(zap.String("robot", sock.robot))
		}
		log.Info("dashboard connected")
		err = serve(ctx, sock)
		if websocket.CloseStatus(err) != -1 || errors.Is(err, context.Canceled) {
			err = nil // the dashboard was closed, or the server ends
		} else {
			_ = ws.Close(statusRobot, visitors.CloseReason(explain(err)))
		}
		log.Info("dashboard disconnected", zap.Error(err))
	}
}

// admit returns an error if a page may not have the socket. Browsers of other
// computers reach the listed robots only: this process may reach networks that
// they do not, and other robots would take them for this computer.
func (s *server) admit(r *http.Request, sock *socket) error {
	switch {
	case sock.robot == "" || s.lists(sock.robot):
	case !visitors.AddressOf(r.RemoteAddr).IsLoopback():
		return visitors.Notice{Text: "only browsers of the server's computer may connect to other robots"}
	case len(sock.robot) > addressLimit:
		return visitors.Notice{Text: "this is not the address of a robot"}
	}
	return visitors.Need(sock.may, rights.Read)
}

// lists reports whether the dashboard lists a robot.
func (s *server) lists(address string) bool {
	return slices.ContainsFunc(s.config.Robots, func(robot Robot) bool { return robot.Address == address })
}

// nameOf returns the name that the connections of a page have (PROTOCOL 8.3): robots
// see the address of this process only. It ends with what the page calls itself, so
// that the page finds them in the list of clients.
func nameOf(r *http.Request) string {
	name := "browser " + visitors.AddressOf(r.RemoteAddr).String() + " " + r.URL.Query().Get("page")
	return name[:min(len(name), maxName)]
}

// converse calls run, and take for each message of the dashboard, until one of them
// fails, the browser closes the socket or it does not answer pings. It returns
// that error; the context of run and take ends. While take blocks, a closed
// socket goes unnoticed.
func converse(ctx context.Context, sock *socket, take func(ctx context.Context, message []byte) error, run func(context.Context) error) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Reading and pinging do not use the inner context: its end would close the
	// socket before the dashboard gets the reason.
	go func() {
		cancel(visitors.Recovered(func() error { return sock.receive(ctx, func(message []byte) error { return take(inner, message) }) }))
	}()
	go func() { cancel(visitors.Recovered(func() error { return sock.probe(ctx) })) }()
	if err := run(inner); inner.Err() == nil {
		return err
	}
	return context.Cause(inner)
}

// receive reads acknowledgements, and messages for take.
func (s *socket) receive(ctx context.Context, take func(message []byte) error) error {
	for {
		kind, message, err := s.visitor.Read(ctx, s.ws)
		if err != nil {
			return err
		}
		if kind == websocket.MessageBinary {
			if len(message) != 4 {
				return unfit(fmt.Errorf("an acknowledgement has %d bytes, want 4", len(message)))
			}
			s.acked.Store(binary.BigEndian.Uint32(message))
			if s.onAck != nil {
				s.onAck()
			}
			continue
		}
		if err := take(message); err != nil {
			return err
		}
	}
}

// probe pings the browser until it does not answer or ctx ends. The browser
// answers for a page that is slow or hidden.
func (s *socket) probe(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(probePeriod):
		}
		limited, cancel := context.WithTimeout(ctx, probeLimit)
		err := s.ws.Ping(limited)
		cancel()
		if err != nil {
			return fmt.Errorf("nothing heard from the browser: %w", err)
		}
	}
}

// decodeCommand decodes one JSON object into a command. Unknown fields are errors.
func decodeCommand(message []byte, command any) error {
	d := json.NewDecoder(bytes.NewReader(message))
	d.DisallowUnknownFields()
	err := d.Decode(command)
	if err == nil && d.More() {
		err = errors.New("more than one object")
	}
	if err != nil {
		err = unfit(fmt.Errorf("command %s: %w", visitors.Quote(string(message)), err))
	}
	return err
}

// congested reports whether the dashboard has maxUnacked messages to acknowledge.
func (s *socket) congested() bool { return s.sent-s.acked.Load() >= maxUnacked }

// sendData sends a message with data, which the dashboard acknowledges.
func (s *socket) sendData(ctx context.Context, message []byte) error {
	return s.ws.Write(ctx, websocket.MessageBinary, message)
}

// sendJSON sends any other message, which is not acknowledged.
func (s *socket) sendJSON(ctx context.Context, what any) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	s.visitor.OweReply(len(text))
	return s.ws.Write(ctx, websocket.MessageText, text)
}
