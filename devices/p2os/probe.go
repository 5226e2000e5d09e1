package p2os

import (
	"fmt"
	"strings"
	"time"

	"player/devices"
	"player/devices/transport"
)

// probe greets the robot as the driver does, up to its identity. The handshake opens
// nothing: only OPEN does. A robot that was left open is closed, which switches its motors
// off, and then greeted.
func probe() *devices.Probe {
	return &devices.Probe{
		Name: "a P2OS robot", Speeds: []int{9600, 38400, 115200, 57600, 19200},
		Ask:       AppendCommand(AppendCommand(nil, Close), Sync0), // a silent robot may wait for OPEN
		Wait:      400 * time.Millisecond,
		Recognise: recognise,
		Leave:     AppendCommand(nil, Close),
	}
}

// recognise returns the step after the last packet heard. An identity must have text, and other
// packets more than a type: a line may return the requests.
func recognise(heard []byte) (a devices.Answer) {
	for b := range transport.Packets(heard, inspect, MaxPacket) {
		p := Packet(b)
		id, isIdentity := DecodeIdentity(p)
		switch {
		case isIdentity && id != Identity{}:
			a = devices.Answer{Found: true, Model: fmt.Sprintf("%s %s %.20q", printable(id.Class), printable(id.Subclass), id.Name)}
		case p.Type() == byte(Sync0) && len(p.Body()) == 1:
			a = devices.Answer{Next: AppendCommand(nil, Sync1)}
		case p.Type() == byte(Sync1) && len(p.Body()) == 1:
			a = devices.Answer{Next: AppendCommand(nil, Sync2)}
		case len(p.Body()) > 1:
			a = devices.Answer{Found: true, Next: AppendCommand(AppendCommand(nil, Close), Sync0)}
		}
	}
	return a
}

// printable escapes unprintable characters.
func printable(text string) string { return strings.Trim(fmt.Sprintf("%.20q", text), `"`) }
