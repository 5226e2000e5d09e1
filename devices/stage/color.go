package stage

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"player/config/syntax"
)

// Color is the colour of a thing.
type Color struct{ R, G, B uint8 }

// String returns the colour as "#rrggbb".
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

const (
	noChannel = -1
	// lightChannel is the tracker's channel for a light, whatever its colour:
	// the last one, so that colours may be added.
	lightChannel = 31
)

// shade is a named colour and the channel in which the colour tracker is
// trained to report it.
type shade struct {
	Color
	channel int
}

// shades returns the colour names of world files: those of X11 with a hue, and
// black, white and some greys, which the tracker does not recognise.
func shades() palette {
	s := palette{}
	add := func(channel int, names string) {
		for _, entry := range strings.Fields(names) {
			name, hex, _ := strings.Cut(entry, "=")
			v, _ := strconv.ParseUint(hex, 16, 24)
			s[name] = shade{Color{uint8(v >> 16), uint8(v >> 8), uint8(v)}, channel}
		}
	}
	add(0, "red=ff0000 darkred=8b0000 firebrick=b22222 crimson=dc143c tomato=ff6347 salmon=fa8072")
	add(1, "green=00ff00 darkgreen=006400 limegreen=32cd32 forestgreen=228b22 lightgreen=90ee90 seagreen=2e8b57")
	add(2, "blue=0000ff darkblue=00008b navy=000080 royalblue=4169e1 lightblue=add8e6 skyblue=87ceeb steelblue=4682b4")
	add(3, "yellow=ffff00 gold=ffd700 lightyellow=ffffe0 khaki=f0e68c goldenrod=daa520")
	add(4, "orange=ffa500 darkorange=ff8c00 coral=ff7f50 orangered=ff4500")
	add(5, "purple=a020f0 violet=ee82ee darkviolet=9400d3 indigo=4b0082 orchid=da70d6")
	add(6, "cyan=00ffff darkcyan=008b8b turquoise=40e0d0 aquamarine=7fffd4")
	add(7, "magenta=ff00ff darkmagenta=8b008b maroon=b03060")
	add(8, "pink=ffc0cb hotpink=ff69b4 deeppink=ff1493 lightpink=ffb6c1")
	add(9, "brown=a52a2a sienna=a0522d chocolate=d2691e tan=d2b48c saddlebrown=8b4513")
	add(noChannel, "black=000000 white=ffffff gray=bebebe grey=bebebe lightgray=d3d3d3 lightgrey=d3d3d3 "+
		"darkgray=a9a9a9 darkgrey=a9a9a9 dimgray=696969 slategray=708090 beige=f5f5dc ivory=fffff0")
	return s
}

// palette maps names to colours.
type palette map[string]shade

// resolve returns the colour in a world file: "#rrggbb" or a name, ignoring
// letter case and blanks. A colour given by numbers has the channel of the
// equal named colour, if there is one.
func (p palette) resolve(text string) (shade, error) {
	if digits, hex := strings.CutPrefix(text, "#"); hex {
		v, err := strconv.ParseUint(digits, 16, 24)
		return p.channelOf(Color{uint8(v >> 16), uint8(v >> 8), uint8(v)}), err
	}
	name := strings.ToLower(strings.ReplaceAll(text, " ", ""))
	if s, known := p[name]; known {
		return s, nil
	}
	if level, isGray := strings.CutPrefix(strings.Replace(name, "grey", "gray", 1), "gray"); isGray {
		if percent, err := strconv.ParseUint(level, 10, 8); err == nil && percent <= 100 {
			v := uint8((percent*255 + 50) / 100)
			return shade{Color{v, v, v}, noChannel}, nil
		}
	}
	err := fmt.Errorf("unknown colour %.40q", text)
	if near := syntax.Nearest(name, slices.Sorted(maps.Keys(p))); near != "" {
		err = fmt.Errorf("%w; did you mean %q?", err, near)
	}
	return shade{}, err
}

func (p palette) channelOf(c Color) shade {
	for _, s := range p {
		if s.Color == c {
			return s
		}
	}
	return shade{c, noChannel}
}
