package conformance

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"player/e2e/must"
)

var update = flag.Bool("update", false, "write cases/ and the tables of docs/CLIENTS.md anew")

// groups are the files in cases/, in the order of the table in docs/CLIENTS.md.
var groups = []struct {
	name     string
	title    string // in the table
	generate func() []Case
}{
	{"payloads", "every device's data at the limits of its fields", payloads},
	{"vision", "images, and packets that are none", visions},
	{"named", "devices without letters, by their names", named},
	{"messages", "every command and configuration", messages},
	{"access", "requests and replies", accesses},
	{"rounds", "rounds, and how the network delivers them", rounds},
	{"freshness", "ages, and only new data", freshness},
	{"sizes", "blocks of wrong size", sizes},
	{"ends", "connections that end", ends},
	{"reconnect", "clients that connect again", reconnects},
	{"pace", "servers faster than the client", paces},
}

// The files in cases/ equal the generators' output.
func TestCasesAreUpToDate(t *testing.T) {
	for _, g := range groups {
		want := encode(t, g.generate())
		path := casePath(g.name)
		if *update {
			must.Do(t, os.WriteFile(path, want, 0o644))
			continue
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (%v): go test ./clients/conformance -run TestCasesAreUpToDate -update", path, err)
		}
	}
}

func casePath(group string) string { return filepath.Join("cases", group+".json") }

// encode writes one step a line: readable, and a short diff.
func encode(t *testing.T, cases []Case) []byte {
	t.Helper()
	var b bytes.Buffer
	object := func(v any) {
		var line bytes.Buffer
		e := json.NewEncoder(&line)
		e.SetEscapeHTML(false)
		must.Do(t, e.Encode(v))
		b.Write(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
	}
	for i, c := range cases {
		b.WriteString([]string{"[\n", ",\n"}[min(i, 1)])
		b.WriteString(` {"name": `)
		object(c.Name)
		b.WriteString(`, "clauses": `)
		object(c.Clauses)
		b.WriteString(`, "steps": [`)
		for i, s := range c.Steps {
			b.WriteString([]string{"\n  ", ",\n  "}[min(i, 1)])
			object(s)
		}
		b.WriteString("\n ]}")
	}
	b.WriteString("\n]\n")
	return b.Bytes()
}
