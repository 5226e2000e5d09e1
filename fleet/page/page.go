// Package page serves a web page with all robots of a fleet (docs/FLEET.md). It knows
// them from NATS as any other program does, and only watches. While the page has no viewer
// it listens to nothing, so nothing is read from the robots for it.
package page

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"player/config/rights"
	"player/fleet/bridge"
	"player/visitors"
	"player/visitors/dashboard/page"
)

//go:embed assets
var assets embed.FS

const (
	// period is the time between two messages with all robots to a page: faster than a
	// reader follows a hundred of them.
	period = 500 * time.Millisecond
	// movePeriod is the time between two messages with the robots that move: the eye sees
	// motion. Each has only the robots with new odometry, so it costs little with many.
	movePeriod = time.Second / 30
	// backlog is how many messages of NATS wait: a second of a thousand robots.
	backlog = 1 << 15
	// sendLimit is how long a page may take to receive a message. A page that is
	// slower is closed, and connects again.
	sendLimit = 10 * time.Second
	// pressLimit is how long a button waits for its answer: longer than a bridge waits
	// for a robot.
	pressLimit = 5 * time.Second
)

// Config configures Serve.
type Config struct {
	visitors.Common
	NATS  *nats.Conn
	Fleet string
	// Metrics and Health reply to GET /metrics and /healthz.
	Metrics, Health http.HandlerFunc
}

// viewer is a page that is watched. It holds the newest messages for it.
type viewer struct{ all, moved chan []byte }

// offer replaces the message that was not sent so far.
func offer(to chan []byte, text []byte) {
	select {
	case <-to:
	default:
	}
	to <- text
}

// site is the page and its viewers.
type site struct {
	Config
	ctx         context.Context // ends with the site
	join, leave chan viewer
	plans       plans
}

// Serve serves the page on l until ctx ends; then it closes l and returns nil.
func Serve(ctx context.Context, l net.Listener, c Config) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := newSite(ctx, c)
	go s.run()
	served := c.Site("the page of the fleet", "-http", s.handler())
	served.Can, served.Stop = "watch and stop", "/"+bridge.Stop
	return served.Serve(ctx, l)
}

func newSite(ctx context.Context, c Config) *site {
	return &site{Config: c, ctx: ctx, join: make(chan viewer), leave: make(chan viewer), plans: plans{found: make(chan found)}}
}

// handler returns the handler of all requests. Any visitor may stop.
func (s *site) handler() http.Handler {
	files, err := fs.Sub(assets, "assets")
	if err != nil { // the folder is not embedded
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.Handle("GET "+scripts, http.StripPrefix(scripts, http.FileServerFS(files)))
	mux.Handle("GET "+modules, http.StripPrefix(modules, http.FileServerFS(page.Floor)))
	for path, read := range map[string]http.HandlerFunc{"plan": s.plans.serve, "robots": s.view, "metrics": s.Metrics, "healthz": s.Health} {
		mux.HandleFunc("GET /"+path, s.Allowed(rights.Read, read))
	}
	press := func(verb string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { s.press(w, r, verb) }
	}
	mux.HandleFunc("POST /"+bridge.Stop, press(bridge.Stop))
	mux.HandleFunc("POST /"+bridge.Release, s.Allowed(rights.Write, press(bridge.Release)))
	return mux
}

// scripts and modules are where the modules of the page and of the dashboard are. They import
// each other by their paths in the repository, which are relative: the page may be below any path of
// a proxy.
const scripts, modules = "/fleet/page/assets/", "/visitors/dashboard/page/"

// view sends the state of the robots to a page until it is closed.
func (s *site) view(w http.ResponseWriter, r *http.Request) {
	visitor := visitors.VisitorOf(r)
	ws, err := visitor.Accept(w, r, nil)
	if err != nil {
		return // it has replied
	}
	defer ws.CloseNow()
	ctx := ws.CloseRead(s.ctx) // a page sends nothing
	v := viewer{make(chan []byte, 1), make(chan []byte, 1)}
	select {
	case s.join <- v:
	case <-ctx.Done():
		return
	}
	defer func() {
		select {
		case s.leave <- v:
		case <-s.ctx.Done():
		}
	}()
	for {
		var text []byte
		select {
		case <-ctx.Done():
			return
		case text = <-v.all:
		case text = <-v.moved:
		}
		send, end := context.WithTimeout(ctx, sendLimit)
		err := ws.Write(send, websocket.MessageText, text)
		end()
		if err != nil {
			return
		}
	}
}

// press stops or releases a robot, or all without a name. Whether all stand, their states
// show.
func (s *site) press(w http.ResponseWriter, r *http.Request, verb string) {
	subject := bridge.FleetPrefix(s.Fleet)
	name := r.URL.Query().Get("robot")
	if name == "" {
		s.Log.Warn("a browser presses a button of the page for all robots", zap.String("button", verb), zap.String("browser", r.RemoteAddr))
		if err := errors.Join(s.NATS.Publish(subject+"."+verb, nil), s.NATS.FlushTimeout(pressLimit)); err != nil {
			http.Error(w, s.why(err), http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if err := bridge.CheckName(name); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.Log.Warn("a browser presses a button of the page", zap.String("robot", name), zap.String("button", verb), zap.String("browser", r.RemoteAddr))
	answer, err := s.NATS.Request(bridge.Prefix(s.Fleet, name)+"."+verb, nil, pressLimit)
	var carried struct{ Error string }
	if err == nil {
		err = json.Unmarshal(answer.Data, &carried)
	}
	if err == nil && carried.Error != "" {
		err = errors.New(carried.Error)
	}
	if err != nil {
		http.Error(w, name+": "+s.why(err), http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// why returns why a button has had no effect, in words and with the remedy.
func (s *site) why(err error) string {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return "no bridge serves this robot: start one that has it in -robot or -robots"
	case !s.NATS.IsConnected():
		return "this bridge is cut off from NATS: use the button of the robot itself, or the page of another bridge"
	case errors.Is(err, nats.ErrTimeout):
		return fmt.Sprintf("the bridge of this robot does not answer in %v: use the button of the robot itself", pressLimit)
	}
	return err.Error()
}

// run watches the fleet while there are viewers.
func (s *site) run() {
	viewers := map[viewer]bool{}
	messages := make(chan *nats.Msg, backlog)
	robots := roster{}
	var listening []*nats.Subscription
	deaf := func() {
		for _, sub := range listening {
			_ = sub.Unsubscribe() // fails if the connection was closed, which also ends it
		}
		listening, robots = nil, roster{}
	}
	defer deaf()
	tick, move := time.NewTicker(period), time.NewTicker(movePeriod)
	defer tick.Stop()
	move.Stop() // while there is no viewer
	show := func(message any, to func(viewer) chan []byte) {
		text, err := json.Marshal(message)
		if err != nil {
			s.Log.Error("the page of the fleet cannot be shown", zap.Error(err))
			return
		}
		for v := range viewers {
			offer(to(v), text)
		}
	}
	for {
		select {
		case <-s.ctx.Done():
			return
		case v := <-s.join:
			viewers[v] = true
			if len(viewers) > 1 {
				continue
			}
			move.Reset(movePeriod)
			for _, subject := range []string{
				bridge.Prefix(s.Fleet, "*") + "." + bridge.Status,
				bridge.Subject(s.Fleet, "*", "position", bridge.Data),
				bridge.Subject(s.Fleet, "*", "misc", bridge.Data),
			} {
				sub, err := s.NATS.ChanSubscribe(subject, messages)
				if err != nil {
					s.Log.Error("the page of the fleet shows no robots", zap.String("subject", subject), zap.Error(err))
					continue
				}
				listening = append(listening, sub)
			}
		case v := <-s.leave:
			if delete(viewers, v); len(viewers) == 0 {
				move.Stop()
				deaf()
			}
		case m := <-messages:
			if len(viewers) > 0 { // otherwise it came before the end of the subscription
				robots.take(m, time.Now())
			}
		case <-tick.C:
			if len(viewers) == 0 {
				continue
			}
			show(shown{s.Fleet, s.NATS.IsConnected(), robots.rows(time.Now())}, func(v viewer) chan []byte { return v.all })
			s.ask(robots)
		case f := <-s.plans.found:
			s.plans.take(f, robots)
		case <-move.C:
			if moved := robots.moves(); len(moved) > 0 {
				show(moves{moved}, func(v viewer) chan []byte { return v.moved })
			}
		}
	}
}

// moves is a message to a page with the robots that have moved since the last one. A page
// that misses one sees them with the next message with all.
type moves struct {
	Moved map[string]place `json:"moved"`
}

// shown is a message to a page with all robots.
type shown struct {
	Fleet     string `json:"fleet"`
	Connected bool   `json:"connected"` // to NATS
	Robots    []row  `json:"robots"`
}
