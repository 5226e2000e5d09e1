package serialport

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// List returns the serial ports of this computer that have hardware, sorted.
func List() []string { return list("/sys/class/tty") }

func list(class string) (paths []string) {
	// Only terminals of hardware have a device. The pattern is well formed.
	found, _ := filepath.Glob(filepath.Join(class, "*", "device"))
	for _, device := range found {
		if dir := filepath.Dir(device); !isPlaceholder(dir) {
			paths = append(paths, "/dev/"+filepath.Base(dir))
		}
	}
	slices.Sort(paths)
	return paths
}

// isPlaceholder reports whether a terminal, given by its directory in sysfs, has no hardware: the
// kernel makes it for a port that the mainboard may have. Its UART has no type.
func isPlaceholder(dir string) bool { return attribute(dir, "type") == "0" }

// IsConsole reports whether the kernel writes its messages to a line.
func IsConsole(path string) bool {
	var stat unix.Stat_t
	return unix.Stat(path, &stat) == nil && attribute(sysfs(stat), "console") == "Y"
}

// attribute returns an attribute in sysfs, "" if it does not exist.
func attribute(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(text))
}

// sysfs returns the directory of a terminal in sysfs.
func sysfs(stat unix.Stat_t) string {
	return fmt.Sprintf("/sys/dev/char/%d:%d", unix.Major(uint64(stat.Rdev)), unix.Minor(uint64(stat.Rdev)))
}

// StableName returns the name of a port that does not depend on the sequence in which adapters are plugged in: the one
// below /dev/serial/by-id. If another adapter has the same one, as those without a serial number have, it is the one
// below /dev/serial/by-path, which depends on the socket. Without such a name it returns path.
func StableName(path string) string { return stableName(path, "/dev/serial", "/sys/class/tty") }

func stableName(path, links, class string) string {
	byID := linkTo(path, filepath.Join(links, "by-id"))
	if byID != "" && !hasTwin(path, class) {
		return byID
	}
	return cmp.Or(linkTo(path, filepath.Join(links, "by-path")), byID, path)
}

// linkTo returns the first link in a directory to a port, "" if there is none.
func linkTo(path, dir string) string {
	links, _ := filepath.Glob(filepath.Join(dir, "*")) // the pattern is well formed
	for _, link := range links {
		if Identity(link) == Identity(path) {
			return link
		}
	}
	return ""
}

// hasTwin reports whether another port has the same name below by-id: udev makes it of these attributes, and gives it to
// one of the two.
func hasTwin(path, class string) bool {
	target, err := filepath.EvalSymlinks(path)
	own := adapter(class, filepath.Base(target))
	if err != nil || own == "" {
		return false
	}
	entries, _ := os.ReadDir(class)
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.Name() != filepath.Base(target) && adapter(class, e.Name()) == own
	})
}

// adapter returns udev's name for a port on USB: the adapter's vendor, product and serial number, and the port's
// interface and number in it. "" is a port that is not on USB.
func adapter(class, name string) string {
	dir, err := filepath.EvalSymlinks(filepath.Join(class, name, "device"))
	if err != nil {
		return ""
	}
	number, at := attribute(dir, "port_number"), ""
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		at = cmp.Or(at, attribute(dir, "bInterfaceNumber"))
		if vendor := attribute(dir, "idVendor"); vendor != "" {
			return strings.Join([]string{vendor, attribute(dir, "idProduct"), attribute(dir, "serial"), at, number}, " ")
		}
	}
	return ""
}
