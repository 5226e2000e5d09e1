package stage

import "testing"

// Bodies refer to the parts of those that have equal ones, and of no others.
func TestIntern(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer_full ( ) pioneer_full ( pose [2 0 0 0] ) pioneer_full ( pose [4 0 0 0] color "blue" ) pioneer2dx ( pose [6 0 0 0] )
		puck ( pose [0 2 0 0] ) puck ( pose [0 3 0 0] ) puck ( pose [0 4 0 0] size [0.2 0.1 0.3] )`)
	for _, tt := range []struct {
		name string
		a, b int
		want bool
	}{
		{"robots of one kind", 0, 1, true},
		{"of another colour", 0, 2, false},
		{"with other devices", 0, 3, false},
		{"pucks", 4, 5, true},
		{"of another size", 4, 6, false},
	} {
		a, b := w.bodies[tt.a], w.bodies[tt.b]
		if got := &a.parts[0] == &b.parts[0]; got != tt.want {
			t.Errorf("%s: the parts are the same: %v", tt.name, got)
		}
		if a.robot != nil && (a.robot.sonars == b.robot.sonars) != tt.want {
			t.Errorf("%s: the sonars are the same: %v", tt.name, !tt.want)
		}
	}
}
