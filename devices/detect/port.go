package detect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	serial "github.com/daedaluz/goserial"

	"player/devices"
	"player/process/serialport"
)

const (
	// dialTime is how long a connection may take.
	dialTime = 3 * time.Second
	// lingerTime is how long the last bytes of a connection may take through the serial line behind it, 48 bytes at 9600
	// baud: the line's server may drop bytes when the connection ends.
	lingerTime = 50 * time.Millisecond
)

// port carries the bytes of a line.
type port interface {
	io.ReadWriteCloser
	SetReadDeadline(t time.Time) error
	setSpeed(baud int) error // drops earlier input
	drain() error            // returns when all has left
}

// tty is a serial line of this computer.
type tty struct {
	*os.File // the line's descriptor, for reads with a deadline
	line     *serial.Port
}

func openTTY(_ context.Context, path string, baud int) (port, error) {
	line, err := serialport.Open(path, baud)
	if err != nil {
		return nil, serialport.Explain(path, err, serialport.OpenBy)
	}
	return tty{os.NewFile(uintptr(line.Fd()), path), line}, nil
}

func (t tty) setSpeed(baud int) error {
	return errors.Join(serialport.SetSpeed(t.line, baud), t.line.Flush(serial.TCIOFLUSH))
}

func (t tty) drain() error { return t.line.Drain() }

func (t tty) Close() error {
	serialport.Unlock(t.line)
	return t.File.Close()
}

// connection is a line behind a TCP connection, where its speed is set.
type connection struct{ net.Conn }

func dial(ctx context.Context, address string, _ int) (port, error) {
	dialer := net.Dialer{Timeout: dialTime}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		if why := devices.Unreachable(err); why != nil {
			return nil, why
		}
		return nil, fmt.Errorf("%w: HOST:PORT is where something serves a serial line", err)
	}
	return connection{conn}, nil
}

// cut returns the error of a line that has ended.
func cut(err error) error {
	if why := devices.Unreachable(err); why != nil {
		return why
	}
	return fmt.Errorf("unplugged or closed: %w", err)
}

func (connection) setSpeed(int) error { return nil }

func (connection) drain() error {
	time.Sleep(lingerTime)
	return nil
}
