package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"player/packaging/shipped"
)

// source is the commit that is built.
type source struct {
	commit  string
	version string // without "v" and without the revision of the package
	time    time.Time
}

// readSource asks git. version replaces the version of the commit if it is not
// empty.
func readSource(version string) (source, error) {
	changes, err := output("git", "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return source{}, err
	}
	if changes != "" {
		return source{}, errors.New("there are changes that are not committed: a package is built from a commit")
	}
	commit, err := output("git", "rev-parse", "HEAD")
	if err != nil {
		return source{}, err
	}
	stamp, err := output("git", "log", "-1", "--format=%ct")
	if err != nil {
		return source{}, err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return source{}, err
	}
	src := source{commit: commit, version: version, time: time.Unix(seconds, 0).UTC()}
	if src.version == "" {
		tag, err := output("git", "tag", "--points-at", "HEAD", "v[0-9]*")
		if err != nil {
			return source{}, err
		}
		number, err := number()
		if err != nil {
			return source{}, err
		}
		if src.version, err = versionOf(number, tag, commit, src.time); err != nil {
			return source{}, err
		}
	}
	return src, nil
}

// number returns the number that the files of the repository have (docs/RELEASING.md).
func number() (string, error) {
	text, err := os.ReadFile("app/version.txt")
	return strings.TrimSpace(string(text)), err
}

// versionOf is the version of a commit with a number and these tags, one a line: the last one
// without its "v", which has to be the number, or one of its candidates. A commit without a tag is
// older than the release of its number in Debian's order, and commits are in the order of
// their times. It does not depend on other files of a clone.
func versionOf(number, tags, commit string, at time.Time) (string, error) {
	all := strings.Fields(tags)
	if len(all) == 0 {
		return fmt.Sprintf("%s~git%s.%.12s", number, at.Format("20060102150405"), commit), nil
	}
	tag := strings.TrimPrefix(all[len(all)-1], "v")
	if tagged, _, _ := strings.Cut(tag, "-"); tagged != number {
		return "", fmt.Errorf("the tag v%s is not the number in app/version.txt, %s", tag, number)
	}
	return strings.ReplaceAll(tag, "-", "~"), nil
}

// tag returns the version as tags of images may be: without "~".
func (s source) tag() string { return strings.ReplaceAll(s.version, "~", "-") }

// debian returns the version of the package. With a revision, the packaging is not
// part of the program for Debian, and the changelog has Debian's name.
func (s source) debian() string { return s.version + "-1" }

// build builds the server for a processor.
func (s source) build(path, arch, arm string) error {
	link := fmt.Sprintf("-X player/app.linkedVersion=%s -X player/app.linkedCommit=%s", s.version, s.commit)
	return compileProgram(".", ".", path, arch, arm, link, shipped.Flags()...)
}

// buildFleet builds the program of fleets for a processor.
func (s source) buildFleet(path, arch, arm string) error {
	return compileProgram("fleet", ".", path, arch, arm, "-X main.linkedVersion="+s.version, "-trimpath")
}

// buildVision builds the plugin that finds blobs of colours for a processor.
func (s source) buildVision(path, arch, arm string) error {
	return compileProgram(".", "./visitors/vision", path, arch, arm, "", shipped.Flags()...)
}

// compileProgram builds a static program of the module in a folder. Nothing of the environment, of
// the path of the clone or of the state of git gets into it. For 386 it computes numbers with a point in software: the
// computers inside of Pioneers are older than SSE2, and Go has no code for the x87.
func compileProgram(module, program, path, arch, arm, link string, flags ...string) error {
	args := append([]string{"build", "-C=" + module}, flags...)
	cmd := exec.Command("go", append(args, "-buildvcs=false", "-ldflags="+shipped.Link(arch)+" "+link, "-o", path, program)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOARM="+arm,
		"GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GO386=softfloat", "GOARM64=v8.0", "GORISCV64=rva20u64")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build of %s in %s for %s: %w", program, module, arch, err)
	}
	return nil
}

// output runs a program and returns its output, without the last newline.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "GOWORK=off") // go list: the modules of the build above
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}
