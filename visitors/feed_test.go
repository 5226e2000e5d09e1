package visitors

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"player/client"
	"player/codec"
	"player/e2e/must"
	"player/visitors/roomtest"
)

// A Feed requests the devices that are wanted, and closes others. Without ages, it sends all data again after a
// request, because rounds may have come meanwhile, but not the data from before a device was
// closed; with ages, the data of an opened device. An error of granted ends it.
func TestFeed(t *testing.T) {
	t.Run("without ages", func(t *testing.T) { testFeed(t, false, "[X1]", "[X1 X2 U2]") })
	t.Run("with ages", func(t *testing.T) { testFeed(t, true, "[]", "[U2]") })
}

func testFeed(t *testing.T, ages bool, closed, reopened string) {
	synctest.Test(t, func(t *testing.T) {
		var requests, sent []string
		var failed error
		var open []byte
		rounds := 0
		here, there := net.Pipe()
		go roomtest.Answer(there, func(m codec.Message) []byte { // with data when a device is opened
			switch {
			case m.Kind != codec.KindRequest:
				return nil
			case m.Size == 0:
				return codec.AppendBlock(nil, codec.KindReply, nil)
			}
			requests = append(requests, string(m.Payload))
			reply := slices.Clone(m.Payload)
			var data []byte
			fresh := codec.FreshnessData{Time: 1000}
			opened := open[:0:0]
			for i := 0; i < len(reply); i += 2 {
				switch {
				case reply[i] == codec.Server && !ages:
					reply[i+1] = codec.AccessError
				case reply[i] == codec.Server:
				case reply[i+1] == codec.AccessRead:
					opened = append(opened, reply[i])
				default:
					open = slices.DeleteFunc(open, func(d byte) bool { return d == reply[i] })
				}
			}
			open = append(open, opened...)
			sends := open
			if ages { // only new data
				sends = opened
			}
			if len(opened) > 0 {
				rounds++
				for _, d := range sends {
					data = codec.AppendBlock(data, d, fmt.Appendf(nil, "%c%d", d, rounds))
					fresh.Ages = append(fresh.Ages, 0)
				}
				if ages {
					data = append(codec.AppendBlock(nil, codec.Server, fresh.Append(nil)), data...)
				}
			}
			return append(codec.AppendBlock(nil, codec.KindReply, reply), data...)
		})
		robot := client.New(here)
		f := NewFeed(func(context.Context) (*client.Client, func(), error) { return robot, func() {}, nil },
			func(string, []client.Access) error { return failed },
			func(news []News) error {
				for _, n := range news {
					sent = append(sent, string(n.Payload))
				}
				return nil
			})
		ended := make(chan error, 1)
		go func() { ended <- f.Run(t.Context()) }()
		check := func(what, wantRequests, wantSent string) {
			t.Helper()
			synctest.Wait()
			if got := fmt.Sprint(requests, sent); got != wantRequests+" "+wantSent {
				t.Errorf("%s: %s, want %s %s", what, got, wantRequests, wantSent)
			}
			requests, sent = nil, nil
		}
		check("at first", "[yr]", "[]")
		f.Want("XU", 10)
		check("two", "[XrUr]", "[X1 U1]")
		f.Want("X", 10)
		check("one", "[Uc]", closed)
		f.Want("XU", 10)
		check("again", "[Ur]", reopened)
		failed = errors.New("failed")
		if err := f.Request(Request{Pairs: "Wr"}); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != failed {
			t.Errorf("it ended with %v", err)
		}
		time.Sleep(time.Second) // Answer sees the end
	})
}

// While a request waits for a setup, the robot sends a round and then falls silent: the visitor gets the data of that
// round with the age that it has by the end of the setup.
func TestAgeBehindASetup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		began := time.Now()
		round := func(data string) []byte {
			fresh := codec.FreshnessData{Time: uint64(time.Since(began) / time.Microsecond), Ages: []uint32{0}}
			return codec.AppendBlock(codec.AppendBlock(nil, codec.Server, fresh.Append(nil)), 'X', []byte(data))
		}
		go roomtest.Answer(there, func(m codec.Message) []byte {
			if m.Kind != codec.KindRequest {
				return nil
			}
			reply := codec.AppendBlock(nil, codec.KindReply, m.Payload)
			switch string(m.Payload) {
			case "Xr":
				reply = append(reply, round("first")...)
			case "Ur":
				time.Sleep(time.Second)
				must.Get(there.Write(round("second")))(t)
				time.Sleep(3 * time.Second)
			}
			return reply
		})
		var sent []string
		robot := client.New(here)
		f := NewFeed(func(context.Context) (*client.Client, func(), error) { return robot, func() {}, nil },
			func(string, []client.Access) error { return nil },
			func(news []News) error {
				for _, n := range news {
					sent = append(sent, fmt.Sprintf("%s %v", n.Payload, n.Age))
				}
				return nil
			})
		f.Want("X", 10)
		go f.Run(t.Context())
		synctest.Wait()
		f.Want("XU", 10)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got, want := fmt.Sprint(sent), "[first 0s second 3s]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		robot.Close()
	})
}

// A visitor gets a robot's description of its devices before their data, and again when a laser is opened again, but not
// when another device is.
func TestEquipmentComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		go roomtest.Answer(there, func(m codec.Message) []byte {
			switch {
			case m.Kind == codec.KindConfig && m.Payload[0] == codec.ConfigQuestion:
				line := map[byte]string{codec.QuestionDevices: "108 laser 0 stage", codec.QuestionRays: "laser:0 0 361 0 0 90 -0.5 0 8000 0"}[m.Payload[1]]
				if line == "" {
					return codec.AppendAnswer(nil, m.Payload[1], nil)
				}
				return codec.AppendAnswer(nil, m.Payload[1], []string{line})
			case m.Kind != codec.KindRequest:
				return nil
			}
			reply := codec.AppendBlock(nil, codec.KindReply, m.Payload)
			if m.Size > 0 && m.Payload[0] != codec.Server && m.Payload[1] == codec.AccessRead {
				fresh := codec.FreshnessData{Time: 1000, Ages: []uint32{0}}
				reply = codec.AppendBlock(reply, codec.Server, fresh.Append(nil))
				reply = codec.AppendBlock(reply, m.Payload[0], []byte("data"))
			}
			return reply
		})
		var events []string
		robot := client.New(here)
		f := NewFeed(func(context.Context) (*client.Client, func(), error) { return robot, func() {}, nil },
			func(string, []client.Access) error { return nil },
			func(news []News) error { events = append(events, string(news[0].Device)); return nil })
		f.Equipped = func(e Equipment) error {
			events = append(events, fmt.Sprint(len(e.Devices), len(e.Rays), len(e.Channels)))
			return nil
		}
		f.Want("l", 10)
		go f.Run(t.Context())
		synctest.Wait()
		f.Want("lU", 10)
		synctest.Wait()
		f.Want("U", 10)
		synctest.Wait()
		f.Want("lU", 10)
		synctest.Wait()
		if got, want := fmt.Sprint(events), "[1 1 0 l U 1 1 0 l]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		robot.Close()
	})
}
