package drive

import (
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"player/client"
	"player/codec"
)

func TestWheels(t *testing.T) {
	begin := time.Now()
	w := wheels{speed: 200, turn: 30}
	at := func(after time.Duration, want motion) {
		t.Helper()
		if got := w.motion(begin.Add(after)); got != want {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
	at(0, motion{})
	w.press(forwardKey, begin)
	at(0, motion{200, 0})
	at(repeatLimit-1, motion{200, 0})
	at(repeatLimit, motion{})
	w.press(rightKey, begin.Add(300*time.Millisecond)) // a curve, while both keys count
	at(400*time.Millisecond, motion{200, -30})
	at(repeatLimit, motion{0, -30})
	w.press(leftKey, begin.Add(repeatLimit))
	w.press(backwardKey, begin.Add(repeatLimit))
	at(repeatLimit, motion{-200, 30})
	w.press(fasterKey, begin)
	at(repeatLimit, motion{-241, 37})
	w.press(slowerKey, begin)
	at(repeatLimit, motion{-192, 29})
	w.press(stopKey, begin.Add(repeatLimit))
	at(repeatLimit, motion{})
	for range 100 {
		w.press(fasterKey, begin)
	}
	if w.speed != maxSpeed || w.turn != maxTurn {
		t.Error(w)
	}
	for range 100 {
		w.press(slowerKey, begin)
	}
	if w.speed != 1 || w.turn != 1 {
		t.Error(w)
	}
}

func TestKeys(t *testing.T) {
	all := "wasd\x1b[A\x1bOB\x1b[1;5C\x1b[D+-= x\x1b[5~\x03\x04\x1cq\x1bq"
	want := []key{forwardKey, leftKey, backwardKey, rightKey, forwardKey, backwardKey, rightKey, leftKey, fasterKey, slowerKey, fasterKey,
		stopKey, stopKey, stopKey, quitKey, quitKey, quitKey, quitKey, quitKey}
	if got := slices.Collect(each(readKeys(strings.NewReader(all)))); !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	// The first piece of a sequence stops the robot, then the whole sequence counts as its key.
	if got := slices.Collect(each(readKeys(iotest.OneByteReader(strings.NewReader("w\x1b[A"))))); !slices.Equal(got, []key{forwardKey, stopKey, forwardKey}) {
		t.Error(got)
	}
	if got := slices.Collect(each(readKeys(strings.NewReader("\x1b")))); !slices.Equal(got, []key{stopKey}) {
		t.Error(got)
	}
}

func each(keys <-chan key) func(func(key) bool) {
	return func(yield func(key) bool) {
		for k := range keys {
			if !yield(k) {
				return
			}
		}
	}
}

// A terminal that accepts nothing delays nothing.
func TestScreenHangs(t *testing.T) {
	hangs := make(chan struct{})
	t.Cleanup(func() { close(hangs) })
	s := newScreen(writer(func(b []byte) (int, error) { <-hangs; return len(b), nil }))
	for range 10 {
		s.show("line")
	}
	s.end()
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// A line is cut to the width of the terminal.
func TestLine(t *testing.T) {
	d := &driver{client: client.New(nil), width: func() int { return 200 }}
	now := time.Now()
	d.dataAt = now
	if got, want := d.line(now), "NO DATA | 0 mm/s 0 deg/s | x 0.00 y 0.00 m 0 deg"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d.width = func() int { return 8 }
	if got := d.line(now); got != "NO DATA" {
		t.Errorf("%q", got)
	}
}

// Keys from before a pause of the program do not drive. A stop is taken at any time.
func TestPausedWheels(t *testing.T) {
	start := time.Unix(0, 0)
	w := wheels{speed: 100, turn: 30}
	w.roundBegins(start)
	w.press(forwardKey, start)
	w.roundBegins(start.Add(pauseLimit)) // no pause
	if m := w.motion(start.Add(pauseLimit)); m.speed != 100 {
		t.Errorf("without a pause: %+v", m)
	}
	resumed := start.Add(2*pauseLimit + time.Millisecond)
	w.roundBegins(resumed)
	if m := w.motion(resumed); m != (motion{}) {
		t.Errorf("after a pause: %+v", m)
	}
	w.press(leftKey, resumed)
	if m := w.motion(resumed); m != (motion{}) {
		t.Errorf("a key from before the pause: %+v", m)
	}
	later := resumed.Add(deafTime)
	w.press(forwardKey, later)
	if m := w.motion(later); m.speed != 100 {
		t.Errorf("a new key: %+v", m)
	}
}

func TestParseGoal(t *testing.T) {
	if goal, err := parseGoal("4.5, -1.2"); err != nil || goal != (codec.GotoCommand{X: 4500, Y: -1200}) {
		t.Errorf("%+v, %v", goal, err)
	}
	for _, wrong := range []string{"4.5", "4.5,", "a,b", "NaN,1", "1,1e9", "1,2,3"} {
		if goal, err := parseGoal(wrong); err == nil {
			t.Errorf("%s: %+v", wrong, goal)
		}
	}
}

func TestProgress(t *testing.T) {
	for distance, want := range map[uint32]string{codec.UnknownAmount: "driving", 1260: "driving, 1.3 m left"} {
		if got := progress(&codec.GotoData{State: codec.GotoDriving, Distance: distance}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
