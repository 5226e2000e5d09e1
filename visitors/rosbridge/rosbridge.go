// Package rosbridge serves the protocol rosbridge v2 (JSON over WebSocket): programs that
// use ROS by roslibjs, roslibpy and the like get the sensor data of this server's robots,
// and drive them. It is an ordinary client of the Player protocol, with the rights of each
// program's own address, and without access to the loop's state.
//
// A program has a goroutine that reads its messages and one that writes to it, and, for each
// robot that it watches or commands, a goroutine with its own connection. Without programs
// nothing runs.
package rosbridge

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"sort"

	"go.uber.org/zap"

	"player/codec"
	"player/formats/ros"
	"player/visitors"
)

// LogDisconnected is a message of the log, by which tests find lines.
const LogDisconnected = "program of ROS disconnected"

// Config has the settings of Serve.
type Config struct {
	visitors.Common
	Robots []visitors.Robot
}

// Serve serves programs on l until ctx ends; then it closes l and returns nil.
func Serve(ctx context.Context, l net.Listener, config Config) error {
	return config.Site("the server for programs of ROS", "-rosbridge", Handler(ctx, config)).Serve(ctx, l)
}

// Handler returns the handler of a Site, which serves programs until ctx ends.
func Handler(ctx context.Context, config Config) http.Handler { return newServer(ctx, config) }

// server is common to the programs. It is constant.
type server struct {
	ctx      context.Context // ends with the server
	config   Config
	spaces   []string       // namespaces of the robots
	topics   []topic        // by name
	index    map[string]int // in topics
	drives   map[string]int // the robot that a topic drives
	services []service
}

// topic is a topic that programs can subscribe to.
type topic struct {
	name, kind string // "/scan", "sensor_msgs/msg/LaserScan"
	head       []byte // of its messages
	sources    []source
}

// source is a device that a topic is made of.
type source struct {
	robot  int // index in Config.Robots
	device byte
}

func newServer(ctx context.Context, config Config) *server {
	s := &server{ctx: ctx, config: config, index: map[string]int{}, drives: map[string]int{}}
	for _, robot := range config.Robots {
		s.spaces = append(s.spaces, robot.Name)
	}
	s.spaces = ros.Names(ros.Robot, s.spaces)
	for i, robot := range config.Robots {
		if s.namespace(i) != "" && s.spaces[i] != robot.Name {
			config.Log.Warn("ROS does not take the name of a robot: its topics and services have another one", zap.String("robot", robot.Name), zap.String("in ROS", s.spaces[i]))
		}
		c := s.converter(i)
		for j, d := range robot.Devices {
			for _, m := range c.Data(j, 0, sample(d.Interface)) {
				s.offer(c.Topics()[m.Topic], source{i, d.Code})
			}
		}
		s.services = append(s.services, s.servicesOf(i)...)
		if robot.Device(codec.Position) >= 0 {
			s.drives[s.prefix(i)+velocityTopic] = i
		}
	}
	sort.Slice(s.topics, func(i, j int) bool { return s.topics[i].name < s.topics[j].name }) // slices.SortFunc is 19 kB larger
	for i, t := range s.topics {
		s.index[t.name] = i
	}
	s.services = append(s.services, s.introspection()...)
	return s
}

func (s *server) offer(t ros.Topic, from source) {
	i := slices.IndexFunc(s.topics, func(known topic) bool { return known.name == t.Name })
	if i < 0 {
		name, _ := json.Marshal(t.Name) // strings have no errors
		i = len(s.topics)
		s.topics = append(s.topics, topic{name: t.Name, kind: t.Type, head: append(append([]byte(`{"op":"publish","topic":`), name...), `,"msg":`...)})
	}
	if !slices.Contains(s.topics[i].sources, from) {
		s.topics[i].sources = append(s.topics[i].sources, from)
	}
}

// sample returns a payload that a device of an interface may send.
func sample(name string) []byte {
	switch codec.InterfaceLetter(name) {
	case codec.Position:
		return make([]byte, codec.PositionSize)
	case codec.Sonar:
		return make([]byte, codec.SonarSize)
	case codec.Laser:
		return make([]byte, codec.LaserSize)
	case codec.Misc:
		return make([]byte, codec.MiscSize)
	case codec.PTZ:
		return make([]byte, codec.PTZSize)
	case codec.Vision:
		return new(codec.VisionData).Append(nil)
	case codec.IMU:
		return make([]byte, codec.IMUSize)
	case codec.GPS:
		return (&codec.GPSData{Fix: codec.PlainFix}).Append(nil)
	}
	return nil
}

// namespace returns the prefix of a robot's topics, empty if it is the only robot.
func (s *server) namespace(robot int) string {
	if len(s.config.Robots) == 1 {
		return ""
	}
	return s.spaces[robot]
}

// prefix returns "/" and the namespace, or nothing.
func (s *server) prefix(robot int) string {
	if name := s.namespace(robot); name != "" {
		return "/" + name
	}
	return ""
}

func (s *server) converter(robot int) *ros.Converter {
	return ros.New(s.namespace(robot), s.config.Robots[robot].Drawn())
}

// ServeHTTP serves a program.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guest := s.config.Admit(s.ctx, w, r, visitors.Terms{
		Name: visitors.NameOf("rosbridge", r), MessageLimit: messageLimit, Silence: silenceLimit})
	if guest == nil {
		return
	}
	defer guest.End()
	log := s.config.Log.With(zap.String("program", r.RemoteAddr))
	log.Info("program of ROS connected")
	err := newConnection(s, guest).serve()
	log.Info(LogDisconnected, zap.Error(err))
}
