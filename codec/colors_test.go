package codec_test

import (
	"testing"

	"player/codec"
)

func TestChannelColor(t *testing.T) {
	for _, tt := range []struct {
		line, key string
		want      codec.ChannelColor
		ok        bool
	}{
		{"v 0 ffa500", "v", codec.ChannelColor{Color: 0xffa500}, true},
		{"vision:1 31 00008b and more", "vision:1", codec.ChannelColor{Channel: 31, Color: 0x8b}, true},
		{"v 32 ffa500", "", codec.ChannelColor{}, false},
		{"v -1 ffa500", "", codec.ChannelColor{}, false},
		{"v 0 fa500", "", codec.ChannelColor{}, false},
		{"v 0 orange", "", codec.ChannelColor{}, false},
		{" 0 ffa500", "", codec.ChannelColor{}, false},
		{"v 0", "", codec.ChannelColor{}, false},
		{"", "", codec.ChannelColor{}, false},
	} {
		key, got, ok := codec.ParseChannelColor(tt.line)
		if key != tt.key || got != tt.want || ok != tt.ok {
			t.Errorf("%q: %q %+v %v", tt.line, key, got, ok)
		}
		if line := got.Line(key); ok && line != tt.line[:len(line)] {
			t.Errorf("%q is written as %q", tt.line, line)
		}
	}
}
