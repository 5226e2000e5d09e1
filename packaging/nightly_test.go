package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"player/e2e/must"
)

func TestNightly(t *testing.T) {
	t.Parallel()
	const soak = `{"server": "player 1.2.0~git1.ab12 (commit ab12, protocol 0.7.4a, go1.26)", "time": "1h0m0s", "passed": true, "samples": [` +
		`{"s": 1, "rss_kib": 1}, {"s": 60, "rss_kib": 20480, "anonymous_kib": 8704, "descriptors": 80, "threads": 7, "wakes_per_s": 36, "late_p99_ms": 2}]}`
	const simulation = `{"commit": "ab12", "runs": [{"of": "server", "first": 7, "seeds": 5000, "simulated": "635h1m2s", "passed": true},` +
		`{"of": "bridges of a fleet", "first": 7, "seeds": 50, "simulated": "1h", "passed": true}]}`
	for name, tt := range map[string]struct{ soak, simulation, refused string }{
		"good":                           {soak, simulation, ""},
		"no soak":                        {"", simulation, "soak.json: no such file"},
		"no simulation":                  {soak, "", "simulation.json: no such file"},
		"no JSON":                        {soak[1:], simulation, "soak.json: "},
		"a soak of another commit":       {strings.Replace(soak, "commit ab12", "commit ab12 with changes", 1), simulation, "the soak is of commit ab12 with changes, the release is of ab12"},
		"a soak of an unknown server":    {strings.Replace(soak, "(commit ab12, ", "", 1), simulation, "the soak is of commit unknown"},
		"a simulation of another commit": {soak, strings.Replace(simulation, "ab12", "cd34", 1), "the simulation is of commit cd34, the release is of ab12"},
		"a soak that failed":             {strings.Replace(soak, "true", "false", 1), simulation, "the soak failed"},
		"a soak without samples":         {`{"server": "(commit ab12,", "passed": true}`, simulation, "the soak failed"},
		"no runs":                        {soak, `{"commit": "ab12"}`, "the simulation has no runs"},
		"a fault":                        {soak, strings.Replace(simulation, `"1h", "passed": true`, `"1h", "passed": false`, 1), "the simulation of the bridges of a fleet failed"},
	} {
		folder := t.TempDir()
		for file, text := range map[string]string{"soak.json": tt.soak, "soak.svg": "<svg/>", "simulation.json": tt.simulation} {
			if text != "" {
				must.Do(t, os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644))
			}
		}
		n, err := readNightly(folder, "ab12")
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: %v, want %q", name, err, tt.refused)
			}
			continue
		}
		must.Do(t, err)
		const want = "\n### Tested\n\nCommit ab12, the last one before the number:\n\n" +
			"- 1h0m0s of everything at once on the server (player 1.2.0~git1.ab12): at the end 20.0 MiB of memory, 8.5 of them anonymous, 80 descriptors, 7 threads, 36 wakes a second. " +
			"The picture is player-1.2.0-soak.svg, the samples are in player-1.2.0-soak.json.\n" +
			"- The simulation found no fault: 5000 seeds of the server from 7 on, 635h1m2s of virtual time; 50 seeds of the bridges of a fleet from 7 on, 1h of virtual time (player-1.2.0-simulation.json).\n"
		if got := n.notes("1.2.0"); got != want {
			t.Errorf("the notes are %q, want %q", got, want)
		}
		files := must.Get(n.files("1.2.0"))(t)
		if len(files) != 3 || string(files["player-1.2.0-soak.json"]) != soak || string(files["player-1.2.0-soak.svg"]) != "<svg/>" ||
			string(files["player-1.2.0-simulation.json"]) != simulation {
			t.Errorf("the files are %q", files)
		}
	}
	none := must.Get(nightlyOf("none", "HEAD"))(t)
	if files := must.Get(none.files("1.2.0"))(t); len(files) > 0 || !strings.Contains(none.notes("1.2.0"), "No nightly results") {
		t.Errorf("without results: %q, %q", files, none.notes("1.2.0"))
	}
}
