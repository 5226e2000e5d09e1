package dashboard

import (
	"context"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"player/e2e/must"
	"player/e2e/needs"
	"player/server/status"
	"player/visitors/roomtest"
)

var (
	anna = netip.MustParseAddrPort("10.0.0.7:40000")
	ben  = netip.MustParseAddrPort("10.0.0.6:40000")
)

// A reload adds a robot just before it ends the sockets of pages: until then they go on.
func TestPresenceOfANewRobot(t *testing.T) {
	needs.Time(t)
	c := newFake()
	p := open(t, servePage(t, c.config()), "/presence", "")
	if _, _, err := p.read(); err != nil {
		t.Fatal(err)
	}
	c.set(func(now *status.Status) { now.Robots = append(now.Robots, status.Robot{Name: "new", Port: 6667}) })
	for robots := 0; robots == 0; {
		_, message, err := p.read()
		if err != nil {
			t.Fatal(err)
		}
		robots = len(message["robots"].([]any))
	}
}

// A page that leaves while the server is asked does not delay the others: they learn
// at once that another client drives.
func TestPresenceAfterAPageHasLeft(t *testing.T) {
	c := newFake()
	synctest.Test(t, func(t *testing.T) {
		config := c.config()
		var loop []func(time.Duration) // that waits
		post := func(fn func(now time.Duration)) bool { loop = append(loop, fn); return true }
		config.Server = c.on(post)
		s := &server{config: config}
		ask := func(ctx context.Context, run bool) {
			ended := make(chan error, 1)
			go func() { _, _, err := s.presences(ctx); ended <- err }()
			synctest.Wait()
			if run {
				for _, fn := range loop {
					fn(0)
				}
				loop = nil
			}
			if err := <-ended; run && err != nil {
				t.Error(err)
			}
		}
		ask(t.Context(), true)
		time.Sleep(earlyPeriod)
		ask(t.Context(), true) // has rates
		time.Sleep(checkPeriod)
		c.changes++ // while the loop is busy
		left, leave := context.WithCancel(t.Context())
		leave()
		ask(left, false)
		c.set(func(now *status.Status) { now.Robots[0].Stopped = true })
		ask(t.Context(), true)
		if got := string(s.present.stopped); got != `["localhost:6665"]` {
			t.Errorf("the others learn that %s are stopped", got)
		}
	})
}

// A page gets everything first, then the changes, and each second the stopped robots.
func TestPresence(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	c := newFake()
	p := open(t, servePage(t, c.config()), "/presence", "")
	next := func() (stopped, robots string) {
		t.Helper()
		_, message, err := p.read()
		if err != nil {
			t.Fatal(err)
		}
		text := func(v any) string {
			s := must.Get(json.Marshal(v))(t)
			return string(s)
		}
		return text(message["stopped"]), text(message["robots"])
	}
	if stopped, all := next(); stopped != "[]" || strings.Count(all, "address") != 2 {
		t.Fatalf("at first: %s, %s", stopped, all)
	}
	if stopped, all := next(); stopped != "[]" || all != "[]" {
		t.Errorf("nothing has changed: %s, %s", stopped, all)
	}
	c.set(func(now *status.Status) {
		now.Robots[1].Stopped, now.Robots[1].Commander = true, &anna
		now.Robots[1].Devices = map[string]status.Device{"sonar": {State: status.Stale}, "laser": {State: status.Lost}, "position": {State: status.Ready, Open: true}}
		now.Robots[1].Clients = []status.Client{{Address: ben}, {Address: anna, Name: "anna", Devices: "pw"}}
	})
	const want = `[{"address":"localhost:6666","clients":[` +
		`{"address":"10.0.0.7:40000","commander":true,"commands":0,"devices":{"p":"w"},"frames":0,"name":"anna","paced":false},` +
		`{"address":"10.0.0.6:40000","commander":false,"commands":0,"devices":{},"frames":0,"name":"","paced":false}],` +
		`"control":"first","count":2,"trouble":["laser lost","sonar stale"],"used":true}]`
	stopped, got := next()
	for got == "[]" { // it was asked before the change
		stopped, got = next()
	}
	if got != want || stopped != `["localhost:6666"]` {
		t.Errorf("%s stopped, %s\nwant %s", stopped, got, want)
	}
}

// After a stop from a page the server is asked at once.
func TestPresenceAfterAStop(t *testing.T) {
	c := newFake()
	page := servePage(t, c.config())
	p := open(t, page, "/presence", "")
	p.await("stopped")
	c.set(func(now *status.Status) { now.Robots[0].Stopped = true })
	roomtest.Request(t, "POST", page+"/stop?robot=6665", nil)
	if list := open(t, page, "/presence", "").await("stopped").([]any); len(list) != 1 {
		t.Errorf("a page that opens then gets %v", list)
	}
}

// The server is asked once for all pages, and not at all without one.
func TestPresenceAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFake()
		s := &server{ctx: t.Context(), config: c.config()}
		for range 100 { // 20 pages for 5 s
			time.Sleep(presencePeriod / 20)
			if _, robots, err := s.presences(t.Context()); len(robots) != 2 || err != nil {
				t.Fatalf("%s, %v", robots, err)
			}
		}
		if c.asked != 6 { // the first answer has no rates
			t.Errorf("asked %d times in 5 s", c.asked)
		}
		c.asked = 0
		time.Sleep(time.Minute)
		if c.asked != 0 {
			t.Errorf("asked %d times without a page", c.asked)
		}
	})
}

// Pages learn with the next check that another client drives, however long ago the server
// was asked last. While control goes to and fro it is asked not much more often.
func TestPresenceOfSharedDriving(t *testing.T) {
	for phase := range int(2 * presencePeriod / checkPeriod) { // two answers, and all checks between them
		synctest.Test(t, func(t *testing.T) {
			c := newFake()
			c.now.Robots[0].Clients = []status.Client{{Address: anna}}
			s := &server{ctx: t.Context(), config: c.config()}
			begun := time.Now()
			s.config.Server = c.on(func(fn func(now time.Duration)) bool {
				c.now.Uptime = status.Seconds(time.Since(begun))
				fn(time.Since(begun))
				return true
			})
			check := func() string {
				time.Sleep(checkPeriod)
				_, robots, err := s.presences(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return string(robots[0])
			}
			for range 20 + phase {
				check()
			}
			c.now.Robots[0].Commander = &anna
			c.now.Robots[0].Clients[0].Commands++
			c.changes++
			if shown := check(); !strings.Contains(shown, `"commander":true`) || strings.Contains(shown, `"commands":0,`) {
				t.Errorf("%d checks after the first one: %s", 20+phase, shown)
			}
			c.asked = 0
			for range 30 {
				c.changes++
				check()
			}
			if c.asked > 10 {
				t.Errorf("asked %d times in 3 s", c.asked)
			}
		})
	}
}

// A robot with thousands of clients: the page gets a screenful, with the commander.
func TestPresenceOfACrowd(t *testing.T) {
	c := newFake()
	var clients []status.Client
	for i := range 2000 {
		clients = append(clients, status.Client{Address: netip.AddrPortFrom(anna.Addr(), uint16(i+1))})
	}
	c.now.Robots[0].Clients, c.now.Robots[0].Commander = clients, &clients[1999].Address
	s := &server{config: c.config()}
	shown := s.presenceOf(&c.now.Robots[0])
	if text, _ := json.Marshal(shown); len(text) > 8<<10 || len(shown.Clients) != maxPresent+1 || shown.Count != 2000 || !shown.Clients[0].Commander {
		t.Errorf("%d bytes, %d of %d clients, first %+v", len(text), len(shown.Clients), shown.Count, shown.Clients[0])
	}
}

// Rates are rounded, and stay while they hardly change.
func TestRates(t *testing.T) {
	var r presences
	var uptime time.Duration
	commands := uint64(100)
	sample := func(period time.Duration, more uint64) float64 {
		uptime += period
		commands += more
		r.update(status.Status{Uptime: status.Seconds(uptime), Robots: []status.Robot{{Clients: []status.Client{{Address: anna, Served: 9.7, Counts: status.Counts{Commands: commands}}}}}})
		return r.rates[anna].commands
	}
	for i, tt := range []struct {
		period time.Duration
		more   uint64
		want   float64
	}{
		{time.Second, 0, 0}, // not known yet
		{time.Second, 19, 20},
		{time.Second, 22, 20},
		{time.Second, 17, 20},
		{time.Second, 40, 40},
		{time.Second, 1, 1},
		{2 * time.Second, 1, 1}, // one in two seconds
		{time.Second, 0, 0},
	} {
		if got := sample(tt.period, tt.more); got != tt.want {
			t.Errorf("sample %d: %v, want %v", i, got, tt.want)
		}
	}
	if r.rates[anna].frames != 10 {
		t.Errorf("frames %v", r.rates[anna].frames)
	}
	r.update(status.Status{})
	if len(r.rates) != 0 {
		t.Error("who has left is kept")
	}
}
