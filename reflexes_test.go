package main

import (
	"io"
	"strings"
	"testing"

	"go.uber.org/zap"

	"player/config"
	"player/config/syntax"
)

func buildText(t *testing.T, text string) *config.Server {
	t.Helper()
	file, err := syntax.Parse("test.cfg", func(string) ([]byte, error) { return []byte(text), nil })
	if err != nil {
		t.Fatal(err)
	}
	server, err := config.Build(file, config.Options{Kinds: catalogue(), Port: 6665, Log: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func TestReflexFlag(t *testing.T) {
	o, err := parseOptions([]string{"-reflex", "-stage", "worlds/subsumption-fleet.world"}, io.Discard)
	if err != nil || !o.reflex {
		t.Fatal(o, err)
	}
	for _, reflexes := range []bool{false, true} {
		o.reflex = reflexes
		server, err := build(o, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		if len(server.Robots) != 10 {
			t.Fatalf("%d robots", len(server.Robots))
		}
		for _, robot := range server.Robots {
			if got := robot.Table.Device('p').Link().Name(); (got == "reflex") != reflexes {
				t.Errorf("-reflex=%v: the wheels of port %d are of driver %q", reflexes, robot.Port, got)
			}
		}
		if server.HasMotors() {
			t.Error("a simulated robot has no real motors")
		}
	}
}

func TestReflexesOfARealRobot(t *testing.T) {
	server := buildText(t, `driver ( name "p2os" )`)
	if err := protect(server); err != nil {
		t.Fatal(err)
	}
	if !server.HasMotors() {
		t.Error("behind the reflexes are real motors")
	}
}

func TestNothingToProtect(t *testing.T) {
	for text, want := range map[string]string{
		`driver ( name "testpattern" provides ["laser:0"] )`:            "no position device",
		`driver ( name "testpattern" provides ["position:0" "ptz:0"] )`: "something to see with",
	} {
		if err := protect(buildText(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
