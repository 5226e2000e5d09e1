package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"player/client"
)

// trouble is why a robot cannot be talked to, for the operator of the fleet: it reaches the page
// and programs that ask. The error of the library is behind it.
type trouble struct {
	text  string
	cause error
}

func (t trouble) Error() string { return t.text }
func (t trouble) Unwrap() error { return t.cause }

// inWords returns an error of the connection to a robot's server, or to its dashboard, in words
// and with the remedy. An error that is none of the network stays as it is.
func inWords(address string, err error) error {
	if _, said := errors.AsType[trouble](err); said {
		return err
	}
	_, unknown := errors.AsType[*net.DNSError](err)
	network, timed := errors.AsType[net.Error](err)
	var text string
	switch {
	case unknown:
		text = "the name in %s leads to no computer: correct it in -robot or -robots, or start that computer"
	case errors.Is(err, syscall.ECONNREFUSED):
		text = "no server runs at %s: start it there, or correct the port in -robot or -robots"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		text = "there is no way to %s: is the robot on, and in the network?"
	case errors.Is(err, context.DeadlineExceeded), timed && network.Timeout():
		text = "%s does not answer: is the robot on, and in the network? Or its server hangs, or waits for hardware"
	case errors.Is(err, client.ErrForeign):
		text = "no server of Player runs at %s: correct the port in -robot or -robots"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		text = "the server at %s has closed the connection: it has ended, is full, or refuses this computer; its log says why"
	default:
		return err
	}
	return trouble{fmt.Sprintf(text, address), err}
}
