package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// playerc packs the libraries for programs of Player 2 and 3, as their script installs
// them: for Debian, and as an archive for any folder. They are compiled for this computer.
func playerc(src source) (library, error) {
	l := library{name: "libplayerc", purl: "pkg:generic/libplayerc", version: src.version, results: map[string][]byte{}}
	installed, err := installPlayerc()
	if err != nil {
		return l, err
	}
	arch, _, err := debianOf(runtime.GOARCH)
	if err != nil {
		return l, err
	}
	rights, err := copyright(nil)
	if err != nil {
		return l, err
	}
	files, err := src.documents("libplayerc-dev", rights)
	if err != nil {
		return l, err
	}
	overrides, err := packaged("lintian-overrides-playerc")
	if err != nil {
		return l, err
	}
	files = append(files, file{path: "usr/share/lintian/overrides/libplayerc-dev", data: overrides})
	for _, f := range installed {
		f.path = "usr/" + f.path
		files = append(files, f)
	}
	name := fmt.Sprintf("libplayerc-dev_%s_%s.deb", src.debian(), arch)
	if l.results[name], err = deb(src, libplayercDev(arch), nil, files); err != nil {
		return l, err
	}

	folder := fmt.Sprintf("libplayerc-%s-linux-%s", src.version, runtime.GOARCH)
	files = files[:0]
	for from, to := range map[string]string{"clients/playerc/README.md": "README.md", "LICENSE": "LICENSE"} {
		one, err := single(from, folder+"/"+to)
		if err != nil {
			return l, err
		}
		files = append(files, one)
	}
	for _, f := range installed {
		f.path = folder + "/" + f.path
		files = append(files, f)
	}
	l.results[folder+".tar.gz"], err = tarball(files, src.time)
	return l, err
}

// installPlayerc returns what the script installs, with paths below the prefix.
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
