package create

import (
	"time"

	"player/devices"
)

// probe starts the interface in mode Passive, which leaves the motors off, and asks for
// reports. It does not wake a robot: then find names the other kinds for its line.
func probe() *devices.Probe {
	return &devices.Probe{
		Speeds: speeds,
		Ask:    AppendStream([]byte{byte(Start)}, false),
		Wait:   100 * time.Millisecond,
		Recognise: func(heard []byte) (a devices.Answer) {
			var p Parser
			_, _, a.Found = p.Next(heard)
			return a
		},
		Leave: []byte{byte(PauseStream), 0},
	}
}
