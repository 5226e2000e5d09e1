package conformance

import (
	"bytes"
	"fmt"
	"strings"

	"player/codec"
)

// messages has every command and configuration.
func messages() []Case {
	session := func(name, clauses string, steps ...Step) Case {
		all := append([]Step{connect(), open("pagaza")}, steps...)
		return Case{name, clauses, append(all, closing())}
	}
	var drive, point, grip []Step
	for _, c := range []codec.PositionCommand{{}, {Speed: 100, TurnRate: -20}, {Speed: -1 << 15, TurnRate: 1<<15 - 1}, {Speed: 1<<15 - 1, TurnRate: -1 << 15}, {Speed: -1, TurnRate: 256}} {
		drive = append(drive, command("p", c.Append(nil), int(c.Speed), int(c.TurnRate)))
	}
	for _, c := range []codec.PTZCommand{{}, {Pan: -100, Tilt: -25}, {Pan: 100, Tilt: 25, Zoom: 1023}, {Pan: -1, Tilt: 1, Zoom: 256}} {
		point = append(point, command("z", c.Append(nil), int(c.Pan), int(c.Tilt), int(c.Zoom)))
	}
	for _, code := range []uint8{codec.GripOpen, codec.GripClose, codec.GripStop, codec.LiftRaise, codec.LiftLower, codec.LiftStop, codec.GripStore, codec.GripDeploy, codec.GripHalt} {
		grip = append(grip, command("g", codec.GripperCommand{Code: code}.Append(nil), int(code), 0))
	}
	for _, arg := range []uint8{0, 20, 255} {
		grip = append(grip,
			command("g", codec.GripperCommand{Code: codec.GripPress, Arg: arg}.Append(nil), int(codec.GripPress), int(arg)),
			command("g", codec.GripperCommand{Code: codec.LiftCarry, Arg: arg}.Append(nil), int(codec.LiftCarry), int(arg)))
	}
	var rates []Step
	for _, hz := range []int{1, 10, 255, 256, 1000, 65535} {
		rates = append(rates, config("frequency", hz, codec.Server, codec.Config{Code: codec.ConfigFrequency, Arg: uint16(hz)}))
	}
	var lifetimes []Step
	for _, ms := range []int{1, 500, 60000, 0} {
		lifetimes = append(lifetimes, config("lifetime", ms, codec.Server, codec.Config{Code: codec.ConfigLifetime, Arg: uint16(ms)}))
	}
	for _, ms := range []int{-1, 60001} {
		lifetimes = append(lifetimes, Step{Do: Object{"op": "config", "name": "lifetime", "value": ms}, Want: Object{"ok": false, "error": "usage"}})
	}
	flag := func(name string, letter, code byte) (steps []Step) {
		for _, v := range []int{1, 0} {
			steps = append(steps, config(name, v, letter, codec.Config{Code: code, Arg: uint16(v)}))
		}
		return steps
	}
	// A name with another byte than printable ASCII, or too long, is not sent.
	var names []Step
	for _, text := range []string{"mapper 2", " ~", strings.Repeat("x", codec.MaxName), ""} {
		step := config("name", 0, codec.Server, codec.Config{Code: codec.ConfigName, Text: text})
		step.Do["text"] = text
		names = append(names, step)
	}
	for _, text := range []string{strings.Repeat("x", codec.MaxName+1), "caf\u00e9", "a\x7fb"} {
		names = append(names, Step{Do: Object{"op": "config", "name": "name", "text": text}, Want: Object{"ok": false, "error": "usage"}})
	}
	usage := func(do Object) Step { return Step{Do: do, Want: Object{"ok": false, "error": "usage"}} }
	setting := func(name string, value int) Step { return usage(Object{"op": "config", "name": name, "value": value}) }
	unsent := []Step{
		connect(), setting("fresh", 1), setting("frequency", 0), setting("frequency", 65536),
		usage(Object{"op": "command", "device": "p", "values": []int{1, 1}}),
		closing(),
	}
	requestReply := []Step{
		connect(), open("pr"), flag("mode", codec.Server, codec.ConfigMode)[0],
	}
	for x := range 3 {
		requestReply = append(requestReply, config("data", 0, codec.Server, codec.Config{Code: codec.ConfigData}), read("p", positionBlock(x)), at(x))
	}
	return []Case{
		{"what is not sent", "4.1 5.1", unsent},
		session("speed", "5.1", drive...),
		session("speed beyond 16 bits", "5.1",
			command("p", codec.PositionCommand{Speed: 1<<15 - 1, TurnRate: -1 << 15}.Append(nil), 40000, -99999)),
		session("camera", "5.1", point...),
		session("gripper", "5.1", grip...),
		session("frequency", "4.1", rates...),
		session("command lifetime", "4.10", lifetimes...),
		session("mode", "4.2", flag("mode", codec.Server, codec.ConfigMode)...),
		session("request for data", "4.3", config("data", 0, codec.Server, codec.Config{Code: codec.ConfigData})),
		session("motors", "6.1", flag("motors", codec.Position, codec.ConfigMotors)...),
		session("velocity", "6.2", flag("velocity", codec.Position, codec.ConfigVelocity)...),
		session("name", "8.3", names...),
		session("emergency stop", "8.5", flag("stop", codec.Server, codec.ConfigStop)...),
		session("odometry", "6.3", config("reset_odometry", 0, codec.Position, codec.Config{Code: codec.ConfigOdometry})),
		{"only new data", "4.4", []Step{connect(), open("yrpr"), setFresh(1), setFresh(0), closing()}},
		{"request/reply mode", "3.5 4.2 4.3", requestReply},
	}
}

// accesses has requests and replies.
func accesses() []Case {
	cases := []Case{
		{"empty request", "2.2", []Step{connect(), open(""), closing()}},
		{"all devices", "2.1", []Step{connect(), open("lrsrpagamrvrzajryr"), closing()}},
		{"write after read", "2.3 2.4", []Step{connect(), open("sr"), replied("sw", "sa"), open("sc"), closing()}},
		{"read and write in one request", "2.4", []Step{connect(), replied("srsw", "sasa"), closing()}},
		{"failed device, the others granted", "2.4 2.6", []Step{
			connect(), replied("srlrpa", "srlepa"),
			read("sp", sonarBlock(1)+positionBlock(2)), at(2),
			command("p", codec.PositionCommand{Speed: 1}.Append(nil), 1, 0),
			closing(),
		}},
		{"a device of an older server, by its name", "8.9", []Step{connect(), open("sr"),
			{
				Do:     Object{"op": "open", "name": "laser", "access": "r", "timeout_ms": patience},
				Expect: question(codec.QuestionDevices), Send: []string{emptyReply},
				Then: []Exchange{{Expect: requestBytes("lr"), Send: []string{block(codec.KindReply, []byte("lr"))}}},
				Want: Object{"ok": true, "code": 'l'},
			},
			closing(),
		}},
		{"unknown device", "2.5", []Step{connect(), replied("qrpr", "qepr"), read("p", positionBlock(1)), at(1), closing()}},
		{"everything refused, then granted", "2.3", []Step{
			connect(), replied("pr", "pe"), open("pr"), read("p", positionBlock(3)), at(3),
		}},
		{"closed device", "2.3 2.8", []Step{
			connect(), open("srpr"), read("sp", sonarBlock(1)+positionBlock(1)),
			open("sc"), read("p", positionBlock(2)), at(2), read("p", positionBlock(3)), at(3),
		}},
		{"reply of another request", "2.4", []Step{
			connect(),
			{Do: ask("sr"), Expect: requestBytes("sr"), Send: []string{block(codec.KindReply, []byte("prlr"))}, Want: Object{"ok": false, "error": "protocol"}},
		}},
		{"no reply in time", "2.7", []Step{
			connect(),
			{Do: Object{"op": "request", "pairs": "pr", "timeout_ms": soon}, Expect: requestBytes("pr"), Want: Object{"ok": false, "error": "timeout"}},
		}},
		{"reply after the timeout", "2.7", []Step{
			connect(),
			{Do: Object{"op": "request", "pairs": "pr", "timeout_ms": soon}, Expect: requestBytes("pr"), Want: Object{"ok": false, "error": "timeout"}},
			{Send: []string{block(codec.KindReply, []byte("pr"))}},
			read("p", positionBlock(4)), at(4),
		}},
		{"reply of the request before", "2.7", []Step{
			connect(),
			{Do: Object{"op": "request", "pairs": "pr", "timeout_ms": soon}, Expect: requestBytes("pr"), Want: Object{"ok": false, "error": "timeout"}},
			{Do: ask("sr"), Expect: requestBytes("sr"), Send: []string{block(codec.KindReply, []byte("pr")), block(codec.KindReply, []byte("sr"))},
				Want: Object{"ok": true, "granted": "sr"}},
			read("ps", positionBlock(4)+sonarBlock(1)), at(4),
		}},
	}
	const missing, right = "missing the robot has no such device", "right the rules give this client: read"
	long := "hardware " + strings.Repeat("serial port x: ", 20)[:228]
	cases = append(cases,
		Case{"all, then read", "2.3 2.4", []Step{connect(), replied("sa", "sr"), closing()}},
		Case{"upgrade", "2.3", []Step{connect(), open("pr"), replied("pw", "pa"), read("p", positionBlock(1)), at(1), closing()}},
		Case{"upgrade with a failure", "2.3 2.4", []Step{connect(), open("pr"), replied("pwlr", "pale"), read("p", positionBlock(1)), at(1), closing()}},
		Case{"why a device is refused", "8.9 8.9.1", []Step{
			connect(), explained("qrpr", "qepr", []string{"q " + missing}, "q", missing), read("p", positionBlock(1)), at(1), closing(),
		}},
		Case{"why several devices are refused", "8.9.1", []Step{
			connect(), explained("srlrpa", "selepe", []string{"s " + right, `l hardware no port "a\b"`, "p used by cat"}, "s", right, "l", `hardware no port "a\b"`, "p", "used by cat"), closing(),
		}},
		Case{"reasons that no client understands", "8.9.1", []Step{
			connect(), explained("qrsr", "qese", []string{"", "qq x y", "q", "q new", "p missing x", "! ! !", "s " + missing}, "s", missing), closing(),
		}},
		Case{"a reason that is not printable", "8.9", []Step{
			connect(),
			func() Step {
				s := explained("sr", "se", nil, "s", "hardware ?[2Jno??? port??")
				s.Then[0].Send = []string{block(codec.KindAnswer, []byte("e\ns hardware \x1b[2Jno\x7f\x9b\x00 port\xff\r")), emptyReply}
				return s
			}(), closing(),
		}},
		Case{"a word that is new", "8.9.1", []Step{connect(), explained("qr", "qe", []string{"q asleep it is night"}, "q", "asleep it is night"), closing()}},
		Case{"the longest answer", "8.9", []Step{
			connect(), explained("lrsrprgrmrvrzrjr", "lesepegemevezeje", []string{"l " + long, "s " + long, "p " + long, "g " + long, "m " + long, "v " + long, "z " + long, "j " + long},
				"l", long, "s", long, "p", long, "g", long, "m", long, "v", long, "z", long, "j", long), open("pr"), closing(),
		}},
		Case{"data before the reasons", "8.9", []Step{
			connect(), open("pr"),
			func() Step {
				s := explained("qr", "qe", []string{"q " + missing}, "q", missing)
				s.Then[0].Send = []string{positionBlock(4), positionBlock(5) + refusals("q "+missing) + positionBlock(6) + emptyReply}
				return s
			}(),
			at(6), read("p", positionBlock(7)), at(7), closing(),
		}},
		Case{"no reasons in time", "8.9", []Step{
			connect(),
			{Do: Object{"op": "request", "pairs": "sr", "timeout_ms": 10 * soon}, Expect: requestBytes("sr"), Send: []string{block(codec.KindReply, []byte("se"))},
				Want: Object{"ok": false, "error": "refused", "granted": "se", "why": Object{}}},
			{Expect: questionBytes, Send: []string{refusals("s "+missing) + emptyReply}},
			open("yrpr"), read("p", server(1, 2)+positionBlock(7)), at(7), closing(),
		}},
		Case{"reasons of another time", "8.9.1", []Step{
			connect(), explained("sr", "se", []string{"s " + missing}, "s", missing), replied("sr", "se"), open("sr"), replied("sa", "sr"), closing(),
		}},
		Case{"where the parts are", "8.9.3", []Step{
			connect(), open("pr"),
			placed([]string{"p 0 -45.5 0 0 511 425 0 0", "s 0 69 136 90 0 0 5000 15", "s 15 -157 136 90 0 0 5000 15", "z 0 80 0 -180 0 0 0 48.8"},
				[]any{"p", 0, -45.5, 0, 0, 511, 425, 0, 0}, []any{"s", 0, 69, 136, 90, 0, 0, 5000, 15},
				[]any{"s", 15, -157, 136, 90, 0, 0, 5000, 15}, []any{"z", 0, 80, 0, -180, 0, 0, 0, 48.8}),
			read("p", positionBlock(2)), at(2), placed([]string{}), closing(),
		}},
		Case{"parts that a later server tells of", "8.9.3", []Step{
			connect(), open("pr"),
			placed([]string{"l 0 80 0 0 0 0 8182 180 270 word", "", "l missing none", "robot 0 1 2 3 4 5 6 7", "l 0 1 2", "l 0 1 2 3 4 5 6 x", "l x 1 2 3 4 5 6 7", "g 0 200 0 0 100 150 0 0"},
				[]any{"l", 0, 80, 0, 0, 0, 0, 8182, 180}, []any{"g", 0, 200, 0, 0, 100, 150, 0, 0}),
			closing(),
		}},
		Case{"a server that does not know where its parts are", "8.9", []Step{connect(), open("pr"), placed(nil), read("p", positionBlock(1)), at(1), closing()}},
		Case{"data before the parts", "8.9", []Step{
			connect(), open("pr"),
			func() Step {
				s := placed([]string{"p 0 0 0 0 500 400 0 0"}, []any{"p", 0, 0, 0, 0, 500, 400, 0, 0})
				s.Send[0] = positionBlock(4) + s.Send[0]
				return s
			}(),
			at(4), closing(),
		}},
		Case{"an answer that was not asked for", "8.9", []Step{
			connect(), open("yrsrpr"), read("sp", server(1, 2, 3)+refusals("p "+missing)+sonarBlock(1)+refusals()+positionBlock(8)), at(8), aged("p", 3), closing(),
		}},
		Case{"the end instead of the reasons", "8.9", []Step{
			connect(),
			{Do: ask("sr"), Expect: requestBytes("sr"), Send: []string{block(codec.KindReply, []byte("se"))}, End: endClose,
				Want: Object{"ok": false, "error": "refused", "granted": "se", "why": Object{}}},
			connect(), open("pr"), read("p", positionBlock(1)), at(1), closing(),
		}})
	for _, granted := range "wace" {
		cases = append(cases, Case{fmt.Sprintf("asked r, granted %c", granted), "2.3 2.4", []Step{connect(), replied("sr", "s"+string(granted)), closing()}})
	}
	return cases
}

// everything returns one round of all devices, and steps that check its data.
func everything() (round string, checks []Step) {
	laserBlock, laserData := laser(func(i int) uint16 { return uint16(31*i + 1) })
	sonarBlock, sonarData := sonar(1)
	positionBlock, positionData := position(-70000)
	gripper := codec.GripperData{State: codec.PaddlesOpen | codec.LiftUp, Beams: codec.InnerBeam}
	misc := codec.MiscData{FrontBumpers: 3, RearBumpers: 4, Battery: 125}
	ptz := codec.PTZData{Pan: -10, Tilt: 5, Zoom: 600}
	vision := codec.VisionData{Count: [32]uint8{3: 1, 9: 2}, Blobs: []codec.Blob{blob(1), blob(2), blob(3)}}
	joystick := codec.JoystickData{Buttons: 6, Axes: [8]int16{-5, 4, 0, 0, 0, 0, 0, 3}}
	v := vision.Append(nil)
	round = laserBlock + sonarBlock + positionBlock + block(codec.Gripper, gripper.Append(nil)) + block(codec.Misc, misc.Append(nil)) +
		block(codec.Vision, v) + block(codec.PTZ, ptz.Append(nil)) + block(codec.Joystick, joystick.Append(nil))
	return round, []Step{
		get("l", codec.LaserSize, laserData), get("s", codec.SonarSize, sonarData), get("p", codec.PositionSize, positionData),
		get("g", codec.GripperSize, Object{"state": gripper.State, "beams": gripper.Beams}),
		get("m", codec.MiscSize, Object{"front": misc.FrontBumpers, "rear": misc.RearBumpers, "battery": misc.Battery}),
		get("v", len(v), visionObject(vision)),
		get("z", codec.PTZSize, Object{"pan": ptz.Pan, "tilt": ptz.Tilt, "zoom": ptz.Zoom}),
		get("j", codec.JoystickSize, Object{"buttons": joystick.Buttons, "axes": joystick.Axes}),
	}
}

// rounds has the parts of a round, and how the network may deliver them.
func rounds() []Case {
	const all, devices = "lrsrpagamrvrzajr", "lspgmvzj"
	round, checks := everything()
	half := len(round) / 4 * 2
	reply := block(codec.KindReply, []byte("pr"))
	whatever := func(send string) Step {
		return Step{Do: readRequest(patience), Send: []string{send}, Want: Object{"ok": true}}
	}
	cases := []Case{
		{"all devices", "3.1", append([]Step{connect(), open(all), read(devices, round)}, checks...)},
		{"in two pieces", "1.4", append([]Step{connect(), open(all), read(devices, round[:half], round[half:])}, checks...)},
		{"reply and rounds in one write", "1.4", []Step{
			connect(),
			{Do: ask("pr"), Expect: requestBytes("pr"), Send: []string{reply + positionBlock(1) + positionBlock(2) + positionBlock(3)},
				Want: Object{"ok": true, "granted": "pr"}},
			{Do: readRequest(patience), Want: Object{"ok": true, "new": "p"}, Until: &Until{"p", Object{"x": 3}}},
		}},
		{"a round and half of the next", "1.4", []Step{
			connect(), open("srpr"),
			read("sp", sonarBlock(1)+positionBlock(1)+sonarBlock(2)[:20]), at(1),
			read("sp", sonarBlock(2)[20:]+positionBlock(2)), at(2),
		}},
		{"data before the reply", "2.1 3.4", []Step{
			connect(), open("pr"), read("p", positionBlock(1)),
			{Do: ask("sr"), Expect: requestBytes("sr"),
				Send: []string{positionBlock(2) + block(codec.KindReply, []byte("sr"))}, Want: Object{"ok": true, "granted": "sr"}},
			at(2),
			read("ps", positionBlock(3)+sonarBlock(4)), at(3),
		}},
		{"block of a wrong size before the reply", "2.1 7", []Step{
			connect(), open("pr"),
			{Do: ask("sr"), Expect: requestBytes("sr"),
				Send: []string{positionBlock(1) + block(codec.Position, []byte{1}) + block(codec.KindReply, []byte("sr"))},
				Want: Object{"ok": true, "granted": "sr"}},
			read("ps", positionBlock(3)+sonarBlock(4)), at(3),
		}},
		{"unknown letters", "1.3", []Step{
			connect(), open("srpr"),
			read("sp", block('q', nil)+sonarBlock(1)+block('\xff', make([]byte, 3))+block('\x00', bytes.Repeat([]byte{0x72}, 300))+positionBlock(5)), at(5),
			read("sp", sonarBlock(2)+positionBlock(6)), at(6),
		}},
		{"unknown letter with the largest payload", "1.3", []Step{
			connect(), open("pr"), read("p", block('q', bytes.Repeat([]byte("p\x00\x15r"), codec.MaxBlock/4)), positionBlock(5)), at(5),
		}},
		{"device that was not asked for", "1.3 3.1", []Step{
			connect(), open("pr"), read("p", sonarBlock(1)+positionBlock(7)), at(7),
		}},
		{"device without data in a round", "3.3", []Step{
			connect(), open("srpr"),
			{Do: readRequest(patience), Send: []string{block(codec.Sonar, nil) + positionBlock(1)}, Want: Object{"ok": true}},
			at(1), get("s", 0, nil),
			read("sp", sonarBlock(1)+positionBlock(2)), at(2), get("s", codec.SonarSize, Object{}),
		}},
		{"timeout, then data", "3.4", []Step{
			connect(), open("pr"), fails("timeout"), read("p", positionBlock(8)), at(8),
		}},
		{"timeout in a block", "1.4", []Step{
			connect(), open("srpr"),
			{Send: []string{sonarBlock(1) + positionBlock(9)[:10]}}, fails("timeout"),
			read("sp", positionBlock(9)[10:]), at(9),
		}},
		{"timeout in a header", "1.4", []Step{
			connect(), open("pr"), {Send: []string{positionBlock(9)[:4]}}, fails("timeout"), read("p", positionBlock(9)[4:]), at(9),
		}},
		{"in the order of the request", "3.1", []Step{
			connect(), open("srprmr"), read("spm", sonarBlock(1)+positionBlock(1)+miscBlock),
			read("spm", sonarBlock(2)+positionBlock(2)+miscBlock), at(2),
		}},
		{"devices that are opened one by one", "2.3 3.1", []Step{
			connect(), open("mr"), read("m", miscBlock), open("sr"), read("ms", miscBlock+sonarBlock(1)), open("pr"),
			read("msp", miscBlock+sonarBlock(2)+positionBlock(2)), at(2),
		}},
		{"device for writing in between", "2.3 3.1", []Step{
			connect(), open("srpwmr"), read("sm", sonarBlock(1)+miscBlock), open("pa"),
			read("spm", sonarBlock(2)+positionBlock(2)+miscBlock), at(2),
		}},
		{"failed device in between", "2.6 3.1", []Step{
			connect(), replied("srqrpr", "srqepr"), read("sp", sonarBlock(1)+positionBlock(1)), at(1),
		}},
		{"device that is closed in a round", "2.3 3.1", []Step{
			connect(), open("srprmr"), {Send: []string{sonarBlock(1)}}, open("sc"), read("pm", positionBlock(1)+miscBlock), at(1),
		}},
		{"devices of a later server", "1.3 3.1", []Step{
			connect(), open("Xrqr"), whatever(block('X', []byte{7}) + block('q', nil)),
			whatever(block('X', nil) + block('q', []byte{1, 2})),
		}},
		{"round that starts over", "3.1", []Step{
			connect(), open("srpr"),
			// A second block of one device starts the next round.
			read("sp", sonarBlock(1), sonarBlock(2)+positionBlock(3)), at(3), get("s", codec.SonarSize, Object{}),
		}},
	}
	return cases
}

// freshness has device y.
func freshness() []Case {
	const none, most = codec.NoAge, codec.MaxAge
	return []Case{
		{"ages of a round", "8.1", []Step{
			connect(), open("yrsrpr"), read("sp", server(5000000, 1200, 0)+sonarBlock(1)+positionBlock(1)),
			aged("s", 1200), aged("p", 0), at(1), get("y", 16, Object{"time": 5000000}),
			read("sp", server(5100000, 101200, 99)+sonarBlock(1)+positionBlock(2)), aged("s", 101200), aged("p", 99), at(2),
		}},
		{"y asked for last", "8.1", []Step{
			connect(), open("sryr"), read("s", server(5000000, 7)+sonarBlock(1)), aged("s", 7),
		}},
		{"no data yet", "8.1 3.3", []Step{
			connect(), open("yrsrpr"),
			{Do: readRequest(patience), Send: []string{server(1000000, none, 5) + block(codec.Sonar, nil) + positionBlock(1)}, Want: Object{"ok": true}},
			aged("s", nil), aged("p", 5),
		}},
		{"greatest age", "8.1", []Step{
			connect(), open("yrpr"), read("p", server(1<<53-1, most)+positionBlock(1)), aged("p", most),
		}},
		{"ages without y", "8", []Step{
			connect(), open("pr"), read("p", positionBlock(1)), aged("p", nil),
		}},
		{"only new data", "8.2", []Step{
			connect(), open("yrsrpr"), setFresh(1),
			read("sp", server(5000000, 10, 20)+sonarBlock(1)+positionBlock(1)), aged("s", 10), aged("p", 20),
			read("p", server(5100000, 30)+positionBlock(2)), at(2), aged("p", 30), aged("s", 100010),
			read("s", server(5200000, 40)+sonarBlock(2)), aged("s", 40), aged("p", 100030),
			setFresh(0),
			read("sp", server(5300000, 100040, 200030)+sonarBlock(2)+positionBlock(2)), aged("s", 100040), aged("p", 200030),
		}},
		{"only new data, in request/reply mode", "8.2 3.5", []Step{
			connect(), open("yrsrpr"), setFresh(1),
			config("mode", 1, codec.Server, codec.Config{Code: codec.ConfigMode, Arg: 1}),
			config("data", 0, codec.Server, codec.Config{Code: codec.ConfigData}),
			read("p", server(1000000, 1)+positionBlock(1)), at(1),
			config("data", 0, codec.Server, codec.Config{Code: codec.ConfigData}),
			read("s", server(2000000, 2)+sonarBlock(1)), aged("s", 2), aged("p", 1000001),
		}},
		{"y closed again", "8.1", []Step{
			connect(), open("yrsr"), read("s", server(16, 1)+sonarBlock(1)), aged("s", 1),
			open("yc"), read("s", sonarBlock(2)), aged("s", nil),
		}},
		{"data without its age", "8.1", []Step{
			connect(), open("yrsr"), fails("protocol", sonarBlock(1)), fails("protocol", block(codec.Server, nil)),
			read("s", server(16, 1)+sonarBlock(1)), aged("s", 1),
		}},
		{"y in pieces", "8.1 1.4", []Step{
			connect(), open("yrpr"), {Send: []string{server(1, 2)[:8]}}, fails("timeout"), read("p", server(1, 2)[8:]+positionBlock(1)), aged("p", 2),
		}},
	}
}

// ends has connections that end.
func ends() []Case {
	ended := func(name, end string, send ...string) Case {
		last := fails("closed", send...)
		last.End = end
		return Case{name, "1", []Step{
			connect(), open("srpr"), read("sp", sonarBlock(1)+positionBlock(1)), at(1), last, fails("closed"),
			// Input from before the end is not part of the next connection.
			connect(), open("srpr"), read("sp", sonarBlock(2)+positionBlock(2)), at(2), closing(),
		}}
	}
	return []Case{
		ended("between rounds", endClose),
		ended("in a header", endClose, sonarBlock(3)[:4]),
		ended("in a payload", endClose, sonarBlock(3)[:30]),
		ended("in a round", endClose, sonarBlock(3)),
		ended("reset", endReset),
		ended("reset in a payload", endReset, sonarBlock(3)[:30]),
		{"instead of a reply", "1", []Step{
			connect(),
			{Do: ask("pr"), Expect: requestBytes("pr"), End: endClose, Want: Object{"ok": false, "error": "closed"}},
			connect(), open("pr"), read("p", positionBlock(1)), at(1),
		}},
		{"in a reply", "1", []Step{
			connect(),
			{Do: ask("pr"), Expect: requestBytes("pr"), Send: []string{block(codec.KindReply, []byte("pr"))[:8]}, End: endClose,
				Want: Object{"ok": false, "error": "closed"}},
		}},
		{"by the client", "1", []Step{connect(), open("pr"), closing(), connect(), open("sr"), closing()}},
		{"by the client, which connects again", "1", []Step{
			connect(), open("pr"), read("p", positionBlock(1)+positionBlock(9)[:10]),
			connect(), nothing("p"), open("pr"), read("p", positionBlock(2)), at(2), closing(),
		}},
	}
}

// paces has servers that are faster than the client.
func paces() []Case {
	var blocks []string
	const last = 1000
	for x := 1; x <= last; x++ {
		blocks = append(blocks, positionBlock(x))
	}
	catchUp := Step{Do: readRequest(patience), Want: Object{"ok": true, "new": "p"}, Until: &Until{"p", Object{"x": last}}}
	fast := catchUp
	fast.Send, fast.Hz = blocks, 1000
	var joined string
	for _, b := range blocks {
		joined += b
	}
	return []Case{
		{"1000 Hz", "4.1", []Step{connect(), open("pr"), fast, closing()}},
		{"client that reads late", "3.6", []Step{connect(), open("pr"), {Send: blocks}, catchUp, closing()}},
		{"1000 rounds in one write", "1.4", []Step{connect(), open("pr"), {Send: []string{joined}}, catchUp, closing()}},
	}
}
