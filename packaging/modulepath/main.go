// Modulepath gives this repository's Go modules the path at which go get finds them:
//
//	go run ./packaging/modulepath example.org/someone/player
//
// It runs in the root of a clone and rewrites go.mod, and each mention of a package in
// the files that git knows, and writes the address into the descriptions of the libraries in other
// languages, for their registries.
// The publisher of the clone commits the result and tags it.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./packaging/modulepath example.org/someone/player")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "modulepath:", err)
		os.Exit(1)
	}
}

// fetched matches paths that go get can fetch: a host, and a path on it.
var fetched = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

func run(wanted string) error {
	if !fetched.MatchString(wanted) {
		return fmt.Errorf("%q is not where a repository is: write it without https://, as example.org/someone/player", wanted)
	}
	text, err := os.ReadFile("go.mod")
	if err != nil {
		return fmt.Errorf("start it in the root of a clone: %w", err)
	}
	name := moduleLine.FindSubmatch(text)
	if name == nil {
		return errors.New("go.mod has no module line")
	}
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	files := strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
	m := newMove(string(name[1]), wanted, files)
	for _, file := range files {
		if err := m.rewrite(file); err != nil {
			return err
		}
	}
	fmt.Printf("The module is %s. Commit and tag it; then: go get %s/client@TAG\n", wanted, wanted)
	return nil
}

var moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)

// move is a change of the module's path.
type move struct {
	from, to string
	packages map[string]bool // folders with Go files, below the root
}

func newMove(from, to string, files []string) move {
	m := move{from, to, map[string]bool{}}
	for _, file := range files {
		if strings.HasSuffix(file, ".go") {
			m.packages[path.Dir(file)] = true
		}
	}
	return m
}

// descriptions has the files in which the registries of other languages look for the repository: behind which text a clone
// that is published says where it is, and how. Before, they have no address, since the repository has none.
var descriptions = map[string]struct{ behind, lines string }{
	"clients/java/pom.xml": {"</developers>\n", `  <url>https://ADDRESS</url>
  <scm>
    <connection>scm:git:https://ADDRESS</connection>
    <url>https://ADDRESS</url>
  </scm>
`},
	"clients/python/pyproject.toml": {"dependencies = []\n", "urls = { Repository = \"https://ADDRESS\" }\n"},
	"clients/javascript/package.json": {"\"author\": \"The Player authors\",\n",
		"  \"repository\": { \"type\": \"git\", \"url\": \"git+https://ADDRESS\", \"directory\": \"clients/javascript\" },\n"},
}

// rewrite changes one file, if it is text and mentions a package.
func (m move) rewrite(file string) error {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	old, err := os.ReadFile(file)
	if err != nil || bytes.IndexByte(old, 0) >= 0 {
		return err
	}
	text, err := m.addressed(file, m.mentions(string(old)))
	if err != nil {
		return err
	}
	if path.Base(file) == "go.mod" {
		text = m.required(text)
	}
	if text == string(old) {
		return nil
	}
	data := []byte(text)
	if strings.HasSuffix(file, ".go") {
		if data, err = format.Source(data); err != nil { // imports are in another order
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return os.WriteFile(file, data, info.Mode())
}

// word matches a word that may contain a package's path.
var word = regexp.MustCompile(`[\w./~@-]+`)

// mentions replaces the paths of packages, also before a name: player/app.version. Paths
// of files and subjects of messages that begin in the same way are left alone.
func (m move) mentions(text string) string {
	return word.ReplaceAllStringFunc(text, func(w string) string {
		rest, ours := strings.CutPrefix(w, m.from+"/")
		name, _, _ := strings.Cut(rest, ".")
		if !ours || !m.packages[name] {
			return w
		}
		return m.to + "/" + rest
	})
}

// addressed writes where the repository is into the description of a library.
func (m move) addressed(file, text string) (string, error) {
	d, ok := descriptions[file]
	if !ok {
		return text, nil
	}
	if before := "https://" + m.from; strings.Contains(text, before) { // the clone was published elsewhere
		return strings.ReplaceAll(text, before, "https://"+m.to), nil
	}
	begin, end, ok := strings.Cut(text, d.behind)
	if !ok {
		return "", fmt.Errorf("%s has no %q, behind which the address belongs", file, d.behind)
	}
	return begin + d.behind + strings.ReplaceAll(d.lines, "ADDRESS", m.to) + end, nil
}

// required replaces the module itself in a go.mod.
func (m move) required(text string) string {
	line := regexp.MustCompile(`(?m)^(module |replace |require |\t)` + regexp.QuoteMeta(m.from) + `($|[ /])`)
	return line.ReplaceAllString(text, "${1}"+m.to+"${2}")
}
