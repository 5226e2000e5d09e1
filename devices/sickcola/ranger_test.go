package sickcola

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

// rangerOf returns a driver whose block names the ranger alone, with a sensor of a name that sends the telegram.
func rangerOf(t *testing.T, name string, telegram []byte) (*transporttest.Bench, *devices.Device) {
	t.Helper()
	instance := Kind().Instance(must.Get(Kind().New(devices.Args{Name: "sickcola", Values: Kind().Defaults()}))(t))
	instance.Select([]devices.Spec{devices.Ranger()})
	b := transporttest.NewBench(t, instance)
	b.Heard = func(p *transporttest.Port, sent []byte) {
		if bytes.Contains(sent, []byte("DeviceIdent")) {
			p.Say(ascii("sRA DeviceIdent 6 " + name + " E V2.50-10.04.13"))
		} else if bytes.Contains(sent, []byte("LMDscandata 1")) {
			p.Say(telegram)
		}
	}
	ranger := b.Link.Device(codec.Ranger)
	_ = must.Get(ranger.Subscribe(b.Now(), b))(t)
	b.Until(ranger.HasData, 5*time.Second)
	return b, ranger
}

// three are distances of 440, and of codes 0 and 1, from -135 degrees on.
const three = "1 DIST1 3F800000 00000000 FFF92230 2710 3 1B8 0 1 0"

func TestRanger(t *testing.T) {
	behind := three // it measures nothing in front of the robot, which a ranger alone may
	b, ranger := rangerOf(t, "TiM551", ascii(header+behind))
	data := transporttest.Data[codec.RangerData](t, ranger)
	rays := ranger.AppendRays(nil)
	if !slices.Equal(data.Ranges, []uint16{440, codec.NothingInRange, codec.UnknownRange}) || data.Unit != 1 {
		t.Errorf("readings %v", data)
	}
	if len(rays) != 1 || rays[0].Heading != -135 || rays[0].Step != 1 || rays[0].Far != 20000 {
		t.Errorf("rays %+v", rays)
	}
	in, before := ascii(header+behind), ranger.Seq()
	if n := testing.AllocsPerRun(100, func() { b.Port().Say(in) }); n != 0 || ranger.Seq() < before+100 {
		t.Errorf("%v allocations a scan", n)
	}
	// The settings of the sensor change: the number of readings does not.
	b.Port().Say(ascii(header + "1 DIST1 3F800000 00000000 FFF94940 2710 4 64 65 66 67 0"))
	data = transporttest.Data[codec.RangerData](t, ranger)
	if !slices.Equal(data.Ranges, []uint16{codec.UnknownRange, 100, 101}) {
		t.Errorf("readings %v after a change", data)
	}
}

// A sensor that counts in 2 mm sees farther than 65 m, and its readings have that unit.
func TestFarRanger(t *testing.T) {
	_, ranger := rangerOf(t, "LMS511", ascii(header+"1 DIST1 40000000 00000000 FFF92230 682 2 9C40 3E8 0"))
	data, rays := transporttest.Data[codec.RangerData](t, ranger), ranger.AppendRays(nil)
	if data.Unit != 2 || data.Ranges[0] != 40000 || data.Ranges[1] != 1000 || len(rays) != 1 || rays[0].Far != 80000 {
		t.Errorf("%+v, rays %+v", data, rays)
	}
}
