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
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sort"
	"strings"

	"go.uber.org/zap"

	"player/client"
	"player/codec"
	"player/formats/ros"
	"player/formats/telemetry"
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
	targets  []target       // of commands, by robot
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
	s := &server{ctx: ctx, config: config, index: map[string]int{}}
	for _, robot := range config.Robots {
		s.spaces = append(s.spaces, robot.Name)
	}
	s.spaces = ros.Names(ros.Robot, s.spaces)
	for i, robot := range config.Robots {
		if s.namespace(i) != "" && s.spaces[i] != robot.Name {
			config.Log.Warn("ROS does not take the name of a robot: its topics and services have another one", zap.String("robot", robot.Name), zap.String("in ROS", s.spaces[i]))
		}
		s.offerAll(i)
		s.services = append(s.services, s.servicesOf(i)...)
	}
	sort.Slice(s.topics, func(i, j int) bool { return s.topics[i].name < s.topics[j].name }) // slices.SortFunc is 19 kB larger
	for i, t := range s.topics {
		s.index[t.name] = i
	}
	s.services = append(s.services, s.introspection()...)
	return s
}

// offerAll offers the topics of a robot: of the table for each device, and the frames.
func (s *server) offerAll(robot int) {
	devices := s.config.Robots[robot].Devices
	rows := ros.Table()
	for _, d := range devices {
		from := source{robot, d.Code}
		if d.Interface == "position" && d.Index == 0 || d.Interface == "ptz" {
			s.offer("/tf", "tf2_msgs/msg/TFMessage", from)
		}
		for _, row := range rows {
			switch {
			case row.Interface != d.Interface:
			case !row.Command:
				for _, number := range numbers(row, d) {
					s.offer(s.prefix(robot)+"/"+ros.TopicOf(row.Topic, d.Index, number), row.Type, from)
				}
			case d.Interface != "position" || d.Index == 0: // further wheels are not driven
				t := target{topic: s.prefix(robot) + "/" + ros.TopicOf(row.Topic, d.Index, 0), kind: row.Type, robot: robot, device: d, parse: s.parsers(robot)[d.Interface]}
				s.targets = append(s.targets, t)
			}
		}
		if d.Interface == "ranger" && d.Rays == nil {
			s.offer("/tf_static", "tf2_msgs/msg/TFMessage", from)
		}
	}
	if len(devices) > 0 && len(s.converter(robot).Data(0, 0, nil)) > 0 { // without data it sends the fixed frames only
		s.offer("/tf_static", "tf2_msgs/msg/TFMessage", source{robot, devices[0].Code})
	}
}

// numbers returns the numbers of the topics of a row for a device. A ranger has topics of the form of its readings; if
// that is not known before it is open, it is offered as a scan and as points.
func numbers(row ros.Row, d visitors.Device) (list []int) {
	if d.Interface == "ranger" {
		form := telemetry.FormOf(d.Rays, codec.MaxReadings)
		switch row.Topic {
		case "ranger/scan":
			if form != telemetry.ScanForm && form != telemetry.NoForm {
				return nil
			}
		case "ranger/points":
			if form != telemetry.CloudForm && form != telemetry.NoForm {
				return nil
			}
		default:
			for _, r := range d.Rays {
				if form == telemetry.BeamsForm {
					list = append(list, r.First)
				}
			}
			return list
		}
	}
	if !strings.Contains(row.Topic, "#") {
		return []int{0}
	}
	for i := range codec.SonarCount {
		list = append(list, i)
	}
	return list
}

func (s *server) offer(name, kind string, from source) {
	i := slices.IndexFunc(s.topics, func(known topic) bool { return known.name == name })
	if i < 0 {
		text, _ := json.Marshal(name) // strings have no errors
		i = len(s.topics)
		s.topics = append(s.topics, topic{name: name, kind: kind, head: append(append([]byte(`{"op":"publish","topic":`), text...), `,"msg":`...)})
	}
	if !slices.Contains(s.topics[i].sources, from) {
		s.topics[i].sources = append(s.topics[i].sources, from)
	}
}

// target is a device that a topic commands.
type target struct {
	topic, kind string
	robot       int
	device      visitors.Device
	parse       parse // nil: of the wheels
}

// parse parses a message for a device. The result sends its commands.
type parse func(message []byte, d telemetry.Device) (send func(r *client.Client, code byte) error, err error)

// parsers returns the parsers for a robot by the interface.
func (s *server) parsers(robot int) map[string]parse {
	return map[string]parse{
		"io": func(message []byte, d telemetry.Device) (func(*client.Client, byte) error, error) {
			commands, err := ros.ParseOutputs(message, d)
			return func(r *client.Client, code byte) (err error) {
				for _, c := range commands {
					err = errors.Join(err, r.SetOutput(code, c.Channel, c.Value))
				}
				return err
			}, err
		},
		"servo": func(message []byte, d telemetry.Device) (func(*client.Client, byte) error, error) {
			commands, err := ros.ParseJoints(message, d)
			return func(r *client.Client, code byte) (err error) {
				for _, c := range commands {
					err = errors.Join(err, r.MoveJoint(code, c.Joint, c.Goal, c.Speed))
				}
				return err
			}, err
		},
		"goto": func(message []byte, _ telemetry.Device) (func(*client.Client, byte) error, error) {
			goal, err := ros.ParseGoal(message, s.namespace(robot))
			goal.Tag = uint16(rand.N(1 << 16)) // each message is a new goal, also of the place of one that has ended
			return func(r *client.Client, code byte) error { return r.SetGoal(code, goal) }, err
		},
	}
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
