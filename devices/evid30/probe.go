package evid30

import (
	"bytes"
	"time"

	"player/devices"
	"player/devices/transport"
)

// probe gives the camera its address, as the driver does, and asks for its version. The
// first byte ends a partial packet that probes of other kinds have left in the camera's
// buffer.
func probe() *devices.Probe {
	return &devices.Probe{
		Name:      "a VISCA camera",
		Speeds:    []int{baud},
		Ask:       []byte("\xFF" + SetAddress),
		Wait:      300 * time.Millisecond,
		Recognise: recognise,
	}
}

// addressed is the message that the last camera on the line passes on: the next camera would
// be number 2.
const addressed = "\x88\x30\x02\xFF"

// recognise also accepts an error as a camera's answer: a camera may not know the inquiry.
func recognise(heard []byte) (a devices.Answer) {
	if i := bytes.Index(heard, []byte(addressed)); i >= 0 {
		a = devices.Answer{Found: true, Next: []byte(InquireVersion)}
		heard = heard[i+len(addressed):]
	}
	for p := range transport.Packets(heard, inspect, MaxPacket) {
		r, ok := DecodeReply(p)
		a.Likely = a.Likely || ok
		if v, named := r.Version(); ok && named {
			a = devices.Answer{Found: true, Likely: true, Model: v.String()}
		} else if ok && r.Kind == Error && r.Socket == 0 {
			a = devices.Answer{Found: true, Likely: true}
		}
	}
	return a
}
