package lab

import (
	"bytes"
	"time"

	"player/client/subsumption"
	"player/codec"
)

// Moment has the last reports of a robot's devices: payloads by letter.
type Moment map[byte][]byte

// Drive lets the first robot of a world file wander about for d. It returns a moment
// for each scan of the laser. The scans have no noise.
func Drive(path string, d time.Duration) ([]Moment, error) {
	l, err := Open(path)
	if err != nil {
		return nil, err
	}
	r := l.Robots[0]
	r.Stack = subsumption.New(
		subsumption.NewLayer("escape", &subsumption.Escape{}),
		subsumption.NewLayer("bump", &subsumption.Bump{}),
		subsumption.NewLayer("ir", &subsumption.IR{}),
		subsumption.NewLayer("cruise", subsumption.Cruise{}),
	)
	var moments []Moment
	laser, seen := r.table.Device(codec.Laser), uint64(0)
	l.RunUntil(d, func() bool {
		if laser.Seq() == seen {
			return false
		}
		seen = laser.Seq()
		m := Moment{}
		for _, device := range r.table.Links()[0].Devices() {
			m[device.Letter()] = bytes.Clone(device.Data())
		}
		moments = append(moments, m)
		return false
	})
	return moments, nil
}
