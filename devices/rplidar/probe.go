package rplidar

import (
	"time"

	"player/devices"
	"player/devices/transport"
)

// probe asks for the model. A sensor that scans already is recognised by its data,
// and goes on.
func probe() *devices.Probe {
	return &devices.Probe{
		Speeds: speeds,
		Ask:    AppendRequest(nil, GetInfo),
		Wait:   100 * time.Millisecond,
		Recognise: func(heard []byte) (a devices.Answer) {
			if b := first(heard, inspectAnswer); len(b) > descriptorSize && b[6] == answerInfo {
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

// probePackets is how many packets prove an express scan: noise has one in 64 kB, as other
// hardware has that is heard at a wrong speed.
const probePackets = 4

// first returns the first packet in b.
func first(b []byte, inspect transport.Inspect) []byte {
	var f transport.Framing
	var buf [packetSize]byte
	packet, _ := f.Next(buf[:], b, inspect)
	return packet
}

// count counts what inspect recognises in b.
func count(b []byte, inspect transport.Inspect) (n int) {
	var f transport.Framing
	var buf [packetSize]byte
	for s, rest := f.Next(buf[:], b, inspect); s != nil; s, rest = f.Next(buf[:], rest, inspect) {
		n++
	}
	return n
}
