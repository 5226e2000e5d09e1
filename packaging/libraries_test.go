package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/server"
)

func TestSpellings(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.0":                                "1.2.0 1.2.0 1.2.0",
		"1.3.0~rc1":                            "1.3.0rc1 1.3.0b1 1.3.0-rc.1",
		"0.9.0~git20261122073412.93ad744ac1f0": "0.9.0.dev20261122073412 0.9.0a20261122073412 0.9.0-git.20261122073412",
		"999":                                  "999 999 999.0.0",
	} {
		src := source{version: version}
		if got := src.python() + " " + src.tcl() + " " + src.semantic(); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

// place is an empty folder to install a library in, and a server with sonars.
type place struct {
	*testing.T
	dir  string
	port string
	env  []string // beside that of the test
}

// run runs a program in the place and returns its output.
func (p place) run(name string, args ...string) string {
	p.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), p.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (p place) write(name string, text []byte) {
	p.Helper()
	path := filepath.Join(p.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644)); err != nil {
		p.Fatal(err)
	}
}

// hello checks the output of a program that reads the sonar at the front left.
func (p place) hello(name string, args ...string) {
	p.Helper()
	if out := p.run(name, append(args, p.port)...); !strings.Contains(out, "sonar 1234 mm") {
		p.Errorf("%s: %q", name, out)
	}
}

// sonars serves one reading to each client until the test ends, and returns its port.
func sonars(t *testing.T) (port string) {
	t.Helper()
	_, port, _ = net.SplitHostPort(ports.Serve(t, func(conn net.Conn) {
		if _, err := io.ReadFull(conn, make([]byte, len("dr\x00\x02sr"))); err != nil {
			return
		}
		_, _ = conn.Write([]byte("r\x00\x02srs\x00\x20" + strings.Repeat("\x04\xd2", 16))) // else hello fails
		_, _ = io.Copy(io.Discard, conn)
	}))
	return port
}

const (
	helloC = `#include <stdio.h>
#include <stdlib.h>
#include <player.h>
int main(int n, char **arguments) {
  player_client *robot = player_create();
  if (n < 2 || player_connect(robot, "127.0.0.1", atoi(arguments[1]), 20000) || player_request(robot, "sr", 20000) || player_read(robot, 20000))
    return printf("%s\n", player_error(robot)), 1;
  printf("sonar %d mm\n", player_get_sonar(robot)[0]);
  player_destroy(robot);
  return 0;
}
`
	// A program of version 1.0, with the structure.
	helloStruct = `#include <stdio.h>
#include <stdlib.h>
#include <player.h>
static player_client robot;
int main(int n, char **arguments) {
  if (n < 2 || player_connect(&robot, "127.0.0.1", atoi(arguments[1]), 20000) || player_request(&robot, "sr", 20000) || player_read(&robot, 20000))
    return printf("%s\n", robot.error), 1;
  printf("sonar %d mm\n", robot.sonar[0]);
  return 0;
}
`
	helloCpp = `#include <cstdio>
#include <player.hpp>
int main(int, char **arguments) {
  player::Client robot("127.0.0.1", std::stoi(arguments[1]), std::chrono::seconds(20));
  player_request(robot.handle(), "sr", 20000); // the server of this test has no list of devices
  robot.read();
  std::printf("sonar %d mm\n", player_get_sonar(robot.handle())[0]);
}
`
	helloPython = `import sys
from playerclient import PlayerClient
with PlayerClient("127.0.0.1", int(sys.argv[1])) as robot:
    robot.request("sr", timeout=20)
    robot.read(timeout=20)
    print("sonar", robot.sonar[0], "mm")
`
	helloNode = `import { PlayerClient } from "playerclient";
const robot = new PlayerClient();
await robot.connect("127.0.0.1", Number(process.argv[2]), 20000);
await robot.request("sr", 20000);
await robot.read(20000);
console.log("sonar", robot.sonar[0], "mm");
robot.close();
`
	helloJava = `import player.PlayerClient;
class Hello {
    public static void main(String[] arguments) throws Exception {
        try (PlayerClient robot = new PlayerClient("127.0.0.1", Integer.parseInt(arguments[0]), 20000)) {
            robot.request("sr");
            robot.getData();
            System.out.println("sonar " + robot.sonar[0] + " mm");
        }
    }
}
`
	helloTcl = `package require player
set robot(timeout) 20000
player::Connect robot 127.0.0.1 [lindex $argv 0]
player::Request robot sr
player::Read robot
puts "sonar [lindex $robot(sonar) 0] mm"
`
	helloCMake = `cmake_minimum_required(VERSION 3.10)
project(hello C CXX)
find_package(player 1.2 REQUIRED)
add_executable(shared hello.c)
target_link_libraries(shared player::player)
add_executable(static hello.c)
target_link_libraries(static player::static)
add_executable(cpp hello.cpp)
target_link_libraries(cpp player::cpp)
`
	helloGo = `package main

import (
	"context"
	"fmt"
	"os"

	"` + published + `/client"
)

func main() {
	ctx := context.Background()
	robot, err := client.Dial(ctx, "127.0.0.1:"+os.Args[1])
	if err == nil {
		err = robot.Request(ctx, "sr")
	}
	if err == nil {
		err = robot.Read(ctx)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("sonar", robot.Sonar[0], "mm")
}
`
)

// TestLibraries installs each library in an empty place, offline, and runs a program there. RELEASE is a folder with the
// files of a release 1.2.0, which need not be made again (packaging/test.sh).
func TestLibraries(t *testing.T) {
	acceptance.Only(t)
	src := source{commit: hash, version: "1.2.0", time: at(t)}
	for _, program := range []string{"git", "cc", "ar", "javac", "javadoc"} {
		needs.Program(t, program)
	}
	root := must.Get(filepath.Abs(".."))(t)
	packed := map[string][]byte{}
	t.Run("pack", func(t *testing.T) {
		t.Chdir(root)
		if err := exec.Command("go", "run", nfpm, "--version").Run(); err != nil {
			needs.Missing(t, "nfpm: ", err)
		}
		packed["module.mod"], packed["module.zip"] = goModule(t, src)
		t.Chdir(root) // goModule left it
		if release := os.Getenv("RELEASE"); release != "" {
			for _, pattern := range []string{"playerclient*", "player-tcl*", "libplayer*"} {
				for _, path := range must.Get(filepath.Glob(filepath.Join(release, pattern)))(t) {
					packed[filepath.Base(path)] = must.Get(os.ReadFile(path))(t)
				}
			}
			return
		}
		all := must.Get(libraries(src))(t)
		for _, l := range all {
			for name, data := range l.results {
				packed[name] = data
			}
		}
	})
	if len(packed) == 0 {
		return // the test above says why
	}
	port := sonars(t)
	for name, install := range map[string]func(place){
		"go":         installGo,
		"wheel":      installWheel,
		"sdist":      installSdist,
		"javascript": installNpm,
		"java":       installJar,
		"tcl":        installTcl,
		"c":          installArchive,
		"debian":     installDeb,
		"player 3":   installPlayer3,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := place{T: t, dir: t.TempDir(), port: port}
			for name, data := range packed {
				p.write(name, data)
			}
			install(p)
		})
	}
}

// pip installs a file of Python into a new virtual environment with Debian's modules, and runs programs there.
func (p place) pip(name string, venv, args []string) {
	p.Helper()
	const python, own = "/usr/bin/python3", "env/bin/python"
	if out, err := exec.Command(python, "-c", "import build, hatchling, pip").CombinedOutput(); err != nil {
		needs.Missing(p.T, "python3-build, python3-hatchling and python3-pip: ", err, string(out))
	}
	p.run(python, append(append([]string{"-m", "venv", "--without-pip"}, venv...), "env")...)
	args = append([]string{"-m", "pip", "--python", own, "install", "-q", "--no-index", "--no-compile", "--disable-pip-version-check", "--root-user-action=ignore"}, args...)
	p.run(python, append(args, name)...)
	p.write("hello.py", []byte(helloPython))
	p.hello(own, "hello.py")
	got := p.run(own, "-c", `import importlib.metadata as m
about = m.metadata("playerclient")
print(about["Version"], about["License-Expression"], about["License-File"], about["Author"])`)
	if got != "1.2.0 Apache-2.0 LICENSE The Player authors\n" {
		p.Errorf("the metadata are %q", got)
	}
	if out := p.run("sh", "-c", "env/bin/player-log 2>&1; env/bin/player-ros 2>&1; true"); !strings.Contains(out, "usage: ") || !strings.Contains(out, "No module named 'rclpy'") {
		p.Errorf("the commands say %q", out)
	}
	needs.Program(p.T, "mypy") // it finds the types of what is installed
	p.run("mypy", "--strict", "--cache-dir", "cache", "--python-executable", own, "hello.py")
}

func installWheel(p place) { p.pip("./playerclient-1.2.0-py3-none-any.whl", nil, nil) }

// The sdist is built by the system's modules.
func installSdist(p place) {
	p.pip("./playerclient-1.2.0.tar.gz", []string{"--system-site-packages"}, []string{"--no-build-isolation"})
}

func installNpm(p place) {
	needs.Program(p.T, "npm")
	p.write("package.json", []byte(`{"private": true}`))
	p.run("npm", "install", "--offline", "--no-audit", "--no-fund", "--cache", "cache", "./playerclient-1.2.0.tgz")
	p.write("hello.mjs", []byte(helloNode))
	p.hello("node", "hello.mjs")
	// npm packs the same files by package.json.
	p.run("tar", "xf", "playerclient-1.2.0.tgz")
	var packs []struct {
		Files []struct{ Path string }
	}
	if err := json.Unmarshal([]byte(p.run("npm", "pack", "./package", "--dry-run", "--json", "--offline", "--cache", "cache")), &packs); err != nil || len(packs) != 1 {
		p.Fatal(err, packs)
	}
	var names []string
	for _, f := range packs[0].Files {
		names = append(names, "package/"+f.Path)
	}
	ours := strings.Fields(p.run("tar", "tf", "playerclient-1.2.0.tgz"))
	slices.Sort(names)
	if slices.Sort(ours); !slices.Equal(names, ours) {
		p.Errorf("npm packs %q, and packaging %q", names, ours)
	}
}

func installJar(p place) {
	p.write("Hello.java", []byte(helloJava))
	p.hello("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", "playerclient-1.2.0.jar", "Hello.java")
	for jar, want := range map[string]string{"playerclient-1.2.0-sources.jar": "player/PlayerClient.java", "playerclient-1.2.0-javadoc.jar": "player/PlayerClient.html"} {
		if out := p.run("jar", "tf", jar); !strings.Contains(out, want) {
			p.Errorf("%s: %s", jar, out)
		}
	}
	if out := p.run("java", "-p", "playerclient-1.2.0.jar", "--describe-module", "player"); !strings.Contains(out, "exports player\n") {
		p.Errorf("module: %s", out)
	}
	// The name by which Maven installs the jar, and the fields that a registry asks for. The address is that of a clone that is
	// published (packaging/modulepath).
	text, err := os.ReadFile(filepath.Join(p.dir, "playerclient-1.2.0.pom"))
	if err != nil {
		p.Fatal(err)
	}
	var pom struct {
		GroupID    string `xml:"groupId"`
		ArtifactID string `xml:"artifactId"`
		Version    string `xml:"version"`
		Packaging  string `xml:"packaging"`
		License    string `xml:"licenses>license>url"`
		Developer  string `xml:"developers>developer>name"`
	}
	if err := xml.Unmarshal(text, &pom); err != nil || pom.GroupID != "player" || pom.ArtifactID != "playerclient" || pom.Version != "1.2.0" || pom.Packaging != "" && pom.Packaging != "jar" ||
		pom.License == "" || pom.Developer == "" {
		p.Errorf("%v: %+v\n%s", err, pom, text)
	}
	buildByMaven(p)
}

// debianMaven is where Debian has the files that Maven fetches elsewhere.
const debianMaven = "/usr/share/maven-repo"

// buildByMaven builds the library as its language does, offline, and compares the classes.
func buildByMaven(p place) {
	needs.Program(p.T, "mvn")
	surefire, err := filepath.Glob(debianMaven + "/org/apache/maven/plugins/maven-surefire-plugin/2.22.*")
	if err != nil || len(surefire) == 0 {
		needs.Missing(p.T, "the plugins of Maven that .ci/run lists")
	}
	p.write("settings.xml", []byte("<settings><mirrors><mirror><id>debian</id><mirrorOf>*</mirrorOf><url>file://"+debianMaven+"</url></mirror></mirrors></settings>"))
	p.run("mkdir", "src")
	p.run("unzip", "-q", "-d", "src", "playerclient-1.2.0-sources.jar", "module-info.java", "player/*")
	p.run("mv", "playerclient-1.2.0.pom", "pom.xml")
	p.env = []string{"MAVEN_OPTS=-XX:+UseSerialGC -XX:TieredStopAtLevel=1"} // as site.BriefJVM
	p.run("mvn", "-B", "-q", "-s", "settings.xml", "-Dmaven.repo.local="+filepath.Join(p.dir, "repository"),
		"-Dsurefire.version="+filepath.Base(surefire[len(surefire)-1]), "package")
	for _, suffix := range []string{"", "-sources", "-javadoc"} {
		built := strings.Split(p.run("jar", "tf", "target/playerclient-1.2.0"+suffix+".jar"), "\n")
		for name := range strings.Lines(p.run("jar", "tf", "playerclient-1.2.0"+suffix+".jar")) {
			name = strings.TrimSpace(name)
			if suffix == "-javadoc" {
				if path.Ext(name) != ".html" || !strings.HasPrefix(name, "player/") {
					continue
				}
				name = "player/" + name // in the folder of the module
			}
			if !strings.HasPrefix(name, "META-INF/") && !slices.Contains(built, name) {
				p.Errorf("Maven's jar %s lacks %s", suffix, name)
			}
		}
	}
}

func installTcl(p place) {
	needs.Program(p.T, "tclsh")
	p.run("tar", "xf", "player-tcl-1.2.0.tar.gz")
	p.write("hello.tcl", []byte(helloTcl))
	p.env = []string{"TCLLIBPATH=" + filepath.Join(p.dir, "player-tcl-1.2.0")}
	p.hello("tclsh", "hello.tcl")
	for _, name := range []string{"player::simulation", "player::secure"} {
		p.write("version.tcl", []byte("package provide tls 1.7; puts [package require "+name+" 1.2]")) // no connection needs it here
		if version := p.run("tclsh", "version.tcl"); version != "1.2.0\n" {
			p.Errorf("version of %s: %q", name, version)
		}
	}
}

// installArchive finds the libraries for C and C++ by pkg-config, and compiles the source.
func installArchive(p place) {
	needs.Program(p.T, "pkg-config")
	names, err := filepath.Glob(filepath.Join(p.dir, "libplayer-1.2.0-linux-*.tar.gz"))
	if err != nil || len(names) != 1 {
		p.Fatal(names, err)
	}
	p.run("tar", "xf", names[0], "--strip-components=2", "--one-top-level=prefix")
	p.write("hello.c", []byte(helloC))
	p.write("struct.c", []byte(helloStruct))
	p.write("hello.cpp", []byte(helloCpp))
	p.env = []string{"PKG_CONFIG_PATH=" + filepath.Join(p.dir, "prefix/lib/pkgconfig"), "LD_LIBRARY_PATH=" + filepath.Join(p.dir, "prefix/lib")}
	p.run("sh", "-ec", `cc -std=c99 -pedantic-errors -o shared hello.c $(pkg-config --cflags --libs player)
c++ -std=c++17 -o cpp hello.cpp $(pkg-config --cflags --libs player)
cc -std=c99 -Iprefix/include/player -o source hello.c prefix/src/player.c
cc -std=c99 -o struct struct.c $(pkg-config --cflags --libs player)`)
	programs := []string{"shared", "cpp", "source", "struct"}
	if _, err := os.Stat("/usr/include/openssl/ssl.h"); err == nil { // the check installs it
		p.run("sh", "-ec", `cc -std=c99 -pedantic-errors -o tls hello.c $(pkg-config --variable=tls player) $(pkg-config --cflags --libs player openssl)`)
		programs = append(programs, "tls")
	}
	for _, name := range programs {
		p.hello("./" + name)
	}
}

// installDeb unpacks the package, whose libraries CMake finds.
func installDeb(p place) {
	for _, program := range []string{"dpkg-deb", "cmake", "make", "c++"} {
		needs.Program(p.T, program)
	}
	names, err := filepath.Glob(filepath.Join(p.dir, "libplayer-dev_1.2.0-1_*.deb"))
	if err != nil || len(names) != 1 {
		p.Fatal(names, err)
	}
	p.run("dpkg-deb", "-x", names[0], "root")
	p.write("hello.c", []byte(helloC))
	p.write("hello.cpp", []byte(helloCpp))
	p.write("CMakeLists.txt", []byte(helloCMake))
	p.run("cmake", "-S", ".", "-B", "build", "-DCMAKE_PREFIX_PATH="+filepath.Join(p.dir, "root/usr"), "-DCMAKE_LIBRARY_ARCHITECTURE="+triplet(p))
	p.run("cmake", "--build", "build")
	for _, name := range []string{"shared", "static", "cpp"} {
		p.hello("build/" + name)
	}
}

// player3 are programs for Player 3. They print where the robot is.
const (
	player3Cpp = `#include <libplayerc++/playerc++.h>
int main(int, char **arguments) {
  PlayerCc::PlayerClient robot("127.0.0.1", atoi(arguments[1]));
  PlayerCc::Position2dProxy wheels(&robot, 0);
  robot.Read();
  std::cout << "at " << wheels.GetXPos() << std::endl;
}
`
	player3C = `#include <libplayerc/playerc.h>
int main(int n, char **arguments) {
  playerc_client_t *robot = playerc_client_create(NULL, "127.0.0.1", atoi(arguments[1]));
  playerc_position2d_t *wheels = playerc_position2d_create(robot, 0);
  if (n < 2 || playerc_client_connect(robot) || playerc_position2d_subscribe(wheels, PLAYER_OPEN_MODE) || !playerc_client_read(robot))
    return printf("%s\n", playerc_error_str()), 1;
  printf("at %g\n", wheels->px);
  return 0;
}
`
	player3Python = `import sys
from playerc import *
robot = playerc_client(None, "127.0.0.1", int(sys.argv[1]))
wheels = playerc_position2d(robot, 0)
if robot.connect() != 0 or wheels.subscribe(PLAYERC_OPEN_MODE) != 0 or robot.read() is None:
    raise Exception(playerc_error_str())
print("at %g" % wheels.px)
`
)

// installPlayer3 unpacks the archive and the package for programs of Player 2 and 3, and
// runs programs of both in a world.
func installPlayer3(p place) {
	for _, program := range []string{"pkg-config", "dpkg-deb", "c++"} {
		needs.Program(p.T, program)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		p.Fatal(err)
	}
	p.run("go", "-C="+root, "build", "-o", filepath.Join(p.dir, "player"), ".")
	port := strconv.Itoa(ports.Free(p.T, 10))
	robot := programs.Start(p.T, exec.Command(filepath.Join(p.dir, "player"),
		"-stage", "room", "-bind", "127.0.0.1", "-http", "off", "-gp", port))
	robot.Await(p.T, server.LogServing)
	p.run("sh", "-ec", "tar xf libplayerc-1.2.0-linux-*.tar.gz --strip-components=2 --one-top-level=archive\nmkdir root\ndpkg-deb -x libplayerc-dev_1.2.0-1_*.deb root")
	p.write("hello.cpp", []byte(player3Cpp))
	p.write("hello.c", []byte(player3C))
	p.write("hello.py", []byte(player3Python))
	for _, prefix := range []string{"archive", "root/usr"} {
		lib := filepath.Join(p.dir, prefix, "lib")
		p.env = []string{"PKG_CONFIG_PATH=" + lib + "/pkgconfig", "PYTHONPATH=" + lib + "/playerc/python"}
		p.run("sh", "-ec", `c++ -o cpp hello.cpp $(pkg-config --cflags --libs playerc++)
cc -o c hello.c $(pkg-config --cflags --libs playerc)`)
		for _, command := range [][]string{{"./cpp"}, {"./c"}, {"python3", "hello.py"}} {
			if out := p.run(command[0], append(command[1:], port)...); out != "at 0\n" {
				p.Errorf("%s of %s: %q", command, prefix, out)
			}
		}
	}
}

// triplet returns the name of the folder with the libraries of the package.
func triplet(p place) string {
	p.Helper()
	names, err := filepath.Glob(filepath.Join(p.dir, "root/usr/lib/*/libplayer.a"))
	if err != nil || len(names) != 1 {
		p.Fatal(names, err)
	}
	return filepath.Base(filepath.Dir(names[0]))
}

// published is where the repository is in the test.
const published = "example.org/someone/robots"

// goModule sets the path of the module in a clone by the command of docs/CLIENTS.md, and
// packs the clone as a proxy of modules has it.
func goModule(t *testing.T, src source) (mod, zip []byte) {
	t.Helper()
	all := must.Get(tree(".", "."))(t)
	clone := place{T: t, dir: t.TempDir(), env: []string{"GOWORK=off"}}
	for _, f := range all {
		clone.write(f.path, f.data)
	}
	clone.run("git", "init", "-q")
	clone.run("git", "add", "--all")
	clone.run("go", "run", "./packaging/modulepath", published)
	for _, module := range []string{"./...", "-C=fleet ./..."} { // all imports are found, those of tests, too
		args := append([]string{"list"}, strings.Fields(module)...)
		args = slices.Insert(args, len(args)-1, "-e", "-deps", "-test", "-f", "{{with .Error}}{{.}}{{end}}")
		if errors := strings.TrimSpace(clone.run("go", args...)); errors != "" {
			t.Error(errors)
		}
	}
	if unformatted := clone.run("gofmt", "-l", "."); unformatted != "" {
		t.Errorf("gofmt would change %s", unformatted)
	}
	t.Chdir(clone.dir)
	files := must.Get(tree(".", published+"@v1.2.0"))(t)
	files = slices.DeleteFunc(files, func(f file) bool { // modules of their own
		return strings.Contains(f.path, "@v1.2.0/fleet/") || strings.Contains(f.path, "@v1.2.0/packaging/third_party/")
	})
	mod = must.Get(os.ReadFile("go.mod"))(t)
	zip = must.Get(zipped(files, src.time))(t)
	return mod, zip
}

// installGo follows docs/CLIENTS.md. The further modules that the server needs come
// from the cache of this computer.
func installGo(p place) {
	versions := "proxy/" + published + "/@v/v1.2.0."
	p.write(versions+"info", []byte(`{"Version":"v1.2.0"}`))
	p.run("mv", "module.mod", versions+"mod")
	p.run("mv", "module.zip", versions+"zip")
	cache := strings.TrimSpace(p.run("go", "env", "GOMODCACHE"))
	p.env = []string{"GOWORK=off", "GOFLAGS=-modcacherw", "GOSUMDB=off", "GOMODCACHE=" + filepath.Join(p.dir, "cache"),
		"GOPROXY=file://" + filepath.Join(p.dir, "proxy") + ",file://" + filepath.Join(cache, "cache/download")}
	p.write("hello.go", []byte(helloGo))
	p.run("go", "mod", "init", "example.org/hello")
	p.run("go", "get", published+"/client@v1.2.0")
	p.run("go", "build", "-o", "hello", ".")
	p.hello("./hello")
}

// TestAmalgam compiles the one source file of a release away from its parts.
func TestAmalgam(t *testing.T) {
	needs.Program(t, "cc")
	const name = "../clients/c/player.c"
	whole := must.Get(amalgam(name, must.Get(os.ReadFile(name))(t)))(t)
	if part.Match(whole) {
		t.Error("a part is not in it")
	}
	p := place{T: t, dir: t.TempDir()}
	p.write("player.c", whole)
	include := must.Get(filepath.Abs("../clients/c"))(t)
	p.run("cc", "-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-c", "-I"+include, "player.c")
}

// TestPackedTwice packs the libraries twice and compares.
func TestPackedTwice(t *testing.T) {
	for _, program := range []string{"git", "cc"} {
		needs.Program(t, program)
	}
	t.Chdir("..")
	src := source{commit: hash, version: "1.2.0", time: at(t)}
	for name, pack := range map[string]func(source) (library, error){"python": python, "npm": npm, "tcl": tcl} {
		one, err := pack(src)
		two, err2 := pack(src)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", name, err))
		}
		for file, data := range one.results {
			if !bytes.Equal(data, two.results[file]) {
				t.Errorf("two of %s differ", file)
			}
		}
	}
}
