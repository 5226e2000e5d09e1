// Package acts emulates the ACTS colour tracker: a TCP server that answers
// each request with the blobs of one video frame.
package acts

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"time"

	"player/simulation/emulator/line"
)

// Options of a tracker. Zero fields have the default in parentheses.
type Options struct {
	Line    line.Options // TCP ("127.0.0.1:0", any free port; ACTS itself uses 35091 in 1.0 and 5001 later)
	Version Version
	Frame   time.Duration // from a request to its answer (33 ms, a frame of video)
	Split   int           // an answer is sent in pieces of this many bytes, a millisecond apart; 0: in one piece
}

// Requests, one byte each.
const (
	requestPacket = '0'
	requestQuit   = '1' // the program ends, not the connection (ARIA, ArACTS_1_2::requestQuit)
)

// pieceGap is the time between the pieces of a split answer, so that a host
// that reads at once receives them separately.
const pieceGap = time.Millisecond

// A Server is a running tracker. Its methods may be called by any goroutine.
type Server struct {
	line.End
	opts Options

	blobs    [Channels][]Blob
	mute     bool
	host     int           // the one that is served
	requests []byte        // that wait for their turn
	due      time.Duration // of the answer; 0: there is no request
	rest     []byte        // of an answer in pieces
	state    State
}

// A State counts the hosts' requests.
type State struct {
	Conns    int // open now
	Accepted int
	Requests int
	Answers  int // sent completely
	Quits    int
	Unknown  int // bytes that belong to no request
}

// Start starts a server.
func Start(opts Options) (*Server, error) {
	opts.Line.TCP = cmp.Or(opts.Line.TCP, "127.0.0.1:0")
	opts.Frame = cmp.Or(opts.Frame, 33*time.Millisecond)
	if digits[opts.Version] == 0 {
		return nil, fmt.Errorf("acts: no version %d", opts.Version)
	}
	s := &Server{opts: opts}
	return s, s.Attach(opts.Line, s)
}

// Port returns the server's TCP port.
func (s *Server) Port() int {
	_, text, _ := net.SplitHostPort(s.Address())
	port, _ := strconv.Atoi(text) // the address of a listener has a number
	return port
}

func (s *Server) Frame([]byte) (n int, note string) { return 1, "" }

// meet forgets the host before the newest one. The last requests of one that has gone are still carried out.
func (s *Server) meet() {
	if host, _ := s.Host(); host != s.host {
		s.host, s.due, s.rest, s.requests = host, 0, nil, nil
	}
}

func (s *Server) Receive(_ time.Duration, request []byte) {
	s.meet()
	s.requests = append(s.requests, request...)
}

// Advance answers one request after the other.
func (s *Server) Advance(now time.Duration) time.Duration {
	s.meet()
	for {
		switch {
		case s.due > now:
			return s.due
		case s.due != 0:
			s.answer(now)
		case len(s.requests) == 0:
			return 0
		default:
			request := s.requests[0]
			s.requests = s.requests[1:]
			s.begin(now, request)
		}
	}
}

func (s *Server) begin(now time.Duration, request byte) {
	switch request {
	case requestPacket:
		s.state.Requests++
		s.due = now + s.opts.Frame
	case requestQuit:
		s.state.Quits++
		s.requests = nil
		s.Unplug()
	default:
		s.state.Unknown++
	}
}

// answer sends a packet or the next piece of it, unless muted.
func (s *Server) answer(now time.Duration) {
	s.due = 0
	if s.rest == nil {
		if s.mute {
			return
		}
		s.rest = s.opts.Version.appendPacket(nil, &s.blobs)
	}
	n := min(cmp.Or(s.opts.Split, len(s.rest)), len(s.rest))
	s.Send(s.rest[:n], "packet")
	if s.rest = s.rest[n:]; len(s.rest) > 0 {
		s.due = now + pieceGap
		return
	}
	s.rest = nil
	s.state.Answers++
}

// SetBlobs sets the blobs of one colour, 0 to 31, from the next answer on.
func (s *Server) SetBlobs(channel int, blobs ...Blob) error {
	if channel < 0 || channel >= Channels {
		return fmt.Errorf("acts: channel %d, not 0 to %d", channel, Channels-1)
	}
	if err := s.opts.Version.check(blobs); err != nil {
		return err
	}
	s.Locked(func() { s.blobs[channel] = append([]Blob(nil), blobs...) })
	return nil
}

// Silence stops answering; connections stay open. Requests received meanwhile
// are never answered.
func (s *Server) Silence() { s.Locked(func() { s.mute = true }) }

// Speak ends Silence.
func (s *Server) Speak() { s.Locked(func() { s.mute = false }) }

// State returns the state so far.
func (s *Server) State() State {
	state := line.Copy(&s.End, &s.state)
	number, connected := s.Host()
	state.Accepted, state.Conns = number, int(line.Bit(connected))
	return state
}
