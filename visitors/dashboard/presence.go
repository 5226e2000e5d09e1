package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"player/server/status"
	"player/visitors"
)

const (
	// presencePeriod is how often the server's list of clients is requested while pages are
	// open: once for all pages. A page gets only the changes.
	presencePeriod = time.Second
	// checkPeriod is how often the server is asked whether another client drives or a robot was
	// stopped, which costs the loop a microsecond. If so, the list of clients is requested at
	// once: people see within checkPeriod that others use the robot.
	checkPeriod = 100 * time.Millisecond
	// earlyPeriod is the least time between two such requests: two clients that drive alternately cause 30
	// changes of control a second. It is also the time after the first answer, which has no rates.
	earlyPeriod = 300 * time.Millisecond
	// maxPresent is how many clients of a robot a page gets: more do not fit on a
	// screen. The message stays below 8 KiB.
	maxPresent = 40
)

// presence is a page's list of the people and programs at one robot.
type presence struct {
	Address string    `json:"address"` // of the robot, as in /robots
	Control string    `json:"control"` // newest or first
	Trouble []string  `json:"trouble"` // the devices with a fault, as "laser lost", sorted
	Used    bool      `json:"used"`    // a device is open
	Clients []present `json:"clients"` // the commander first; maxPresent, and the commander
	Count   int       `json:"count"`   // of all clients
}

type present struct {
	Address   netip.AddrPort `json:"address"`
	Name      string         `json:"name"`      // the client's own name; may be empty
	Devices   status.Access  `json:"devices"`   // by letter: r, w or a
	Commander bool           `json:"commander"` // it has commanded position last
	Commands  float64        `json:"commands"`  // a second
	Frames    float64        `json:"frames"`    // a second
	Paced     bool           `json:"paced"`     // its network is full, or it does not read
}

// presences is the last answer of the server about all its robots.
type presences struct {
	mu      sync.Mutex
	at      time.Time      // of the answer
	checked time.Time      // when the server was last asked for them
	early   time.Time      // when it was last asked because they had changed
	changes uint64         // of control, in its answer
	uptime  status.Seconds // the same
	first   bool           // it is the first one, or the one before was too old for rates
	stopped []byte         // the addresses of the robots that are stopped, as JSON
	robots  [][]byte       // a presence each, as JSON, in the order of the server
	rates   map[netip.AddrPort]rate
}

// forget makes the next page's request ask the server again, because the state has just changed.
func (p *presences) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.checked = time.Time{}, time.Time{}
}

// rate measures the rates of one client.
type rate struct {
	at               status.Seconds // uptime from which on commands are counted
	total            uint64         // commands until then
	commands, frames float64        // a second, as sent to pages
}

// presence serves one presence socket. Each message has the robots that are stopped, and the
// changes of robots. A message is sent after a change, and each second in any case: without
// messages a page knows that the server, or its loop, does not answer.
func (s *server) presence(sock *socket) error {
	refuse := func(json.RawMessage) error { return unfit(nil) }
	return converse(sock, refuse, func(ctx context.Context) error {
		var last [][]byte
		var halted []byte
		var sent time.Time
		return visitors.Every(ctx, checkPeriod, func() error {
			stopped, robots, err := s.presences(ctx)
			if err != nil {
				return err
			}
			var changed [][]byte
			for i, robot := range robots {
				if i >= len(last) || !bytes.Equal(robot, last[i]) { // a reload may have added it just now
					changed = append(changed, robot)
				}
			}
			if changed != nil || !bytes.Equal(stopped, halted) || time.Since(sent) >= presencePeriod {
				text := fmt.Appendf(nil, `{"stopped":%s,"robots":[%s]}`, stopped, bytes.Join(changed, []byte(",")))
				if err := sock.WS.Write(ctx, websocket.MessageText, text); err != nil {
					return err
				}
				last, halted, sent = robots, stopped, time.Now()
			}
			return nil
		})
	})
}

// presences returns which robots are stopped and the presence of each robot, as JSON. It
// asks the server if the last answer is too old or outdated.
func (s *server) presences(ctx context.Context) (stopped []byte, robots [][]byte, err error) {
	p := &s.present
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.checked) < checkPeriod {
		return p.stopped, p.robots, nil
	}
	type answer struct {
		now     *status.Status // nil: it was not asked for
		early   bool
		changes uint64
	}
	// The page may leave before the loop calls this: it uses nothing that others may use then.
	at, before, lately, first := p.at, p.changes, p.early, p.first
	a, err := visitors.OnLoop(ctx, s.config.Server, func(server visitors.Server, loop time.Duration) *answer {
		a := new(answer)
		age := time.Since(at)
		a.changes = server.ControlChanges()
		a.early = a.changes != before && time.Since(lately) >= earlyPeriod
		if a.early || age >= presencePeriod || first && age >= earlyPeriod {
			a.now = new(server.Status(loop))
		}
		return a
	})
	if err != nil {
		return nil, nil, err
	}
	p.checked = time.Now()
	if a.now == nil {
		return p.stopped, p.robots, nil
	}
	now := a.now
	p.at, p.changes = p.checked, a.changes
	if a.early {
		p.early = p.checked
	}
	p.update(*now)
	p.robots = make([][]byte, len(now.Robots))
	addresses := []string{}
	for i := range now.Robots {
		presence := s.presenceOf(&now.Robots[i])
		p.robots[i], _ = json.Marshal(presence) // cannot fail
		if now.Robots[i].Stopped {
			addresses = append(addresses, presence.Address)
		}
	}
	p.stopped, _ = json.Marshal(addresses)
	return p.stopped, p.robots, nil
}

func (s *server) presenceOf(robot *status.Robot) presence {
	p := presence{Control: robot.Control, Trouble: []string{}, Clients: []present{}, Count: len(robot.Clients)}
	for _, name := range slices.Sorted(maps.Keys(robot.Devices)) {
		device := robot.Devices[name]
		p.Used = p.Used || device.Open
		if !device.State.Well() {
			p.Trouble = append(p.Trouble, name+" "+string(device.State))
		}
	}
	for _, file := range slices.Sorted(maps.Keys(robot.Recorders)) {
		if r := robot.Recorders[file]; !r.State.Well() {
			p.Trouble = append(p.Trouble, "recorder "+string(r.State))
		}
	}
	for _, r := range s.config.Robots {
		if r.Port == robot.Port {
			p.Address = r.Address
		}
	}
	for i := range robot.Clients {
		c := &robot.Clients[i]
		commander := robot.Commander != nil && *robot.Commander == c.Address
		if len(p.Clients) == maxPresent && !commander {
			continue
		}
		rate := s.present.rates[c.Address]
		p.Clients = append(p.Clients, present{c.Address, c.Name, c.Devices, commander, rate.commands, rate.frames, c.Paced})
		if last := len(p.Clients) - 1; commander {
			p.Clients[0], p.Clients[last] = p.Clients[last], p.Clients[0]
		}
	}
	return p
}

// update computes the rates, each over a second. When a client begins to command, its first
// rate is computed over a shorter time, so that pages show at once that it commands.
func (p *presences) update(now status.Status) {
	since := time.Duration(now.Uptime - p.uptime)
	p.first = p.rates == nil || since < 0 || since > 2*presencePeriod
	next := map[netip.AddrPort]rate{}
	for _, robot := range now.Robots {
		for i := range robot.Clients {
			c := &robot.Clients[i]
			this, known := p.rates[c.Address]
			switch {
			case p.first:
				this = rate{now.Uptime, c.Commands, 0, this.frames}
			case !known: // it was not connected then
				this.at = p.uptime
			}
			span, count := time.Duration(now.Uptime-this.at), float64(c.Commands-this.total)
			switch {
			case span >= presencePeriod:
				this.commands = steady(this.commands, count/span.Seconds())
				this.at, this.total = now.Uptime, c.Commands
			case span > 0 && count > 0 && this.commands == 0:
				this.commands = steady(0, count/max(span, earlyPeriod).Seconds()) // one command says little
			}
			this.frames = steady(this.frames, c.Served)
			next[c.Address] = this
		}
	}
	p.rates, p.uptime = next, now.Uptime
}

// steady returns a rate as pages get it: rounded, and the last one while it has not
// changed by more than a fifth. Otherwise each page would get all of it each second.
func steady(last, now float64) float64 {
	switch {
	case now > 0 && last > 0 && math.Abs(now-last) <= max(0.2*last, 0.6):
		return last
	case now > 10:
		return 5 * math.Round(now/5)
	}
	return math.Ceil(now)
}
