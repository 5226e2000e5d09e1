package stage

import (
	"testing"
)

func TestColors(t *testing.T) {
	p := shades()
	for text, want := range map[string]shade{
		"red":       {Color{255, 0, 0}, 0},
		"Dark Blue": {Color{0, 0, 139}, 2},
		"#ffff00":   {Color{255, 255, 0}, 3},
		"#123456":   {Color{0x12, 0x34, 0x56}, noChannel},
		"gray50":    {Color{128, 128, 128}, noChannel},
		"grey0":     {Color{0, 0, 0}, noChannel},
		"gray":      {Color{0xbe, 0xbe, 0xbe}, noChannel},
		"NavyBlue":  {Color{0, 0, 128}, 2},
		"wheat":     {Color{0xf5, 0xde, 0xb3}, noChannel},
		"Wheat3":    {Color{205, 186, 150}, noChannel},
		"red1":      {Color{255, 0, 0}, 0},
		"red4":      {Color{139, 0, 0}, 0},
		"snow2":     {Color{238, 233, 233}, noChannel},
		"SlateGrey": {Color{112, 128, 144}, noChannel},

		"dark slate grey4": {Color{82, 139, 139}, noChannel},
	} {
		if got, err := p.resolve(text); err != nil || got != want {
			t.Errorf("%q is %v (error %v), want %v", text, got, err, want)
		}
	}
	if got := (Color{1, 2, 255}).String(); got != "#0102ff" {
		t.Error(got)
	}
	for _, text := range []string{"gray101", "nothing", "", "wheat5", "navy1", "#12345g"} {
		if _, err := p.resolve(text); err == nil {
			t.Errorf("%q was accepted as a colour", text)
		}
	}
}

// A thing of an unknown colour has the default one, and the other channels of a camera keep their numbers.
func TestUnknownColors(t *testing.T) {
	w := withWarnings(t, "model ( color \"amber\" pose [3 0 0 0] )\nposition ( blobfinder ( colors [\"amber\" \"blue\"] ) )")
	if got := w.fixtures[0].parts[0]; got.color != (Color{255, 0, 0}) || got.channel != 0 {
		t.Errorf("colour %v in channel %d", got.color, got.channel)
	}
	if got := w.robots[0].cameras[0].palette; len(got) != 1 || got[Color{0, 0, 255}] != 1 {
		t.Errorf("the camera has %v", got)
	}
}

// A block may have a colour of its own, in the channel of that colour unless the model has one.
func TestColorsOfBlocks(t *testing.T) {
	const outline = "points 3 point[0] [0 0] point[1] [1 0] point[2] [0 1] "
	for fields, want := range map[string][3]int{``: {2, 0, 1}, `channel 7`: {7, 7, 7}, `blob_return 0`: {noChannel, noChannel, noChannel}} {
		w := newWorld(t, "model ( color \"blue\" "+fields+"\nblock ( "+outline+")\nblock ( "+outline+"color \"red\" )\nblock ( "+outline+"color_rgba [0 1 0 0.5] ) )")
		for i, p := range w.fixtures[0].parts {
			if p.color != [...]Color{{0, 0, 255}, {255, 0, 0}, {0, 255, 0}}[i] || p.channel != want[i] {
				t.Errorf("%s: block %d is %v in channel %d", fields, i, p.color, p.channel)
			}
		}
	}
}

// A random colour is another one for each model, also of one define, and the same in
// each run with the same seed.
func TestRandomColors(t *testing.T) {
	colors := func(seed string) (drawn [3]Color) {
		w := newWorld(t, "seed "+seed+"\ndefine thing model ( color \"random\" )\nthing ( )\nthing ( )\nposition ( color \"random\" pose [1 1 0 0] )")
		return [3]Color{w.fixtures[0].parts[0].color, w.fixtures[1].parts[0].color, w.robots[0].body.parts[0].color}
	}
	one := colors("1")
	if one[0] == one[1] || one[1] == one[2] || one != colors("1") || one == colors("2") {
		t.Errorf("colours %v, again %v, of seed 2 %v", one, colors("1"), colors("2"))
	}
}
