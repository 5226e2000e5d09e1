package web

import (
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
)

// stubborn is a Player server whose devices take as long to set up as a test
// likes. Like a real one it holds back what is sent behind a request
// (PROTOCOL 2.7).
type stubborn struct {
	slow   map[byte]chan struct{} // by device: set up when it is closed
	denies atomic.Bool            // every device
	events chan string            // requests, commands, and who left, as they come
}

// open opens the drive socket of a page on the robot.
func (s *stubborn) open(t *testing.T) *tab {
	t.Helper()
	robot, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { robot.Close() })
	s.events = make(chan string, 1000)
	go func() {
		for {
			conn, err := robot.Accept()
			if err != nil {
				return
			}
			go s.serve(t, conn)
		}
	}()
	page := httptest.NewServer(newHandler(t.Context(), Config{Log: zap.NewNop()}))
	t.Cleanup(page.Close)
	return (&lab{t: t, url: page.URL}).open("/drive", robot.Addr().String())
}

func (s *stubborn) serve(t *testing.T, conn net.Conn) {
	defer conn.Close()
	var decoder codec.Decoder
	in, devices := make([]byte, 4096), ""
	for {
		n, err := conn.Read(in)
		if err != nil {
			s.events <- "left " + devices
			return
		}
		for rest := in[:n]; ; {
			var m codec.Message
			var ok bool
			if m, rest, ok = decoder.Next(rest); !ok {
				break
			}
			if m.Kind != codec.KindRequest {
				s.events <- fmt.Sprintf("%c%c % x", m.Kind, m.Device, m.Payload)
				continue
			}
			devices += string(m.Payload[:1])
			s.events <- "request " + string(m.Payload)
			if setup := s.slow[m.Payload[0]]; setup != nil {
				select {
				case <-setup:
				case <-t.Context().Done():
					return
				}
			}
			reply := []byte{codec.KindReply, 0, 2, m.Payload[0], m.Payload[1]}
			if s.denies.Load() {
				reply[4] = codec.AccessError
			}
			_, _ = conn.Write(reply) // fails when the page has left, which is seen next
		}
	}
}

// until skips events until one is wanted, and fails if one is unwanted.
func (s *stubborn) until(t *testing.T, want string, unwanted ...string) {
	t.Helper()
	for timeout := time.After(patience); ; {
		select {
		case event := <-s.events:
			if event == want {
				return
			}
			for _, u := range unwanted {
				if event == u {
					t.Fatalf("%s before %s", event, want)
				}
			}
		case <-timeout:
			t.Fatalf("waited in vain: %s", want)
		}
	}
}

// What the wheels are told, by PROTOCOL 5.1.
const (
	ahead = "cp 01 2c 00 00"
	halt  = "cp 00 00 00 00"
)

// A camera that is never set up delays no order to the wheels.
func TestHungCamera(t *testing.T) {
	s := stubborn{slow: map[byte]chan struct{}{codec.PTZ: make(chan struct{})}}
	p := s.open(t)
	p.order(`{"look":[1,2,3]}`)
	s.until(t, "request zw")
	p.order(`{"look":[4,5,6]}`)
	p.order(`{"drive":[300,0]}`)
	s.until(t, ahead)
	p.order(`{"look":[7,8,9]}`)
	p.order(`{"drive":[0,0]}`)
	s.until(t, halt, ahead)
}

// A page that falls silent after it has asked for a camera that is never set up.
func TestHungCameraDeadMan(t *testing.T) {
	s := stubborn{slow: map[byte]chan struct{}{codec.PTZ: make(chan struct{})}}
	p := s.open(t)
	p.order(`{"drive":[300,0]}`)
	s.until(t, ahead)
	p.order(`{"look":[1,2,3]}`)
	s.until(t, halt)
	if why := p.told("error").(string); !strings.Contains(why, "nothing heard") {
		t.Errorf("told %q", why)
	}
	s.until(t, "request pc") // and the wheels are given up
}

// A page that is closed while it drives, and waits for a camera that is never
// set up.
func TestHungCameraClosedPage(t *testing.T) {
	s := stubborn{slow: map[byte]chan struct{}{codec.PTZ: make(chan struct{})}}
	p := s.open(t)
	p.order(`{"drive":[300,0]}`)
	s.until(t, ahead)
	for range 3 {
		p.order(`{"look":[1,2,3]}`)
	}
	s.until(t, "request zw")
	p.ws.CloseNow()
	s.until(t, "left p")
}

// What was ordered while the wheels were set up may not be wanted any more.
func TestLateDrive(t *testing.T) {
	setup := make(chan struct{})
	s := stubborn{slow: map[byte]chan struct{}{codec.Position: setup}}
	p := s.open(t)
	p.order(`{"drive":[300,0]}`)
	s.until(t, "request pw")
	time.Sleep(deadMan)
	close(setup)
	s.until(t, halt, ahead)
	p.order(`{"drive":[300,0]}`)
	s.until(t, ahead)
}

// A device that was refused is asked for again, but not with every order.
func TestRefusedDevice(t *testing.T) {
	var s stubborn
	s.denies.Store(true)
	p := s.open(t)
	for range 5 {
		p.order(`{"look":[1,2,3]}`)
		if why := p.told("error").(string); !strings.Contains(why, "device z") {
			t.Errorf("told %q", why)
		}
	}
	s.denies.Store(false)
	s.until(t, "request zw")
	for asked := time.Now(); len(s.events) == 0; time.Sleep(100 * time.Millisecond) {
		if time.Since(asked) > patience {
			t.Fatal("it is not asked for again")
		}
		p.order(`{"look":[1,2,3]}`)
	}
	s.until(t, "cz 00 01 00 02 00 03")
}

// Of the orders that wait for a commander the newest ones count.
func TestWaitingOrders(t *testing.T) {
	c := newCommander(nil, codec.Position, nil)
	on := true
	for _, o := range []driveOrder{
		{Drive: &[2]int{300, 0}}, {Reset: true}, {Motors: &on}, {Drive: &[2]int{0, 0}}, {Look: &[3]int{1, 2, 3}}, {Look: &[3]int{4, 5, 6}}, {Grip: &[2]uint8{1, 0}}, {},
	} {
		c.put(o)
	}
	if o := <-c.orders; *o.Drive != [2]int{0, 0} || !o.Reset || !*o.Motors || *o.Look != [3]int{4, 5, 6} || *o.Grip != [2]uint8{1, 0} {
		t.Errorf("what waits is %+v", o)
	}
	// Other orders do not make a command to drive newer.
	old := time.Now().Add(-deadMan)
	if o := (driveOrder{Drive: &[2]int{300, 0}, heard: old}).with(driveOrder{Reset: true, heard: time.Now()}); o.heard != old {
		t.Error("an order to drive was renewed by another")
	}
}

// Nobody who reports waits for the page.
func TestReport(t *testing.T) {
	r := report{news: make(chan struct{}, 1)}
	r.holds(codec.PTZ, true)
	r.holds(codec.Position, true)
	r.failed(fmt.Errorf("one"))
	r.failed(fmt.Errorf("another"))
	r.holds(codec.PTZ, false)
	<-r.news
	if got := r.take(); got != (driveReport{"p", "another"}) {
		t.Errorf("reported %+v", got)
	}
	if got := r.take(); got != (driveReport{Held: "p"}) {
		t.Errorf("reported %+v again", got)
	}
}
