package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"player/e2e/must"
	"player/e2e/needs"
)

func at(t *testing.T) time.Time {
	t.Helper()
	return time.Date(2026, 11, 22, 7, 34, 12, 0, time.UTC)
}

const hash = "93ad744ac1f0e9d35d2a94a8e1f2b7b1f1e2d3c4"

func TestVersionOf(t *testing.T) {
	for tags, want := range map[string]string{
		"":                   "1.2.0~git20261122073412.93ad744ac1f0",
		"v1.2.0":             "1.2.0",
		"v1.2.0-rc1\nv1.2.0": "1.2.0",
		"v1.2.0-rc1":         "1.2.0~rc1",
		"v1.3.0":             "",
	} {
		if got, err := versionOf("1.2.0", tags, hash, at(t)); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, %v, want %s", tags, got, err, want)
		}
	}
}

func TestTarball(t *testing.T) {
	packed := must.Get(tarball([]file{
		{path: "usr/share/b", data: []byte("text"), conf: true},
		{path: "usr/bin/a", data: []byte("binary"), mode: 0o755},
	}, at(t)))(t)
	zip := must.Get(gzip.NewReader(bytes.NewReader(packed)))(t)
	if !zip.ModTime.IsZero() || zip.Name != "" {
		t.Errorf("the header has a time or a name: %+v", zip.Header)
	}
	var got []string
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(at(t)) {
			t.Errorf("%s: owner %d:%d, time %v", h.Name, h.Uid, h.Gid, h.ModTime)
		}
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name)
	}
	want := "drwxr-xr-x ./usr/\ndrwxr-xr-x ./usr/bin/\n-rwxr-xr-x ./usr/bin/a\ndrwxr-xr-x ./usr/share/\n-rw-r--r-- ./usr/share/b"
	if strings.Join(got, "\n") != want {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// dpkg reads the package: its configuration files, their owners, its checksums.
func TestDeb(t *testing.T) {
	needs.Programs(t)
	if err := errors.Join(exec.Command("dpkg-deb", "--version").Run(), exec.Command("go", "run", nfpm, "--version").Run()); err != nil {
		needs.Missing(t, "dpkg-deb or nfpm: ", err)
	}
	t.Chdir("..") // where packaging runs
	c := content{source: source{commit: hash, version: "1.2.0", time: at(t)}, binary: []byte("binary"), copyright: []byte("x")}
	files, err := c.system()
	if err != nil {
		needs.Missing(t, "git: ", err)
	}
	packed := must.Get(deb(c.source, playerServer("arm64"), service(""), files))(t)
	again, err := deb(c.source, playerServer("arm64"), service(""), files)
	if err != nil || !bytes.Equal(packed, again) {
		t.Errorf("two packages differ: %v", err)
	}
	path := filepath.Join(t.TempDir(), "player.deb")
	must.Do(t, os.WriteFile(path, packed, 0o666))
	for _, tt := range []struct{ args, want string }{
		{"-f x Version", "1.2.0-1\n"},
		{"-f x Architecture", "arm64\n"},
		{"-I x conffiles", "/etc/avahi/services/player.service\n/etc/player/player.cfg\n"},
		{"-I x md5sums", "9d7183f16acce70658f686ae7f1a4d20  usr/bin/player\n"},
		{"-c", "-rwxr-xr-x root/root         6 2026-11-22 07:34 ./usr/bin/player\n"},
		{"-c", "./usr/share/player/worlds/room.world\n"},
		{"-c", "./usr/share/doc/player/INSTALL.md\n"},
	} {
		args := strings.Fields(tt.args)
		args = append([]string{args[0], path}, args[min(2, len(args)):]...)
		cmd := exec.Command("dpkg-deb", args...)
		cmd.Env = append(os.Environ(), "TZ=UTC")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("dpkg-deb %s: %v\n%s", tt.args, err, out)
		}
	}
}

func TestCopyright(t *testing.T) {
	text := must.Get(copyright([]module{{path: "example.org/a_b", license: "Copyright 2020 Somebody\n\nDo as you like.\n"}}))(t)
	want := "\nFiles: modules/example.org/a_b/*\nCopyright: Copyright 2020 Somebody\nLicense: License-of-example.org-a-b\n" +
		" Copyright 2020 Somebody\n .\n Do as you like.\n"
	if !strings.HasSuffix(string(text), want) {
		t.Errorf("%s", text)
	}
}

// A module that two programs have in one version is listed once, and the modules that each links are listed for each.
func TestSBOM(t *testing.T) {
	a := module{path: "example.org/a", version: "v1.0.0", sum: "h1:x=", license: "Redistribution and use in source and binary\nforms ... Neither the name of"}
	older := module{path: "example.org/b", version: "v0.1.0+incompatible"}
	newer := module{path: "example.org/b", version: "v0.2.0"}
	text := must.Get(sbom(source{commit: hash, version: "1.2.0", time: at(t)},
		[]program{{"player", map[string]module{"a": a, "b": older}}, {"player-fleet", map[string]module{"a": a, "b": newer}}},
		[]library{{name: "a", purl: "pkg:npm/a", version: "1.2.0"}}))(t)
	var doc struct {
		Packages []struct {
			Name, SourceInfo, LicenseDeclared string
			ExternalRefs                      []struct{ ReferenceLocator string }
		}
		Relationships []struct{ SPDXElementID, RelationshipType, RelatedSPDXElement string }
	}
	must.Do(t, json.Unmarshal(text, &doc))
	var relations []string
	for _, r := range doc.Relationships {
		relations = append(relations, strings.ReplaceAll(r.SPDXElementID+" "+r.RelationshipType+" "+r.RelatedSPDXElement, "SPDXRef-", ""))
	}
	if want := []string{
		"DOCUMENT DESCRIBES player", "player STATIC_LINK example.org-a-v1.0.0", "player STATIC_LINK example.org-b-v0.1.0-incompatible",
		"DOCUMENT DESCRIBES player-fleet", "player-fleet STATIC_LINK example.org-a-v1.0.0", "player-fleet STATIC_LINK example.org-b-v0.2.0",
		"DOCUMENT DESCRIBES client-npm-a",
	}; !slices.Equal(relations, want) {
		t.Errorf("%q", relations)
	}
	if p := doc.Packages; len(p) != 6 || p[1].LicenseDeclared != "BSD-3-Clause" || p[2].LicenseDeclared != "NOASSERTION" || p[0].Name != "player" || p[1].SourceInfo != "go.sum h1:x=" ||
		p[1].ExternalRefs[0].ReferenceLocator != "pkg:golang/example.org/a@v1.0.0" || p[5].ExternalRefs[0].ReferenceLocator != "pkg:npm/a@1.2.0" {
		t.Errorf("%s", text)
	}
}

func TestManual(t *testing.T) {
	page := `Player serves.

usage: player [flags]
       player COMMAND

Try it:
  player -stage room

Commands (help COMMAND shows more)
  find     look for hardware   check    check a file
  list     list drivers

Flags
  -stage WORLD      simulate a world: a file, or one
                    of the list
  -max-per-address N  clients

.end\
`
	page = oneColumn(page)
	if got := strings.Join(commandsOf(page), " "); got != "find check list" {
		t.Errorf("commands %q", got)
	}
	want := `Player serves.
.PP
.EX
usage: player [flags]
       player COMMAND
.EE
.PP
.SS Try it
.EX
  player \-stage room
.EE
.PP
.SS Commands (help COMMAND shows more)
.TP
.B find
look for hardware
.TP
.B check
check a file
.TP
.B list
list drivers
.PP
.SS Flags
.TP
.B \-stage WORLD
simulate a world: a file, or one
of the list
.TP
.B \-max\-per\-address N
clients
.PP
\&.end\e
.PP
`
	if got := roff(page); got != want {
		t.Errorf("got\n%s", got)
	}
}
