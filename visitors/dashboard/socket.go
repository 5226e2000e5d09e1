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

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"player/config/rights"
	"player/visitors"
)

// LogConnected is a message of the log, by which tests find lines.
const LogConnected = "dashboard connected"

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
	// statusRobot is the close status of a socket that the server ends; the reason
	// is the error.
	statusRobot websocket.StatusCode = 4000
)

// socket is a WebSocket of a page.
type socket struct {
	*visitors.Guest
	robot string           // host:port, as requested by the page
	dial  visitors.Dial    // connects to the robot
	first visitors.Request // with which a stream begins
	// equipment is whether a stream also has the robot's devices without letters. Clients of 1.0 take a message about
	// them for a reply, so a page asks for it.
	equipment bool
}

// accept returns a handler that accepts a WebSocket and calls serve for it. A page gets an error as the reason of
// closing: browsers show it no other refusal.
func (s *server) accept(serve func(*socket) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		guest := s.config.Accept(s.ctx, w, r, visitors.Terms{Name: nameOf(r), MessageLimit: messageLimit, Window: maxUnacked,
			Reason: func(err error) (websocket.StatusCode, string) { return statusRobot, explain(err) }})
		if guest == nil {
			return
		}
		defer guest.End()
		query := r.URL.Query()
		first := visitors.Request{Pairs: query.Get("request")}
		first.Rate, _ = strconv.Atoi(query.Get("rate")) // if it is no number: 0, the robot's own rate
		sock := &socket{guest, query.Get("robot"), s.config.Dialer(query.Get("robot"), nameOf(r)), first, query.Has("equipment")}
		if err := s.admit(r, sock.robot); err != nil {
			_ = guest.Close(err) // returns err
			return
		}
		log := s.config.Log.With(zap.String("browser", r.RemoteAddr), zap.String("socket", r.URL.Path[1:]))
		if sock.robot != "" {
			log = log.With(zap.String("robot", sock.robot))
		}
		log.Info(LogConnected)
		log.Info("dashboard disconnected", zap.Error(serve(sock)))
	}
}

// admit returns an error if a page may not have a socket for a robot. Browsers of other
// computers reach the listed robots only: this process may reach networks that the browsers
// do not reach, and other robots would give them the rights of this computer.
func (s *server) admit(r *http.Request, robot string) error {
	switch {
	case robot == "" || s.lists(robot):
	case !visitors.AddressOf(r.RemoteAddr).IsLoopback():
		return visitors.Notice{Text: "only browsers of the server's computer may connect to other robots"}
	case len(robot) > addressLimit:
		return visitors.Notice{Text: "this is not the address of a robot"}
	}
	return visitors.Need(s.config.RightsOf(r), rights.Read)
}

func (s *server) lists(address string) bool {
	return slices.ContainsFunc(s.config.Robots, func(robot Robot) bool { return robot.Address == address })
}

// nameOf returns the name that the connections of a page have (PROTOCOL 8.3): robots see the
// address of this process only. It ends with the page's own name, so that the page finds its
// connections in the list of clients.
func nameOf(r *http.Request) string {
	name := "browser " + visitors.AddressOf(r.RemoteAddr).String() + " " + r.URL.Query().Get("page")
	return name[:min(len(name), maxName)]
}

// converse passes each command of a page to take, receives the page's acknowledgements, and runs the other
// functions, as Guest.Serve does.
func converse[command any](sock *socket, take func(command) error, run ...func(context.Context) error) error {
	return sock.Serve(func(kind websocket.MessageType, message []byte) error {
		if kind != websocket.MessageBinary {
			var c command
			if err := decodeCommand(message, &c); err != nil {
				return err
			}
			return take(c)
		}
		if len(message) != 4 {
			return unfit(fmt.Errorf("an acknowledgement has %d bytes, want 4", len(message)))
		}
		sock.Outbox.Acknowledge(binary.BigEndian.Uint32(message))
		return nil
	}, run...)
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

// write returns a function that writes the outbox to the page. encode appends a message with data.
func (s *socket) write(encode visitors.Encode) func(context.Context) error {
	return func(ctx context.Context) error { return s.Write(ctx, websocket.MessageBinary, encode) }
}

// reply adds a message in JSON to the outbox.
func (s *socket) reply(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.Outbox.Reply(true, text)
}
