package liveness

import (
	"testing"
	"time"
)

const s, ms = time.Second, time.Millisecond

// The silence of a client is how long it owes an acknowledgement.
func TestSilence(t *testing.T) {
	for _, tt := range []struct {
		name     string
		facts    Facts
		doubtful bool
		want     time.Duration
	}{
		{"idle", Facts{LastAnswer: 20 * s}, false, 0},
		{"idle, motors", Facts{LastAnswer: 20 * s}, true, 0},
		{"segments under way", Facts{Unacked: 1, LastAnswer: 3 * s}, false, 3 * s},
		{"it does not read", Facts{NotSent: 100, LastAnswer: 30 * s}, false, 0},
		{"it does not read, motors: it is unknown", Facts{NotSent: 100, LastAnswer: 30 * s}, true, 30 * s},
		{"a probe has just left", Facts{Probes: 1, LastAnswer: 5 * s}, true, 0},
		{"the probe before it was not answered", Facts{Probes: 2, LastAnswer: 5 * s}, true, 5 * s},
	} {
		var c Client
		if got := c.Silence(100*s, tt.facts, tt.doubtful); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A probe that is not answered shows silence after answerTime, and an answer ends it.
func TestProbes(t *testing.T) {
	var c Client
	unanswered := Facts{Probes: 1, LastAnswer: 2 * s}
	for _, step := range []struct {
		at    time.Duration
		facts Facts
		want  time.Duration
	}{
		{10 * s, unanswered, 0}, {10*s + answerTime - 1, unanswered, 0}, {10*s + answerTime, unanswered, 2 * s},
		{11 * s, Facts{LastAnswer: 0}, 0}, {12 * s, unanswered, 0}, {12*s + answerTime, unanswered, 2 * s},
	} {
		if got := c.Silence(step.at, step.facts, true); got != step.want {
			t.Errorf("at %v: %v, want %v", step.at, got, step.want)
		}
	}
}

// The kernel is asked only if nothing else shows that a client is there.
func TestWhoIsAsked(t *testing.T) {
	var c Client
	c.Heard(10 * s)
	if c.Quiet(10*s+MoverCheck) || !c.Quiet(10*s+MoverCheck+1) || c.Unconfirmed() {
		t.Error("a client that was just heard")
	}
	c.Sent(11 * s)
	if !c.Unconfirmed() || c.Unheard(15*s) || !c.Unheard(15*s+1) {
		t.Error("a client that has not acknowledged")
	}
	c.Unacknowledged(7)
	if !c.Unconfirmed() {
		t.Error("a part is no confirmation")
	}
	c.Unacknowledged(0)
	if c.Unconfirmed() || c.Unheard(100*s) || c.Quiet(11*s+MoverCheck) {
		t.Error("a client that has acknowledged everything was alive when it was sent")
	}
	c.Heard(12 * s)
	c.Sent(11*s + ms) // as of a frame made before
	c.Unacknowledged(0)
	if c.Quiet(12*s + MoverCheck) {
		t.Error("an acknowledgement makes a client older")
	}
}

// A frame is sent only if the window has room for it, or is empty and smaller.
func TestRoom(t *testing.T) {
	var c Client
	c.SentFrame(s, 800)
	if !c.RoomIsLow() {
		t.Error("the window is not known")
	}
	c.Unacknowledged(800)
	c.UpdateWindow(Facts{Window: 8000})
	if got := c.Room(); got != 7200 {
		t.Errorf("room for %d", got)
	}
	c.SentFrame(2*s, 800)
	if got := c.Room(); got != 6400 || c.RoomIsLow() {
		t.Errorf("room for %d, low %v", got, c.RoomIsLow())
	}
	c.SentFrame(3*s, 1)
	if got := c.Room(); got != 6399 {
		t.Errorf("room for %d", got)
	}
	c.Unacknowledged(8000)
	c.UpdateWindow(Facts{Window: 8000})
	if got := c.Room(); got != 0 {
		t.Errorf("room for %d in a full window", got)
	}
	var tiny Client
	tiny.SentFrame(s, 800)
	tiny.UpdateWindow(Facts{Window: 100})
	if got := tiny.Room(); got != 800 {
		t.Errorf("a frame larger than the window never goes: %d", got)
	}
}
