package tools_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
	"player/e2e/needs"
	"player/tools"
	"player/tools/stop"
)

// patience bounds the waits for expected events.
const patience = 20 * time.Second

// fake is a server for one client: it grants position, and answers an empty
// request. Then the robot moves with each speed of the script for a round, with
// data that is age us old, and stays at the last one.
type fake struct {
	listener net.Listener
	heard    chan string // all that the client has sent, at its end
}

func newFake(t *testing.T, grant string, age uint32, speeds ...int16) *fake {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	f := &fake{l, make(chan string, 1)}
	go f.serve(grant, age, speeds)
	t.Cleanup(func() { l.Close() })
	return f
}

func (f *fake) serve(grant string, age uint32, speeds []int16) {
	conn, err := f.listener.Accept()
	if err != nil {
		return // the test has ended
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience)) // of a TCP connection: it cannot fail
	var heard []byte
	replies := 2
	if strings.Contains(grant, "e") { // the client asks why
		replies++
	}
	for replies > 0 {
		message := make([]byte, 4)
		if _, err := io.ReadFull(conn, message); err != nil {
			break
		}
		payload := make([]byte, int(message[2])<<8|int(message[3]))
		if _, err := io.ReadFull(conn, payload); err != nil {
			break
		}
		heard = append(append(heard, message...), payload...)
		if message[0] == 'd' {
			reply := []byte(grant)[:len(payload)]
			_, _ = conn.Write(codec.AppendBlock(nil, 'r', reply)) // the client may have left
			replies--
		}
	}
	go func() {
		rest, _ := io.ReadAll(conn)
		f.heard <- string(append(heard, rest...))
	}()
	for i := 0; ; i++ {
		speed := speeds[min(i, len(speeds)-1)]
		round := codec.AppendBlock(nil, 'y', (&codec.FreshnessData{Time: uint64(1+i) * 1e6, Ages: []uint32{age}}).Append(nil))
		round = codec.AppendBlock(round, 'p', (&codec.PositionData{Speed: speed}).Append(nil))
		if _, err := conn.Write(round); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond) // the period of the rounds
	}
}

const (
	named    = "xy\x00\x0cwplayer stop"
	opened   = "dr\x00\x04yrpa"
	stopped  = "xy\x00\x02e\x01"
	released = "xy\x00\x02e\x00"
	asked    = "xy\x00\x02z\x02" + "dr\x00\x00" // the client library asks for compact frames first
)

// The command stops the robot, and waits until it has stopped; or it releases it.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		f          *fake
		args       []string
		sent, says string
	}{
		{newFake(t, "yrpa", 100, 300, 150, 0), nil, stopped, "stopped: "},
		{newFake(t, "yrpa", 100, 300), []string{"-release"}, released, "released: "},
	} {
		var out bytes.Buffer
		must.Do(t, stop.Command().Run(t.Context(), append(tt.args, tt.f.listener.Addr().String()), &out, nil))
		if got := <-tt.f.heard; got != named+tt.sent+asked+opened {
			t.Errorf("the server was sent %q", got)
		}
		if !strings.HasPrefix(out.String(), tt.says) {
			t.Error(out.String())
		}
	}
}

// The output for programs has whether the stop is on, and whether the robot has stopped.
func TestStopForPrograms(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	for _, tt := range []struct {
		name   string
		f      *fake
		args   []string
		want   string
		failed bool
	}{
		{"stands", newFake(t, "yrpa", 100, 300, 0), nil, `{"stopped":true,"stands":true}`, false},
		{"moves on", newFake(t, "yrpa", 100, 300), nil, `{"stopped":true,"stands":false}`, true},
		{"released", newFake(t, "yrpa", 100, 300), []string{"-release"}, `{"stopped":false}`, false},
		{"forbidden", newFake(t, "yrpe", 100, 0), nil, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := stop.Command().Run(t.Context(), append(tt.args, "-json", tt.f.listener.Addr().String()), &out, nil)
			if _, failed := errors.AsType[tools.Failure](err); failed != tt.failed || (err == nil) != (tt.want != "" && !tt.failed) {
				t.Error(err)
			}
			if got := strings.TrimSpace(out.String()); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// Both a robot that moves on, and one with data from before the stop, are failures.
func TestStopInVain(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	for name, f := range map[string]*fake{
		"moves on":  newFake(t, "yrpa", 100, 0, 300),
		"stale":     newFake(t, "yrpa", codec.NoAge-1, 0),
		"dataless":  newFake(t, "yrpa", codec.NoAge, 0),
		"no ages":   newFake(t, "yepa", 0, 0),
		"forbidden": newFake(t, "yrpe", 100, 0),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := stop.Command().Run(t.Context(), []string{f.listener.Addr().String()}, &out, nil)
			_, failed := errors.AsType[tools.Failure](err)
			switch name {
			case "no ages": // the block of y is of no device that was opened
				if err != nil {
					t.Errorf("%v", err)
				}
			case "forbidden":
				if failed || err == nil || !strings.Contains(err.Error(), "granted 'e'") {
					t.Errorf("%v", err)
				}
			default:
				if !failed || !strings.Contains(err.Error(), "does not report that it stands") || out.Len() > 0 {
					t.Errorf("%v, %s", err, out.String())
				}
			}
		})
	}
}
