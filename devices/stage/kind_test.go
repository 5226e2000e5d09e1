package stage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	if got := made[0].Provides; !slices.Equal(got, Kind().Provides) {
		t.Errorf("the robot provides %v, the kind %v", got, Kind().Provides)
	}
}

func TestKindPlacesRobots(t *testing.T) {
	world := filepath.Join(t.TempDir(), "two.world")
	text := `position ( name "a" pose [1 0 0 0] ) position ( name "b" port 7000 pose [3 0 0 0] wifi ( ) )`
	if err := os.WriteFile(world, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	made, warnings, err := newAll(world)
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

// A world of which little is understood leaves room in the log for the rest.
func TestManyWarnings(t *testing.T) {
	world := filepath.Join(t.TempDir(), "odd.world")
	text := "position ( )\n" + strings.Repeat("model ( size [1 1 1 1] pose [9 9 0 0] )\n", mostWarnings+7)
	if err := os.WriteFile(world, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	_, warnings, err := newAll(world)
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
	empty := filepath.Join(t.TempDir(), "empty.world")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := newAll(empty); err == nil || !strings.Contains(err.Error(), "there is no robot in this world") {
		t.Errorf("a world without robots: %v", err)
	}
	misspelt := filepath.Join(t.TempDir(), "misspelt.world")
	if err := os.WriteFile(misspelt, []byte(`positon ( name "r0" )`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := newAll(misspelt); err == nil || !strings.Contains(err.Error(), `did you mean "position"?`) {
		t.Errorf("a misspelt robot: %v", err)
	}
}
