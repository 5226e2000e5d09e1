package serialport

import (
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

// StableName returns the name of the same port below /dev/serial/by-id, which does not depend on
// the sequence in which adapters are plugged in. Without such a name it returns path.
func StableName(path string) string {
	links, _ := filepath.Glob("/dev/serial/by-id/*") // the pattern is well formed
	for _, link := range links {
		if Identity(link) == Identity(path) {
			return link
		}
	}
	return path
}
