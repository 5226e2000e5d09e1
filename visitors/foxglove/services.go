package foxglove

import (
	"encoding/json"
	"errors"
	"fmt"

	"player/formats/foxglove"
	"player/visitors"
)

// service is a service of a robot. Its id is its index and one.
type service struct {
	visitors.Service
	name  string
	robot int
}

// describe returns the description of a service for viewers.
func (s service) describe(id uint32) foxglove.Service {
	d := foxglove.Service{ID: id, Name: s.name, Type: "std_srvs/Trigger"}
	request := `{"type":"object","properties":{}}`
	if s.Flag { // as in ROS
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
		return v.Outbox.Reply(false, foxglove.AppendServiceResponse(nil, c, []byte(`{"success":true,"message":""}`)))
	}
	i := int(c.Service) - 1
	if i < 0 || i >= len(v.server.services) {
		return answer(fmt.Errorf("there is no service %d", c.Service))
	}
	s := v.server.services[i]
	if c.Encoding != foxglove.Encoding {
		return answer(fmt.Errorf("requests are %s, not %.60q", foxglove.Encoding, c.Encoding))
	}
	var request struct{ Data *bool }
	if err := json.Unmarshal(c.Payload, &request); s.Flag && (err != nil || request.Data == nil) {
		return answer(errors.New(`the request has to be {"data": true} or {"data": false}`))
	}
	return v.Call(s.Service, s.Flag && *request.Data, s.robot, v.server.config.Robots[s.robot].Robot, answer)
}
