package conformance

import (
	"bytes"
	"fmt"
	"slices"

	"player/codec"
)

// payloads has every device's data at the limits of its fields.
func payloads() []Case {
	var cases []Case
	add := func(name, clause string, letter byte, payload []byte, data Object) {
		device := string(letter)
		cases = append(cases, Case{name, clause, []Step{
			connect(), open(device + "r"),
			read(device, block(letter, payload)),
			get(device, len(payload), data),
		}})
	}
	for _, c := range []struct {
		name string
		d    codec.PositionData
	}{
		{"zero", codec.PositionData{}},
		{"lowest", codec.PositionData{X: -1 << 31, Y: -1 << 31, Speed: -1 << 15, TurnRate: -1 << 15}},
		{"highest", codec.PositionData{Time: 1<<32 - 1, X: 1<<31 - 1, Y: 1<<31 - 1, Heading: 1<<16 - 1, Speed: 1<<15 - 1, TurnRate: 1<<15 - 1, Compass: 1<<16 - 1, Stall: 255}},
		{"distinct bytes", codec.PositionData{Time: 0x01020304, X: -0x05060708, Y: 0x090A0B0C, Heading: 0x0D0E, Speed: -0x0F10, TurnRate: 0x1112, Compass: 0x1314, Stall: 21}},
		{"sign bits", codec.PositionData{Time: 1 << 31, X: -1, Y: 128, Heading: 359, Speed: -1, TurnRate: -128, Compass: 1 << 15, Stall: 1}},
	} {
		add("position "+c.name, "7.1", codec.Position, c.d.Append(nil), positionObject(c.d))
	}
	for _, c := range []struct {
		name string
		f    func(i int) uint16
	}{
		{"zero", func(int) uint16 { return 0 }},
		{"highest", func(int) uint16 { return 1<<16 - 1 }},
		{"distinct", func(i int) uint16 { return uint16(0x8100 + 181*i) }},
	} {
		var s codec.SonarData
		for i := range s {
			s[i] = c.f(i)
		}
		add("sonar "+c.name, "7.2", codec.Sonar, s.Append(nil), Object{"ranges": s})
		var l codec.LaserData
		for i := range l {
			l[i] = c.f(i)
		}
		add("laser "+c.name, "7.3", codec.Laser, l.Append(nil), Object{"ranges": l})
	}
	for _, d := range []codec.MiscData{{}, {FrontBumpers: 31, RearBumpers: 31, Battery: 255}, {FrontBumpers: 1, RearBumpers: 16, Battery: 126}} {
		add(fmt.Sprintf("misc %d %d %d", d.FrontBumpers, d.RearBumpers, d.Battery), "7.4", codec.Misc, d.Append(nil),
			Object{"front": d.FrontBumpers, "rear": d.RearBumpers, "battery": d.Battery, "voltage": d.Battery})
	}
	for bit := range 8 {
		d := codec.GripperData{State: 1 << bit, Beams: 1 << (7 - bit)}
		if d.Beams > codec.RightPaddleOpen { // bits without a meaning
			d.Beams = 0
		}
		add(fmt.Sprintf("gripper bits %d %d", d.State, d.Beams), "7.5", codec.Gripper, d.Append(nil), Object{"state": d.State, "beams": d.Beams})
	}
	for _, d := range []codec.PTZData{{}, {Pan: -100, Tilt: -25}, {Pan: 100, Tilt: 25, Zoom: 1023}, {Pan: -1 << 15, Tilt: 1<<15 - 1, Zoom: -1}} {
		add(fmt.Sprintf("ptz %d %d %d", d.Pan, d.Tilt, d.Zoom), "7.6", codec.PTZ, d.Append(nil), Object{"pan": d.Pan, "tilt": d.Tilt, "zoom": d.Zoom})
	}
	for _, d := range []codec.JoystickData{
		{},
		{Buttons: 1<<32 - 1, Axes: [8]int16{-32767, 32767, -32767, 32767, -32767, 32767, -32767, 32767}},
		{Buttons: 1 << 31, Axes: [8]int16{1, -2, 3, -4, 256, -257, 0x1234, -0x1234}},
	} {
		add(fmt.Sprintf("joystick buttons %#x", d.Buttons), "7.8", codec.Joystick, d.Append(nil), Object{"buttons": d.Buttons, "axes": d.Axes})
	}
	// JSON numbers are exact to 53 bits.
	for _, us := range []uint64{0, 1 << 32, 1<<53 - 1} {
		d := codec.FreshnessData{Time: us}
		add(fmt.Sprintf("server time %d", us), "8.1", codec.Server, d.Append(nil), Object{"time": us})
	}
	for i, letter := range "pslmgvzj" {
		cases = append(cases, Case{"no data from " + string(letter), "3.3", []Step{
			connect(), open(string(letter) + "r"),
			{Do: readRequest(patience), Send: []string{block(byte(letter), nil)}, Want: Object{"ok": true}},
			get(string(letter), 0, nil),
			get(string("slmgvzjp"[i]), 0, nil), // a device that was never read
		}})
	}
	return cases
}

func blob(n int) codec.Blob {
	return codec.Blob{Area: 64*n + 5, X: n, Y: n + 1, Left: n + 2, Right: n + 3, Top: n + 4, Bottom: n + 5}
}

func visionObject(d codec.VisionData) Object {
	channels := make([][]Object, codec.VisionChannels)
	for c := range channels {
		channels[c] = []Object{}
		for _, b := range d.Channel(c) {
			channels[c] = append(channels[c], Object{"area": b.Area, "x": b.X, "y": b.Y, "left": b.Left, "right": b.Right, "top": b.Top, "bottom": b.Bottom})
		}
	}
	return Object{"channels": channels}
}

// visions has images of blobs, and packets that are none.
func visions() []Case {
	var cases []Case
	add := func(name string, counts map[int]int, blobs func(n int) codec.Blob) {
		var d codec.VisionData
		for c := range d.Count {
			for range counts[c] {
				d.Count[c]++
				d.Blobs = append(d.Blobs, blobs(len(d.Blobs)))
			}
		}
		payload := d.Append(nil)
		cases = append(cases, Case{"vision " + name, "7.7", []Step{
			connect(), open("vr"), read("v", block(codec.Vision, payload)), get("v", len(payload), visionObject(d)),
		}})
	}
	add("without blobs", nil, nil)
	add("first channel", map[int]int{0: 1}, blob)
	add("last channel", map[int]int{31: 2}, blob)
	add("some channels", map[int]int{0: 3, 7: 1, 8: 10, 30: 2}, blob)
	add("lowest", map[int]int{4: 1}, func(int) codec.Blob { return codec.Blob{} })
	add("highest", map[int]int{4: 1}, func(int) codec.Blob {
		return codec.Blob{Area: 1<<24 - 1, X: 254, Y: 254, Left: 254, Right: 254, Top: 254, Bottom: 254}
	})
	add("area digits", map[int]int{2: 1}, func(int) codec.Blob { return codec.Blob{Area: 1<<18 + 2<<12 + 3<<6 + 4} })
	full := map[int]int{}
	for c := range codec.VisionChannels {
		full[c] = codec.MaxBlobs
	}
	// The index of a channel behind 254 blobs does not fit its byte.
	add("full", full, func(n int) codec.Blob { return blob(n % 240) })

	good := codec.VisionData{Count: [32]uint8{1}, Blobs: []codec.Blob{blob(1)}}
	packet := good.Append(nil)
	bad := func(name string, change func(b []byte) []byte) {
		broken := change(append([]byte(nil), packet...))
		cases = append(cases, Case{"vision " + name, "7.7", []Step{
			connect(), open("vr"), fails("protocol", block(codec.Vision, broken)),
			read("v", block(codec.Vision, packet)), get("v", len(packet), visionObject(good)),
		}})
	}
	bad("shorter than its header", func(b []byte) []byte { return b[:63] })
	bad("without its blob", func(b []byte) []byte { return b[:64] })
	bad("with half a blob", func(b []byte) []byte { return b[:69] })
	bad("with bytes behind its blob", func(b []byte) []byte { return append(b, 1) })
	bad("with 11 blobs in a channel", func(b []byte) []byte { b[1] = 12; return append(b, bytes.Repeat([]byte{1}, 100)...) })
	bad("with a count of zero", func(b []byte) []byte { b[5] = 0; return b })
	bad("with a wrong index", func(b []byte) []byte { b[2] = 3; return b })
	bad("with an area digit of zero", func(b []byte) []byte { b[64] = 0; return b })
	bad("with an area digit above 63", func(b []byte) []byte { b[67] = 65; return b })
	bad("with a coordinate of zero", func(b []byte) []byte { b[68] = 0; return b })
	return cases
}

// sizes has blocks whose size is wrong. The next round is read as if nothing
// had happened.
func sizes() []Case {
	var cases []Case
	sizes := []struct {
		letter byte
		size   int
	}{
		{codec.Position, codec.PositionSize}, {codec.Sonar, codec.SonarSize}, {codec.Laser, codec.LaserSize}, {codec.Misc, codec.MiscSize},
		{codec.Gripper, codec.GripperSize}, {codec.PTZ, codec.PTZSize}, {codec.Joystick, codec.JoystickSize},
	}
	for _, s := range sizes {
		device := string(s.letter)
		for _, wrong := range slices.Compact([]int{1, s.size - 1, s.size + 1, 2 * s.size}) {
			cases = append(cases, Case{fmt.Sprintf("%s of %d bytes", device, wrong), "7", []Step{
				connect(), open(device + "r"),
				fails("protocol", block(s.letter, bytes.Repeat([]byte{1}, wrong))), nothing(device),
				read(device, block(s.letter, make([]byte, s.size))), get(device, s.size, Object{}),
			}})
		}
	}
	for _, wrong := range []int{1, 4, 7, 9, 11} {
		cases = append(cases, Case{fmt.Sprintf("y of %d bytes", wrong), "8.1", []Step{
			connect(), open("yr"), fails("protocol", block(codec.Server, make([]byte, wrong))), read("", server(9)), get("y", 8, Object{"time": 9}),
		}})
	}
	cases = append(cases,
		Case{"the largest block of a device", "1.3 7", []Step{
			connect(), open("pr"), fails("protocol", block(codec.Position, make([]byte, codec.MaxBlock))), read("p", positionBlock(1)), at(1),
		}},
		Case{"wrong size at the end of a round", "7", []Step{
			connect(), open("srpr"), fails("protocol", sonarBlock(1)+block(codec.Position, make([]byte, 20))),
			read("sp", sonarBlock(2)+positionBlock(2)), at(2),
		}},
	)
	return cases
}
