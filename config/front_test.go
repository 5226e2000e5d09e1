package config

import (
	"strings"
	"testing"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/e2e/must"
	"player/formats/syntax"
)

// frontKinds are the kinds of other tests, and drivers to put in front.
func frontKinds(made *[]*still) []devices.Kind {
	maker := func(a devices.Args) (devices.Driver, error) {
		s := &still{a}
		*made = append(*made, s)
		return s, nil
	}
	inner := devices.Position().At(1)
	position := []devices.Spec{devices.Position()}
	return append(kinds(made),
		devices.Kind{Name: "guard", Provides: position, Requires: []devices.Spec{inner}, Accepts: []devices.Spec{devices.Sonar(), devices.Laser()}, New: maker},
		devices.Kind{Name: "watch", Provides: []devices.Spec{devices.Goto()}, Requires: position, Accepts: []devices.Spec{devices.Laser()}, Several: true, New: maker},
		devices.Kind{Name: "lease", Provides: position, Requires: []devices.Spec{inner}, New: maker, Options: []devices.Option{
			{Name: "timeout", Default: 500, Min: 10, Max: 1000, Unit: "ms"}}},
		devices.Kind{Name: "camera", Provides: []devices.Spec{{Letter: codec.Position, Name: "position", DataSize: codec.PositionSize}}, New: maker},
		devices.Kind{Name: "toy", Provides: position, Simulated: true, New: maker},
	)
}

func buildFronts(t *testing.T, text string, fronts ...string) (*Server, []*still, error) {
	t.Helper()
	file := must.Get(syntax.Parse("dir/robot.cfg", func(string) ([]byte, error) { return []byte(text), nil }))(t)
	var made []*still
	server, err := Build(file, Options{Kinds: frontKinds(&made), Port: 6665, Fronts: fronts, Log: zap.NewNop()})
	return server, made, err
}

func TestFront(t *testing.T) {
	guard, lease := "guard", "lease"
	server, made, err := buildFronts(t, `driver ( name "wheels" ) driver ( name "eye" model "x" ) driver ( name "wheels" provides ["7000:position:0"] )`, guard, lease)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	must.Do(t, server.WriteTable(&b))
	got := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		// The last front is next to the clients, the first next to the robot.
		"robot on port 6665 - position:1 wheels dir/robot.cfg:1 s sonar:0 wheels dir/robot.cfg:1 l laser:0 eye dir/robot.cfg:1 " +
			"- position:2 guard (from -guard):1 p position:0 lease (from -lease):1",
		"driver lease timeout 500 ms",
		"robot on port 7000 - position:1 wheels dir/robot.cfg:1 - position:2 guard (from -guard):1 p position:0 lease (from -lease):1",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing  %s\nin  %s", want, got)
		}
	}
	table := server.Robots[0].Table
	guarded := made[3].args.Requires
	if len(guarded) != 3 || guarded[0] != table.Find(codec.Position, 1) || guarded[1] != table.Device(codec.Sonar) || guarded[2] != table.Device(codec.Laser) {
		t.Errorf("the guard requires %v", guarded)
	}
}

// A driver that takes several devices gets those by a flag whose place on the robot is known.
func TestFrontOfSeveral(t *testing.T) {
	_, made, err := buildFronts(t, `driver ( name "wheels" ) driver ( name "eye" model "x" )
driver ( name "eye" model "x" provides ["laser:1"] pose [-0.2 0 180] ) driver ( name "eye" model "x" provides ["laser:3"] )
driver ( name "eye" model "x" provides ["laser:4"] pose [0 0 90] )`, "watch", "guard")
	if err != nil {
		t.Fatal(err)
	}
	names := func(s *still) (names string) {
		for _, d := range s.args.Requires {
			names += d.Spec().Address() + " "
		}
		return names
	}
	n := len(made)
	if got := names(made[n-2]); got != "position:1 laser:0 laser:1 laser:4 " {
		t.Errorf("the watch requires %s", got)
	}
	if got := names(made[n-1]); !strings.HasSuffix(got, " sonar:0 laser:0 ") {
		t.Errorf("the guard requires %s", got)
	}
}

// A position that cannot move, for example an overhead camera's, has nothing in front.
func TestNothingInFrontOfWhatCannotMove(t *testing.T) {
	_, made, err := buildFronts(t, `driver ( name "wheels" ) driver ( name "camera" provides ["7000:position:0"] )`, "guard")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, driver := range made {
		names = append(names, driver.args.Name)
	}
	if got := strings.Join(names, " "); got != "wheels camera guard" {
		t.Errorf("the drivers are %s", got)
	}
}

func TestFrontMistakes(t *testing.T) {
	for _, tt := range []struct{ name, text, front, want string }{
		{"nothing to stand in for", `driver ( name "wheels" ) driver ( name "eye" model "x" provides ["7000:laser:0"] )`, "guard",
			"-guard: the robot on port 7000 has no position device"},
		{"a driver", `driver ( name "wheels" )`, "leash", `-leash: unknown driver "leash"; did you mean "lease"?`},
		{"a device that is there", `driver ( name "wheels" )`, "toy", "-toy: the robot on port 6665 cannot have toy: position:0 is provided twice: wheels also provides it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := buildFronts(t, tt.text, tt.front); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
		})
	}
}

// A driver that works on simulated motors moves nothing real, by a flag or in a
// file.
func TestHasMotors(t *testing.T) {
	const guarded = ` provides ["position:1"] ) driver ( name "guard" provides ["position:0"] requires ["position:1"] )`
	for _, tt := range []struct {
		text   string
		fronts []string
		want   bool
	}{
		{`driver ( name "wheels" )`, nil, true},
		{`driver ( name "toy" )`, nil, false},
		{`driver ( name "eye" model "x" )`, nil, false},
		{`driver ( name "wheels" )`, []string{"guard"}, true},
		{`driver ( name "toy" )`, []string{"guard"}, false},
		{`driver ( name "wheels"` + guarded, nil, true},
		{`driver ( name "toy"` + guarded, nil, false},
	} {
		server, _, err := buildFronts(t, tt.text, tt.fronts...)
		if err != nil {
			t.Fatal(err)
		}
		if got := server.HasMotors(); got != tt.want {
			t.Errorf("%s with %v in front: motors %v, want %v", tt.text, tt.fronts, got, tt.want)
		}
	}
}
