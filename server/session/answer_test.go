package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/codec"
	"player/config/rights"
	"player/devices"
)

func question(letter byte) []byte { return config(codec.ConfigQuestion, letter) }

// answer asks a question and takes the output, which must be one answer to it.
func (p *peer) answer(to byte) []string {
	p.t.Helper()
	p.send(question(to))
	letter, payload, rest, ok := codec.Block(p.Output())
	if !ok || letter != codec.KindAnswer || len(rest) > 0 || !p.changed {
		p.t.Fatalf("not one answer: %q", p.Output())
	}
	p.changed = false
	p.Flushed()
	asked, lines := codec.Answer(payload)
	if asked != to {
		p.t.Errorf("an answer to %q, asked was %q", asked, to)
	}
	return lines
}

func (p *peer) expectAnswer(to byte, want ...string) {
	p.t.Helper()
	if got := p.answer(to); !slices.Equal(got, want) {
		p.t.Errorf("answer to %q:\n%q, want\n%q", to, got, want)
	}
}

const (
	mayRead    = "right the robot's access rules give this client: read"
	mayNothing = "right the robot's access rules give this client: "
	noDevice   = "missing the robot has no such device"
	notOpen    = "closed it was not open, or the access is unknown"
)

// 8.9: a client gets the reason for each e in the last reply.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name         string
		rights       rights.Set
		pairs, reply string
		want         []string
	}{
		{"nothing refused", rights.All, "prsr", "prsr", nil},
		{"no such device", rights.All, "srjrqr", "srjeqe", []string{"j " + noDevice, "q " + noDevice}},
		{"each device once", rights.All, "jrjw", "jeje", []string{"j " + noDevice}},
		{"hardware", rights.All, "lrpr", "lepr", []string{"l hardware broken"}},
		{"no right", rights.Read, "prsw", "prse", []string{"s " + mayRead}},
		{"not open", rights.All, "pcyc", "peye", []string{"p " + notOpen, "y " + notOpen}},
		{"a stranger", rights.None, "prjrlr", "pejele", []string{"p " + mayNothing + "nothing", "j " + mayNothing + "nothing", "l " + mayNothing + "nothing"}},
		{"configuration only", rights.Config, "pr", "pe", []string{"p " + mayNothing + "config"}},
		{"letters that are not printable", rights.All, "\nr r\xffr", "\ne e\xffe", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, p := connectTo(t, 'l', broken)
			p.Restrict(tt.rights)
			p.request(tt.pairs, tt.reply)
			p.expectAnswer('e', tt.want...)
			p.expectAnswer('e') // once
			p.request(tt.pairs, tt.reply)
			p.request("", "")
			p.expectAnswer('e') // it is about the last reply
		})
	}
}

// A question behind a request is answered behind its reply (2.7).
func TestQuestionWaitsForSetup(t *testing.T) {
	r, p := connectTo(t, 'l', slowBroken)
	p.send(request("lr"), question('e'), request(""))
	p.expectReplies()
	r.of('l').end(r.now)
	want := slices.Concat([]byte("r\x00\x02le"), codec.AppendAnswer(nil, 'e', []string{"l hardware broken"}), []byte("r\x00\x00"))
	if got := p.Output(); string(got) != string(want) {
		t.Errorf("output %q, want %q", got, want)
	}
}

func TestReasonOf(t *testing.T) {
	laser := newRobot(t).table.Device('l')
	for _, tt := range []struct {
		err  error
		want codec.Why
	}{
		{errBroken, codec.WhyHardware},
		{fmt.Errorf("port: %w: process 12 (cat) has it open", syscall.EBUSY), codec.WhyUsed},
		{fmt.Errorf("it works on laser: %w", devices.ErrSwitchedOff), codec.WhyOff},
		{devices.ErrRing, codec.WhyRing},
	} {
		if got := reasonOf(laser, tt.err); got != (codec.Reason{Device: 'l', Why: tt.want, Text: tt.err.Error()}) {
			t.Errorf("%v: %+v", tt.err, got)
		}
	}
}

// 8.9: a client gets the reasons why its commands have no effect or its data does not come.
func TestObstacles(t *testing.T) {
	r, p := newDrivers(t, &Control{First: true})
	p[0].expectAnswer('s')

	p[0].send(config([]byte("wAnna")...), ahead)
	p[0].expectAnswer('s')
	p[1].expectAnswer('s', "control 10.0.0.9:1234 Anna")
	p[1].Restrict(rights.All | rights.Take)
	p[1].expectAnswer('s')
	p[1].Restrict(rights.All)
	r.now += controlTime
	p[1].expectAnswer('s')

	p[0].send(config('e', 1))
	p[1].expectAnswer('s', "stopped the emergency stop holds")
	p[0].send(config('e', 0))

	r.of('l').mood = broken
	p[0].request("lrzr", "lezr")
	p[1].expectAnswer('s', "l hardware broken")
	r.now += time.Minute
	r.publish('p')
	p[1].expectAnswer('s', "l hardware broken", "z silent it is open, and sends nothing")

	p[1].Restrict(rights.None)
	p[1].expectAnswer('s', mayNothing+"nothing")
}

// An unknown question has no answer, as with a server that knows none.
func TestUnknownQuestion(t *testing.T) {
	_, p := connect(t)
	p.send(question('k'), config(codec.ConfigQuestion), config(codec.ConfigQuestion, 'e', 'e'), request(""))
	p.expectReplies("")
}

// An answer is bounded, whatever is asked.
func TestAnswerIsBounded(t *testing.T) {
	_, p := connect(t)
	var pairs []byte
	for letter := range 256 {
		pairs = append(pairs, byte(letter), 'w')
	}
	p.Restrict(rights.Read)
	p.send(request(string(pairs)))
	p.Flushed()
	if p.send(question('e')); len(p.Output()) > codec.BlockHeaderSize+codec.MaxAnswer {
		t.Errorf("an answer of %d bytes", len(p.Output()))
	}
	if lines := strings.Count(string(p.Output()), "\n"); lines < 40 {
		t.Errorf("only %d lines", lines)
	}
	if !errors.Is(p.slots.of(p.table.Device('p')).why, errRight) {
		t.Error("the reason is forgotten")
	}
}

// 8.9.3: the places of the robot's parts. Strangers get no answer.
func TestGeometryAnswer(t *testing.T) {
	r, p := connect(t)
	p.expectAnswer('g')
	r.table.Device('l').Link().SetGeometry(devices.Geometry{X: 80, Heading: 90})
	p.expectAnswer('g', "l 0 80 0 90 0 0 0 0")
	p.Restrict(rights.None)
	p.expectAnswer('g')
}

// 8.9.4: the state of the charger. Clients with no right, or only the right to configure, get no answer.
func TestChargeAnswer(t *testing.T) {
	r, p := open(t, "mr")
	p.expectAnswer('c')
	r.of('m').charge = "float"
	p.expectAnswer('c', "m float")
	for _, stranger := range []rights.Set{rights.None, rights.Config} {
		p.Restrict(stranger)
		p.expectAnswer('c')
	}
	for _, known := range []rights.Set{rights.Read, rights.Write} {
		p.Restrict(known)
		p.expectAnswer('c', "m float")
	}
}
