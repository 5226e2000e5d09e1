package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"player/e2e/must"
)

func TestMentions(t *testing.T) {
	m := newMove("player", "example.org/someone/robots", []string{"main.go", "client/client.go", "app/app.go", "examples/lab/lab.go", "devices/p2os/p2os.go"})
	for text, want := range map[string]string{
		`import "player/client"`:                        `import "example.org/someone/robots/client"`,
		"-X player/app.linkedVersion=1":                 "-X example.org/someone/robots/app.linkedVersion=1",
		`"player/devices/p2os$", "player/examples/lab"`: `"example.org/someone/robots/devices/p2os$", "example.org/someone/robots/examples/lab"`,
		`publish("player/client/a/position")`:           `publish("player/client/a/position")`,
		"/etc/player/client, ../player/client":          "/etc/player/client, ../player/client",
		"libplayer/client, player/nothing, player list": "libplayer/client, player/nothing, player list",
	} {
		if got := m.mentions(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestAddressed(t *testing.T) {
	first, second := newMove("player", "codeberg.org/ada/player", nil), newMove("codeberg.org/ada/player", "example.org/lab/player", nil)
	for file := range descriptions {
		text := string(must.Get(os.ReadFile(filepath.Join("../..", file)))(t))
		if strings.Contains(text, "example.org") {
			t.Errorf("%s has an address before it is published", file)
		}
		for _, m := range []move{first, second} {
			count := strings.Count(text, m.from)
			text = must.Get(m.addressed(file, text))(t)
			if !strings.Contains(text, "https://"+m.to) || m.from == first.to && (strings.Contains(text, m.from) || strings.Count(text, m.to) != count) {
				t.Errorf("%s after %+v:\n%s", file, m, text)
			}
		}
	}
	const text = "nothing of a description"
	if got := must.Get(first.addressed("docs/CLIENTS.md", text))(t); got != text {
		t.Error(got)
	}
	if _, err := first.addressed("clients/java/pom.xml", text); err == nil {
		t.Error("a file without the place is taken")
	}
}

func TestRequired(t *testing.T) {
	m := newMove("player", "example.org/someone/robots", nil)
	const text = "module player/fleet\n\nrequire (\n\tplayer v0.0.0\n\tplayers.org/x v1.0.0\n)\n\nreplace player => ../\n"
	const want = "module example.org/someone/robots/fleet\n\nrequire (\n\texample.org/someone/robots v0.0.0\n\tplayers.org/x v1.0.0\n)\n\nreplace example.org/someone/robots => ../\n"
	if got := m.required(text); got != want {
		t.Errorf("%s", got)
	}
}

func TestPathsThatAreRefused(t *testing.T) {
	for _, wanted := range []string{"", "player", "player/client", "https://example.org/player", "example.org", "example.org/", "example.org/a b", "example.org/../player"} {
		if fetched.MatchString(wanted) {
			t.Errorf("%q is taken", wanted)
		}
	}
}
