package stage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/stage/floor"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
)

// find returns a device of a robot.
func (b *bench) find(t testing.TB, robot int, letter byte, index int) *devices.Device {
	t.Helper()
	d := b.tables[robot].Find(letter, index)
	if d == nil {
		t.Fatalf("robot %d has no device %c:%d", robot, letter, index)
	}
	return d
}

// subscribe opens the devices of one interface with all indices below n.
func (b *bench) subscribe(t testing.TB, robot int, letter byte, n int) (opened []*devices.Device) {
	t.Helper()
	for i := range n {
		d := b.find(t, robot, letter, i)
		if pending, err := d.Subscribe(b.now, b); pending || err != nil {
			t.Fatalf("device %c:%d: pending %v, error %v", letter, i, pending, err)
		}
		opened = append(opened, d)
	}
	return opened
}

func rangesOf(t testing.TB, d *devices.Device) (data codec.RangerData) {
	t.Helper()
	must.Do(t, data.Decode(d.Data()))
	return data
}

// Robots have a ranger for each section, in the order of the file, and the lasers and sonars that they always had.
func TestRangersOfAWorld(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("sensor ( pose [0 0 0 90] ) ", 20)
	for _, tt := range []struct {
		name, robot string
		has         string // devices with letters
		readings    []int  // of each ranger
	}{
		{"none", `position ( )`, "pm", nil},
		{"no sensor", `position ( ranger ( ) )`, "pm", nil},
		{"one", `position ( ranger ( sensor ( samples 180 range [0 5] fov 60 size [0.1 0.1 0.1] ) ) )`, "pml", []int{180}},
		{"sonars", `position ( ranger ( sensor ( ) sensor ( samples 1 ) sensor ( samples 5 ) sensor ( cone 1 ) ) )`, "pms", []int{8}},
		{"a wide cone of many samples", `position ( ranger ( sensor ( samples 90 fov 90 cone 1 ) ) )`, "pms", []int{1}},
		{"three", `position ( ranger ( sensor ( ) sensor ( ) ) ranger ( sensor ( samples 30 ) ) ranger ( sensor ( samples 681 ) ) )`,
			"pmsl", []int{2, 30, 681}},
		{"on each other", `position ( ranger ( sensor ( ) ranger ( sensor ( ) sensor ( ) ) ) )`, "pms", []int{1, 2}},
		{"of Stage 2", `position ( ranger ( scount 2 spose[0] [0.1 0.1 90] spose[1] [0.1 -0.1 -90] ) )`, "pms", []int{2}},
		{"of Stage 1", `position ( sonar ( ) laser ( ) )`, "pmsl", nil},
		{"samples of the model", `include "sick.inc"` + "\n" + `position ( sicklaser ( samples 32 ) )`, "pml", []int{32}},
		{"a Pioneer", robotWorld + `pioneer_full ( )`, "pmslgvz", []int{16, 361}},
		{"more sonars than the device has", `position ( ranger ( ` + many + `) )`, "pms", []int{20}},
	} {
		w := withWarnings(t, tt.robot)
		b := newBench(t, w)
		for _, letter := range allDevices {
			if has := b.tables[0].Device(byte(letter)) != nil; has != strings.ContainsRune(tt.has, letter) {
				t.Errorf("%s: device %c: %v", tt.name, letter, has)
			}
		}
		opened := b.subscribe(t, 0, codec.Ranger, len(tt.readings))
		b.run(publishPeriod)
		for i, d := range opened {
			if data := rangesOf(t, d); len(data.Ranges) != tt.readings[i] {
				t.Errorf("%s: ranger %d has %d readings, want %d", tt.name, i, len(data.Ranges), tt.readings[i])
			}
		}
		if b.tables[0].Find(codec.Ranger, len(tt.readings)) != nil {
			t.Errorf("%s: there are more rangers", tt.name)
		}
	}
}

func TestRangersWithMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`position ( ranger ( sensor ( samples -1 ) ) )`:                          "samples -1",
		`position ( ranger ( sensor ( samples -1 cone 1 ) ) )`:                   "samples -1",
		`include "sick.inc"` + "\nposition ( sicklaser ( samples 0 ) )":          "samples 0",
		`position ( ranger ( sensor ( samples 180 cone 1 noise [-1 0 0] ) ) )`:   "negative",
		`position ( ranger ( sensor ( samples 180 ) sensor ( range [0 -1] ) ) )`: "range",
	} {
		_, err := parseWorld(text)
		refused(t, text, err, want)
	}
}

// A world with more readings than a ranger can have is loaded, as by Stage. The sensor that has too many looks as far to
// both sides, and a warning has the place and the limit.
func TestTooManyReadings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		world, warning string
		counts         []int // of the sensors
	}{
		{`position ( ranger ( sensor ( samples 8192 fov 270 ) ) )`, "", []int{8192}},
		{`position ( ranger ( sensor ( samples 100000 fov 270 ) ) )`, "samples 100000: a ranger has at most 8192 readings, so this sensor has 8192", []int{8192}},
		{`include "sick.inc"` + "\nposition ( sicklaser ( samples 8193 fov 270 ) )", "samples 8193", []int{8192}},
		{"position ( ranger ( sensor ( samples 8000 fov 270 )\nsensor ( samples 200 fov 270 ) ) )", "test.world:2: samples 200: a ranger has at most 8192 readings, so this sensor has 192", []int{8000, 192}},
		{`position ( ranger ( sensor ( samples 8192 fov 270 ) sensor ( samples 20 ) ) )`, "this sensor has 0", []int{8192}},
		{`position ( ranger ( sensor ( samples 8192 fov 270 ) sensor ( cone 1 ) ) )`, "this sensor has 0", []int{8192}},
	} {
		w, err := parseWorld(tt.world)
		if err != nil {
			t.Errorf("%s: %v", tt.world, err)
			continue
		}
		if got := strings.Join(w.Warnings(), "\n"); !strings.Contains(got, tt.warning) || (got == "") != (tt.warning == "") {
			t.Errorf("%s: warnings %q, want %q", tt.world, got, tt.warning)
		}
		b := newBench(t, w)
		ranger := b.subscribe(t, 0, codec.Ranger, 1)[0]
		b.run(publishPeriod)
		rays, total := ranger.AppendRays(nil), 0
		var counts []int
		for _, r := range rays {
			counts = append(counts, r.Count)
			total += r.Count
			if end := r.Heading + r.Step*float64(r.Count-1); math.Abs(r.Heading+135) > 1e-6 || math.Abs(end-135) > 1e-6 {
				t.Errorf("%s: it looks from %v to %v", tt.world, r.Heading, end)
			}
		}
		if n := len(rangesOf(t, ranger).Ranges); !slices.Equal(counts, tt.counts) || n != total {
			t.Errorf("%s: %d readings, of sensors with %v, want %v", tt.world, n, counts, tt.counts)
		}
		if len(w.Robots()) != 1 {
			t.Errorf("%s: %d robots", tt.world, len(w.Robots()))
		}
	}
}

// Each reading is the distance to the thing that its ray meets, and question r says where the ray is.
func TestReadingsAreTheCastsOfTheirRays(t *testing.T) {
	acceptance.Alone(t)
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 7))
	meetings, rounds := 0, needs.Rounds(6, 20)
	for range rounds {
		var text strings.Builder
		text.WriteString(hall + "model ( pose [1 2 0 30] size [0.5 0.5 0.3] )\nposition ( pose [-4 0 0 0] size [0.1 0.1 0.1]\n")
		for range 1 + random.IntN(3) { // rangers
			fmt.Fprintf(&text, "ranger ( pose [%.2f %.2f 0 %.1f]\n", random.Float64()-0.5, random.Float64()-0.5, random.Float64()*400-200)
			for range 1 + random.IntN(4) { // sensors
				fmt.Fprintf(&text, "sensor ( pose [%.2f %.2f %.2f %.1f] range [0 %.1f] fov %.1f samples %d )\n", random.Float64()-0.5,
					random.Float64()-0.5, random.Float64()*0.5, random.Float64()*400-200, 0.1+random.Float64()*9,
					random.Float64()*400, 1+random.IntN(400))
			}
			text.WriteString(")\n")
		}
		text.WriteString(")\n")
		for i := range 6 {
			fmt.Fprintf(&text, "pioneer2dx ( pose [%.2f %.2f 0 %.1f] )\n", float64(i)*1.3-2.5, random.Float64()*6-3, random.Float64()*360)
		}
		w := withWarnings(t, text.String())
		r, b := w.robots[0], newBench(t, w)
		opened := b.subscribe(t, 0, codec.Ranger, len(r.rangers))
		r.body.place(Pose{X: random.Float64()*6 - 3, Y: random.Float64()*6 - 3, Heading: random.Float64()*7 - 3})
		w.moved++
		b.run(publishPeriod)
		for i, d := range opened {
			data, next := rangesOf(t, d), 0
			for k, rays := range d.AppendRays(nil) {
				s := &r.rangers[i].sensors[k]
				if rays.First != next {
					t.Fatalf("sensor %d of ranger %d begins with reading %d, want %d", k, i, rays.First, next)
				}
				next += rays.Count
				for n := range rays.Count {
					at := r.body.pose.Then(Pose{X: rays.X / 1000, Y: rays.Y / 1000,
						Heading: floor.Radians(rays.Heading + float64(n)*rays.Step)})
					var others []*spot
					for _, o := range w.bodies[1:] {
						others = append(others, o.spot)
					}
					want := ray(s.walls, others, at, at.Heading, s.height, rays.Far/1000)
					mm, echo := data.MM(rays.First + n)
					if near := want > rays.Far/1000-1e-6; !echo && !near || echo && math.Abs(float64(mm)-want*1000) > 1 {
						t.Fatalf("%s\nreading %d of sensor %d of ranger %d is %d mm (%v), want %v m", text.String(), n, k, i, mm, echo, want)
					}
					if echo {
						meetings++
					}
				}
			}
			if next != len(data.Ranges) {
				t.Fatalf("ranger %d has %d readings, and rays for %d", i, len(data.Ranges), next)
			}
		}
	}
	if meetings < 200*rounds {
		t.Errorf("only %d rays met anything", meetings)
	}
}

// A cone of a ranger has the reading of the sonar of the same sensor.
func TestConesReadAsSonars(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hall+`crate ( pose [1.5 1 0 20] ) pioneer_full ( )`)
	b := newBench(t, w)
	opened := b.subscribe(t, 0, codec.Ranger, 1)
	b.open(t, 0, "sp")
	b.drive(0, 200, 20)
	for range 30 {
		b.run(publishPeriod)
		var sonar codec.SonarData
		must.Do(t, sonar.Decode(b.tables[0].Device(codec.Sonar).Data()))
		data := rangesOf(t, opened[0])
		for i, want := range sonar {
			if got := data.Ranges[i]; got != want && !(want == 5000 && got == codec.NothingInRange) {
				t.Fatalf("cone %d reads %d, sonar %d", i, got, want)
			}
		}
	}
	rays := opened[0].AppendRays(nil)
	if got := rays[3]; got.First != 3 || got.Count != 1 || math.Abs(got.Cone-15) > 1e-9 || math.Abs(got.Heading-10) > 1e-9 || got.Far != 5000 {
		t.Errorf("rays of a cone: %+v", got)
	}
}

// The errors of a ranger have the deviation that the world gives, and are the same for any readers and in any run. Those of
// two rangers differ.
func TestErrorsOfRangers(t *testing.T) {
	acceptance.Alone(t)
	t.Parallel()
	const text = robotWorld + `wall ( pose [2.05 0 0 90] size [100 0.1 1] )
		define noisy ranger ( sensor ( samples 200 fov 1 noise [0.05 0 0] dropout 0.1 ) )
		position ( name "r0" noisy ( ) noisy ( ) )`
	read := func(n, from int) (all []codec.RangerData) {
		b := newBench(t, newWorld(t, text))
		b.subscribe(t, 0, codec.Ranger, n)
		for range 20 {
			b.run(publishPeriod)
			all = append(all, rangesOf(t, b.find(t, 0, codec.Ranger, from)))
		}
		return all
	}
	first, both, second := read(1, 0), read(2, 0), read(2, 1)
	var sum, squares, n float64
	missed, same := 0, 0
	for i := range first {
		if fmt.Sprint(first[i]) != fmt.Sprint(both[i]) {
			t.Fatal("the readings depend on who reads another ranger")
		}
		for k, v := range first[i].Ranges {
			if v == second[i].Ranges[k] {
				same++
			}
			if v == codec.NothingInRange {
				missed++
				continue
			}
			d := float64(v) - 2000
			sum, squares, n = sum+d, squares+d*d, n+1
		}
	}
	// The standard errors are 0.8 mm, 0.6 mm, and 19 of 4000.
	if mean, deviation := sum/n, math.Sqrt(squares/n); !near(mean, 0, 4) || !near(deviation, 50, 3) || missed < 320 || missed > 480 {
		t.Errorf("mean %v mm, deviation %v mm, %d of %v missed", mean, deviation, missed, n)
	}
	if same > 400 {
		t.Errorf("%d readings of two rangers are the same", same)
	}
}

// Rays that a world turns look elsewhere.
func TestRangersWithTurnedRays(t *testing.T) {
	t.Parallel()
	b := newBench(t, newWorld(t, hall+`pioneer2dx ( pose [-4 0 0 0] )
		position ( ranger ( sensor ( pose [0 0 0 0] samples 2 fov 0.1 range [0 20] noise [0 0 10] ) ) )`))
	opened := b.subscribe(t, 1, codec.Ranger, 1)
	apart := map[uint16]bool{}
	for range 50 {
		b.run(publishPeriod)
		apart[rangesOf(t, opened[0]).Ranges[0]] = true
	}
	if len(apart) < 20 {
		t.Errorf("only %d different readings", len(apart))
	}
}

// Far ranges are in larger units.
func TestUnitOfRangers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reach float64
		unit  uint16
	}{{5, 1}, {65.533, 1}, {65.534, 2}, {200, 4}, {1000, 16}} {
		b := newBench(t, newWorld(t, fmt.Sprintf(`model ( size [0.1 2 1] pose [%v 0 0 0] )
			position ( ranger ( sensor ( range [0 %v] samples 1 ) ) )`, tt.reach-1, tt.reach)))
		data := rangesOf(t, subscribedRun(t, b))
		mm, echo := data.MM(0)
		// The face is half the thickness before the middle, to a grid cell.
		if want := (tt.reach - 1 - 0.05) * 1000; data.Unit != tt.unit || !echo || math.Abs(float64(mm)-want) > float64(tt.unit)+20 {
			t.Errorf("to %v m: unit %d mm, reading %d mm (%v)", tt.reach, data.Unit, mm, echo)
		}
	}
}

// subscribedRun opens the first ranger of the first robot, and lets it report.
func subscribedRun(t testing.TB, b *bench) *devices.Device {
	opened := b.subscribe(t, 0, codec.Ranger, 1)
	b.run(publishPeriod)
	return opened[0]
}

// A ranger that no client has open is not measured, and one that is open allocates nothing.
func TestRangersCostNothing(t *testing.T) {
	b := newBench(t, newWorld(t, hall+`crate ( pose [2 0 0 0] pushable 1 ) pioneer_full ( )`))
	b.open(t, 0, "sl")
	b.run(time.Second)
	for i := range 2 {
		if d := b.find(t, 0, codec.Ranger, i); d.Seq() != 0 || len(b.world.drivers[0].scans.rangers[i].buf) != 0 {
			t.Errorf("ranger %d was published %d times", i, d.Seq())
		}
	}
	b.subscribe(t, 0, codec.Ranger, 2)
	b.run(time.Second)
	if n := testing.AllocsPerRun(50, func() { b.run(publishPeriod) }); n != 0 {
		t.Errorf("%v allocations a report", n)
	}
}

// Robots of one kind have one copy of their rangers.
func TestRangersAreShared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, robotWorld+`pioneer_full ( ) pioneer_full ( pose [2 0 0 0] )
		pioneer2dx ( pose [4 0 0 0] sicklaser ( pose [0 0 0 0] ) )`)
	a, b, c := w.robots[0], w.robots[1], w.robots[2]
	if a.rangers[0] != b.rangers[0] || a.rangers[1] != b.rangers[1] {
		t.Error("two equal robots have rangers of their own")
	}
	if a.rangers[1] == c.rangers[1] || c.rangers[1].sensors[0].pose.X != 0 {
		t.Error("robots with lasers at different places share one")
	}
}
