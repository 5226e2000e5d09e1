package bridge

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

// files are JSON schemas (draft 2020-12) of all that is JSON on NATS.
//
//go:embed schemas/*.json
var files embed.FS

// Schemas returns the names of the schemas, sorted.
func Schemas() (names []string) {
	entries, err := files.ReadDir("schemas")
	if err != nil {
		panic(err) // it is embedded
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// Schema returns the text of a schema.
func Schema(name string) ([]byte, error) {
	if names := Schemas(); !slices.Contains(names, name) {
		return nil, fmt.Errorf("there is no schema %q; there are %s", name, strings.Join(names, ", "))
	}
	return files.ReadFile("schemas/" + name + ".json")
}
