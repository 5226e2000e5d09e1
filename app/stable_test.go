package app

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"player/e2e/must"
)

// Stable names (docs/RELEASING.md) are in these files, a line for each. -update writes the files.
// A line that goes changes the first number of the version, a line that comes the second.
func TestStable(t *testing.T) {
	atRoot(t)
	for name, lines := range map[string][]string{
		"flags":   stableFlags(t),
		"options": stableOptions(),
		"schemas": stableSchemas(t),
		"names":   stableNames(t),
	} {
		path := "app/testdata/stable/" + name + ".txt"
		slices.Sort(lines)
		lines = slices.Compact(lines)
		if len(lines) < 30 {
			t.Errorf("%s: only %d lines are found", name, len(lines))
		}
		text := strings.Join(lines, "\n") + "\n"
		if *update {
			must.Do(t, os.WriteFile(path, []byte(text), 0o644))
			continue
		}
		was := must.Get(os.ReadFile(path))(t)
		before := strings.Split(strings.TrimSpace(string(was)), "\n")
		for _, line := range before {
			if !slices.Contains(lines, line) {
				t.Errorf("%s is gone: %s", name, line)
			}
		}
		for _, line := range lines {
			if !slices.Contains(before, line) {
				t.Errorf("%s is new: %s", name, line)
			}
		}
		if t.Failed() {
			t.Log("if that is meant: go test ./app -run TestStable -update")
		}
	}
}

// All stable names of version 1.0, in the folder 1.0, are still there but for those that the changelog calls breaking.
// Which file of a client has a name may change: programs import clients, not files.
func TestStableSinceVersion1(t *testing.T) {
	atRoot(t)
	file := regexp.MustCompile(`^(clients/\w+)/\S+`)
	// The file of 1.0 gives the members of GRIPPER to another class, and Session now has new from the class that it extends.
	misnamed := regexp.MustCompile(`^clients/javascript (PlayerError\.(grip|lift)\w+|Session\.new)$`)
	// The planners are gone from the clients, as the goto device has the only one.
	breaking := regexp.MustCompile(`^clients/(cpp Way\.Next|python (Beam|Config|Way|Way\.next|config_of|laser_beams|sonar_beams))$`)
	if text := string(must.Get(os.ReadFile("CHANGELOG.md"))(t)); !strings.Contains(text, "(`playerclient.vfh`, `vfh.hpp`)") {
		t.Error("CHANGELOG does not say that the planners are gone")
	}
	for _, name := range []string{"flags", "options", "schemas", "names"} {
		today := map[string]bool{}
		for line := range strings.Lines(string(must.Get(os.ReadFile("app/testdata/stable/" + name + ".txt"))(t))) {
			today[file.ReplaceAllString(line, "$1")] = true
		}
		lines := 0
		for line := range strings.Lines(string(must.Get(os.ReadFile("app/testdata/stable/1.0/" + name + ".txt"))(t))) {
			lines++
			line = file.ReplaceAllString(line, "$1")
			if plain := strings.TrimSpace(line); !today[line] && !misnamed.MatchString(plain) && !breaking.MatchString(plain) {
				t.Errorf("%s of version 1.0 is gone: %s", name, line)
			}
		}
		if lines < 30 {
			t.Errorf("%s: only %d lines are of version 1.0", name, lines)
		}
	}
}

// stableFlags are the subcommands and the flags of all, with the names of their values.
func stableFlags(t *testing.T) (lines []string) {
	t.Helper()
	flags := regexp.MustCompile(`(?m)^  (-[a-z][\w-]*(?: [A-Z][\w-]*)?)(?: |$)`)
	pages := map[string]string{"player": pageOf("player")}
	for _, c := range commands() {
		pages["player "+c.Name] = pageOf(c.Name)
		lines = append(lines, strings.TrimSpace("player "+c.Name+" "+c.Args))
	}
	for name, page := range pages {
		for _, match := range flags.FindAllStringSubmatch(page, -1) {
			lines = append(lines, name+" "+match[1])
		}
	}
	return lines
}

// stableOptions are the drivers and their options with types, units and defaults.
func stableOptions() (lines []string) {
	for _, kind := range catalogue() {
		lines = append(lines, kind.Name)
		for _, o := range kind.Options {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %v = %v %s", kind.Name, o.Name, reflect.TypeOf(o.Default), o.Default, o.Unit)))
		}
	}
	return lines
}

// declarations calls found for each declaration of the files of a package, without its
// tests.
func declarations(t *testing.T, dir string, found func(ast.Decl)) {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", dir, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t)
		for _, d := range file.Decls {
			found(d)
		}
	}
}

// written returns Go's text of a type.
func written(t *testing.T, e ast.Node) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, printer.Fprint(&b, token.NewFileSet(), e))
	return strings.Join(strings.Fields(b.String()), " ")
}

// stableSchemas are the fields of JSON objects that programs read: exported logs and viewers, and
// the status, and the output of tools with -json, whose types may be private.
func stableSchemas(t *testing.T) (lines []string) {
	t.Helper()
	tag := regexp.MustCompile(`json:"([\w.]+)`)
	for dir, all := range map[string]bool{"formats/foxglove": false, "formats/telemetry": false, "server/status": false, "config": false, "app": true, "tools/find": true, "tools/latency": true, "tools/record": true, "tools/snapshot": true, "tools/stop": true} {
		declarations(t, dir, func(d ast.Decl) {
			general, ok := d.(*ast.GenDecl)
			if !ok {
				return
			}
			for _, spec := range general.Specs {
				named, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				object, ok := named.Type.(*ast.StructType)
				if !ok || !all && !named.Name.IsExported() {
					continue
				}
				for _, field := range object.Fields.List {
					if field.Tag == nil {
						continue
					}
					if match := tag.FindStringSubmatch(field.Tag.Value); match != nil {
						// Objects are known by their package: a move of the package changes nothing that programs read.
						name := strings.NewReplacer("formats/", "", "server/", "", "telemetry", "foxglove").Replace(dir)
						lines = append(lines, fmt.Sprintf("%s.%s %s %s", name, named.Name, match[1], written(t, field.Type)))
					}
				}
			}
		})
	}
	return lines
}

// stableNames are the names that programs call: the exported names of the clients.
func stableNames(t *testing.T) (lines []string) {
	t.Helper()
	for _, dir := range []string{"client", "client/simulation"} {
		declarations(t, dir, func(d ast.Decl) {
			switch d := d.(type) {
			case *ast.FuncDecl:
				of := ""
				if d.Recv != nil {
					of = strings.TrimPrefix(written(t, d.Recv.List[0].Type), "*") + "."
				}
				if d.Name.IsExported() && (of == "" || ast.IsExported(of)) {
					lines = append(lines, dir+" "+of+d.Name.Name+strings.TrimPrefix(written(t, d.Type), "func"))
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if spec.Name.IsExported() {
							lines = append(lines, dir+" type "+spec.Name.Name)
						}
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							if name.IsExported() {
								lines = append(lines, dir+" "+name.Name)
							}
						}
					}
				}
			}
		})
	}
	for _, language := range []struct {
		files string
		class *regexp.Regexp // its group is the name that is before those that follow; nil: there is none
		names *regexp.Regexp
	}{
		{"clients/python/playerclient/*.py", regexp.MustCompile(`^class (\w+)`), regexp.MustCompile(`^(?:    )?(?:async )?(?:def|class) ([A-Za-z]\w*)`)},
		{"clients/javascript/lib/*.d.ts", regexp.MustCompile(`^export (?:declare )?(?:class|interface) (\w+)`),
			regexp.MustCompile(`^(?:export (?:declare )?(?:class|interface|function|const|type) |  (?:static |readonly |get )*)([A-Za-z]\w*)\??(?:[(:<]| )`)},
		{"clients/java/src/player/*.java", regexp.MustCompile(`^public (?:final |sealed |abstract )*(?:class|record|enum|interface) (\w+)`),
			regexp.MustCompile(`^(?:    )?public .*?(\w+)(?:\(| =|;| \{| extends)`)},
		{"clients/c/player*.h", nil, regexp.MustCompile(`^[a-z#].*?\b((?:player|PLAYER)_\w+)(?:\(| "|,| \d)`)},
		{"clients/cpp/*.hpp", regexp.MustCompile(`^(?:class|struct) (\w+)`), regexp.MustCompile(`^ {2,4}(?:[\w:<>&*,]+ )+&?\*?(\w+)\(`)},
		{"clients/tcl/*.tcl", nil, regexp.MustCompile(`^proc (player::[A-Z]\w*) \{(?:name|address)\b`)}, // what is exported
	} {
		files, err := filepath.Glob(language.files)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", language.files, err)
		}
		found := 0
		for _, path := range files {
			text := must.Get(os.ReadFile(path))(t)
			class := ""
			for line := range strings.Lines(string(text)) {
				if language.class != nil {
					if match := language.class.FindStringSubmatch(line); match != nil {
						class = match[1]
					} else if strings.HasPrefix(line, "private:") || strings.HasPrefix(line, "def ") {
						class = ""
					}
				}
				if match := language.names.FindStringSubmatch(line); match != nil && (line[0] != ' ' || class != "" || language.class == nil) {
					found++
					of := ""
					if line[0] == ' ' {
						of = cmp.Or(class+".", "")
					}
					lines = append(lines, path+" "+strings.TrimPrefix(of, ".")+match[1])
				}
			}
		}
		if found < 10 {
			t.Errorf("%s: only %d names are found", language.files, found)
		}
	}
	return lines
}
