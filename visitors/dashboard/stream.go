package dashboard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"player/client"
	"player/codec"
	"player/visitors"
)

const (
	// dialLimit is how long a robot may take for its first reply. Even a poor wireless network needs less than a second.
	dialLimit = 5 * time.Second
	// setupLimit is how long a robot may take to start its devices: a laser whose
	// line speed must be found takes more than ten seconds.
	setupLimit = 40 * time.Second
	// maxRate is the highest rate that a page may request, in Hz: the page offers no
	// higher one, and screens show little more.
	maxRate = 50
	// maxQueued is how many requests may wait while devices start: a user who
	// clicks makes far fewer.
	maxQueued = 64
)

// streamRequest is a command of a page to a stream. Both fields are optional. The first one
// is in the query of the stream's address: it costs no round trip.
type streamRequest struct {
	Request string `json:"request"` // pairs of a device and r or c
	Rate    int    `json:"rate"`    // Hz
}

// streamReport is sent to a page after each request: the access to all devices
// requested so far, as granted by the robot, by device. e: the device failed or
// does not exist.
type streamReport struct {
	Access  map[string]string       `json:"access"`
	Refused map[string]streamReason `json:"refused,omitempty"` // why it is e, if the robot says so
}

// streamReason is why a device is refused.
type streamReason struct {
	Why  codec.Why `json:"why"`
	Text string    `json:"text"` // for people
}

// stream sends the data of one robot to one page.
type stream struct {
	socket  *socket
	robot   *client.Client
	newest  *newest // nil: no other page is told of this robot
	mailbox mailbox

	fresh   bool          // the robot's server sends ages, and only new data
	access  map[byte]byte // by device, as granted
	refused map[byte]streamReason
	unsent  map[byte]bool // devices with data that the dashboard does not have
	rounds  uint32        // received since the last message
	dropped uint32        // rounds that were merged into later ones
	waiting atomic.Bool   // rounds wait for an acknowledgement
	out     []byte
}

// stream serves one stream socket.
func (s *server) stream(ctx context.Context, sock *socket) error {
	robot, closed, err := sock.dial(ctx)
	if err != nil {
		return err
	}
	defer closed()
	defer robot.Close()
	st := stream{socket: sock, robot: robot, access: map[byte]byte{}, refused: map[byte]streamReason{}, unsent: map[byte]bool{}}
	if s.lists(sock.robot) {
		st.newest = &s.newest
	}
	sock.onAck = st.acknowledged
	st.mailbox.requests = append(st.mailbox.requests, sock.first)
	return converse(ctx, sock, st.mailbox.put, st.run)
}

// acknowledged interrupts run if data waits for the acknowledgement.
func (s *stream) acknowledged() {
	if s.waiting.Load() {
		s.mailbox.Wake()
	}
}

// mailbox hands requests to the goroutine that reads the robot, and wakes it.
type mailbox struct {
	visitors.Turns
	mu       sync.Mutex
	requests []streamRequest
}

func (m *mailbox) put(_ context.Context, message []byte) error {
	var r streamRequest
	if err := decodeCommand(message, &r); err != nil {
		return err
	}
	defer m.Wake()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == maxQueued {
		return visitors.Notice{Text: "too many requests wait for devices to start"}
	}
	m.requests = append(m.requests, r)
	return nil
}

// take returns the waiting requests.
func (m *mailbox) take() []streamRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	requests := m.requests
	m.requests = nil
	return requests
}

// run executes requests and reads rounds of data, in turn.
func (s *stream) run(ctx context.Context) error {
	if err := s.identify(ctx); err != nil {
		return err
	}
	return s.mailbox.Run(ctx, func(reading context.Context) error {
		err := s.execute(ctx, s.mailbox.take())
		if err == nil {
			err = s.send(ctx) // an acknowledgement may have arrived
		}
		for err == nil {
			err = s.read(ctx, reading)
		}
		return err
	})
}

// identify checks that this is a Player server, and subscribes to ages if it
// supports them.
func (s *stream) identify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	err := s.robot.Request(ctx, "yr")
	if _, refused := errors.AsType[*client.AccessError](err); refused {
		return nil
	}
	if err != nil {
		return visitors.Notice{Text: "this is not a Player server", Cause: err}
	}
	s.fresh = true
	return s.robot.SetFresh(true)
}

func (s *stream) execute(ctx context.Context, requests []streamRequest) error {
	for _, r := range requests {
		if r.Rate != 0 {
			if err := s.robot.SetFrequency(min(r.Rate, maxRate)); err != nil {
				return unfit(err)
			}
		}
		if r.Request != "" {
			if err := s.request(ctx, r.Request); err != nil {
				return err
			}
		}
	}
	return nil
}

// request opens and closes devices for reading, and reports the result to the
// page.
func (s *stream) request(ctx context.Context, pairs string) error {
	if err := checkPairs(pairs); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	err := s.robot.Request(limited, pairs)
	denied, _ := errors.AsType[*client.AccessError](err)
	if err != nil && denied == nil {
		return err
	}
	// The client has read rounds while it waited for the reply: their data counts
	// as unsent, though the client no longer reports it as new.
	for device, access := range s.access {
		s.unsent[device] = access == codec.AccessRead && s.robot.Has(device)
	}
	for i := 0; i < len(pairs); i += 2 {
		s.access[pairs[i]] = pairs[i+1]
		delete(s.refused, pairs[i])
	}
	if denied != nil {
		for _, d := range denied.Devices {
			s.access[d.Device] = d.Granted
			if d.Why != "" {
				s.refused[d.Device] = streamReason{d.Why, d.Text}
			}
		}
	}
	for device, unsent := range s.unsent {
		if unsent && s.access[device] == codec.AccessRead {
			s.rounds = max(s.rounds, 1) // run sends it now: the device may have no new data for long
		}
	}
	report := streamReport{map[string]string{}, map[string]streamReason{}}
	for device, access := range s.access {
		report.Access[string(device)] = string(access)
	}
	for device, reason := range s.refused {
		report.Refused[string(device)] = reason
	}
	return s.socket.sendJSON(ctx, report)
}

// checkPairs returns an error unless a request only opens devices for reading and
// closes them. Device y is reserved for the stream.
func checkPairs(pairs string) error {
	for i := 0; i < len(pairs); i += 2 {
		if i+1 == len(pairs) || pairs[i] == codec.Server || !strings.ContainsRune("rc", rune(pairs[i+1])) {
			return unfit(fmt.Errorf("request %s: want pairs of a device and r or c", visitors.Quote(pairs)))
		}
	}
	return nil
}

// read waits for a round and sends it. It returns when reading ends.
func (s *stream) read(ctx, reading context.Context) error {
	if !s.reads() {
		<-reading.Done()
		return reading.Err()
	}
	if err := s.robot.Read(reading); err != nil {
		return err
	}
	isNew := false
	for device, access := range s.access {
		if access == codec.AccessRead && s.robot.New(device) {
			s.unsent[device], isNew = true, true
		}
	}
	if isNew {
		s.rounds++
	}
	return s.send(ctx)
}

// send sends the unsent data unless the dashboard is congested. In that case run calls
// send again after the next acknowledgement.
func (s *stream) send(ctx context.Context) error {
	if s.rounds == 0 {
		return nil
	}
	s.waiting.Store(true) // first: an acknowledgement may arrive after the check
	if s.socket.congested() {
		return nil
	}
	s.waiting.Store(false)
	s.dropped += s.rounds - 1
	s.rounds = 0
	s.socket.sent++
	s.out = s.appendFrame(s.out[:0])
	return s.socket.sendData(ctx, s.out)
}

// reads reports whether the robot's server sends rounds.
func (s *stream) reads() bool {
	for _, access := range s.access {
		if access == codec.AccessRead {
			return true
		}
	}
	return s.fresh
}

// appendFrame appends a message with all unsent data, which counts as sent then.
func (s *stream) appendFrame(dst []byte) []byte {
	dst = appendFrameHeader(dst, s.socket.sent, s.dropped)
	for device, unsent := range s.unsent {
		if unsent && s.access[device] == codec.AccessRead {
			age, known := s.robot.Age(device)
			dst = appendFrameBlock(dst, device, age, known, s.robot.Raw(device))
			if s.newest != nil {
				s.newest.put(s.socket.robot, device, age, known, s.robot.Raw(device))
			}
		}
	}
	clear(s.unsent)
	return dst
}
