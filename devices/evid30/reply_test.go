package evid30

import (
	"testing"

	"player/devices/devicetest"
)

func TestReply(t *testing.T) {
	for _, tt := range []struct {
		packet string
		kind   ReplyKind // 0: no reply
		socket byte
		fault  Fault
		data   string
	}{
		{"90 41 FF", Ack, 1, 0, ""},
		{"90 42 FF", Ack, 2, 0, ""},
		{"90 51 FF", Completion, 1, 0, ""},
		{"90 50 FF", Completion, 0, 0, ""}, // of ClearInterface
		{"90 50 02 FF", Answer, 0, 0, "\x02"},
		{"90 60 02 FF", Error, 0, BadSyntax, ""},
		{"90 60 03 FF", Error, 0, BufferFull, ""},
		{"90 61 04 FF", Error, 1, Cancelled, ""},
		{"90 62 05 FF", Error, 2, NoSocket, ""},
		{"90 61 41 FF", Error, 1, NotExecutable, ""},
		{"90 38 FF", NetworkChange, 0, 0, ""},
		{"90 41 01 FF", 0, 0, 0, ""},
		{"90 51 01 FF", 0, 0, 0, ""},
		{"90 60 FF", 0, 0, 0, ""},
		{"90 60 02 02 FF", 0, 0, 0, ""},
		{"90 38 00 FF", 0, 0, 0, ""},
		{"90 00 FF", 0, 0, 0, ""},
		{"90 D1 FF", 0, 0, 0, ""},
	} {
		r, ok := DecodeReply(devicetest.Hex(t, tt.packet))
		if ok != (tt.kind != 0) || r.Kind != tt.kind || r.Socket != tt.socket || r.Fault != tt.fault || string(r.data) != tt.data {
			t.Errorf("%s: %+v, %v", tt.packet, r, ok)
		}
	}
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		packet    string
		pan, tilt int16
		position  bool
		zoom      uint16
		hasZoom   bool
	}{
		{packet: "90 50 0F 0E 0F 08 00 00 07 08 FF", pan: -264, tilt: 120, position: true},
		{packet: "90 50 00 01 0B 08 0F 0F 01 00 FF", pan: 440, tilt: -240, position: true},
		{packet: "90 50 08 00 00 00 07 0F 0F 0F FF", pan: -32768, tilt: 32767, position: true},
		{packet: "90 50 00 00 00 10 00 00 00 00 FF"}, // no nibble
		{packet: "90 50 00 00 00 00 00 00 00 80 FF"},
		{packet: "90 50 00 03 0F 0F FF", zoom: 1023, hasZoom: true},
		{packet: "90 50 00 03 1F 0F FF"},
		{packet: "90 50 02 FF"},
		{packet: "90 50 03 FF"},
		{packet: "90 50 04 FF"},
		{packet: "90 50 00 20 04 02 00 01 02 FF"},
		{packet: "90 50 00 20 04 0E FE FD 02 FF"},
		{packet: "90 50 01 02 FF"},
		{packet: "90 51 FF"},
		{packet: "90 61 02 FF"},
	} {
		r, ok := DecodeReply(devicetest.Hex(t, tt.packet))
		if !ok {
			t.Errorf("%s: no reply", tt.packet)
		}
		pan, tilt, ok := r.PanTilt()
		if pan != tt.pan || tilt != tt.tilt || ok != tt.position {
			t.Errorf("%s: pan %d, tilt %d, %v", tt.packet, pan, tilt, ok)
		}
		if zoom, ok := r.Zoom(); ok != tt.hasZoom || ok && zoom != tt.zoom {
			t.Errorf("%s: zoom %d, %v", tt.packet, zoom, ok)
		}
	}
}

func TestFaultWords(t *testing.T) {
	for f, want := range map[Fault]string{
		BadLength: "wrong message length", BadSyntax: "syntax error", BufferFull: "command buffer full",
		Cancelled: "command cancelled", NoSocket: "no such socket", NotExecutable: "command not executable",
		0x77: "fault 77",
	} {
		if got := f.String(); got != want {
			t.Errorf("fault %02X: %q, want %q", byte(f), got, want)
		}
	}
}
