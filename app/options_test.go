package app

import (
	"flag"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"go.uber.org/zap"

	"player/codec"
	"player/config"
	"player/e2e/acceptance"
	"player/e2e/must"
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
		{"-gp 7000 robot.cfg -debug", with(func(o *options) { o.port, o.file, o.debug = 7000, "robot.cfg", true })},
		{"-pp /dev/x -vp 5002 -zp /dev/ttyS2", with(func(o *options) {
			o.overrides = []config.Override{{Flag: "-pp", Driver: "p2os", Option: "port", Value: "/dev/x"},
				{Flag: "-vp", Driver: "acts", Option: "port", Value: 5002}, {Flag: "-zp", Driver: "evid30", Option: "port", Value: "/dev/ttyS2"}}
		})},
		{"-stage main.go", with(func(o *options) {
			o.stage = "main.go"
			o.overrides = []config.Override{{Flag: "-stage", Driver: "stage", Option: "world", Value: "main.go"}}
		})},
		{"-bind 127.0.0.1 -max-rate 50 -max-clients 3 -debug -exp -version",
			with(func(o *options) {
				o.bind, o.maxRate, o.maxClients, o.debug, o.exp, o.version = "127.0.0.1", 50, 3, true, true, true
			})},
	} {
		got, err := parseOptions(strings.Fields(tt.args))
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
		{"-max-per-address -1", "-max-per-address -1: must not be negative"},
		{"-max-clients -1", "-max-clients -1: must not be negative"},
		{"-stage nowhere.world", "-stage: stat nowhere.world: no such file or directory; -stage list shows the worlds that need no file"},
		{"-stage here/roam.world", "did you mean -stage room?"},
		{"-bogus", "flag provided but not defined: -bogus"},
	} {
		if _, err := parseOptions(strings.Fields(tt.args)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.args, err, tt.want)
		}
	}
}

// The page of -h names every flag, and no other.
func TestUsage(t *testing.T) {
	named := map[string]bool{"h": true} // package flag has -h
	for line := range strings.Lines(pageOf("player")) {
		if rest, ok := strings.CutPrefix(line, "  -"); ok {
			named[strings.Fields(rest)[0]] = true
		}
	}
	defined := map[string]bool{"h": true}
	newFlagSet(new(options)).VisitAll(func(f *flag.Flag) {
		defined[f.Name] = true
		if !named[f.Name] {
			t.Errorf("-%s is not on the page", f.Name)
		}
	})
	for name := range named {
		if !defined[name] {
			t.Errorf("-%s is on the page, but is not a flag", name)
		}
	}
}

// Commands in README.md and docs/ use flags that exist.
func TestDocsUseTheFlags(t *testing.T) {
	acceptance.Alone(t)
	command := regexp.MustCompile(`(?:player|go run \.) (-[^` + "`" + `|#\n]*)`)
	seen := 0
	for _, page := range guide(t) {
		flags := newFlagSet(new(options))
		for _, match := range command.FindAllStringSubmatch(page.text, -1) {
			for word := range strings.FieldsSeq(match[1]) {
				if name, ok := strings.CutPrefix(word, "-"); ok && name != "h" && word != "-->" { // the end of a mark
					seen++
					if flags.Lookup(name) == nil {
						t.Errorf("%s: %s: there is no flag -%s", page.path, match[0], name)
					}
				}
			}
		}
	}
	if seen == 0 {
		t.Error("the pages show no command")
	}
}

// -reflex puts the reflexes in front of every robot.
func TestReflexFlag(t *testing.T) {
	o := must.Get(parseOptions([]string{"-reflex", "-stage", "simulation/worlds/subsumption-fleet.world"}))(t)
	for _, reflex := range []bool{false, true} {
		o.reflex = reflex
		conf := must.Get(o.configure(zap.NewNop()))(t)
		if len(conf.Robots) != 10 || conf.HasMotors() {
			t.Errorf("%d robots, with motors: %v", len(conf.Robots), conf.HasMotors())
		}
		for _, robot := range conf.Robots {
			if got := robot.Table.Device(codec.Position).Link().Name(); (got == "reflex") != reflex {
				t.Errorf("-reflex=%v: driver %q has the wheels of port %d", reflex, got, robot.Port)
			}
		}
	}
}

// -goto gives every robot a device that commands the wheels that clients command: those behind reflexes.
func TestGotoFlag(t *testing.T) {
	o := must.Get(parseOptions([]string{"-goto", "-reflex", "-stage", "simulation/worlds/subsumption-fleet.world"}))(t)
	conf := must.Get(o.configure(zap.NewNop()))(t)
	for _, robot := range conf.Robots {
		last := robot.Drivers[len(robot.Drivers)-1]
		if device := robot.Table.Find(codec.Goto, 0); device == nil || device.Code() < 128 || last.Link != device.Link() || !last.Simulated {
			t.Errorf("port %d: %+v", robot.Port, last)
		}
		if got := robot.Table.Device(codec.Position).Link().Name(); got != "reflex" {
			t.Errorf("driver %q has the wheels of port %d", got, robot.Port)
		}
	}
}

// A passthrough to its own robot would wait for itself.
func TestPassthroughToItself(t *testing.T) {
	addresses := must.Get(net.InterfaceAddrs())(t)
	for _, tt := range []struct {
		bind, remote, provides string
		self                   bool
	}{
		{"", "127.0.0.1:6665", "laser:0", true},
		{"", "localhost", "laser:0", true},
		{"", "0.0.0.0:6665", "laser:0", true},
		{"", "127.0.0.9:6665", "laser:1", true},
		{"", addresses[len(addresses)-1].(*net.IPNet).IP.String(), "laser:0", true},
		{"0.0.0.0", "127.0.0.1", "laser:0", true},
		{"localhost", "127.0.0.1", "laser:0", true},
		{"127.0.0.1", "127.0.0.1", "laser:0", true},
		{"", "127.0.0.1:7000", "7000:laser:0", true},
		{"", "127.0.0.1:6666", "laser:0", false},
		{"", "127.0.0.1:6665", "7000:laser:0", false}, // another robot of this server
		{"127.0.0.1", "127.0.0.2", "laser:0", false},  // another server may be there
		{"", "203.0.113.7", "laser:0", false},
	} {
		file := filepath.Join(t.TempDir(), "chain.cfg")
		must.Do(t, os.WriteFile(file, []byte(`driver ( name "passthrough" remote "`+tt.remote+`" provides ["`+tt.provides+`"] )`), 0o600))
		_, err := options{port: 6665, bind: tt.bind, file: file}.configure(zap.NewNop())
		if (err != nil) != tt.self || err != nil && !strings.Contains(err.Error(), "chain.cfg:1:1: passthrough: ") {
			t.Errorf("-bind %q, remote %s, provides %s: %v", tt.bind, tt.remote, tt.provides, err)
		}
	}
}

func TestCommitOf(t *testing.T) {
	for text, want := range map[string]string{"$Format:%H$\n": "", "93ad744ac1f0\n": "93ad744ac1f0"} {
		if got := commitOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	const hash = "93ad744ac1f0e9d35d2a94a8e1f2b7b1f1e2d3c4"
	now := strings.TrimSpace(number)
	stamp := []debug.BuildSetting{{Key: "vcs.revision", Value: hash}, {Key: "vcs.modified", Value: "true"}}
	for _, tt := range []struct {
		build           string
		module          string
		stamp           []debug.BuildSetting
		version, commit string
		want            string
	}{
		{"packaging", "(devel)", nil, "1.2.0", hash, "player 1.2.0 (commit " + hash + ","},
		{"a checkout", "v1.2.0", stamp[:1], "", "", "player " + now + "-dev (commit " + hash + ","},
		{"a checkout of the release", "v" + now, stamp[:1], "", "", "player " + now + " (commit " + hash + ","},
		{"a changed checkout", "v" + now + "+dirty", stamp, "", "", "player " + now + "-dev (commit " + hash + " with changes,"},
		{"a module", "v" + now, nil, "", "", "player " + now + " (commit unknown,"},
		{"a pseudo-version", "v0.0.0-20261122073412-93ad744ac1f0+dirty", nil, "", "", "player " + now + "-dev (commit 93ad744ac1f0,"},
		{"-buildvcs=false", "(devel)", nil, "", "", "player " + now + "-dev (commit unknown,"},
		{"a test", "", nil, "", "", "player " + now + "-dev (commit unknown,"},
	} {
		info := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: tt.module}, Settings: tt.stamp}
		if got := describe(info, tt.version, tt.commit); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.build, got, tt.want)
		}
	}
}
