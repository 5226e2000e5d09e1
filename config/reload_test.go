package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"

	"player/devices"
	"player/e2e/must"
	"player/formats/syntax"
)

// mapped is a driver that is made from a file.
type mapped struct {
	still
	source string
}

func (m *mapped) Source() string { return m.source }

// load builds a server; world is the content of the files of the driver mapped.
func load(t *testing.T, text, world string, fronts ...string) (*Server, *[]*still) {
	t.Helper()
	file := must.Get(syntax.Parse("dir/robot.cfg", func(string) ([]byte, error) { return []byte(text), nil }))(t)
	made := &[]*still{}
	kinds := append(frontKinds(made), devices.Kind{
		Name: "mapped", Provides: []devices.Spec{devices.Position()},
		NewAll: func(a devices.Args) ([]devices.Instance, error) {
			var all []devices.Instance
			for i := range 2 {
				all = append(all, devices.Instance{Driver: &mapped{still{a}, world}, Name: fmt.Sprint("mapped ", i)})
			}
			return all, nil
		},
	})
	server := must.Get(Build(file, Options{Kinds: kinds, Port: 6665, Fronts: fronts, Log: zap.NewNop()}))(t)
	return server, made
}

func TestReload(t *testing.T) {
	const wheels, eye = `driver ( name "wheels" )`, ` driver ( name "eye" model "x" )`
	for _, tt := range []struct {
		name, old, next string
		want            string // of the plan
	}{
		{"nothing", wheels + eye, wheels + eye, "keeps 6665 wheels, 6665 eye"},
		{"only the text", wheels + eye, "# a comment\n\n" + wheels + "\n" + eye, "keeps 6665 wheels, 6665 eye"},
		{"the order", wheels + eye, eye + wheels, "keeps 6665 eye, 6665 wheels"},
		{"an option to its default", wheels, `driver ( name "wheels" speed 500 )`, "keeps 6665 wheels"},
		{"the pose", eye, ` driver ( name "eye" model "x" pose [1 0 0] )`, "stops 6665 eye; starts 6665 eye"},
		{"alwayson", eye, ` driver ( name "eye" model "x" alwayson 1 )`, "stops 6665 eye; starts 6665 eye"},
		{"what it provides", wheels, `driver ( name "wheels" provides ["sonar:0"] )`, "stops 6665 wheels; starts 6665 wheels"},
		{"who drives", wheels, `driver ( name "wheels" control "first" )`, "keeps 6665 wheels"},
		{"another driver of the same devices", wheels, `driver ( name "any" provides ["position:0" "sonar:0"] )`, "stops 6665 wheels; starts 6665 any"},
		{"a new driver", wheels, wheels + eye, "keeps 6665 wheels; starts 6665 eye"},
		{"a driver is gone", wheels + eye, wheels, "keeps 6665 wheels; stops 6665 eye"},
		{"a new robot", wheels, wheels + ` driver ( name "wheels" provides ["7000:position:0"] )`, "opens 7000; keeps 6665 wheels; starts 7000 wheels"},
		{"a robot is gone", wheels + ` driver ( name "wheels" provides ["7000:position:0"] )`, wheels, "closes 7000; keeps 6665 wheels; stops 7000 wheels"},
		{"another port", `driver ( name "wheels" provides ["7000:position:0"] )`, `driver ( name "wheels" provides ["7001:position:0"] )`,
			"opens 7001; closes 7000; stops 7000 wheels; starts 7001 wheels"},
		{"a driver on one that changes", wheels + eye + ` driver ( name "scribe" requires ["laser:0"] )`,
			wheels + ` driver ( name "eye" model "y" ) driver ( name "scribe" requires ["laser:0"] )`,
			"keeps 6665 wheels; stops 6665 eye, 6665 scribe; starts 6665 eye, 6665 scribe"},
		{"a driver on one of another robot that changes", `driver ( name "eye" model "x" provides ["7000:laser:0"] ) driver ( name "ring" provides ["sonar:0"] requires ["7000:laser:0"] )`,
			`driver ( name "eye" model "y" provides ["7000:laser:0"] ) driver ( name "ring" provides ["sonar:0"] requires ["7000:laser:0"] )`,
			"stops 7000 eye, 6665 ring; starts 7000 eye, 6665 ring"},
		{"a driver on one that stays", eye + ` driver ( name "ring" )`, eye + ` driver ( name "ring" ) driver ( name "scribe" requires ["laser:0" "sonar:0"] )`,
			"keeps 6665 eye, 6665 ring; starts 6665 scribe"},
		{"what a driver works on", eye + ` driver ( name "eye" model "z" provides ["laser:1"] ) driver ( name "ring" )`,
			eye + ` driver ( name "eye" model "z" provides ["laser:1"] ) driver ( name "ring" requires ["laser:1"] )`,
			"keeps 6665 eye, 6665 eye; stops 6665 ring; starts 6665 ring"},
		{"one robot of a block", `driver ( name "swarm" )`, `driver ( name "swarm" ) driver ( name "eye" model "x" provides ["6666:laser:0"] )`,
			"keeps 6665 swarm 0, 6666 swarm 1, 7000 swarm 2; starts 6666 eye"},
		{"the same twice", wheels + ` driver ( name "scribe" requires ["sonar:0"] ) driver ( name "scribe" requires ["sonar:0"] )`,
			wheels + ` driver ( name "scribe" requires ["sonar:0"] )`,
			"keeps 6665 wheels, 6665 scribe; stops 6665 scribe"},
	} {
		old, _ := load(t, tt.old, "")
		next, _ := load(t, tt.next, "")
		plan, err := Reload(old, next)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := plan.String(); got != tt.want {
			t.Errorf("%s: %s\nwant: %s", tt.name, got, tt.want)
		}
		// A kept driver is the old one, on its old table; a started driver is a new one.
		for _, robot := range plan.Server.Robots {
			before := old.robot(robot.Port)
			if before != nil && robot.Table != before.Table {
				t.Errorf("%s: robot %d has a new table", tt.name, robot.Port)
			}
			for _, d := range robot.Drivers {
				known := before != nil && slices.ContainsFunc(before.Drivers, func(o Driver) bool { return o.Link == d.Link && o.Driver == d.Driver })
				name := fmt.Sprintf("%d %s", robot.Port, d.Link.Name())
				if known && !slices.Contains(plan.steps[keeps], name) || !known && !slices.Contains(plan.steps[starts], name) {
					t.Errorf("%s: driver %s is the old one: %v", tt.name, name, known)
				}
			}
		}
	}
}

// nothing reports whether a plan changes nothing.
func nothing(p *Plan) bool {
	p.steps[keeps] = nil
	return p.String() == ""
}

// A driver that starts works on the devices that clients have open, not on the new file's.
func TestReloadRequires(t *testing.T) {
	old, _ := load(t, `driver ( name "eye" model "x" )`, "")
	next, made := load(t, `driver ( name "eye" model "x" ) driver ( name "ring" )`, "")
	plan := must.Get(Reload(old, next))(t)
	ring := plan.Server.Robots[0].Drivers[1]
	if ring.Driver != devices.Driver((*made)[len(*made)-1]) {
		t.Fatal("the driver is not the newest")
	}
	if got := ring.Driver.(*still).args.Requires[0]; got != old.Robots[0].Drivers[0].Link.Devices()[0] {
		t.Error("it requires a device that nobody has open")
	}
	// The plan is the next reload's old server.
	again, _ := load(t, `driver ( name "eye" model "x" ) driver ( name "ring" )`, "")
	if plan, err := Reload(plan.Server, again); err != nil || !nothing(plan) {
		t.Errorf("read again: %s, %v", plan.String(), err)
	}
}

// Flags put drivers in front of all robots: they stay, and move when the devices change.
func TestReloadFronts(t *testing.T) {
	guard, lease := "guard", "lease"
	const text = `driver ( name "wheels" ) driver ( name "wheels" provides ["7000:position:0"] )`
	old, _ := load(t, text, "", guard, lease)
	same, _ := load(t, text, "", guard, lease)
	if plan, err := Reload(old, same); err != nil || !nothing(plan) {
		t.Errorf("nothing has changed: %s, %v", plan.String(), err)
	}
	next, _ := load(t, strings.Replace(text, `[`, `["7000:sonar:0" `, 1), "", guard, lease)
	plan, err := Reload(old, next)
	want := "keeps 6665 wheels, 6665 guard, 6665 lease; stops 7000 wheels, 7000 guard, 7000 lease; starts 7000 wheels, 7000 guard, 7000 lease"
	if err != nil || plan.String() != want {
		t.Errorf("%s, %v\nwant: %s", plan.String(), err, want)
	}
}

// A world that has changed restarts with all its robots.
func TestReloadFiles(t *testing.T) {
	const text = `driver ( name "mapped" ) driver ( name "eye" model "x" )`
	old, _ := load(t, text, "one")
	same, _ := load(t, text, "one")
	if plan, err := Reload(old, same); err != nil || !nothing(plan) {
		t.Errorf("nothing has changed: %s, %v", plan.String(), err)
	}
	next, _ := load(t, text, "two")
	plan, err := Reload(old, next)
	want := "keeps 6665 eye; stops 6665 mapped 0, 6666 mapped 1; starts 6665 mapped 0, 6666 mapped 1"
	if err != nil || plan.String() != want {
		t.Errorf("%s, %v\nwant: %s", plan.String(), err, want)
	}
	// A change of one of its robots restarts the others as well: they have one world.
	lease := "lease"
	old, _ = load(t, text, "one", lease)
	next, _ = load(t, text+` driver ( name "any" provides ["6666:position:1"] )`, "one", lease) // -lease moves position:0 elsewhere
	plan, err = Reload(old, next)
	want = "keeps 6665 eye; stops 6665 mapped 0, 6666 mapped 1, 6665 lease, 6666 lease; starts 6665 mapped 0, 6666 mapped 1, 6666 any, 6665 lease, 6666 lease"
	if err != nil || plan.String() != want {
		t.Errorf("%s, %v\nwant: %s", plan.String(), err, want)
	}
}

// A robot whose port could not be opened is opened by a later reload.
func TestReloadAfterRemove(t *testing.T) {
	const one, two = `driver ( name "wheels" )`, `driver ( name "wheels" ) driver ( name "wheels" provides ["7000:position:0"] )`
	old, _ := load(t, one, "")
	next, _ := load(t, two, "")
	plan, err := Reload(old, next)
	if err != nil {
		t.Fatal(err)
	}
	plan.Server.Remove(7000)
	again, _ := load(t, two, "")
	plan, err = Reload(plan.Server, again)
	if err != nil || plan.String() != "opens 7000; keeps 6665 wheels, 7000 wheels" {
		t.Errorf("%s, %v", plan.String(), err)
	}
}
