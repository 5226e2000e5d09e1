package session

import (
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
)

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
