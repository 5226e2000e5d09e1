package e2e

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"player/e2e/must"
	"player/tools/strips"
)

// report is a soak as it is kept with a release. packaging reads it.
type report struct {
	Server  string   `json:"server"` // its version, with its commit
	Time    string   `json:"time"`
	Passed  bool     `json:"passed"`
	Samples []sample `json:"samples"`
}

// save writes soak.json and soak.svg.
func (r report) save(folder string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(folder, "soak.json"), append(text, '\n'), 0o644),
		os.WriteFile(filepath.Join(folder, "soak.svg"), []byte(r.picture()), 0o644))
}

// picture draws the samples, as SVG.
func (r report) picture() string {
	var all []strips.Strip
	for _, f := range append(figures(),
		figure{name: "anonymous memory, KiB", of: func(p sample) float64 { return p.Anonymous }},
		figure{name: "wakes a second", of: func(p sample) float64 { return p.Wakes }},
	) {
		s := strips.Strip{Name: f.name}
		for _, p := range r.Samples {
			s.Values = append(s.Values, f.of(p))
		}
		all = append(all, s)
	}
	version, _, _ := strings.Cut(r.Server, " (")
	return strips.Draw(all, "0 s", r.Time+" of everything at once: "+version)
}

func TestSoakReport(t *testing.T) {
	t.Parallel()
	r := report{Server: "player 1.2.0 (commit 12ab)", Time: time.Hour.String(), Passed: true}
	for i := range 3 {
		f := float64(i)
		r.Samples = append(r.Samples, sample{60 * f, 12000 + f, 3000 + f, 40 + f, 7 + f, 500 + f, 2})
	}
	folder := t.TempDir()
	must.Do(t, r.save(folder))
	var back report
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(folder, "soak.json")))(t), &back))
	if fmt.Sprint(back) != fmt.Sprint(r) {
		t.Errorf("soak.json has %v, want %v", back, r)
	}
	picture := string(must.Get(os.ReadFile(filepath.Join(folder, "soak.svg")))(t))
	must.Do(t, xml.Unmarshal([]byte(picture), new(struct{})))
	for _, line := range []string{"memory, KiB, mean 12001", "anonymous memory, KiB, mean 3001", "descriptors, mean 41", "threads, mean 8", "wakes a second, mean 501"} {
		if !strings.Contains(picture, ">"+line+"<") {
			t.Errorf("the picture has no line %q:\n%s", line, picture)
		}
	}
	if !strings.Contains(picture, "1h0m0s of everything at once: player 1.2.0</text>") {
		t.Error("the picture does not name the server")
	}
}
