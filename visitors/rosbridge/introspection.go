package rosbridge

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"player/formats/ros"
)

// node is this server's name as a program of ROS.
const node = "/player"

// introspection returns the services by which programs find topics, types and services: the services of rosapi that
// roslib calls. Those for parameters are missing: this server has none.
func (s *server) introspection() []service {
	names, kinds := s.names()
	list := func(name, kind string, call func(arguments) (any, error), fields ...string) service {
		return service{name: "/rosapi/" + name, kind: "rosapi_msgs/srv/" + kind, fields: fields, call: call}
	}
	details := func(part func(serviceKind) []typedef) func(arguments) (any, error) {
		return func(args arguments) (any, error) {
			for _, k := range serviceKinds() {
				if args.Type != "" && sameType(args.Type, k.name) {
					return map[string]any{"typedefs": part(k)}, nil
				}
			}
			return nil, fmt.Errorf("the type of services %.60q is not described here", args.Type)
		}
	}
	return []service{
		list("topics", "Topics", func(arguments) (any, error) {
			return map[string]any{"topics": names, "types": kinds}, nil
		}),
		list("topics_and_raw_types", "TopicsAndRawTypes", func(arguments) (any, error) {
			texts := make([]string, len(kinds))
			for i, kind := range kinds {
				texts[i] = ros.Schema(kind)
			}
			return map[string]any{"topics": names, "types": kinds, "typedefs_full_text": texts}, nil
		}),
		list("topics_for_type", "TopicsForType", func(args arguments) (any, error) {
			return map[string]any{"topics": ofType(args.Type, names, kinds)}, nil
		}, "type"),
		list("topic_type", "TopicType", func(args arguments) (any, error) {
			i := slices.Index(names, absolute(args.Topic))
			if i < 0 {
				return nil, fmt.Errorf("there is no topic %.60q", args.Topic)
			}
			return map[string]any{"type": kinds[i]}, nil
		}, "topic"),
		list("message_details", "MessageDetails", func(args arguments) (any, error) {
			all := typedefs(args.Type)
			if all == nil {
				return nil, fmt.Errorf("there is no topic of type %.60q", args.Type)
			}
			return map[string]any{"typedefs": all}, nil
		}, "type"),
		list("publishers", "Publishers", func(args arguments) (any, error) {
			publishers := []string{}
			if _, sent := s.index[absolute(args.Topic)]; sent {
				publishers = append(publishers, node)
			}
			return map[string]any{"publishers": publishers}, nil
		}, "topic"),
		list("services", "Services", func(arguments) (any, error) {
			names, _ := s.serviceNames()
			return map[string]any{"services": names}, nil
		}),
		list("services_for_type", "ServicesForType", func(args arguments) (any, error) {
			names, kinds := s.serviceNames()
			return map[string]any{"services": ofType(args.Type, names, kinds)}, nil
		}, "type"),
		list("service_type", "ServiceType", func(args arguments) (any, error) {
			v, err := s.service(args.Service)
			return map[string]any{"type": v.kind}, err
		}, "service"),
		list("service_request_details", "ServiceRequestDetails", details(func(k serviceKind) []typedef { return k.request }), "type"),
		list("service_response_details", "ServiceResponseDetails", details(func(k serviceKind) []typedef { return k.response }), "type"),
		list("nodes", "Nodes", func(arguments) (any, error) { return map[string]any{"nodes": []string{node}}, nil }),
		list("node_details", "NodeDetails", func(args arguments) (any, error) {
			if absolute(args.Node) != node {
				return nil, fmt.Errorf("there is no node %.60q", args.Node)
			}
			services, _ := s.serviceNames()
			sent := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, sent := s.index[name]; return !sent })
			taken := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, sent := s.index[name]; return sent })
			return map[string]any{"subscribing": taken, "publishing": sent, "services": services}, nil
		}, "node"),
		// Pages ask for the time as a sign of life.
		list("get_time", "GetTime", func(arguments) (any, error) {
			now := time.Now()
			return map[string]any{"time": map[string]int64{"sec": now.Unix(), "nanosec": int64(now.Nanosecond())}}, nil
		}),
		list("action_servers", "GetActionServers", func(arguments) (any, error) { return map[string]any{"action_servers": []string{}}, nil }),
		list("get_param_names", "GetParamNames", func(arguments) (any, error) { return map[string]any{"names": []string{}}, nil }),
		list("get_param", "GetParam", func(arguments) (any, error) { return nil, errors.New("this server has no parameters") }),
	}
}

// names returns the names and types of all topics, also of commands.
func (s *server) names() (names, kinds []string) {
	for _, t := range s.topics {
		names, kinds = append(names, t.name), append(kinds, t.kind)
	}
	for _, t := range s.targets {
		names, kinds = append(names, t.topic), append(kinds, t.kind)
	}
	return names, kinds
}

// serviceNames returns the names and types of all services.
func (s *server) serviceNames() (names, kinds []string) {
	for _, v := range s.services {
		names, kinds = append(names, v.name), append(kinds, v.kind)
	}
	return names, kinds
}

func ofType(given string, names, kinds []string) []string {
	found := []string{}
	for i, kind := range kinds {
		if given != "" && sameType(given, kind) {
			found = append(found, names[i])
		}
	}
	return found
}

// typedef is rosapi_msgs/msg/TypeDef: the fields of a message.
type typedef struct {
	Type    string   `json:"type"`
	Names   []string `json:"fieldnames"`
	Types   []string `json:"fieldtypes"`
	Lengths []int    `json:"fieldarraylen"` // -1: no array, 0: of any length
	// Examples and constants are part of the message, and empty here.
	Examples    []string `json:"examples"`
	ConstNames  []string `json:"constnames"`
	ConstValues []string `json:"constvalues"`
}

// add adds a field as ros2msg writes it: "float32[] ranges".
func (d *typedef) add(kind, name string) {
	length := -1
	if of, array, isArray := strings.Cut(kind, "["); isArray {
		kind = of
		length, _ = strconv.Atoi(strings.TrimSuffix(array, "]")) // 0 if it has no number
	}
	d.Names, d.Types, d.Lengths = append(d.Names, name), append(d.Types, inFull(kind)), append(d.Lengths, length)
}

func newTypedef(name string) typedef {
	return typedef{name, []string{}, []string{}, []int{}, []string{}, []string{}, []string{}}
}

// inFull returns a name of a message as ROS 2 writes it, with /msg/.
func inFull(kind string) string {
	if pkg, name, found := strings.Cut(kind, "/"); found && !strings.Contains(name, "/") {
		return pkg + "/msg/" + name
	}
	return kind
}

// typedefs returns a message and those in it, or nil if there is none of that name.
func typedefs(kind string) (all []typedef) {
	text := ros.Schema(inFull(kind))
	if text == "" {
		return nil
	}
	all = append(all, newTypedef(inFull(kind)))
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) != 2:
		case words[0] == "MSG:":
			all = append(all, newTypedef(inFull(words[1])))
		default:
			all[len(all)-1].add(words[0], words[1])
		}
	}
	return all
}

// serviceKind is the type of services.
type serviceKind struct {
	name              string
	request, response []typedef
}

// serviceKinds returns the types of the services of robots.
func serviceKinds() []serviceKind {
	done := newTypedef("std_srvs/srv/Trigger_Response")
	done.add("bool", "success")
	done.add("string", "message")
	data := newTypedef("std_srvs/srv/SetBool_Request")
	data.add("bool", "data")
	return []serviceKind{
		{trigger, []typedef{newTypedef("std_srvs/srv/Trigger_Request")}, []typedef{done}},
		{setBool, []typedef{data}, []typedef{done}},
	}
}
