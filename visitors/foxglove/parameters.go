package foxglove

import (
	"fmt"
	"math"
	"strings"
	"time"

	"player/formats/foxglove"
	"player/server/status"
)

const (
	rateSuffix    = ".rate"    // of a robot or a topic, Hz
	devicesSuffix = ".devices" // of a robot: the states by device
	// defaultRate is the rate of a robot's data in the Player protocol; maxRate is the
	// highest: screens show little more.
	defaultRate = 10
	maxRate     = 50
)

// parameters are one viewer's parameters: each viewer has its own rates.
type parameters struct {
	names      []string
	rates      map[string]float64 // by name; 0 for a topic: the robot's rate
	subscribed map[string]bool
}

func newParameters(s *server) parameters {
	p := parameters{rates: map[string]float64{}, subscribed: map[string]bool{}}
	add := func(name string, rate float64) {
		p.names = append(p.names, name+rateSuffix)
		p.rates[name+rateSuffix] = rate
	}
	for _, robot := range s.config.Robots {
		add("/"+robot.Name, defaultRate)
		p.names = append(p.names, "/"+robot.Name+devicesSuffix)
	}
	for _, c := range s.channels {
		if c.robot >= 0 {
			add(c.name, 0)
		}
	}
	return p
}

// rate returns the rate of a robot's data in Hz.
func (p parameters) rate(robot string) int { return int(p.rates["/"+robot+rateSuffix]) }

// period returns the least period of the messages of a topic.
func (p parameters) period(topic string) time.Duration {
	if rate := p.rates[topic+rateSuffix]; rate > 0 {
		return time.Duration(float64(time.Second) / rate)
	}
	return 0
}

// subscribe notes the parameters whose changes the viewer wants to see; without names, all.
func (p parameters) subscribe(names []string) {
	if len(names) == 0 {
		names = p.names
	}
	for _, name := range names {
		if _, known := p.rates[name]; known {
			p.subscribed[name] = true
		}
	}
}

func (p parameters) unsubscribe(names []string) {
	if len(names) == 0 {
		clear(p.subscribed)
	}
	for _, name := range names {
		delete(p.subscribed, name)
	}
}

// getParameters replies with parameters; all, if none is named.
func (v *viewer) getParameters(r foxglove.Request) error {
	names := r.ParameterNames
	if len(names) == 0 {
		names = v.parameters.names
	}
	return v.sendValues(names, r.ID)
}

// sendValues sends the values of parameters, as an answer if id is a request's id.
func (v *viewer) sendValues(names []string, id string) error {
	values, err := v.values(names)
	if err != nil {
		return err
	}
	return v.send("parameterValues", foxglove.ParameterValues{Parameters: values, ID: id})
}

// values returns the values of parameters that exist.
func (v *viewer) values(names []string) ([]foxglove.Parameter, error) {
	values := []foxglove.Parameter{}
	var now *status.Status
	for _, name := range names {
		if rate, ok := v.parameters.rates[name]; ok {
			values = append(values, foxglove.Parameter{Name: name, Value: rate, Type: "float64"})
			continue
		}
		robot, ok := strings.CutSuffix(name, devicesSuffix)
		if !ok {
			continue
		}
		if now == nil {
			newest, _, err := v.server.status(v.Ctx)
			if err != nil {
				return nil, err
			}
			now = newest
		}
		for _, r := range v.server.config.Robots {
			if robot == "/"+r.Name {
				values = append(values, foxglove.Parameter{Name: name, Value: states(now, r.Port)})
			}
		}
	}
	return values, nil
}

func states(now *status.Status, port int) map[string]status.State {
	all := map[string]status.State{}
	for _, r := range now.Robots {
		if r.Port == port {
			for name, d := range r.Devices {
				all[name] = d.State
			}
		}
	}
	return all
}

// setParameters sets rates. It replies with the rates that are set then, and shows the first error.
func (v *viewer) setParameters(r foxglove.Request) error {
	var names, changed []string
	failed := each(r.Parameters, func(p foxglove.Parameter) error {
		names = append(names, p.Name)
		err := v.setRate(p)
		if err == nil && v.parameters.subscribed[p.Name] {
			changed = append(changed, p.Name)
		}
		return err
	})
	if r.ID != "" {
		if err := v.sendValues(names, r.ID); err != nil {
			return err
		}
	}
	if changed != nil {
		if err := v.sendValues(changed, ""); err != nil {
			return err
		}
	}
	return failed
}

// setRate sets the rate of a robot, a whole number, or of a topic.
func (v *viewer) setRate(p foxglove.Parameter) error {
	rate, isNumber := p.Value.(float64)
	_, exists := v.parameters.rates[p.Name]
	name := strings.TrimSuffix(p.Name, rateSuffix)
	topic, ofTopic := v.server.topics[name]
	switch {
	case !exists:
		return fmt.Errorf("%.60q cannot be set", p.Name)
	case !isNumber || rate < 0 || rate > maxRate || !ofTopic && (rate < 1 || rate != math.Trunc(rate)):
		return fmt.Errorf("%s is a rate in Hz: 1 to %d without decimals for a robot; up to %[2]d for a topic, where 0 is the robot's rate", p.Name, maxRate)
	}
	v.parameters.rates[p.Name] = rate
	if ofTopic {
		v.Outbox.Pace(uint32(topic+1), v.parameters.period(name))
		return nil
	}
	for i, robot := range v.server.config.Robots {
		if "/"+robot.Name == name {
			v.watch(i)
		}
	}
	return nil
}
