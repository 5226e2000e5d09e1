// Packaging builds the files of a release, from the root of a clean clone:
//
//	go run ./packaging -o DIR
//
// DIR gets the server as .deb packages, archives (tar.gz) and container images (tar), the other programs as
// packages and archives, the client libraries as their languages install them, the pages as a web site and as a
// package, the raw results of the benchmarks, an SBOM and SHA256SUMS. Two builds of a commit with one version of Go,
// javac and cc are equal, byte by byte.
package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"player/tools"
)

// target is a processor that we build for.
type target struct {
	name   string // in the names of archives
	arch   string // GOARCH
	arm    string // GOARM
	debian string // architecture of the package; empty: there is none
}

// variant is the processor's, in the words of container images.
func (t target) variant() string {
	if t.arm == "" {
		return ""
	}
	return "v" + t.arm
}

// targets lists all. Raspberry Pi OS also calls ARMv6 armhf, so that package has the
// binary for ARMv6, which also runs on ARMv7. The one for i386 needs no SSE2 (compileProgram).
func targets() []target {
	return []target{
		{"amd64", "amd64", "", "amd64"},
		{"arm64", "arm64", "", "arm64"},
		{"armv7", "arm", "7", ""},
		{"armv6", "arm", "6", "armhf"},
		{"riscv64", "riscv64", "", ""},
		{"i386", "386", "", "i386"},
	}
}

// maxBinary is the limit of a binary, in bytes: it has to fit small computers.
const maxBinary = 12 << 20

func main() {
	output := flag.String("o", "", "directory for the results")
	replace := flag.Bool("f", false, "replace results that exist")
	only := flag.String("only", "", "build for this processor only")
	version := flag.String("version", "", "version, instead of the one from git")
	clients := flag.Bool("clients", true, "pack the client libraries, the web site and the results of the benchmarks also")
	pages := flag.String("site", "", "write the pages as a web site for this `directory`, and do nothing else")
	notes := flag.String("notes", "", "print what CHANGELOG.md and -nightly say of this release, and do nothing else")
	nightly := flag.String("nightly", "none", "`directory` with the results of .ci/nightly, which the release has, also; none: it has none")
	tested := flag.String("tested", "HEAD", "with -nightly: the results must be of this `commit`")
	flag.Parse()
	results, err := nightlyOf(*nightly, *tested)
	if err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
	if *notes != "" {
		if err := printNotes(*notes, results); err != nil {
			fmt.Fprintln(os.Stderr, "packaging:", err)
			os.Exit(1)
		}
		return
	}
	if *pages != "" {
		if err := buildSite(*pages, *version); err != nil {
			fmt.Fprintln(os.Stderr, "packaging:", err)
			os.Exit(1)
		}
		return
	}
	if *output == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*output, *only, *version, *replace, *clients, results); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(output, only, version string, replace, withClients bool, tested nightly) error {
	src, err := readSource(version)
	if err != nil {
		return err
	}
	wanted := slices.DeleteFunc(targets(), func(t target) bool { return only != "" && t.name != only })
	if len(wanted) == 0 {
		return fmt.Errorf("-only %s: there is no such target", only)
	}
	temp, err := os.MkdirTemp("", "player-packaging")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)

	if err := os.MkdirAll(output, 0o777); err != nil {
		return err
	}
	here := filepath.Join(temp, "player-"+runtime.GOARCH) // the one for this processor is linked once
	if err := src.build(here, runtime.GOARCH, ""); err != nil {
		return err
	}
	help, err := handbookOf(here)
	if err != nil {
		return err
	}
	results := map[string][]byte{}
	server, beside := program{"player", map[string]module{}}, companions()
	for _, t := range wanted {
		begin := time.Now()
		for _, c := range beside {
			packed, err := c.pack(src, t, temp)
			if err != nil {
				return err
			}
			maps.Copy(results, packed)
		}
		path := filepath.Join(temp, "player-"+t.name)
		if err := src.build(path, t.arch, t.arm); err != nil {
			return err
		}
		binary, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if len(binary) > maxBinary {
			return fmt.Errorf("the binary for %s has %d bytes, at most %d are allowed", t.name, len(binary), maxBinary)
		}
		rights, err := rightsOf(path, ".", server)
		if err != nil {
			return err
		}
		c := content{source: src, binary: binary, help: help, copyright: rights}
		folder := fmt.Sprintf("player-%s-linux-%s", src.version, t.name)
		files, err := c.archive(folder)
		if err != nil {
			return err
		}
		if results[folder+".tar.gz"], err = tarball(files, src.time); err != nil {
			return err
		}
		if results[fmt.Sprintf("player-%s-image-%s.tar", src.version, t.name)], err = c.image(t); err != nil {
			return err
		}
		fmt.Printf("%-8s %d bytes, %.0f s\n", t.name, len(binary), time.Since(begin).Seconds())
		if t.debian == "" {
			continue
		}
		if files, err = c.system(); err != nil {
			return err
		}
		name := fmt.Sprintf("player_%s_%s.deb", src.debian(), t.debian)
		if results[name], err = deb(src, playerServer(t.debian), service(""), files); err != nil {
			return err
		}
	}
	programs := []program{server}
	for _, c := range beside {
		programs = append(programs, c.program)
	}
	var clients []library
	if withClients {
		begin := time.Now()
		if clients, err = libraries(src); err != nil {
			return err
		}
		fmt.Printf("clients  %.0f s\n", time.Since(begin).Seconds())
		begin = time.Now()
		pages, err := packSite(src)
		if err != nil {
			return err
		}
		maps.Copy(results, pages)
		fmt.Printf("site     %.0f s\n", time.Since(begin).Seconds())
		folder := "player-" + src.version + "-benchmarks"
		measured, err := tree("bench/results", folder)
		if err != nil {
			return err
		}
		if results[folder+".tar.gz"], err = plainTarball(measured, src.time); err != nil {
			return err
		}
	}
	kept, err := tested.files(src.version)
	if err != nil {
		return err
	}
	maps.Copy(results, kept)
	for _, l := range clients {
		maps.Copy(results, l.results)
	}
	if results[fmt.Sprintf("player-%s.spdx.json", src.version)], err = sbom(src, programs, clients); err != nil {
		return err
	}
	return write(output, results, replace)
}

// rightsOf adds the modules of a build of a program, and returns its file of copyrights. The module of
// the program is in a folder.
func rightsOf(path, folder string, of program) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	modules, err := modulesOf(info, folder)
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		of.modules[m.path] = m
	}
	return copyright(modules)
}

// write writes the files with their checksums, or none of them.
func write(dir string, results map[string][]byte, replace bool) (err error) {
	var sums []string
	for name, data := range results {
		sums = append(sums, fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name))
	}
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	results["SHA256SUMS"] = []byte(strings.Join(sums, ""))
	files := tools.Files{Context: context.Background(), Replace: replace}
	defer func() { err = files.Close(err) }()
	for name, data := range results {
		file, err := files.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if _, err := file.Write(data); err != nil {
			return err
		}
	}
	return nil
}
