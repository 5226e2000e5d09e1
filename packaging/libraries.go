package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"player/packaging/site"
)

// library is the client library of a language, as people install it there.
type library struct {
	name    string            // of the package; the SBOM has it
	purl    string            // package URL, without the version
	version string            // as its language spells it
	results map[string][]byte // by name of the file
}

// libraries packs the client libraries. Those for C are compiled for this computer. No
// file depends on when and where it is made; jars and the libraries for C also depend on
// the version of the compiler.
func libraries(src source) (all []library, err error) {
	for _, pack := range []func(source) (library, error){python, npm, java, tcl, c, playerc} {
		l, err := pack(src)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// release takes a version apart. The version of a commit without a tag has the time of the commit.
var release = regexp.MustCompile(`^([0-9.]+)(?:~([a-z]+)\.?([0-9]+))?`)

// spell returns the version with other words for the stages before a release.
func (s source) spell(pre map[string]string) string {
	m := release.FindStringSubmatch(s.version)
	if m == nil {
		return s.version
	}
	if m[2] == "" {
		return m[1]
	}
	return m[1] + cmp.Or(pre[m[2]], pre[""]) + m[3]
}

// python returns the version as PEP 440 has it.
func (s source) python() string { return s.spell(map[string]string{"git": ".dev", "": "rc"}) }

// tcl returns the version as the package command has it: a and b come before a release.
func (s source) tcl() string { return s.spell(map[string]string{"git": "a", "": "b"}) }

// semantic returns the version as https://semver.org has it, in three numbers.
func (s source) semantic() string {
	number, pre, _ := strings.Cut(s.spell(map[string]string{"git": "-git.", "": "-rc."}), "-")
	for strings.Count(number, ".") < 2 {
		number += ".0"
	}
	if pre != "" {
		number += "-" + pre
	}
	return number
}

// tree returns the files of a folder of this repository that git knows, below another
// folder. With globs, only those that match one of them.
func tree(from, to string, globs ...string) (files []file, err error) {
	names, err := output("git", "ls-files", "--", from)
	if err != nil {
		return nil, err
	}
	for name := range strings.Lines(names) {
		name = strings.TrimSpace(name)
		below := strings.TrimPrefix(name, from+"/")
		if globs != nil && !slices.ContainsFunc(globs, func(glob string) bool { ok, _ := path.Match(glob, below); return ok }) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{path: path.Join(to, below), data: text})
	}
	return files, nil
}

// single returns one file of this repository.
func single(from, to string) (file, error) {
	text, err := os.ReadFile(from)
	return file{path: to, data: text}, err
}

// zipped packs files without their directories, sorted, with one time for all.
func zipped(files []file, at time.Time) ([]byte, error) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(f.permissions()))
		entry, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return packed.Bytes(), err
}

// setVersion replaces the number of the repository behind one place of a file by a version.
func setVersion(files []file, name, place, version string) error {
	number, err := number()
	if err != nil {
		return err
	}
	return substitute(files, name, place+number, place+version)
}

// substitute replaces one place of a file, which must be there.
func substitute(files []file, name, old, new string) error {
	i := slices.IndexFunc(files, func(f file) bool { return path.Base(f.path) == name })
	if i < 0 || bytes.Count(files[i].data, []byte(old)) != 1 {
		return fmt.Errorf("%s does not have %q once", name, old)
	}
	files[i].data = bytes.Replace(files[i].data, []byte(old), []byte(new), 1)
	return nil
}

// python packs a wheel and an sdist by Python's own builder, with the modules that Debian has.
func python(src source) (library, error) {
	version := src.python()
	l := library{name: "playerclient", purl: "pkg:pypi/playerclient", version: version, results: map[string][]byte{}}
	files, err := tree("clients/python", "", "pyproject.toml", "README.md", "player_log.py", "player_ros.py", "playerclient/*", "examples/*")
	if err != nil {
		return l, err
	}
	license, err := single("LICENSE", "LICENSE")
	if err != nil {
		return l, err
	}
	if err := setVersion(files, "pyproject.toml", "\nversion = \"", version); err != nil {
		return l, err
	}
	temp, err := os.MkdirTemp("", "player-python")
	if err != nil {
		return l, err
	}
	defer os.RemoveAll(temp)
	for _, f := range append(files, license) {
		name := filepath.Join(temp, f.path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.data, 0o644)); err != nil {
			return l, err
		}
	}
	dist := filepath.Join(temp, "dist")
	// Debian's hatchling asks for a package that only editable installations need.
	_, err = output("env", fmt.Sprintf("SOURCE_DATE_EPOCH=%d", src.time.Unix()), "/usr/bin/python3", "-m", "build", "--no-isolation", "--skip-dependency-check", "--outdir", dist, temp)
	if err != nil {
		return l, fmt.Errorf("%w: install python3-build and python3-hatchling", err)
	}
	packed, err := folder(dist)
	for _, f := range packed {
		l.results[f.path] = f.data
	}
	return l, err
}

// npm packs the file for `npm install FILE`.
func npm(src source) (library, error) {
	version := src.semantic()
	l := library{name: "playerclient", purl: "pkg:npm/playerclient", version: version}
	files, err := tree("clients/javascript", "package", "package.json", "README.md", "lib/*", "examples/*", "examples/browser/*")
	if err != nil {
		return l, err
	}
	license, err := single("LICENSE", "package/LICENSE")
	if err != nil {
		return l, err
	}
	if err := setVersion(files, "package.json", `"version": "`, version); err != nil {
		return l, err
	}
	packed, err := plainTarball(append(files, license), src.time)
	l.results = map[string][]byte{fmt.Sprintf("playerclient-%s.tgz", version): packed}
	return l, err
}

// java packs jars of classes, sources and documentation, and the pom.xml of the library with its version.
func java(src source) (library, error) {
	version := src.semantic()
	l := library{name: "player:playerclient", purl: "pkg:maven/player/playerclient", version: version, results: map[string][]byte{}}
	sources, err := tree("clients/java/src", "")
	if err != nil {
		return l, err
	}
	temp, err := os.MkdirTemp("", "player-java")
	if err != nil {
		return l, err
	}
	defer os.RemoveAll(temp)
	classes, docs := filepath.Join(temp, "classes"), filepath.Join(temp, "docs")
	var names, documented []string
	for _, f := range sources {
		name := filepath.Join("clients/java/src", f.path)
		names = append(names, name)
		if path.Base(name) != "module-info.java" { // otherwise all pages are in a folder of the module
			documented = append(documented, name)
		}
	}
	// Java 17, also with a newer compiler.
	compile := append(site.BriefJVM(), "--release", "17", "-encoding", "UTF-8", "-Xlint:all", "-Werror", "-d", classes)
	if _, err := output("javac", append(compile, names...)...); err != nil {
		return l, fmt.Errorf("%w: install default-jdk-headless", err)
	}
	describe := append(site.BriefJVM(), "-quiet", "-Xdoclint:all", "-Werror", "-notimestamp", "-noindex", "-encoding", "UTF-8", "--release", "17", "-d", docs)
	if _, err := output("javadoc", append(describe, documented...)...); err != nil {
		return l, err
	}
	license, err := single("LICENSE", "META-INF/LICENSE")
	if err != nil {
		return l, err
	}
	manifest := file{path: "META-INF/MANIFEST.MF", data: fmt.Appendf(nil, "Manifest-Version: 1.0\r\nImplementation-Version: %s\r\n\r\n", version)}
	for suffix, from := range map[string]string{"": classes, "-javadoc": docs, "-sources": "clients/java/src"} {
		files, err := folder(from)
		if err != nil {
			return l, err
		}
		if l.results[fmt.Sprintf("playerclient-%s%s.jar", version, suffix)], err = zipped(append(files, manifest, license), src.time); err != nil {
			return l, err
		}
	}
	pom, err := single("clients/java/pom.xml", "pom.xml")
	if err != nil {
		return l, err
	}
	described := []file{pom}
	err = setVersion(described, "pom.xml", "<artifactId>playerclient</artifactId>\n  <version>", version)
	l.results[fmt.Sprintf("playerclient-%s.pom", version)] = described[0].data
	return l, err
}

// folder returns all files in a folder, with their paths in it.
func folder(root string) (files []file, err error) {
	err = filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		below, _ := filepath.Rel(root, name)
		files = append(files, file{path: filepath.ToSlash(below), data: text})
		return err
	})
	return files, err
}

// tcl packs a folder for one of auto_path.
func tcl(src source) (library, error) {
	version := src.tcl()
	l := library{name: "player-tcl", purl: "pkg:generic/player-tcl", version: version}
	folder := "player-tcl-" + version
	files, err := tree("clients/tcl", folder, "player.tcl", "secure.tcl", "simulation.tcl", "pkgIndex.tcl", "README.md", "examples/*")
	if err != nil {
		return l, err
	}
	license, err := single("LICENSE", folder+"/LICENSE")
	if err != nil {
		return l, err
	}
	for _, place := range []struct{ name, text string }{
		{"player.tcl", "package provide player "}, {"simulation.tcl", "package provide player::simulation "},
		{"secure.tcl", "package provide player::secure "}, {"pkgIndex.tcl", "package ifneeded player::secure "},
		{"pkgIndex.tcl", "package ifneeded player "}, {"pkgIndex.tcl", "package ifneeded player::simulation "},
	} {
		if err := setVersion(files, place.name, place.text, version); err != nil {
			return l, err
		}
	}
	packed, err := plainTarball(append(files, license), src.time)
	l.results = map[string][]byte{folder + ".tar.gz": packed}
	return l, err
}

// soname is the name by which programs load the shared library. Its number changes when a
// program has to be compiled again: the structure of the client is larger in 1 than in 0, and has room for later members.
const soname = "libplayer.so.1"

// compile makes the library for C from its one source file, for this computer, and returns
// the static and the shared one.
func compile() (static, shared []byte, err error) {
	temp, err := os.MkdirTemp("", "player-c")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(temp)
	object, archive, lib := filepath.Join(temp, "player.o"), filepath.Join(temp, "libplayer.a"), filepath.Join(temp, soname)
	for _, args := range [][]string{
		{"cc", "-std=c99", "-O2", "-fPIC", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-ffunction-sections", "-c", "-o", object, "clients/c/player.c"},
		{"ar", "rcsD", archive, object},
		{"cc", "-shared", "-Wl,-soname," + soname, "-Wl,-z,relro,-z,now", "-Wl,--build-id=none", "-s", "-o", lib, object},
	} {
		if _, err := output(args[0], args[1:]...); err != nil {
			return nil, nil, fmt.Errorf("%w: install gcc and libc6-dev", err)
		}
	}
	if static, err = os.ReadFile(archive); err != nil {
		return nil, nil, err
	}
	shared, err = os.ReadFile(lib)
	return static, shared, err
}

// development returns the files of the libraries for C and C++, where lib is the folder of
// libraries below the prefix. The paths of pkg-config and CMake are relative to their files.
func development(src source, lib string, static, shared []byte) ([]file, error) {
	headers, err := tree("clients/c", "include/player", "player.h", "player_struct.h", "player_line.h", "player_simulation.h", "player_tls.h", "player_tls.c")
	if err != nil {
		return nil, err
	}
	more, err := tree("clients/cpp", "include/player", "player.hpp", "crobot.hpp", "simulation.hpp", "playerclient.h")
	if err != nil {
		return nil, err
	}
	up := strings.Repeat("../", strings.Count(lib, "/")+2) // from lib/pkgconfig to the prefix
	version := src.semantic()
	return append(append(headers, more...),
		file{path: lib + "/libplayer.a", data: static},
		file{path: lib + "/" + soname, data: shared},
		file{path: lib + "/libplayer.so", link: soname},
		file{path: lib + "/pkgconfig/player.pc", data: fmt.Appendf(nil, `libdir=${pcfiledir}/..
includedir=${pcfiledir}/%sinclude/player
tls=${includedir}/player_tls.c

Name: player
Description: Client of the Player robot device server, for C and C++
Version: %s
Cflags: -I${includedir}
Libs: -L${libdir} -lplayer
`, up, version)},
		file{path: lib + "/cmake/player/player-config.cmake", data: fmt.Appendf(nil, `# find_package(player) has the targets player::player and player::static for C, and player::cpp for C++.
# A program with TLS compiles player_tls_source, and links with OpenSSL::SSL.
set(player_tls_source "${CMAKE_CURRENT_LIST_DIR}/../%sinclude/player/player_tls.c")
if(NOT TARGET player::player)
  add_library(player::player SHARED IMPORTED)
  set_target_properties(player::player PROPERTIES IMPORTED_SONAME %s
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/../../%s"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/../%sinclude/player")
  add_library(player::static STATIC IMPORTED)
  set_target_properties(player::static PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/../../libplayer.a"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/../%sinclude/player")
  add_library(player::cpp INTERFACE IMPORTED)
  set_target_properties(player::cpp PROPERTIES
    INTERFACE_LINK_LIBRARIES player::player INTERFACE_COMPILE_FEATURES cxx_std_17)
endif()
`, up, soname, soname, up, up)},
		file{path: lib + "/cmake/player/player-config-version.cmake", data: fmt.Appendf(nil, `set(PACKAGE_VERSION %s)
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
`, version)}), nil
}

// c packs the libraries for C and C++: for Debian, and as an archive for any folder.
func c(src source) (library, error) {
	l := library{name: "libplayer", purl: "pkg:generic/libplayer", version: src.version, results: map[string][]byte{}}
	static, shared, err := compile()
	if err != nil {
		return l, err
	}
	installed := func(lib string) ([]file, error) { return development(src, lib, static, shared) }
	return l, l.pack(src, libplayerDev, installed, map[string]string{
		"clients/c/player.c": "src/player.c", "clients/c/README.md": "README-c.md", "clients/cpp/README.md": "README-c++.md",
	})
}

// pack packs a library that was compiled for this computer: for Debian, with -dev behind its name,
// and as an archive for any folder. installed returns its files below the prefix, where lib
// is the folder of libraries; more has the other files of the archive.
func (l library) pack(src source, about func(arch string) debian, installed func(lib string) ([]file, error), more map[string]string) error {
	arch, triplet, err := debianOf(runtime.GOARCH)
	if err != nil {
		return err
	}
	rights, err := copyright(nil)
	if err != nil {
		return err
	}
	dev := l.name + "-dev"
	system, err := src.documents(dev, rights)
	if err != nil {
		return err
	}
	system = append(system, file{path: "usr/share/lintian/overrides/" + dev, data: packaged("lintian-overrides-" + dev)})
	files, err := installed("lib/" + triplet)
	if err != nil {
		return err
	}
	for _, f := range files {
		f.path = "usr/" + f.path
		system = append(system, f)
	}
	name := fmt.Sprintf("%s_%s_%s.deb", dev, src.debian(), arch)
	if l.results[name], err = deb(src, about(arch), nil, system); err != nil {
		return err
	}

	if files, err = installed("lib"); err != nil {
		return err
	}
	more["LICENSE"] = "LICENSE"
	for from, to := range more {
		one, err := single(from, to)
		if err != nil {
			return err
		}
		if one.data, err = amalgam(from, one.data); err != nil {
			return err
		}
		files = append(files, one)
	}
	folder := fmt.Sprintf("%s-%s-linux-%s", l.name, src.version, runtime.GOARCH)
	for i := range files {
		files[i].path = path.Join(folder, files[i].path)
	}
	l.results[folder+".tar.gz"], err = tarball(files, src.time)
	return err
}

// part is a line of clients/c/player.c that includes one of its parts.
var part = regexp.MustCompile(`(?m)^#include "(src/.*\.c)"$`)

// amalgam returns the text of a file with its parts in it, so that a program compiles one file.
func amalgam(name string, text []byte) ([]byte, error) {
	var failed error
	whole := part.ReplaceAllFunc(text, func(line []byte) []byte {
		included, err := os.ReadFile(filepath.Join(filepath.Dir(name), string(part.FindSubmatch(line)[1])))
		failed = cmp.Or(failed, err)
		return included
	})
	return whole, failed
}

// debianOf returns Debian's name for a processor, and the name of its folder of libraries.
func debianOf(arch string) (name, triplet string, err error) {
	switch arch {
	case "amd64":
		return "amd64", "x86_64-linux-gnu", nil
	case "arm64":
		return "arm64", "aarch64-linux-gnu", nil
	case "arm":
		return "armhf", "arm-linux-gnueabihf", nil
	case "386":
		return "i386", "i386-linux-gnu", nil
	case "riscv64":
		return "riscv64", "riscv64-linux-gnu", nil
	}
	return "", "", fmt.Errorf("%s: Debian's name of this processor is not known", arch)
}
