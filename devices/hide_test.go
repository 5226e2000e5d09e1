package devices

import (
	"testing"

	"player/codec"
)

func TestHide(t *testing.T) {
	w := newTwoDevices(t)
	attach(t, w.table, newScripted("spare", Position().At(1)).desc)
	if got := w.table.Hide(codec.Position); got != w.position || got.Spec().Index != 2 {
		t.Fatalf("covered %+v", got)
	}
	if w.table.Device(codec.Position) != nil || w.table.Find(codec.Position, 2) != w.position || w.table.Device(codec.Sonar) != w.sonar {
		t.Error("clients see it still, or drivers do not, or the sonar is gone")
	}
	if w.table.Hide(codec.Position) != nil || w.table.Hide(codec.Laser) != nil {
		t.Error("there was nothing to cover")
	}
	front := newScripted("front", Position())
	attach(t, w.table, front.desc)
	if got := w.table.Device(codec.Position); got == nil || got.Link().Name() != "front" {
		t.Errorf("clients see %v", got)
	}
}
