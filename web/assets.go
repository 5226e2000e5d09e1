package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
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

// asset is a file of the page.
type asset struct {
	kind          string
	plain, packed []byte // packed by gzip; nil: that is not smaller
}

// assetSet is the page as it is served.
type assetSet struct {
	digest string // of all files: the folder of those that never change
	files  map[string]asset
}

// references matches what the page loads itself.
var references = regexp.MustCompile(`(href|src)="([\w.-]+\.(?:css|js|svg))"`)

// readAssets returns the files of the page. In index.html, what the page loads has addresses with
// the digest, and one file stands for all modules: each request costs a round trip.
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
	const main, all = "main.js", "modules.js"
	if texts[all], err = bundle(texts, main); err != nil {
		return set, err
	}
	index := bytes.Replace(texts["index.html"], []byte(main), []byte(all), 1)
	texts["index.html"] = references.ReplaceAll(index, []byte(`$1="`+set.digest+`/$2"`))
	for name, text := range texts {
		packed, err := pack(text)
		if err != nil {
			return set, err
		}
		if len(packed) >= len(text) {
			packed = nil
		}
		set.files[name] = asset{mime.TypeByExtension(path.Ext(name)), text, packed}
	}
	return set, nil
}

var (
	// importing matches an import, which has a line of its own: its names, or all as one
	// name, and the module.
	importing = regexp.MustCompile(`(?m)^import (?:\{ (.*) \}|\* as (\w+)) from "\./(\w+)\.js";$`)
	// exporting matches the word export, and the name.
	exporting = regexp.MustCompile(`(?m)^export ((?:class|const|function|async function) ([\w$]+))`)
)

// bundle returns one module with main and all that it imports: each in a function that returns
// what it exports, after those that it imports. Modules may not import each other in a circle.
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
// others, as index.html, as long as the server has the same ones.
func serveAssets(page fs.FS) http.HandlerFunc {
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
		h := w.Header()
		tag := strconv.Quote(set.digest)
		h.Set("Etag", tag)
		if always {
			h.Set("Cache-Control", forever)
		}
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Vary", "Accept-Encoding")
		h.Set("Content-Type", file.kind)
		body := file.plain
		if file.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = file.packed
		}
		h.Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body) // it fails when the visitor has gone
	}
}
