package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"
)

// containerUser runs the program in a container: a number without an account. The group is dialout, which
// owns serial lines in Debian.
const containerUser, containerGroup = 65532, 20

// blob is a part of an image, in the words of the OCI.
type blob struct {
	Type   string `json:"mediaType"`
	Digest string `json:"digest"`
	Size   int    `json:"size"`
}

const ociType = "application/vnd.oci.image."

// image returns an archive with a container image for a processor: an OCI image layout (image-spec 1.0), which has
// also the manifest.json that docker load reads. It has the program and nothing else.
func (c content) image(t target) ([]byte, error) {
	layer, err := pack(withDirectories([]file{
		{path: "usr/bin/player", data: c.binary, mode: 0o755},
		{path: "etc/player/player.cfg", data: packaged("player.cfg")},
		{path: "usr/share/doc/player/copyright", data: c.copyright},
		{path: "var/lib/player/", mode: 0o755, owner: containerUser},
	}), c.source.time)
	if err != nil {
		return nil, err
	}
	packed, err := compress(layer)
	if err != nil {
		return nil, err
	}
	var files []file
	add := func(kind string, data []byte) blob {
		sum := fmt.Sprintf("%x", sha256.Sum256(data))
		files = append(files, file{path: "blobs/sha256/" + sum, data: data})
		return blob{ociType + kind, "sha256:" + sum, len(data)}
	}
	describe := func(kind string, value any) blob {
		text, failed := json.Marshal(value)
		if failed != nil {
			err = failed
		}
		return add(kind, text)
	}
	annotations := map[string]string{
		"org.opencontainers.image.title": "player", "org.opencontainers.image.version": c.source.version,
		"org.opencontainers.image.revision": c.source.commit, "org.opencontainers.image.licenses": "Apache-2.0",
	}
	what := describe("config.v1+json", map[string]any{
		"created": c.source.time.Format(time.RFC3339), "architecture": t.arch, "os": "linux", "variant": t.variant(),
		"config": map[string]any{
			"User": fmt.Sprintf("%d:%d", containerUser, containerGroup), "Entrypoint": []string{"/usr/bin/player"}, "Cmd": []string{"/etc/player/player.cfg"},
			"WorkingDir": "/var/lib/player", "Volumes": map[string]any{"/var/lib/player": struct{}{}},
			"ExposedPorts": map[string]any{"6665/tcp": struct{}{}, "8080/tcp": struct{}{}}, "Labels": annotations,
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
		"history": []map[string]string{{"created": c.source.time.Format(time.RFC3339), "comment": "player " + c.source.version}},
	})
	part := add("layer.v1.tar+gzip", packed)
	manifest := describe("manifest.v1+json", map[string]any{
		"schemaVersion": 2, "mediaType": ociType + "manifest.v1+json", "config": what, "layers": []blob{part}, "annotations": annotations,
	})
	name := "player:" + c.source.tag()
	index, failed := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": ociType + "index.v1+json", "manifests": []map[string]any{{
		"mediaType": manifest.Type, "digest": manifest.Digest, "size": manifest.Size,
		"platform":    map[string]string{"architecture": t.arch, "os": "linux", "variant": t.variant()},
		"annotations": map[string]string{"org.opencontainers.image.ref.name": c.source.tag(), "io.containerd.image.name": "docker.io/library/" + name},
	}}})
	if failed != nil {
		return nil, failed
	}
	path := func(b blob) string { return "blobs/sha256/" + b.Digest[len("sha256:"):] }
	docker, failed := json.Marshal([]map[string]any{{"Config": path(what), "RepoTags": []string{name}, "Layers": []string{path(part)}}})
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	return pack(append(files, file{path: "oci-layout", data: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		file{path: "index.json", data: index}, file{path: "manifest.json", data: docker}), c.source.time)
}
