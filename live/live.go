// Package live serves the Foxglove WebSocket protocol: viewers see what the robots of
// this server sense, and drive them. It is an ordinary client of the Player protocol,
// with the rights of each viewer's own address, and shares no state with the loop.
//
// A viewer has a goroutine that reads its messages and one that writes to it (outbox),
// and for each robot that it watches (feed.go) or commands (drive.go) a goroutine with
// a connection of its own: data never delays a command. Without viewers nothing runs.
package live

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap"

	"player/config/rights"
	"player/devices/readlog"
	"player/foxglove"
	"player/pictures"
	"player/reactor/descriptors"
	"player/visitors"
)

// Config is what Serve needs.
type Config struct {
	Robots []Robot
	// Server is asked for states, and stops robots. It is accessed through Post only.
	Server visitors.Server
	// Post calls a function on the loop. It reports whether the loop still runs.
	Post    func(func(now time.Duration)) bool
	Cameras []*pictures.Camera // whose pictures viewers see
	// Recent returns lines of the server's log as logging.Tail does.
	Recent func(after uint64) (lines [][]byte, last uint64)
	// Access has the rights of viewers by address. The robots themselves only see the
	// address of this process.
	Access rights.Rules
	// Descriptors has those for connections to the robots.
	Descriptors *descriptors.Share
	Name        string             // a further host name of this server; may be empty
	Origins     []string           // of pages that may connect
	TLS         func() *tls.Config // as in visitors.Site
	Version     string             // of the program, with its name
	Log         *zap.Logger
}

// Robot is a robot of this server.
type Robot struct {
	Name    string // each once, without slash
	Address string // host:port
	Port    int
	Devices []Device
	Replay  *readlog.Driver // it is accessed through Post only; nil: this is no replayed log
}

// Device is a device that clients can open.
type Device struct {
	foxglove.Device
	Letter byte
}

// Serve serves viewers on l until ctx ends; then it closes l and returns nil.
func Serve(ctx context.Context, l net.Listener, config Config) error {
	return newServer(ctx, config).serve(l)
}

func (s *server) serve(l net.Listener) error {
	config := s.config
	site := visitors.Site{Name: config.Name, Origins: config.Origins, What: "the server for viewers", Flag: "-foxglove", Can: "drive", TLS: config.TLS, Handler: s, Log: config.Log}
	return site.Serve(s.ctx, l)
}

// server is what the viewers share. It is constant.
type server struct {
	ctx      context.Context // ends with the server
	config   Config
	session  string        // differs between runs of the server
	silence  time.Duration // silenceLimit
	channels []channel
	services []service
	topics   map[string]int // index in channels
}

// channel is a topic that viewers can subscribe to. Its id is its index and one.
type channel struct {
	name    string
	schema  foxglove.Schema
	keep    int   // messages that wait for a viewer that is slow
	robot   int   // index in Config.Robots whose data it is; -1: the server tells it
	devices []int // of the robot, which it is made of
	// tell sends what the server tells, until ctx ends.
	tell func(ctx context.Context, v *viewer, channel uint32) error
}

// logTopic is the topic with the server's log.
const logTopic = "/log"

func newServer(ctx context.Context, config Config) *server {
	s := &server{ctx: ctx, config: config, silence: silenceLimit, session: strconv.FormatInt(time.Now().UnixNano(), 10), topics: map[string]int{}}
	add := func(c channel) {
		s.topics[c.name] = len(s.channels)
		s.channels = append(s.channels, c)
	}
	add(channel{name: logTopic, schema: foxglove.LogSchema(), keep: logLines, robot: -1,
		tell: func(ctx context.Context, v *viewer, channel uint32) error { return v.sendLog(ctx, channel) }})
	for i, robot := range config.Robots {
		for _, topic := range robot.converter().Topics() {
			if topic.Devices != nil { // clients do not see the commands of others
				add(channel{name: topic.Name, schema: topic.Schema, keep: 1, robot: i, devices: topic.Devices})
			}
		}
		add(channel{name: robot.controlTopic(), schema: foxglove.ControlSchema(), keep: 1, robot: -1,
			tell: func(ctx context.Context, v *viewer, channel uint32) error {
				return v.sendControl(ctx, channel, robot.Port)
			}})
		for _, camera := range config.Cameras {
			if camera.Robot() == robot.Port {
				for _, c := range robot.cameraChannels(camera) {
					add(c)
				}
			}
		}
		s.services = append(s.services, servicesOf(i, robot)...)
	}
	return s
}

// Equal reports whether two robots are the same to viewers.
func (r Robot) Equal(other Robot) bool {
	return r.Name == other.Name && r.Address == other.Address && r.Replay == other.Replay && slices.Equal(r.Devices, other.Devices)
}

// controlTopic is the topic of who drives the robot.
func (r Robot) controlTopic() string { return "/" + r.Name + "/control" }

// converter returns a converter for the devices of the robot.
func (r Robot) converter() *foxglove.Converter {
	list := make([]foxglove.Device, len(r.Devices))
	for i, d := range r.Devices {
		list[i] = d.Device
	}
	return foxglove.New(r.Name, list)
}

// device returns the index of the device with a letter, -1 if there is none.
func (r Robot) device(letter byte) int {
	return slices.IndexFunc(r.Devices, func(d Device) bool { return d.Letter == letter })
}

// ServeHTTP serves a viewer.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	visitor := visitors.VisitorOf(r)
	may := s.config.Access.Of(visitor.Address, visitor.Name)
	if err := visitors.Need(may, rights.Read); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if r.Method == http.MethodGet && r.URL.Path == layoutPath {
		s.serveLayout(w, r)
		return
	}
	ws, err := visitor.Accept(w, r, foxglove.Subprotocols())
	if err != nil {
		return
	}
	defer ws.CloseNow()
	log := s.config.Log.With(zap.String("viewer", r.RemoteAddr))
	log.Info("viewer connected", zap.String("protocol", ws.Subprotocol()))
	v := newViewer(s, ws, visitor, may, r.RemoteAddr)
	err = v.serve()
	log.Info("viewer disconnected", zap.Error(err))
}
