package evid30

// Requests without arguments, complete packets to camera 1. The camera answers an inquiry
// with an Answer; a command with an Ack, and with a Completion when it is done.
const (
	InquirePanTilt = "\x81\x09\x06\x12\xFF" // see Reply.PanTilt
	InquireZoom    = "\x81\x09\x04\x47\xFF" // see Reply.Zoom
	InquireVersion = "\x81\x09\x00\x02\xFF" // see Reply.Version

	// ClearInterface makes the camera forget commands under way. It is
	// answered with a Completion of socket 0.
	ClearInterface = "\x81\x01\x00\x01\xFF"
	// SetAddress makes the cameras on the line number themselves from 1. Their answer is not
	// a packet of camera 1 and counts as garbage.
	SetAddress = "\x88\x30\x01\xFF"
)

// AppendPanTilt appends the command to move to an absolute position, in camera units (see
// Model), at the speeds 1 to Axis.Speed.
func AppendPanTilt(dst []byte, panSpeed, tiltSpeed byte, pan, tilt int16) []byte {
	dst = append(dst, 0x81, 0x01, 0x06, 0x02, panSpeed, tiltSpeed)
	dst = appendNibbles(dst, uint16(pan))
	dst = appendNibbles(dst, uint16(tilt))
	return append(dst, terminator)
}

// AppendZoom appends the command to zoom to an absolute position, in camera
// units (see Model.ZoomUnits).
func AppendZoom(dst []byte, zoom uint16) []byte {
	dst = append(dst, 0x81, 0x01, 0x04, 0x47)
	dst = appendNibbles(dst, zoom)
	return append(dst, terminator)
}

// AppendCancel appends the command to cancel the command in a socket, 1 or 2. The answer is
// an Error: Cancelled or NoSocket.
func AppendCancel(dst []byte, socket byte) []byte {
	return append(dst, 0x81, 0x20|socket&0x0F, terminator)
}

// appendNibbles appends v in four bytes of four bits, the highest first.
func appendNibbles(dst []byte, v uint16) []byte {
	return append(dst, byte(v>>12), byte(v>>8&15), byte(v>>4&15), byte(v&15))
}
