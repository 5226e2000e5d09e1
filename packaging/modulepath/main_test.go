package main

import "testing"

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
	m := newMove("player", "codeberg.org/ada/player", nil)
	const text = "<url>https://example.org/someone/player.git</url>"
	if got := m.addressed("pom.xml", text); got != "<url>https://codeberg.org/ada/player.git</url>" {
		t.Error(got)
	}
	if got := m.addressed("CLIENTS.md", text); got != text {
		t.Error(got)
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
