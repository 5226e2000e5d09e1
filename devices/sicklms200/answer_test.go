package sicklms200

import (
	"bytes"
	"testing"

	"player/devices/devicetest"
)

func TestAck(t *testing.T) {
	for _, tt := range []struct {
		telegram string
		result   AckResult
		ok       bool
	}{
		{"02 80 03 00 A0 00 10 16 0A", Accepted, true},
		{"02 80 03 00 A0 01 10 14 0B", WrongPassword, true},
		{"02 80 03 00 A0 02 10 12 08", Fault, true},
		{"02 80 02 00 92 10 7F 33", 0, false},
	} {
		result, ok := Telegram(devicetest.Hex(t, tt.telegram)).Ack()
		if result != tt.result || ok != tt.ok {
			t.Errorf("%s: %v, %v, want %v, %v", tt.telegram, result, ok, tt.result, tt.ok)
		}
	}
}

func TestVariantSet(t *testing.T) {
	for _, tt := range []struct {
		telegram string
		accepted bool
		variant  Variant
		ok       bool
	}{
		{"02 80 07 00 BB 01 B4 00 32 00 10 03 9D", true, Variant{180, 50}, true},
		{"02 80 07 00 BB 00 B4 00 64 00 10 7B 20", false, Variant{180, 100}, true},
		{"02 80 03 00 A0 00 10 16 0A", false, Variant{}, false},
	} {
		accepted, variant, ok := Telegram(devicetest.Hex(t, tt.telegram)).VariantSet()
		if accepted != tt.accepted || variant != tt.variant || ok != tt.ok {
			t.Errorf("%s: %v, %v, %v", tt.telegram, accepted, variant, ok)
		}
	}
}

// TestRecordedAnswers reads the set-up of a recorded session: a device found in
// a variant of one degree and centimetres.
func TestRecordedAnswers(t *testing.T) {
	found := map[Code]int{}
	for _, b := range recording(t) {
		telegram := Telegram(b)
		found[telegram.Code()]++
		switch telegram.Code() {
		case CodeAck:
			if result, ok := telegram.Ack(); result != Accepted || !ok {
				t.Errorf("% X: %v, %v", b, result, ok)
			}
		case CodeType:
			if got := string(telegram.Data()); got != "LMS200;30106;V02.10 " {
				t.Errorf("type %q", got)
			}
		case CodeStatus:
			if v, ok := telegram.Variant(); v != (Variant{180, 100}) || !ok {
				t.Errorf("% X: %v, %v", b, v, ok)
			}
		case CodeVariantSet:
			if accepted, v, ok := telegram.VariantSet(); !accepted || v != (Variant{180, 50}) || !ok {
				t.Errorf("% X: %v, %v, %v", b, accepted, v, ok)
			}
		case CodeConfig:
			c, ok := telegram.Config()
			if !ok || len(c) != 32 || c[2] != 0x70 || c[4] != 0 || c[MeasuringMode] != 0 ||
				Unit(c[Units]) != Centimetres {
				t.Errorf("% X: % X, %v", b, c, ok)
			}
		case CodeConfigSet:
			accepted, c, ok := telegram.ConfigSet()
			if !accepted || !ok || len(c) != 32 || c[2] != 0x70 || c[MeasuringMode] != 1 || Unit(c[Units]) != Millimetres {
				t.Errorf("% X: %v, % X, %v", b, accepted, c, ok)
			}
		}
	}
	for _, code := range []Code{CodeAck, CodeType, CodeStatus, CodeVariantSet, CodeConfig, CodeConfigSet, CodeScan} {
		if found[code] == 0 {
			t.Errorf("no telegram of kind %X in the recording", code)
		}
	}
}

// TestAnswersCut shortens the data of each answer, under a good CRC, to every
// length: never a panic, and only the shortest contents that make sense.
func TestAnswersCut(t *testing.T) {
	decoders := map[Code]struct {
		decode func(Telegram) bool
		least  int // bytes of data
	}{
		CodeAck:        {func(t Telegram) bool { _, ok := t.Ack(); return ok }, 1},
		CodeVariantSet: {func(t Telegram) bool { _, _, ok := t.VariantSet(); return ok }, 5},
		CodeStatus:     {func(t Telegram) bool { _, ok := t.Variant(); return ok }, 110},
		CodeConfig:     {func(t Telegram) bool { _, ok := t.Config(); return ok }, 7},
		CodeConfigSet:  {func(t Telegram) bool { _, _, ok := t.ConfigSet(); return ok }, 8},
		CodeScan:       {func(t Telegram) bool { _, err := DecodeScan(t); return err == nil }, 724},
	}
	for _, b := range recording(t) {
		data := Telegram(b).Data()
		d, ok := decoders[Telegram(b).Code()]
		if !ok {
			continue
		}
		for n := range len(data) + 1 {
			cut := appendTelegram(nil, addressHost, byte(Telegram(b).Code()), append(bytes.Clone(data[:n]), 0x10)...)
			if got := d.decode(cut); got != (n >= d.least) {
				t.Errorf("%X with %d bytes of data: %v", Telegram(b).Code(), n, got)
			}
		}
	}
	for code := range 256 {
		telegram := Telegram(appendTelegram(nil, addressHost, byte(code), 0x10))
		for of, d := range decoders {
			if d.decode(telegram) {
				t.Errorf("code %X without data is taken for %X", code, of)
			}
		}
	}
}
