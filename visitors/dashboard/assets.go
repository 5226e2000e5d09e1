package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// forever lets browsers keep a file without asking: its address has the digest of the page.
const forever = "public, max-age=31536000, immutable"

// asset is a file that browsers load, and that does not change.
type asset struct {
	kind          string
	tag           string // of the text, quoted
	plain, packed []byte // packed by gzip; nil: gzip does not make it smaller
}

func newAsset(kind string, text []byte) (asset, error) {
	packed, err := pack(text)
	if len(packed) >= len(text) {
		packed = nil
	}
	return packedAsset(kind, text, packed), err
}

func packedAsset(kind string, text, packed []byte) asset {
	sum := sha256.Sum256(text)
	return asset{kind, strconv.Quote(hex.EncodeToString(sum[:8])), text, packed}
}

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

// page has index.html and main.js as esbuild has made them of the files in the folder page, and
// TestBuilt compares them: go test ./visitors/dashboard -run TestBuilt -update. The script is packed as it is sent: the
// program is smaller by 70 kB, and zopfli has the time to pack it well.
//
//go:embed built page/icon.svg
var page embed.FS

// assetSet is the page as it is served.
type assetSet struct {
	digest string // of all files: the folder of those that never change
	policy string // which scripts index.html may have in itself
	files  map[string]asset
}

// readAssets returns the files of the page. index.html has addresses with the digest. One file has all
// modules, the body of the page and its style, because each request costs a round trip. The browser
// requests it on the connection of the page itself, because it stands at the page's end. Browsers keep
// it, so that a reload transfers little, and the page shows nothing before its script works.
func readAssets() (assetSet, error) {
	set := assetSet{files: map[string]asset{}}
	digest := sha256.New()
	texts, packed := map[string][]byte{}, map[string][]byte{}
	err := fs.WalkDir(page, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(page, name)
		if script, is := strings.CutSuffix(name, ".gz"); is && err == nil {
			name = script
			packed[path.Base(name)] = text
			text, err = unpack(text)
		}
		fmt.Fprintf(digest, "%s %d\n", name, len(text))
		digest.Write(text)
		texts[path.Base(name)] = text
		return err
	})
	if err != nil {
		return set, err
	}
	set.digest = hex.EncodeToString(digest.Sum(nil)[:8])
	const begin, end = "<script>", "</script>" // around the script in the page
	_, script, _ := bytes.Cut(texts["index.html"], []byte(begin))
	script, _, _ = bytes.Cut(script, []byte(end))
	sum := sha256.Sum256(script)
	set.policy = "script-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; "
	for name, text := range texts {
		kind := mime.TypeByExtension(path.Ext(name))
		if packed[name] != nil { // it has no addresses
			set.files[name] = packedAsset(kind, text, packed[name])
			continue
		}
		for file := range texts { // file names are in quotation marks
			text = bytes.ReplaceAll(text, []byte(`"`+file), []byte(`"`+set.digest+"/"+file))
		}
		if set.files[name], err = newAsset(kind, text); err != nil {
			return set, err
		}
	}
	return set, nil
}

func unpack(packed []byte) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(zip)
}

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

// serveAssets serves the files of the page. Browsers may cache the files in the digest's folder without limit, and other
// files as long as the server has the same ones. index.html is never cached: it contains the data that the page would
// request at once, in the elements that first returns.
func serveAssets(first func(*http.Request) map[string][]byte) http.HandlerFunc {
	read := sync.OnceValue(func() assetSet { // when the first visitor comes
		set, err := readAssets()
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
