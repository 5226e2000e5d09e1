package session

import (
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/config/rights"
)

// 2.10: a request without the right to it fails, and nothing reaches a driver.
func TestRestrict(t *testing.T) {
	const readWrite = rights.Read | rights.Write
	for _, tt := range []struct {
		name   string
		rights rights.Set
		steps  []string // requests and replies
	}{
		{"everything", rights.All, []string{"srpwga", "srpwga"}},
		{"reading", rights.Read, []string{"srpwga", "srpege", "pr", "pr"}},
		{"a refused right closes what was open", rights.Read, []string{"pr", "pr", "pw", "pe", "pr", "pr", "pc", "pc"}},
		{"writing", rights.Write, []string{"srpwga", "sepwge", "pw", "pw", "pr", "pe"}},
		{"both", readWrite, []string{"srpwga", "srpwga"}},
		{"nothing", rights.None, []string{"srpwgaqr", "sepegeqe", "sc", "se"}},
		{"configuration only", rights.Config, []string{"sr", "se"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, p := connect(t)
			p.Restrict(tt.rights)
			for i := 0; i < len(tt.steps); i += 2 {
				p.request(tt.steps[i], tt.steps[i+1])
			}
		})
	}
}

func TestRestrictedCommands(t *testing.T) {
	for _, tt := range []struct {
		rights rights.Set
		want   []string
	}{
		{rights.All, []string{"command p 01010101", `configure p "m\x01"`}},
		{rights.Read, nil},
		{rights.Write, []string{"command p 01010101"}},
	} {
		r := newRobot(t)
		newPeer(t, r).request("sr", "sr") // another client has the device open
		r.take()
		p := newPeer(t, r)
		p.Restrict(tt.rights)
		p.send(request("pw"), r.command('p', 1), message(codec.KindConfig, 'p', 'm', 1))
		r.expect(t, tt.want...)
	}
}

// 8.7: a device is refused to a server for which its driver waits.
func TestRingIsRefused(t *testing.T) {
	r := newRobot(t)
	core, log := observer.New(zap.WarnLevel)
	p := newLoggedPeer(t, r, zap.New(core))
	p.send(config([]byte("p12345678" + r.table.Device(codec.Position).Link().Path())...))
	p.request("prlr", "pelr")
	if log.FilterMessage("access refused").Len() != 1 {
		t.Errorf("%v", log.All())
	}
}

// A client that loses position by a refused request has its motors stopped.
func TestRefusalStopsMotors(t *testing.T) {
	r, p := connect(t)
	p.Restrict(rights.Write)
	p.request("pw", "pw")
	p.send(r.command('p', 1))
	p.request("pa", "pe")
	r.expect(t, "setup base", "command p 01010101", "command p 00000000", "shutdown base")
}
