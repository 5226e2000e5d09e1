package rplidar

import (
	"time"

	"player/devices"
	"player/devices/transport"
)

// probe asks for the model. A sensor that is already scanning is recognised by its data, and
// continues.
func probe() *devices.Probe {
	return &devices.Probe{
		Speeds: speeds,
		Ask:    AppendRequest(nil, GetInfo),
		Wait:   100 * time.Millisecond,
		Recognise: func(heard []byte) (a devices.Answer) {
			for b := range transport.Packets(heard, inspectAnswer, packetSize) {
				if len(b) <= descriptorSize || b[6] != answerInfo {
					break // the answer comes first
				}
				data := b[descriptorSize:]
				if data[0] != 0 && data[0]>>4 < seriesA {
					return a // a YDLIDAR, which uses the same answer
				}
				return devices.Answer{Found: true, Model: "RPLIDAR " + Info{Model: data[0], Minor: data[1], Major: data[2]}.String()}
			}
			a.Found = count(heard, inspectPacket) >= probePackets || count(heard, inspectSample) > probeSamples
			return a
		},
	}
}

// probeSamples is how many samples prove a standard scan: noise has one in a row of
// four check bits about once in 4 kB.
const probeSamples = 16

// probePackets is how many packets prove an express scan: noise has one in 64 kB, and so has
// other hardware at a wrong speed.
const probePackets = 4

// count counts the packets that inspect recognises in b.
func count(b []byte, inspect transport.Inspect) (n int) {
	for range transport.Packets(b, inspect, packetSize) {
		n++
	}
	return n
}
