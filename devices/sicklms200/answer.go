package sicklms200

import "encoding/binary"

// Code is the first byte of a telegram's content, the kind of the telegram.
type Code byte

// The codes that a device sends.
const (
	CodeReset      Code = 0x91 // restarting
	CodePowerUp    Code = 0x90 // restarted
	CodeNack       Code = 0x92 // request not understood or not now
	CodeAck        Code = 0xA0 // see Telegram.Ack
	CodeScan       Code = 0xB0 // see DecodeScan
	CodeStatus     Code = 0xB1 // see Telegram.Variant
	CodeScanRange  Code = 0xB7 // see DecodeScan
	CodeType       Code = 0xBA // the data is text, "LMS200;30106;V02.10 "
	CodeVariantSet Code = 0xBB // see Telegram.VariantSet
	CodeConfig     Code = 0xF4 // see Telegram.Config
	CodeConfigSet  Code = 0xF7 // see Telegram.ConfigSet
)

// AckResult is a device's answer to the request for a mode.
type AckResult byte

// The results. The two denials come as an acknowledgement all the same.
const (
	Accepted AckResult = iota
	WrongPassword
	Fault // of the device's interface
)

// Ack returns the result in a CodeAck telegram; ok is false if t is another one.
func (t Telegram) Ack() (result AckResult, ok bool) {
	if t.Code() != CodeAck || len(t.Data()) != 1 {
		return 0, false
	}
	return AckResult(t.Data()[0]), true
}

// Variant is the range and the step of a scan. Player's laser data (manual table 7) needs
// 180 degrees in steps of 50.
type Variant struct {
	Angle      uint16 // deg: 100 or 180
	Resolution uint16 // 1/100 deg between values: 25, 50 or 100
}

func decodeVariant(b []byte) Variant {
	return Variant{Angle: binary.LittleEndian.Uint16(b), Resolution: binary.LittleEndian.Uint16(b[2:])}
}

// VariantSet decodes a CodeVariantSet telegram: whether the device took the variant,
// and the one it has now. ok is false if t is another one.
func (t Telegram) VariantSet() (accepted bool, v Variant, ok bool) {
	b := t.Data()
	if t.Code() != CodeVariantSet || len(b) != 5 {
		return false, v, false
	}
	return b[0] == 1, decodeVariant(b[1:]), true
}

// statusVariant is where a CodeStatus telegram's data has the variant.
const statusVariant = 106

// Variant returns the variant in a CodeStatus telegram; ok is false if t is another one.
func (t Telegram) Variant() (v Variant, ok bool) {
	b := t.Data()
	if t.Code() != CodeStatus || len(b) < statusVariant+4 {
		return v, false
	}
	return decodeVariant(b[statusVariant:]), true
}

// Configuration is the device's configuration block, with at least the bytes below;
// the others are left as they are.
type Configuration []byte

// Bytes of a Configuration that matter to the measured values.
const (
	MeasuringMode = 5 // 0: bits above the range are fields and dazzle; 1: reflector level; 2: fields
	Units         = 6 // see Unit

	minConfiguration = 7
)

// Config returns the block in a CodeConfig telegram, valid as long as t; ok is false if t is
// another telegram.
func (t Telegram) Config() (c Configuration, ok bool) {
	if t.Code() != CodeConfig || len(t.Data()) < minConfiguration {
		return nil, false
	}
	return t.Data(), true
}

// ConfigSet decodes a CodeConfigSet telegram: whether the device accepted the configuration,
// and its configuration now, valid as long as t. ok is false if t is another telegram.
func (t Telegram) ConfigSet() (accepted bool, c Configuration, ok bool) {
	b := t.Data()
	if t.Code() != CodeConfigSet || len(b) < 1+minConfiguration {
		return false, nil, false
	}
	return b[0] == 1, b[1:], true
}
