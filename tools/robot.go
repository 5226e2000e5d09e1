package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"player/client"
	"player/codec"
	"player/codec/peertext"
)

const (
	// answerLimit bounds the wait for the reply to an empty request, which needs no
	// hardware: even under attack a server replies within a second.
	answerLimit = 5 * time.Second
	// openLimit bounds the wait for hardware that has to be set up. The longest that a
	// driver may have to wait is the boot of a board, 60 s.
	openLimit = 90 * time.Second
)

// Dial connects a subcommand to a robot: "host" or "host:port". The server's lists of
// clients show the name of the subcommand. Dial fails unless the answer is the Player
// protocol. Data will come rate times a second.
func Dial(ctx context.Context, address, command string, rate int) (*client.Client, error) {
	c, err := Connect(ctx, address, command)
	if err != nil {
		return nil, err
	}
	if err = Answer(ctx, c, address); err == nil {
		err = c.SetFrequency(rate)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Connect is Dial without waiting for an answer.
func Connect(ctx context.Context, address, command string) (*client.Client, error) {
	c, err := client.DialAs(ctx, address, "player "+command, dialLimit)
	return c, Unanswered(address, err)
}

// Answer waits until the server at an address has processed all earlier messages: the reply
// to an empty request comes after them.
func Answer(ctx context.Context, c *client.Client, address string) error {
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	err := c.Request(limited, "")
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%s answers nothing in %v: it hangs, or is %s", address, answerLimit, NotPlayer)
	}
	return Unanswered(address, err)
}

// NotPlayer: the peer's answer is not the Player protocol.
const NotPlayer = "no server of Player (a robot has port 6665, or the port of its -gp)"

// Unanswered names the address in the error of a server that did not answer, and the
// likely reason.
func Unanswered(address string, err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("%s closed the connection without an answer: it refuses this computer or is full (see its log), or is %s", address, NotPlayer)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: no server listens there: start it, or give the port of its -gp, as HOST:PORT", err)
	case errors.Is(err, client.ErrForeign):
		return fmt.Errorf("%s is %s: %w", address, NotPlayer, err)
	}
	return err
}

// nameOf returns the name of a device of the list.
func nameOf(all []Device, code byte) string {
	if i := slices.IndexFunc(all, func(d Device) bool { return d.Code == code }); i >= 0 {
		return all[i].Name()
	}
	return lettered(code).Name
}

// Open asks for devices, "lrsr", and fails unless all are granted. It also asks
// for the ages of the data (PROTOCOL 8.1), which some servers do not have; aged
// reports whether the server does.
func Open(ctx context.Context, c *client.Client, devices string) (aged bool, err error) {
	limited, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	err = c.Request(limited, string([]byte{codec.Server, codec.AccessRead})+devices)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return false, fmt.Errorf("%q is not open after %v: the server hangs, or waits for hardware (see its log)", devices, openLimit)
	}
	if access, ok := errors.AsType[*client.AccessError](err); ok {
		all := len(access.Devices)
		access.Devices = slices.DeleteFunc(access.Devices, func(a client.Access) bool { return a.Device == codec.Server })
		aged = len(access.Devices) == all
		if len(access.Devices) == 0 {
			return aged, nil
		}
		return aged, err
	}
	return true, err
}

// Refused says why devices of a list are refused: one line for each reason, with the devices'
// names. Devices that the robot does not have are left out.
func Refused(access *client.AccessError, all []Device) (lines []string) {
	var reasons []string
	names := map[string][]string{}
	for _, a := range access.Devices {
		if a.Granted != codec.AccessError || a.Why == codec.WhyMissing {
			continue
		}
		if names[a.Reason()] == nil {
			reasons = append(reasons, a.Reason())
		}
		names[a.Reason()] = append(names[a.Reason()], nameOf(all, a.Device))
	}
	for _, reason := range reasons {
		lines = append(lines, strings.Join(names[reason], ", ")+": "+peertext.Line(reason))
	}
	return lines
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
