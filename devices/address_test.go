package devices

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestUnreachable(t *testing.T) {
	for code, want := range map[syscall.Errno]string{
		syscall.ECONNREFUSED: "connection refused: is the device on",
		syscall.EHOSTUNREACH: "no route to host: check the address",
		syscall.ENETUNREACH:  "network is unreachable: check the address",
		syscall.ETIMEDOUT:    "connection timed out: check the address",
	} {
		got := Unreachable(fmt.Errorf("dial 10.0.0.1:1: %w", os.NewSyscallError("read", code)))
		if got == nil || !strings.HasPrefix(got.Error(), want) || !errors.Is(got, code) {
			t.Errorf("%v: %v", code, got)
		}
	}
	for _, other := range []error{nil, io.EOF, syscall.EPIPE, syscall.EIO} {
		if got := Unreachable(other); got != nil {
			t.Errorf("%v: %v", other, got)
		}
	}
}
