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
	emulatedsickcola "player/simulation/emulator/sickcola"
	emulatedurg "player/simulation/emulator/urg"
	emulatedydlidar "player/simulation/emulator/ydlidar"
)

// readings is the room as a range finder has measured it, which changes.
type readings struct {
	truth []*room // the newest last
}

// room is the distances in mm, by half degrees from the right to the left, and the time until which it was there.
type room struct {
	at time.Duration
	mm codec.LaserData
}

// slope is how many mm a range has more than that a degree to the right of it: each angle has its own.
const slope = 4

func newRoom(at time.Duration, near int) *room {
	r := &room{at: at}
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
func (h *readings) now() *room { return h.truth[len(h.truth)-1] }

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
	// beginning of the next in place of its end. The checksum has 16 bits, and each spoiled scan has several places
	// where a telegram may begin: of 36 minutes of noise, one had one.
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
		return &laser{Laser: l, readings: readings{[]*room{first}}}, nil
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

func (h *laser) resting() bool { return !h.State().Streaming }

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
	h.truth = []*room{h.now()}
	return h.judge(r)
}

// lidar judges a sensor that rotates: each range is that of a room, at an angle within a degree.
type lidar struct {
	cable
	readings
	far uint16 // mm, the reading where nothing was measured
	// packet is how many readings a packet has: 40 samples of half a degree (YDLIDAR), 12 of 0.8 (LDROBOT), a line of
	// 64 characters (URG). Its checksum has 8 bits or 6, so noise can make one wrong in a scan, but hardly two. The
	// longer packets of an RPLIDAR had 9 wrong readings at most in 18 minutes of noise.
	packet int
	start  func() (cable, error)
}

// gap is the angle in degrees from the right beyond which the room has no wall. A wall ends within edge degrees of it:
// the laser of a YDLIDAR points 8 degrees off.
const gap, edge = 160, 9

// mounting turns a sensor's angle into that of the room, both in degrees clockwise and 0 ahead.
type mounting func(degrees float64) float64

func straight(degrees float64) float64   { return degrees }
func upsideDown(degrees float64) float64 { return -degrees }

// turned is of a sensor that looks to the left by an angle.
func turned(left float64) mounting { return func(degrees float64) float64 { return degrees - left } }

// newLidar returns the start of a sensor in a room.
func newLidar(far uint16, packet int, m mounting, start func(o line.Options, room mounting) (cable, error)) starter {
	return func(o line.Options) (hardware, error) {
		h := &lidar{readings: readings{[]*room{newRoom(0, 2000)}}, far: far, packet: packet}
		h.start = func() (cable, error) {
			return start(o, func(degrees float64) float64 {
				left := 90 - m(degrees) // from the right
				left -= 360 * math.Floor((left+90)/360)
				if left > gap {
					return 0
				}
				return float64(h.now().mm[0]) + slope*left
			})
		}
		var err error
		h.cable, err = h.start()
		return h, err
	}
}

func newRPLIDAR(far uint16, m mounting, options emulatedrplidar.Options) starter {
	return newLidar(far, 20, m, func(o line.Options, room mounting) (cable, error) {
		options.Line, options.Room = o, room
		return emulatedrplidar.Start(options)
	})
}

func newLDROBOT(far uint16, m mounting, options emulatedldlidar.Options) starter {
	return newLidar(far, 20, m, func(o line.Options, room mounting) (cable, error) {
		options.Line, options.Room = o, room
		return emulatedldlidar.Start(options)
	})
}

func newYDLIDAR(far uint16, m mounting, options emulatedydlidar.Options) starter {
	return newLidar(far, 40, m, func(o line.Options, room mounting) (cable, error) {
		options.Line, options.Room = o, room
		return emulatedydlidar.Start(options)
	})
}

func newURG(far uint16, m mounting, options emulatedurg.Options) starter {
	return newLidar(far, 16, m, func(o line.Options, room mounting) (cable, error) {
		options.Line, options.Room = o, func(counterclockwise float64) float64 { return room(-counterclockwise) }
		return emulatedurg.Start(options)
	})
}

func newCola(far uint16, m mounting, options emulatedsickcola.Options) starter {
	return newLidar(far, 0, m, func(o line.Options, room mounting) (cable, error) {
		options.Line, options.Room = o, func(counterclockwise float64) float64 { return room(-counterclockwise) }
		return emulatedsickcola.Start(options)
	})
}

// restart is that of a sensor with power from the port, which is gone for a moment.
func (h *lidar) restart() {
	h.Close()
	h.cable, _ = h.start()
}

// resting reports whether the sensor measures for no host. An LDROBOT always measures.
func (h *lidar) resting() bool {
	scans, _ := h.cable.(interface{ Scanning() bool })
	shines, _ := h.cable.(interface{ Laser() bool })
	turns, _ := h.cable.(*emulatedrplidar.Lidar)
	waits, _ := h.cable.(interface{ LoggedIn() bool })
	stopped := (turns == nil || turns.Count(0x25) > 0) && (waits == nil || !waits.LoggedIn())
	return (scans == nil || !scans.Scanning()) && (shines == nil || !shines.Laser()) && stopped
}

func (h *lidar) work(r *rig) { h.change(r) }

// judge allows for readings that are missing if packets are spoiled, and for those of one packet that are wrong.
func (h *lidar) judge(r *rig) error {
	data, missing, wrong := transporttest.Data[codec.LaserData](r.T, r.Client), 0, 0
	for i, mm := range data {
		switch left := float64(i) / 2; {
		case mm == h.far && left > gap-edge:
		case left < gap+edge && slices.ContainsFunc(h.truth, func(m *room) bool {
			return math.Abs(float64(mm)-float64(m.mm[i])) <= 1.25*slope+1
		}):
		case mm == h.far:
			missing++
		default:
			wrong++
		}
	}
	if r.strict && missing+wrong > 0 || wrong > h.packet {
		return fmt.Errorf("%d ranges are missing and %d wrong: %v, in a room of %v", missing, wrong, data, h.now().mm)
	}
	return nil
}

func (h *lidar) rest(r *rig) error {
	h.truth = []*room{h.now()}
	return h.judge(r)
}
