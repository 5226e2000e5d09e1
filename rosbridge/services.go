package rosbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"player/client"
	"player/codec"
	"player/config/rights"
	"player/visitors"
)

// service is what programs can call. call returns the values of the response, or lets
// later answer and returns errLater.
type service struct {
	name, kind string
	call       func(p *program, args arguments, later func(error) error) (any, error)
}

// arguments are those of all services.
type arguments struct {
	Data                 *bool
	Topic, Service, Type string
	Node                 string
}

// errLater reports that a call is answered when the wheels have started.
var errLater = errors.New("the answer comes later")

// done is the response of std_srvs' services.
type done struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

const trigger, setBool = "std_srvs/srv/Trigger", "std_srvs/srv/SetBool"

// servicesOf returns the services of a robot.
func (s *server) servicesOf(robot int) []service {
	prefix := s.prefix(robot)
	configure := func(run func(*client.Client, arguments) error) func(*program, arguments, func(error) error) (any, error) {
		return func(p *program, args arguments, later func(error) error) (any, error) {
			if err := visitors.Need(p.may, rights.Write|rights.Config); err != nil {
				return nil, err
			}
			if err := p.wheelsOf(robot).Configure(func(c *client.Client) error { return run(c, args) }, later); err != nil {
				return nil, err
			}
			return nil, errLater
		}
	}
	emergency := func(on bool) func(*program, arguments, func(error) error) (any, error) {
		return func(p *program, _ arguments, _ func(error) error) (any, error) {
			if err := visitors.Need(p.may, rights.Write); err != nil {
				return nil, err
			}
			port := s.config.Robots[robot].Port
			return done{true, ""}, visitors.OnLoop(p.ctx, s.config.Post, func(now time.Duration) { s.config.Server.EmergencyStop(now, port, on, p.by) })
		}
	}
	list := []service{{prefix + "/emergency_stop", trigger, emergency(true)}, {prefix + "/release", trigger, emergency(false)}}
	if s.config.Robots[robot].device(codec.Position) >= 0 {
		list = append(list, service{prefix + "/motors", setBool, configure(func(c *client.Client, args arguments) error { return c.ChangeMotorState(*args.Data) })},
			service{prefix + "/reset_odometry", trigger, configure(func(c *client.Client, _ arguments) error { return c.ResetPosition() })})
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
	values, err := v.call(p, args, func(err error) error { return answer(done{true, ""}, err) })
	if errors.Is(err, errLater) {
		return nil
	}
	return answer(values, err)
}
