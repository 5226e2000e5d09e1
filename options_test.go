package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"reflect"
	"strings"
	"testing"

	"player/config"
)

func TestParseOptions(t *testing.T) {
	usual := options{port: 6665, maxRate: 1000}
	with := func(change func(*options)) options {
		o := usual
		change(&o)
		return o
	}
	for _, tt := range []struct {
		args string
		want options
	}{
		{"", usual},
		{"robot.cfg", with(func(o *options) { o.file = "robot.cfg" })},
		{"-gp 7000 robot.cfg -check", with(func(o *options) { o.port, o.file, o.check = 7000, "robot.cfg", true })},
		{"-pp /dev/x -vp 5002 -zp /dev/ttyS2", with(func(o *options) {
			o.overrides = []config.Override{{Flag: "-pp", Driver: "p2os", Option: "port", Value: "/dev/x"},
				{Flag: "-vp", Driver: "acts", Option: "port", Value: 5002}, {Flag: "-zp", Driver: "evid30", Option: "port", Value: "/dev/ttyS2"}}
		})},
		{"-stage options.go", with(func(o *options) {
			o.stage = "options.go"
			o.overrides = []config.Override{{Flag: "-stage", Driver: "stage", Option: "world", Value: "options.go"}}
		})},
		{"-bind 127.0.0.1 -max-rate 50 -max-clients 3 -debug -exp -list -version",
			with(func(o *options) {
				o.bind, o.maxRate, o.maxClients, o.debug, o.exp, o.list, o.version = "127.0.0.1", 50, 3, true, true, true, true
			})},
	} {
		got, err := parseOptions(strings.Fields(tt.args), io.Discard)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: %+v, %v\nwant %+v", tt.args, got, err, tt.want)
		}
	}
}

func TestParseOptionsMistakes(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"a.cfg b.cfg", `unexpected argument "b.cfg"`},
		{"room.world", "room.world is a world, not a configuration: use -stage room.world"},
		{"-gp 0", "-gp 0: a TCP port is 1 to 65535"},
		{"-gp x", "invalid value"},
		{"-max-rate 0", "-max-rate 0: a rate is 1 to 65535 Hz"},
		{"-max-clients -1", "-max-clients -1: must not be negative"},
		{"-stage nowhere.world", "-stage: stat nowhere.world: no such file or directory; worlds that come with Player are in worlds/"},
		{"-bogus", "flag provided but not defined: -bogus"},
	} {
		if _, err := parseOptions(strings.Fields(tt.args), io.Discard); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.args, err, tt.want)
		}
	}
}

// The page of -h names every flag, and no other.
func TestUsage(t *testing.T) {
	var page bytes.Buffer
	if _, err := parseOptions([]string{"-h"}, &page); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for line := range strings.Lines(page.String()) {
		if rest, ok := strings.CutPrefix(line, "  -"); ok {
			named[strings.Fields(rest)[0]] = true
		}
	}
	for name := range named {
		if _, err := parseOptions([]string{"-" + name}, io.Discard); err != nil && strings.Contains(err.Error(), "not defined") {
			t.Error(err)
		}
	}
	for _, d := range driverFlags() {
		if !named[d.flag] {
			t.Errorf("-%s is not on the page", d.flag)
		}
	}
}
