package ports

import (
	"fmt"
	"net"
	"testing"
)

// A port is given once, and not while somebody listens on it.
func TestClaim(t *testing.T) {
	t.Parallel()
	row := Free(t, 3)
	for port := row; port < row+3; port++ {
		if Claim(t, port) {
			t.Errorf("port %d is given twice", port)
		}
	}
	port, release, err := Take(1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	release()
	if Claim(t, port) {
		t.Errorf("port %d is given, and somebody listens", port)
	}
	if _, ok := claimRow(port-1, 2); ok {
		t.Errorf("a row with port %d is given", port)
	}
	l.Close()
	if !Claim(t, port-1) || !Claim(t, port) {
		t.Errorf("port %d is not given again", port)
	}
}
