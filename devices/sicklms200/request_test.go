package sicklms200

import (
	"testing"

	"player/devices/devicetest"
)

func TestRequests(t *testing.T) {
	encodes := devicetest.Encoding(t)
	encodes("stop streaming", AppendMode(nil, OnRequest), "02 00 02 00 20 25 35 08")
	encodes("stream", AppendMode(nil, Stream), "02 00 02 00 20 24 34 08")
	encodes("38400", AppendMode(nil, Speed38400), "02 00 02 00 20 40 50 08")
	encodes("configuration mode", AppendConfigurationMode(nil),
		"02 00 0A 00 20 00 53 49 43 4B 5F 4C 4D 53 BE C5")
	encodes("status", AppendStatusRequest(nil), "02 00 01 00 31 15 12")
	encodes("configuration", AppendConfigRequest(nil), "02 00 01 00 74 50 12")
	encodes("180/0.50", AppendVariant(nil, Variant{180, 50}), "02 00 05 00 3B B4 00 32 00 3B 1F")
	encodes("180/1.00", AppendVariant(nil, Variant{180, 100}), "02 00 05 00 3B B4 00 64 00 97 49")
	encodes("100/0.25", AppendVariant(nil, Variant{100, 25}), "02 00 05 00 3B 64 00 19 00 E7 72")
	encodes("100/0.50", AppendVariant(nil, Variant{100, 50}), "02 00 05 00 3B 64 00 32 00 B1 59")
	encodes("100/1.00", AppendVariant(nil, Variant{100, 100}), "02 00 05 00 3B 64 00 64 00 1D 0F")
	encodes("set configuration", AppendSetConfig(nil, Configuration{0, 0, 0x70, 0, 0, 1, 1}),
		"02 00 08 00 77 00 00 70 00 00 01 01 C7 7D")
}
