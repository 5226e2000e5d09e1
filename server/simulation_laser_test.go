package server

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"player/devices"
	"player/devices/rplidar"
	"player/devices/sicklms200"
	"player/devices/urg"
	"player/devices/ydlidar"
	emulatedrplidar "player/simulation/emulator/rplidar"
	emulatedsick "player/simulation/emulator/sick"
	emulatedurg "player/simulation/emulator/urg"
	emulatedydlidar "player/simulation/emulator/ydlidar"
)

// laser is a real driver of a range finder with its emulated hardware, in a room that changes. It implements scanner.
type laser struct {
	rig
	emulated
	model *laserModel
	rooms []room        // of the last seconds, the newest last
	set   func()        // has a sensor that measures all at once measure the room; nil: it measures by itself
	reads []span        // when the driver was given bytes, until, and when the first of them had come, from
	ready time.Duration // since when its link is ready, zero: it is not
	at    time.Duration // of the scan that was judged last
	seen  []byte
}

// laserModel is a kind of range finders.
type laserModel struct {
	kind   devices.Kind
	far    uint16        // mm, the reading where nothing was measured
	period time.Duration // of its scans
	start  func(h *laser) (cable, error)
}

func laserModels() []*laserModel {
	return []*laserModel{
		{rplidar.Kind(), 12000, 125 * time.Millisecond, func(h *laser) (cable, error) {
			return emulatedrplidar.Start(emulatedrplidar.Options{Line: h.options, Room: h.measure})
		}},
		{ydlidar.Kind(), 12000, 145 * time.Millisecond, func(h *laser) (cable, error) {
			o := emulatedydlidar.Options{Line: h.options, Room: h.measure, Model: emulatedydlidar.X4}
			return emulatedydlidar.Start(o)
		}},
		{urg.Kind(), 5600, 200 * time.Millisecond, func(h *laser) (cable, error) {
			counterclockwise := func(degrees float64) float64 { return h.measure(-degrees) }
			return emulatedurg.Start(emulatedurg.Options{Line: h.options, Room: counterclockwise})
		}},
		{sicklms200.Kind(), 8191, 200 * time.Millisecond, func(h *laser) (cable, error) {
			l, err := emulatedsick.Start(emulatedsick.Options{Line: h.options})
			if err == nil {
				h.set = func() { l.SetRanges(h.now().ranges()) }
				h.set()
			}
			return l, err
		}},
	}
}

// room is the surroundings of the sensor until a time: the distance to the right, mm. To the left it becomes farther by
// slope with each degree, so that each angle has its own.
type room struct {
	until time.Duration
	near  float64
}

const slope = 4

// ranges are the distances in mm, by half degrees from the right to the left.
func (r *room) ranges() (mm [361]uint16) {
	for i := range mm {
		mm[i] = uint16(r.near + slope*float64(i)/2)
	}
	return mm
}

// newScanner returns the scanner of a robot: simulated with its driver, or a real driver with an emulated laser.
func (s *sim) newScanner(r *simRobot) scanner {
	if s.chance(3) {
		return &simpleScanner{&simScanner{sim: s}}
	}
	models := laserModels()
	h := &laser{
		rig: rig{
			sim: s, path: fmt.Sprintf("/dev/ttyLASER%d", r.index), index: r.index, fails: aLaserFault, plugged: true,
			calm: s.chance(4),
		},
		model: models[s.random.IntN(len(models))], rooms: []room{{never, 2000}},
	}
	h.emulated = h.rig.newEmulated()
	h.hardware = h
	h.options.Trace = h.trace
	h.begin()
	h.restart = func() { // a sensor with power from the port
		h.cable.Close()
		h.begin()
		if p := h.port; p != nil && !p.gone {
			p.far.Close()
			p.far, _ = h.emulated.open(p)
		}
	}
	s.summary.Lasers++
	s.note("%s is a %s, latency %v, noise %v", h.path, h.model.kind.Name, h.options.Latency, h.noisy)
	h.furnish()
	return h
}

// begin switches the sensor on.
func (h *laser) begin() {
	var err error
	if h.cable, err = h.model.start(h); err != nil {
		h.sim.fail("%s: %v", h.path, err)
	}
}

// furnish changes the room from time to time.
func (h *laser) furnish() {
	s := h.sim
	s.after(s.wait(2*time.Second), func() {
		h.now().until = s.now
		h.rooms = slices.DeleteFunc(h.rooms, func(r room) bool { return r.until < s.now-time.Minute })
		h.rooms = append(h.rooms, room{never, float64(1000 + s.random.IntN(2000))})
		if h.set != nil {
			h.set()
		}
		h.furnish()
	})
}

// now is the present room.
func (h *laser) now() *room { return &h.rooms[len(h.rooms)-1] }

// measure returns the distance in a direction, clockwise from ahead.
func (h *laser) measure(degrees float64) float64 {
	if degrees < -180 || degrees > 180 { // Remainder takes long
		degrees = math.Remainder(degrees, 360)
	}
	return h.now().near + slope*(90-degrees)
}

func (h *laser) open(p *simPort) (far, error) { return h.emulated.open(p) }

func (h *laser) read(now, came time.Duration) {
	h.emulated.read(now, came)
	if h.reads = append(h.reads, span{came, now}); len(h.reads) > 4096 {
		h.reads = slices.Delete(h.reads, 0, 1024)
	}
}

func (h *laser) driver() (devices.Kind, devices.Driver, func(link *devices.Link)) {
	values := h.model.kind.Defaults()
	values["port"] = h.path
	d, err := h.model.kind.New(devices.Args{Name: h.model.kind.Name, Values: values})
	if err != nil {
		h.sim.fail("%s: %v", h.path, err)
	}
	return h.model.kind, h.fragile(d), func(link *devices.Link) {
		h.renew(link)
		h.fault = h.sim.now // requests are refused meanwhile
	}
}

func (h *laser) current() *devices.Link { return h.link }

func (h *laser) newest() time.Duration {
	if !h.healthy() || h.ready == 0 || h.sim.now < h.ready+5*time.Second || len(h.reads) == 0 {
		return 0 // it may have sent no scan
	}
	return h.reads[len(h.reads)-1].until
}

func (h *laser) watch() {
	h.watchDriver()
	switch {
	case h.link.State() != devices.Ready:
		h.ready = 0
	case h.ready == 0:
		h.ready = h.sim.now
	}
}

// checkData implements scanner.
func (h *laser) checkData(c *simClient, scan []byte, taken, written time.Duration) {
	s := h.sim
	good := h.healthy() && s.awake(15*time.Second) && s.now < written+5*time.Second
	limit := h.model.period + h.options.Latency + 1500*time.Millisecond + h.queued()
	if good && h.ready != 0 && h.ready < written-max(limit, 3*time.Second) && written-taken > limit {
		s.fail("%v: %s: a scan is %v old", c, h.path, written-taken)
	}
	for _, start := range h.starts {
		if taken < start-time.Microsecond && start < written {
			s.fail("%v: %s: a scan of %v is from before the start at %v", c, h.path, taken, start)
		}
	}
	if h.at == taken && bytes.Equal(scan, h.seen) {
		return
	}
	// Ages are in us.
	read := slices.ContainsFunc(h.reads, func(r span) bool { return (r.until - taken).Abs() <= time.Microsecond })
	if len(h.reads) > 0 && taken >= h.reads[0].until && !read {
		s.fail("%v: %s: a scan claims to be of %v, and its driver was given nothing then", c, h.path, taken)
	}
	h.at, h.seen = taken, slices.Clone(scan)
	h.checkScan(c, scan, taken, good && !h.noisy)
}

// queued is how long a scan may wait for the line.
func (h *laser) queued() time.Duration {
	if p := h.port; p != nil && p.baud < 38400 {
		return mostBehind
	}
	return 0
}

// checkScan checks that the ranges of a scan were measured in the room.
func (h *laser) checkScan(c *simClient, scan []byte, taken time.Duration, strict bool) {
	s := h.sim
	if taken < s.now-window {
		return
	}
	from := taken
	for _, r := range slices.Backward(h.reads) { // the bytes of the scan may have waited, in the adapter and in the kernel
		if r.until <= taken+time.Microsecond {
			if from = min(from, r.from); r.until < taken-time.Second {
				break
			}
		}
	}
	from -= h.options.Latency + 1500*time.Millisecond + h.queued()
	rooms := slices.DeleteFunc(slices.Clone(h.rooms), func(r room) bool { return r.until <= from })
	missing, wrong := 0, 0
	for i := range len(scan) / 2 {
		mm := binary.BigEndian.Uint16(scan[2*i:])
		near := float64(mm) - slope*float64(i)/2
		measured := false
		for j := len(rooms) - 1; j >= 0 && !measured; j-- {
			measured = math.Abs(near-rooms[j].near) <= 1.25*slope+1
		}
		switch {
		case measured:
		case mm == h.model.far:
			missing++
		default:
			wrong++
		}
	}
	s.summary.Scans++
	if strict && missing+wrong > 0 || h.healthy() && wrong > 60 {
		for _, r := range h.rooms {
			s.note("room until %v: %v, from %v", r.until, r.near, from)
		}
		s.fail("%v: %s: of the ranges of %v %d are missing and %d wrong: %x", c, h.path, taken, missing, wrong, scan)
	}
}
