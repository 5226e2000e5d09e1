package sicklms200

// Requests to the device. The answer's code is the request's with the top bit set, except
// for requestMode: its answer is CodeAck.
const (
	requestMode      = 0x20
	requestStatus    = 0x31
	requestType      = 0x3A
	requestVariant   = 0x3B
	requestConfig    = 0x74
	requestSetConfig = 0x77
)

// Mode is an operating mode of the device or a speed of its line. The device
// acknowledges a speed still at the old one and changes then; it keeps it until
// its power is cut.
type Mode byte

// The modes and speeds that the driver asks for.
const (
	Stream     Mode = 0x24 // send every scan, all values
	OnRequest  Mode = 0x25 // stop streaming
	Speed38400 Mode = 0x40

	configurationMode Mode = 0x00 // a password follows
)

// Password is that for configuration mode.
const Password = "SICK_LMS"

// AppendMode appends the request for a mode or speed. Answer: CodeAck.
func AppendMode(dst []byte, m Mode) []byte { return appendRequest(dst, requestMode, byte(m)) }

// AppendConfigurationMode appends the request for configuration mode, in which the device
// accepts a variant and a configuration and does not stream. Answer: CodeAck.
func AppendConfigurationMode(dst []byte) []byte {
	return appendRequest(dst, requestMode, append([]byte{byte(configurationMode)}, Password...)...)
}

// AppendVariant appends the request for a variant. Some devices accept it in configuration
// mode only. Answer: CodeVariantSet.
func AppendVariant(dst []byte, v Variant) []byte {
	return appendRequest(dst, requestVariant,
		byte(v.Angle), byte(v.Angle>>8), byte(v.Resolution), byte(v.Resolution>>8))
}

// AppendStatusRequest asks for the status. Answer: CodeStatus.
func AppendStatusRequest(dst []byte) []byte { return appendRequest(dst, requestStatus) }

// AppendConfigRequest asks for the configuration. Answer: CodeConfig.
func AppendConfigRequest(dst []byte) []byte { return appendRequest(dst, requestConfig) }

// AppendSetConfig appends the request to set a configuration, in configuration mode only:
// the block that the device sent, with the wanted bytes changed. Devices also accept a
// shorter block as its beginning. Answer: CodeConfigSet.
func AppendSetConfig(dst []byte, c Configuration) []byte {
	return appendRequest(dst, requestSetConfig, c...)
}

func appendRequest(dst []byte, code byte, data ...byte) []byte {
	return appendTelegram(dst, addressDevice, code, data...)
}
