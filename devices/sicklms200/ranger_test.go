package sicklms200

import (
	"fmt"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/devicetest"
	"player/devices/scan"
	"player/devices/transport/transporttest"
)

func TestDistance(t *testing.T) {
	for value, want := range map[uint16]int{
		0: scan.Unknown, 1: 1, 8182: 8182, 8183: scan.Nothing, 8184: scan.Unknown,
		8187: scan.Unknown, 8190: scan.Unknown, 8191: scan.Unknown,
	} {
		if got := distance(value); got != want {
			t.Errorf("value %d: %d, want %d", value, got, want)
		}
	}
}

// The ranger of a recorded laser has the distances of the laser, with the codes as codes.
func TestRangerOfSession(t *testing.T) {
	b := newBench(t, devices.Laser(), devices.Ranger())
	b.Subscribe()
	ranger := b.ranger()
	for _, line := range devicetest.Lines(t, "testdata/session.hex") {
		var wait int
		if _, err := fmt.Sscanf(line, "wait %d", &wait); err == nil {
			b.Pass(time.Duration(wait) * ms)
		} else if _, err := fmt.Sscanf(line, "baud %d", &wait); err != nil {
			b.Pass(100 * ms)
			b.Port().Say(devicetest.Hex(t, line))
		}
	}
	data, laser := transporttest.Data[codec.RangerData](t, ranger), b.ranges()
	if len(data.Ranges) != ScanCount || data.Unit != 1 {
		t.Fatalf("%d readings of %d mm", len(data.Ranges), data.Unit)
	}
	for i, mm := range laser {
		want := mm
		if d := distance(mm); d == scan.Nothing {
			want = codec.NothingInRange
		} else if d == scan.Unknown {
			want = codec.UnknownRange
		}
		if data.Ranges[i] != want {
			t.Errorf("reading %d is %d, of a value of %d", i, data.Ranges[i], mm)
		}
	}
	rays := ranger.AppendRays(nil)
	if len(rays) != 1 || rays[0].Heading != -90 || rays[0].Step != 0.5 || rays[0].Far != farthest {
		t.Errorf("rays %+v", rays)
	}
}

// A laser that hangs upside down has its readings in the same order as its data.
func TestRangerUpsideDown(t *testing.T) {
	b, l := newLaser(t, 38400, devices.Laser(), devices.Ranger())
	b.driver.flip, b.driver.ranger.Flip = true, true
	b.Ready()
	ranger := b.ranger()
	l.mute = true
	words := []uint16{ScanCount | 1<<unitShift}
	for i := range uint16(ScanCount) {
		words = append(words, 1000+i)
	}
	b.Port().Say(scanTelegram(CodeScan, words))
	data, laser := transporttest.Data[codec.RangerData](t, ranger), b.ranges()
	if data.Ranges[0] != 1360 || laser[0] != 1360 || data.Ranges[360] != 1000 {
		t.Errorf("the first reading is %d, of the laser %d", data.Ranges[0], laser[0])
	}
}

func TestHotPathAllocatesNothing(t *testing.T) {
	b, l := newLaser(t, 38400, devices.Laser(), devices.Ranger())
	b.Ready()
	ranger := b.ranger()
	l.mute = true
	b.Pass(100 * ms)
	p, telegram := b.Port(), scanOf(500)
	before := ranger.Seq()
	if n := testing.AllocsPerRun(100, func() {
		b.Pass(100 * ms)
		p.Say(telegram)
	}); n != 0 || ranger.Seq() < before+100 {
		t.Errorf("%v allocations for each scan", n)
	}
}
