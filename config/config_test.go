package config

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/config/rights"
	"player/devices"
	"player/e2e/must"
	"player/formats/syntax"
)

// still is a driver that does nothing.
type still struct{ args devices.Args }

func (s *still) Setup(now time.Duration, l *devices.Link) { l.Ready(now) }
func (s *still) Shutdown(time.Duration)                   {}

// kinds returns one driver of each sort.
func kinds(made *[]*still) []devices.Kind {
	maker := func(a devices.Args) (devices.Driver, error) {
		s := &still{a}
		*made = append(*made, s)
		return s, nil
	}
	wheels := []devices.Spec{devices.Position(), devices.Sonar()}
	return []devices.Kind{
		{
			Name: "wheels", Doc: "two wheels", Provides: wheels, New: maker,
			Options: []devices.Option{
				{Name: "port", Default: "/dev/ttyS0", Doc: "serial port"},
				{Name: "speed", Default: 500, Min: 10, Max: 1000, Unit: "mm/s", Doc: "highest speed"},
				{Name: "gain", Default: 0.5, Max: 1, Doc: "of the controller"},
				{Name: "reverse", Default: false, Doc: "drives backward"},
				{Name: "table", Default: devices.Path("gears.txt"), Doc: "gear table"},
				{Name: "words", Default: []string{"a", "b"}, Doc: "some words"},
				{Name: "numbers", Default: []float64{1, 2.5}, Doc: "some numbers"},
			},
		},
		{Name: "eye", Doc: "a laser", Provides: []devices.Spec{devices.Laser()}, New: maker, Options: []devices.Option{
			{Name: "model", Default: "", Required: true, Doc: "which one"}}},
		{Name: "pair", Doc: "two lasers, also as rangers", New: maker, Provides: []devices.Spec{devices.Laser(), devices.Laser().At(1),
			devices.Ranger().At(devices.Hidden), devices.Ranger().At(devices.Hidden)}},
		{Name: "filter", Doc: "a position from another", Provides: []devices.Spec{devices.Position()}, New: maker,
			Requires: []devices.Spec{{Letter: codec.Position, Name: "position", Index: 1}}},
		{Name: "ring", Doc: "sonars from a laser", Provides: []devices.Spec{devices.Sonar()}, New: maker, Requires: []devices.Spec{devices.Laser()}},
		{Name: "scribe", Doc: "writes things down", Provides: []devices.Spec{}, New: maker, Accepts: devices.Interfaces(), AlwaysOn: true},
		{Name: "any", Doc: "whatever is asked for", New: maker},
		{Name: "plugin", Doc: "a program", New: maker, Options: []devices.Option{{Name: "plugin", Default: devices.Path(""), Required: true, Doc: "the program"}}},
		{Name: "swarm", Doc: "three robots", Provides: wheels, NewAll: func(a devices.Args) ([]devices.Instance, error) {
			var swarm []devices.Instance
			for i := range 3 {
				swarm = append(swarm, devices.Instance{Driver: &still{a}, Name: fmt.Sprint("swarm ", i), Port: []int{0, 0, 7000}[i]})
			}
			swarm[2].Provides = append(slices.Clone(wheels), devices.Sonar().At(1)) // one robot has more than the kind declares
			return swarm, nil
		}},
	}
}

func build(t *testing.T, text string, overrides ...Override) (*Server, []*still, error) {
	t.Helper()
	file := must.Get(syntax.Parse("dir/robot.cfg", func(string) ([]byte, error) { return []byte(text), nil }))(t)
	var made []*still
	server, err := Build(file, Options{Kinds: kinds(&made), Port: 6665, Overrides: overrides, Log: zap.NewNop()})
	return server, made, err
}

// table returns the output of player check for the devices.
func table(t *testing.T, server *Server) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, server.WriteTable(&b))
	var lines []string
	for line := range strings.Lines(b.String()) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "robot"):
			lines = append(lines, fields[3])
		case strings.HasPrefix(line, "  ") && strings.Contains(line, ".cfg:"):
			lines = append(lines, strings.Join(fields[:len(fields)-1], " "))
		}
	}
	return strings.Join(lines, "; ")
}

func TestRobots(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"everything a driver has", `driver ( name "wheels" )`, "6665; p position:0 wheels; s sonar:0 wheels"},
		{"a part of it", `driver ( name "wheels" provides ["sonar:0"] )`, "6665; s sonar:0 wheels"},
		{"the hidden part may come from elsewhere", `driver ( name "wheels" provides ["sonar:0"] ) driver ( name "any" provides ["position:0"] )`,
			"6665; s sonar:0 wheels; p position:0 any"},
		{"long addresses", `driver ( name "wheels" provides ["::6665:sonar:0" ":localhost::position:0"] )`, "6665; p position:0 wheels; s sonar:0 wheels"},
		{"two robots", `driver ( name "wheels" provides ["7001:position:0"] ) driver ( name "wheels" )`,
			"6665; p position:0 wheels; s sonar:0 wheels; 7001; p position:0 wheels"},
		{"one inside another", `driver ( name "filter" ) driver ( name "wheels" provides ["position:1" "sonar:0"] )`,
			"6665; - position:1 wheels; s sonar:0 wheels; p position:0 filter"},
		{"the default of requires is of the same robot", `driver ( name "ring" provides ["7001:sonar:0"] ) driver ( name "eye" model "x" provides ["7001:laser:0"] )`,
			"7001; l laser:0 eye; s sonar:0 ring"},
		{"a device of another robot", `driver ( name "ring" provides ["sonar:0"] requires ["7001:laser:2"] ) driver ( name "eye" model "x" provides ["7001:laser:2"] )`,
			"6665; s sonar:0 ring; 7001; 128 laser:2 eye"},
		{"many robots of one block", `driver ( name "swarm" )`,
			"6665; p position:0 swarm 0; s sonar:0 swarm 0; 6666; p position:0 swarm 1; s sonar:0 swarm 1; 7000; p position:0 swarm 2; s sonar:0 swarm 2; 128 sonar:1 swarm 2"},
		{"a driver on top of many robots", `driver ( name "scribe" requires ["7000:sonar:1"] ) driver ( name "swarm" )`,
			"6665; p position:0 swarm 0; s sonar:0 swarm 0; 6666; p position:0 swarm 1; s sonar:0 swarm 1; 7000; p position:0 swarm 2; s sonar:0 swarm 2; 128 sonar:1 swarm 2"},
		{"several of an interface", `driver ( name "pair" )`, "6665; l laser:0 pair; 128 laser:1 pair"},
		{"several of an interface, with indices", `driver ( name "pair" provides ["laser:3" "ranger:9" "laser:2"] )`,
			"6665; 128 laser:3 pair; 129 laser:2 pair; 130 ranger:9 pair"},
		{"a driver on top of one that is named", `driver ( name "scribe" requires ["ranger:1"] ) driver ( name "pair" provides ["ranger:0" "ranger:1"] )`,
			"6665; 128 ranger:0 pair; 129 ranger:1 pair"},
		{"a program", `driver ( name "wheels" plugin "x.py" provides ["joystick:0"] )`, "6665; j joystick:0 wheels"},
		{"a define", `define rear wheels2 ( ) define twin driver ( name "wheels" ) twin ( provides ["position:0"] )`, "6665; p position:0 wheels"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server, _, err := build(t, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := table(t, server); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	_, made, err := build(t, `driver ( name "wheels" speed 100 gain 0.25 reverse yes table "t.txt" words ["x"] numbers [3 4] port "a" )`, Override{"-pp", "wheels", "port", "b"})
	if err != nil {
		t.Fatal(err)
	}
	a := made[0].args
	if a.Int("speed") != 100 || a.Float("gain") != 0.25 || !a.Bool("reverse") || a.String("table") != filepath.Join("dir", "t.txt") ||
		!slices.Equal(a.Strings("words"), []string{"x"}) || !slices.Equal(a.Values["numbers"].([]float64), []float64{3, 4}) || a.String("port") != "b" {
		t.Errorf("%v", a.Values)
	}
	_, made, err = build(t, `driver ( name "wheels" )`)
	if err != nil {
		t.Fatal(err)
	}
	if a := made[0].args; a.Int("speed") != 500 || a.String("table") != "gears.txt" || a.Provides != nil || a.Name != "wheels" {
		t.Errorf("%+v", a)
	}
}

func TestRequiredDevicesReachTheDriver(t *testing.T) {
	server, made, err := build(t, `
		driver ( name "scribe" requires ["sonar:0" "laser:0"] )
		driver ( name "ring" )
		driver ( name "eye" model "x" )`)
	if err != nil {
		t.Fatal(err)
	}
	scribe := made[len(made)-1]
	table := server.Robots[0].Table
	if want := []*devices.Device{table.Device(codec.Sonar), table.Device(codec.Laser)}; scribe.args.Name != "scribe" || !slices.Equal(scribe.args.Requires, want) {
		t.Errorf("%s got %v", scribe.args.Name, scribe.args.Requires)
	}
	table.Start(time.Second)
	for _, l := range table.Links() {
		if on := l.State() == devices.Ready; on != (l.Name() == "scribe") {
			t.Errorf("%s is %v after the start", l.Name(), l.State())
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", `unit_length "m"`, `dir/robot.cfg: there is no driver in this file`},
		{"no name", `driver ( port "x" )`, `1:1: a driver needs its name, as in name "p2os"`},
		{"unknown driver", `driver ( name "wheel" gian 1 )`, `1:15: unknown driver "wheel"; did you mean "wheels"?`},
		{"unknown field", `driver ( name "wheels" sped 4 )`, `1:24: field "sped" is not used in driver; did you mean "speed"?`},
		{"unknown section", `drivr ( name "wheels" ) driver ( name "wheels" )`, `1:1: section "drivr" is not used; did you mean "driver"?`},
		{"section in a driver", `driver ( name "wheels" laser ( ) )`, `1:24: section "laser" is not used in driver`},
		{"wrong type", `driver ( name "wheels" speed "fast" )`, `1:30: speed wants a whole number, not string "fast"`},
		{"out of bounds", `driver ( name "wheels" speed 5 )`, `1:30: speed is 10 to 1000 mm/s, not 5`},
		{"out of bounds, fraction", `driver ( name "wheels" gain 1.5 )`, `1:29: gain is 0 to 1, not 1.5`},
		{"pose", `driver ( name "wheels" pose [1 2 3 4] )`, `1:36: pose wants at most 3 numbers, not 4`},
		{"control", `driver ( name "wheels" control "second" )`, `1:32: control is "newest" or "first", not "second"`},
		{"control without position", `driver ( name "eye" model "x" control "first" )`, `1:39: control is for the driver of position: eye does not provide it`},
		{"required option", `driver ( name "eye" )`, `1:1: eye needs model: which one`},
		{"required option, empty", `driver ( name "eye" model "" )`, `1:27: eye needs model: which one`},
		{"required file, empty", `driver ( plugin "" )`, `1:17: plugin needs plugin: the program`},
		{"required option, wrong type", `driver ( name "eye" model 5 )`, `1:27: model wants a "string", not number 5`},
		{"required option, tuple", `driver ( name "eye" model [] )`, `1:21: model wants a "string", not a tuple`},
		{"plugin statement", "plugin \"libx\"\ndriver ( name \"wheels\" )", `1:8: a plugin is named in the block of its driver`},
		{"no device", `driver ( name "wheels" provides ["sonar"] )`, `1:34: "sonar" is not a device: write "interface:index" or "port:interface:index"`},
		{"unknown interface", `driver ( name "wheels" provides ["posiiton:0"] )`, `1:34: unknown interface "posiiton"; did you mean "position"?`},
		{"index", `driver ( name "wheels" provides ["sonar:x"] )`, `1:34: "sonar:x": the index is 0 to 99`},
		{"port", `driver ( name "wheels" provides ["0:sonar:0"] )`, `1:34: "0:sonar:0": the robot is a TCP port, 1 to 65535`},
		{"host", `driver ( name "wheels" provides [":far:6665:sonar:0"] )`, `1:34: ":far:6665:sonar:0": a device has neither key nor host here`},
		{"cannot provide", `driver ( name "wheels" provides ["laser:0"] )`, `1:34: wheels cannot provide laser, only position, sonar`},
		{"twice in a block", `driver ( name "wheels" provides ["sonar:0" "sonar:0"] )`, `1:44: sonar:0 is listed twice in provides`},
		{"two of a driver that has one", `driver ( name "wheels" provides ["sonar:0" "sonar:1"] )`, `1:44: wheels provides only one sonar`},
		{"three of a driver that has two", `driver ( name "pair" provides ["laser:0" "ranger:0" "laser:1" "laser:2"] )`,
			`1:63: pair provides only 2 devices laser`},
		{"two of a driver that makes robots", `driver ( name "swarm" provides ["sonar:0" "sonar:1"] )`, `this block makes 3 drivers, each with all its devices: omit provides`},
		{"one driver for two robots", `driver ( name "wheels" provides ["sonar:0" "7000:position:0"] )`, `1:44: one driver provides devices of one robot: write a block for each`},
		{"provided twice", "driver ( name \"wheels\" )\ndriver ( name \"any\" provides [\"sonar:0\"] )", `2:31: sonar:0 is provided twice: wheels also provides it`},
		{"provided twice, unsaid", "driver ( name \"any\" provides [\"sonar:0\"] )\ndriver ( name \"wheels\" )", `2:1: sonar:0 is provided twice: any also provides it`},
		{"provides nothing", `driver ( name "wheels" provides [] )`, `1:24: provides is empty: list devices or omit it`},
		{"provides nothing of anything", `driver ( name "any" provides [] )`, `1:21: provides is empty: list devices or omit it`},
		{"requires nothing", `driver ( name "scribe" requires [] )`, `1:24: requires is empty: list devices or omit it`},
		{"provides left out", `driver ( name "any" )`, `1:1: any needs the devices that it provides`},
		{"provides of many", `driver ( name "swarm" provides ["sonar:0"] )`, `1:33: this block makes 3 drivers, each with all its devices: omit provides`},
		{"needless requires", `driver ( name "wheels" requires ["laser:0"] )`, `1:34: wheels does not use laser, nor anything else`},
		{"wrong requires", `driver ( name "ring" requires ["laser:0" "sonar:1"] )`, `1:42: ring does not use sonar, only laser`},
		{"requires too much", `driver ( name "ring" requires ["laser:0" "laser:1"] )`, `1:42: ring requires only one laser`},
		{"requires too little", `driver ( name "ring" requires [] )`, `1:22: requires is empty: list devices or omit it`},
		{"unsatisfied", "driver ( name \"ring\" requires [\"laser:1\"] )\ndriver ( name \"eye\" model \"x\" )", `1:32: ring requires laser:1, which no driver provides; did you mean "laser:0"?`},
		{"unsatisfied, unsaid", `driver ( name "filter" )`, `1:1: filter requires position:1, which no driver provides; did you mean "position:0"?`},
		{"circular", "driver ( name \"filter\" provides [\"position:0\"] requires [\"position:1\"] )\ndriver ( name \"filter\" provides [\"position:1\"] requires [\"position:0\"] )",
			`1:58: circular requires: filter requires filter requires filter`},
		{"itself", `driver ( name "filter" provides ["position:1"] requires ["position:1"] )`, `1:58: circular requires: filter requires filter`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := build(t, tt.text)
			if err == nil {
				t.Fatal("no error")
			}
			first, _, _ := strings.Cut(err.Error(), "\n")
			if !strings.Contains(first, tt.want) {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
			if e, ok := errors.AsType[*syntax.Error](err); tt.name != "empty" && (!ok || e.Excerpt == "") {
				t.Error("the line is not shown")
			}
			if count := strings.Count(err.Error(), "robot.cfg:"); tt.name != "empty" && count != 1 {
				t.Errorf("%d complaints about one mistake:\n%v", count, err)
			}
		})
	}
}

// In a world a later define replaces an earlier one; here it is a mistake.
func TestDefinedAgain(t *testing.T) {
	_, _, err := build(t, "define w driver ( )\ndefine w driver ( name \"wheels\" )\nw ( )")
	if err == nil || !strings.Contains(err.Error(), ":2:8: w is already defined at") {
		t.Error(err)
	}
}

func TestAccess(t *testing.T) {
	const robot = `driver ( name "wheels" ) `
	server, _, err := build(t, robot+`access ( allow "read" from ["0.0.0.0/0" "::/0"] ) access ( allow ["write" "config"] from ["10.0.0.0/8" "::ffff:1.2.3.4" "::ffff:172.16.0.0/108"] ) access ( allow "take" from "10.2.3.5" )`)
	if err != nil {
		t.Fatal(err)
	}
	for client, want := range map[string]rights.Set{"9.9.9.9": rights.Read, "1.2.3.4": rights.All, "172.16.9.9": rights.All, "172.32.0.1": rights.Read, "10.2.3.4": rights.All, "10.2.3.5": rights.All | rights.Take, "::1": rights.Read} {
		if got := server.Access.Of(netip.MustParseAddr(client), ""); got != want {
			t.Errorf("%s has %v, want %v", client, got, want)
		}
	}
	for _, tt := range []struct{ text, want string }{
		{`access ( allow ["wirte"] from ["::1"] )`, `1:42: unknown right "wirte"; did you mean "write"?`},
		{`access ( allow ["read"] from ["lab"] )`, `1:56: "lab" is not a network: write "10.0.0.0/8", or an address`},
		{`access ( allow ["read"] from ["10.1.0.0/8"] )`, `1:56: 10.1.0.0/8 has bits behind its mask: write "10.0.0.0/8", or "10.1.0.0" for one computer`},
		{`access ( from ["::1"] )`, `1:26: access needs allow, and from or name, as in`},
		{`access ( allow "read" )`, `1:26: access needs allow, and from or name, as in`},
		{`access ( allow "read" from [] )`, `1:48: from is empty: it would give no client any rights`},
		{`access ( allow "read" name "ada" )`, `1:48: rights by name need certificates of clients: tls (`},
		{`access ( allow "read" from "::1" form 1 )`, `1:59: field "form" is not used in access`},
	} {
		_, _, err := build(t, robot+tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Count(err.Error(), "robot.cfg:") != 1 {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestTLS(t *testing.T) {
	const robots = `driver ( name "wheels" ) driver ( name "wheels" provides ["7000:position:0"] ) `
	const files = `cert "robot.pem" key "/etc/robot.key" clients "ca.pem" `
	server, _, err := build(t, robots+`tls ( listen "10.0.0.7:7665" `+files+`) access ( allow "read" name ["ada" "grace"] from "10.0.0.0/8" )`)
	if err != nil {
		t.Fatal(err)
	}
	if want := (TLS{"10.0.0.7:7665", "dir/robot.pem", "/etc/robot.key", "dir/ca.pem"}); server.TLS != want {
		t.Errorf("%+v, want %+v", server.TLS, want)
	}
	if a, b := server.Robots[0].TLS, server.Robots[1].TLS; a != "10.0.0.7:7665" || b != "10.0.0.7:8000" {
		t.Errorf("robots on %s and %s", a, b)
	}
	for name, want := range map[string]rights.Set{"ada": rights.Read, "": rights.None, "eve": rights.None} {
		if got := server.Access.Of(netip.MustParseAddr("10.1.1.1"), name); got != want {
			t.Errorf("%q has %v, want %v", name, got, want)
		}
	}
	var printed strings.Builder
	must.Do(t, server.WriteTable(&printed))
	for _, want := range []string{"robot on port 7000, by TLS on 10.0.0.7:8000", `read from [10.0.0.0/8] named ["ada" "grace"]`} {
		if !strings.Contains(printed.String(), want) {
			t.Errorf("no %q in %s", want, printed.String())
		}
	}
	for _, tt := range []struct{ text, want string }{
		{`tls ( ` + files + `)`, `robot.cfg:1:80: tls needs listen, cert and key, as in tls (`},
		{`tls ( listen ":7665" key "a" )`, `robot.cfg:1:93: tls needs listen, cert and key`},
		{`tls ( listen "7665" ` + files + `)`, `robot.cfg:1:93: "7665" is not an address to listen on`},
		{`tls ( listen ":0" ` + files + `)`, `":0" is not an address to listen on`},
		{`tls ( listen ":65500" ` + files + `)`, `the robot on port 7000 would be served on 65835: choose a lower port`},
		{`tls ( listen ":7000" ` + files + `)`, `the robot on port 6665 would be served on 7000, where one is served without TLS`},
		{`tls ( listen ":7665" ` + files + `) tls ( listen ":8665" ` + files + `)`, `there is a section tls already`},
		{`tls ( listen ":7665" ` + files + ` client "x" )`, `field "client" is not used in tls`},
		{`tls ( listen ":7665" cert "a" key "b" ) access ( allow "read" name "ada" )`, `rights by name need certificates of clients`},
		{`tls ( listen ":7665" ` + files + `) access ( allow "read" name [] )`, `name is empty: it would give no client any rights`},
		{`tls ( listen ":7665" ` + files + `) access ( allow "read" name ["ada" ""] )`, `a client without a name in its certificate`},
	} {
		_, _, err := build(t, robots+tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Count(err.Error(), "robot.cfg:") != 1 {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
	}
}

// Flags override the fields of the file, and need no section.
func TestTLSFlags(t *testing.T) {
	for _, tt := range []struct {
		text  string
		flags TLS
		want  TLS
		err   string
	}{
		{"", TLS{":7665", "a", "b", ""}, TLS{":7665", "a", "b", ""}, ""},
		{`tls ( listen ":8665" cert "a" key "b" clients "c" )`, TLS{":7665", "", "", "d"}, TLS{":7665", "dir/a", "dir/b", "d"}, ""},
		{"", TLS{":7665", "", "", ""}, TLS{}, "-tls: tls needs listen, cert and key"},
		{"", TLS{"", "a", "b", ""}, TLS{}, "-tls: tls needs listen, cert and key"},
		{"", TLS{"x", "a", "b", ""}, TLS{}, `-tls: "x" is not an address to listen on`},
		{"", TLS{":6665", "a", "b", ""}, TLS{}, "-tls: the robot on port 6665 would be served on 6665"},
	} {
		file := must.Get(syntax.Parse("dir/robot.cfg", func(string) ([]byte, error) { return []byte(`driver ( name "wheels" ) ` + tt.text), nil }))(t)
		var made []*still
		server, err := Build(file, Options{Kinds: kinds(&made), Port: 6665, TLS: tt.flags, Log: zap.NewNop()})
		switch {
		case tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err)), tt.err == "" && err != nil:
			t.Errorf("%+v: %v, want %q", tt.flags, err, tt.err)
		case tt.err == "" && server.TLS != tt.want:
			t.Errorf("%+v: %+v, want %+v", tt.flags, server.TLS, tt.want)
		}
	}
}

func TestDashboard(t *testing.T) {
	const robot = `driver ( name "wheels" ) `
	server, _, err := build(t, robot+`dashboard ( robots ["10.0.0.7:6665" "[::1]:7000"] ) dashboard ( robots "tanis:6665" )`)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"10.0.0.7:6665", "[::1]:7000", "tanis:6665"}; !slices.Equal(server.Dashboard, want) {
		t.Errorf("robots %q, want %q", server.Dashboard, want)
	}
	for _, tt := range []struct{ text, want string }{
		{`dashboard ( robots ["10.0.0.7"] )`, `1:46: "10.0.0.7" is not the address of a robot: write "10.0.0.7:6665"`},
		{`dashboard ( robots [":6665"] )`, `1:46: ":6665" is not`},
		{`dashboard ( robots ["tanis:0"] )`, `1:46: "tanis:0" is not`},
		{`dashboard ( robots ["tanis:http"] )`, `1:46: "tanis:http" is not`},
		{`dashboard ( )`, `1:26: dashboard needs robots, as in`},
		{`dashboard ( robots ["tanis:6665"] port 1 )`, `field "port" is not used in dashboard`},
	} {
		_, _, err := build(t, robot+tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Count(err.Error(), "robot.cfg:") != 1 {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestCameras(t *testing.T) {
	const robot = `driver ( name "wheels" ) `
	server, _, err := build(t, robot+`camera ( name "front" command ["rpicam-vid" "-o" "-"] ) camera ( name "door" url "https://10.0.0.9/?action=stream" rate 2.5 fov 62 pose [0.1 0 90] height 0.2 )`)
	if err != nil {
		t.Fatal(err)
	}
	first := server.Robots[0].Port
	want := []Camera{{"front", first, []string{"rpicam-vid", "-o", "-"}, "", usualRate, 0, devices.Geometry{}, 0}, {"door", first, nil, "https://10.0.0.9/?action=stream", 2.5, 62, devices.Geometry{X: 100, Heading: 90}, 200}}
	if !slices.EqualFunc(server.Cameras, want, Camera.Equal) {
		t.Errorf("%+v, want %+v", server.Cameras, want)
	}
	for _, tt := range []struct{ text, want string }{
		{`camera ( command "cat" )`, `a camera needs a name`},
		{`camera ( name "../x" command "cat" )`, `1:40: a camera needs a name`},
		{`camera ( name "a" command "cat" ) camera ( name "a" command "cat" )`, `1:74: there is another camera`},
		{`camera ( name "a" )`, `a camera needs a command that writes MJPEG`},
		{`camera ( name "a" command "cat" url "http://b/" )`, `a camera needs a command that writes MJPEG`},
		{`camera ( name "a" command "" )`, `a command begins with the name of a program`},
		{`camera ( name "a" url "10.0.0.9:80" )`, `1:48: a url is as in`},
		{`camera ( name "a" url "file:///etc/passwd" )`, `1:48: a url is as in`},
		{`camera ( name "a" command "cat" rate 0 )`, `1:63: a rate is from`},
		{`camera ( name "a" command "cat" fov 180 )`, `1:62: a field of view is below`},
		{`camera ( name "a" command "cat" robot 7 )`, `1:64: there is no robot on port 7`},
	} {
		_, _, err := build(t, robot+tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Count(err.Error(), "robot.cfg:") != 1 {
			t.Errorf("%s: %v, want %s", tt.text, err, tt.want)
		}
	}
}

// All mistakes of a file are reported at once.
func TestManyMistakes(t *testing.T) {
	_, _, err := build(t, `
		driver ( name "whels" )
		driver ( name "wheels" speed 1 gain "x" nose 1 provides ["x:0" "sonar:0" "sonar:0"] requires ["y:0"] )
		x 4`)
	if n := strings.Count(err.Error(), "robot.cfg:"); n != 8 {
		t.Errorf("%d complaints, want 8:\n%v", n, err)
	}
	// Mistakes found when the drivers are joined, without their consequences.
	_, _, err = build(t, `
		driver ( name "ring" provides ["sonar:1"] requires ["laser:1"] )
		driver ( name "scribe" requires ["sonar:1"] )
		driver ( name "ring" provides ["sonar:2"] requires ["laser:2"] )
		driver ( name "eye" model "x" )`)
	if n := strings.Count(err.Error(), "robot.cfg:"); n != 2 {
		t.Errorf("%d complaints, want 2:\n%v", n, err)
	}
}

func TestOverrideMistakes(t *testing.T) {
	for _, tt := range []struct {
		override Override
		want     string
	}{
		{Override{"-vp", "acts", "port", 1}, `-vp has no effect: there is no driver "acts" in dir/robot.cfg`},
		{Override{"-s", "wheels", "speed", 5}, "-s: speed is 10 to 1000 mm/s, not 5"},
	} {
		if _, _, err := build(t, `driver ( name "wheels" )`, tt.override); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	if _, _, err := build(t, `driver ( name "eye" )`, Override{"-m", "eye", "model", "x"}); err != nil {
		t.Errorf("a required option given by a flag: %v", err)
	}
}

var update = flag.Bool("update", false, "write the golden files")

func TestPrint(t *testing.T) {
	server, made, err := build(t, `driver ( name "filter" ) driver ( name "wheels" provides ["position:1"] speed 20 pose [0.1 -0.05 90] size [0.4 0.3] ) access ( allow "read" from ["10.0.0.0/8" "::1"] )`)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	must.Do(t, errors.Join(server.WriteTable(&b), WriteList(&b, kinds(&made))))
	const golden = "testdata/print.txt"
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want := must.Get(os.ReadFile(golden))(t)
	if b.String() != string(want) {
		t.Errorf("printed\n%s\nwant\n%s", b.String(), want)
	}
}

// Control is a matter of the robot, whichever of its drivers provides position.
func TestControl(t *testing.T) {
	for text, want := range map[string]bool{
		`driver ( name "wheels" )`:                  false,
		`driver ( name "wheels" control "newest" )`: false,
		`driver ( name "wheels" control "first" )`:  true,
	} {
		server, _, err := build(t, text)
		if err != nil || server.Robots[0].KeepControl != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// All mistakes of a file are reported at once, in the order of its lines, and none that
// only follows from another one.
func TestAllMistakes(t *testing.T) {
	text := `driver ( name "wheelz" port /dev/ttyS1 )
driver ( name "eyes" model "x" )
access ( allow "drive" from 10.0.0.1 )
driver ( name "ring" requires ["laser:0"] )
driver ( name "wheels" speed 5000 provides ["7000:position:0"] )
driver ( name "wheels" gain "x" provides ["7001:position:0"] )
driver ( name "filter" requires ["7001:position:0"] provides ["7001:position:1"] )
driver ( name "any" provides ["7002:sonar:0"] ) driver ( name "any" provides ["7002:sonar:0"] )
dashboard ( robot ["10.0.0.1:1"] )
rest 5
driver ( name "eye" )
driver (
  name eye
)
driver (
  name "eye"
  model x
  mode "y"
)
`
	file, err := syntax.Parse("robot.cfg", func(string) ([]byte, error) { return []byte(text), nil })
	if err == nil {
		t.Fatal("a mistake was not found")
	}
	_, err = Build(file, Options{Kinds: kinds(&[]*still{}), Port: 6665, Log: zap.NewNop()})
	var got []string
	for _, mistake := range syntax.Mistakes(err) {
		line, _, _ := strings.Cut(mistake.Error(), "\n")
		got = append(got, strings.TrimPrefix(line, "robot.cfg:"))
	}
	want := []string{
		`1:15: unknown driver "wheelz"; did you mean "wheels"?`,
		`1:29: syntax error: unexpected "/"`,
		`2:15: unknown driver "eyes"; did you mean "eye"?`,
		`3:16: unknown right "drive"; there are read, write, config`,
		`3:29: from wants "strings", not number 10.0.0.1`,
		`5:30: speed is 10 to 1000 mm/s, not 5000`,
		`6:29: gain wants a number, not string "x"`,
		`8:79: 7002:sonar:0 is provided twice: any also provides it`,
		`9:1: dashboard needs robots`,
		`9:13: field "robot" is not used in dashboard`,
		`10:1: field "rest" is not used`,
		`11:1: eye needs model: which one`,
		`13:8: syntax error: unexpected word "eye" after name`,
		`17:9: syntax error: unexpected word "x" after model`,
		`18:3: field "mode" is not used in driver; did you mean "model"?`,
	}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("mistakes:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A driver learns where a value of an option is in the file, for its warnings.
func TestPlaceOfOptions(t *testing.T) {
	_, made, err := build(t, "driver (\n name \"wheels\"\n speed 20\n words [\n\"a\"\n\"b\" ]\n)")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		option string
		i      int
		want   string
	}{{"speed", 0, "dir/robot.cfg:3"}, {"words", 1, "dir/robot.cfg:6"}, {"words", 2, "dir/robot.cfg:1"}, {"gain", 0, "dir/robot.cfg:1"}} {
		if got := made[0].args.PlaceOf(tt.option, tt.i); got != tt.want {
			t.Errorf("%s %d: %q, want %q", tt.option, tt.i, got, tt.want)
		}
	}
}
