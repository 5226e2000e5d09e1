package create

import (
	"time"

	"player/devices"
)

// probe starts the interface in mode Passive, which leaves the motors off, and asks
// for reports. It does not wake a robot: find names the others on its line then.
func probe() *devices.Probe {
	return &devices.Probe{
		Speeds: speeds,
		Ask:    AppendStream([]byte{byte(Start)}),
		Wait:   100 * time.Millisecond,
		Recognise: func(heard []byte) (a devices.Answer) {
			var p Parser
			_, _, a.Found = p.Next(heard)
			return a
		},
		Leave: []byte{byte(PauseStream), 0},
	}
}
