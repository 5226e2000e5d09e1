package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
)

// firstPrograms has, by language, the command that compiles a program of version 1.0, the one that runs it, and what its
// programs print, as regular expressions. The commands run in BUILD: a folder with the files of the client and, in
// examples, the programs. NAME is a program.
var firstPrograms = map[string]struct {
	compile, run string
	prints       words
}{
	"c": {"cc -std=c99 -Wall -Wextra -Werror -I. -c -o NAME.o examples/NAME.c && cc -std=c99 -c player.c && cc -o NAME NAME.o player.o", "./NAME HOST PORT ROUNDS",
		words{"hello": `(?m)^sonar \(mm\)( \d+){16}$`, "watch": `p, +\d+\.\d ms old: x -?\d+ y`}},
	"cpp": {"c++ -std=c++17 -Wall -Wextra -Werror -I../c -c -o NAME.o examples/NAME.cpp && c++ -o NAME NAME.o player.o", "./NAME HOST PORT ROUNDS",
		words{"hello": `(?m)^sonar:( \d+){16}$`, "watch": `sonar ahead \d+ left`}},
	"java": {"javac -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -d build examples/NAME.java src/player/*.java",
		"java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp build NAME HOST PORT ROUNDS",
		words{"Hello": `(?m)^\[\d+(, \d+){15}\]$`, "Watch": `sonar ahead \d+ mm`}},
	"tcl": {"", "tclsh examples/NAME.tcl HOST PORT ROUNDS", words{"hello": `(?m)^\d+( \d+){15}$`, "watch": `sonar ahead \d+ mm`}},
	"python": {"", "python3 -W error -m examples.NAME HOST:PORT -n ROUNDS",
		words{"hello": `(?m)^sonar \(mm\)( \d+){16}$`, "watch": `sonar`}},
	"javascript": {"", "node examples/NAME.js HOST:PORT -n ROUNDS", words{"hello": `(?m)^sonar \(mm\)( \d+){16}$`, "watch": `sonar( \d+){16} mm`}},
	"go":         {"go -C REPOSITORY build -o BUILD/NAME ./clients/conformance/testdata/1.0/go", "./NAME -addr HOST:PORT -n ROUNDS", words{"hello": `(?m)^sonar \(mm\) \[\d+`}},
}

// The programs of version 1.0 in testdata/1.0 compile unchanged with today's libraries, run, and drive the robot.
func TestFirstPrograms(t *testing.T) {
	needs.Programs(t)
	binary := buildServer(t)
	repository := must.Get(filepath.Abs("../.."))(t)
	forEachLanguage(t, func(t *testing.T, l language) {
		root := t.TempDir()
		folder := filepath.Join(root, l.name)
		must.Do(t, os.CopyFS(filepath.Join(folder, "examples"), os.DirFS(filepath.Join("testdata/1.0", l.name))))
		for _, entry := range must.Get(os.ReadDir(l.folder()))(t) {
			if entry.Name() != "examples" {
				must.Do(t, os.Symlink(filepath.Join(repository, "clients", l.name, entry.Name()), filepath.Join(folder, entry.Name())))
			}
		}
		compile := func(command string) {
			t.Helper()
			cmd := exec.Command("sh", "-c", command) // it may have a pattern of files
			cmd.Dir = folder
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
		}
		if l.name == "cpp" { // it has the client in C in it
			must.Do(t, os.Symlink(filepath.Join(repository, "clients/c"), filepath.Join(root, "c")))
			compile("cc -std=c99 -c ../c/player.c")
		}
		for name, prints := range firstPrograms[l.name].prints {
			e := example{name: name, world: "room", rounds: 20}
			if strings.ToLower(name) == "hello" {
				e.way = 50 // mm
			}
			port := ports.Free(t, 2)
			fill := strings.NewReplacer("REPOSITORY", repository, "BUILD", folder, "NAME", name, "HOST", "127.0.0.1",
				"PORT", fmt.Sprint(port), "ROUNDS", fmt.Sprint(e.rounds)).Replace
			if firstPrograms[l.name].compile != "" {
				compile(fill(firstPrograms[l.name].compile))
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := &process{binary: binary, flags: []string{"-stage", e.world}, port: port, page: port + 1}
				p.start(t)
				if output := e.run(t, folder, port, strings.Fields(fill(firstPrograms[l.name].run))); !regexp.MustCompile(prints).MatchString(output) {
					t.Errorf("the program does not print %q:\n%s", prints, output)
				}
			})
		}
	})
}
