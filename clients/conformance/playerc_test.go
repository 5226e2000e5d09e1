package conformance

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
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
PLAYER_ADD_PLAYERC_CLIENT (values SOURCES ${P}/values.c)
find_package (playerc++ REQUIRED)
add_executable (helpers ${P}/helpers.cpp)
target_link_libraries (helpers playerc++)
find_package (playerc REQUIRED)
add_executable (collect ${P}/collect.c)
target_link_libraries (collect playerc)
`

func programsFolder(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../playerc/programs")
	if err != nil {
		t.Fatal(err)
	}
	return folder
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

// TestPlayer3 runs programs for Player 2 and 3 unchanged, and compares what they see with
// the truth of the simulation. Another one is compiled as their build files do it.
func TestPlayer3(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	needs.Program(t, "c++")
	needs.Program(t, "pkg-config")
	lookAtSources(t)
	binary := buildServer(t)
	prefix := compiled(t, "playerc", nil, func(prefix string) {
		run(t, []string{"CFLAGS=-O1", "CXXFLAGS=-O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"}, "../playerc/install.sh", prefix)
		compilePlayer3(t, prefix)
	})
	programs := filepath.Join(prefix, allPrograms)
	t.Run("names", func(t *testing.T) {
		t.Parallel()
		// Programs have names of their own, and any standard of C++.
		for _, standard := range []string{"gnu++98", "gnu++20"} {
			run(t, nil, "c++", "-std="+standard, "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"+prefix+"/include", "../playerc/names.cpp")
		}
	})
	servers := len(player3Programs)
	// No system of today has a package of Python 2.7, so the lack of it is no failure in CI.
	old := exec.Command("python2.7", "-c", "").Run() == nil
	for name := range player3Programs {
		if old && filepath.Ext(name) == ".py" {
			servers++
		}
	}
	next := ports.Free(t, each*servers)
	t.Run("cmake", func(t *testing.T) {
		t.Parallel()
		needs.Program(t, "cmake")
		project := t.TempDir()
		text := fmt.Sprintf(player3Project, prefix, programsFolder(t))
		if err := os.WriteFile(filepath.Join(project, "CMakeLists.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		run(t, nil, "cmake", "-DCMAKE_PREFIX_PATH="+prefix, "-S", project, "-B", project)
		run(t, nil, "cmake", "--build", project)
		if out := run(t, nil, filepath.Join(project, "helpers")); !strings.Contains(out, "host localhost 6665") {
			t.Errorf("the program prints\n%s", out)
		}
	})
	try := func(name string, place player3Place, program player3Program) {
		place.port = next
		next += each
		t.Run(name, func(t *testing.T) { place.try(t, program) })
	}
	locales := t.TempDir()
	// Without the sources of locales, which not every system has, programs are run in the one of C.
	if out, err := exec.Command("localedef", "-i", "de_DE", "-f", "UTF-8", filepath.Join(locales, german)).CombinedOutput(); err != nil {
		t.Logf("no locale %s: %v\n%s", german, err, out)
	}
	for name, program := range player3Programs {
		place := player3Place{name: name, binary: binary, prefix: prefix, programs: programs, locales: locales, rounds: 6000}
		try(name, place, program)
		if old && filepath.Ext(name) == ".py" {
			place.python = "python2.7"
			try(name+" in Python 2.7", place, program)
		}
	}
}

// german is a locale with a comma in numbers. Programs that ask for the user's get it.
const german = "de_DE.UTF-8"

// player3Place is where a program is run.
type player3Place struct {
	name     string // of the program, with that of a world
	binary   string // the server
	prefix   string // of the installed libraries
	programs string // all in C++
	python   string // what runs a program in Python; empty: Python 3
	locales  string // folder of locales
	rounds   int    // of an exercise
	port     int    // the first of each of the server
}

// try runs a program beside a server, and checks what it prints.
func (at player3Place) try(t *testing.T, program player3Program) {
	t.Parallel()
	dir := t.TempDir()
	world, text := filepath.Join(dir, "test.world"), arena
	environment, arguments := program.environment, []string{}
	name, place, exercise := strings.Cut(at.name, " in ")
	if exercise {
		if err := os.CopyFS(dir, worlds.Files); err != nil { // its includes and pictures
			t.Fatal(err)
		}
		file, err := worlds.Files.ReadFile(place + worlds.Extension)
		if err != nil {
			t.Fatal(err)
		}
		text = ownPort.ReplaceAllString(string(file), "")
		arguments = append([]string{strconv.Itoa(at.rounds)}, program.arguments...)
	}
	if program.clients > 0 {
		text += fmt.Sprintf("lockstep %d\nspeedup 0\n", program.clients)
		environment = append(slices.Clone(environment), "PLAYERC_STEP=1")
	}
	if err := os.WriteFile(world, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := &process{binary: at.binary, flags: []string{"-stage", world}, port: at.port, page: at.port + each - 1}
	p.start(t)
	page := fmt.Sprintf("127.0.0.1:%d", p.page)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, at.programs, append([]string{name, "127.0.0.1", strconv.Itoa(p.port + program.robot)}, arguments...)...)
	source := filepath.Join("../playerc/programs", name)
	switch filepath.Ext(name) {
	case ".c":
		binary := filepath.Join(compiled(t, name, []string{source}, func(folder string) {
			run(t, nil, "cc", slices.Concat([]string{"-std=gnu99", "-Wall", "-Werror", "-o", filepath.Join(folder, name), source}, player3Flags(t, at.prefix, "playerc"))...)
		}), name)
		command = exec.CommandContext(ctx, binary, "127.0.0.1", strconv.Itoa(p.port))
	case ".cc":
		binary := filepath.Join(compiled(t, name, []string{source}, func(folder string) {
			run(t, nil, "c++", "-std=gnu++98", "-Wall", "-I"+at.prefix+"/include", "-o", filepath.Join(folder, name), source, "-L"+at.prefix+"/lib",
				"-lplayerc++", "-lplayerinterface", "-lplayerwkb", "-lplayercommon")
		}), name)
		command = exec.CommandContext(ctx, binary)
		environment = append(slices.Clone(environment), "ROBOT_HOST=127.0.0.1", fmt.Sprintf("ROBOT_PORT=%d", p.port))
	case ".py":
		interpreter := needs.Program(t, cmp.Or(at.python, "python3"))
		if program.python2 && at.python == "" {
			run(t, nil, needs.Program(t, "2to3"), "--write", "--nobackups", "--output-dir", dir, source)
			source = filepath.Join(dir, name)
		}
		command = exec.CommandContext(ctx, interpreter, "-B", source, "127.0.0.1", strconv.Itoa(p.port))
	}
	environment = append(slices.Clone(environment), "LOCPATH="+at.locales, "LC_ALL="+german)
	command.Env = append(append(os.Environ(), "PLAYERC_SIMULATION="+page, "PYTHONPATH="+at.prefix+"/lib/playerc/python"), environment...)
	out := new(waiting.Output)
	command.Stdout, command.Stderr = out, out
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
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
	result := &player3{t: t, output: map[string][]string{}, rounds: float64(at.rounds)}
	for line := range strings.Lines(out.String()) {
		if words := strings.Fields(line); len(words) > 0 {
			result.output[words[0]] = words[1:]
		}
	}
	if !program.stops {
		if result.truth, err = simulation.At(page).State(ctx); err != nil {
			t.Fatal(err)
		}
	}
	program.check(result)
	if t.Failed() {
		t.Logf("output:\n%s", out)
	}
}

// compiled returns a folder with what compile makes of the libraries, and of sources. It
// compiles nothing if that is there of these sources, compilers and tests, which have the
// options of the compilers.
func compiled(t *testing.T, name string, sources []string, compile func(folder string)) (folder string) {
	t.Helper()
	all := append([]string{"../playerc", "../c", "../cpp", "playerc_test.go", "playerc_programs_test.go"}, sources...)
	folder, err := built.Folder(name, all, []string{"cc", "c++"}, func(folder string) error {
		compile(folder)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// allPrograms is the name of the program that compilePlayer3 makes.
const allPrograms = "all"

// compilePlayer3 makes one program of all in C++ in clients/playerc/programs, as one file: the
// headers are compiled once. Each is in a namespace of its own, and its main is named
// program.
func compilePlayer3(t *testing.T, prefix string) {
	t.Helper()
	var all, list bytes.Buffer
	for _, header := range []string{"libplayerc++/playerc++.h", "libplayerc++/playererror.h", "replace.h", "cmath", "iostream", "stdio.h", "string.h", "unistd.h"} {
		fmt.Fprintf(&all, "#include <%s>\n", header)
	}
	for _, name := range slices.Sorted(maps.Keys(player3Programs)) {
		if filepath.Ext(name) != "" || strings.Contains(name, " in ") && player3Programs[program(name)].check != nil {
			continue
		}
		name = program(name)
		source := filepath.Join(programsFolder(t), name+".cpp")
		fmt.Fprintf(&all, "#define main program\nnamespace program_%s {\n#include %q\n}\n#undef main\n", name, source)
		fmt.Fprintf(&list, "  if (!strcmp(argv[1], %q)) return program_%s::program(argc - 1, argv + 1);\n", name, name)
	}
	fmt.Fprintf(&all, "int main(int argc, char **argv) {\n%s  return 2;\n}\n", list.String())
	source := filepath.Join(prefix, "all.cpp")
	if err := os.WriteFile(source, all.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, nil, "c++", slices.Concat([]string{"-Wall", "-Werror", "-o", filepath.Join(prefix, allPrograms), source}, player3Flags(t, prefix, "playerc++"))...)
}

// program returns the name of the program, without that of a world.
func program(name string) string {
	name, _, _ = strings.Cut(name, " in ")
	return name
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
