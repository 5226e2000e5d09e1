// Package foxglove serves the Foxglove WebSocket protocol: viewers show the sensor data of
// this server's robots, and drive them. It is an ordinary client of the Player protocol,
// with the rights of each viewer's own address, and without access to the loop's state.
//
// A viewer has a goroutine that reads its messages and one that writes to it (outbox),
// and for each robot that it watches (feed.go) or commands (drive.go) a goroutine with
// a connection of its own: data never delays a command. Without viewers nothing runs.
package foxglove

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap"

	"player/devices/readlog"
	"player/formats/foxglove"
	"player/formats/telemetry"
	"player/visitors"
	"player/visitors/pictures"
)

// LogDisconnected is a message of the log, by which tests find lines.
const LogDisconnected = "viewer disconnected"

// Config has the settings of Serve.
type Config struct {
	visitors.Common
	Robots  []Robot
	Cameras []*pictures.Camera // viewers see their pictures
	// Recent returns lines of the server's log as logging.Tail does.
	Recent  func(after uint64) (lines [][]byte, last uint64)
	Version string // of the program, with its name
}

// Robot is a robot of this server.
type Robot struct {
	visitors.Robot
	Replay *readlog.Driver // nil: this is no replayed log. Serve confines it to the loop.
	replay replay          // Replay while it is served
}

// Serve serves viewers on l until ctx ends; then it closes l and returns nil.
func Serve(ctx context.Context, l net.Listener, config Config) error {
	return config.Site("the server for viewers", "-foxglove", Handler(ctx, config)).Serve(ctx, l)
}

// Handler returns the handler of a Site, which serves viewers until ctx ends.
func Handler(ctx context.Context, config Config) http.Handler { return newServer(ctx, config) }

// server is common to the viewers. All but statuses is constant.
type server struct {
	statuses statuses
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
	keep    int   // messages that wait for a slow viewer
	robot   int   // index in Config.Robots; -1: the data is the server's own
	devices []int // of the robot, which it is made of
	// publish sends the data of the server, until ctx ends.
	publish func(ctx context.Context, v *viewer, channel uint32) error
}

// logTopic is the topic with the server's log.
const logTopic = "/log"

func newServer(ctx context.Context, config Config) *server {
	s := &server{ctx: ctx, config: config, silence: silenceLimit, session: strconv.FormatInt(time.Now().UnixNano(), 10), topics: map[string]int{}}
	add := func(c channel) {
		s.topics[c.name] = len(s.channels)
		s.channels = append(s.channels, c)
	}
	add(channel{name: logTopic, schema: foxglove.SchemaOf(telemetry.Log{}), keep: logLines, robot: -1,
		publish: func(ctx context.Context, v *viewer, channel uint32) error { return v.sendLog(ctx, channel) }})
	s.config.Robots = slices.Clone(config.Robots)
	for i, robot := range config.Robots {
		if robot.Replay != nil {
			robot.replay, robot.Replay = new(visitors.Confine(config.Post, robot.Replay)), nil
		}
		s.config.Robots[i] = robot
		for _, topic := range robot.converter().Topics() {
			if topic.Devices != nil { // clients do not see the commands of others
				add(channel{name: topic.Name, schema: foxglove.SchemaOf(topic.Message), keep: 1, robot: i, devices: topic.Devices})
			}
		}
		add(channel{name: robot.controlTopic(), schema: foxglove.SchemaOf(telemetry.Control{}), keep: 1, robot: -1,
			publish: func(ctx context.Context, v *viewer, channel uint32) error {
				return v.sendControl(ctx, channel, robot.Port)
			}})
		for _, camera := range config.Cameras {
			if camera.Robot() == robot.Port {
				for _, c := range robot.cameraChannels(camera) {
					add(c)
				}
			}
		}
		for _, v := range robot.Services() {
			s.services = append(s.services, service{v, "/" + robot.Name + "/" + v.Name, i})
		}
	}
	return s
}

// Equal reports whether two robots are the same to viewers.
func (r Robot) Equal(other Robot) bool {
	return r.Robot.Equal(other.Robot) && r.Replay == other.Replay
}

// controlTopic is the topic with the client that drives the robot.
func (r Robot) controlTopic() string { return "/" + r.Name + "/control" }

func (r Robot) converter() *telemetry.Converter { return telemetry.New(r.Name, r.Drawn()) }

// ServeHTTP serves a viewer.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == layoutPath {
		s.serveLayout(w, r)
		return
	}
	guest := s.config.Admit(s.ctx, w, r, visitors.Terms{Name: visitors.NameOf("foxglove", r), Silence: s.silence,
		Subprotocols: foxglove.Subprotocols(), MessageLimit: messageLimit})
	if guest == nil {
		return
	}
	defer guest.End()
	log := s.config.Log.With(zap.String("viewer", r.RemoteAddr))
	log.Info("viewer connected", zap.String("protocol", guest.WS.Subprotocol()))
	err := newViewer(s, guest).serve()
	log.Info(LogDisconnected, zap.Error(err))
}
