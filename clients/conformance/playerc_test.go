package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"player/client/simulation"
	"player/e2e/acceptance"
	"player/e2e/built"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/waiting"
	"player/simulation/worlds"
)

// player3Project has programs as the build files of such projects make them. It is given
// where the library is installed, and the folder of the programs.
const player3Project = `cmake_minimum_required (VERSION 3.5)
project (tour)
set (CMAKE_MODULE_PATH "%s/share/cmake/Modules")
set (P "%s")
INCLUDE (UsePlayerC++)
PLAYER_ADD_PLAYERCPP_CLIENT (wander SOURCES ${P}/wander.cpp)
INCLUDE (UsePlayerC)
PLAYER_ADD_PLAYERC_CLIENT (driving SOURCES ${P}/driving.c)
find_package (playerc++ REQUIRED)
add_executable (readings ${P}/readings.cpp)
target_link_libraries (readings playerc++)
find_package (playerc REQUIRED)
add_executable (things ${P}/things.c)
target_link_libraries (things playerc)
`

// programFiles returns the paths of the programs.
func programFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../playerc/programs/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return files
}

// normal returns degrees as radians in (-pi, pi].
func normal(degrees float64) float64 {
	r := math.Remainder(degrees*math.Pi/180, 2*math.Pi)
	if r <= -math.Pi {
		return math.Pi
	}
	return r
}

// each server has ten ports for its robots, and one for its page.
const each = 11

// TestPlayer3 runs programs for Player 2 and 3 unchanged, and compares their data with
// the truth of the simulation. Others are compiled as their build files do it.
func TestPlayer3(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	needs.Program(t, "c++")
	needs.Program(t, "pkg-config")
	readSources(t)
	binary := buildServer(t)
	prefix := compilePlayer3(t)
	t.Run("cmake", func(t *testing.T) {
		t.Parallel()
		needs.Program(t, "cmake")
		project := t.TempDir()
		programs := must.Get(filepath.Abs("../playerc/programs"))(t)
		text := fmt.Appendf(nil, player3Project, prefix, programs)
		must.Do(t, os.WriteFile(filepath.Join(project, "CMakeLists.txt"), text, 0o644))
		run(t, nil, "cmake", "-DCMAKE_PREFIX_PATH="+prefix, "-S", project, "-B", project)
		run(t, nil, "cmake", "--build", project)
		result := &player3{t: t}
		result.read(run(t, nil, filepath.Join(project, "readings")))
		helpers(result)
	})
	locales := t.TempDir()
	// Without the sources of locales, which not every system has, programs are run in the one of C.
	if out, err := exec.Command("localedef", "-i", "de_DE", "-f", "UTF-8", filepath.Join(locales, german)).CombinedOutput(); err != nil {
		t.Logf("no locale %s: %v\n%s", german, err, out)
	}
	// Current systems have no package of Python 2.7, so CI does not fail without it.
	old := exec.Command("python2.7", "-c", "").Run() == nil
	next := ports.Free(t, each*2*len(player3Programs))
	for name, program := range player3Programs {
		file, world, _ := strings.Cut(name, " in ")
		place := player3Place{file: file, world: world, binary: binary, prefix: prefix, python: "python3", locales: locales,
			port: next, rounds: 6000}
		next += each
		t.Run(name, func(t *testing.T) { place.try(t, program) })
		if old && filepath.Ext(file) == ".py" {
			place.python, place.port = "python2.7", next
			next += each
			t.Run(name+" in Python 2.7", func(t *testing.T) { place.try(t, program) })
		}
	}
}

// german is a locale with a comma in numbers. Programs that ask for the user's get it.
const german = "de_DE.UTF-8"

// player3Place is where a program is run.
type player3Place struct {
	file    string // of the program
	world   string // of an exercise; empty: arena
	binary  string // the server
	prefix  string // of the installed libraries and the compiled programs
	python  string // what runs a program in Python
	locales string // folder of locales
	rounds  int    // of an exercise
	port    int    // the first of each of the server
}

// command returns the command that runs the program.
func (at player3Place) command(t *testing.T, ctx context.Context, dir string, program player3Program) *exec.Cmd {
	t.Helper()
	arguments := []string{"127.0.0.1", strconv.Itoa(at.port)}
	if at.world != "" {
		arguments = append(append(arguments, strconv.Itoa(at.rounds)), program.arguments...)
	}
	source := filepath.Join("../playerc/programs", at.file)
	switch filepath.Ext(at.file) {
	case ".cpp":
		return exec.CommandContext(ctx, filepath.Join(at.prefix, allPrograms), append([]string{at.file}, arguments...)...)
	case ".py":
		if program.python2 && at.python == "python3" {
			run(t, nil, needs.Program(t, "2to3"), "--write", "--nobackups", "--output-dir", dir, source)
			source = filepath.Join(dir, at.file)
		}
		return exec.CommandContext(ctx, needs.Program(t, at.python), append([]string{"-B", source}, arguments...)...)
	}
	return exec.CommandContext(ctx, filepath.Join(at.prefix, at.file), arguments...)
}

// try runs a program and a server, and checks the program's output.
func (at player3Place) try(t *testing.T, program player3Program) {
	t.Parallel()
	dir := t.TempDir()
	world, text := filepath.Join(dir, "test.world"), arena
	if at.world != "" {
		must.Do(t, os.CopyFS(dir, worlds.Files)) // its includes and pictures
		file := must.Get(worlds.Files.ReadFile(at.world + worlds.Extension))(t)
		text = ownPort.ReplaceAllString(string(file), "")
	}
	p := &process{binary: at.binary, flags: []string{"-stage", world}, port: at.port, page: at.port + each - 1}
	if program.world != "" {
		text = program.world
	}
	config := filepath.Join(dir, "robot.cfg")
	switch {
	case program.sees != "": // a robot with many sensors says which of them shows the way
		p.flags = []string{config}
		text := "driver ( name \"stage\" world \"test.world\" )\ndriver ( name \"goto\" requires [\"position:0\" \"" + program.sees + "\"] )\n"
		must.Do(t, os.WriteFile(config, []byte(text), 0o644))
	case program.world != bare:
		p.flags = append(p.flags, "-goto")
	}
	if program.devices != "" {
		world, p.flags = config, []string{config}
		text = "driver ( name \"testpattern\" provides [" + program.devices + "] )\n"
	}
	page := fmt.Sprintf("127.0.0.1:%d", p.page)
	environment := append(os.Environ(), "PLAYERC_SIMULATION="+page, "PYTHONPATH="+at.prefix+"/lib/playerc/python",
		"LOCPATH="+at.locales, "LC_ALL="+german, "ROBOT_HOST=127.0.0.1", "PICTURES="+dir, fmt.Sprintf("ROBOT_PORT=%d", p.port))
	if program.clients > 0 {
		text += fmt.Sprintf("lockstep %d\nspeedup 0\n", program.clients)
		environment = append(environment, "PLAYERC_STEP=1")
	}
	must.Do(t, os.WriteFile(world, []byte(text), 0o644))
	p.start(t)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	command := at.command(t, ctx, dir, program)
	command.Env = append(environment, program.environment...)
	out := new(waiting.Output)
	command.Stdout, command.Stderr = out, out
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, command.Start())
	if program.stops {
		says := func(line string) {
			for !strings.Contains("\n"+out.String(), "\n"+line+"\n") && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
		}
		says("end")
		p.stop(t)
		if program.returns {
			says("lost")
			p.start(t)
		}
		_, _ = io.WriteString(in, "\n")
	}
	if err := command.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	result := &player3{t: t, rounds: float64(at.rounds)}
	result.read(out.String())
	if !program.stops && program.devices == "" {
		if result.truth, err = simulation.At(page).State(ctx); err != nil {
			t.Fatal(err)
		}
	}
	defer func() { // also after what ends the test at once
		if t.Failed() {
			t.Logf("output:\n%s", out)
		}
	}()
	program.check(result)
}

// read takes the program's output.
func (p *player3) read(output string) {
	p.output = map[string][]string{}
	for line := range strings.Lines(output) {
		if words := strings.Fields(line); len(words) > 0 {
			p.output[words[0]] = words[1:]
		}
	}
}

// allPrograms is the name of the program that compilePlayer3 makes.
const allPrograms = "all"

// compilePlayer3 returns a folder with the libraries and the compiled programs. It compiles nothing if that is there of
// these sources, compilers and tests, which have the options of the compilers.
//
// Those in C++ are one program, as one file: the headers are compiled once. Each is in a namespace of its own, and its
// main is named program.
func compilePlayer3(t *testing.T) (prefix string) {
	t.Helper()
	sources := []string{"../playerc", "../c", "../cpp", "playerc_test.go"}
	prefix, err := built.Folder("playerc", sources, []string{"cc", "c++"}, func(prefix string) error {
		options := []string{"CFLAGS=-O1", "CXXFLAGS=-O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"}
		run(t, options, "../playerc/install.sh", prefix)
		var all, list bytes.Buffer
		for header := range strings.FieldsSeq("libplayerc++/playerc++.h libplayerc++/playererror.h replace.h cmath iostream " +
			"locale.h stdio.h stdlib.h string.h unistd.h vector") {
			fmt.Fprintf(&all, "#include <%s>\n", header)
		}
		for _, source := range programFiles(t) {
			name := filepath.Base(source)
			binary := filepath.Join(prefix, name)
			switch filepath.Ext(name) {
			case ".cpp":
				absolute, err := filepath.Abs(source)
				if err != nil {
					return err
				}
				space := "program_" + strings.TrimSuffix(name, ".cpp")
				fmt.Fprintf(&all, "#define main program\nnamespace %s {\n#include %q\n}\n#undef main\n", space, absolute)
				fmt.Fprintf(&list, "  if (!strcmp(argv[1], %q)) return %s::program(argc - 1, argv + 1);\n", name, space)
			case ".c":
				run(t, nil, "cc", append([]string{"-std=gnu99", "-Wall", "-Wextra", "-Werror", "-o", binary, source},
					player3Flags(t, prefix, "playerc")...)...)
			case ".cc": // also in new C++
				strict := []string{"-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I" + prefix + "/include", source}
				run(t, nil, "c++", append([]string{"-std=gnu++20", "-fsyntax-only"}, strict...)...)
				run(t, nil, "c++", slices.Concat([]string{"-std=gnu++98", "-o", binary}, strict,
					[]string{"-L" + prefix + "/lib", "-lplayerc++", "-lplayerinterface", "-lplayerwkb", "-lplayercommon"})...)
			}
		}
		fmt.Fprintf(&all, "int main(int argc, char **argv) {\n%s  return 2;\n}\n", list.String())
		source := filepath.Join(prefix, "all.cpp")
		if err := os.WriteFile(source, all.Bytes(), 0o644); err != nil {
			return err
		}
		run(t, nil, "c++", append([]string{"-Wall", "-Wextra", "-Werror", "-o", filepath.Join(prefix, allPrograms), source},
			player3Flags(t, prefix, "playerc++")...)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return prefix
}

// ownPort is the port that a world gives a robot: tests choose their own.
var ownPort = regexp.MustCompile(` port \d+`)

// player3Flags are the compiler's for programs of a library, from pkg-config.
func player3Flags(t *testing.T, prefix, library string) []string {
	t.Helper()
	return strings.Fields(run(t, []string{"PKG_CONFIG_PATH=" + prefix + "/lib/pkgconfig"}, "pkg-config", "--cflags", "--libs", library))
}

// run runs a program, which has to succeed, and returns its output.
func run(t *testing.T, environment []string, program string, arguments ...string) (output string) {
	t.Helper()
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), environment...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}
