package codec

import (
	"fmt"
	"strconv"
	"strings"
)

// ChannelColor is the colour of a channel of a vision device: a line of the answer to QuestionColors (PROTOCOL 8.9.8).
type ChannelColor struct {
	Device  byte
	Channel int    // 0 to 31
	Color   uint32 // 0xRRGGBB
}

// Line returns the line that ParseChannelColor reads. The key names the device in it.
func (c ChannelColor) Line(key string) string {
	return fmt.Sprintf("%s %d %06x", key, c.Channel, c.Color)
}

// ParseChannelColor reads a line about a channel, and the key of its device. It reports false for another line. Words
// behind the colour are ignored.
func ParseChannelColor(line string) (key string, c ChannelColor, ok bool) {
	words := strings.SplitN(line, " ", 4)
	if len(words) < 3 || words[0] == "" || len(words[2]) != 6 {
		return "", ChannelColor{}, false
	}
	channel, wrongChannel := strconv.ParseUint(words[1], 10, 8)
	color, wrongColor := strconv.ParseUint(words[2], 16, 32)
	if wrongChannel != nil || wrongColor != nil || channel >= VisionChannels {
		return "", ChannelColor{}, false
	}
	return words[0], ChannelColor{Channel: int(channel), Color: uint32(color)}, true
}
