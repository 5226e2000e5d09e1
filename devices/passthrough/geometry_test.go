package passthrough

import (
	"slices"
	"testing"

	"player/codec"
	"player/devices"
	"player/devices/retry"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

// answers is the answer to the question for the geometry.
func answers(lines ...string) []byte { return codec.AppendAnswer(nil, codec.QuestionGeometry, lines) }

// A vision device has the colours that it has there, whichever index it has here.
func TestColors(t *testing.T) {
	driver := New("10.0.0.7:6665", 50)
	ours := []devices.Spec{devices.Vision().At(2)}
	driver.names = must.Get(namesThere([]string{"vision:0"}, ours))(t)
	b := transporttest.NewBench(t, devices.Instance{Driver: driver, Name: "passthrough", Provides: ours})
	c := &chain{Bench: b, network: &network{World: b.World}}
	c.Table.Connect(c.network)
	eye := c.Link.Devices()[0]
	must.Get(eye.Subscribe(c.Now(), c))(t)
	c.expectSent(rate, form, path, yield, ping, "dryrvr")
	c.say(reply(""), reply("yrvr"))
	c.expectSent(fresh, geometry, colors, ping)
	c.say(codec.AppendAnswer(nil, codec.QuestionColors, []string{"v 3 ff8800", "vision:1 3 0000ff", "v 77 123456"}))
	want := codec.ChannelColor{Device: eye.Code(), Channel: 3, Color: 0xff8800}
	if got := eye.AppendColors(nil); len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Clients learn where the parts of the robot there are, before they get the devices, and of the robot that is there after
// an outage.
func TestGeometry(t *testing.T) {
	c := newChain(t)
	c.subscribe()
	parts := func() []codec.Part {
		return c.Table.Device('s').AppendParts(c.position().AppendParts(nil))
	}
	robot := []codec.Part{{Device: 'p', X: -45, Length: 511, Width: 425}, {Device: 's', Number: 3, X: 166, Y: 27, Heading: 10, Range: 5000, View: 15},
		{Device: 's', Number: 12, X: -210, Heading: 180, Range: 5000, View: 15}}
	c.say(reply(""), reply(granted), answers("s 3 166 27 10 0 0 5000 15", "p 0 -45 0 0 511 425 0 0", "s 12 -210 0 180 0 0 5000 15", "l 0 80 0 0 0 0 8000 180"))
	c.expectState(devices.Starting)
	c.say(reply(""))
	c.expectState(devices.Ready, "p <nil>")
	if got := parts(); !slices.Equal(got, robot) {
		t.Errorf("parts %+v, want %+v", got, robot)
	}
	c.Port().HangUp()
	if got := parts(); !slices.Equal(got, robot) {
		t.Errorf("during the outage: parts %+v, want %+v", got, robot)
	}
	before := len(c.Ports)
	if !c.Until(func() bool { return len(c.Ports) > before }, retry.Last) {
		t.Fatal("not tried again")
	}
	c.say(reply(""), reply(granted), answers("p 0 0 0 0 340 340 0 0"), reply(""))
	if got, want := parts(), []codec.Part{{Device: 'p', Length: 340, Width: 340}}; !slices.Equal(got, want) {
		t.Errorf("another robot: parts %+v, want %+v", got, want)
	}
	c.Port().HangUp()
	before = len(c.Ports)
	if !c.Until(func() bool { return len(c.Ports) > before }, retry.Last) {
		t.Fatal("not tried again")
	}
	if c.say(reply(""), reply("yeprsrvr")); len(parts()) != 0 {
		t.Errorf("a Player of 0.7.4a: parts %+v", parts())
	}
}

// Pages and clients also ask about devices that were never open.
func TestDescriptionsBeforeTheFirstStart(t *testing.T) {
	ours := []devices.Spec{devices.Position(), devices.Vision(), devices.Laser().At(1), devices.Ranger(), devices.IO()}
	b := transporttest.NewBench(t, devices.Instance{Driver: New("10.0.0.7:6665", 50), Name: "passthrough", Provides: ours})
	for _, d := range b.Link.Devices() {
		if n := len(d.AppendParts(nil)) + len(d.AppendRays(nil)) + len(d.AppendChannels(nil)) + len(d.AppendColors(nil)); n != 0 || d.IsPlaced() {
			t.Errorf("%s has %d descriptions, placed: %t", d.Spec().Address(), n, d.IsPlaced())
		}
	}
}

// Another start of the other Player may hand out other bytes. The descriptions of before stay with their devices until
// there are new ones.
func TestDescriptionsWithOtherBytes(t *testing.T) {
	ours := []devices.Spec{devices.Ranger(), devices.Ranger().At(1)}
	driver := New("10.0.0.7:6665", 50)
	driver.names = must.Get(namesThere(nil, ours))(t)
	b := transporttest.NewBench(t, devices.Instance{Driver: driver, Name: "passthrough", Provides: ours})
	c := &chain{Bench: b, network: &network{World: b.World}}
	c.Table.Connect(c.network)
	first, second := c.Link.Devices()[0], c.Link.Devices()[1]
	must.Get(first.Subscribe(c.Now(), c))(t)
	listed := func(lines ...string) []byte { return codec.AppendAnswer(nil, codec.QuestionDevices, lines) }
	expectX := func(when string, x float64) {
		t.Helper()
		for i, d := range []*devices.Device{first, second} {
			want := []codec.Part{{Device: d.Code(), X: x + float64(i)}}
			if got := d.AppendParts(nil); !slices.Equal(got, want) {
				t.Errorf("%s: %s has %+v, want %+v", when, d.Spec().Address(), got, want)
			}
		}
	}
	c.say(listed("130 ranger 0 a", "131 ranger 1 b"), reply(""), reply("yr\x82r\x83r"))
	c.say(answers("ranger:0 0 100 0 0 0 0 0 0", "ranger:1 0 101 0 0 0 0 0 0"), reply(""))
	expectX("served", 100)
	c.Port().HangUp()
	before := len(c.Ports)
	if !c.Until(func() bool { return len(c.Ports) > before }, retry.Last) {
		t.Fatal("not tried again")
	}
	expectX("connecting", 100)
	c.say(listed("131 ranger 0 a", "130 ranger 1 b"), reply(""))
	expectX("with other bytes", 100)
	c.say(reply("yr\x83r\x82r"), answers("ranger:0 0 200 0 0 0 0 0 0", "ranger:1 0 201 0 0 0 0 0 0"), reply(""))
	expectX("served again", 200)
}

// A pose of the configuration is where a device is that has one place, whatever the other Player says. The places of a
// ring are moved by it, as those of every driver.
func TestPoseOfTheConfiguration(t *testing.T) {
	driver := New("10.0.0.7:6665", 50)
	b := transporttest.NewBench(t, devices.Instance{Driver: driver, Name: "passthrough", Provides: []devices.Spec{devices.Laser(), devices.Sonar(), devices.Ranger()}})
	b.Link.SetGeometry(devices.Geometry{X: 100, Y: 20, Heading: 90})
	c := &chain{Bench: b, network: &network{World: b.World}}
	c.Table.Connect(c.network)
	laser, sonar, ranger := c.Link.Devices()[0], c.Link.Devices()[1], c.Link.Devices()[2]
	must.Get(laser.Subscribe(c.Now(), c))(t)
	c.say(codec.AppendAnswer(nil, codec.QuestionDevices, []string{"108 laser 0 sick", "115 sonar 0 p2os", "130 ranger 0 urg"}), reply(""), reply("yrlrsr\x82r"))
	c.say(answers("l 0 -250 5 180 0 0 8000 180", "s 0 10 0 0 0 0 0 0", "s 1 0 30 90 0 0 0 0"))
	c.say(codec.AppendAnswer(nil, codec.QuestionRays, []string{"ranger:0 0 5 -300 0 45 10 20 4000 0"}), reply(""))
	if got, want := laser.AppendParts(nil), []codec.Part{{Device: 'l', X: 100, Y: 20, Heading: 90, Range: 8000, View: 180}}; !slices.Equal(got, want) {
		t.Errorf("laser %+v, want %+v", got, want)
	}
	ring := sonar.AppendParts(nil)
	for i := range ring {
		ring[i] = ring[i].Rounded()
	}
	if want := []codec.Part{{Device: 's', X: 100, Y: 30, Heading: 90}, {Device: 's', Number: 1, X: 70, Y: 20, Heading: 180}}; !slices.Equal(ring, want) {
		t.Errorf("ring %+v, want %+v", ring, want)
	}
	if got, want := ranger.AppendRays(nil), []codec.Rays{{Device: ranger.Code(), Count: 5, X: 100, Y: 20, Heading: 70, Step: 10, Near: 20, Far: 4000}}; !slices.Equal(got, want) {
		t.Errorf("ranger %+v, want %+v", got, want)
	}
}
