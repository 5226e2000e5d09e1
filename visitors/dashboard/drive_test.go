package dashboard

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
	"player/e2e/needs"
	"player/visitors/roomtest"
)

// stubborn is a Player server with devices that take as long to set up as a test likes. Like
// a real one it delays the messages behind a request (PROTOCOL 2.7).
type stubborn struct {
	slow   map[byte]chan struct{} // by device: set up when it is closed
	lists  []string               // the answer to which devices it has; nil: it answers no questions
	denies atomic.Bool            // every device
	events chan string            // requests, commands, and clients that left, as they come
}

// open opens the drive socket of a page on the robot.
func (s *stubborn) open(t *testing.T) *tab {
	t.Helper()
	robot := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
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
	return open(t, servePage(t, Config{}), "/drive", robot.Addr().String())
}

func (s *stubborn) serve(t *testing.T, conn net.Conn) {
	devices := ""
	roomtest.Answer(conn, func(m codec.Message) []byte {
		if m.Kind == codec.KindRequest && m.Size == 0 {
			return codec.AppendBlock(nil, codec.KindReply, nil)
		}
		if s.lists != nil && m.Kind == codec.KindConfig && m.Payload[0] == codec.ConfigQuestion {
			return codec.AppendAnswer(nil, m.Payload[1], s.lists)
		}
		if m.Kind != codec.KindRequest {
			s.events <- fmt.Sprintf("%c%c % x", m.Kind, m.Device, m.Payload)
			return nil
		}
		devices += string(m.Payload[:1])
		s.events <- "request " + string(m.Payload)
		if setup := s.slow[m.Payload[0]]; setup != nil {
			select {
			case <-setup:
			case <-t.Context().Done():
			}
		}
		reply := []byte{codec.KindReply, 0, 2, m.Payload[0], m.Payload[1]}
		if s.denies.Load() {
			reply[4] = codec.AccessError
		}
		return reply
	})
	s.events <- "left " + devices
}

// until skips events until one is wanted, and fails if one is unwanted.
func (s *stubborn) until(t *testing.T, want string, unwanted ...string) {
	t.Helper()
	for timeout := time.After(roomtest.Patience); ; {
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

// Commands to the wheels (PROTOCOL 5.1).
const (
	ahead = "cp 01 2c 00 00"
	halt  = "cp 00 00 00 00"
)

// A camera that is never set up delays no command to the wheels, nor their stop when the page sends nothing more,
// or is closed.
func TestHungCamera(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	s := stubborn{slow: map[byte]chan struct{}{codec.PTZ: make(chan struct{})}}
	p := s.open(t)
	p.Send(`{"look":[1,2,3]}`)
	s.until(t, "request zw")
	p.Send(`{"look":[4,5,6]}`)
	p.Send(`{"drive":[300,0]}`)
	s.until(t, ahead)
	p.Send(`{"look":[7,8,9]}`)
	p.Send(`{"drive":[0,0]}`)
	s.until(t, halt, ahead)
	p.Send(`{"drive":[300,0]}`)
	s.until(t, ahead)
	p.Send(`{"look":[1,2,3]}`)
	s.until(t, halt)
	if why := p.await("error").(string); why != nothingHeard().Error() {
		t.Errorf("reported %q", why)
	}
	s.until(t, "left p") // and the wheels are given up
	p.Send(`{"drive":[300,0]}`)
	s.until(t, ahead)
	p.CloseNow()
	s.until(t, "left p")
}

// Each command to a refused device is answered with the reason, and the others go on. The Controller requests the
// device again later. An empty command needs no device.
func TestRefusedDevice(t *testing.T) {
	t.Parallel()
	var s stubborn
	s.denies.Store(true)
	p := s.open(t)
	for range 5 {
		p.Send(`{}`)
		p.Send(`{"look":[1,2,3]}`)
		if why := p.await("error").(string); !strings.Contains(why, "access to its camera") {
			t.Errorf("reported %q", why)
		}
	}
	s.until(t, "request zw")
	s.until(t, "left z", "request zw")
	s.denies.Store(false)
	p.Send(`{"drive":[300,0]}`)
	s.until(t, ahead, "request zw")
}

// A command goes to a device by its name. One that the robot does not have is reported, and other commands go on; a
// command that the device does not take ends the page.
func TestCommandByName(t *testing.T) {
	t.Parallel()
	var s stubborn
	p := s.open(t)
	p.Send(`{"device":"io:0","output":{"number":2,"value":1}}`)
	if why := p.await("error").(string); !strings.Contains(why, "does not have this device") {
		t.Errorf("reported %q", why)
	}
	p.Send(`{"device":"gripper:0","grip":[2,0]}`) // an older server has it, by its letter
	s.until(t, "request gw")
	s.until(t, "cg 02 00")
	p.Send(`{"device":"gripper:0","look":[1,2,3]}`)
	if reason := p.ended(); !strings.Contains(reason, "reload it") {
		t.Errorf("%s", reason)
	}
}

// A goal of a page is good for two seconds, and the page gives it up.
func TestGoal(t *testing.T) {
	t.Parallel()
	s := stubborn{lists: []string{"200 goto 0 goto"}}
	p := s.open(t)
	p.Send(`{"device":"goto:0","goal":{"x":4500,"y":-1200,"tag":7,"speed":300,"turn":60}}`)
	s.until(t, "xy 6c 07 d0")
	s.until(t, "request \xc8w")
	s.until(t, "c\u00c8 00 00 11 94 ff ff fb 50 ff ff 01 2c 00 3c 00 00 00 00 00 07")
	p.Send(`{"device":"goto:0","goal":{}}`)
	s.until(t, "c\u00c8 80 00 00 00"+strings.Repeat(" 00", 16))
	p.CloseNow()
	s.until(t, "left \xc8")
}
