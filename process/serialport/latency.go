package serialport

import (
	"os"
	"path/filepath"

	serial "github.com/daedaluz/goserial"
	"golang.org/x/sys/unix"
)

// answerAtOnce asks an FTDI adapter to pass on each byte within 1 ms, by the flag that
// users may set. It would wait up to 16 ms for more: a driver that asks and waits for
// answers would be told four times less. Other lines are left alone. Errors are ignored:
// the line works without.
func answerAtOnce(tty *serial.Port) {
	var stat unix.Stat_t
	if unix.Fstat(tty.Fd(), &stat) != nil || !isFTDI(sysfs(stat)) {
		return
	}
	if line, err := tty.GetSerial(); err == nil && line.Flags&serial.AsyncLowLatency == 0 {
		line.Flags |= serial.AsyncLowLatency
		_ = tty.SetSerial(line)
	}
}

// isFTDI reports whether the driver of a terminal, given by its directory in sysfs, is that
// of adapters by FTDI.
func isFTDI(dir string) bool {
	driver, err := os.Readlink(filepath.Join(dir, "device", "driver"))
	return err == nil && filepath.Base(driver) == "ftdi_sio"
}
