package acts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"

	"player/codec"
	"player/devices"
	"player/devices/devicetest"
	"player/devices/retry"
)

const (
	likely  = "127.0.0.1:5001"
	swapped = "127.0.0.1:35091"
)

func TestAddresses(t *testing.T) {
	for port, want := range map[int][]string{
		5001:  {likely, swapped},
		35091: {swapped, likely},
		257:   {"127.0.0.1:257"}, // the same bytes
	} {
		if got := New(port, "").addresses; !slices.Equal(got, want) {
			t.Errorf("port %d: %q, want %q", port, got, want)
		}
	}
}

// TestGolden plays the recorded servers: the driver's actions and its data.
func TestGolden(t *testing.T) {
	for name, address := range map[string]string{"acts10": swapped, "acts12": likely} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.servers[address] = answers(100*ms, recording(t, name+".hex"))
			w.Subscribe()
			w.Pass(250 * ms)
			w.note("data % X", w.vision.Data())
			w.Unsubscribe()
			devicetest.Golden(t, "testdata/"+name+".golden", []byte(strings.Join(w.story, "\n")+"\n"))
			// PROTOCOL 7.7: clients get version 1.0, from every version of ACTS.
			if data := recording(t, "acts10.hex"); !bytes.Equal(w.vision.Data(), data) {
				t.Errorf("published % X, want % X", w.vision.Data(), data)
			}
		})
	}
}

func TestImages(t *testing.T) {
	full10, full12 := V10.AppendPacket(nil, fullImage()), V12.AppendPacket(nil, fullImage())
	empty10, empty12 := V10.AppendPacket(nil, nil), V12.AppendPacket(nil, nil)
	wrapped := bytes.Clone(full10)
	for channel := 26; channel < codec.VisionChannels; channel++ {
		wrapped[2*channel] = byte(10*channel) + 2
	}
	last := []Blob{{Channel: 31, Area: 5}} // all channels of the first half are empty
	middle := []Blob{{15, 5, 1, 2, 3, 4, 5, 6}, {15, 5, 1, 2, 3, 4, 5, 6}}
	for _, tt := range []struct {
		name   string
		pieces [][]byte
		want   []byte
		hz     int // in a second
	}{
		{"1.0", [][]byte{full10}, full10, 30},
		{"1.0 with indices that wrap", [][]byte{wrapped}, full10, 30},
		{"1.0 cut", [][]byte{full10[:30], full10[30:70], full10[70:]}, full10, 30},
		{"1.0 without blobs", [][]byte{empty10}, empty10, 20}, // 1 ms and settleTime
		{"1.0 without blobs cut", [][]byte{empty10[:1], empty10[1:]}, empty10, 20},
		{"1.0 last channel", [][]byte{V10.AppendPacket(nil, last)}, V10.AppendPacket(nil, last), 30},
		{"1.2", [][]byte{full12}, full10, 30},
		{"1.2 cut", [][]byte{full12[:64], full12[64:128], full12[128:]}, AppendV10(nil, full12), 30},
		{"1.2 without blobs", [][]byte{empty12}, empty10, 30},
		{"1.2 without blobs cut", [][]byte{empty12[:64], empty12[64:]}, empty10, 30},
		{"1.2 last channel", [][]byte{V12.AppendPacket(nil, last)}, V10.AppendPacket(nil, last), 30},
		{"1.2 last channel of the first half", [][]byte{V12.AppendPacket(nil, middle)}, V10.AppendPacket(nil, middle), 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.servers[likely] = answers(ms, tt.pieces...)
			w.Subscribe()
			w.Pass(100 * ms)
			if len(w.Done) != 1 || w.Done[0] != nil {
				t.Fatalf("setup %v", w.Done)
			}
			seq := w.vision.Seq()
			w.Pass(time.Second)
			if got := w.vision.Seq() - seq; got < uint64(tt.hz)-1 || got > uint64(tt.hz)+1 {
				t.Errorf("%d images a second, want %d", got, tt.hz)
			}
			if !bytes.Equal(w.vision.Data(), tt.want) {
				t.Errorf("% X, want % X", w.vision.Data(), tt.want)
			}
			if got := w.messages(zapcore.WarnLevel); got != nil {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestVersionIsFoundWithTheFirstBlob: a packet of V12 that was cut where one of
// V10 could end does no lasting harm.
func TestVersionIsFoundWithTheFirstBlob(t *testing.T) {
	w := newWorld(t)
	empty, full := V12.AppendPacket(nil, nil), V12.AppendPacket(nil, fullImage())
	requests := 0
	w.servers[likely] = func(c *conn, _ byte) {
		requests++
		if requests > 1 {
			w.After(ms, func() { c.Say(full) })
			return
		}
		w.After(ms, func() { c.Say(empty[:64]) })
		w.After(200*ms, func() { c.Say(empty[64:]) }) // after the second answer
	}
	w.Subscribe()
	w.Pass(time.Second)
	if want := AppendV10(nil, full); !bytes.Equal(w.vision.Data(), want) {
		t.Errorf("% X, want % X", w.vision.Data(), want)
	}
}

// TestPacing: a server that answers at once does not make the loop spin, and
// a slower one is asked again at once.
func TestPacing(t *testing.T) {
	packet := recording(t, "acts10.hex")
	for delay, want := range map[time.Duration]int{
		0:                     30,
		33 * ms:               30,
		33366 * ms / 1000:     29, // NTSC
		40 * ms:               25, // PAL
		500 * ms:              2,
		silenceLimit - 100*ms: 0,
	} {
		w := newWorld(t)
		w.servers[likely] = answers(delay, packet)
		w.Subscribe()
		w.Pass(silenceLimit)
		before := w.count("> 30")
		w.Pass(time.Second)
		if got := w.count("> 30") - before; got < want || got > want+1 {
			t.Errorf("%d requests a second to a server that takes %v, want %d", got, delay, want)
		}
	}
}

// TestSetupFails: how a client and the log learn that there is no ACTS.
func TestSetupFails(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(w *world)
		after   time.Duration
		want    string
		signals []syscall.Signal // to the program
	}{
		{"nothing listens, no program", func(*world) {}, 0,
			"nothing listens on 127.0.0.1:5001 or 127.0.0.1:35091, and there is no program acts in PATH", nil},
		{"the same, refused later", func(w *world) { w.late = true }, 0,
			"there is no program acts in PATH", nil},
		{"the program does not listen", func(w *world) { w.installed = true }, setupLimit,
			"gave up after 6s: dial 127.0.0.1:5001: connection refused; dial 127.0.0.1:35091: connection refused", []syscall.Signal{syscall.SIGKILL}},
		{"the program ends", func(w *world) {
			w.installed = true
			w.After(time.Second, func() { w.programs[0].exit(errors.New("exit status 3")) })
		}, time.Second, "the program acts ended before it answered: exit status 3", nil},
		{"the program ends well", func(w *world) {
			w.installed = true
			w.After(time.Second, func() { w.programs[0].exit(nil) })
		}, time.Second, "exit status 0", nil},
		{"a silent server", func(w *world) { w.servers[likely], w.installed = silent, true }, setupLimit,
			"127.0.0.1:5001: it is connected, but does not answer a request: is it ACTS?; dial 127.0.0.1:35091: connection refused", nil},
		{"two silent servers", func(w *world) { w.servers[likely], w.servers[swapped] = silent, silent }, setupLimit,
			"127.0.0.1:35091: it is connected, but does not answer", nil},
		{"a server that closes", func(w *world) { w.servers[swapped], w.installed = closes, true }, setupLimit,
			"dial 127.0.0.1:5001: connection refused; 127.0.0.1:35091: EOF", nil},
		{"a server of something else", func(w *world) {
			w.servers[likely], w.installed = answers(ms, []byte("HTTP/1.1 400 Bad Request\r\n")), true
		}, setupLimit, "127.0.0.1:5001: it is connected, but does not answer a request", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.prepare(w)
			w.Subscribe()
			if tt.after > 0 {
				w.Pass(tt.after - ms)
				if w.Done != nil {
					t.Fatalf("ended too early: %v", w.Done)
				}
			}
			w.Pass(2 * ms)
			if len(w.Done) != 1 || w.Done[0] == nil || !strings.HasPrefix(w.Done[0].Error(), "acts 5001: ") || !strings.Contains(w.Done[0].Error(), tt.want) {
				t.Fatalf("setup %v, want %q", w.Done, tt.want)
			}
			if w.Link.State() != devices.Idle || w.Deadline(w.Link) != 0 || w.conn != nil && !w.conn.Closed {
				t.Errorf("link %v, deadline %v", w.Link.State(), w.Deadline(w.Link))
			}
			var signals []syscall.Signal
			for _, p := range w.programs {
				signals = append(signals, p.signals...)
			}
			if !slices.Equal(signals, tt.signals) {
				t.Errorf("signals %v, want %v", signals, tt.signals)
			}
			// The next try does as well as a first one.
			w.servers[likely] = answers(ms, recording(t, "acts10.hex"))
			w.Subscribe()
			w.Pass(time.Second)
			if len(w.Done) != 2 || w.Done[1] != nil {
				t.Errorf("second setup %v", w.Done)
			}
		})
	}
}

// TestProgram: ACTS is started if nothing listens, found as soon as it
// listens, and taken down at the end.
func TestProgram(t *testing.T) {
	for _, stays := range []bool{false, true} {
		w := newWorld(t)
		w.installed = true
		w.Subscribe()
		w.programs[0].stays = stays
		w.After(4*time.Second, func() { w.servers[swapped] = answers(33*ms, recording(t, "acts10.hex")) })
		w.Pass(4200 * ms)
		if len(w.Done) != 1 || w.Done[0] != nil {
			t.Fatalf("setup %v", w.Done)
		}
		if w.count("start acts -t /etc/colours -s 5001") != 1 {
			t.Errorf("%q", w.story)
		}
		w.Pass(10 * time.Second)
		w.Unsubscribe()
		if w.Link.State() != devices.Stopping {
			t.Errorf("link %v before the program has ended", w.Link.State())
		}
		w.Pass(2 * time.Second)
		want := []syscall.Signal{syscall.SIGTERM}
		if stays {
			want = append(want, syscall.SIGKILL)
		}
		if got := w.programs[0].signals; !slices.Equal(got, want) || len(w.programs) != 1 {
			t.Errorf("%d programs, signals %v, want %v", len(w.programs), got, want)
		}
		if w.Link.State() != devices.Idle || w.Log.FilterMessage(devices.LogCutOff).Len() > 0 {
			t.Errorf("link %v", w.Link.State())
		}
		if n := len(w.story); !strings.HasSuffix(w.story[n-1], "signal "+want[len(want)-1].String()) || w.count("> 31") != 1 {
			t.Errorf("%q", w.story[n-5:])
		}
	}
}

// TestShutdownDuringSetup: the client has left, or the server ends.
func TestShutdownDuringSetup(t *testing.T) {
	for after := time.Duration(0); after < setupLimit; after += 430 * ms {
		for name, s := range map[string]server{"refused": nil, "silent": silent} {
			w := newWorld(t)
			w.installed = true
			if s != nil {
				w.servers[likely] = s
			}
			w.Subscribe()
			w.Pass(after)
			w.Unsubscribe()
			w.Pass(time.Second)
			for _, p := range w.programs {
				if !p.ended {
					t.Errorf("%s, after %v: the program runs", name, after)
				}
			}
			if w.Link.State() != devices.Idle || w.Deadline(w.Link) != 0 || w.conn != nil && !w.conn.Closed || w.Done != nil {
				t.Errorf("%s, after %v: link %v, deadline %v, setup %v", name, after, w.Link.State(), w.Deadline(w.Link), w.Done)
			}
		}
	}
}

// TestLost: after any loss the connection is made again, every
// second, without a request of a client.
func TestLost(t *testing.T) {
	good := answers(40*ms, recording(t, "acts10.hex"))
	for _, tt := range []struct {
		name  string
		lose  func(w *world)
		after time.Duration // until it is noticed
		why   string
	}{
		{"closed", func(w *world) { delete(w.servers, likely); w.conn.Fail(io.EOF) }, 0, "127.0.0.1:5001: EOF"},
		{"reset at a write", func(w *world) { delete(w.servers, likely); w.conn.reset = true }, 100 * ms, "connection reset"},
		{"silent", func(w *world) { w.servers[likely] = silent }, silenceLimit + 100*ms, "does not answer"},
		{"noise only", func(w *world) {
			noise := answers(10*ms, bytes.Repeat([]byte{0xFF, 0, 1}, 10000))
			w.servers[likely] = noise
		}, silenceLimit + 100*ms, "does not answer"},
		{"answers that are cut short", func(w *world) {
			cut := answers(10*ms, recording(t, "acts10.hex")[:80])
			w.servers[likely] = cut
		}, silenceLimit + 100*ms, "does not answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.servers[likely] = good
			w.Subscribe()
			w.Pass(time.Second)
			tt.lose(w)
			w.Pass(tt.after + ms)
			if got := w.Log.FilterMessage(retry.LogUnavailable).All(); len(got) != 1 || !strings.Contains(fmt.Sprint(got[0].ContextMap()), tt.why) {
				t.Fatalf("%q, want %q", w.messages(zapcore.WarnLevel), tt.why)
			}
			dials := w.count("dial " + likely)
			seq := w.vision.Seq()
			w.Pass(10 * time.Second)
			if age := w.vision.Age(w.Now()); age < 10*time.Second || w.vision.Seq() != seq || !w.vision.HasData() {
				t.Errorf("data %v old", age)
			}
			if got := w.count("dial "+likely) - dials; got < 2 || got > 5 { // a silent server costs 2 s of patience
				t.Errorf("dialed %d times in 10 s", got)
			}
			w.servers[likely] = good
			w.Pass(silenceLimit + retry.Last + 100*ms)
			if age := w.vision.Age(w.Now()); age > 50*ms || len(w.Done) != 1 {
				t.Errorf("data %v old after the server is back, setup %v", age, w.Done)
			}
			if len(w.messages(zapcore.WarnLevel)) > 15 || w.Log.FilterMessage(retry.LogBack).Len() != 1 {
				t.Errorf("%q", w.messages(zapcore.WarnLevel))
			}
			if w.count("start acts -t /etc/colours -s 5001") > 0 {
				t.Error("a program was started though ACTS was not ours")
			}
		})
	}
}

// TestVersionMayChange: another ACTS may be at the port after a loss.
func TestVersionMayChange(t *testing.T) {
	w := newWorld(t)
	want := recording(t, "acts10.hex")
	w.servers[swapped] = answers(33*ms, want)
	w.Subscribe()
	w.Pass(time.Second)
	delete(w.servers, swapped)
	w.servers[likely] = answers(33*ms, recording(t, "acts12.hex"))
	w.conn.Fail(io.EOF)
	seq := w.vision.Seq()
	w.Pass(1200 * ms)
	if w.vision.Seq() == seq || !bytes.Equal(w.vision.Data(), want) {
		t.Errorf("published % X, want % X", w.vision.Data(), want)
	}
}

// TestProgramEndsLater: the ACTS that we have started is started again when it
// ends, but not more often than it can be ready.
func TestProgramEndsLater(t *testing.T) {
	w := newWorld(t)
	w.installed = true
	w.Subscribe()
	w.servers[likely] = answers(33*ms, recording(t, "acts10.hex"))
	w.Pass(time.Second)
	end := func() {
		delete(w.servers, likely)
		w.conn.Fail(io.EOF)
		w.programs[len(w.programs)-1].exit(errors.New("exit status 1"))
	}
	end()
	w.Pass(setupLimit + time.Second)
	if len(w.programs) != 2 {
		t.Fatalf("%d programs", len(w.programs))
	}
	w.servers[likely] = answers(33*ms, recording(t, "acts10.hex"))
	w.Pass(retry.Last + 100*ms)
	if age := w.vision.Age(w.Now()); age > 50*ms {
		t.Errorf("data %v old", age)
	}
	end()
	w.installed = false // removed
	w.Pass(time.Minute)
	if got := w.count("start acts -t /etc/colours -s 5001"); got < 5 || got > 11 {
		t.Errorf("started %d times in a minute", got)
	}
	w.Unsubscribe()
	if w.Link.State() != devices.Idle {
		t.Errorf("link %v", w.Link.State())
	}
}

// TestNoiseIsReported once a second, and packets between it are published.
func TestNoiseIsReported(t *testing.T) {
	w := newWorld(t)
	packet := recording(t, "acts10.hex")
	w.servers[likely] = answers(10*ms, []byte("noise"), packet)
	w.Subscribe()
	w.Pass(10*time.Second + 500*ms)
	if age := w.vision.Age(w.Now()); age > 50*ms || !bytes.Equal(w.vision.Data(), packet) {
		t.Errorf("data %v old", age)
	}
	all := w.Log.FilterMessage("damaged bytes from ACTS").All()
	if len(all) != 11 {
		t.Errorf("%d complaints in 10.5 s", len(all))
	}
	total := uint64(0)
	for _, e := range all {
		total += e.ContextMap()["bytes"].(uint64)
		if e.ContextMap()["address"] != likely || e.ContextMap()["device"] != "acts" {
			t.Errorf("%v", e.ContextMap())
		}
	}
	if total < 1400 || total > 5*320 {
		t.Errorf("%d bytes reported", total)
	}
}

// ACTS has nothing to configure: a request is refused (manual 3.6), and ACTS hears nothing of it.
func TestConfigure(t *testing.T) {
	w := newWorld(t)
	requests := 0
	w.servers[likely] = func(c *conn, b byte) {
		requests++
		answers(ms, V10.AppendPacket(nil, fullImage()))(c, b)
	}
	w.Subscribe()
	w.Pass(100 * ms)
	before := requests
	if err := w.vision.Configure(w.Now(), []byte{'m', 1}); !errors.Is(err, devices.ErrNoConfiguration) || requests > before {
		t.Errorf("%v, %d requests", err, requests-before)
	}
}

// TestSteadyStateAllocatesNothing goes from request to request.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, name := range []string{"acts10.hex", "acts12.hex"} {
		w := newWorld(t)
		w.quiet = true
		packet := recording(t, name)
		requests := 0
		w.servers[likely] = func(c *conn, _ byte) { requests++ }
		w.Subscribe()
		round := func() {
			w.Pass(10 * ms)
			w.conn.Say(packet[:50])
			w.conn.Say(packet[50:])
			w.Until(func() bool { return w.driver.state != pausing }, time.Second)
		}
		round()
		before := requests
		if n := testing.AllocsPerRun(100, round); n != 0 {
			t.Errorf("%s: %v allocations an image", name, n)
		}
		if requests-before != 101 {
			t.Errorf("%d requests", requests-before)
		}
	}
}
