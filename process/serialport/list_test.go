package serialport

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"player/e2e/must"
)

func TestList(t *testing.T) {
	class := t.TempDir()
	for _, name := range []string{"ttyUSB0", "ttyS0", "ttyS1", "tty1"} {
		dir := filepath.Join(class, name)
		err := os.Mkdir(dir, 0o755)
		if name != "tty1" { // a terminal without hardware
			err = errors.Join(err, os.Mkdir(filepath.Join(dir, "device"), 0o755))
		}
		if kind := map[string]string{"ttyS0": "4\n", "ttyS1": "0\n"}[name]; kind != "" {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, "type"), []byte(kind), 0o644))
		}
		must.Do(t, err)
	}
	if got, want := list(class), []string{"/dev/ttyS0", "/dev/ttyUSB0"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, path := range List() {
		if err := inspect(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is in the list: %v", path, err)
		}
	}
	if IsConsole("/dev/null") || StableName("/dev/null") != "/dev/null" {
		t.Error("/dev/null is a console or has a stable name")
	}
}

// Only adapters by FTDI are asked for their latency.
func TestIsFTDI(t *testing.T) {
	for driver, want := range map[string]bool{"ftdi_sio": true, "cp210x": false, "": false} {
		dir := t.TempDir()
		if driver != "" {
			must.Do(t, errors.Join(os.Mkdir(filepath.Join(dir, "device"), 0o755),
				os.Symlink("../../../bus/usb-serial/drivers/"+driver, filepath.Join(dir, "device", "driver"))))
		}
		if got := isFTDI(dir); got != want {
			t.Errorf("driver %q: %v", driver, got)
		}
	}
}
