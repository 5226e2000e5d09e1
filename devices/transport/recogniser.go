package transport

// What a Recogniser names.
const (
	SICKLaser    = "a SICK laser"
	PioneerRobot = "a Pioneer robot"
)

// Recogniser names the hardware that sends, from the beginnings of its packets. It is
// for a driver that hears something else than its own hardware: two cables may be
// swapped. Noise of 100 kB is misread as hardware less than once in twenty times. The
// zero value is ready.
type Recogniser struct {
	last  [5]byte
	found string
}

// Receive takes what was received, cut anywhere.
func (r *Recogniser) Receive(p []byte) {
	for _, c := range p {
		copy(r.last[:], r.last[1:])
		r.last[len(r.last)-1] = c
		switch b := r.last; {
		case b[0] == 0x02 && b[1] == 0x80 && b[3] < 4 && b[4] >= 0x80:
			// STX, the address of the host, a size below 1 kB, a response.
			r.found = SICKLaser
		case b[0] == 0xFA && b[1] == 0xFB && b[2] < 200 && (b[3] <= 2 || b[3] >= 0x30 && b[3] <= 0x34):
			// The header, a size, an echo of SYNC or information about the robot.
			r.found = PioneerRobot
		}
	}
}

// Found returns what was recognised last, or nothing.
func (r *Recogniser) Found() string { return r.found }
