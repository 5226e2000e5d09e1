package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"player/packaging/site"
)

// buildSite writes the pages of the clone as a web site for output, in a folder with the name of the
// version, by default the number of the next release.
func buildSite(output, version string) error {
	if version == "" {
		next, err := number()
		if err != nil {
			return err
		}
		version = next
	}
	missing, err := site.Build(".", output, version)
	if err != nil {
		return err
	}
	for _, what := range missing {
		fmt.Println("left out:", what)
	}
	fmt.Println(filepath.Join(output, version, "index.html"))
	return nil
}

// playerDoc describes the package of the pages.
func playerDoc() debian {
	return debian{"name": "player-doc", "arch": "all", "section": "doc", "description": strings.TrimSpace(descriptionDoc)}
}

const descriptionDoc = `pages of the Player robot device server
A web site that is read without a network, with search: installation, hardware,
configuration, the protocol, and the references of the client libraries. Open
/usr/share/doc/player/html/index.html in a browser.
`

// packSite packs the pages as an archive, whose folder has the name of the version, and as a package.
func packSite(src source) (results map[string][]byte, err error) {
	temp, err := os.MkdirTemp("", "player-site")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	missing, err := site.Build(".", temp, src.tag())
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("the site lacks %s", strings.Join(missing, ", "))
	}
	rights, err := copyright(nil)
	if err != nil {
		return nil, err
	}
	installed, err := src.documents("player-doc", rights)
	if err != nil {
		return nil, err
	}
	var archived []file
	err = filepath.WalkDir(temp, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, temp+string(filepath.Separator)))
		archived = append(archived, file{path: "player-site/" + name, data: data})
		if _, page, in := strings.Cut(name, "/"); in {
			installed = append(installed, file{path: "usr/share/doc/player/html/" + page, data: data})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	results = map[string][]byte{}
	if results[fmt.Sprintf("player-%s-site.tar.gz", src.version)], err = tarball(archived, src.time); err != nil {
		return nil, err
	}
	results[fmt.Sprintf("player-doc_%s_all.deb", src.debian())], err = deb(src, playerDoc(), nil, installed)
	return results, err
}
