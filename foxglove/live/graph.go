package live

import (
	"maps"
	"slices"

	"player/codec"
	"player/foxglove"
)

// link changes who publishes or subscribes to what, and sends the graph to the viewers
// that have subscribed to it.
func (s *server) link(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	for v := range s.viewers {
		if v.graph.Load() {
			v.redraw()
		}
	}
}

// redraw makes the writer send the graph.
func (v *viewer) redraw() {
	v.outdated.Store(true)
	v.outbox.wake()
}

// graphNow returns the whole graph. It has each topic, also those that nobody
// subscribes to: so it replaces an earlier one.
func (s *server) graphNow() foxglove.Graph {
	g := foxglove.Graph{RemovedTopics: []string{}, RemovedServices: []string{}}
	publishers, subscribers := map[string][]string{}, map[string][]string{}
	for _, c := range s.channels {
		publishers[c.name], subscribers[c.name] = s.drivers(c), []string{}
	}
	for _, robot := range s.config.Robots {
		if i := robot.device(codec.Position); i >= 0 {
			topic := robot.velocityTopic()
			publishers[topic], subscribers[topic] = []string{}, []string{robot.driver(i)}
		}
	}
	s.mu.Lock()
	for v := range s.viewers {
		for topic := range v.subscribes {
			subscribers[topic] = append(subscribers[topic], v.address)
		}
		for topic := range v.publishes {
			publishers[topic] = append(publishers[topic], v.address)
		}
	}
	s.mu.Unlock()
	for _, topic := range slices.Sorted(maps.Keys(publishers)) {
		slices.Sort(publishers[topic])
		g.PublishedTopics = append(g.PublishedTopics, foxglove.Published{Name: topic, IDs: publishers[topic]})
	}
	for _, topic := range slices.Sorted(maps.Keys(subscribers)) {
		slices.Sort(subscribers[topic])
		g.SubscribedTopics = append(g.SubscribedTopics, foxglove.Subscribed{Name: topic, IDs: subscribers[topic]})
	}
	g.AdvertisedServices = []foxglove.Provided{}
	for _, c := range s.services {
		g.AdvertisedServices = append(g.AdvertisedServices, foxglove.Provided{Name: c.name, IDs: []string{"/" + s.config.Robots[c.robot].Name}})
	}
	return g
}

// drivers returns who publishes a channel.
func (s *server) drivers(c channel) []string {
	if c.robot < 0 {
		return []string{"player"}
	}
	names := []string{}
	for _, i := range c.devices {
		if name := s.config.Robots[c.robot].driver(i); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// driver returns the name of a device's driver in graphs.
func (r Robot) driver(device int) string { return "/" + r.Name + "/" + r.Devices[device].Driver }
