package dashboard

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"player/devices/stage"
	"player/e2e/must"
)

func load(t *testing.T, text string) *stage.World {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.world")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return must.Get(stage.Load(path))(t)
}

func TestEncodePlan(t *testing.T) {
	// One wall of 3 by 1 cells of half a metre, and a border of one cell.
	world := load(t, `resolution 0.5 model ( pose [0.75 0.25 0 0] size [1.5 0.5 1] )`)
	for _, tt := range []struct {
		most int
		want string
	}{
		{100, "bfe0000000000000 bfe0000000000000 3fe0000000000000 00000005 00000003 00 70 00"},
		{8, "bfe0000000000000 bfe0000000000000 3ff0000000000000 00000003 00000002 c0 00"},
		{1, "bfe0000000000000 bfe0000000000000 4004000000000000 00000001 00000001 80"},
	} {
		if got, want := hex.EncodeToString(encodePlan(world.Plan(), tt.most)), strings.ReplaceAll(tt.want, " ", ""); got != want {
			t.Errorf("at most %d cells: %s\nwant %s", tt.most, got, want)
		}
	}
}

func TestScene(t *testing.T) {
	world := must.Get(stage.Load("../../simulation/worlds/room.world"))(t)
	s := newScene(world)
	if len(s.Movers) != 2 || s.Movers[0].Name != "r0" || s.Movers[1].Name != "puck" || len(s.Fixtures) < 8 {
		t.Fatalf("%d fixtures, movers %+v", len(s.Fixtures), s.Movers)
	}
	m := s.Movers[0].Mounts
	if m == nil || m.Laser == nil || m.Camera == nil || len(m.Sonars) != 16 || m.SonarFOV == 0 {
		t.Errorf("mounts %+v", m)
	}
	if s.Movers[1].Mounts != nil {
		t.Error("the puck has mounts")
	}
	for _, p := range s.Movers[0].Parts {
		if len(p.Color) != 7 || p.Top <= 0 || len(p.Outlines) == 0 {
			t.Errorf("part %+v", p)
		}
	}
}
