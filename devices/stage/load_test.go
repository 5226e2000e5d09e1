package stage

import "testing"

func TestLoadRoom(t *testing.T) {
	w, err := Load("../../worlds/room.world")
	if err != nil {
		t.Fatal(err)
	}
	for _, warning := range w.Warnings() {
		t.Error(warning)
	}
	r := w.Robots()[0]
	if r.Name != "r0" || r.sonars == nil || len(r.sonars.ring) != 16 || r.laser == nil || r.camera == nil || r.gripper == nil {
		t.Errorf("robot %+v", r)
	}
}
