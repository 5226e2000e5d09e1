// Package ports gives tests and measurements TCP ports of 127.0.0.1 for the servers that
// they start. Programs that run side by side never get the same one: the owner of a port holds
// an abstract Unix socket of its number, which ends with the program.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// First and Last are below the ports that Linux gives to connections (32768 and up), so no
// connection takes one before its server listens, also when it is started again. Below
// First are the ports of programs that claim none: player sweep, and the trials of goto.
const First, Last = 14000, 32767

// attempts bounds the search. Few of the ports are taken at a time.
const attempts = 1000

// Free returns the first of n ports in a row, which are the test's until it ends.
func Free(t testing.TB, n int) int {
	t.Helper()
	port, release, err := Take(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return port
}

// Serve serves each connection to a port of the system's choice until the test ends, and closes it after serve. It
// returns the address.
func Serve(t testing.TB, serve func(conn net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return l.Addr().String()
}

// Claim makes a port the test's until it ends, and reports whether it was free.
func Claim(t testing.TB, port int) bool {
	release, ok := claim(port)
	if ok {
		t.Cleanup(release)
	}
	return ok
}

// Take returns the first of n ports in a row, which are the caller's until it calls
// release or ends.
func Take(n int) (port int, release func(), err error) {
	for range attempts {
		port := First + rand.IntN(Last-First-n+2)
		if release, ok := claimRow(port, n); ok {
			return port, release, nil
		}
	}
	return 0, nil, fmt.Errorf("there are no %d free ports in a row from %d to %d", n, First, Last)
}

// AreFree reports whether n ports in a row are free and unclaimed.
func AreFree(port, n int) bool {
	release, ok := claimRow(port, n)
	if ok {
		release()
	}
	return ok
}

func claimRow(port, n int) (release func(), ok bool) {
	var all []func()
	release = func() {
		for _, r := range all {
			r()
		}
	}
	for p := port; p < port+n; p++ {
		r, ok := claim(p)
		if !ok {
			release()
			return nil, false
		}
		all = append(all, r)
	}
	return release, true
}

// claim checks by dialing: a listener would be copied into a program that is started at
// that moment, until it is executed.
func claim(port int) (release func(), ok bool) {
	socket, err := net.Listen("unix", fmt.Sprintf("@player-test-port-%d", port))
	if err != nil {
		return nil, false
	}
	release = func() { _ = socket.Close() } // no other process uses it
	if conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
		_ = conn.Close()
		release()
		return nil, false
	}
	return release, true
}
