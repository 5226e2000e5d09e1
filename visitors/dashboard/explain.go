package dashboard

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	"player/client"
	"player/visitors"
)

// unfit is the notice for a message that only another version of the page sends.
func unfit(cause error) error {
	return visitors.Notice{Text: "this page does not fit its server: reload it", Cause: cause}
}

// explain returns an error as a sentence for people. Texts of libraries are for the
// log.
func explain(err error) string {
	var plain visitors.Notice
	var refusal *visitors.Refusal
	var timeout net.Error
	var unknown *net.DNSError
	switch {
	case errors.As(err, &plain):
		return plain.Text
	case errors.As(err, &refusal):
		return refusal.Error()
	case errors.Is(err, client.ErrNoDevice):
		return "the robot does not have this device any more"
	case errors.As(err, &unknown):
		return "no computer has this name"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "no server runs at this address"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "it does not answer"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no way to this address"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "its server has closed the connection"
	}
	return "the connection has failed: the server's log has the reason"
}
