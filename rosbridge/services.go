package rosbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"player/visitors"
)

// service is what programs can call: of a robot, or, with call, of this server.
type service struct {
	name, kind string
	call       func(arguments) (values any, err error)
	of         visitors.Service
	robot      int
}

// arguments are those of all services.
type arguments struct {
	Data                 *bool
	Topic, Service, Type string
	Node                 string
}

// done is the response of std_srvs' services.
type done struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

const trigger, setBool = "std_srvs/srv/Trigger", "std_srvs/srv/SetBool"

// servicesOf returns the services of a robot.
func (s *server) servicesOf(robot int) (list []service) {
	for _, v := range s.config.Robots[robot].Services() {
		kind := trigger
		if v.Flag {
			kind = setBool
		}
		list = append(list, service{name: s.prefix(robot) + "/" + v.Name, kind: kind, of: v, robot: robot})
	}
	return list
}

// service returns the service of a name.
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
			Op      string `json:"op"`
			ID      string `json:"id,omitempty"`
			Service string `json:"service"`
			Values  any    `json:"values"`
			Result  bool   `json:"result"`
		}{"service_response", r.ID, r.Service, values, err == nil})
	}
	v, err := p.server.service(r.Service)
	if err != nil {
		return answer(nil, err)
	}
	var args arguments
	if r.Args != nil && string(r.Args) != "[]" { // an empty list is none, says the protocol
		err = json.Unmarshal(r.Args, &args)
	}
	if v.kind == setBool && args.Data == nil {
		err = errors.New(`the arguments have to be {"data": true} or {"data": false}`)
	}
	if err != nil {
		return answer(nil, err)
	}
	if v.call != nil {
		return answer(v.call(args))
	}
	return p.Call(v.of, args.Data != nil && *args.Data, p.server.config.Robots[v.robot], func() *visitors.Wheels { return p.wheelsOf(v.robot) },
		func(err error) error { return answer(done{true, ""}, err) })
}
