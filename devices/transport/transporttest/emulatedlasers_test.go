package transporttest_test

import (
	"fmt"
	"math"
	"slices"
	"time"

	"player/codec"
	"player/devices/transport/transporttest"
	emulatedldlidar "player/simulation/emulator/ldlidar"
	"player/simulation/emulator/line"
	emulatedrplidar "player/simulation/emulator/rplidar"
	emulatedlaser "player/simulation/emulator/sick"
	emulatedurg "player/simulation/emulator/urg"
	emulatedydlidar "player/simulation/emulator/ydlidar"
)

// readings is what a range finder has measured around it, which changes.
type readings struct {
	truth []room // the newest last
}

// room is the distances in mm, by half degrees from the right to the left, and the time until which it was there.
type room struct {
	at time.Duration
	mm codec.LaserData
}

// slope is how many mm a range has more than that a degree to the right of it: each angle has its own.
const slope = 4

func newRoom(at time.Duration, near int) room {
	r := room{at: at}
	for i := range r.mm {
		r.mm[i] = uint16(near + slope*i/2)
	}
	return r
}

// change makes another room, once a second or so.
func (h *readings) change(r *rig) bool {
	if r.random.IntN(10) != 0 {
		return false
	}
	h.truth = append(h.truth, newRoom(r.Now(), 1000+r.random.IntN(2000)))
	return true
}

// now is the present room.
func (h *readings) now() *room { return &h.truth[len(h.truth)-1] }

func (h *readings) sample(r *rig) {
	h.now().at = r.Now()
	for h.truth[0].at < r.Now()-window {
		h.truth = h.truth[1:]
	}
}

func (h *readings) still() bool { return true }
func (h *readings) end(*rig)    {}

// laser judges a SICK laser: all ranges are those of one room.
type laser struct {
	*emulatedlaser.Laser
	readings
	// collisions are the scans that are wrong though their checksum is right: the beginning of one with the
	// beginning of the next in place of its end. The checksum has 16 bits, so a minute of noise may have one.
	collisions int
}

func lasers(options emulatedlaser.Options) starter {
	return func(o line.Options) (hardware, error) {
		options.Line = o
		l, err := emulatedlaser.Start(options)
		if err != nil {
			return nil, err
		}
		first := newRoom(0, 2000)
		l.SetRanges(first.mm)
		return &laser{Laser: l, readings: readings{[]room{first}}}, nil
	}
}

// laserStates are lasers with other settings, and those that another program has left.
func laserStates() map[string]starter {
	return map[string]starter{
		"centimetres":       lasers(emulatedlaser.Options{Unit: emulatedlaser.CM, Angle: 100, Resolution: 25}),
		"indices":           lasers(emulatedlaser.Options{Indices: true}),
		"streaming":         lasers(emulatedlaser.Options{Streaming: true}),
		"streams otherwise": lasers(emulatedlaser.Options{Streaming: true, Unit: emulatedlaser.CM, Resolution: 100}),
		"flags": func(o line.Options) (hardware, error) {
			h, err := lasers(emulatedlaser.Options{})(o)
			if l, ok := h.(*laser); ok {
				l.SetFlags(5, 7)
			}
			return h, err
		},
	}
}

func (h *laser) left() error {
	if s := h.State(); s.Streaming || h.Baud() < 38400 {
		return fmt.Errorf("the laser at %d baud: %+v", h.Baud(), s)
	}
	return nil
}

func (h *laser) restart() { h.Reboot() }

func (h *laser) work(r *rig) {
	if h.change(r) {
		h.SetRanges(h.now().mm)
	}
}

func (h *laser) judge(r *rig) error {
	data := transporttest.Data[codec.LaserData](r.T, r.Client)
	for _, m := range slices.Backward(h.truth) {
		if data == m.mm {
			return nil
		}
	}
	if h.collisions++; !r.strict && h.collisions == 1 {
		return nil
	}
	return fmt.Errorf("ranges are %v, in a room of %v", data, h.now().mm)
}

func (h *laser) rest(r *rig) error {
	if s := h.State(); !s.Streaming || s.Scans < 20 {
		return fmt.Errorf("the laser: %+v", s)
	}
	h.truth = []room{*h.now()}
	return h.judge(r)
}

// lidar judges a sensor that rotates: each range is that of a room, at an angle within a degree.
type lidar struct {
	cable
	readings
	far   uint16 // mm, the reading where nothing was measured
	start func() (cable, error)
}

// newLidar starts a sensor in a room.
func newLidar(far uint16, start func(room func(degrees float64) float64) (cable, error)) (hardware, error) {
	h := &lidar{readings: readings{[]room{newRoom(0, 2000)}}, far: far}
	h.start = func() (cable, error) {
		return start(func(degrees float64) float64 { // clockwise, 0 ahead
			left := 90 - math.Remainder(degrees, 360) // from the right
			return float64(h.now().mm[0]) + slope*left
		})
	}
	var err error
	h.cable, err = h.start()
	return h, err
}

func startRPLIDAR(o line.Options) (hardware, error) {
	return newLidar(12000, func(room func(degrees float64) float64) (cable, error) {
		return emulatedrplidar.Start(emulatedrplidar.Options{Line: o, Room: room})
	})
}

func startLDROBOT(o line.Options) (hardware, error) {
	return newLidar(12000, func(room func(degrees float64) float64) (cable, error) {
		return emulatedldlidar.Start(emulatedldlidar.Options{Line: o, Room: room})
	})
}

func startYDLIDAR(o line.Options) (hardware, error) {
	return newLidar(12000, func(room func(degrees float64) float64) (cable, error) {
		return emulatedydlidar.Start(emulatedydlidar.Options{Line: o, Room: room, Model: emulatedydlidar.X4})
	})
}

func startURG(o line.Options) (hardware, error) {
	return newLidar(5600, func(room func(degrees float64) float64) (cable, error) {
		counterclockwise := func(degrees float64) float64 { return room(-degrees) }
		return emulatedurg.Start(emulatedurg.Options{Line: o, Room: counterclockwise})
	})
}

// restart is that of a sensor with power from the port, which is gone for a moment.
func (h *lidar) restart() {
	h.Close()
	h.cable, _ = h.start()
}

func (h *lidar) work(r *rig) { h.change(r) }

// judge allows for readings that are missing if packets are spoiled, and for some that are wrong: the
// checksum of a packet has 8 bits.
func (h *lidar) judge(r *rig) error {
	data, missing, wrong := transporttest.Data[codec.LaserData](r.T, r.Client), 0, 0
	for i, mm := range data {
		switch {
		case slices.ContainsFunc(h.truth, func(m room) bool {
			return math.Abs(float64(mm)-float64(m.mm[i])) <= 1.25*slope+1
		}):
		case mm == h.far:
			missing++
		default:
			wrong++
		}
	}
	if r.strict && missing+wrong > 0 || wrong > 40 {
		return fmt.Errorf("%d ranges are missing and %d wrong: %v, in a room of %v", missing, wrong, data, h.now().mm)
	}
	return nil
}

func (h *lidar) rest(r *rig) error {
	h.truth = []room{*h.now()}
	return h.judge(r)
}
