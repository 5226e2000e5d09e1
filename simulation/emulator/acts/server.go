// Package acts emulates the ACTS colour tracker: a TCP server that answers
// each request with the blobs of one video frame.
package acts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"player/simulation/emulator/line"
)

// Options of a tracker. Zero fields have the default in parentheses.
type Options struct {
	Addr    string // to listen on ("127.0.0.1:0", any free port; ACTS itself uses 35091 in 1.0 and 5001 later)
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
	opts     Options
	listener net.Listener
	quit     chan struct{}
	running  sync.WaitGroup
	changes  line.Changes

	mu     sync.Mutex
	blobs  [Channels][]Blob
	mute   bool
	closed bool
	conns  map[net.Conn]bool
	state  State
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
	opts.Addr = cmp.Or(opts.Addr, "127.0.0.1:0")
	opts.Frame = cmp.Or(opts.Frame, 33*time.Millisecond)
	if digits[opts.Version] == 0 {
		return nil, fmt.Errorf("acts: no version %d", opts.Version)
	}
	l, err := net.Listen("tcp", opts.Addr)
	if err != nil {
		return nil, fmt.Errorf("acts: %w", err)
	}
	s := &Server{opts: opts, listener: l, quit: make(chan struct{}), conns: map[net.Conn]bool{}}
	s.running.Go(s.accept)
	return s, nil
}

// Port returns the server's TCP port.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // for example out of descriptors: retry
			select {
			case <-s.quit:
				return
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			conn.Close()
			return
		}
		s.conns[conn] = true
		s.running.Go(func() { s.serve(conn) })
		s.mu.Unlock()
		s.count(func(st *State) { st.Accepted++; st.Conns++ })
	}
}

// serve answers one host until either side closes, or a host ends the program.
func (s *Server) serve(conn net.Conn) {
	defer func() {
		conn.Close()
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
		s.count(func(st *State) { st.Conns-- })
	}()
	for request := [1]byte{}; ; {
		if _, err := io.ReadFull(conn, request[:]); err != nil {
			return
		}
		switch request[0] {
		case requestPacket:
			s.count(func(st *State) { st.Requests++ })
			if !s.answer(conn) {
				return
			}
		case requestQuit:
			s.count(func(st *State) { st.Quits++ })
			s.end()
			return
		default:
			s.count(func(st *State) { st.Unknown++ })
		}
	}
}

// answer sends one packet, unless muted, and reports whether to continue.
func (s *Server) answer(conn net.Conn) bool {
	if !s.pause(s.opts.Frame) {
		return false
	}
	s.mu.Lock()
	packet, mute := s.opts.Version.appendPacket(nil, &s.blobs), s.mute
	s.mu.Unlock()
	if mute {
		return true
	}
	for piece := cmp.Or(s.opts.Split, len(packet)); len(packet) > 0; {
		n := min(piece, len(packet))
		if _, err := conn.Write(packet[:n]); err != nil {
			return false
		}
		if packet = packet[n:]; len(packet) > 0 && !s.pause(pieceGap) {
			return false
		}
	}
	s.count(func(st *State) { st.Answers++ })
	return true
}

// pause sleeps and reports whether Close did not interrupt it.
func (s *Server) pause(d time.Duration) bool {
	select {
	case <-s.quit:
		return false
	case <-time.After(d):
		return true
	}
}

// count changes the state and wakes every Wait.
func (s *Server) count(change func(*State)) {
	s.mu.Lock()
	change(&s.state)
	s.mu.Unlock()
	s.changes.Notify()
}

// SetBlobs sets the blobs of one colour, 0 to 31, from the next answer on.
func (s *Server) SetBlobs(channel int, blobs ...Blob) error {
	if channel < 0 || channel >= Channels {
		return fmt.Errorf("acts: channel %d, not 0 to %d", channel, Channels-1)
	}
	if err := s.opts.Version.check(blobs); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[channel] = append([]Blob(nil), blobs...)
	return nil
}

// Silence stops answering; connections stay open. Requests received meanwhile
// are never answered.
func (s *Server) Silence() { s.setMute(true) }

// Speak ends Silence.
func (s *Server) Speak() { s.setMute(false) }

func (s *Server) setMute(mute bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = mute
}

// HangUp closes all connections, also in the middle of an answer. The server
// keeps listening.
func (s *Server) HangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		conn.Close()
	}
}

// State returns the state so far.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Wait returns when cond holds, or with the error of ctx. It checks cond after each event of
// a host.
func (s *Server) Wait(ctx context.Context, cond func() bool) error {
	return s.changes.Wait(ctx, s.quit, cond)
}

// Close stops listening, closes all connections and waits until no goroutine
// runs.
func (s *Server) Close() {
	s.end()
	s.running.Wait()
}

// end stops listening and closes all connections.
func (s *Server) end() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.quit)
		s.listener.Close()
	}
	s.mu.Unlock()
	s.HangUp()
}
