package visitors

import (
	"strconv"
	"time"

	"player/client"
	"player/codec"
	"player/config/rights"
)

// Service is a request that a guest can make to a robot in addition to commands.
type Service struct {
	Name string // "motors", "servo_1/power"
	Flag bool   // it has an argument, on or off

	needs rights.Set
	// configure configures a device. If it is nil, the service begins the emergency stop
	// (stop) or ends it.
	configure func(r *client.Client, on bool) error
	device    byte
	stop      bool
}

// Services returns the services of a robot.
func (r Robot) Services() []Service {
	list := []Service{{Name: "emergency_stop", needs: rights.Write, stop: true}, {Name: "release", needs: rights.Write}}
	const configures = rights.Write | rights.Config
	if r.Device(codec.Position) >= 0 {
		list = append(list, Service{Name: "motors", Flag: true, device: codec.Position, needs: configures, configure: (*client.Client).ChangeMotorState},
			Service{Name: "reset_odometry", device: codec.Position, needs: configures, configure: func(r *client.Client, _ bool) error { return r.ResetPosition() }})
	}
	for _, d := range r.Devices {
		reset := func(r *client.Client, _ bool) error { return r.Config(d.Code, []byte{codec.ConfigOdometry}) }
		name := d.Interface
		if d.Index > 0 {
			name += "_" + strconv.Itoa(d.Index)
		}
		switch d.Interface {
		case "io":
			list = append(list, Service{Name: name + "/reset", device: d.Code, needs: configures, configure: reset})
		case "servo":
			power := func(r *client.Client, on bool) error {
				arg := byte(0)
				if on {
					arg = 1
				}
				return r.Config(d.Code, []byte{codec.ConfigMotors, arg})
			}
			list = append(list, Service{Name: name + "/home", device: d.Code, needs: configures, configure: reset},
				Service{Name: name + "/power", Flag: true, device: d.Code, needs: configures, configure: power},
				Service{Name: name + "/stop", device: d.Code, needs: rights.Write, configure: func(r *client.Client, _ bool) error { return r.StopJoints(d.Code) }})
		}
	}
	return list
}

// errNotServed is the answer to a stop or a release of a robot that a reload has removed: nothing was stopped.
var errNotServed = Notice{Text: "this server does not serve the robot any more"}

// Call carries out a service of the robot with a number for the guest, and answers: now, or when the device
// has started. It returns the error of answer.
func (g *Guest) Call(s Service, on bool, number int, robot Robot, answer func(error) error) error {
	err := Need(g.May, s.needs)
	switch {
	case err != nil:
	case s.configure == nil:
		var served *bool
		served, err = OnLoop(g.Ctx, g.common.Server, func(server Server, now time.Duration) *bool {
			ok := server.EmergencyStop(now, robot.Port, s.stop, g.From)
			return &ok
		})
		if err == nil && !*served {
			err = errNotServed
		}
	default:
		err = g.Commands(number, robot, s.device).configure(func(c *Controller) error { return s.configure(c.Robot(), on) }, answer)
		if err == nil {
			return nil // Run answers
		}
	}
	return answer(err)
}
