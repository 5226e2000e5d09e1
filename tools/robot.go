package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"player/client"
	"player/codec"
)

// dialTimeout bounds the wait for a computer that does not answer.
const dialTimeout = 10 * time.Second

// Dial connects a subcommand to a robot: "host" or "host:port". The server shows
// the name of the subcommand to whoever asks who is connected.
func Dial(ctx context.Context, address, command string) (*client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := client.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := c.SetName("player " + command); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Open asks for devices, "lrsr", and fails unless all are granted. It also asks
// for the ages of the data (PROTOCOL 8.1), which some servers do not have; aged
// reports whether the server does.
func Open(ctx context.Context, c *client.Client, devices string) (aged bool, err error) {
	err = c.Request(ctx, string([]byte{codec.Server, codec.AccessRead})+devices)
	if access, ok := errors.AsType[*client.AccessError](err); ok {
		all := len(access.Devices)
		access.Devices = slices.DeleteFunc(access.Devices, func(a client.Access) bool { return a.Device == codec.Server })
		aged = len(access.Devices) == all
		if access.Enough() {
			return aged, nil
		}
		return aged, err
	}
	return true, err
}

// Readable checks a device request that is to read only: "lrsr".
func Readable(request string) error {
	if len(request) == 0 || len(request)%2 != 0 {
		return fmt.Errorf("%q: devices are pairs of a letter and r, as srlr for sonar and laser", request)
	}
	for i := 0; i < len(request); i += 2 {
		if request[i+1] != codec.AccessRead || request[i] == codec.Server {
			return fmt.Errorf("%q: the devices are only read, as srlr for sonar and laser", request)
		}
	}
	return nil
}

// UntilSignal returns a context that ends with ctx, at a signal to terminate, or at
// one of the others. stop restores the signals' default actions.
func UntilSignal(ctx context.Context, others ...os.Signal) (_ context.Context, stop context.CancelFunc) {
	signals := append([]os.Signal{os.Interrupt, syscall.SIGTERM}, others...)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, signals...)
}
