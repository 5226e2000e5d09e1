package app

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/zap"

	"player/config"
	"player/devices"
	"player/e2e/must"
)

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range catalogue() {
		if k.Name == "" || k.Doc == "" || seen[k.Name] || (k.New == nil) == (k.NewAll == nil) {
			t.Errorf("%q is incomplete or there twice", k.Name)
		}
		seen[k.Name] = true
		options := map[string]bool{"name": true, "provides": true, "requires": true, "alwayson": true, "control": true, "pose": true, "size": true}
		for _, o := range k.Options {
			if o.Name == "" || o.Doc == "" || options[o.Name] {
				t.Errorf("%s: option %q is incomplete or there twice", k.Name, o.Name)
			}
			options[o.Name] = true
		}
	}
	// Drivers have the options that flags set.
	for _, f := range driverFlags() {
		i := slices.IndexFunc(catalogue(), func(k devices.Kind) bool { return k.Name == f.driver })
		if i < 0 || catalogue()[i].Defaults()[f.option] == nil {
			t.Errorf("-%s: %s has no option %s", f.flag, f.driver, f.option)
		}
	}
}

// provides returns the letters that a server provides, by port.
func provides(t *testing.T, o options) map[int]string {
	t.Helper()
	server := must.Get(o.configure(zap.NewNop()))(t)
	letters := map[int]string{}
	for _, r := range server.Robots {
		for letter := range byte(255) {
			if r.Table.Device(letter) != nil {
				letters[r.Port] += string(rune(letter))
			}
		}
	}
	return letters
}

func TestWithoutFile(t *testing.T) {
	if got, want := provides(t, options{port: 6000}), map[int]string{6000: "glmpsvz"}; !maps.Equal(got, want) {
		t.Errorf("a robot with %v, want %v", got, want)
	}
	stage := config.Override{Flag: "-stage", Driver: "stage", Option: "world", Value: "simulation/worlds/room.world"}
	got := provides(t, options{port: 6000, stage: "simulation/worlds/room.world", overrides: []config.Override{stage}})
	if len(got) == 0 {
		t.Error("a world without robots")
	}
}

func TestMotors(t *testing.T) {
	for file, want := range map[string]bool{"config/examples/pioneer.cfg": true, "config/examples/testpattern.cfg": false, "config/examples/stage.cfg": false} {
		server := must.Get(options{port: 6665, file: file}.configure(zap.NewNop()))(t)
		if server.HasMotors() != want {
			t.Errorf("%s: motors %v", file, !want)
		}
	}
}

// The server is open if other computers can connect without a certificate.
func TestIsOpen(t *testing.T) {
	for bind, want := range map[string]bool{"": true, "0.0.0.0": true, "10.0.0.1": true, "127.0.0.1": false, "::1": false, "localhost": false} {
		if (options{bind: bind}).isOpen(config.TLS{}) != want {
			t.Errorf("-bind %q is open: %v", bind, !want)
		}
		if (options{bind: bind}).isOpen(config.TLS{Listen: ":7665", Clients: "ca.pem"}) != want {
			t.Errorf("-bind %q, and TLS with certificates, is open: %v", bind, !want)
		}
		if (options{bind: bind}).isOpen(config.TLS{Listen: "[::1]:7665"}) != want {
			t.Errorf("-bind %q, and TLS for this computer, is open: %v", bind, !want)
		}
		if !(options{bind: bind}).isOpen(config.TLS{Listen: ":7665"}) {
			t.Errorf("-bind %q, and TLS without certificates, is not open", bind)
		}
	}
}

func TestExamples(t *testing.T) {
	files, _ := filepath.Glob("config/examples/*.cfg") // the pattern is well formed
	if len(files) == 0 {
		t.Fatal("where are the examples?")
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) { provides(t, options{port: 6665, file: file}) })
	}
}
