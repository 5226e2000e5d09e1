package evid30

import (
	"cmp"
	"encoding/binary"
	"fmt"
)

// ReplyKind is the kind of a Reply.
type ReplyKind byte

// The kinds. A command is acknowledged with the socket, 1 or 2, in which it
// runs, and completed or refused under the same number; a third command before
// that is refused with BufferFull.
const (
	Ack           ReplyKind = iota + 1 // command accepted, runs in Socket
	Completion                         // command in Socket done
	Answer                             // of an inquiry, see PanTilt, Zoom and Version
	Error                              // see Fault; Socket is 0 where it has none
	NetworkChange                      // a camera joined or left: addresses must be set again
)

// Fault is why a command or inquiry failed.
type Fault byte

// The faults of VISCA.
const (
	BadLength     Fault = 0x01
	BadSyntax     Fault = 0x02
	BufferFull    Fault = 0x03 // both sockets busy
	Cancelled     Fault = 0x04 // success of AppendCancel
	NoSocket      Fault = 0x05 // nothing there to cancel
	NotExecutable Fault = 0x41 // not now, for example without power
)

var faultNames = map[Fault]string{
	BadLength: "wrong message length", BadSyntax: "syntax error", BufferFull: "command buffer full",
	Cancelled: "command cancelled", NoSocket: "no such socket", NotExecutable: "command not executable",
}

// String describes the fault.
func (f Fault) String() string { return cmp.Or(faultNames[f], fmt.Sprintf("fault %02X", byte(f))) }

// Reply is a decoded packet of the camera, valid as long as the packet.
type Reply struct {
	Kind   ReplyKind
	Socket byte
	Fault  Fault // of an Error

	data []byte // of an Answer
}

// DecodeReply reads a packet; ok is false if it is no reply of VISCA.
func DecodeReply(p Packet) (r Reply, ok bool) {
	b := p.Body()
	r.Socket = b[0] & 0x0F
	switch kind := b[0] >> 4; {
	case kind == 4 && len(b) == 1:
		r.Kind = Ack
	case kind == 5 && len(b) == 1:
		r.Kind = Completion
	case b[0] == 0x50:
		r.Kind, r.data = Answer, b[1:]
	case kind == 6 && len(b) == 2:
		r.Kind, r.Fault = Error, Fault(b[1])
	case b[0] == 0x38 && len(b) == 1:
		r.Kind, r.Socket = NetworkChange, 0
	default:
		return Reply{}, false
	}
	return r, true
}

// Sizes of answers in bytes. An answer does not name its inquiry, but no two have
// the same size.
const (
	panTiltSize = 8
	zoomSize    = 4
	versionSize = 7
)

// PanTilt returns the answer to InquirePanTilt in camera units (see Model); ok is false if r
// is another reply.
func (r Reply) PanTilt() (pan, tilt int16, ok bool) {
	if len(r.data) != panTiltSize {
		return 0, 0, false
	}
	p, ok1 := decodeNibbles(r.data)
	t, ok2 := decodeNibbles(r.data[4:])
	if !ok1 || !ok2 {
		return 0, 0, false
	}
	return int16(p), int16(t), true
}

// Zoom returns the answer to InquireZoom in camera units (see Model); ok is false if r is
// another reply.
func (r Reply) Zoom() (zoom uint16, ok bool) {
	if len(r.data) != zoomSize {
		return 0, false
	}
	return decodeNibbles(r.data)
}

// Version returns the answer to InquireVersion; ok is false if r is another reply.
func (r Reply) Version() (v Version, ok bool) {
	if len(r.data) != versionSize {
		return v, false
	}
	v.Vendor, v.Model = binary.BigEndian.Uint16(r.data), binary.BigEndian.Uint16(r.data[2:])
	v.ROM = binary.BigEndian.Uint16(r.data[4:])
	return v, true
}

// decodeNibbles reads four bytes of four bits, the highest first.
func decodeNibbles(b []byte) (v uint16, ok bool) {
	for _, n := range b[:4] {
		if n > 15 {
			return 0, false
		}
		v = v<<4 | uint16(n)
	}
	return v, true
}
