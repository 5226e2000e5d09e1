package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is a part of the program that others wrote.
type module struct {
	path    string
	version string
	sum     string // of go.sum; empty: the standard library
	license string // the text
}

// program is one that is released.
type program struct {
	name    string
	modules map[string]module // by path: the modules that are linked into it, for any processor
}

func byPath(a, b module) int { return strings.Compare(a.path, b.path) }

// id returns the path in letters that licences and SPDX allow in a name.
func (m module) id() string { return strings.NewReplacer("/", "-", "_", "-").Replace(m.path) }

// licenseFile matches the names of the files with a module's licence.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)(\.txt|\.md)?$`)

// modulesOf returns the modules that are linked into a program of the module in a folder,
// and the standard library. Modules that are replaced by directories of this repository are our own.
func modulesOf(info *buildinfo.BuildInfo, folder string) ([]module, error) {
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	text, err := license(root)
	if err != nil {
		return nil, err
	}
	modules := []module{{path: "std", version: strings.TrimPrefix(info.GoVersion, "go"), license: text}}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			continue
		}
		dir, err := output("go", "list", "-C="+folder, "-m", "-f", "{{.Dir}}", dep.Path)
		if err != nil {
			return nil, err
		}
		if text, err = license(dir); err != nil {
			return nil, err
		}
		modules = append(modules, module{dep.Path, dep.Version, dep.Sum, text})
	}
	return modules, nil
}

// license returns the text of the licence in a directory.
func license(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return licenseFile.MatchString(e.Name()) })
	if i < 0 {
		return "", fmt.Errorf("%s has no licence", dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, entries[i].Name()))
	return strings.ReplaceAll(string(text), "\r", ""), err
}

// licenses are words that only one of the usual licences has, and its identifier in SPDX.
var licenses = []struct{ words, id string }{
	{"Apache License", apache},
	{"Neither the name of", "BSD-3-Clause"},
	{"Redistribution and use in source and binary forms", "BSD-2-Clause"}, // and not the words above
	{"Permission is hereby granted, free of charge", "MIT"},
	{"Permission to use, copy, modify, and/or distribute", "ISC"},
	{"Permission to use, copy, modify, and distribute", "ISC"},
}

// declared returns the licence of a module in the words of SPDX. A text with several of them, or with none, is for a
// person to read.
func (m module) declared() string {
	text := strings.Join(strings.Fields(m.license), " ")
	found := "NOASSERTION"
	for _, l := range licenses {
		switch {
		case !strings.Contains(text, l.words) || l.id == found || l.id == "BSD-2-Clause" && found == "BSD-3-Clause":
		case found != "NOASSERTION":
			return "NOASSERTION"
		default:
			found = l.id
		}
	}
	return found
}

const (
	apache       = "Apache-2.0"
	apacheSystem = " On Debian systems, the full text is in /usr/share/common-licenses/Apache-2.0.\n"
)

// copyright is the file of that name, in Debian's machine-readable format 1.0. The
// licences of the modules ask that their text accompanies the program.
func copyright(modules []module) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: player\n\nFiles: *\nCopyright: The Player authors\nLicense: %s\n%s", apache, apacheSystem)
	for _, m := range modules {
		name := "License-of-" + m.id()
		var holders []string
		for line := range strings.Lines(m.license) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "Copyright ") && !strings.Contains(line, "[yyyy]") && strings.ContainsAny(line, "0123456789") {
				holders = append(holders, line)
			}
		}
		if holders == nil {
			holders = []string{"The authors of " + m.path}
		}
		fmt.Fprintf(&b, "\nFiles: modules/%s/*\nCopyright: %s\nLicense: %s\n", m.path, strings.Join(holders, "\n "), name)
		if strings.Contains(m.license, "Apache License") {
			b.WriteString(apacheSystem)
			continue
		}
		for line := range strings.Lines(strings.TrimSpace(m.license) + "\n") {
			if line = strings.TrimRight(line, " \t\n"); line == "" {
				line = "."
			}
			fmt.Fprintf(&b, " %s\n", line)
		}
	}
	return b.Bytes(), nil
}

// sbom lists the parts of the programs, and the client libraries, which have only our own
// code, as SPDX 2.3 in JSON:
// https://spdx.github.io/spdx-spec/v2.3/
func sbom(src source, programs []program, clients []library) ([]byte, error) {
	type reference struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	type element struct {
		ID         string      `json:"SPDXID"`
		Name       string      `json:"name"`
		Version    string      `json:"versionInfo"`
		Location   string      `json:"downloadLocation"`
		Analyzed   bool        `json:"filesAnalyzed"`
		Declared   string      `json:"licenseDeclared"`
		Concluded  string      `json:"licenseConcluded"`
		Copyright  string      `json:"copyrightText"`
		Source     string      `json:"sourceInfo,omitempty"`
		References []reference `json:"externalRefs,omitempty"`
	}
	type relation struct {
		From string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
	const document, unknown = "SPDXRef-DOCUMENT", "NOASSERTION"
	var packages []element
	var relations []relation
	listed := map[string]bool{}
	for _, program := range programs {
		of := element{ID: "SPDXRef-" + program.name, Name: program.name, Version: src.version, Location: unknown, Declared: apache, Concluded: apache,
			Copyright: unknown, Source: "git commit " + src.commit}
		packages = append(packages, of)
		relations = append(relations, relation{document, "DESCRIBES", of.ID})
		for _, m := range slices.SortedFunc(maps.Values(program.modules), byPath) {
			p := element{ID: "SPDXRef-" + m.id() + "-" + strings.ReplaceAll(m.version, "+", "-"), Name: m.path, Version: m.version, Location: unknown,
				Declared: m.declared(), Concluded: unknown, Copyright: unknown,
				References: []reference{{"PACKAGE-MANAGER", "purl", fmt.Sprintf("pkg:golang/%s@%s", m.path, m.version)}}}
			if m.sum != "" {
				p.Source = "go.sum " + m.sum
			}
			if !listed[p.ID] {
				packages, listed[p.ID] = append(packages, p), true
			}
			relations = append(relations, relation{of.ID, "STATIC_LINK", p.ID})
		}
	}
	for _, l := range clients {
		name := strings.NewReplacer(":", "-", "/", "-").Replace(strings.TrimPrefix(l.purl, "pkg:"))
		p := element{ID: "SPDXRef-client-" + name, Name: l.name, Version: l.version, Location: unknown, Declared: apache, Concluded: apache, Copyright: unknown,
			Source: "git commit " + src.commit, References: []reference{{"PACKAGE-MANAGER", "purl", l.purl + "@" + l.version}}}
		packages = append(packages, p)
		relations = append(relations, relation{document, "DESCRIBES", p.ID})
	}
	text, err := json.MarshalIndent(map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": document,
		"name":              "player-" + src.version,
		"documentNamespace": fmt.Sprintf("https://spdx.org/spdxdocs/player-%s-%s", src.version, src.commit),
		"creationInfo":      map[string]any{"created": src.time.Format("2006-01-02T15:04:05Z"), "creators": []string{"Tool: player/packaging"}},
		"packages":          packages, "relationships": relations,
	}, "", "  ")
	return append(text, '\n'), err
}
