package blobs

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"player/codec"
	"player/devices/stage"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
)

// paint is a colour that the tests find.
type paint struct {
	name string
	rgb  color.RGBA
}

// paints are the colours of the things to find, by channel.
var paints = []paint{
	{"red", color.RGBA{230, 30, 30, 255}},
	{"green", color.RGBA{20, 200, 40, 255}},
	{"blue", color.RGBA{30, 60, 230, 255}},
	{"yellow", color.RGBA{240, 230, 20, 255}},
}

// others are the colours of other things: 40 degrees of hue away from any of paints, or with
// less than half of its saturation.
var others = []color.RGBA{{130, 50, 180, 255}, {20, 140, 150, 255}, {210, 180, 140, 255}, {224, 172, 150, 255}, {90, 110, 90, 255}, {84, 96, 116, 255}, {250, 250, 250, 255}, {12, 12, 16, 255}}

// view is how a camera shows a scene.
type view struct {
	light float64    // gain
	tint  [3]float64 // gain of red, green and blue
	blur  int        // how often a pixel is mixed with its neighbours
	noise float64    // standard deviation, of 255
}

// anyView returns a view: light of 65 to 130 %, a tint of 5 %, and blur and noise of a cheap
// webcam indoors.
func anyView(random *rand.Rand) view {
	v := view{light: 0.65 + 0.65*random.Float64(), blur: random.IntN(4), noise: 10 * random.Float64()}
	for i := range v.tint {
		v.tint[i] = 0.95 + 0.1*random.Float64()
	}
	return v
}

// take returns the camera's picture of a scene, as JPEG.
func (v view) take(scene *image.RGBA, random *rand.Rand) []byte {
	size := scene.Rect.Size()
	light, mixed := make([]float32, 3*size.X*size.Y), make([]float32, 3*size.X*size.Y)
	for c := range 3 {
		plane, gain := light[c*size.X*size.Y:][:size.X*size.Y], float32(v.light*v.tint[c])
		for i := range plane {
			plane[i] = float32(scene.Pix[4*i+c]) * gain
		}
		// Each pixel is mixed with its neighbours in the row, a quarter of each, and then with those
		// above and below.
		rest := mixed[:size.X*size.Y]
		for range v.blur {
			mix(rest, plane, 1)
			mix(plane, rest, size.X)
		}
	}
	out := image.NewRGBA(scene.Rect)
	noise := make([]float32, 1<<14) // which is long enough to show no pattern
	for i := range noise {
		noise[i] = float32(v.noise*random.NormFloat64()) + 0.5
	}
	for c := range 3 {
		plane := light[c*size.X*size.Y:][:size.X*size.Y]
		at := random.IntN(len(noise))
		for i, value := range plane {
			out.Pix[4*i+c] = uint8(max(0, min(value+noise[(at+i)%len(noise)], 255)))
		}
	}
	return encode(out)
}

// mix mixes the pixels of a plane with those a step before and behind, a quarter of each.
func mix(to, from []float32, step int) {
	copy(to, from)
	for i := step; i < len(from)-step; i++ {
		to[i] = from[i-step]/4 + from[i]/2 + from[i+step]/4
	}
}

func encode(m image.Image) []byte {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, m, &jpeg.Options{Quality: 80}); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	return out.Bytes()
}

// truth has the blobs of a scene: connected patches of pixels, by channel.
type truth struct {
	channel int
	codec.Blob
}

// distinct reports whether a camera can show a patch as one. It must be at least 6 pixels thick, because the colours of
// a JPEG are 2 pixels wide and mix at edges. It must be at most six times as long as thick, half of its rectangle, and 4
// pixels away from the next patch of its colour.
func (p truth) distinct(patches []truth) bool {
	width, height := p.Right-p.Left+1, p.Bottom-p.Top+1
	length := max(width, height)
	if p.Area < 6*length || 6*p.Area < length*length || 2*p.Area < width*height {
		return false
	}
	for _, o := range patches {
		if o != p && o.channel == p.channel && o.Left-4 <= p.Right && o.Right+4 >= p.Left && o.Top-4 <= p.Bottom && o.Bottom+4 >= p.Top {
			return false
		}
	}
	return true
}

// patchesOf returns the patches of a scene. channelOf returns the channel of a pixel, -1 for
// none.
func patchesOf(size image.Point, channelOf func(i int) int) (patches []truth) {
	seen := make([]bool, size.X*size.Y)
	for start := range seen {
		channel := channelOf(start)
		if seen[start] || channel < 0 {
			continue
		}
		p := truth{channel, codec.Blob{Left: size.X, Top: size.Y}}
		todo := []int{start}
		seen[start] = true
		for len(todo) > 0 {
			i := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			x, y := i%size.X, i/size.X
			p.Area++
			p.X += x
			p.Y += y
			p.Left, p.Right, p.Top, p.Bottom = min(p.Left, x), max(p.Right, x), min(p.Top, y), max(p.Bottom, y)
			for ny := max(0, y-1); ny <= min(y+1, size.Y-1); ny++ {
				for nx := max(0, x-1); nx <= min(x+1, size.X-1); nx++ {
					if k := ny*size.X + nx; !seen[k] && channelOf(k) == channel {
						seen[k] = true
						todo = append(todo, k)
					}
				}
			}
		}
		p.X, p.Y = (p.X+p.Area/2)/p.Area, (p.Y+p.Area/2)/p.Area
		patches = append(patches, p)
	}
	return patches
}

// trainedBy returns a finder that was calibrated with the first scene with a large patch of
// each paint: by pixels of the patch's middle, where a user would click.
func trainedBy(t testing.TB, scene func() (*image.RGBA, []truth)) *Finder {
	t.Helper()
	for {
		m, patches := scene()
		picture := must.Get(Decode(encode(m)))(t)
		var colors []Color
		for channel, p := range paints {
			for _, patch := range patches {
				if patch.channel != channel || patch.Area < 400 {
					continue
				}
				var samples []color.YCbCr
				for y := patch.Y - 3; y <= patch.Y+3; y++ {
					for x := patch.X - 3; x <= patch.X+3; x++ {
						samples = append(samples, picture.YCbCrAt(x, y))
					}
				}
				colors = append(colors, Calibrated(p.name, channel, samples))
				break
			}
		}
		if len(colors) < len(paints) {
			continue
		}
		f := must.Get(NewFinder(colors))(t)
		return f
	}
}

// tally counts the blobs found and the blobs in the pictures.
type tally struct{ pictures, there, found, false int }

// compare compares a finder's blobs with a scene's.
func (n *tally) compare(t *testing.T, f *Finder, picture []byte, patches []truth, what string) {
	t.Helper()
	m := must.Get(Decode(picture))(t)
	var d codec.VisionData
	f.Find(m, &d)
	n.pictures++
	near := func(b codec.Blob, p truth) bool {
		return abs(b.X-p.X) <= 2 && abs(b.Y-p.Y) <= 2
	}
	for _, p := range patches {
		if p.Area < 40 || !p.distinct(patches) {
			continue
		}
		n.there++
		found := false
		for _, b := range d.Channel(p.channel) {
			found = found || near(b, p)
		}
		if found {
			n.found++
		} else {
			t.Errorf("%s: %s %+v is not found: %+v", what, paints[p.channel].name, p.Blob, d.Channel(p.channel))
		}
	}
	for channel := range paints {
		for _, b := range d.Channel(channel) {
			real := false
			for _, p := range patches {
				real = real || p.channel == channel && b.Left <= p.Right && b.Right >= p.Left && b.Top <= p.Bottom && b.Bottom >= p.Top
			}
			if !real {
				n.false++
				t.Errorf("%s: %s %+v is false", what, paints[channel].name, b)
			}
		}
	}
}

func abs(v int) int { return max(v, -v) }

// drawn returns a scene of discs and boxes of the paints, and of other colours, on an
// uneven ground, and the patches in it. Patches of one colour have at least 6 pixels between
// them.
func drawn(random *rand.Rand) (*image.RGBA, []truth) {
	const width, height = 320, 240
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	channel := make([]int, width*height)
	top, bottom := 120+random.Float64()*100, 60+random.Float64()*100
	for i := range channel {
		channel[i] = -1
		ground := top + (bottom-top)*float64(i/width)/height
		m.SetRGBA(i%width, i/width, color.RGBA{uint8(ground), uint8(ground * 0.97), uint8(ground * 0.92), 255})
	}
	taken := map[image.Rectangle]int{} // the rest is for things of other colours
	for n := range 24 {
		w, h := 6+int(60*math.Pow(random.Float64(), 3)), 7+int(60*math.Pow(random.Float64(), 3))
		x, y := random.IntN(width-w), random.IntN(height-h)
		box := image.Rect(x, y, x+w, y+h)
		what := n % (len(paints) + 2)
		clear := true
		for other := range taken {
			clear = clear && !box.Inset(-6).Overlaps(other)
		}
		if !clear {
			continue
		}
		taken[box] = what
		c := others[random.IntN(len(others))]
		if what < len(paints) {
			c = paints[what].rgb
		} else {
			what = -1
		}
		round := random.IntN(2) == 0 && w > 8 && h > 8
		for py := y; py < y+h; py++ {
			for px := x; px < x+w; px++ {
				dx, dy := (float64(px)+0.5-float64(x))/float64(w)*2-1, (float64(py)+0.5-float64(y))/float64(h)*2-1
				if round && dx*dx+dy*dy > 1 {
					continue
				}
				m.SetRGBA(px, py, c)
				channel[py*width+px] = what
			}
		}
	}
	return m, patchesOf(image.Pt(width, height), func(i int) int { return channel[i] })
}

// pictures returns how many pictures a test takes.
func pictures() int { return acceptance.Rounds(100, 1000) }

// Blobs of drawn pictures are found in noise, blur and changed light: every one of at least 40
// pixels, its centre within 2 pixels, and no false one in all pictures.
func TestDrawnPictures(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	random := rand.New(rand.NewPCG(1, 1))
	f := trainedBy(t, func() (*image.RGBA, []truth) { return drawn(random) })
	var n tally
	for i := range pictures() {
		scene, patches := drawn(random)
		v := anyView(random)
		n.compare(t, f, v.take(scene, random), patches, fmt.Sprintf("picture %d, %+v", i, v))
	}
	t.Logf("%+v", n)
	if n.there < 8*n.pictures {
		t.Errorf("only %d blobs were looked for", n.there)
	}
}

// channelOf returns the channel of a pixel that a simulated camera has drawn, -1 for none: the
// world's colours are pure, and the haze makes them paler.
func channelOf(c color.RGBA) int {
	r, g, b := int(c.R), int(c.G), int(c.B)
	low := min(r, g, b)
	r, g, b = r-low, g-low, b-low
	switch most := max(r, g, b); {
	case most < 60:
		return -1
	case 10*r > 9*most && 10*g < most && 10*b < most:
		return 0
	case 10*g > 9*most && 10*r < most && 10*b < most:
		return 1
	case 10*b > 9*most && 10*r < most && 10*g < most:
		return 2
	case 10*r > 9*most && 10*g > 9*most && 10*b < most:
		return 3
	}
	return -1
}

// The same for the pictures of a simulated camera: its robot and the things around it are
// moved about, and it looks up and down.
func TestSimulatedPictures(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	random := rand.New(rand.NewPCG(3, 1))
	world := must.Get(stage.Load("testdata/things.world"))(t)
	robot := world.Robots()[0]
	scene := func() (*image.RGBA, []truth) {
		for mover := range world.Movers() {
			at := stage.Pose{X: 7.6*random.Float64() - 3.8, Y: 5.6*random.Float64() - 2.8, Heading: 2 * math.Pi * random.Float64()}
			_ = world.SetPose(mover, at) // without room it stays
		}
		m := robot.Sight().Draw(320, 240)
		return m, patchesOf(m.Rect.Size(), func(i int) int { return channelOf(m.RGBAAt(i%320, i/320)) })
	}
	f := trainedBy(t, scene)
	var n tally
	for i := range pictures() {
		m, patches := scene()
		v := anyView(random)
		n.compare(t, f, v.take(m, random), patches, fmt.Sprintf("picture %d, %+v", i, v))
	}
	t.Logf("%+v", n)
	if 2*n.there < n.pictures {
		t.Errorf("only %d blobs were looked for", n.there)
	}
}

// Samples are the pixels of a part of a picture that are in it.
func TestSamples(t *testing.T) {
	m := image.NewYCbCr(image.Rect(0, 0, 6, 4), image.YCbCrSubsampleRatio444)
	for i := range m.Y {
		m.Y[i] = uint8(i)
	}
	lights := func(part image.Rectangle) (of []uint8) {
		for _, s := range Samples(m.SubImage(image.Rect(1, 1, 6, 4)).(*image.YCbCr), part) {
			of = append(of, s.Y)
		}
		return of
	}
	if got, want := lights(image.Rect(3, 1, 9, 9)), []uint8{16, 17, 22, 23}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := lights(image.Rect(7, 1, 9, 9)); got != nil {
		t.Errorf("%v beyond the edge", got)
	}
}
