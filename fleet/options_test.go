package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"player/e2e/must"
)

func TestOpenServerIsWarnedAbout(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"127.0.0.1:0": false, "0.0.0.0:0": true} {
		p := start(t, program, "-listen", address, "-dir", t.TempDir())
		if got := p.Printed("every computer on the network"); got != want {
			t.Errorf("-listen %s: a warning: %t", address, got)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(program, "-h").Output()
	if err != nil || string(out) != usage {
		t.Errorf("-h: %v\n%s", err, out)
	}
	checkUsage(t, newFlags(new(options), new(input)), usage)
	if out, err := exec.Command(program, "export", "-h").Output(); err != nil || string(out) != exportUsage {
		t.Errorf("export -h: %v\n%s", err, out)
	}
	checkUsage(t, newExportFlags(new(exportOptions)), exportUsage)
}

// checkUsage compares the flags with a page's.
func checkUsage(t *testing.T, fs *flag.FlagSet, page string) {
	t.Helper()
	shown := map[string]bool{}
	for line := range strings.Lines(page) {
		name, ok := strings.CutPrefix(line, "  -")
		if !ok {
			continue
		}
		name = strings.Fields(name)[0]
		shown[name] = true
		if name != "h" && fs.Lookup(name) == nil {
			t.Errorf("-h shows -%s, which does not exist", name)
		}
	}
	fs.VisitAll(func(f *flag.Flag) {
		if !shown[f.Name] {
			t.Errorf("-h does not show -%s", f.Name)
		}
	})
}

// A file of robots, or a token, may come from an editor of another system.
func TestFilesOfOtherEditors(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "robots")
	for _, tt := range []struct {
		text   string
		robots int
		want   string
	}{
		{"\ufeffa localhost:6665\r\nb localhost:6666\r\n", 2, ""},
		{"# both\ra localhost:6665\rb localhost:6666", 2, ""},
		{"\xff\xfea\x00 \x00", 0, "save it as UTF-8"},
	} {
		must.Do(t, os.WriteFile(path, []byte(tt.text), 0o600))
		var o options
		err := o.addFile(path)
		if len(o.robots) != tt.robots || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, %v", tt.text, o.robots, err)
		}
	}
	must.Do(t, os.WriteFile(path, []byte("\ufeffsecret\r\n"), 0o600))
	if token, err := readToken(path); token != "secret" || err != nil {
		t.Errorf("token %q, %v", token, err)
	}
}

func TestBadFlags(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "robots")
	must.Do(t, os.WriteFile(file, []byte("# comment\na localhost:6665\nb\n"), 0o644))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-robot", "a"}, "NAME=HOST:PORT"},
		{[]string{"-robot", "a.b=localhost:1"}, "letters"},
		{[]string{"-robot", "a=localhost"}, "HOST:PORT"},
		{[]string{"-robot", "a=localhost:66650"}, "a TCP port is 1 to 65535"},
		{[]string{"-robot", "a=localhost:0"}, "a TCP port is 1 to 65535"},
		{[]string{"-robot", "a=localhost:1", "-robot", "a=localhost:2"}, "two robots"},
		{[]string{"-robots", file}, "robots:3: want NAME HOST:PORT"},
		{[]string{"-robot", "a=localhost:1 page=javascript:alert(1)"}, "page=http://"},
		{[]string{"-robot", "a=localhost:1 at=1,2"}, "at=X,Y,HEADING"},
		{[]string{"-robot", "a=localhost:1 at=1,2,NaN"}, "at=X,Y,HEADING"},
		{[]string{"-robot", "a=localhost:1 colour=red"}, "neither page"},
		{[]string{"-fleet", "a b"}, "-fleet"},
		{[]string{"-http", "8090"}, `-http: "8090" is not HOST:PORT`},
		{[]string{"-listen", "localhost"}, `-listen: "localhost" is not HOST:PORT`},
		{[]string{"-access", "fleet.access"}, "-access, -proxy and -tls-... are for the page of -http"},
		{[]string{"-http", "127.0.0.1:4222"}, "-http and -listen have one address"},
		{[]string{"-replicas", "3"}, "-replicas 3 is for a cluster of -nats"},
		{[]string{"-nats", "tls://localhost:1", "-replicas", "2"}, "want 1, 3 or 5"},
		{[]string{"-creds", "x"}, "-creds is for -nats"},
		{[]string{"-nats", "tls://localhost:1", "-cert", "x"}, "-cert and -key"},
		{[]string{"-record", "lazer"}, `-record: there is no interface "lazer"`},
		{[]string{"-record-size", "0"}, "-record-size"},
		{[]string{"-record-age", "1ms"}, "-record-age"},
		{[]string{"-frob"}, "frob"},
		{[]string{"extra"}, "unexpected"},
	} {
		if _, err := parseOptions(c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
	if out, err := exec.Command(program, "exprt").CombinedOutput(); err == nil || !strings.Contains(string(out), `there is no command "exprt"; there are export and schema`) {
		t.Errorf("%v, %s", err, out)
	}
	cmd := exec.Command(program, "-frob")
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != exitUsage {
		t.Errorf("a bad flag: %v", err)
	}
}
