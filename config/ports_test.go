package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"

	"player/devices"
	"player/e2e/must"
	"player/formats/syntax"
)

// buildSerial builds a file whose drivers base and eye have a serial port.
func buildSerial(t *testing.T, text string, overrides ...Override) (*Server, error) {
	t.Helper()
	file := must.Get(syntax.Parse("robot.cfg", func(string) ([]byte, error) { return []byte(text), nil }))(t)
	var made []*still
	kind := kinds(&made)[0]
	kind.Name, kind.Options = "base", []devices.Option{{Name: "port", Default: devices.SerialPort("/dev/ttyS0"), Doc: "serial port"}}
	eye := kind
	eye.Name, eye.Provides = "eye", []devices.Spec{devices.Laser()}
	return Build(file, Options{Kinds: []devices.Kind{kind, eye}, Port: 6665, Overrides: overrides, Log: zap.NewNop()})
}

func TestSerialPorts(t *testing.T) {
	server := must.Get(buildSerial(t, `driver ( name "base" ) driver ( name "eye" port "/dev/ttyS1" )`))(t)
	want := []SerialPort{{"base", "/dev/ttyS0"}, {"eye", "/dev/ttyS1"}}
	if got := server.SerialPorts(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A driver with a numeric address has no serial port of this computer.
func TestSerialPortOverTCP(t *testing.T) {
	server := must.Get(buildSerial(t, `driver ( name "base" port "localhost:4001" ) driver ( name "eye" port "./pci-0:1" )`))(t)
	if got, want := server.SerialPorts(), []SerialPort{{"eye", "./pci-0:1"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := server.Robots[0].Drivers[0].Values["port"]; got != "127.0.0.1:4001" && got != "[::1]:4001" {
		t.Errorf("the driver connects to %v", got)
	}
	for _, port := range []string{"localhost:", "localhost:0", "localhost:65536", ":4001", "10.0.0.5", "fe80::1", "tcp://10.0.0.5:4001", "a:b:c"} {
		_, err := buildSerial(t, "driver\n(\n  name \"base\"\n  port \""+port+"\"\n)")
		if err == nil || !strings.Contains(err.Error(), "robot.cfg:4:8: serial port \""+port+"\": write HOST:PORT") {
			t.Errorf("%s: %v", port, err)
		}
	}
	_, err := buildSerial(t, `driver ( name "base" )`, Override{"-pp", "base", "port", "localhost:x"})
	if err == nil || !strings.HasPrefix(err.Error(), `-pp: serial port "localhost:x": write HOST:PORT`) {
		t.Error(err)
	}
}

func TestOneSerialPortTwice(t *testing.T) {
	link := filepath.Join(t.TempDir(), "by-id")
	must.Do(t, os.Symlink("/dev/null", link))
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
		{`driver ( name "base" port "127.0.0.1:4001" ) driver ( name "eye" port "[::ffff:127.0.0.1]:4001" )`, nil,
			"robot.cfg:1:71: base and eye have the same serial port, 127.0.0.1:4001"},
		{`driver ( name "base" port "127.0.0.1:4001" ) driver ( name "eye" port "127.0.0.1:4002" )`, nil, ""},
		{`driver ( name "base" port "/nowhere/x" ) driver ( name "base" port "/nowhere/y" provides ["7000:position:0"] )`, nil, ""},
	} {
		_, err := buildSerial(t, tt.text, tt.override...)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
	}
}
