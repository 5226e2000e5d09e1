package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
)

// unpacked returns the files of a tar archive by their paths.
func unpacked(t *testing.T, packed []byte) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(packed)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		data := must.Get(io.ReadAll(r))(t)
		if path := strings.TrimPrefix(h.Name, "./"); h.Typeflag != tar.TypeDir {
			all[path] = data
		} else if path == "var/lib/player/" && h.Uid != containerUser {
			t.Errorf("%s belongs to %d", path, h.Uid)
		}
	}
}

// The parts of an image are found by their digests from its index, as container engines do, and
// the program runs with only the files of the image.
func TestImage(t *testing.T) {
	acceptance.Only(t)
	binary := filepath.Join(t.TempDir(), "player")
	t.Chdir("..")
	from := source{commit: hash, version: "1.2.0~rc1", time: at(t)}
	must.Do(t, from.build(binary, runtime.GOARCH, "")) // as the packages are: what is compiled is compiled once
	program := must.Get(os.ReadFile(binary))(t)
	c := content{source: from, binary: program, copyright: []byte("x")}
	packed := must.Get(c.image(target{name: "armv7", arch: "arm", arm: "7"}))(t)
	again, err := c.image(target{name: "armv7", arch: "arm", arm: "7"})
	if err != nil || !bytes.Equal(packed, again) {
		t.Errorf("two images differ, %v", err)
	}
	files := unpacked(t, packed)
	read := func(path string, to any) {
		t.Helper()
		if err := json.Unmarshal(files[path], to); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	find := func(b blob) string {
		t.Helper()
		path := strings.Replace("blobs/"+b.Digest, ":", "/", 1)
		if data, ok := files[path]; !ok || len(data) != b.Size || fmt.Sprintf("sha256:%x", sha256.Sum256(data)) != b.Digest {
			t.Fatalf("%s has %d bytes, want %+v", path, len(data), b)
		}
		return path
	}
	var index struct{ Manifests []blob }
	read("index.json", &index)
	var manifest struct {
		Config blob
		Layers []blob
	}
	read(find(index.Manifests[0]), &manifest)
	var config struct {
		Architecture, Variant string
		Config                struct{ User, WorkingDir string }
		Rootfs                struct {
			Diffs []string `json:"diff_ids"`
		}
	}
	read(find(manifest.Config), &config)
	if config.Architecture != "arm" || config.Variant != "v7" || config.Config.User != "65532:20" {
		t.Errorf("%+v", config)
	}
	var docker []struct {
		Config           string
		RepoTags, Layers []string
	}
	read("manifest.json", &docker)
	if d := docker[0]; d.Config != find(manifest.Config) || d.Layers[0] != find(manifest.Layers[0]) || d.RepoTags[0] != "player:1.2.0-rc1" {
		t.Errorf("%+v", d)
	}
	zip := must.Get(gzip.NewReader(bytes.NewReader(files[find(manifest.Layers[0])])))(t)
	layer, err := io.ReadAll(zip)
	if err != nil || fmt.Sprintf("sha256:%x", sha256.Sum256(layer)) != config.Rootfs.Diffs[0] {
		t.Fatalf("the layer is not that of the configuration, %v", err)
	}
	root := t.TempDir()
	for path, data := range unpacked(t, layer) {
		path = filepath.Join(root, path)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, data, 0o755))
	}
	if os.Getuid() != 0 {
		needs.Missing(t, "root, to run the program in a folder")
	}
	must.Do(t, os.Chmod(filepath.Dir(root), 0o755))
	cmd := exec.Command("/usr/bin/player", "check", "/etc/player/player.cfg")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: containerUser, Gid: containerGroup}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "p2os") {
		t.Errorf("%v\n%s", err, out)
	}
}
