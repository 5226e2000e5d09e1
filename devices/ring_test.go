package devices

import (
	"errors"
	"testing"

	"player/codec"
)

// asker is a subscriber that links wait for.
type asker struct {
	person
	path string
}

func (a *asker) Path() string { return a.path }

// A link refuses a subscriber that it waits for, and its driver does not start for it.
func TestRing(t *testing.T) {
	w := newTwoDevices(t)
	id := w.link.Path()
	if len(id) != codec.PathID {
		t.Fatalf("a path of %d bytes", len(id))
	}
	const other = "12345678"
	for _, path := range []string{id, other + id, id + other} {
		if pending, err := w.position.Subscribe(0, &asker{path: path}); pending || !errors.Is(err, ErrRing) {
			t.Errorf("path %q: pending %v, %v", path, pending, err)
		}
	}
	expectState(t, w, Idle)
	for _, path := range []string{"", other, other[:4] + id + other[4:]} {
		a := &asker{path: path}
		if pending, err := w.position.Subscribe(0, a); pending || err != nil || w.link.Path() != path+id {
			t.Errorf("path %q: pending %v, %v, then %q", path, pending, err, w.link.Path())
		}
		w.position.Unsubscribe(0, a)
	}
}

// A virtual device waits for those that it works on.
func TestPathOfRequired(t *testing.T) {
	w := newTower(t)
	const other = "12345678"
	links := w.table.Links()
	wheels, virtual := links[0].Path(), links[2].Path()
	if wheels == virtual {
		t.Fatal("two links have one identifier")
	}
	subscribe(t, w.sonar, 0, &asker{path: other}, false)
	if got, want := links[0].Path(), other+virtual+wheels; got != want {
		t.Errorf("path %q, want %q", got, want)
	}
	w = newTower(t)
	if _, err := w.sonar.Subscribe(0, &asker{path: w.table.Links()[0].Path()}); !errors.Is(err, ErrRing) {
		t.Errorf("a ring behind a virtual device: %v", err)
	}
}
