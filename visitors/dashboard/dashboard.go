// Package dashboard serves the dashboard, a web page that shows and drives the robots of any
// Player server. It is an ordinary client of the Player protocol, without access to the
// loop's state; only the view of the simulated world needs the simulator, which is confined
// to the loop.
//
// A page opens four kinds of WebSocket: one for each robot that it watches
// (stream.go), one for the robot that it drives (drive.go), one for the world
// (world.go), and one for the other people and programs (presence.go). Each is a
// visitors.Guest: data never delays a command, and the setup of a device never delays
// the stop of the wheels.
package dashboard

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"player/config/rights"
	"player/devices/stage"
	"player/visitors"
	"player/visitors/pictures"
)

// Config has the settings of Serve.
type Config struct {
	visitors.Common
	// Robots are those that the dashboard lists. Browsers of other computers reach
	// no others.
	Robots []Robot
	World  *stage.World // nil without a simulation. Serve confines it to the loop.
	// Drafting has the draft of the world's file. It is kept from one configuration to
	// the next.
	Drafting *Drafting
	// Runs replay and record robots, by the robot's address. Serve confines them to the loop.
	Runs    map[string]Run
	Cameras []*pictures.Camera // visitors see their pictures
	// Recent returns the newest lines of the server's log after line n, each a JSON
	// object, and the number of the newest.
	Recent func(n uint64) (lines [][]byte, last uint64)
	// Version is the program's version.
	Version string
}

// Robot is a robot that the dashboard lists.
type Robot struct {
	Name      string
	Address   string       // host:port
	Simulated *stage.Robot // a robot of Config.World, or nil
	Port      int          // of Config.Server; 0: a robot of another server
	Pages     []Page       // of its plugins
}

// Page is a page for browsers that a plugin serves.
type Page struct {
	Letter string `json:"letter"` // of the plugin's first device
	Name   string `json:"name"`   // of the plugin
	URL    string `json:"url"`    // http://HOST:PORT/..., or :PORT/... of the host that the dashboard is opened at
}

// Equal reports whether two robots are shown alike.
func (r Robot) Equal(other Robot) bool {
	return r.Name == other.Name && r.Address == other.Address && r.Simulated == other.Simulated && r.Port == other.Port && slices.Equal(r.Pages, other.Pages)
}

// Serve serves the dashboard on l until ctx ends; then it closes l and returns nil.
func Serve(ctx context.Context, l net.Listener, config Config) error {
	return site(ctx, config).Serve(ctx, l)
}

// Handler returns the handler of a Site, which serves browsers until ctx ends.
func Handler(ctx context.Context, config Config) http.Handler {
	return newServer(ctx, config).handler()
}

// server is common to the handlers. All but present, newest and commands is constant.
type server struct {
	ctx    context.Context // ends with the server
	config Config          // without World and Runs
	world  visitors.Confined[*stage.World]
	movers map[*stage.Robot]int // its index in scene.Movers; nil: there is no world
	editor editor
	runs   map[string]visitors.Confined[*Run]
	// encoded returns the floor plan. It is constant and encoded once: a large one
	// takes a second.
	encoded func() (asset, error)
	present presences
	newest  newest
	// commands is the queue of commands to the simulation: the steps of two programs or pages never mix, and the
	// loop makes one step at a time, however many visitors want some.
	commands queue
}

// maxFirst is the most robots whose data is embedded in a page: the page watches at most so many at first.
const maxFirst = 6

// stopPath is where an emergency stop is requested, by POST.
const stopPath = "/stop"

func site(ctx context.Context, config Config) visitors.Site {
	dashboard := config.Site("the dashboard", "-http", Handler(ctx, config))
	dashboard.Stop = stopPath
	return dashboard
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", serveAssets(func(r *http.Request) map[string][]byte {
		return map[string][]byte{"offer": s.offer(r), "newest": s.newestOf(r)}
	}))
	mux.HandleFunc("GET /robots", s.readers(s.robots))
	mux.HandleFunc("GET /shape", s.readers(s.shape))
	mux.HandleFunc("GET /stream", s.accept(s.stream))
	mux.HandleFunc("GET /drive", s.accept(s.drive))
	mux.HandleFunc("GET /presence", s.accept(s.presence))
	s.handleStatus(mux)
	s.handleRuns(mux)
	s.handleCameras(mux)
	mux.HandleFunc("GET /log", s.readers(s.recent))
	if s.movers != nil {
		mux.HandleFunc("GET /world", s.accept(s.watchWorld))
		mux.HandleFunc("GET /plan", s.readers(s.plan))
		mux.HandleFunc("GET /map.yaml", s.readers(s.mapPlan(writeMap)))
		mux.HandleFunc("GET /map.pgm", s.readers(s.mapPlan(writePicture)))
		mux.HandleFunc("GET /simulation", s.readers(s.readSimulation))
		mux.HandleFunc("POST /simulation", s.config.Allowed(rights.Write, s.commandSimulation))
	}
	return mux
}

func newServer(ctx context.Context, config Config) *server {
	s := &server{ctx: ctx, commands: make(queue, 1), runs: map[string]visitors.Confined[*Run]{}}
	if config.World != nil {
		s.world, s.movers = visitors.Confine(config.Post, config.World), map[*stage.Robot]int{}
		s.editor = editor{config.Drafting, config.World}
		for i, robot := range config.World.Robots() {
			s.movers[robot] = i
		}
	}
	for address, run := range config.Runs {
		s.runs[address] = visitors.Confine(config.Post, &run)
	}
	config.World, config.Runs = nil, nil
	s.config = config
	s.encoded = sync.OnceValues(s.encodeWorld)
	return s
}

func (s *server) readers(next http.HandlerFunc) http.HandlerFunc {
	return s.config.Allowed(rights.Read, next)
}

// hostOf returns the IP address of HOST:PORT; for localhost it is 127.0.0.1.
func hostOf(address string) netip.Addr {
	if a, err := netip.ParseAddrPort(address); err == nil {
		return a.Addr()
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

// robots replies with the list of robots, whether there is a world, and the browser's
// rights.
func (s *server) robots(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.offer(r)) // fails if the browser has disconnected
}

// newestOf returns the newest data of the robots that pages watch, by address, as JSON; nil
// if the browser may not read.
func (s *server) newestOf(r *http.Request) []byte {
	if !s.config.RightsOf(r).Has(rights.Read) {
		return nil
	}
	frames := map[string][]byte{}
	for _, robot := range s.config.Robots[:min(len(s.config.Robots), maxFirst)] {
		if frame := s.newest.frame(robot.Address); frame != nil {
			frames[robot.Address] = frame
		}
	}
	text, _ := json.Marshal(frames) // cannot fail
	return text
}

// offer returns the reply to robots, nil if the browser may not read.
func (s *server) offer(r *http.Request) []byte {
	if !s.config.RightsOf(r).Has(rights.Read) {
		return nil
	}
	type robot struct {
		Name    string   `json:"name"`
		Address string   `json:"address"`
		Mover   int      `json:"mover"`             // index of the robot in scene.Movers; -1: not simulated
		Run     bool     `json:"run,omitempty"`     // it is replayed or recorded
		Cameras []string `json:"cameras,omitempty"` // names of those on it
		Pages   []Page   `json:"pages,omitempty"`
	}
	list := struct {
		Robots  []robot `json:"robots"`
		World   bool    `json:"world"`
		Version string  `json:"version"` // of the program
		You     string  `json:"you"`     // the address of the browser
		May     string  `json:"may"`     // its rights
		Takes   bool    `json:"takes"`   // commands of pages take control from a client that keeps it
	}{[]robot{}, s.movers != nil, s.config.Version, visitors.AddressOf(r.RemoteAddr).String(), s.config.RightsOf(r).String(), false}
	for _, r := range s.config.Robots {
		mover, simulated := s.movers[r.Simulated]
		if !simulated {
			mover = -1
		}
		_, run := s.runs[r.Address]
		var cameras []string
		for _, camera := range s.config.Cameras {
			if camera.Robot() == r.Port {
				cameras = append(cameras, camera.Name())
			}
		}
		list.Robots = append(list.Robots, robot{r.Name, r.Address, mover, run, cameras, r.Pages})
		if r.Port != 0 { // its server sees this process, at the server's own address
			list.Takes = s.config.Access.Of(hostOf(r.Address), "").Has(rights.Take)
		}
	}
	text, _ := json.Marshal(list) // cannot fail
	return append(text, '\n')
}
