package evid30

import (
	"testing"

	"player/devices/devicetest"
)

func TestRequests(t *testing.T) {
	encodes := devicetest.Encoding(t)
	encodes("position", []byte(InquirePanTilt), "81 09 06 12 FF")
	encodes("zoom", []byte(InquireZoom), "81 09 04 47 FF")
	encodes("version", []byte(InquireVersion), "81 09 00 02 FF")
	encodes("clear", []byte(ClearInterface), "81 01 00 01 FF")
	encodes("addresses", []byte(SetAddress), "88 30 01 FF")
	// Recorded from the original server: 0, 30 and 10, -50 and -20 degrees.
	encodes("home", AppendPanTilt(nil, 0x18, 0x14, d30.PanUnits(0), d30.TiltUnits(0)), "81 01 06 02 18 14 00 00 00 00 00 00 00 00 FF")
	encodes("left and up", AppendPanTilt(nil, 0x18, 0x14, d30.PanUnits(30), d30.TiltUnits(10)), "81 01 06 02 18 14 0F 0E 0F 08 00 00 07 08 FF")
	encodes("right and down", AppendPanTilt(nil, 0x18, 0x14, d30.PanUnits(-50), d30.TiltUnits(-20)), "81 01 06 02 18 14 00 01 0B 08 0F 0F 01 00 FF")
	encodes("wide", AppendZoom(nil, 0), "81 01 04 47 00 00 00 00 FF")
	encodes("256", AppendZoom(nil, 256), "81 01 04 47 00 01 00 00 FF")
	encodes("721", AppendZoom(nil, 721), "81 01 04 47 00 02 0D 01 FF")
	encodes("telephoto", AppendZoom(nil, d30.ZoomUnits(1023)), "81 01 04 47 00 03 0F 0F FF")
	encodes("as far as can be", AppendPanTilt(nil, 0x18, 0x14, d30.PanUnits(999), d30.TiltUnits(-999)), "81 01 06 02 18 14 0F 0C 09 00 0F 0E 0D 04 FF")
	encodes("cancel 1", AppendCancel(nil, 1), "81 21 FF")
	encodes("cancel 2", AppendCancel([]byte{7}, 2), "07 81 22 FF")
}
