package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// forever lets browsers keep a file without asking: its address has the digest of the page.
const forever = "public, max-age=31536000, immutable"

// asset is something that browsers load, and that does not change.
type asset struct {
	kind          string
	tag           string // of the text, quoted
	plain, packed []byte // packed by gzip; nil: that is not smaller
}

func newAsset(kind string, text []byte) (asset, error) {
	sum := sha256.Sum256(text)
	packed, err := pack(text)
	if len(packed) >= len(text) {
		packed = nil
	}
	return asset{kind, strconv.Quote(hex.EncodeToString(sum[:8])), text, packed}, err
}

// send replies with the asset, or that the browser has it.
func (a asset) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if a.tag != "" {
		h.Set("Etag", a.tag)
		if r.Header.Get("If-None-Match") == a.tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Type", a.kind)
	body := a.plain
	if a.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = a.packed
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // it fails when the visitor has gone
}

// assetSet is the page as it is served.
type assetSet struct {
	digest string // of all files: the folder of those that never change
	policy string // which scripts index.html may have in itself
	files  map[string]asset
}

var (
	// references matches what the page loads itself.
	references = regexp.MustCompile(`(href|src)="([\w.-]+\.(?:css|js|svg))"`)
	// content matches the body.
	content = regexp.MustCompile(`(?s)<body>(.*)</body>`)
)

// literal returns text as a string of JavaScript.
func literal(text []byte) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)            // it is in a file of its own
	_ = e.Encode(string(text))        // cannot fail: it writes to memory
	return bytes.TrimSpace(b.Bytes()) // without the line end
}

// readAssets returns the files of the page. In index.html, what the page loads has addresses with
// the digest, one file stands for all modules, and the script that comes first is in the page: each
// request costs a round trip. The body of the page comes with the modules, which browsers keep, so
// that a reload transfers little, and nothing is shown before it works.
func readAssets(page fs.FS) (assetSet, error) {
	set := assetSet{files: map[string]asset{}}
	digest := sha256.New()
	texts := map[string][]byte{}
	err := fs.WalkDir(page, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		texts[name], err = fs.ReadFile(page, name)
		fmt.Fprintf(digest, "%s %d\n", name, len(texts[name]))
		digest.Write(texts[name])
		return err
	})
	if err != nil {
		return set, err
	}
	set.digest = hex.EncodeToString(digest.Sum(nil)[:8])
	const main, all, first = "main.js", "modules.js", "first.js"
	modules, err := bundle(texts, main)
	if err != nil {
		return set, err
	}
	index := references.ReplaceAll(texts["index.html"], []byte(`$1="`+set.digest+`/$2"`))
	index = bytes.Replace(index, []byte(main), []byte(all), 1)
	if body := content.FindSubmatch(index); body != nil {
		index = bytes.Replace(index, body[1], nil, 1)
		texts[all] = fmt.Appendf(nil, "document.body.innerHTML = %s;\n", literal(body[1]))
	}
	texts[all] = append(texts[all], modules...)
	script := append([]byte{'\n'}, remarks.ReplaceAll(texts[first], nil)...)
	index = bytes.Replace(index, []byte(` src="`+set.digest+"/"+first+`">`), append([]byte{'>'}, script...), 1)
	sum := sha256.Sum256(script)
	set.policy = "script-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; "
	texts["index.html"] = index
	for name, text := range texts {
		if set.files[name], err = newAsset(mime.TypeByExtension(path.Ext(name)), text); err != nil {
			return set, err
		}
	}
	return set, nil
}

var (
	// importing matches an import, which has a line of its own: its names, or all as one
	// name, and the module.
	importing = regexp.MustCompile(`(?m)^import (?:\{ (.*) \}|\* as (\w+)) from "\./(\w+)\.js";$`)
	// exporting matches the word export, and the name.
	exporting = regexp.MustCompile(`(?m)^export ((?:class|const|function|async function) ([\w$]+))`)
	// remarks match comments that have their lines to themselves, and indentation.
	remarks = regexp.MustCompile(`(?m)^[ \t]*(?:(?://.*|/\*\*(?:[^*]|\*+[^*/])*\*+/)\n)?`)
)

// bundle returns one module with main and all that it imports, without comments: each in a
// function that returns what it exports, after those that it imports. Modules may not import
// each other in a circle.
func bundle(texts map[string][]byte, main string) ([]byte, error) {
	var b strings.Builder
	begun, ended := map[string]bool{}, map[string]bool{}
	var add func(file string) error
	add = func(file string) error {
		text, ok := texts[file]
		switch {
		case ended[file]:
			return nil
		case begun[file]:
			return fmt.Errorf("%s imports itself, through others", file)
		case !ok:
			return fmt.Errorf("there is no module %s", file)
		}
		begun[file] = true
		for _, match := range importing.FindAllSubmatch(text, -1) {
			if err := add(string(match[3]) + ".js"); err != nil {
				return err
			}
		}
		var names []string
		for _, match := range exporting.FindAllSubmatch(text, -1) {
			names = append(names, string(match[2]))
		}
		body := importing.ReplaceAllStringFunc(string(text), func(line string) string {
			match := importing.FindStringSubmatch(line)
			what := match[2]
			if what == "" {
				what = "{ " + strings.ReplaceAll(match[1], " as ", ": ") + " }"
			}
			return "const " + what + " = from_" + match[3] + ";"
		})
		body = exporting.ReplaceAllString(body, "$1")
		body = remarks.ReplaceAllString(body, "")
		fmt.Fprintf(&b, "const from_%s = (() => {\n%s\nreturn { %s };\n})();\n", strings.TrimSuffix(file, ".js"), body, strings.Join(names, ", "))
		ended[file] = true
		return nil
	}
	err := add(main)
	return []byte(b.String()), err
}

// pack compresses text.
func pack(text []byte) ([]byte, error) {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = zip.Write(text)
	err = errors.Join(err, zip.Close())
	return packed.Bytes(), err
}

// serveAssets serves the files of the page: those in the folder of the digest for ever,
// index.html with what it would ask for at once, by the elements that have it, and never to be
// kept, and others as long as the server has the same ones.
func serveAssets(page fs.FS, first func(*http.Request) map[string][]byte) http.HandlerFunc {
	read := sync.OnceValue(func() assetSet { // when the first visitor comes
		set, err := readAssets(page)
		if err != nil { // the folder is not embedded
			panic(err)
		}
		return set
	})
	return func(w http.ResponseWriter, r *http.Request) {
		set := read()
		name, always := strings.CutPrefix(r.URL.Path, "/"+set.digest+"/")
		if name = strings.TrimPrefix(name, "/"); name == "" {
			name = "index.html"
		}
		file, ok := set.files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		switch {
		case name == "index.html":
			file.tag = ""
			for id, text := range first(r) {
				element := fmt.Appendf(nil, "id=%q>", id)
				file.plain = bytes.Replace(file.plain, element, append(element, text...), 1)
			}
			file.packed, _ = pack(file.plain) // cannot fail: it writes to memory
			h := w.Header()
			h.Set("Cache-Control", "no-store")
			h.Set("Content-Security-Policy", set.policy+h.Get("Content-Security-Policy"))
		case always:
			w.Header().Set("Cache-Control", forever)
		}
		file.send(w, r)
	}
}
