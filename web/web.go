// Package web is the window: a web page for any Player server. The page's
// server is an ordinary client of the Player protocol and shares nothing with
// the loop; only the world from above comes from the simulator, through
// Config.Post.
//
// A page opens up to three kinds of WebSocket: one for each robot that it
// watches (stream.go), one for the robot that it drives (drive.go), and one for
// the world (world.go). Each stream has a Player connection of its own, so that
// data never delays a command, and so has each device that is commanded
// (commander.go), so that no device's setup delays the wheels' stop.
package web

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/config/rights"
	"player/devices/stage"
)

//go:embed page
var assets embed.FS

const (
	// headerLimit is how long a browser may take to say what it wants. Without
	// it, connections that say nothing would stay for ever.
	headerLimit = 10 * time.Second
	// replyLimit is how long the page may take to load. It does not concern
	// sockets.
	replyLimit = 30 * time.Second
	// idleLimit closes connections that browsers keep for later.
	idleLimit = time.Minute
)

// Config is what Serve needs.
type Config struct {
	Robots []Robot // that the page offers
	// World is looked at and touched through Post only. It is nil without a
	// simulation.
	World *stage.World
	// Post has a function called on the loop, and reports false when the loop
	// has ended.
	Post func(func(now time.Duration)) bool
	// Access says what a page may do, by where its browser is: for the robots
	// it is this process that connects.
	Access rights.Rules
	// Name is the host that the page is served under besides localhost, IP
	// addresses and the machine's own name. It may be empty.
	Name string
	Log  *zap.Logger
}

// Robot is a Player server that the page offers.
type Robot struct {
	Name      string
	Address   string       // host:port
	Simulated *stage.Robot // of Config.World, or nil
}

// Serve serves the page on l until ctx ends; then it closes l and returns nil.
func Serve(ctx context.Context, l net.Listener, config Config) error {
	log := config.Log
	if !loopback(l.Addr()) {
		log.Warn("the window is open to the network: anybody who reaches it can drive the robots", zap.Stringer("address", l.Addr()))
	}
	server := http.Server{
		Handler:           newHandler(ctx, config),
		ReadHeaderTimeout: headerLimit,
		WriteTimeout:      replyLimit,
		IdleTimeout:       idleLimit,
		ErrorLog:          zap.NewStdLog(log.WithOptions(zap.IncreaseLevel(zap.ErrorLevel))),
	}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	err := server.Serve(limit(l, maxConnections))
	if ctx.Err() != nil && errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// server is what the handlers share. Nothing in it changes.
type server struct {
	ctx    context.Context // ends with the server
	config Config
	log    *zap.Logger
}

func newHandler(ctx context.Context, config Config) http.Handler {
	s := &server{ctx, config, config.Log}
	page, err := fs.Sub(assets, "page")
	if err != nil { // only if the folder is not embedded
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(page))
	mux.HandleFunc("GET /robots", s.robots)
	mux.HandleFunc("GET /stream", s.socket(s.stream))
	mux.HandleFunc("GET /drive", s.socket(s.drive))
	if config.World != nil {
		mux.HandleFunc("GET /world", s.socket(s.world))
		mux.HandleFunc("GET /plan", s.plan)
	}
	return newGuard(config.Name).protect(mux, s.log)
}

// robots tells the page what it may offer.
func (s *server) robots(w http.ResponseWriter, _ *http.Request) {
	type robot struct {
		Name    string `json:"name"`
		Address string `json:"address"`
		Mover   int    `json:"mover"` // its number in the scene, -1: not simulated
	}
	offer := struct {
		Robots []robot `json:"robots"`
		World  bool    `json:"world"`
	}{[]robot{}, s.config.World != nil}
	for _, r := range s.config.Robots {
		mover := -1
		if r.Simulated != nil {
			mover = slices.Index(s.config.World.Robots(), r.Simulated)
		}
		offer.Robots = append(offer.Robots, robot{r.Name, r.Address, mover})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(offer) // fails when the browser is gone
}
