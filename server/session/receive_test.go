package session

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"player/codec"
)

// 4.1: rates are in Hz. 0 is refused; a rate above the maximum is served at
// the maximum.
func TestRate(t *testing.T) {
	r, p := connect(t)
	p.send(rate(20)) // before any device is open
	p.request("sr", "sr")
	for _, tt := range []struct {
		config []byte
		want   time.Duration
	}{
		{nil, 50 * ms},
		{rate(1), time.Second},
		{rate(2), 500 * ms},
		{rate(3), 333333333},
		{rate(0), 333333333},
		{rate(maxRate), ms},
		{rate(50), 20 * ms},
		{rate(maxRate + 1), ms},
		{rate(50), 20 * ms},
		{rate(65535), ms},
		{rate(10), 100 * ms},
		{config('f'), 100 * ms},
		{config('f', 50), 100 * ms},
		{config('f', 0, 50, 0), 100 * ms},
		{config('f', 0, 0, 0, 50), 100 * ms},
	} {
		p.changed = false
		p.send(tt.config)
		if got := p.Period(); got != tt.want {
			t.Errorf("%q: period %v, want %v", tt.config, got, tt.want)
		}
		if !p.changed && p.Period() != 100*ms && tt.want != 333333333 && tt.config != nil {
			t.Errorf("%q: the owner was not notified", tt.config)
		}
	}
	// The rate is kept while nothing is open. Another client has its own rate.
	p.send(rate(25))
	p.request("sc", "sc")
	if p.Period() != 0 {
		t.Errorf("period %v with nothing open", p.Period())
	}
	p.request("pr", "pr")
	other := newPeer(t, r)
	other.request("pr", "pr")
	if p.Period() != 40*ms || other.Period() != 100*ms {
		t.Errorf("periods %v and %v", p.Period(), other.Period())
	}
}

// 4.2, 4.3, 4.5, 3.5: modes and requests for data. Each step is a
// configuration or a request, and what is due to be sent after it.
func TestModes(t *testing.T) {
	const d, mode0, mode1 = "d", "r\x00", "r\x01"
	type step struct {
		config string
		asked  int
		period time.Duration
	}
	for name, steps := range map[string][]step{
		"d":                     {{mode1, 0, 0}, {d, 1, firstDataRetry}},
		"many d":                {{mode1, 0, 0}, {d, 1, firstDataRetry}, {d, 2, firstDataRetry}, {d, 3, firstDataRetry}},
		"any non-zero mode":     {{"r\x02", 0, 0}, {d, 1, firstDataRetry}, {mode0, 0, 100 * ms}, {"r\xFF", 0, 0}, {d, 1, firstDataRetry}},
		"d in continuous mode":  {{d, 0, 100 * ms}, {mode1, 0, 0}},
		"the mode forgets d":    {{mode1, 0, 0}, {d, 1, firstDataRetry}, {mode1, 0, 0}, {d, 1, firstDataRetry}, {mode0, 0, 100 * ms}, {mode1, 0, 0}},
		"to and fro":            {{mode1, 0, 0}, {mode0, 0, 100 * ms}, {mode1, 0, 0}, {mode0, 0, 100 * ms}, {d, 0, 100 * ms}},
		"wrong sizes":           {{"r", 0, 100 * ms}, {"r\x01\x01", 0, 100 * ms}, {mode1, 0, 0}, {"d\x00", 0, 0}, {"r", 0, 0}, {"r\x00\x00", 0, 0}, {d, 1, firstDataRetry}},
		"unknown code":          {{"Z", 0, 100 * ms}, {"D", 0, 100 * ms}, {"", 0, 100 * ms}},
		"the rate keeps":        {{"f\x00\x14", 0, 50 * ms}, {mode1, 0, 0}, {"f\x00\x32", 0, 0}, {mode0, 0, 20 * ms}},
		"new data, wrong sizes": {{"n", 0, 100 * ms}, {"n\x01\x01", 0, 100 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := open(t, "sr")
			for i, s := range steps {
				p.changed = false
				before := p.Period()
				p.send(config([]byte(s.config)...))
				if p.Asked() != s.asked || p.Period() != s.period {
					t.Fatalf("step %d, %q: asked %d, period %v, want %d, %v", i, s.config, p.Asked(), p.Period(), s.asked, s.period)
				}
				if before != p.Period() && !p.changed {
					t.Errorf("step %d, %q: the owner was not notified", i, s.config)
				}
			}
			// Exactly the frames that were asked for, or any number in
			// continuous mode.
			last := steps[len(steps)-1]
			for range last.asked {
				p.expectFrame("s32")
			}
			if last.period == 100*ms || last.period == 20*ms {
				p.expectFrame("s32")
			} else {
				p.expectFrame("")
			}
		})
	}
}

// 4.3: on a congested network, waiting requests collapse into one.
func TestCollapse(t *testing.T) {
	_, p := connect(t)
	p.Collapse()
	p.send(config('r', 1))
	p.request("sr", "sr")
	if p.Collapse(); p.Asked() != 0 {
		t.Errorf("%d frames asked for without a request", p.Asked())
	}
	p.send(config('d'), config('d'), config('d'))
	p.Collapse()
	p.expectFrame("s32")
	p.expectFrame("")
}

// 4.5: data asked for with nothing open for reading is forgotten.
func TestDataWithNothingOpen(t *testing.T) {
	_, p := connect(t)
	p.send(config('r', 1), config('d'))
	p.request("sw", "sw")
	p.send(config('d'))
	p.request("sr", "sa")
	p.expectFrame("")
	p.send(config('d'))
	p.expectFrame("s32")
	p.expectFrame("")
	// The server's own block counts as a device.
	p.request("scyr", "scyr")
	p.send(config('d'))
	p.expectFrame("y8")
	p.expectFrame("")
}

// Mode changes and requests for data in one burst with the device request, as
// the Tcl client and other hasty clients send them.
func TestConfigurationInABurst(t *testing.T) {
	_, p := connect(t)
	p.send(slices.Concat(config('r', 1), request("srpr"), config('d'), config('d')))
	p.expectReplies("srpr")
	p.expectFrame("s32 p21")
	p.expectFrame("s32 p21")
	p.expectFrame("")
}

// 5.1, 5.2: a command of the device's size reaches its driver, any other size
// is dropped.
func TestCommandSizes(t *testing.T) {
	for letter, right := range map[byte]int{'p': 4, 'z': 6, 'g': 2, 's': -1, 'l': -1, 'm': -1, 'v': -1, 'y': -1, 'q': -1} {
		r, p := connect(t)
		p.send(request(string([]byte{letter, 'a'})))
		p.replies()
		r.take()
		for size := range 12 {
			payload := slices.Repeat([]byte{0xA5}, size)
			p.send(message(codec.KindCommand, letter, payload...))
			want := ""
			if size == right {
				want = fmt.Sprintf("command %c %X", letter, payload)
			}
			if got := r.take(); got != want {
				t.Errorf("%d bytes to %c: %q, want %q", size, letter, got, want)
			}
		}
		p.expectReplies() // commands are not answered
	}
}

// 6.4 to 6.6: configurations need no access, reach the device's driver in
// order, and have no effect while the device is not open.
func TestDeviceConfiguration(t *testing.T) {
	r := newRobot(t)
	p, other := newPeer(t, r), newPeer(t, r)
	p.send(message('x', 'p', 'm', 1), message('x', 'q', 'm', 1), message('x', 0, 'm', 1), message('x', 0xFF))
	other.request("sr", "sr")
	r.expect(t, "setup base") // the configuration was not kept
	p.send(slices.Concat(message('x', 'p', 'm', 1), message('x', 'p', 'R'), message('x', 's', 'v', 0), message('x', 'm', 'Z'), message('x', 'g')))
	r.expect(t, `configure p "m\x01"`, `configure p "R"`, `configure s "v\x00"`, `configure m "Z"`, `configure g ""`)
	p.send(message('x', 'l', 'R'))
	r.expect(t)
	other.request("sc", "sc")
	p.send(message('x', 'p', 'm', 1))
	p.request("pr", "pr")
	r.expect(t, "shutdown base", "setup base")
	p.expectReplies()
}
