package main

import (
	"fmt"
	"os"
	"path"
)

// fleet builds the program of fleets at a path, and packs it for a processor: for Debian, where
// there is a package, and as an archive. It adds the modules of the build to those of
// the program.
func fleet(src source, t target, built string, of program) (results map[string][]byte, err error) {
	if err := src.buildFleet(built, t.arch, t.arm); err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(built)
	if err != nil {
		return nil, err
	}
	rights, err := rightsOf(built, "fleet", of)
	if err != nil {
		return nil, err
	}
	unit, err := packaged("player-fleet.service")
	if err != nil {
		return nil, err
	}
	robots, err := packaged("fleet.robots")
	if err != nil {
		return nil, err
	}
	manual, err := tree("docs", "", "FLEET.md", "fleet-alerts.yml", "fleet-grafana.json")
	if err != nil {
		return nil, err
	}

	results = map[string][]byte{}
	folder := fmt.Sprintf("player-fleet-%s-linux-%s", src.version, t.name)
	license, err := single("LICENSE", folder+"/LICENSE")
	if err != nil {
		return nil, err
	}
	files := []file{
		license,
		{path: folder + "/player-fleet", data: binary, mode: 0o755},
		{path: folder + "/copyright", data: rights},
		{path: folder + "/system/player-fleet.service", data: unit},
		{path: folder + "/system/fleet.robots", data: robots},
	}
	for _, f := range manual {
		files = append(files, file{path: path.Join(folder, f.path), data: f.data})
	}
	if results[folder+".tar.gz"], err = tarball(files, src.time); err != nil || t.debian == "" {
		return results, err
	}

	overrides, err := packaged("lintian-overrides-fleet")
	if err != nil {
		return nil, err
	}
	if files, err = src.documents("player-fleet", rights); err != nil {
		return nil, err
	}
	files = append(files,
		file{path: "usr/bin/player-fleet", data: binary, mode: 0o755},
		file{path: "usr/lib/systemd/system/player-fleet.service", data: unit},
		file{path: "etc/player/fleet.robots", data: robots, conf: true},
		file{path: "usr/share/lintian/overrides/player-fleet", data: overrides},
	)
	for _, f := range manual {
		files = append(files, file{path: path.Join("usr/share/doc/player-fleet", f.path), data: f.data})
	}
	name := fmt.Sprintf("player-fleet_%s_%s.deb", src.debian(), t.debian)
	results[name], err = deb(src, playerFleet(t.debian), service("fleet-"), files)
	return results, err
}
