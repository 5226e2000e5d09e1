package transporttest_test

import (
	"fmt"
	"math"
	"slices"
	"time"

	"player/codec"
	"player/devices/evid30"
	"player/devices/transport/transporttest"
	"player/simulation/emulator/line"
	"player/simulation/emulator/sony"
)

func cameraProduct() product {
	return product{
		kind: evid30.Kind(), speeds: []int{9600}, period: 270 * ms, pace: 30 * ms,
		noise:     line.Noise{Garbage: .05, Swallow: .02, Truncate: .02, Both: true}, // VISCA has no checksum
		unwatched: true, start: cameras(sony.Options{}, d30),
		states: map[string]starter{
			"EVI-D70":        cameras(sony.Options{Model: "EVI-D70"}, scale{2267. / 170, 1200. / 90, 0x4000}),
			"EVI-D100":       cameras(sony.Options{Model: "EVI-D100"}, scale{14.4, 14.4, 0x4000}),
			"without a name": cameras(sony.Options{Unnamed: true}, d30),
		},
	}
}

// camera judges a pan-tilt-zoom camera: data is where it was when it was asked, and it gets where it was commanded to.
type camera struct {
	*sony.Camera
	scale
	command codec.PTZCommand
	given   bool
	truth   []view // the newest last
}

// view is where a camera points to until a time.
type view struct {
	at time.Duration
	codec.PTZData
}

func cameras(options sony.Options, units scale) starter {
	return func(o line.Options) (hardware, error) {
		options.Line = o
		c, err := sony.Start(options)
		return &camera{Camera: c, scale: units}, err
	}
}

// scale is the units of a model: of pan and tilt in a degree, and of the zoom at telephoto.
type scale struct{ pan, tilt, zoom float64 }

// d30 is the scale of the EVI-D30.
var d30 = scale{8.8, 12, 1023}

// left tests whether the camera has gone home.
func (h *camera) left() error {
	if h.now() != (codec.PTZData{}) {
		return fmt.Errorf("the camera: %+v", h.State())
	}
	return nil
}

func (h *camera) restart() { h.PowerCycle() }

// now is where the camera points to, in the units of the protocol.
func (h *camera) now() codec.PTZData {
	s := h.State()
	pan, tilt := math.Round(float64(-s.Pan)/h.pan), math.Round(float64(s.Tilt)/h.tilt)
	return codec.PTZData{Pan: int16(pan), Tilt: int16(tilt), Zoom: int16(math.Round(float64(s.Zoom) / h.zoom * 1023))}
}

// work is that of a client that has the camera point elsewhere once a second or so.
func (h *camera) work(r *rig) {
	if r.random.IntN(10) == 0 {
		h.given = true
		h.command = codec.PTZCommand{
			Pan: int16(r.random.IntN(201) - 100), Tilt: int16(r.random.IntN(51) - 25), Zoom: int16(r.random.IntN(1024)),
		}
		r.Client.SetCommand(r.Now(), h.command.Append(nil))
	}
}

func (h *camera) sample(r *rig) {
	now := h.now()
	if n := len(h.truth); n == 0 || h.truth[n-1].PTZData != now {
		h.truth = append(h.truth, view{PTZData: now})
	}
	h.truth[len(h.truth)-1].at = r.Now()
	for h.truth[0].at < r.Now()-window {
		h.truth = h.truth[1:]
	}
}

// judge allows for a zoom that was asked for later than the position.
func (h *camera) judge(r *rig) error {
	d := transporttest.Data[codec.PTZData](r.T, r.Client)
	i := slices.IndexFunc(h.truth, func(v view) bool { return v.Pan == d.Pan && v.Tilt == d.Tilt })
	if i < 0 || !slices.ContainsFunc(h.truth[i:], func(v view) bool { return v.Zoom == d.Zoom }) {
		return fmt.Errorf("data is %+v, the camera at %+v", d, h.truth)
	}
	return nil
}

func (h *camera) still() bool { return !h.State().Moving }

// end has the client repeat its command: the driver gives up one that is not acknowledged.
func (h *camera) end(r *rig) {
	for range 10 {
		if h.given {
			r.Client.SetCommand(r.Now(), h.command.Append(nil))
		}
		r.Pass(500 * ms)
	}
}

// rest allows for a command that was lost and hardly differed from the one before: the driver takes that for mechanics.
func (h *camera) rest(r *rig) error {
	d, now := transporttest.Data[codec.PTZData](r.T, r.Client), h.now()
	if n := h.State().Counts["unknown"]; r.strict && n > 0 {
		return fmt.Errorf("the camera has not understood %d packets", n)
	}
	off := func(is, want int16) float64 { return math.Abs(float64(is) - float64(want)) }
	pan, tilt, zoom := off(now.Pan, h.command.Pan), off(now.Tilt, h.command.Tilt), off(now.Zoom, h.command.Zoom)
	if !h.still() || d != now || pan > 1 || tilt > 1 || zoom > 10 || r.strict && pan+tilt+zoom > 0 {
		return fmt.Errorf("data is %+v, the camera at %+v, commanded to %+v", d, now, h.command)
	}
	return nil
}
