package evidence

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"player/codec"
)

// serial is from how many digits on a number counts as the serial number of a device: versions, models and times of
// hardware are shorter, and the shortest serial number of a lidar here has 16.
const serial = 10

// Cleaner removes from a text all that would identify the owner of the hardware. Private are the words that it is given, such as the
// names of the computer and of its user, and words that look like a path, an address, or a serial number.
type Cleaner struct{ private []string }

// NewCleaner returns a Cleaner with private words. Words of one or two letters are left out of them: they are in many
// others.
func NewCleaner(private ...string) Cleaner {
	var c Cleaner
	for _, word := range private {
		if len(word) > 2 {
			c.private = append(c.private, word)
		}
	}
	// The longest first, so that no part of a word stays.
	slices.SortFunc(c.private, func(a, b string) int { return len(b) - len(a) })
	return c
}

// Line returns a text without control characters, and with PRIVATE, PATH, ADDRESS or NUMBER in place of private words.
func (c Cleaner) Line(text string) string {
	for _, word := range c.private {
		text = strings.ReplaceAll(text, word, "PRIVATE")
	}
	var out, word strings.Builder
	end := func() {
		out.WriteString(clean(word.String()))
		word.Reset()
	}
	for _, r := range text {
		switch {
		case unicode.IsControl(r):
			end()
			out.WriteByte('?')
		case strings.ContainsRune(` "'(){}=,;<>|`, r):
			end()
			out.WriteRune(r)
		default:
			word.WriteRune(r)
		}
	}
	end()
	return out.String()
}

// clean returns a word, or the kind of word if it is private.
func clean(word string) string {
	bare := strings.Trim(word, "[].:")
	switch {
	case strings.HasPrefix(word, "/"), strings.HasPrefix(word, "./"), strings.HasPrefix(word, "../"), strings.HasPrefix(word, "~"), strings.Contains(word, "://"):
		return "PATH"
	case isAddress(bare):
		return "ADDRESS"
	case isSerial(bare):
		return "NUMBER"
	}
	return word
}

// isAddress reports whether a word is an address of the network, with or without a port, or HOST:PORT.
func isAddress(word string) bool {
	if _, err := netip.ParseAddr(word); err == nil {
		return true
	}
	if _, err := netip.ParseAddrPort(word); err == nil {
		return true
	}
	if iface, _, ok := codec.ParseAddress(word); ok && codec.InterfaceLetter(iface) != 0 {
		return false // a device, for example laser:1
	}
	i := strings.LastIndexByte(word, ':')
	if i <= 0 {
		return false
	}
	_, err := strconv.ParseUint(word[i+1:], 10, 16)
	return err == nil
}

// isSerial reports whether a word is a serial number: digits, also hexadecimal ones, at least some of them decimal.
func isSerial(word string) bool {
	if len(word) < serial {
		return false
	}
	digits := 0
	for _, r := range word {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'f', r >= 'A' && r <= 'F', r == '-', r == '_':
		default:
			return false
		}
	}
	return digits > 0
}

// sorted returns the keys of a map in order.
func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
