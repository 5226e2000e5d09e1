package main

import (
	"fmt"
	"os"
	"path"
	"strings"
)

// maintainer must have an address. The project has none, and this host is reserved for
// examples, so no mail reaches a stranger (RFC 2606).
const maintainer = "Player developers <player@example.org>"

// content is the content of packages and archives.
type content struct {
	source    source
	binary    []byte
	help      handbook
	copyright []byte
}

// system returns the files of a package, where Debian wants them.
func (c content) system() ([]file, error) {
	files := []file{
		{path: "usr/bin/player", data: c.binary, mode: 0o755},
		{path: "usr/share/bash-completion/completions/player", data: c.help.bash()},
		{path: "usr/share/zsh/vendor-completions/_player", data: c.help.zsh()},
		{path: "usr/share/fish/vendor_completions.d/player.fish", data: c.help.fish()},
	}
	for to, name := range map[string]string{
		"usr/lib/systemd/system/player.service": "player.service",
		"usr/lib/udev/rules.d/60-player.rules":  "60-player.rules",
		"etc/avahi/services/player.service":     "avahi.service",
		"usr/share/lintian/overrides/player":    "lintian-overrides",
		"etc/player/player.cfg":                 "player.cfg",
	} {
		files = append(files, file{path: to, data: packaged(name), conf: strings.HasPrefix(to, "etc/")})
	}
	docs, err := c.source.documents("player", c.copyright)
	if err != nil {
		return nil, err
	}
	manual := file{path: "usr/share/man/man1/player.1.gz"}
	if manual.data, err = compress(c.help.manual(c.source)); err != nil {
		return nil, err
	}
	files = append(append(files, docs...), manual)
	return appendTrees(files, map[string]string{
		"usr/share/player/worlds":       "simulation/worlds",
		"usr/share/doc/player/examples": "config/examples",
		"usr/share/doc/player":          docFiles,
	})
}

// documents returns the files of every Debian package: copyright and changes.
func (s source) documents(name string, copyright []byte) ([]file, error) {
	changelog := fmt.Sprintf("%s (%s) unstable; urgency=medium\n\n  * Commit %s.\n    The changes are in changelog.gz.\n\n -- %s  %s\n",
		name, s.debian(), s.commit, maintainer, s.time.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return nil, err
	}
	folder := "usr/share/doc/" + name + "/"
	files := []file{{path: folder + "changelog.Debian.gz", data: []byte(changelog)}, {path: folder + "changelog.gz", data: changes}}
	for i := range files {
		if files[i].data, err = compress(files[i].data); err != nil {
			return nil, err
		}
	}
	return append(files, file{path: folder + "copyright", data: copyright}), nil
}

// archive returns the files of an archive, below a directory.
func (c content) archive(dir string) ([]file, error) {
	files := []file{
		{path: dir + "/player", data: c.binary, mode: 0o755},
		{path: dir + "/player.1", data: c.help.manual(c.source)},
		{path: dir + "/completions/player.bash", data: c.help.bash()},
		{path: dir + "/completions/_player", data: c.help.zsh()},
		{path: dir + "/completions/player.fish", data: c.help.fish()},
		{path: dir + "/copyright", data: c.copyright},
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{path: path.Join(dir, name), data: text})
	}
	for _, name := range []string{"player.service", "60-player.rules", "avahi.service", "player.cfg"} {
		files = append(files, file{path: path.Join(dir, "system", name), data: packaged(name)})
	}
	return appendTrees(files, map[string]string{dir + "/simulation/worlds": "simulation/worlds", dir + "/config/examples": "config/examples", dir + "/docs": docFiles})
}

// docFiles matches the pages, the dashboard and the alerts, and no pictures.
const docFiles = "docs/*.[jmy]*"

// appendTrees appends files for users to read: files of the repository that match a pattern of
// git, by the directory that they go to.
func appendTrees(files []file, trees map[string]string) ([]file, error) {
	for to, pattern := range trees {
		names, err := output("git", "ls-files", "--", pattern)
		if err != nil {
			return nil, err
		}
		for name := range strings.Lines(names) {
			if name = strings.TrimSpace(name); strings.HasSuffix(name, ".go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			below, inFolder := strings.CutPrefix(name, pattern+"/")
			if !inFolder { // the pattern is not a folder: its names are below docs
				_, below, _ = strings.Cut(name, "/")
			}
			files = append(files, file{path: path.Join(to, below), data: text})
		}
	}
	return files, nil
}
