package web

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecodeOrders(t *testing.T) {
	if o, err := decodeOrder[driveOrder]([]byte(`{"drive":[-300,20]}`)); err != nil || o.Drive == nil || *o.Drive != [2]int{-300, 20} {
		t.Errorf("drive: %+v, %v", o, err)
	}
	if o, err := decodeOrder[driveOrder]([]byte(`{"motors":false}`)); err != nil || o.Motors == nil || *o.Motors {
		t.Errorf("motors: %+v, %v", o, err)
	}
	if o, err := decodeOrder[worldOrder]([]byte(`{"move":{"mover":2,"x":1.5,"y":-2,"heading":0.5}}`)); err != nil || o.Move == nil || o.Move.Mover != 2 || o.Move.X != 1.5 || o.Move.Y != -2 || o.Move.Heading != 0.5 {
		t.Errorf("move: %+v, %v", o, err)
	}
	if o, err := decodeOrder[streamOrder]([]byte(` {"request":"lrsr","rate":20} `)); err != nil || o != (streamOrder{"lrsr", 20}) {
		t.Errorf("stream: %+v, %v", o, err)
	}
	for _, bad := range []string{
		``, `{`, `[]`, `"drive"`, `{"drive":[1,"2"]}`, `{"drive":1}`, `{"drive":[1.5,0]}`, `{"fly":true}`,
		`{"reset":true}{"reset":true}`, `{"reset":true} x`, `{"grip":[256,0]}`, `{"look":[1e99,0,0]}`, strings.Repeat("[", 4000),
	} {
		if o, err := decodeOrder[driveOrder]([]byte(bad)); err == nil {
			t.Errorf("%s is taken as %+v", bad, o)
		}
	}
}

func FuzzDecodeOrder(f *testing.F) {
	for _, seed := range []string{`{"drive":[-300,20]}`, `{"look":[1,2,3]}`, `{"grip":[1,0]}`, `{"motors":true}`, `{"reset":true}`, `{"drive":null}`, `{}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		_, _ = decodeOrder[driveOrder](message)
		_, _ = decodeOrder[worldOrder](message)
		if o, err := decodeOrder[streamOrder](message); err == nil {
			_ = checkPairs(o.Request)
		}
	})
}

func TestCheckPairs(t *testing.T) {
	for pairs, good := range map[string]bool{
		"": true, "lr": true, "lrscvr": true, "Xr": true,
		"l": false, "lrs": false, "lw": false, "la": false, "yr": false, "yc": false, "lrpw": false, "r\xff": false,
	} {
		if err := checkPairs(pairs); (err == nil) != good {
			t.Errorf("%q: %v", pairs, err)
		}
	}
}

func TestReason(t *testing.T) {
	if got := reason(errors.New("no route to host")); got != "no route to host" {
		t.Errorf("short: %q", got)
	}
	for _, text := range []string{strings.Repeat("x", 500), strings.Repeat("ü", 500), strings.Repeat("\xffx", 500)} {
		if got := reason(errors.New(text)); len(got) > reasonLimit || len(got) < reasonLimit-3 || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}

func TestWindow(t *testing.T) {
	var p page
	for p.sent = range uint32(windowSize) {
		if p.full() {
			t.Fatalf("full with %d on their way", p.sent)
		}
	}
	p.sent = windowSize
	if !p.full() {
		t.Error("not full")
	}
	p.acked.Store(1)
	if p.full() {
		t.Error("full after an acknowledgement")
	}
	p.sent = 1
	p.acked.Store(0xffffffff) // the numbers have wrapped
	if p.full() {
		t.Error("full after the numbers wrapped")
	}
}
