package server

import (
	"strings"
	"time"

	"player/simulation/emulator/line"
)

// Emulated hardware in the simulation, which real drivers drive. It moves and measures by itself, so the judge
// compares all that clients get with where the robots truly were.

// newClock returns the clock of all emulated hardware.
func (s *sim) newClock() *line.Virtual {
	v := line.NewVirtual(s.now)
	v.Now = func() time.Duration { return s.now }
	v.Due = func(at time.Duration) {
		s.at(at, func() {
			v.Advance(s.now)
			s.sample()
		})
	}
	return v
}

// sample notes where the emulated robots are.
func (s *sim) sample() {
	for _, r := range s.robots {
		if b, ok := r.base.(*emulatedBase); ok {
			b.sample()
		}
	}
}

// span is a part of the time.
type span struct{ from, until time.Duration }

// cable is the line of emulated hardware.
type cable interface {
	Pause()
	Release()
	Close()
}

// emulated is hardware at the end of a rig's line, and the faults of its cable.
type emulated struct {
	rig     *rig
	cable   cable
	options line.Options
	restart func() // takes the power away for a moment
	off     bool
	packets []line.Entry // that it has sent in this turn
	paused  time.Duration
	resumed time.Duration
	late    time.Duration // when the driver was given bytes last that had waited
	unclear time.Duration // when the hardware has restarted last, or more bytes were lost than odometry allows for
	noisy   bool
	size    func(b []byte) int // of the packet with a right checksum that b begins with, 0: none
	torn    []byte             // damaged packets that came last
}

// newEmulated returns hardware at the end of the line, which is good or has latency or noise.
func (r *rig) newEmulated() emulated {
	s := r.sim
	h := emulated{rig: r, paused: never, resumed: -time.Hour}
	h.options = line.Options{Link: r.path, Clock: s.emulated, Brief: true}
	if s.chance(3) {
		h.options.Latency = s.between(time.Millisecond, 30*time.Millisecond)
	}
	if h.noisy = s.chance(4); h.noisy {
		h.options.Noise = line.Noise{Seed: s.random.Uint64(), Flip: 0.002, Swallow: 0.002, Garbage: 0.002}
	}
	return h
}

// trace keeps the bytes that the hardware has sent in a turn.
func (h *emulated) trace(e line.Entry) {
	if e.Dir == line.DeviceToHost {
		h.packets = append(h.packets, e)
	}
}

func (h *emulated) open(p *simPort) (far, error) {
	h.packets = nil
	return h.rig.sim.emulated.Open(h.rig.path, p.baud, emulatedHost{h, p})
}

func (h *emulated) power(on bool) {
	h.off = !on
	h.restart()
}

// befall has the adapter hold all bytes back for half a second at most, again and again, or the hardware restart.
func (h *emulated) befall(lasts time.Duration) bool {
	s := h.rig.sim
	if s.chance(3) {
		s.note("%s restarts", h.rig.path)
		h.restart()
		if r := h.rig.robot; r != nil {
			r.base.(*emulatedBase).restarted()
		}
		return true
	}
	end := s.now + lasts
	var hold func()
	hold = func() {
		h.paused = s.now
		h.cable.Pause()
		s.after(s.between(0, 500*time.Millisecond), func() {
			h.resumed = s.now
			h.cable.Release()
			if h.paused = never; s.now < end {
				s.after(s.between(0, 300*time.Millisecond), hold)
			}
		})
	}
	hold()
	return true
}

// sent is when the hardware can have sent a packet that it is seen to send now.
func (h *emulated) sent(e line.Entry) span {
	at := e.At - h.options.Latency
	if h.resumed == e.At { // it may have waited
		return span{e.At - h.options.Latency - 600*time.Millisecond, at}
	}
	return span{at, at}
}

// read implements waited.
func (h *emulated) read(now, came time.Duration) {
	switch wait := now - came; {
	case wait > time.Second:
		// The kernel may have lost more than the odometry allows for, which is the way of a robot in 2 s.
		h.unclear = now
		fallthrough
	case wait > 5*time.Millisecond:
		h.late = now
	}
}

// mostBehind is how much of the time the line may be behind the hardware, before packets are lost.
const mostBehind = 2 * time.Second

// emulatedHost brings the bytes of emulated hardware to the port.
type emulatedHost struct {
	*emulated
	port *simPort
}

func (e emulatedHost) HangUp() {}

// splice looks for a false packet in damaged ones and the next one: the checksum of one in 256 is right, and the driver
// believes it.
func (h *emulated) splice(data []byte, damaged bool) {
	if h.size == nil {
		return
	}
	torn := h.torn
	h.torn = append(torn, data...)
	for i := range torn {
		if size := h.size(h.torn[i:]); size != 0 && i+size != len(torn) { // else it is whole, behind garbage
			h.unclear = h.rig.sim.now
		}
	}
	if !damaged {
		h.torn = nil
	}
}

func (e emulatedHost) Receive([]byte) {
	h := e.emulated
	packets := h.packets
	h.packets = h.packets[:0]
	for _, packet := range packets {
		if h.off || e.port.comes > h.rig.sim.now+mostBehind { // it sends more than the line carries
			continue
		}
		var report *simReport
		damaged := strings.Contains(packet.Note, "(")
		h.splice(packet.Data, damaged)
		switch note := packet.Note; {
		case damaged:
			h.rig.garbled = max(h.rig.garbled, e.port.comes, h.rig.sim.now) + 100*time.Millisecond
		case h.rig.robot != nil && (note == "SIP" || note == "stream" || strings.HasPrefix(note, "report ")):
			report = &simReport{sent: h.sent(packet)}
		}
		h.rig.send(packet.Data, report)
	}
}
