package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// companion is a program in addition to the server, in a package and an archive of its own.
type companion struct {
	program
	module  string                                       // the folder of its module
	build   func(s source, path, arch, arm string) error // for a processor
	place   string                                       // of the program on a Debian system
	about   string                                       // the package's description
	section string                                       // of Debian
	scripts map[string]string                            // see deb
	system  map[string]string                            // our files by their places; in an archive they are in system/
	manual  []string                                     // pages for users, of the folders docs and the program's own
}

// companions returns all.
func companions() []companion {
	return []companion{
		{
			program: program{"player-fleet", map[string]module{}}, module: "fleet", build: source.buildFleet,
			place: "usr/bin/player-fleet", about: descriptionFleet, section: "electronics", scripts: service("fleet-"),
			system: map[string]string{
				"usr/lib/systemd/system/player-fleet.service": "player-fleet.service",
				"etc/player/fleet.robots":                     "fleet.robots",
			},
			manual: []string{"docs/FLEET.md", "docs/fleet/subjects.md", "docs/fleet/failures.md", "docs/fleet-alerts.yml", "docs/fleet-grafana.json"},
		},
		{
			program: program{"player-vision", map[string]module{}}, module: ".", build: source.buildVision,
			place: "usr/lib/player/vision", about: descriptionVision, section: "electronics",
			manual: []string{"visitors/vision/colors.cfg", "visitors/vision/vision.cfg", "visitors/vision/webcam.cfg"},
		},
	}
}

const descriptionFleet = `Player robots on NATS
Any number of programs watch the robots of a fleet, and one at a time drives
each of them. It reads each robot once, stops one or all, records, and has a
page with all robots. The service has to be enabled.
`

const descriptionVision = `blobs of colours for the Player robot device server
A plugin that is the vision device of a robot with a camera: it finds blobs of
named colours in MJPEG. It is /usr/lib/player/vision.
`

// pack builds the program for a processor, in a folder, and packs it for Debian, where there is a
// package, and as an archive. It adds the modules of the build to the program's.
func (c companion) pack(src source, t target, temp string) (results map[string][]byte, err error) {
	built := filepath.Join(temp, c.name+"-"+t.name)
	if err := c.build(src, built, t.arch, t.arm); err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(built)
	if err != nil {
		return nil, err
	}
	rights, err := rightsOf(built, c.module, c.program)
	if err != nil {
		return nil, err
	}

	results = map[string][]byte{}
	folder := fmt.Sprintf("%s-%s-linux-%s", c.name, src.version, t.name)
	archived := []file{
		{path: path.Join(folder, path.Base(c.place)), data: binary, mode: 0o755},
		{path: folder + "/copyright", data: rights},
	}
	installed, err := src.documents(c.name, rights)
	if err != nil {
		return nil, err
	}
	overrides := fmt.Sprintf("# Static, so that one package fits every distribution and every old C library.\n%s: statically-linked-binary [%s]\n", c.name, c.place)
	installed = append(installed,
		file{path: c.place, data: binary, mode: 0o755},
		file{path: "usr/share/lintian/overrides/" + c.name, data: []byte(overrides)},
	)
	for to, name := range c.system {
		archived = append(archived, file{path: path.Join(folder, "system", name), data: packaged(name)})
		installed = append(installed, file{path: to, data: packaged(name), conf: strings.HasPrefix(to, "etc/")})
	}
	for _, name := range append(c.manual, "LICENSE") {
		place, isPage := strings.CutPrefix(name, "docs/") // pages keep their folders: they link to each other
		if !isPage {
			place = path.Base(name)
		}
		f, err := single(name, path.Join(folder, place))
		if err != nil {
			return nil, err
		}
		archived = append(archived, f)
		if name != "LICENSE" { // Debian has the text
			f.path = path.Join("usr/share/doc", c.name, place)
			installed = append(installed, f)
		}
	}
	if results[folder+".tar.gz"], err = tarball(archived, src.time); err != nil || t.debian == "" {
		return results, err
	}
	about := debian{"name": c.name, "arch": t.debian, "section": c.section, "suggests": []string{"player"}, "description": strings.TrimSpace(c.about)}
	name := fmt.Sprintf("%s_%s_%s.deb", c.name, src.debian(), t.debian)
	results[name], err = deb(src, about, c.scripts, installed)
	return results, err
}
