package web

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
	"player/config/rights"
)

const (
	// dialLimit is how long a robot may take to be reached, and then to say
	// that it is a Player server.
	dialLimit = 5 * time.Second
	// setupLimit is how long a robot may take to start its devices: a laser that
	// must be found at another speed takes more than ten seconds.
	setupLimit = 40 * time.Second
	// orderBacklog is how many orders may wait while devices start.
	orderBacklog = 64
)

// streamOrder is what a page says on a stream.
type streamOrder struct {
	Request string `json:"request"` // pairs of a device and r or c
	Rate    int    `json:"rate"`    // Hz
}

// streamReport is what a page is told on a stream besides data: the access
// that the server granted, by device. e: it failed or does not exist.
type streamReport struct {
	Access map[string]string `json:"access"`
}

// stream reads one robot for one page.
type stream struct {
	page    *page
	robot   *client.Client
	mailbox mailbox

	fresh   bool          // the server tells ages, and sends only what is new
	access  map[byte]byte // by device, as granted
	unsent  map[byte]bool // devices whose data the page has not
	rounds  uint32        // that came since the last message
	dropped uint32        // rounds that were merged into later ones
	behind  atomic.Bool   // rounds wait for an acknowledgement
	out     []byte
}

// stream serves one stream socket.
func (s *server) stream(ctx context.Context, p *page) error {
	if err := p.need(rights.Read); err != nil {
		return err
	}
	robot, err := p.dial(ctx)
	if err != nil {
		return err
	}
	defer robot.Close()
	st := stream{page: p, robot: robot, access: map[byte]byte{}, unsent: map[byte]bool{}}
	p.onAck = st.acknowledged
	return converse(ctx, p, st.mailbox.put, st.run)
}

// acknowledged has run look again whether the page has caught up.
func (s *stream) acknowledged() {
	if s.behind.Load() {
		s.mailbox.wake()
	}
}

// mailbox hands orders to the goroutine that reads the robot, and wakes it.
type mailbox struct {
	mu        sync.Mutex
	orders    []streamOrder
	interrupt context.CancelFunc // ends the present Read
}

func (m *mailbox) put(_ context.Context, o streamOrder) error {
	defer m.wake() // when unlocked
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.orders) == orderBacklog {
		return errors.New("the page asks for too much at once")
	}
	m.orders = append(m.orders, o)
	return nil
}

func (m *mailbox) wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.interrupt != nil {
		m.interrupt()
	}
}

// take returns the orders that there are. Later ones, and wake, will call
// interrupt.
func (m *mailbox) take(interrupt context.CancelFunc) []streamOrder {
	m.mu.Lock()
	defer m.mu.Unlock()
	orders := m.orders
	m.orders, m.interrupt = nil, interrupt
	return orders
}

// run alternates between orders and rounds of data.
func (s *stream) run(ctx context.Context) error {
	if err := s.greet(ctx); err != nil {
		return err
	}
	for {
		reading, interrupt := context.WithCancel(ctx)
		err := s.obey(ctx, s.mailbox.take(interrupt))
		if err == nil {
			err = s.send(ctx) // what waited for an acknowledgement
		}
		for err == nil {
			err = s.read(ctx, reading)
		}
		interrupt()
		if ctx.Err() != nil || !errors.Is(err, context.Canceled) {
			return err
		}
	}
}

// greet finds out whether this is a Player server that tells ages.
func (s *stream) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	err := s.robot.Request(ctx, "yr")
	if _, refused := errors.AsType[*client.AccessError](err); refused {
		return nil
	}
	if err != nil {
		return fmt.Errorf("this is no Player server: %w", err)
	}
	s.fresh = true
	return s.robot.SetFresh(true)
}

func (s *stream) obey(ctx context.Context, orders []streamOrder) error {
	for _, o := range orders {
		if o.Rate != 0 {
			if err := s.robot.SetFrequency(o.Rate); err != nil {
				return err
			}
		}
		if o.Request != "" {
			if err := s.request(ctx, o.Request); err != nil {
				return err
			}
		}
	}
	return nil
}

// request opens and closes devices for reading, and tells the page what came
// of it.
func (s *stream) request(ctx context.Context, pairs string) error {
	if err := checkPairs(pairs); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	err := s.robot.Request(limited, pairs)
	refused, _ := errors.AsType[*client.AccessError](err)
	if err != nil && refused == nil {
		return err
	}
	// Rounds that came meanwhile are in the client, and not new any more.
	for device, access := range s.access {
		s.unsent[device] = access == codec.AccessRead && s.robot.Has(device)
	}
	for i := 0; i < len(pairs); i += 2 {
		s.access[pairs[i]] = pairs[i+1]
	}
	if refused != nil {
		for _, d := range refused.Devices {
			s.access[d.Device] = d.Granted
		}
	}
	report := streamReport{map[string]string{}}
	for device, access := range s.access {
		report.Access[string(device)] = string(access)
	}
	return s.page.tell(ctx, report)
}

// checkPairs allows a page to read devices and to close them again. Device y is
// the stream's own.
func checkPairs(pairs string) error {
	for i := 0; i < len(pairs); i += 2 {
		if i+1 == len(pairs) || pairs[i] == codec.Server || !strings.ContainsRune("rc", rune(pairs[i+1])) {
			return fmt.Errorf("request %.60q of the page: want pairs of a device and r or c", pairs)
		}
	}
	return nil
}

// read waits for one round and sends it, unless reading ends before.
func (s *stream) read(ctx, reading context.Context) error {
	if !s.reads() {
		<-reading.Done()
		return reading.Err()
	}
	if err := s.robot.Read(reading); err != nil {
		return err
	}
	any := false
	for device, access := range s.access {
		if access == codec.AccessRead && s.robot.New(device) {
			s.unsent[device], any = true, true
		}
	}
	if any {
		s.rounds++
	}
	return s.send(ctx)
}

// send sends what has come since the last message as soon as the page has caught
// up: if it has not, its next acknowledgement has run call send again.
func (s *stream) send(ctx context.Context) error {
	if s.rounds == 0 {
		return nil
	}
	s.behind.Store(true) // before looking: an acknowledgement may come just now
	if s.page.full() {
		return nil
	}
	s.behind.Store(false)
	s.dropped += s.rounds - 1
	s.rounds = 0
	s.page.sent++
	s.out = s.appendFrame(s.out[:0])
	return s.page.data(ctx, s.out)
}

// reads says that rounds are to be expected.
func (s *stream) reads() bool {
	for _, access := range s.access {
		if access == codec.AccessRead {
			return true
		}
	}
	return s.fresh
}

// appendFrame appends a message of all data that the page has not been sent,
// and counts it as sent.
func (s *stream) appendFrame(dst []byte) []byte {
	dst = appendFrameHeader(dst, s.page.sent, s.dropped)
	for device, unsent := range s.unsent {
		if unsent && s.access[device] == codec.AccessRead {
			age, known := s.robot.Age(device)
			dst = appendFrameBlock(dst, device, age, known, s.robot.Raw(device))
		}
	}
	clear(s.unsent)
	return dst
}
