package visitors

import (
	"time"

	"player/client"
	"player/codec"
	"player/config/rights"
)

// Service is a request that a guest can make to a robot in addition to commands.
type Service struct {
	Name string // "motors"
	Flag bool   // it has an argument, on or off

	needs rights.Set
	// configure configures the wheels. If it is nil, the service begins the emergency stop
	// (stop) or ends it.
	configure func(r *client.Client, on bool) error
	stop      bool
}

// Services returns the services of a robot.
func (r Robot) Services() []Service {
	list := []Service{{Name: "emergency_stop", needs: rights.Write, stop: true}, {Name: "release", needs: rights.Write}}
	if r.Device(codec.Position) < 0 {
		return list
	}
	return append(list,
		Service{Name: "motors", Flag: true, needs: rights.Write | rights.Config, configure: (*client.Client).ChangeMotorState},
		Service{Name: "reset_odometry", needs: rights.Write | rights.Config, configure: func(r *client.Client, _ bool) error { return r.ResetPosition() }})
}

// errNotServed is the answer to a stop or a release of a robot that a reload has removed: nothing was stopped.
var errNotServed = Notice{Text: "this server does not serve the robot any more"}

// Call carries out a service of the robot with a number for the guest, and answers: now, or when the wheels
// have started. It returns the error of answer.
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
		err = g.Wheels(number, robot).configure(func(c *Controller) error { return s.configure(c.Robot(), on) }, answer)
		if err == nil {
			return nil // Run answers
		}
	}
	return answer(err)
}
