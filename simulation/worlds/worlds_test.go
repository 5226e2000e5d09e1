package worlds_test

import (
	"slices"
	"strings"
	"testing"

	"player/simulation/worlds"
)

func TestNames(t *testing.T) {
	names := worlds.Names()
	if !slices.Contains(names, "room") || !slices.IsSorted(names) {
		t.Errorf("names %q", names)
	}
	for _, name := range names {
		if summary := worlds.Summary(name); !worlds.Exists(name) || strings.HasPrefix(summary, "#") || len(summary) < 10 {
			t.Errorf("%s: summary %q", name, summary)
		}
	}
	if worlds.Exists("nowhere") || worlds.Exists("../worlds/room") || worlds.Summary("nowhere") != "" {
		t.Error("a world that does not exist")
	}
}
