package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed files
var files embed.FS

// nfpm is the program that writes Debian packages.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"

const description = `robot device server
Every sensor and actuator of a robot is a device that programs in any language
read and command over TCP: position, sonar, laser, gripper, camera, vision. It
speaks the protocol of Player 0.7.4a, simulates robots, and records runs.
`

// entry is a file of a package, in the words of nfpm.
type entry struct {
	Source string `json:"src"`
	To     string `json:"dst"`
	Type   string `json:"type,omitempty"` // "config": the administrator may change it; "symlink": Source is where it leads
	Info   struct {
		Mode  int64     `json:"mode"`
		Owner string    `json:"owner"`
		Group string    `json:"group"`
		Time  time.Time `json:"mtime"`
	} `json:"file_info"`
}

// debian describes a package, in the words of nfpm.
type debian map[string]any

// playerServer describes the package of the server.
func playerServer(arch string) debian {
	return debian{"name": "player", "arch": arch, "section": "electronics", "suggests": []string{"avahi-daemon", "player-doc"}, "description": strings.TrimSpace(description)}
}

// libplayerDev describes the package of the libraries for C and C++. The linker of
// programs has to learn of a new shared library.
func libplayerDev(arch string) debian {
	return debian{"name": "libplayer-dev", "arch": arch, "section": "libdevel", "depends": []string{"libc6"}, "description": strings.TrimSpace(descriptionDev),
		"deb": map[string]any{"triggers": map[string]any{"activate_noawait": []string{"ldconfig"}}}}
}

const descriptionDev = `client of the Player robot device server, for C and C++
Headers, a static and a shared library, and files for pkg-config and CMake, for
programs that read and command a robot over TCP. The headers are in
/usr/include/player.
`

// libplayercDev describes the package for programs of Player 2 and 3.
func libplayercDev(arch string) debian {
	return debian{"name": "libplayerc-dev", "arch": arch, "section": "libdevel", "depends": []string{"libc6", "libgcc-s1", "libstdc++6"},
		"suggests": []string{"g++", "python3"}, "description": strings.TrimSpace(descriptionPlayerc)}
}

const descriptionPlayerc = `programs for Player 2 and 3 on the Player robot device server
The names of libplayerc++ and libplayerc, with files for pkg-config and CMake,
and the modules playerc and playercpp for Python in /usr/lib/playerc/python.
Programs are compiled unchanged.
`

// service returns the scripts that dpkg runs for a service: our files with a prefix, by nfpm's names of
// the moments.
func service(prefix string) map[string]string {
	return map[string]string{"postinstall": prefix + "postinst", "preremove": prefix + "prerm", "postremove": prefix + "postrm"}
}

// deb packs files for dpkg, which runs our files at the moments of their names. Two packages of one commit are equal.
func deb(src source, about debian, run map[string]string, files []file) ([]byte, error) {
	temp, err := os.MkdirTemp("", "player-deb")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	scripts := map[string]string{}
	for kind, name := range run {
		scripts[kind] = filepath.Join(temp, name)
		if err := os.WriteFile(scripts[kind], packaged(name), 0o755); err != nil {
			return nil, err
		}
	}
	entries := make([]entry, len(files))
	for i, f := range files {
		e := entry{Source: filepath.Join(temp, fmt.Sprint(i)), To: "/" + f.path}
		e.Info.Mode, e.Info.Owner, e.Info.Group, e.Info.Time = f.permissions(), "root", "root", src.time
		if f.conf {
			e.Type = "config"
		}
		if f.link != "" {
			e.Source, e.Type = f.link, "symlink"
			entries[i] = e
			continue
		}
		if err := os.WriteFile(e.Source, f.data, 0o666); err != nil {
			return nil, err
		}
		entries[i] = e
	}
	maps.Copy(about, debian{
		"version": src.version, "release": "1", "version_schema": "none", "maintainer": maintainer, "priority": "optional",
		"mtime": src.time, "umask": 0o022, "contents": entries, "scripts": scripts,
	})
	config, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	configFile, target := filepath.Join(temp, "nfpm.json"), filepath.Join(temp, "player.deb")
	if err := os.WriteFile(configFile, config, 0o666); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "run", nfpm, "package", "--config", configFile, "--packager", "deb", "--target", target)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=") // of its own module
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("nfpm: %w\n%s", err, out)
	}
	return os.ReadFile(target)
}

// packaged returns a file of the directory files. It panics if there is none.
func packaged(name string) []byte {
	text, err := files.ReadFile("files/" + name)
	if err != nil {
		panic(err) // the folder is part of the program
	}
	return text
}
