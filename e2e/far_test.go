package e2e

import (
	"flag"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"player/e2e/must"
)

var farLoads = flag.Int("far", 0, "how often TestWeb/far_away measures how soon a page far away shows data")

// testFarAway measures N times, with -far N, how soon a page shows data over a link with a round
// trip of 400 ms and 50 KB/s: when the browser has no part of it, and after reloads. docs/DASHBOARD.md
// has the figures; TestImmutable of visitors/dashboard and first.test.js of its page watch what they depend on.
func testFarAway(t *testing.T, b browser) {
	if *farLoads == 0 {
		return
	}
	_, page := startDashboard(t)
	for range *farLoads {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		link := &farLink{trip: 400 * time.Millisecond, rate: 50_000}
		go link.serve(l, strings.Trim(page, "htp:/"))
		tab := b.open(t, "http://"+l.Addr().String()+"/")
		const shown = `new Promise((done) => {
			const check = () => {
				if (window.player?.shown?.data?.l) done(performance.now());
				else setTimeout(check, 5);
			};
			check();
		})`
		first := evaluate[float64](tab, shown)
		t.Logf("first data shown after %.0f ms, %d bytes in %d connections", first, link.down.Load(), link.connections.Load())
		for i := range 4 {
			tab.until(`player.shown.state === "live" && player.shown.frames.rate() > 1`)
			kept := i%2 == 0 // else the handshake of TCP costs a round trip, too
			if !kept {
				link.drop()
			}
			opened := link.connections.Load()
			must.Do(t, chromedp.Do(tab.ctx, chromedp.Reload()))
			again := evaluate[float64](tab, shown)
			times := evaluate[[]float64](tab, `(({responseStart, responseEnd, domInteractive}) => [responseStart, responseEnd, domInteractive])(performance.getEntriesByType("navigation")[0])`)
			t.Logf("after a reload, connections kept %v: %.0f ms; the page's first byte, its last one, and parsed: %.0f ms; %d connections", kept, again, times, link.connections.Load()-opened)
		}
		tab.close()
		l.Close()
	}
}

// farLink is a proxy to a server that is far away. Its connections share its rate.
type farLink struct {
	trip time.Duration // round trip
	rate float64       // bytes a second, each way

	down, connections atomic.Int64 // bytes to the browser

	mu    sync.Mutex
	ready [2]time.Time // when all has left that was sent, up and down
	near  []net.Conn   // to the browser, also those that are closed
}

// drop ends all connections.
func (f *farLink) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range f.near {
		conn.Close()
	}
	f.near = nil
}

// serve forwards connections of l to address until l is closed.
func (f *farLink) serve(l net.Listener, address string) {
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", address)
		if err != nil {
			near.Close()
			return
		}
		f.connections.Add(1)
		f.mu.Lock()
		f.near = append(f.near, near)
		f.mu.Unlock()
		open := time.Now().Add(f.trip) // TCP sends nothing before its handshake
		go f.pipe(0, far, near, open)
		go f.pipe(1, near, far, open)
	}
}

// pipe writes each packet when it arrives at the other end of the link.
func (f *farLink) pipe(way int, to, from net.Conn, open time.Time) {
	const header = 40 // bytes of a packet, IP and TCP
	type packet struct {
		arrives time.Time
		data    []byte
	}
	packets := make(chan packet, 1000)
	go func() {
		defer to.Close()
		for p := range packets {
			time.Sleep(time.Until(p.arrives))
			if _, err := to.Write(p.data); err != nil {
				from.Close()
			}
		}
	}()
	defer close(packets)
	time.Sleep(time.Until(open)) // other connections send meanwhile
	for {
		data := make([]byte, 1460)
		n, err := from.Read(data)
		if n == 0 && err != nil {
			return
		}
		f.mu.Lock()
		if now := time.Now(); f.ready[way].Before(now) {
			f.ready[way] = now
		}
		f.ready[way] = f.ready[way].Add(time.Duration(float64(n+header) / f.rate * float64(time.Second)))
		arrives := f.ready[way].Add(f.trip / 2)
		f.mu.Unlock()
		if way == 1 {
			f.down.Add(int64(n))
		}
		packets <- packet{arrives, data[:n]}
	}
}
