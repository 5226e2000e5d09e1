package rosbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"player/visitors"
)

// service is a service that programs can call: of a robot, or, if call is set, of this server.
type service struct {
	name, kind string
	fields     []string // of the request, in its order
	call       func(arguments) (values any, err error)
	of         visitors.Service
	robot      int
}

// arguments are the arguments of all services.
type arguments struct {
	Data                 *bool
	Topic, Service, Type string
	Node                 string
}

// arguments reads the arguments of a call: an object, a list of the values of the fields, or the
// object in a list. Anything else means no arguments, as in rosbridge.
func (v service) arguments(text json.RawMessage) (args arguments, err error) {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil {
		if text = nil; len(list) == 1 && list[0][0] == '{' {
			text = list[0]
		} else if list != nil {
			values := map[string]json.RawMessage{}
			for i, value := range list[:min(len(list), len(v.fields))] {
				values[v.fields[i]] = value
			}
			text, _ = json.Marshal(values) // they are JSON
		}
	}
	if len(text) > 0 && text[0] == '{' {
		err = json.Unmarshal(text, &args)
	}
	return args, err
}

// done is the response of std_srvs' services.
type done struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

const trigger, setBool = "std_srvs/srv/Trigger", "std_srvs/srv/SetBool"

func (s *server) servicesOf(robot int) (list []service) {
	for _, v := range s.config.Robots[robot].Services() {
		one := service{name: s.prefix(robot) + "/" + v.Name, kind: trigger, of: v, robot: robot}
		if v.Flag {
			one.kind, one.fields = setBool, []string{"data"}
		}
		list = append(list, one)
	}
	return list
}

func (s *server) service(name string) (service, error) {
	i := slices.IndexFunc(s.services, func(v service) bool { return v.name == absolute(name) })
	if i < 0 {
		return service{}, fmt.Errorf("there is no service %.60q", name)
	}
	return s.services[i], nil
}

// call calls a service for the program, and answers: now, or when the wheels have started.
func (p *program) call(r request) error {
	answer := func(values any, err error) error {
		if err != nil {
			values = err.Error()
		}
		return p.reply(struct {
			Op      string   `json:"op"`
			ID      identity `json:"id,omitempty"`
			Service string   `json:"service"`
			Values  any      `json:"values"`
			Result  bool     `json:"result"`
		}{"service_response", r.ID, r.Service, values, err == nil})
	}
	v, err := p.server.service(r.Service)
	if err != nil {
		return answer(nil, err)
	}
	args, err := v.arguments(r.Args)
	if v.kind == setBool && args.Data == nil {
		err = errors.New(`the arguments have to be {"data": true} or {"data": false}`)
	}
	if err != nil {
		return answer(nil, err)
	}
	if v.call != nil {
		return answer(v.call(args))
	}
	return p.guest.call(v, args.Data != nil && *args.Data, func(err error) error {
		return answer(done{true, ""}, err)
	})
}
