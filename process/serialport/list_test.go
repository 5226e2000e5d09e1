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

// A port has the name of its adapter. Two adapters with the same name have the names of their sockets, and each port of one
// adapter has its own.
func TestStableName(t *testing.T) {
	root := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	write := func(path, text string) {
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)))
	}
	link := func(target, path string) {
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(target, path)))
	}
	port := func(tty, socket, serial, number, byID string) {
		usb := at("sys", "usb", socket)
		write(filepath.Join(usb, "idVendor"), "10c4\n")
		write(filepath.Join(usb, "idProduct"), "ea60\n")
		write(filepath.Join(usb, "serial"), serial+"\n")
		write(filepath.Join(usb, "i"+number, "bInterfaceNumber"), number+"\n")
		write(filepath.Join(usb, "i"+number, tty, "port_number"), "0\n")
		write(at("dev", tty), "")
		link(filepath.Join(usb, "i"+number, tty), at("sys", "class", tty, "device"))
		link(at("dev", tty), at("serial", "by-path", socket+"-"+number))
		if byID != "" {
			link(at("dev", tty), at("serial", "by-id", byID))
		}
	}
	port("ttyUSB0", "a", "0001", "00", "usb-CP2102_0001-if00") // an RPLIDAR and a YDLIDAR: their adapters are twins
	port("ttyUSB1", "b", "0001", "00", "")
	port("ttyUSB2", "c", "77", "00", "usb-CP2105_77-if00") // both ports of one adapter
	port("ttyUSB3", "c", "77", "01", "usb-CP2105_77-if01")
	write(at("dev", "ttyS0"), "")
	for tty, want := range map[string]string{
		"ttyUSB0": at("serial", "by-path", "a-00"), "ttyUSB1": at("serial", "by-path", "b-00"),
		"ttyUSB2": at("serial", "by-id", "usb-CP2105_77-if00"), "ttyUSB3": at("serial", "by-id", "usb-CP2105_77-if01"),
		"ttyS0": at("dev", "ttyS0"),
	} {
		if got := stableName(at("dev", tty), at("serial"), at("sys", "class")); got != want {
			t.Errorf("%s: %s, want %s", tty, got, want)
		}
	}
}
