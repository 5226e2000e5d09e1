package dashboard

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"player/e2e/must"
	"player/e2e/needs"
)

var update = flag.Bool("update", false, "write the files in built anew")

// esbuild returns the output of esbuild for a file of the page.
func esbuild(t *testing.T, file string, flags ...string) []byte {
	t.Helper()
	needs.Programs(t)
	command := exec.Command("go", append([]string{"run", "github.com/evanw/esbuild/cmd/esbuild@v0.25.12", file, "--minify", "--target=es2022"}, flags...)...)
	command.Dir = "page"
	var errors strings.Builder
	command.Stderr = &errors
	text, err := command.Output()
	if err != nil {
		needs.Missing(t, errors.String(), err)
	}
	return bytes.TrimSpace(text)
}

// zopfli returns a text compressed by zopfli, which makes the page 4 % smaller than gzip does.
func zopfli(t *testing.T, text []byte) []byte {
	t.Helper()
	plain := filepath.Join(t.TempDir(), "text")
	must.Do(t, os.WriteFile(plain, text, 0o644))
	packed, err := exec.Command("zopfli", "-c", plain).Output()
	if err != nil {
		t.Fatalf("-update needs zopfli, of the package of that name: %v", err)
	}
	return packed
}

// dense returns a text of HTML without indentation and empty lines.
func dense(text []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// literal returns text as a string of JavaScript.
func literal(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // it is in a file of its own
	_ = e.Encode(text)     // it writes to memory
	return strings.TrimSpace(b.String())
}

// The program's page is up to date with the folder page: index.html has the script that comes first,
// and main.js has all modules, the body of the page and its style.
func TestBuilt(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("page/index.html"))(t)
	const style, first = "<link rel=\"stylesheet\" href=\"style.css\">\n", ` src="first.js">`
	head, rest, _ := bytes.Cut(text, []byte("<body>"))
	body, tail, ok := bytes.Cut(rest, []byte("<script"))
	if !ok || !bytes.Contains(head, []byte(style)) || !bytes.Contains(head, []byte(first)) {
		t.Fatal("index.html has no style, no first script, or no script at the end of its body")
	}
	script := ">" + string(esbuild(t, "first.js"))
	for name, want := range map[string]string{
		"index.html": strings.NewReplacer(style, "", first, script).Replace(dense(head)) + "<body>\n" + dense(append([]byte("<script"), tail...)),
		"main.js": "document.adoptedStyleSheets=[new CSSStyleSheet];document.adoptedStyleSheets[0].replaceSync(" + literal(string(esbuild(t, "style.css"))) + ");\n" +
			"document.body.innerHTML=" + literal(dense(body)) + ";\n" + string(esbuild(t, "main.js", "--bundle", "--format=esm")) + "\n",
	} {
		path, read := filepath.Join("built", name), os.ReadFile
		file := []byte(want)
		if name == "main.js" {
			path += ".gz"
			read = func(path string) ([]byte, error) {
				packed, err := os.ReadFile(path)
				if err != nil {
					return nil, err
				}
				return unpack(packed)
			}
		}
		if *update {
			if name == "main.js" {
				file = zopfli(t, file)
			}
			must.Do(t, os.WriteFile(path, file, 0o644))
		}
		if got, err := read(path); err != nil || string(got) != want {
			t.Errorf("%s is not that of the page, %v: go test ./visitors/dashboard -run TestBuilt -update", path, err)
		}
	}
}

// Every module of the page is an entry, which esbuild gets, or imported from one.
func TestNoModuleIsDead(t *testing.T) {
	specifier := regexp.MustCompile(`(?:from|import) ?\(?"\./([\w-]+\.js)"`)
	queue := []string{"first.js", "main.js"}
	used := map[string]bool{}
	for len(queue) > 0 {
		name := queue[0]
		if queue = queue[1:]; used[name] {
			continue
		}
		used[name] = true
		for _, match := range specifier.FindAllSubmatch(must.Get(os.ReadFile(filepath.Join("page", name)))(t), -1) {
			queue = append(queue, string(match[1]))
		}
	}
	for _, path := range must.Get(filepath.Glob("page/*.js"))(t) {
		if !used[filepath.Base(path)] {
			t.Errorf("no module of the page imports %s", path)
		}
	}
}
