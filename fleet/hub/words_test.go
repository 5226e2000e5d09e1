package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"player/client"
)

// For each obstacle between a bridge and a robot operators read the place and the remedy, and no
// text of a library.
func TestInWords(t *testing.T) {
	t.Parallel()
	const address = "robot7:6665"
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 6665}, Err: os.NewSyscallError("connect", err)}
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{dial(syscall.ECONNREFUSED), "start it"},
		{dial(syscall.EHOSTUNREACH), "is the robot on"},
		{dial(syscall.ENETUNREACH), "is the robot on"},
		{dial(syscall.ETIMEDOUT), "does not answer"},
		{dial(os.ErrDeadlineExceeded), "does not answer"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "robot7", IsNotFound: true}}, "correct it in -robot"},
		{fmt.Errorf("reading: %w", context.DeadlineExceeded), "does not answer"},
		{fmt.Errorf("reading: %w", io.EOF), "its log says why"},
		{dial(syscall.ECONNRESET), "its log says why"},
		{fmt.Errorf("reading: %w", client.ErrForeign), "correct the port"},
	} {
		got := inWords(address, tt.err)
		if text := got.Error(); !strings.Contains(text, tt.want) || !strings.Contains(text, address) {
			t.Errorf("%v: %q, want %q", tt.err, text, tt.want)
		}
		for _, word := range []string{"dial", "tcp", "connect:", "EOF", "deadline", "lookup", "reading"} {
			if strings.Contains(got.Error(), word) {
				t.Errorf("%v: %q", tt.err, got)
			}
		}
		if !errors.Is(got, tt.err) {
			t.Errorf("%v is not behind %q", tt.err, got)
		}
		if again := inWords("elsewhere", fmt.Errorf("position of a: %w", got)); !strings.Contains(again.Error(), address) {
			t.Errorf("said twice: %q", again)
		}
	}
	own := errors.New("the motors are off")
	if got := inWords(address, own); got != own {
		t.Errorf("an error that is none of the network: %v", got)
	}
	if got := inWords(address, nil); got != nil {
		t.Errorf("no error: %v", got)
	}
}
