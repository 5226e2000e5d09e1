package line

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
	"player/simulation/emulator/internal/rawhost"
)

// echo is a device whose packets end in FF and are echoed. C0 starts a series
// of ticks of 1 ms, each of which sends its number as one byte.
type echo struct {
	End
	tick    byte
	next    time.Duration
	ticking bool
}

func (e *echo) Frame(buf []byte) (int, string) {
	if n := bytes.IndexByte(buf, 0xFF) + 1; n > 0 {
		return n, "packet"
	}
	return 0, ""
}

func (e *echo) Receive(now time.Duration, p []byte) {
	if p[0] == 0xC0 {
		e.ticking, e.next = true, now
	}
	e.Send(p, "echo")
}

func (e *echo) Advance(now time.Duration) time.Duration {
	if !e.ticking {
		return 0
	}
	for e.next <= now {
		e.tick++
		e.next += time.Millisecond
		e.Send([]byte{e.tick}, "tick")
	}
	return e.next
}

// start plugs an echo in, at 9600 by default, and closes it at the end of the
// test.
func start(t *testing.T, opts Options) *Line {
	t.Helper()
	needs.Programs(t)
	opts.Link, opts.Baud = rawhost.Link(t), cmp.Or(opts.Baud, 9600)
	l, err := Open(opts)
	rawhost.Plugged(t, l, err)
	l.Serve(&echo{End: End{Line: l}})
	return l
}

// wait waits for an entry of the record that contains s.
func wait(t *testing.T, l *Line, s string) {
	t.Helper()
	rawhost.Until(t, l, s, func() bool { return strings.Contains(l.Transcript(), s) })
}

func TestTalksOnlyAtItsOwnSpeed(t *testing.T) {
	l := start(t, Options{})
	h := rawhost.Open(t, l.Port(), 38400)
	if l.HostBaud() != 38400 {
		t.Errorf("host speed %d", l.HostBaud())
	}
	h.Say("01 FF")
	wait(t, l, "at wrong baud (device at 9600), discarded")
	h.Speed(9600)
	h.Ask("02 FF", "02 FF") // nothing before it: 01 FF was not answered
	l.SetBaud(123456)
	h.Speed(123456)
	h.Ask("03 FF", "03 FF")
	want := "01 FF 02 FF 03 FF"
	if got := fmt.Sprintf("% X", l.Heard(HostToDevice)); got != want {
		t.Errorf("recorded %s, want %s", got, want)
	}
}

func TestGarble(t *testing.T) {
	l := start(t, Options{Garble: true})
	h := rawhost.Open(t, l.Port(), 38400)
	h.Say("01 02 03 04 05 06 07 08 09 FF")
	if got := h.Read(10); bytes.Contains(got, []byte{1, 2, 3}) {
		t.Errorf("received % X, want noise", got)
	}
	l.Send([]byte("plain"), "unasked")
	if got := h.Read(5); string(got) == "plain" {
		t.Errorf("received %q, want noise", got)
	}
	wait(t, l, "unasked (host at another speed: noise)")
	h.Speed(9600)
	h.Ask("02 FF", "02 FF")
}

func TestPartialPacketIsGivenUp(t *testing.T) {
	l := start(t, Options{})
	h := rawhost.Open(t, l.Port(), 9600)
	h.Ask("01 FF 02", "01 FF") // 02 is kept
	h.Speed(38400)
	h.Say("03")
	wait(t, l, "02   ; incomplete")
	h.Speed(9600)
	h.Ask("04 FF", "04 FF")
	h.Ask("05 FF 06", "05 FF")
	h.Close()
	wait(t, l, "06   ; incomplete")
}

func TestUnplug(t *testing.T) {
	l := start(t, Options{})
	h := rawhost.Open(t, l.Port(), 9600)
	h.Ask("01 FF 09", "01 FF")
	for range 3 {
		l.Unplug()
		l.Unplug() // twice counts once
		h.HungUp()
		if _, err := os.Lstat(l.Port()); !os.IsNotExist(err) {
			t.Fatalf("symlink while unplugged: %v", err)
		}
		if l.Path() != "" || l.HostBaud() != 0 {
			t.Errorf("unplugged: path %q, host speed %d", l.Path(), l.HostBaud())
		}
		l.Send([]byte{1}, "lost")
		must.Do(t, l.Plug())
		if target, err := os.Readlink(l.Port()); err != nil || target != l.Path() {
			t.Fatalf("symlink to %q, %v; pseudo-terminal is %q", target, err, l.Path())
		}
		h.Close()
		h = rawhost.Open(t, l.Port(), 9600)
		h.Ask("02 FF 09", "02 FF") // the earlier 09 was discarded
	}
	if strings.Contains(l.Transcript(), "lost") {
		t.Error("recorded bytes that no host received")
	}
	l.Close()
	h.HungUp()
	if err := l.Plug(); err != ErrClosed {
		t.Errorf("plug after close: %v", err)
	}
}

func TestHostClosesAndComesBack(t *testing.T) {
	l := start(t, Options{Baud: 38400})
	for _, exclusive := range []bool{false, true} {
		h := rawhost.Open(t, l.Port(), 38400)
		if exclusive {
			unix.IoctlSetInt(h.Fd(), unix.TIOCEXCL, 0)
		}
		h.Ask("01 FF", "01 FF")
		h.Say("02 FF")
		wait(t, l, "D>H 02 FF") // unread in the port
		before := strings.Count(l.Transcript(), "host closed the port")
		h.Close()
		rawhost.Until(t, l, "the end", func() bool { return strings.Count(l.Transcript(), "host closed the port") > before })
		l.Send([]byte{3}, "lost")
		h = rawhost.Open(t, l.Port(), 38400)
		h.Ask("04 FF", "04 FF") // neither 02 FF nor 03 is left
		h.Close()
	}
}

func TestSpeedOutlivesTheHost(t *testing.T) {
	l := start(t, Options{})
	h := rawhost.Open(t, l.Port(), 9600)
	h.Ask("01 FF", "01 FF")
	h.Close()
	wait(t, l, "host closed the port")
	if l.HostBaud() != 9600 {
		t.Errorf("speed of the closed port is %d, want 9600", l.HostBaud())
	}
}

func TestSilence(t *testing.T) {
	l := start(t, Options{})
	h := rawhost.Open(t, l.Port(), 9600)
	l.Silence()
	h.Say("01 FF")
	wait(t, l, "H>D 01 FF")
	l.Speak()
	h.Ask("02 FF", "02 FF")
}

func TestHold(t *testing.T) {
	l := start(t, Options{})
	h := rawhost.Open(t, l.Port(), 9600)
	l.Pause()
	h.Say("01 FF 02 FF")
	wait(t, l, "H>D 02 FF")
	if strings.Contains(l.Transcript(), "D>H") {
		t.Error("a line that is paused delivers")
	}
	l.Release()
	h.Ask("03 FF", "01 FF 02 FF 03 FF")
}

func TestLatencyAndPace(t *testing.T) {
	const latency, bytes = 30 * time.Millisecond, 100
	l := start(t, Options{Latency: latency, Paced: true})
	h := rawhost.Open(t, l.Port(), 9600)
	packet := strings.Repeat("11 ", bytes-1) + "FF"
	h.Ask(packet+packet, packet+packet)
	var asked, answered time.Duration
	for _, e := range l.Record() {
		switch {
		case e.Dir == HostToDevice && asked == 0:
			asked = e.At
		case e.Dir == DeviceToHost:
			answered = e.At
		}
	}
	// Two packets of 100 bytes of 10 bits at 9600 bit/s, one after another. On
	// a busy machine only the lower bound is certain.
	if got, least := answered-asked, latency+2*bytes*10*time.Second/9600; got < least {
		t.Errorf("answered after %v, cannot be before %v", got, least)
	}
}

// A host that reads late gets what Linux keeps of an adapter. The pseudo-terminal alone has 4 KiB.
func TestHostReadsLate(t *testing.T) {
	l := start(t, Options{})
	h := rawhost.Open(t, l.Port(), 9600)
	packet := bytes.Repeat([]byte{0x11}, 1000)
	packet[len(packet)-1] = 0xFF
	answers := func(note string) (n int) {
		for _, e := range l.Record() {
			if e.Dir == DeviceToHost && e.Note == note {
				n++
			}
		}
		return n
	}
	for sent := 1; answers("echo (cut)") == 0; sent++ {
		h.Say(fmt.Sprintf("% X", packet))
		rawhost.Until(t, l, "an answer", func() bool { return answers("echo")+answers("echo (cut)") == sent })
	}
	if got := answers("echo"); got < kept/len(packet) {
		t.Errorf("%d packets are whole, want %d at least", got, kept/len(packet))
	}
	for range answers("echo") {
		if got := h.Read(len(packet)); !bytes.Equal(got, packet) {
			t.Fatalf("read % X", got)
		}
	}
}

func TestUnpluggedInThePacket(t *testing.T) {
	l := start(t, Options{Baud: 300, Paced: true}) // 33 ms a byte
	h := rawhost.Open(t, l.Port(), 300)
	h.Say("11 12 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 1F FF")
	h.Expect("11")
	if !l.Busy() {
		t.Error("not busy in the middle of a packet")
	}
	l.Silence()
	l.Speak()
	wait(t, l, "echo (cut)")
	h.Say("22 FF")
	for h.Read(1)[0] != 0x22 { // a part of the first packet arrived before the silence
	}
	h.Expect("FF")
}

func TestDeadlines(t *testing.T) {
	l := start(t, Options{})
	h := rawhost.Open(t, l.Port(), 9600)
	h.Ask("C0 FF", "C0 FF 01 02 03 04 05 06 07 08 09 0A")
}

func TestNoiseOnBothWays(t *testing.T) {
	l := start(t, Options{Noise: Noise{Seed: 1, Swallow: 1, Both: true}})
	h := rawhost.Open(t, l.Port(), 9600)
	h.Say("FF FF FF") // the cable drops one byte on the way there and one of each answer
	wait(t, l, "; packet")
	l.Close()
	if got := l.Heard(HostToDevice); !bytes.Equal(got, []byte{0xFF, 0xFF}) {
		t.Errorf("device received % X, want 2 of 3", got)
	}
	if got := l.Heard(DeviceToHost); len(got) != 0 {
		t.Errorf("host received % X", got)
	}
}

func TestSpoiledPackets(t *testing.T) {
	l := start(t, Options{Noise: Noise{Flip: 1}})
	h := rawhost.Open(t, l.Port(), 9600)
	h.Say("01 FF")
	if got := h.Read(2); bytes.Equal(got, []byte{1, 0xFF}) {
		t.Error("arrived unchanged")
	}
	wait(t, l, "echo (spoiled)")
}

func TestOpenKeepsFiles(t *testing.T) {
	needs.Programs(t)
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	os.WriteFile(file, []byte("precious"), 0o600)
	os.Symlink("/nowhere", link)
	if _, err := Open(Options{Link: file, Baud: 9600}); err == nil || !strings.Contains(err.Error(), "not a symlink") {
		t.Errorf("file in the way: %v", err)
	}
	if _, err := Open(Options{Link: link}); err == nil {
		t.Error("no speed: no error")
	}
	if _, err := Open(Options{Link: filepath.Join(dir, "no", "such"), Baud: 9600}); err == nil {
		t.Error("no directory: no error")
	}
	l := must.Get(Open(Options{Link: link, Baud: 9600}))(t) // an old link is replaced
	l.Close()                                               // without a call of Serve
	l.Close()
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("files left: %v", entries)
	}
}

func TestWaitEnds(t *testing.T) {
	l := start(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Wait(ctx, func() bool { return false }); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	ended := make(chan error)
	go func() { ended <- l.Wait(t.Context(), func() bool { return false }) }()
	l.Close()
	if err := <-ended; err != ErrClosed {
		t.Errorf("closed: %v", err)
	}
}

func TestCloseLeavesNothingRunning(t *testing.T) {
	for range 5 {
		l := start(t, Options{Latency: time.Hour})
		h := rawhost.Open(t, l.Port(), 9600)
		h.Say("01 FF") // the answer is delayed by an hour
		wait(t, l, "packet")
		l.Close()
	}
	stacks := make([]byte, 1<<20)
	deadline := time.Now().Add(20 * time.Second)
	for {
		text := string(stacks[:runtime.Stack(stacks, true)])
		if !strings.Contains(text, "(*Line).run") && !strings.Contains(text, "(*pty).read") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(text)
		}
		runtime.Gosched() // a goroutine ends slightly after its work
	}
}

// TestEveryPacketArrives keeps the runtime busy with its own signals, which
// interrupt system calls, while packets pass.
func TestEveryPacketArrives(t *testing.T) {
	packets := 500
	if acceptance.Wanted() {
		packets = 5000
	}
	l := start(t, Options{})
	h := rawhost.Open(t, l.Port(), 9600)
	quiet := make(chan struct{})
	var busy sync.WaitGroup
	busy.Go(func() {
		for {
			select {
			case <-quiet:
				return
			default:
				runtime.GC()
			}
		}
	})
	defer busy.Wait()
	defer close(quiet)
	for range packets {
		h.Ask("01 02 FF", "01 02 FF")
	}
}
