package stage

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"player/formats/syntax"
)

// Color is the colour of a thing.
type Color struct{ R, G, B uint8 }

// String returns the colour as "#rrggbb".
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

const (
	noChannel = -1
	// LightChannel is the tracker's channel for a light of any colour: the last one, so that
	// colours may be added.
	LightChannel = 31
)

// shade is a colour and the channel in which the colour tracker is trained to report
// it.
type shade struct {
	Color
	channel int
}

// palette is the colours that have a name, in small letters without blanks, and the
// channels of those that the tracker recognises.
type palette struct {
	colors   map[string]Color
	channels map[Color]int
}

// shades returns the colours of X11: the names of rgb.txt, and crimson, indigo and the names
// of the web, which later versions have. An entry is name=rrggbb. A name with a + has four
// shades, name1 to name4: the first follows the +, or is the colour itself. The others have
// 93.2, 80.4 and 54.5 % of it, which in rgb.txt is at most one level off, except for hot
// pink.
func shades() palette {
	p := palette{map[string]Color{}, map[Color]int{}}
	add := func(channel int, names string) {
		for _, entry := range strings.Fields(names) {
			name, hex, _ := strings.Cut(entry, "=")
			hex, first, shaded := strings.Cut(hex, "+")
			c, _ := parseColor(hex)
			p.colors[name] = c
			if channel != noChannel {
				p.channels[c] = channel
			}
			if !shaded {
				continue
			}
			if first != "" {
				c, _ = parseColor(first)
			}
			for i, k := range [...]int{1000, 932, 804, 545} {
				scale := func(v uint8) uint8 { return uint8((int(v)*k + 500) / 1000) }
				p.colors[name+strconv.Itoa(i+1)] = Color{scale(c.R), scale(c.G), scale(c.B)}
			}
		}
	}
	add(0, "red=ff0000+ darkred=8b0000 firebrick=b22222+ff3030 crimson=dc143c tomato=ff6347+ salmon=fa8072+ff8c69")
	add(1, "green=00ff00+ darkgreen=006400 limegreen=32cd32 forestgreen=228b22 lightgreen=90ee90 seagreen=2e8b57+54ff9f")
	add(2, "blue=0000ff+ darkblue=00008b navy=000080 royalblue=4169e1+4876ff lightblue=add8e6+bfefff skyblue=87ceeb+87ceff steelblue=4682b4+63b8ff")
	add(3, "yellow=ffff00+ gold=ffd700+ lightyellow=ffffe0+ khaki=f0e68c+fff68f goldenrod=daa520+ffc125")
	add(4, "orange=ffa500+ darkorange=ff8c00+ff7f00 coral=ff7f50+ff7256 orangered=ff4500+")
	add(5, "purple=a020f0+9b30ff violet=ee82ee darkviolet=9400d3 indigo=4b0082 orchid=da70d6+ff83fa")
	add(6, "cyan=00ffff+ darkcyan=008b8b turquoise=40e0d0+00f5ff aquamarine=7fffd4+")
	add(7, "magenta=ff00ff+ darkmagenta=8b008b maroon=b03060+ff34b3")
	add(8, "pink=ffc0cb+ffb5c5 hotpink=ff69b4+ff6eb4 deeppink=ff1493+ lightpink=ffb6c1+ffaeb9")
	add(9, "brown=a52a2a+ff4040 sienna=a0522d+ff8247 chocolate=d2691e+ff7f24 tan=d2b48c+ffa54f saddlebrown=8b4513")
	add(noChannel, "aliceblue=f0f8ff antiquewhite=faebd7+ffefdb aqua=00ffff azure=f0ffff+ beige=f5f5dc bisque=ffe4c4+ "+
		"black=000000 blanchedalmond=ffebcd blueviolet=8a2be2 burlywood=deb887+ffd39b cadetblue=5f9ea0+98f5ff "+
		"chartreuse=7fff00+ cornflowerblue=6495ed cornsilk=fff8dc+ darkgoldenrod=b8860b+ffb90f "+
		"darkgray=a9a9a9 darkkhaki=bdb76b darkolivegreen=556b2f+caff70 darkorchid=9932cc+bf3eff "+
		"darksalmon=e9967a darkseagreen=8fbc8f+c1ffc1 darkslateblue=483d8b darkslategray=2f4f4f+97ffff "+
		"darkturquoise=00ced1 deepskyblue=00bfff+ dimgray=696969 dodgerblue=1e90ff+ "+
		"floralwhite=fffaf0 fuchsia=ff00ff gainsboro=dcdcdc ghostwhite=f8f8ff gray=bebebe greenyellow=adff2f "+
		"honeydew=f0fff0+ indianred=cd5c5c+ff6a6a ivory=fffff0+ lavender=e6e6fa lavenderblush=fff0f5+ "+
		"lawngreen=7cfc00 lemonchiffon=fffacd+ lightcoral=f08080 lightcyan=e0ffff+ "+
		"lightgoldenrod=eedd82+ffec8b lightgoldenrodyellow=fafad2 lightgray=d3d3d3 lightsalmon=ffa07a+ "+
		"lightseagreen=20b2aa lightskyblue=87cefa+b0e2ff lightslateblue=8470ff lightslategray=778899 "+
		"lightsteelblue=b0c4de+cae1ff lime=00ff00 linen=faf0e6 mediumaquamarine=66cdaa mediumblue=0000cd "+
		"mediumorchid=ba55d3+e066ff mediumpurple=9370db+ab82ff mediumseagreen=3cb371 mediumslateblue=7b68ee "+
		"mediumspringgreen=00fa9a mediumturquoise=48d1cc mediumvioletred=c71585 midnightblue=191970 "+
		"mintcream=f5fffa mistyrose=ffe4e1+ moccasin=ffe4b5 navajowhite=ffdead+ navyblue=000080 "+
		"oldlace=fdf5e6 olive=808000 olivedrab=6b8e23+c0ff3e palegoldenrod=eee8aa palegreen=98fb98+9aff9a "+
		"paleturquoise=afeeee+bbffff palevioletred=db7093+ff82ab papayawhip=ffefd5 peachpuff=ffdab9+ "+
		"peru=cd853f plum=dda0dd+ffbbff powderblue=b0e0e6 rosybrown=bc8f8f+ffc1c1 sandybrown=f4a460 "+
		"seashell=fff5ee+ silver=c0c0c0 slateblue=6a5acd+836fff slategray=708090+c6e2ff snow=fffafa+ "+
		"springgreen=00ff7f+ teal=008080 thistle=d8bfd8+ffe1ff violetred=d02090+ff3e96 wheat=f5deb3+ffe7ba "+
		"white=ffffff whitesmoke=f5f5f5 yellowgreen=9acd32")
	return p
}

// parseColor returns the colour of six hexadecimal digits.
func parseColor(hex string) (Color, error) {
	v, err := strconv.ParseUint(hex, 16, 24)
	return Color{uint8(v >> 16), uint8(v >> 8), uint8(v)}, err
}

// resolve returns the colour in a world file: "#rrggbb", or a name with letter case,
// blanks and the spelling of grey ignored. Colours of equal value have one channel.
func (p palette) resolve(text string) (shade, error) {
	if hex, isHex := strings.CutPrefix(text, "#"); isHex {
		c, err := parseColor(hex)
		return p.channelOf(c), err
	}
	name := strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(text, " ", "")), "grey", "gray")
	if c, known := p.colors[name]; known {
		return p.channelOf(c), nil
	}
	if level, isGray := strings.CutPrefix(name, "gray"); isGray {
		if percent, err := strconv.ParseUint(level, 10, 8); err == nil && percent <= 100 {
			v := uint8((percent*255 + 50) / 100)
			return shade{Color{v, v, v}, noChannel}, nil
		}
	}
	err := fmt.Errorf("unknown colour %.40q", text)
	if near := syntax.Nearest(name, slices.Sorted(maps.Keys(p.colors))); near != "" {
		err = fmt.Errorf("%w; did you mean %q?", err, near)
	}
	return shade{}, err
}

// channelOf returns a colour with its channel.
func (p palette) channelOf(c Color) shade {
	if channel, known := p.channels[c]; known {
		return shade{c, channel}
	}
	return shade{c, noChannel}
}
