package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"player/client"
	"player/codec"
	"player/config/rights"
	"player/foxglove"
	"player/visitors"
)

// service is a service of a robot. Its id is its index and one.
type service struct {
	name  string
	robot int
	needs rights.Set
	flag  bool // it has an argument, as std_srvs/SetBool of ROS; otherwise std_srvs/Trigger
	// configure configures the wheels. If it is nil, the server stops the robot
	// (emergency) or releases it.
	configure func(r *client.Client, on bool) error
	emergency bool
}

// servicesOf returns the services of a robot.
func servicesOf(i int, robot Robot) (list []service) {
	prefix := "/" + robot.Name
	if robot.device(codec.Position) >= 0 {
		list = append(list,
			service{prefix + "/motors", i, rights.Write | rights.Config, true, (*client.Client).ChangeMotorState, false},
			service{prefix + "/reset_odometry", i, rights.Write | rights.Config, false, func(r *client.Client, _ bool) error { return r.ResetPosition() }, false})
	}
	return append(list,
		service{prefix + "/emergency_stop", i, rights.Write, false, nil, true},
		service{prefix + "/release", i, rights.Write, false, nil, false})
}

// describe returns what viewers are told of a service.
func (s service) describe(id uint32) foxglove.Service {
	d := foxglove.Service{ID: id, Name: s.name, Type: "std_srvs/Trigger"}
	request := `{"type":"object","properties":{}}`
	if s.flag {
		d.Type, request = "std_srvs/SetBool", `{"type":"object","properties":{"data":{"type":"boolean"}},"required":["data"]}`
	}
	response := `{"type":"object","properties":{"success":{"type":"boolean"},"message":{"type":"string"}}}`
	d.Request = foxglove.Schema{Name: d.Type + "_Request", Text: []byte(request)}.Messages()
	d.Response = foxglove.Schema{Name: d.Type + "_Response", Text: []byte(response)}.Messages()
	return d
}

// call calls a service for the viewer, and answers: now, or when the wheels have
// started.
func (v *viewer) call(c foxglove.ServiceCall) error {
	answer := func(err error) error {
		if err != nil {
			return v.send("serviceCallFailure", foxglove.ServiceFailure{ServiceID: c.Service, CallID: c.Call, Message: err.Error()})
		}
		return v.outbox.Reply(false, foxglove.AppendServiceResponse(nil, c, []byte(`{"success":true,"message":""}`)))
	}
	i := int(c.Service) - 1
	if i < 0 || i >= len(v.server.services) {
		return answer(fmt.Errorf("there is no service %d", c.Service))
	}
	s := v.server.services[i]
	if err := visitors.Need(v.may, s.needs); err != nil {
		return answer(err)
	}
	if c.Encoding != foxglove.Encoding {
		return answer(fmt.Errorf("requests are %s, not %.60q", foxglove.Encoding, c.Encoding))
	}
	var request struct{ Data *bool }
	if err := json.Unmarshal(c.Payload, &request); s.flag && (err != nil || request.Data == nil) {
		return answer(errors.New(`the request has to be {"data": true} or {"data": false}`))
	}
	if s.configure == nil {
		return answer(v.emergency(s))
	}
	if err := v.driver(s.robot).Configure(func(r *client.Client) error { return s.configure(r, s.flag && *request.Data) }, answer); err != nil {
		return answer(err)
	}
	return nil
}

// emergency stops a robot until it is released, or releases it.
func (v *viewer) emergency(s service) error {
	config := v.server.config
	return visitors.OnLoop(v.ctx, config.Post, func(now time.Duration) {
		config.Server.EmergencyStop(now, config.Robots[s.robot].Port, s.emergency, v.address)
	})
}
