package server

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"time"

	"player/devices"
	"player/server/host"
	"player/server/status"
)

var guardStates = [...]status.Guard{
	host.GuardIdle: status.GuardIdle, host.GuardReady: status.GuardReady, host.GuardMissing: status.GuardMissing,
}

// Status describes the server at now.
func (s *Server) Status(now time.Duration) status.Status {
	all := status.Status{
		Guard:  guardStates[s.host.Guard()],
		Uptime: status.Seconds(now),
		Robots: make([]status.Robot, len(s.robots)),
		Loop: status.Loop{Wakes: s.loop.Wakes(), LateFrames: s.ticks.Late(),
			Clients: len(s.clients), MaxClients: s.config.MaxClients},
	}
	places := map[*robotState]*status.Robot{}
	for i, r := range s.robots {
		all.Robots[i] = r.status(now)
		places[r] = &all.Robots[i]
	}
	clients := slices.Collect(maps.Keys(s.clients))
	slices.SortFunc(clients, func(a, b *client) int { return addressOf(a.remote).Compare(addressOf(b.remote)) })
	for _, c := range clients {
		r, result := places[c.robot], c.status(now)
		r.Clients = append(r.Clients, result)
		r.Totals.Add(result.Counts)
		if c.robot.control.IsCommander(c.session) {
			r.Commander = &result.Address
		}
	}
	return all
}

func (r *robotState) status(now time.Duration) status.Robot {
	result := status.Robot{
		Name: r.Name, Port: r.Port, Control: "newest", Stopped: r.Table.Stopped(),
		Devices: map[string]status.Device{}, Clients: []status.Client{}, Totals: r.past,
	}
	if r.KeepControl {
		result.Control = "first"
	}
	for _, l := range r.Table.Links() {
		if recorder := l.Recorder(); recorder != nil {
			recording := recorder.Recording()
			if result.Recorders == nil {
				result.Recorders = map[string]status.Recorder{}
			}
			result.Recorders[recording.File] = recorderStatus(recording)
		}
		for _, d := range l.Devices() {
			switch spec := d.Spec(); spec.Index {
			case devices.Hidden:
			case 0:
				result.Devices[spec.Name] = deviceStatus(now, d)
			default:
				result.Devices[fmt.Sprintf("%s:%d", spec.Name, spec.Index)] = deviceStatus(now, d)
			}
		}
	}
	return result
}

func deviceStatus(now time.Duration, d *devices.Device) status.Device {
	l := d.Link()
	result := status.Device{
		Driver: l.Name(), State: stateOf(now, d), Open: l.Subscribed(d), Rate: d.Rate(now),
		Counted: status.Counted{Setups: l.Counts.Setups, Errors: l.Counts.Errors, Retries: l.Counts.Retries, Noise: l.Counts.Dropped},
	}
	if result.Open && d.HasData() {
		age := status.Millis(d.Age(now))
		result.Age = &age
	}
	result.Charge = d.Charge()
	result.Parts = d.AppendParts(nil)
	for i, p := range result.Parts {
		result.Parts[i] = p.Rounded()
	}
	if err := l.SetupError(); err != nil {
		result.Error = err.Error()
	}
	return result
}

func recorderStatus(r devices.Recording) status.Recorder {
	result := status.Recorder{State: status.Idle, Messages: r.Messages, Bytes: r.Bytes, Lost: r.Lost}
	if r.On {
		result.State = status.Recording
	}
	if r.Err != nil {
		result.State, result.Error = status.Failed, r.Err.Error()
	}
	return result
}

func stateOf(now time.Duration, d *devices.Device) status.State {
	l := d.Link()
	switch l.State() {
	case devices.Lost:
		return status.Lost
	case devices.Starting:
		switch {
		case l.SetupError() != nil:
			return status.Failed
		case d.HasData(): // from before a panic
			return status.Lost
		}
		return status.Starting
	case devices.Stopping:
		return status.Stopping
	case devices.Ready:
		if l.Subscribed(d) && !d.IsFresh(now) {
			return status.Stale
		}
		if l.Subscribed(d) {
			return status.Ready
		}
		return status.Idle
	}
	if l.SetupError() != nil {
		return status.Failed
	}
	return status.Idle
}

func (c *client) status(now time.Duration) status.Client {
	result := status.Client{
		Address: addressOf(c.remote), Name: c.session.Name(), TLS: c.tls != nil, Certificate: c.certificate(), Connected: status.Seconds(now - c.connected),
		Devices: status.Access(c.session.Access()), Rate: c.session.Rate(), Served: c.frames.Hz(now), Paced: c.pace.Waits(), Counts: c.counts(),
	}
	if age, ok := c.session.Age(now); ok {
		result.Age = (*status.Millis)(&age)
	}
	if result.Commands > 0 {
		ago := status.Seconds(now - c.session.Counts().LastCommand)
		result.Last = &ago
	}
	return result
}

func (c *client) counts() status.Counts {
	did := c.session.Counts()
	return status.Counts{Frames: c.frames.Total, Bytes: c.bytes, Skipped: c.skipped, Commands: did.Commands, Refused: did.Refused}
}

func addressOf(a net.Addr) netip.AddrPort {
	address := a.(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
}
