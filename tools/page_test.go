package tools

import (
	"io"
	"net"
	"strings"
	"testing"

	"player/e2e/must"
)

func TestPageAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"robot": "robot:8080", "robot:80": "robot:80", "::1": "[::1]:8080", "[::1]": "[::1]:8080", "[::1]:80": "[::1]:80",
	} {
		if got := PageAddress(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// The name of a camera is one part of the path, and a peer's refusal is one legible line.
func TestPageOfAStranger(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	asked := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return // the test has ended
		}
		defer conn.Close()
		request := make([]byte, 1<<10)
		n, _ := conn.Read(request)
		first, _, _ := strings.Cut(string(request[:n]), "\r\n")
		asked <- first
		_, _ = io.WriteString(conn, "HTTP/1.1 404 no\x1b[2J\r\nContent-Length: 9\r\n\r\na\x1b[31m\nb\r")
	}()
	_, _, err := Picture(t.Context(), l.Addr().String(), "a b/../c\r\nX: y", "?after=1")
	if want := "GET /camera/a%20b%2F..%2Fc%0D%0AX:%20y/picture?after=1 HTTP/1.1"; <-asked != want {
		t.Errorf("the request is not %s", want)
	}
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\r\n") || !strings.Contains(err.Error(), `404 no\x1b[2J: a\x1b[31m\x0ab`) {
		t.Errorf("the error: %q", err)
	}
}
