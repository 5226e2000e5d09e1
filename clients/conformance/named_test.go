package conformance

import (
	"fmt"
	"strings"

	"player/codec"
	"player/codec/compact"
)

// listed has the devices of the robot of these cases: two lasers, and one device of each interface without a letter.
var listed = []codec.Entry{
	{Code: 'l', Interface: "laser", Driver: "sick"}, {Code: 'p', Interface: "position", Driver: "p2os"},
	{Code: 0x80, Interface: "laser", Index: 1, Driver: "urg"}, {Code: 0x81, Interface: "ranger", Driver: "urg"},
	{Code: 0x82, Interface: "imu", Driver: "a driver with a long name"}, {Code: 0x83, Interface: "gps", Driver: "nmea"},
	{Code: 0x84, Interface: "io", Driver: "lines"}, {Code: 0x85, Interface: "goto", Driver: "goto"}, {Code: 0xFF, Interface: "servo", Index: 12, Driver: "lines"},
}

// listing is the answer to the question for devices, in two messages, as a server with many devices sends it. It has a line
// that clients do not understand.
func listing() string {
	var lines []string
	for _, e := range listed {
		lines = append(lines, e.Line())
	}
	return h(codec.AppendAnswer(codec.AppendAnswer(nil, codec.QuestionDevices, append(lines[:3:3], "later servers say more")), codec.QuestionDevices, lines[3:]))
}

// question returns a client's bytes for a question: the question, and an empty request behind it.
func question(letter byte) string {
	return h(codec.AppendRequest(codec.AppendMessage(nil, codec.KindConfig, codec.Server, []byte{codec.ConfigQuestion, letter}), nil))
}

// devicesOf asks which devices the robot has.
func devicesOf(answers string, want ...[]any) Step {
	return Step{
		Do:     Object{"op": "devices", "timeout_ms": patience},
		Expect: question(codec.QuestionDevices),
		Send:   []string{answers + emptyReply},
		Want:   Object{"ok": true, "devices": append([][]any{}, want...)},
	}
}

// openNamed opens a device by its name. The client knows its byte.
func openNamed(name string, code byte, access string) Step {
	pairs := string([]byte{code}) + access
	return Step{
		Do:     Object{"op": "open", "name": name, "access": access, "timeout_ms": patience},
		Expect: requestBytes(pairs),
		Send:   []string{block(codec.KindReply, []byte(pairs))},
		Want:   Object{"ok": true, "code": code},
	}
}

// begun is connected, and has the list of the devices by opening one of them: laser:1.
func begun() []Step {
	first := openNamed("laser:1", 0x80, "r")
	first.Then = []Exchange{{Expect: first.Expect, Send: first.Send}}
	first.Expect, first.Send = question(codec.QuestionDevices), []string{listing() + emptyReply}
	return []Step{connect(), open("pr"), first}
}

// asked asks a question about devices. op is the request to the adapter, and member the one of its answer.
func asked(op, member string, letter byte, lines []string, want ...[]any) Step {
	return Step{
		Do:     Object{"op": op, "timeout_ms": patience},
		Expect: question(letter),
		Send:   []string{h(codec.AppendAnswers(nil, letter, lines)) + emptyReply},
		Want:   Object{"ok": true, member: append([][]any{}, want...)},
	}
}

// roundWith reads a round of position, laser:1 and a device.
func roundWith(code byte, payload []byte) Step {
	return read("p\u0080"+string(rune(code)), positionBlock(1)+block(0x80, make([]byte, codec.LaserSize))+block(code, payload))
}

// commandTo sends a command to a device by its name.
func commandTo(name string, code byte, payload []byte, values ...int) Step {
	s := command(name, payload, values...)
	s.Expect = h(codec.AppendMessage(nil, codec.KindCommand, code, payload))
	return s
}

// goal gives goto:0 a goal.
func goal(g codec.GotoCommand) Step {
	return commandTo("goto:0", 0x85, g.Append(nil), int(g.X), int(g.Y), int(g.Heading), int(g.Speed), int(g.TurnRate), int(g.Tolerance),
		int(g.Radius), int(g.Tag))
}

// lostConnection reads until the server ends the connection.
func lostConnection() Step {
	s := fails("closed")
	s.End = endClose
	return s
}

// listedAgain connects again. The client asks for the devices, of which the server lists some.
func listedAgain(want Object, now ...codec.Entry) Step {
	var lines []string
	for _, e := range now {
		lines = append(lines, e.Line())
	}
	return Step{Do: reconnecting(), Expect: question(codec.QuestionDevices),
		Send: []string{h(codec.AppendAnswers(nil, codec.QuestionDevices, lines)) + emptyReply}, Want: want}
}

// named has devices that clients open by their names (PROTOCOL 2.11).
func named() []Case {
	begin := begun()
	behind := func(steps ...Step) []Step { return append(begin[:len(begin):len(begin)], steps...) }
	list := [][]any{}
	for _, e := range listed {
		list = append(list, []any{e.Address(), e.Code})
	}
	rear, rearData := laser(func(i int) uint16 { return uint16(3000 + i) })
	rear = h([]byte{0x80}) + rear[2:]
	cases := []Case{
		{"which devices there are", "2.11 8.9", []Step{connect(), open("pr"), devicesOf(listing(), list...), closing()}},
		{"which devices an older server has", "8.9", []Step{connect(), open("pr"), devicesOf(""), closing()}},
		{"a second laser", "2.11 7", behind(
			read("p\u0080", positionBlock(1)+rear), get("laser:1", codec.LaserSize, rearData), at(1), closing())},
		{"a device that the robot does not have", "2.11", behind(Step{
			Do:     Object{"op": "open", "name": "gps:4", "access": "r", "timeout_ms": patience},
			Expect: question(codec.QuestionDevices), Send: []string{listing() + emptyReply},
			Want: Object{"ok": false, "error": "refused"},
		}, closing())},
		{"devices of an older server", "8.9", []Step{connect(), open("pr"),
			{
				Do:     Object{"op": "open", "name": "laser", "access": "r", "timeout_ms": patience},
				Expect: question(codec.QuestionDevices), Send: []string{emptyReply},
				Then: []Exchange{{Expect: requestBytes("lr"), Send: []string{block(codec.KindReply, []byte("lr"))}}},
				Want: Object{"ok": true, "code": 'l'},
			},
			{
				Do:     Object{"op": "open", "name": "imu:0", "access": "r", "timeout_ms": patience},
				Expect: question(codec.QuestionDevices), Send: []string{emptyReply},
				Want: Object{"ok": false, "error": "refused"},
			},
			closing(),
		}},
		{"a device that does not start", "8.9", behind(Step{
			Do:     Object{"op": "open", "name": "imu:0", "access": "r", "timeout_ms": patience},
			Expect: requestBytes("\x82r"), Send: []string{block(codec.KindReply, []byte("\x82e"))},
			Then: []Exchange{{Expect: questionBytes, Send: []string{refusals("imu:0 hardware it is unplugged"), emptyReply}}},
			Want: Object{"ok": false, "error": "refused", "why": Object{"imu:0": "hardware it is unplugged"}},
		}, closing())},
		{"a name that is none", "2.11", []Step{connect(), open("pr"),
			{Do: Object{"op": "open", "name": "imu:x", "access": "r", "timeout_ms": patience}, Want: Object{"ok": false, "error": "usage"}}, closing()}},
		{"rays", "8.9", behind(
			asked("rays", "rays", codec.QuestionRays,
				[]string{"l 0 361 80 -10.5 -90 0.5 0 8182 0", "ranger:0 0 1081 0 0 -135 0.25 20 30000 0.5", "ranger:0 1081 1 -5 6 180 0 0 0 15 and more", "sonar:9 0 1 0 0 0 0 0 0 0", "l 0 0 0 0 0 0 0 0 0"},
				[]any{"l", 0, 361, 80, -10.5, -90, 0.5, 0, 8182, 0}, []any{"ranger:0", 0, 1081, 0, 0, -135, 0.25, 20, 30000, 0.5}, []any{"ranger:0", 1081, 1, -5, 6, 180, 0, 0, 0, 15}),
			closing())},
		{"channels", "8.9", behind(
			asked("channels", "channels", codec.QuestionChannels,
				[]string{"io:0 0 input bit 0 1 Button at the back", "io:0 3 output mV -2147483648 5000 ", "servo:12 1 joint mdeg -90000 90000 Elbow", "io:1 0 input bit 0 1 x", "io:0 0 inout bit 0 1 x"},
				[]any{"io:0", 0, "input", "bit", 0, 1, "Button at the back"}, []any{"io:0", 3, "output", "mV", -2147483648, 5000, ""},
				[]any{"servo:12", 1, "joint", "mdeg", -90000, 90000, "Elbow"}),
			closing())},
		{"colours of channels", "8.9.8", behind(
			asked("colors", "colors", codec.QuestionColors,
				[]string{"l 0 ffa500", "laser:1 31 00008B and more", "l 32 ffa500", "l -1 ffa500", "l 1 fa500", "l 2 orange", "vision:9 0 ffa500", "l 3"},
				[]any{"l", 0, 0xFFA500}, []any{"laser:1", 31, 0x8B}),
			closing())},
		{"outputs and joints", "5.1", behind(
			openNamed("io:0", 0x84, "w"), openNamed("servo:12", 0xFF, "a"),
			commandTo("io:0", 0x84, codec.IOCommand{Channel: 3, Value: -2}.Append(nil), 3, -2),
			commandTo("io:0", 0x84, codec.IOCommand{Channel: 127, Value: 1<<31 - 1}.Append(nil), 127, 1<<31-1),
			commandTo("servo:12", 0xFF, codec.ServoCommand{Joint: 1, Goal: -45000, Speed: 1<<32 - 1}.Append(nil), 1, -45000, 1<<32-1),
			commandTo("servo:12", 0xFF, codec.StopServos().Append(nil), codec.AllJoints, codec.Unknown, 0),
			closing())},
		{"goals", "5.6", behind(openNamed("goto:0", 0x85, "a"),
			goal(codec.GotoCommand{X: 1500, Y: -2500, Heading: 359, Speed: 300, TurnRate: 45, Tolerance: 50, Radius: 250, Tag: 65535}),
			goal(codec.GotoCommand{X: 1<<31 - 1, Y: -1 << 31, Heading: codec.AnyHeading}),
			goal(codec.StopGoto()), closing())},
		{"a goal for a device that is not open", "5.2", behind(
			Step{Do: Object{"op": "command", "device": "goto:0", "values": make([]int, 8)}, Want: Object{"ok": false, "error": "usage"}}, closing())},
		{"a byte that is another device's after a restart", "2.11", behind(lostConnection(),
			listedAgain(Object{"ok": false}, codec.Entry{Code: 0x80, Interface: "imu", Driver: "lines"}), closing())},
		{"a byte that is another device's after two restarts", "2.11", behind(lostConnection(), func() Step {
			s := listedAgain(Object{"ok": false, "error": "refused"}, listed[0], listed[1])
			s.Then = []Exchange{{Expect: requestBytes("pr\x80r"), Send: []string{block(codec.KindReply, []byte("pr\x80e"))}},
				{Expect: questionBytes, Send: []string{refusals("laser:1 missing the robot has no such device"), emptyReply}}}
			return s
		}(), lostConnection(), listedAgain(Object{"ok": false}, codec.Entry{Code: 0x80, Interface: "imu", Driver: "lines"}), closing())},
		{"a device that is away for a restart", "2.11", behind(lostConnection(), func() Step {
			s := listedAgain(Object{"ok": false, "error": "refused"}, listed[0], listed[1])
			s.Then = []Exchange{{Expect: requestBytes("pr\x80r"), Send: []string{block(codec.KindReply, []byte("pr\x80e"))}},
				{Expect: questionBytes, Send: []string{refusals("laser:1 missing the robot has no such device"), emptyReply}}}
			return s
		}(), lostConnection(), func() Step {
			s := listedAgain(Object{"ok": true}, listed...)
			s.Then = []Exchange{{Expect: requestBytes("pr\x80r"), Send: []string{block(codec.KindReply, []byte("pr\x80r"))}}}
			return s
		}(), read("p\u0080", positionBlock(1)+block(0x80, make([]byte, codec.LaserSize))), at(1), closing())},
		{"a connection that is lost in the list of devices", "2.11", behind(lostConnection(), func() Step {
			s := listedAgain(Object{"ok": true}, listed...)
			s.Then = []Exchange{{Again: true, Expect: s.Expect, Send: s.Send},
				{Expect: requestBytes("pr\x80r"), Send: []string{block(codec.KindReply, []byte("pr\x80r"))}}}
			s.Send = nil
			return s
		}(), closing())},
		{"a command to a joint of a device that is not open", "5.2", behind(
			Step{Do: Object{"op": "command", "device": "servo:12", "values": []int{1, 1, 1}}, Want: Object{"ok": false, "error": "usage"}}, closing())},
	}
	add := func(name, clause, device string, code byte, payload []byte, data Object) {
		cases = append(cases, Case{name, clause, behind(openNamed(device, code, "r"), roundWith(code, payload), get(device, len(payload), data), closing())})
	}
	for _, d := range []codec.RangerData{{Unit: 1, Ranges: []uint16{}}, {Unit: 65535, Ranges: []uint16{0, 1, codec.MaxReading, codec.NothingInRange, codec.UnknownRange}}} {
		add(fmt.Sprintf("ranger of %d readings", len(d.Ranges)), "7", "ranger:0", 0x81, d.Append(nil), Object{"unit_mm": d.Unit, "ranges": d.Ranges})
	}
	for _, d := range []codec.IMUData{{}, codec.UnknownIMU(), {Roll: -1, Pitch: 2, Yaw: -180000, RollRate: 3, PitchRate: -4, YawRate: 1<<31 - 1, X: -5, Y: 6, Z: 9807}} {
		add(fmt.Sprintf("imu with a yaw of %d", d.Yaw), "7", "imu:0", 0x82, d.Append(nil), Object{"roll_mdeg": d.Roll, "pitch_mdeg": d.Pitch, "yaw_mdeg": d.Yaw,
			"roll_rate_mdeg_per_s": d.RollRate, "pitch_rate_mdeg_per_s": d.PitchRate, "yaw_rate_mdeg_per_s": d.YawRate,
			"x_mm_per_s2": d.X, "y_mm_per_s2": d.Y, "z_mm_per_s2": d.Z})
	}
	for _, d := range []codec.GPSData{codec.UnknownGPS(), {Fix: codec.RTKFix, Satellites: 12, Latitude: -338567890, Longitude: 1512345678, Height: -42000, Horizontal: 14,
		Vertical: 1<<32 - 2, Time: 1795804800123, Speed: 1500, Course: 359999}} {
		add(fmt.Sprintf("gps with fix %d", d.Fix), "7", "gps:0", 0x83, d.Append(nil), Object{"fix": d.Fix, "satellites": d.Satellites, "latitude_e7": d.Latitude,
			"longitude_e7": d.Longitude, "height_mm": d.Height, "horizontal_mm": d.Horizontal, "vertical_mm": d.Vertical, "time_ms": d.Time,
			"speed_mm_per_s": d.Speed, "course_mdeg": d.Course})
	}
	for _, d := range []codec.IOData{{Values: []int32{5}}, {Values: []int32{0, 1, -1 << 30, codec.Unknown}}} {
		add(fmt.Sprintf("io of %d channels", len(d.Values)), "7", "io:0", 0x84, d.Append(nil), Object{"values": d.Values})
	}
	for _, d := range []codec.ServoData{{Joints: []codec.Joint{{}}}, {Joints: []codec.Joint{{Position: 1, Goal: codec.Unknown, State: 129}, {Position: -2, Goal: 3}}}} {
		joints := []Object{}
		for _, j := range d.Joints {
			joints = append(joints, Object{"position": j.Position, "goal": j.Goal, "state": j.State})
		}
		add(fmt.Sprintf("servo of %d joints", len(d.Joints)), "7", "servo:12", 0xFF, d.Append(nil), Object{"joints": joints})
	}
	for _, d := range []codec.GotoData{{X: codec.Unknown, Y: codec.Unknown, Heading: codec.AnyHeading, Distance: codec.UnknownAmount},
		{State: codec.GotoDriving, Tag: 65535, X: 1500, Y: -2500, Heading: 359, Distance: 2915},
		{State: codec.GotoStopped, Reason: codec.GotoMotors, Tag: 1, X: 1<<31 - 1, Y: -1<<31 + 1, Distance: 1<<32 - 2}} {
		add("goto that is "+d.State.String(), "7.14", "goto:0", 0x85, d.Append(nil), Object{"state": d.State, "reason": d.Reason, "tag": d.Tag,
			"x_mm": d.X, "y_mm": d.Y, "heading_deg": d.Heading, "distance_mm": d.Distance})
	}
	for _, s := range []struct {
		device string
		code   byte
		wrong  []byte
		right  []byte
	}{
		{"ranger:0", 0x81, []byte{0, 1, 2}, []byte{0, 1}}, {"ranger:0", 0x81, []byte{0, 0}, []byte{0, 1}},
		{"imu:0", 0x82, make([]byte, 35), make([]byte, 36)}, {"gps:0", 0x83, make([]byte, 39), make([]byte, 38)},
		{"io:0", 0x84, make([]byte, 6), make([]byte, 8)}, {"servo:12", 0xFF, make([]byte, 10), make([]byte, 9)},
		{"goto:0", 0x85, make([]byte, 19), make([]byte, 18)},
	} {
		name := fmt.Sprintf("%s of %d bytes", strings.Split(s.device, ":")[0], len(s.wrong))
		cases = append(cases, Case{name + ", which is wrong", "7", behind(openNamed(s.device, s.code, "r"),
			fails("protocol", positionBlock(1)+block(0x80, make([]byte, codec.LaserSize))+block(s.code, s.wrong)),
			roundWith(s.code, s.right), closing())})
	}
	scan := codec.LaserData{7: 1234}
	ranger := codec.RangerData{Unit: 4}
	for i := range 1081 {
		ranger.Ranges = append(ranger.Ranges, uint16(2000+i/5))
	}
	item := func(dst []byte, code, letter byte, payload []byte) []byte {
		start := len(dst)
		dst = compact.Append(dst, letter, payload, codec.Scan{})
		dst[start] = code
		return dst
	}
	items := item(item(item(nil, 'p', codec.Position, make([]byte, codec.PositionSize)), 0x80, codec.Laser, scan.Append(nil)), 0x81, codec.Ranger, ranger.Append(nil))
	return append(cases, Case{"a compact round", "8.4", behind(openNamed("ranger:0", 0x81, "r"),
		read("p\u0080\u0081", block(codec.KindCompact, items)), get("laser:1", codec.LaserSize, Object{"ranges": scan}),
		get("ranger:0", len(ranger.Append(nil)), Object{"unit_mm": 4, "ranges": ranger.Ranges}), closing())})
}
