package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// The servers of a workshop listen on ports from firstPort to lastPort, below those
// that the kernel gives to connections.
const firstPort, lastPort = 21000, 32000

// ports gives each server of a workshop ports of its own: between the search and the
// server's start nobody else of this program finds the same ones free.
type ports struct{ given atomic.Int64 }

// newPorts begins anywhere: another program may look at the same time.
func newPorts() *ports {
	p := &ports{}
	p.given.Store(rand.Int64N(lastPort - firstPort))
	return p
}

// free returns the first of n ports in a row that nobody listens on.
func (p *ports) free(n int) (first int, err error) {
	for range (lastPort - firstPort) / n {
		end := int(p.given.Add(int64(n)))
		first = firstPort + (end-n)%(lastPort-firstPort-n)
		if err = listenable(first, n); err == nil {
			return first, nil
		}
	}
	return 0, fmt.Errorf("find %d free ports: %w", n, err)
}

// listenable reports with an error that one of n ports is taken.
func listenable(first, n int) error {
	for port := first; port < first+n; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(port)))
		if err != nil {
			return err
		}
		_ = l.Close()
	}
	return nil
}
