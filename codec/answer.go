package codec

import (
	"bytes"
	"strings"
)

// Questions, the argument of ConfigQuestion (PROTOCOL 8.9).
const (
	QuestionRefusals  byte = 'e' // why the last reply has e
	QuestionObstacles byte = 's' // the client's obstacles
	QuestionGeometry  byte = 'g' // where the parts of the robot are
	QuestionCharge    byte = 'c' // the charger's state
	QuestionDevices   byte = 'd' // which devices the robot has
	QuestionRays      byte = 'r' // where the readings of rangers look
	QuestionChannels  byte = 'i' // inputs, outputs and joints
	QuestionColors    byte = 'v' // which colours the channels of vision have
)

const (
	// MaxAnswer is the largest payload of an answer in bytes. A client's buffer may
	// have this size. All devices of a robot have a long line within it.
	MaxAnswer = 2048
	// maxLine is the longest line of an answer in bytes. A longer one is cut, so that
	// one long error leaves room for the other devices.
	maxLine = 240
)

// Why is why a device is refused, or does not work: the second word of a line of an
// answer.
type Why string

const (
	WhyMissing  Why = "missing"  // the robot has no such device
	WhyRight    Why = "right"    // the client has no right to it
	WhyHardware Why = "hardware" // the driver cannot start
	WhyUsed     Why = "used"     // another program uses its line
	WhyOff      Why = "off"      // its driver is off until the server is restarted
	WhyRing     Why = "ring"     // the server that asks waits for it
	WhyClosed   Why = "closed"   // it was not open: there is nothing to close
	WhySilent   Why = "silent"   // it is open, and sends nothing
)

// Reason is why one device is refused, or does not work.
type Reason struct {
	Device byte
	Why    Why
	Text   string // for people
}

// AppendAnswer appends an answer (PROTOCOL 8.9). Unprintable and non-ASCII characters are
// replaced, long lines are cut, and lines that do not fit are left out.
func AppendAnswer(dst []byte, question byte, lines []string) []byte {
	dst, _ = appendLines(dst, question, lines)
	return dst
}

// AppendAnswers appends as many answers as the lines need, at least one (PROTOCOL 8.9.5).
func AppendAnswers(dst []byte, question byte, lines []string) []byte {
	dst, lines = appendLines(dst, question, lines)
	for len(lines) > 0 {
		dst, lines = appendLines(dst, question, lines)
	}
	return dst
}

// appendLines appends an answer, and returns the lines that do not fit.
func appendLines(dst []byte, question byte, lines []string) (answer []byte, left []string) {
	dst = append(dst, KindAnswer, 0, 0, question)
	start := len(dst) - 1
	for ; len(lines) > 0; lines = lines[1:] {
		line := lines[0][:min(len(lines[0]), maxLine)]
		if len(dst)-start+1+len(line) > MaxAnswer {
			break
		}
		dst = append(dst, '\n')
		for _, c := range []byte(line) {
			if c == '\n' || c == '\t' {
				c = ' '
			}
			dst = append(dst, printable(c))
		}
	}
	size := len(dst) - start
	dst[start-2], dst[start-1] = byte(size>>8), byte(size)
	return dst, lines
}

// printable replaces an unprintable or non-ASCII byte: people read the lines on terminals.
func printable(c byte) byte {
	if c < ' ' || c > '~' {
		return '?'
	}
	return c
}

// Answer splits the payload of an answer into the question and the lines. Unprintable and
// non-ASCII bytes are replaced, because the peer may be any server.
func Answer(payload []byte) (question byte, lines []string) {
	if len(payload) == 0 {
		return 0, nil
	}
	for line := range bytes.SplitSeq(payload[1:], []byte("\n")) {
		if len(line) > 0 {
			text := make([]byte, len(line))
			for i, c := range line {
				text[i] = printable(c)
			}
			lines = append(lines, string(text))
		}
	}
	return payload[0], lines
}

// Keys returns the byte of the device that a line names by its letter, or by its address, as laser:1, if it has no
// letter. It reports false for a device that it does not know.
type Keys func(key string) (code byte, known bool)

// Letters are the Keys of a client that knows no devices without letters.
func Letters(key string) (code byte, known bool) {
	if len(key) != 1 {
		return 0, false
	}
	return key[0], true
}

// Line returns the line that ParseReason reads.
func (r Reason) Line(key string) string { return key + " " + string(r.Why) + " " + r.Text }

// ParseReason reads a line about a device. It reports false for another line.
func ParseReason(line string, keys Keys) (Reason, bool) {
	device, rest, _ := strings.Cut(line, " ")
	why, text, ok := strings.Cut(rest, " ")
	code, known := keys(device)
	if !ok || !known || why == "" {
		return Reason{}, false
	}
	return Reason{Device: code, Why: Why(why), Text: text}, true
}
