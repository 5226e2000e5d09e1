package app

import (
	"cmp"
	_ "embed" // archived
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// number is the version, or of the next one if a build is of no release: the one place for
// it (docs/RELEASING.md).
//
//go:embed version.txt
var number string

// Set by the linker (packaging/build.go); empty in any other build.
var linkedVersion, linkedCommit string

// archived is the commit of an archive of the source, which git archive writes into
// the file (.gitattributes). In a clone it begins with $.
//
//go:embed commit.txt
var archived string

// version returns the version and the commit, as far as this build knows them: from
// the linker, from an archive of the source, from the version control at build time, or
// from the module.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	return describe(info, linkedVersion, cmp.Or(linkedCommit, commitOf(archived)))
}

// commitOf returns the commit in the text of commit.txt, or "" if the source is no
// archive.
func commitOf(text string) string {
	if strings.HasPrefix(text, "$") {
		return ""
	}
	return strings.TrimSpace(text)
}

// describe is [version] for a given build. A build that is of no release has the suffix -dev.
// A pseudo-version of a module ends with the first digits of its commit.
func describe(info *debug.BuildInfo, version, commit string) string {
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	if number := strings.TrimSpace(number); version == "" && info.Main.Version == "v"+number {
		version = number // the tag of the release
	} else if version == "" {
		version = number + "-dev"
	}
	if commit == "" {
		commit = setting["vcs.revision"]
		if setting["vcs.modified"] == "true" {
			commit += " with changes"
		}
	}
	if i := strings.LastIndexByte(info.Main.Version, '-'); commit == "" && i > 0 {
		commit, _, _ = strings.Cut(info.Main.Version[i+1:], "+")
	}
	return fmt.Sprintf("player %s (commit %s, protocol 0.7.4a, %s)", version, cmp.Or(commit, "unknown"), info.GoVersion)
}
