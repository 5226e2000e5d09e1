package stage

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/devices"
)

// newAll makes the drivers of a world as a block of a configuration file does.
func newAll(world string) ([]devices.Instance, []observer.LoggedEntry, error) {
	core, logs := observer.New(zap.WarnLevel)
	made, err := Kind().NewAll(devices.Args{Name: "stage", Log: zap.New(core), Values: map[string]any{"world": world, "seed": FileSeed}})
	return made, logs.All(), err
}

// TestKindProvidesWhatRobotsCarry: the room's robot carries everything.
func TestKindProvidesWhatRobotsCarry(t *testing.T) {
	made, _, err := newAll("../../simulation/worlds/room.world")
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(Kind().Provides, func(s devices.Spec) bool { return s.Index == devices.Hidden })
	want = append(want, devices.Ranger().At(1)) // sonars and laser are rangers as well
	if got := made[0].Provides; !slices.Equal(got, want) {
		t.Errorf("the robot provides %v, the kind %v", got, want)
	}
}

func TestKindPlacesRobots(t *testing.T) {
	made, warnings, err := newAll(write(t, t.TempDir(), "two.world",
		`position ( name "a" pose [1 0 0 0] ) position ( name "b" port 7000 pose [3 0 0 0] wifi ( ) )`))
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != 2 || made[0].Port != 0 || made[1].Port != 7000 {
		t.Errorf("made %+v", made)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0].Message, "wifi") {
		t.Errorf("warnings %v", warnings)
	}
}

// A world with thousands of warnings leaves room in the log for other lines.
func TestManyWarnings(t *testing.T) {
	_, warnings, err := newAll(write(t, t.TempDir(), "odd.world",
		"position ( )\n"+strings.Repeat("model ( size [1 1 1 1] pose [9 9 0 0] )\n", mostWarnings+7)))
	if err != nil {
		t.Fatal(err)
	}
	if last := warnings[len(warnings)-1]; len(warnings) != mostWarnings+1 || last.ContextMap()["warnings"] != int64(7) {
		t.Errorf("%d warnings, the last one %+v", len(warnings), last)
	}
}

func TestKindMistakes(t *testing.T) {
	if _, _, err := newAll("nowhere.world"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	for text, want := range map[string]string{
		"":                      "there is no robot in this world",
		`positon ( name "r0" )`: `did you mean "position"?`,
	} {
		_, _, err := newAll(write(t, t.TempDir(), "a.world", text))
		refused(t, text, err, want)
	}
}
