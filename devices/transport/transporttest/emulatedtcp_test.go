package transporttest_test

import (
	"fmt"
	"slices"
	"time"

	"player/codec"
	"player/devices/acts"
	"player/devices/sickcola"
	"player/devices/transport/transporttest"
	"player/e2e/must"
	emulatedacts "player/simulation/emulator/acts"
	"player/simulation/emulator/line"
	emulatedsickcola "player/simulation/emulator/sickcola"
)

// networkProducts are hardware on the network, at the address that is their drivers' default. TCP loses and changes no
// byte, and has no speed.
func networkProducts() []product {
	return []product{
		{kind: acts.Kind(), address: "127.0.0.1:5001", period: 95 * ms, start: startTracker(emulatedacts.V10)},
		{kind: named(acts.Kind(), "acts, 1.2"), again: true, address: "127.0.0.1:35091", period: 45 * ms,
			start: startTracker(emulatedacts.V12)},
		{kind: sickcola.Kind(), address: "192.168.0.1:2112", period: 80 * ms,
			start: newCola(20000, straight, emulatedsickcola.Options{})},
		{kind: named(sickcola.Kind(), "sickcola, CoLa B"), again: true, address: "192.168.0.1:2112", period: 50 * ms,
			start: newCola(20000, straight, emulatedsickcola.Options{Model: emulatedsickcola.LMS111, Binary: true})},
	}
}

// tracker judges ACTS: the driver's blobs are those of an image, in the format of version 1.0.
type tracker struct {
	*emulatedacts.Server
	wide  bool    // its numbers have two bytes
	truth []image // the newest last
}

// image is the clients' data of an image, and the time until which it was there.
type image struct {
	at   time.Duration
	data codec.VisionData
}

func startTracker(v emulatedacts.Version) starter {
	return func(o line.Options) (hardware, error) {
		s, err := emulatedacts.Start(emulatedacts.Options{Line: o, Version: v})
		return &tracker{Server: s, wide: v == emulatedacts.V12, truth: []image{{}}}, err
	}
}

// restart is the end of the program, which is started again at once.
func (h *tracker) restart() { h.HangUp() }

// work shows another image: with some blobs, with none, or with ten in each channel. In the latter, the numbers of
// version 1.2 are beyond those of 1.0, and so is the index of the first blob of channel 26 and later.
func (h *tracker) work(r *rig) {
	if r.random.IntN(10) != 0 {
		return
	}
	next, share, most := image{at: r.Now()}, r.random.IntN(3), 255
	if h.wide {
		most = 4096
	}
	for channel := range codec.VisionChannels {
		count := [...]int{0, r.random.IntN(11) * (r.random.IntN(8) / 7), emulatedacts.MaxBlobs}[share]
		blobs := make([]emulatedacts.Blob, count)
		for i := range blobs {
			n := func() int { return r.random.IntN(most) }
			blobs[i] = emulatedacts.Blob{Area: r.random.IntN(1 << 24), X: n(), Y: n(), Left: n(), Right: n(), Top: n(), Bottom: n()}
		}
		must.Do(r.T, h.SetBlobs(channel, blobs...))
		next.add(channel, blobs)
	}
	h.truth = append(h.truth, next)
}

func (h *tracker) sample(r *rig) {
	h.truth[len(h.truth)-1].at = r.Now()
	for h.truth[0].at < r.Now()-window {
		h.truth = h.truth[1:]
	}
}

func (h *tracker) judge(r *rig) error {
	data := transporttest.Data[codec.VisionData](r.T, r.Client)
	for _, i := range slices.Backward(h.truth) {
		if slices.Equal(data.Blobs, i.data.Blobs) && data.Count == i.data.Count {
			return nil
		}
	}
	return fmt.Errorf("data is %+v, want %+v", data, h.truth[len(h.truth)-1].data)
}

// add adds the blobs of the next channel, as sent.
func (i *image) add(channel int, blobs []emulatedacts.Blob) {
	const most = 254 // PROTOCOL 7.7
	i.data.Count[channel] = uint8(len(blobs))
	for _, b := range blobs {
		i.data.Blobs = append(i.data.Blobs, codec.Blob{Area: b.Area, X: min(b.X, most), Y: min(b.Y, most),
			Left: min(b.Left, most), Right: min(b.Right, most), Top: min(b.Top, most), Bottom: min(b.Bottom, most)})
	}
}

func (h *tracker) still() bool { return true }
func (h *tracker) end(*rig)    {}

// resting reports whether ACTS goes on: the server has not started it.
func (h *tracker) resting() bool { s := h.State(); return s.Quits == 0 && s.Conns == 0 }

func (h *tracker) rest(r *rig) error {
	if s := h.State(); s.Unknown+s.Quits > 0 || s.Answers < 20 {
		return fmt.Errorf("ACTS: %+v", s)
	}
	h.truth = h.truth[len(h.truth)-1:]
	return h.judge(r)
}
