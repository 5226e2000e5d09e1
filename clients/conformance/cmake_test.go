package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
)

// cmakeProject is a project of a user, with programs in C and C++. It is given how it takes the libraries.
const cmakeProject = `cmake_minimum_required(VERSION 3.10)
project(mine C CXX)
%s
add_executable(hello hello.c)
target_link_libraries(hello player::player)
add_executable(read read.cpp)
target_link_libraries(read player::cpp)
if(TARGET player::tls)
  add_executable(tls tls.c)
  target_link_libraries(tls player::tls)
endif()
`

// cmakeSources are its programs.
var cmakeSources = map[string]string{
	"hello.c": `#include <player.h>
#include <stdlib.h>
int main(int n, char **a) {
  player_client *c = player_create();
  return n < 2 || player_connect(c, "127.0.0.1", atoi(a[1]), 20000) || player_request(c, "sr", 20000) || player_read(c, 20000);
}
`,
	"read.cpp": `#include <player.hpp>
int main(int, char **a) {
  player::Client robot("127.0.0.1", std::stoi(a[1]));
  auto sonar = robot.sonar();
  robot.read();
  return sonar.ranges_mm().size() != 16;
}
`,
	"tls.c": `#include <player_tls.h>
int main(void) {
  player_client *c = player_create();
  player_tls tls = {"nothing.pem", NULL, NULL, NULL};
  return player_use_tls(c, &tls) != PLAYER_USAGE;
}
`,
}

// TestCMake builds a project of a user in both ways that README.md of clients/cpp names, and runs it.
func TestCMake(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	for _, program := range []string{"cmake", "make", "c++"} {
		needs.Program(t, program)
	}
	readSources(t)
	port := ports.Free(t, 2)
	server := &process{binary: buildServer(t), flags: []string{"-stage", "../../simulation/worlds/room.world"}, port: port, page: port + 1}
	server.start(t)
	clients := must.Get(filepath.Abs(".."))(t)
	installed := t.TempDir()
	build := t.TempDir()
	run(t, nil, "cmake", "-S", filepath.Join(clients, "cpp"), "-B", build, "-DBUILD_SHARED_LIBS=ON")
	run(t, nil, "cmake", "--build", build)
	run(t, nil, "cmake", "--install", build, "--prefix", installed)
	for name, how := range map[string]string{
		"add_subdirectory": fmt.Sprintf("add_subdirectory(%q clients)", filepath.Join(clients, "cpp")),
		"find_package":     "find_package(player 1 REQUIRED)",
	} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			must.Do(t, os.WriteFile(filepath.Join(project, "CMakeLists.txt"), fmt.Appendf(nil, cmakeProject, how), 0o644))
			for file, text := range cmakeSources {
				must.Do(t, os.WriteFile(filepath.Join(project, file), []byte(text), 0o644))
			}
			run(t, nil, "cmake", "-S", project, "-B", project, "-DCMAKE_PREFIX_PATH="+installed)
			run(t, nil, "cmake", "--build", project)
			for _, program := range []string{"hello", "read", "tls"} {
				path := filepath.Join(project, program)
				if _, err := exec.LookPath(path); err != nil && program == "tls" { // there is no OpenSSL
					continue
				}
				run(t, nil, path, fmt.Sprint(port))
			}
		})
	}
}
