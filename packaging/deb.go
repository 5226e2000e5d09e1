package main

import (
	"bytes"
	"crypto/md5"
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"
)

//go:embed files
var files embed.FS

const description = `robot device server
 Every sensor and actuator of a robot is a device that programs in any language
 read and command over TCP: position, sonar, laser, gripper, camera, vision. It
 speaks the protocol of Player 0.7.4a, simulates robots, and records runs.
`

// deb packs files for dpkg: deb(5), deb-control(5).
func deb(src source, arch string, files []file) ([]byte, error) {
	var sums, confs strings.Builder
	size := 0
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.path, b.path) }) {
		size += (len(f.data) + 1023) / 1024
		if f.conf {
			fmt.Fprintf(&confs, "/%s\n", f.path)
		} else {
			fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.path)
		}
	}
	size += len(directories(files))
	var control strings.Builder
	for _, field := range [][2]string{
		{"Package", "player"},
		{"Version", src.debian()},
		{"Architecture", arch},
		{"Maintainer", maintainer},
		{"Installed-Size", fmt.Sprint(size)},
		{"Suggests", "avahi-daemon"},
		{"Section", "electronics"},
		{"Priority", "optional"},
	} {
		fmt.Fprintf(&control, "%s: %s\n", field[0], field[1])
	}
	fmt.Fprintf(&control, "Description: %s", description)

	parts := []file{
		{path: "control", data: []byte(control.String())},
		{path: "conffiles", data: []byte(confs.String())},
		{path: "md5sums", data: []byte(sums.String())},
	}
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		text, err := packaged(script)
		if err != nil {
			return nil, err
		}
		parts = append(parts, file{path: script, data: text, mode: 0o755})
	}
	controls, err := tarball(parts, src.time)
	if err != nil {
		return nil, err
	}
	data, err := tarball(files, src.time)
	if err != nil {
		return nil, err
	}
	return ar(src.time, member{"debian-binary", []byte("2.0\n")}, member{"control.tar.gz", controls}, member{"data.tar.gz", data}), nil
}

// packaged returns a file of the directory files.
func packaged(name string) ([]byte, error) { return files.ReadFile("files/" + name) }

// member is a file in an archive of ar.
type member struct {
	name string
	data []byte
}

// ar joins members in the common format of ar(5): 60 bytes of text before each, and
// an even length.
func ar(at time.Time, members ...member) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, m := range members {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", m.name, at.Unix(), 0, 0, "100644", len(m.data))
		b.Write(m.data)
		if len(m.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
