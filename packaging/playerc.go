package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// playerc packs the libraries for programs of Player 2 and 3, as their script installs
// them. Their libraries are also in lib on Debian: the script does not know another folder.
func playerc(src source) (library, error) {
	l := library{name: "libplayerc", purl: "pkg:generic/libplayerc", version: src.version, results: map[string][]byte{}}
	files, err := installPlayerc()
	if err != nil {
		return l, err
	}
	installed := func(string) ([]file, error) { return slices.Clone(files), nil }
	return l, l.pack(src, libplayercDev, installed, map[string]string{"clients/playerc/README.md": "README.md"})
}

// installPlayerc returns the files that the script installs, with paths below the prefix.
func installPlayerc() (files []file, err error) {
	prefix, err := os.MkdirTemp("", "player-playerc")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(prefix)
	const hardened = "-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2"
	cmd := exec.Command("clients/playerc/install.sh", prefix)
	cmd.Env = append(os.Environ(), "CFLAGS="+hardened, "CXXFLAGS="+hardened, "LDFLAGS=-s -Wl,-z,relro,-z,now -Wl,--build-id=none")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: install gcc and g++\n%s", cmd, err, out)
	}
	err = filepath.WalkDir(prefix, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f := file{path: strings.TrimPrefix(path, prefix+"/")}
		if d.Type()&fs.ModeSymlink != 0 {
			f.link, err = os.Readlink(path)
		} else {
			f.data, err = os.ReadFile(path)
		}
		files = append(files, f)
		return err
	})
	return files, err
}
