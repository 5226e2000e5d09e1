package transporttest_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport/transporttest"
	"player/e2e/must"
	"player/simulation/emulator/line"
	emulatedlaser "player/simulation/emulator/sick"
)

// open has the client open another device of the driver, which its block names.
func (r *rig) open(letter byte) *devices.Device {
	r.T.Helper()
	d := r.Link.Device(letter)
	_ = must.Get(d.Subscribe(r.Now(), r))(r.T)
	return d
}

// TestRangers: each laser is a ranger as well, with all its readings, which are those of the room wherever they look.
func TestRangers(t *testing.T) {
	// Figures of data sheets: how many readings there are, and where they begin. A scanner that turns has as many as it
	// takes samples in a turn, next to the rate of samples over that of turns.
	counts := map[string][2]float64{
		"sicklms200": {361, -90}, "ldlidar": {450, 0}, "ydlidar": {720, 0}, "YDLIDAR X2": {450, 0},
		"YDLIDAR G4": {750, 0}, "YDLIDAR TG30": {2000, 0}, "YDLIDAR T-mini": {576, 0}, "rplidar": {500, 0}, "RPLIDAR A1, standard only": {250, 0}, "RPLIDAR C1, dense": {1000, 0},
		"urg": {682, (44 - 384) * 360. / 1024}, "UTM-30LX": {1081, -135}, "UST-20LX, 1/8 degrees": {2161, -135},
		"URG, upside down": {682, -(725 - 384) * 360. / 1024}, "sickcola": {271, -135}, "TiM571": {811, -135},
		"LMS111": {541, -135}, "TiM781, CoLa B": {811, -135}, "LMS511": {381, -95}, "TiM551, askew": {271, -95},
	}
	for _, p := range slices.Concat(products(), models()) {
		if !slices.ContainsFunc(p.kind.Provides, func(s devices.Spec) bool { return s.Letter == codec.Ranger }) ||
			slices.ContainsFunc(p.kind.Provides, func(s devices.Spec) bool { return s.Letter == codec.Sonar }) {
			continue
		}
		t.Run(p.kind.Name, func(t *testing.T) {
			p.named = []devices.Spec{devices.Laser(), devices.Ranger()}
			r := newRig(t, p, line.Options{Baud: append(p.speeds, 0)[0]})
			ranger := r.open(codec.Ranger)
			r.connect()
			r.Pass(time.Second)
			rays := ranger.AppendRays(nil)
			data := transporttest.Data[codec.RangerData](t, ranger)
			if len(rays) != 1 || rays[0].Count != len(data.Ranges) || ranger.Age(r.Now()) > p.period+20*ms {
				t.Fatalf("rays %+v of %d readings, %v old", rays, len(data.Ranges), ranger.Age(r.Now()))
			}
			if want, known := counts[p.kind.Name]; known && (float64(len(data.Ranges)) != want[0] ||
				want[1] != 0 && math.Abs(rays[0].Heading-want[1]) > 1e-9) {
				t.Errorf("%d readings from %v degrees on, want %v", len(data.Ranges), rays[0].Heading, want)
			}
			room := r.hardware.(interface{ now() *room }).now()
			gap := float64(gap)
			if _, walled := r.hardware.(*laser); walled {
				gap = 270
			}
			wrong, missing := 0, 0
			for i, reading := range data.Ranges {
				left := 90 + math.Remainder(rays[0].Heading+rays[0].Step*float64(i), 360) // from the right, as the room
				mm := float64(room.mm[0]) + slope*left
				switch {
				case reading == codec.UnknownRange:
					missing++
				case left > gap-edge && left < gap+edge, left > 270-edge, left < edge-90: // where a wall begins or ends
				case left > gap == (reading == codec.NothingInRange) &&
					(left > gap || math.Abs(float64(reading)*float64(data.Unit)-mm) <= 1.25*slope+1):
				default:
					wrong++
				}
			}
			if wrong > 0 || missing*10 > len(data.Ranges) {
				t.Errorf("%d are wrong and %d missing of %v, in a room of %v", wrong, missing, data.Ranges, room.mm)
			}
		})
	}
}

// TestRangerCodes: a direction in which nothing is in range is no distance, and neither is a measurement that has
// failed.
func TestRangerCodes(t *testing.T) {
	p := product{kind: products()[1].kind, start: lasers(emulatedlaser.Options{}), named: []devices.Spec{devices.Ranger()}}
	r := newRig(t, p, line.Options{})
	ranger := r.open(codec.Ranger)
	r.Until(ranger.HasData, 10*time.Second)
	mm := newRoom(0, 2000).mm
	values := map[int]uint16{0: 8182, 1: 8183, 2: 8187, 3: 8190, 4: 8191, 360: 1}
	for i, v := range values {
		mm[i] = v
	}
	r.hardware.(*laser).SetRanges(mm)
	r.Pass(time.Second)
	got := transporttest.Data[codec.RangerData](t, ranger).Ranges
	for i, want := range map[int]uint16{0: 8182, 1: codec.NothingInRange, 2: codec.UnknownRange, 3: codec.UnknownRange,
		4: codec.UnknownRange, 5: mm[5], 360: 1} {
		if got[i] != want {
			t.Errorf("value %d: reading %d, want %d", mm[i], got[i], want)
		}
	}
}
