package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"

	"player/config/syntax"
	"player/devices"
)

// buildSerial builds a file whose drivers base and eye have a serial port.
func buildSerial(t *testing.T, text string, overrides ...Override) (*Server, error) {
	t.Helper()
	file, err := syntax.Parse("robot.cfg", func(string) ([]byte, error) { return []byte(text), nil })
	if err != nil {
		t.Fatal(err)
	}
	var made []*still
	kind := kinds(&made)[0]
	kind.Name, kind.Options = "base", []devices.Option{{Name: "port", Default: devices.SerialPort("/dev/ttyS0"), Doc: "serial port"}}
	eye := kind
	eye.Name, eye.Provides = "eye", []devices.Spec{devices.Laser()}
	return Build(file, Options{Kinds: []devices.Kind{kind, eye}, Port: 6665, Overrides: overrides, Log: zap.NewNop()})
}

func TestSerialPorts(t *testing.T) {
	server, err := buildSerial(t, `driver ( name "base" ) driver ( name "eye" port "/dev/ttyS1" )`)
	if err != nil {
		t.Fatal(err)
	}
	want := []SerialPort{{"base", "/dev/ttyS0"}, {"eye", "/dev/ttyS1"}}
	if got := server.SerialPorts(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestOneSerialPortTwice(t *testing.T) {
	link := filepath.Join(t.TempDir(), "by-id")
	if err := os.Symlink("/dev/null", link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text     string
		override []Override
		want     string
	}{
		{`driver ( name "base" ) driver ( name "eye" )`, nil, "robot.cfg:1:24: base and eye have the same serial port, /dev/ttyS0"},
		{`driver ( name "base" port "/dev/null" ) driver ( name "eye" port "` + link + `" )`, nil,
			"robot.cfg:1:66: base and eye have the same serial port, " + link + ", which is /dev/null"},
		{`driver ( name "base" ) driver ( name "eye" port "/dev/ttyS1" )`, []Override{{"-pp", "base", "port", "/dev/./ttyS1"}},
			"base and eye have the same serial port, /dev/ttyS1, which is /dev/./ttyS1"},
		{`driver ( name "base" port "/nowhere/x" ) driver ( name "base" port "/nowhere/y" provides ["7000:position:0"] )`, nil, ""},
	} {
		_, err := buildSerial(t, tt.text, tt.override...)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
	}
}
