package conformance

import (
	"encoding/hex"

	"player/codec"
)

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

// replied requests devices, and the server answers with granted. It does not say why
// devices are e.
func replied(pairs, granted string) Step {
	s := Step{
		Do:     ask(pairs),
		Expect: requestBytes(pairs),
		Send:   []string{block(codec.KindReply, []byte(granted))},
		Want:   Object{"ok": true, "granted": granted},
	}
	if !includes(granted, pairs) {
		s.Want = Object{"ok": false, "error": "refused", "granted": granted, "why": Object{}}
	}
	if refused(granted, pairs) {
		s.Then = []Exchange{{Expect: questionBytes, Send: []string{emptyReply}}}
	}
	return s
}

// includes reports whether the granted access includes the requested one (PROTOCOL 2.3).
func includes(granted, asked string) bool {
	for i := 1; i < len(asked); i += 2 {
		if granted[i] != asked[i] && (granted[i] != 'a' || asked[i] != 'r' && asked[i] != 'w') {
			return false
		}
	}
	return true
}

// refused reports whether a device is e that was not asked to be.
func refused(granted, asked string) bool {
	for i := 1; i < len(asked); i += 2 {
		if granted[i] == 'e' && asked[i] != 'e' {
			return true
		}
	}
	return false
}

// explained is replied by a server that says why, in lines of an answer. reasons are
// those that the client must understand, in pairs of a device and its reason.
func explained(pairs, granted string, lines []string, reasons ...string) Step {
	s := replied(pairs, granted)
	s.Then = []Exchange{{Expect: questionBytes, Send: []string{refusals(lines...), emptyReply}}}
	why := Object{}
	for i := 0; i < len(reasons); i += 2 {
		why[reasons[i]] = reasons[i+1]
	}
	s.Want["why"] = why
	return s
}

// The question why devices are refused (PROTOCOL 8.9.1), with the empty request behind
// it, and the reply to that.
var (
	questionBytes = h(codec.AppendRequest(codec.AppendMessage(nil, codec.KindConfig, codec.Server, []byte{codec.ConfigQuestion, codec.QuestionRefusals}), nil))
	emptyReply    = block(codec.KindReply, nil)
)

// refusals returns the answer to that question.
func refusals(lines ...string) string {
	return h(codec.AppendAnswer(nil, codec.QuestionRefusals, lines))
}

// placed asks where the parts of the robot are (PROTOCOL 8.9.3). The server answers in
// lines; without lines it knows no such question. parts are those that the client must
// understand.
func placed(lines []string, parts ...[]any) Step {
	question := codec.AppendMessage(nil, codec.KindConfig, codec.Server, []byte{codec.ConfigQuestion, codec.QuestionGeometry})
	s := Step{
		Do:     Object{"op": "geometry", "timeout_ms": patience},
		Expect: h(codec.AppendRequest(question, nil)),
		Send:   []string{emptyReply},
		Want:   Object{"ok": true, "parts": append([][]any{}, parts...)},
	}
	if lines != nil {
		s.Send = []string{h(codec.AppendAnswer(nil, codec.QuestionGeometry, lines)) + emptyReply}
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

var miscBlock = block(codec.Misc, (&codec.MiscData{Battery: 125}).Append(nil))

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
