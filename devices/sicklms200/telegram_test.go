package sicklms200

import (
	"bytes"
	"testing"

	"player/devices/devicetest"
	"player/devices/transport"
)

// recording reads the telegrams of a recorded session.
func recording(t testing.TB) (telegrams [][]byte) {
	for _, line := range devicetest.Lines(t, "testdata/session.hex") {
		telegrams = append(telegrams, devicetest.Hex(t, line))
	}
	return telegrams
}

var parser = devicetest.Framed(inspect, MaxTelegram)

// reencode frames a device's telegram anew from its parts.
func reencode(t Telegram) []byte {
	return appendTelegram(nil, addressHost, byte(t.Code()), append(bytes.Clone(t.Data()), byte(t.Status()))...)
}

// The device's reference telegrams.
var answers = []struct {
	telegram string
	code     Code
	data     string
}{
	{"02 80 03 00 A0 00 10 16 0A", CodeAck, "\x00"},
	{"02 80 03 00 A0 01 10 14 0B", CodeAck, "\x01"},
	{"02 80 03 00 A0 02 10 12 08", CodeAck, "\x02"},
	{"02 80 02 00 92 10 7F 33", CodeNack, ""},
	{"02 80 07 00 BB 01 B4 00 32 00 10 03 9D", CodeVariantSet, "\x01\xB4\x00\x32\x00"},
	{"02 80 07 00 BB 00 B4 00 64 00 10 7B 20", CodeVariantSet, "\x00\xB4\x00\x64\x00"},
	{"02 80 16 00 BA 4C 4D 53 32 30 30 3B 33 30 31 30 36 3B 56 30 32 2E 31 30 20 10 99 AB",
		CodeType, "LMS200;30106;V02.10 "},
}

func TestTelegram(t *testing.T) {
	for _, tt := range answers {
		want := devicetest.Hex(t, tt.telegram)
		telegram := Telegram(want)
		if size, v := inspect(want); size != len(want) || v != transport.Whole {
			t.Errorf("%s: %d, %v", tt.telegram, size, v)
		}
		if telegram.Code() != tt.code || string(telegram.Data()) != tt.data || telegram.Status() != 0x10 {
			t.Errorf("%s: %v, data %q, status %X", tt.telegram, telegram.Code(), telegram.Data(), telegram.Status())
		}
		if again := reencode(telegram); !bytes.Equal(again, want) {
			t.Errorf("%s: re-encodes to % X", tt.telegram, again)
		}
	}
}

func TestCRC(t *testing.T) {
	// Each byte's register, worked by hand.
	for _, tt := range []struct {
		in   string
		want []uint16
	}{
		{"02 00 02 00 20 24", []uint16{0x0002, 0x0204, 0x040A, 0x0A14, 0x1408, 0x0834}},
		{"02 00 0A 00 20 00 53 49 43 4B 5F 4C 4D 53", []uint16{0x0002, 0x0204, 0x0402, 0x0204, 0x0428, 0x2850,
			0x50F3, 0xF2AF, 0x2C18, 0x1B7B, 0x7DA9, 0xA41E, 0x8474, 0xC5BE}},
	} {
		in := devicetest.Hex(t, tt.in)
		for i, want := range tt.want {
			if got := crc(in[:i+1]); got != want {
				t.Errorf("% X: %04X, want %04X", in[:i+1], got, want)
			}
		}
	}
}

func TestStatus(t *testing.T) {
	tests := []struct {
		status   Status
		severity int
		polluted bool
	}{{0x10, 0, false}, {0x12, 2, false}, {0x94, 4, true}}
	for _, tt := range tests {
		if tt.status.Severity() != tt.severity || tt.status.Polluted() != tt.polluted {
			t.Errorf("%X: severity %d, polluted %v", tt.status, tt.status.Severity(), tt.status.Polluted())
		}
	}
}

func TestParser(t *testing.T) {
	const good = "02 80 03 00 A0 00 10 16 0A "
	telegrams := recording(t)
	longest := appendTelegram(nil, addressHost, byte(CodeScan), make([]byte, maxContent-1)...)
	if len(longest) != MaxTelegram {
		t.Fatalf("longest telegram has %d bytes, want %d", len(longest), MaxTelegram)
	}
	telegrams = append(telegrams, longest)
	copies := devicetest.Copies(t, good)
	parser.Cut(t,
		devicetest.Stream{Name: "recorded", In: bytes.Join(telegrams, nil), Packets: telegrams},
		copies("noise before, between, after", "00 FF 12"+good+"80 03"+good+"77", 2, 6, 0),
		copies("header bytes before", "02 02 02 80 02 80 "+good, 1, 6, 0),
		copies("our own request echoed", "02 00 02 00 20 25 35 08 "+good, 1, 8, 0),
		copies("no status", "02 80 01 00 92 "+good, 1, 5, 0),
		copies("length over the limit", "02 80 2D 03 "+good, 1, 4, 0),
		copies("wrong CRC", "02 80 03 00 A0 00 10 16 0B "+good, 1, 9, 1),
		copies("corrupt byte", "02 80 03 00 A0 01 10 16 0A "+good, 1, 9, 1),
		copies("length lies over good telegrams", "02 80 1A 00 B0 "+good+good+good, 3, 5, 1),
		copies("truncated scan", "02 80 08 00 B0 69 41 E8 03 "+good+good, 2, 9, 1),
		copies("good telegram as data of a bad one", "02 80 0B 00 BA "+good+"10 00 00", 1, 8, 1),
	)
	parser.Noise(t, devicetest.Hex(t, good), stx, addressHost, 3)
}

func FuzzParser(f *testing.F) {
	for _, tt := range answers {
		f.Add(devicetest.Hex(f, tt.telegram))
	}
	f.Add(devicetest.Hex(f, "02 80 0B 00 BA 02 80 03 00 A0 00 10 16 0A 10 00 00 02 02 80 FF"))
	for _, telegram := range recording(f) {
		f.Add(telegram)
	}
	f.Add(partOfScan)
	f.Fuzz(func(t *testing.T, in []byte) {
		parser.Account(t, in, func(b []byte) {
			telegram := Telegram(b)
			if again := reencode(telegram); !bytes.Equal(again, b) {
				t.Fatalf("% X re-encodes to % X", b, again)
			}
			telegram.Ack()
			telegram.VariantSet()
			telegram.Variant()
			telegram.Config()
			telegram.ConfigSet()
			if s, _ := DecodeScan(telegram); len(s.values) != 2*s.Count {
				t.Fatalf("% X: %d bytes of %d ranges", b, len(s.values), s.Count)
			}
		})
	})
}
