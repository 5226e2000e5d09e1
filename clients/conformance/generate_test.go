package conformance

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"player/codec"
)

var update = flag.Bool("update", false, "write cases/ and the tables of docs/CLIENTS.md anew")

// groups are the files in cases/, in the order of the table in docs/CLIENTS.md.
var groups = []struct {
	name     string
	title    string // in the table
	generate func() []Case
}{
	{"payloads", "every device's data at the limits of its fields", payloads},
	{"vision", "images, and packets that are none", visions},
	{"messages", "every command and configuration", messages},
	{"access", "requests and replies", accesses},
	{"rounds", "rounds, and how the network delivers them", rounds},
	{"freshness", "ages, and only new data", freshness},
	{"sizes", "blocks of wrong size", sizes},
	{"ends", "connections that end", ends},
	{"pace", "servers faster than the client", paces},
}

// The files in cases/ are what the generators make.
func TestCasesAreUpToDate(t *testing.T) {
	for _, g := range groups {
		want := encode(t, g.generate())
		path := casePath(g.name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (%v): go test ./clients/conformance -run TestCasesAreUpToDate -update", path, err)
		}
	}
}

func casePath(group string) string { return filepath.Join("cases", group+".json") }

// encode writes one step a line: readable, and a short diff.
func encode(t *testing.T, cases []Case) []byte {
	t.Helper()
	var b bytes.Buffer
	object := func(v any) {
		var line bytes.Buffer
		e := json.NewEncoder(&line)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		b.Write(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
	}
	for i, c := range cases {
		b.WriteString([]string{"[\n", ",\n"}[min(i, 1)])
		b.WriteString(` {"name": `)
		object(c.Name)
		b.WriteString(`, "clauses": `)
		object(c.Clauses)
		b.WriteString(`, "steps": [`)
		for i, s := range c.Steps {
			b.WriteString([]string{"\n  ", ",\n  "}[min(i, 1)])
			object(s)
		}
		b.WriteString("\n ]}")
	}
	b.WriteString("\n]\n")
	return b.Bytes()
}

// Requests to the adapter.

const (
	// patience is the timeout in ms of requests that must succeed. Machines may be
	// slow.
	patience = 20000
	// soon is the timeout in ms of requests that must end by it.
	soon = 50
)

func connect() Step {
	return Step{Do: Object{"op": "connect", "timeout_ms": patience}, Want: Object{"ok": true}}
}

func ask(pairs string) Object {
	return Object{"op": "request", "pairs": pairs, "timeout_ms": patience}
}

// open requests devices, and the server grants them.
func open(pairs string) Step { return replied(pairs, pairs) }

// replied requests devices, and the server answers with granted.
func replied(pairs, granted string) Step {
	s := Step{
		Do:     ask(pairs),
		Expect: requestBytes(pairs),
		Send:   []string{block(codec.KindReply, []byte(granted))},
		Want:   Object{"ok": true, "granted": granted},
	}
	if granted != pairs {
		s.Want = Object{"ok": false, "error": "refused", "granted": granted}
	}
	return s
}

// read reads one round, which the server sends meanwhile in the given pieces.
func read(devices string, send ...string) Step {
	return Step{Do: readRequest(patience), Send: send, Want: Object{"ok": true, "new": devices}}
}

func readRequest(timeout int) Object { return Object{"op": "read", "timeout_ms": timeout} }

// fails is a read that ends with an error.
func fails(kind string, send ...string) Step {
	timeout := patience
	if kind == "timeout" {
		timeout = soon
	}
	return Step{Do: readRequest(timeout), Send: send, Want: Object{"ok": false, "error": kind}}
}

// get compares the newest data of a device. Age is checked unless it is nil.
func get(device string, size int, data Object) Step {
	want := Object{"ok": true, "size": size, "data": data}
	if data == nil {
		want["data"] = nil
	}
	return Step{Do: Object{"op": "get", "device": device}, Want: want}
}

// aged compares the age of a device's data in us; nil is an unknown age.
func aged(device string, age any) Step {
	return Step{Do: Object{"op": "get", "device": device}, Want: Object{"ok": true, "age_us": age}}
}

func command(device string, payload []byte, values ...int) Step {
	return Step{
		Do:     Object{"op": "command", "device": device, "values": values},
		Expect: h(codec.AppendMessage(nil, codec.KindCommand, device[0], payload)),
		Want:   Object{"ok": true},
	}
}

func config(name string, value int, letter byte, c codec.Config) Step {
	return Step{
		Do:     Object{"op": "config", "name": name, "value": value},
		Expect: h(codec.AppendMessage(nil, codec.KindConfig, letter, c.Append(nil))),
		Want:   Object{"ok": true},
	}
}

func setFresh(on int) Step {
	return config("fresh", on, codec.Server, codec.Config{Code: codec.ConfigFresh, Arg: uint16(on)})
}

func closing() Step {
	return Step{Do: Object{"op": "close"}, End: endClient, Want: Object{"ok": true}}
}

// Bytes of the server.

func h(b []byte) string { return hex.EncodeToString(b) }

func requestBytes(pairs string) string { return h(codec.AppendRequest(nil, []byte(pairs))) }

func block(letter byte, payload []byte) string { return h(codec.AppendBlock(nil, letter, payload)) }

// position returns a block of position data with x, and the data.
func position(x int) (string, Object) {
	d := codec.PositionData{Time: 1000, X: int32(x), Heading: 90, Speed: 100}
	return block(codec.Position, d.Append(nil)), positionObject(d)
}

func positionBlock(x int) string {
	b, _ := position(x)
	return b
}

func at(x int) Step { return get("p", codec.PositionSize, Object{"x": x}) }

func positionObject(d codec.PositionData) Object {
	return Object{"time": d.Time, "x": d.X, "y": d.Y, "heading": d.Heading, "speed": d.Speed, "turnrate": d.TurnRate, "compass": d.Compass, "stall": d.Stall}
}

// sonar returns a block of sonar data that begin with first, and the data.
func sonar(first uint16) (string, Object) {
	d := codec.SonarData{first}
	for i := 1; i < len(d); i++ {
		d[i] = uint16(1000*i + 7)
	}
	return block(codec.Sonar, d.Append(nil)), Object{"ranges": d}
}

func sonarBlock(first uint16) string {
	b, _ := sonar(first)
	return b
}

func laser(f func(i int) uint16) (string, Object) {
	var d codec.LaserData
	for i := range d {
		d[i] = f(i)
	}
	return block(codec.Laser, d.Append(nil)), Object{"ranges": d}
}

// server returns a block of device y.
func server(time uint64, ages ...uint32) string {
	d := codec.FreshnessData{Time: time, Ages: ages}
	return block(codec.Server, d.Append(nil))
}

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
			Object{"front": d.FrontBumpers, "rear": d.RearBumpers, "battery": d.Battery})
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
	return cases
}

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
	requestReply := []Step{
		connect(), open("pr"), flag("mode", codec.Server, codec.ConfigMode)[0],
	}
	for x := range 3 {
		requestReply = append(requestReply, config("data", 0, codec.Server, codec.Config{Code: codec.ConfigData}), read("p", positionBlock(x)), at(x))
	}
	return []Case{
		session("speed", "5.1", drive...),
		session("camera", "5.1", point...),
		session("gripper", "5.1", grip...),
		session("frequency", "4.1", rates...),
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

// rounds has what makes a round, and how the network may deliver it.
func rounds() []Case {
	const all, devices = "lrsrpagamrvrzajr", "lspgmvzj"
	round, checks := everything()
	half := len(round) / 4 * 2
	reply := block(codec.KindReply, []byte("pr"))
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
		{"y in pieces", "8.1 1.4", []Step{
			connect(), open("yrpr"), {Send: []string{server(1, 2)[:8]}}, fails("timeout"), read("p", server(1, 2)[8:]+positionBlock(1)), aged("p", 2),
		}},
	}
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
				fails("protocol", block(s.letter, bytes.Repeat([]byte{1}, wrong))),
				read(device, block(s.letter, make([]byte, s.size))), get(device, s.size, Object{}),
			}})
		}
	}
	for _, wrong := range []int{4, 7, 9, 11} {
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

// ends has connections that end.
func ends() []Case {
	ended := func(name, end string, send ...string) Case {
		last := fails("closed", send...)
		last.End = end
		return Case{name, "1", []Step{
			connect(), open("srpr"), read("sp", sonarBlock(1)+positionBlock(1)), at(1), last,
			// What came before the end is not part of the next connection.
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
			connect(), open("pr"), read("p", positionBlock(1)+positionBlock(9)[:10]), connect(), open("pr"), read("p", positionBlock(2)), at(2), closing(),
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
