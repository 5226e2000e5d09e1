package dashboard

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

	"player/visitors"
)

// People read a sentence, whatever fails, and the log has the cause.
func TestExplain(t *testing.T) {
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 6665}, Err: os.NewSyscallError("connect", err)}
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{dial(syscall.ECONNREFUSED), "no server runs"},
		{dial(syscall.EHOSTUNREACH), "no way"},
		{dial(syscall.ENETUNREACH), "no way"},
		{dial(syscall.ETIMEDOUT), "does not answer"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}}, "no computer has this name"},
		{fmt.Errorf("reading: %w", context.DeadlineExceeded), "does not answer"},
		{fmt.Errorf("reading: %w", io.EOF), "closed the connection"},
		{dial(syscall.ECONNRESET), "closed the connection"},
		{visitors.Notice{Text: "this is not a Player server", Cause: io.ErrUnexpectedEOF}, "this is not a Player server"},
		{fmt.Errorf("driving: %w", visitors.ErrEnded), "the server has stopped"},
		{unfit(nil), "reload"},
		{errors.New("panic: index out of range [3] with length 2"), "the log has the reason"},
	} {
		got := explain(tt.err)
		if !strings.Contains(got, strings.TrimPrefix(tt.want, "the log")) {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
		for _, word := range []string{"dial", "tcp", "connect:", "EOF", "deadline", "panic", "%", "device p", "lookup"} {
			if strings.Contains(got, word) {
				t.Errorf("%v: %q", tt.err, got)
			}
		}
	}
	if n := (visitors.Notice{Text: "this is not a Player server", Cause: io.EOF}); n.Error() != "this is not a Player server: EOF" || !errors.Is(n, io.EOF) {
		t.Errorf("the log gets %q", n.Error())
	}
}
