package main

import (
	"embed"
	"encoding/json"
	"fmt"
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
	Type   string `json:"type,omitempty"` // "config": the administrator may change it
	Info   struct {
		Mode  int64     `json:"mode"`
		Owner string    `json:"owner"`
		Group string    `json:"group"`
		Time  time.Time `json:"mtime"`
	} `json:"file_info"`
}

// deb packs files for dpkg. Two packages of one commit are equal.
func deb(src source, arch string, files []file) ([]byte, error) {
	temp, err := os.MkdirTemp("", "player-deb")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	scripts := map[string]string{}
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		text, err := packaged(name)
		if err != nil {
			return nil, err
		}
		scripts[name] = filepath.Join(temp, name)
		if err := os.WriteFile(scripts[name], text, 0o755); err != nil {
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
		if err := os.WriteFile(e.Source, f.data, 0o666); err != nil {
			return nil, err
		}
		entries[i] = e
	}
	config, err := json.Marshal(map[string]any{
		"name": "player", "arch": arch, "version": src.version, "release": "1", "version_schema": "none",
		"maintainer": maintainer, "section": "electronics", "priority": "optional", "suggests": []string{"avahi-daemon"},
		"description": strings.TrimSpace(description), "mtime": src.time, "umask": 0o022, "contents": entries,
		"scripts": map[string]string{"postinstall": scripts["postinst"], "preremove": scripts["prerm"], "postremove": scripts["postrm"]},
	})
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

// packaged returns a file of the directory files.
func packaged(name string) ([]byte, error) { return files.ReadFile("files/" + name) }
