package web

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
)

// crowd is a listener to which browsers come all the time, until it is closed.
type crowd struct {
	net.Listener
	came   int
	closed chan struct{}
}

func (c *crowd) Accept() (net.Conn, error) {
	select {
	case <-c.closed:
		return nil, net.ErrClosed
	default:
	}
	c.came++
	conn, _ := net.Pipe()
	return conn, nil
}

func (c *crowd) Close() error {
	close(c.closed)
	return nil
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &crowd{closed: make(chan struct{})}
		l := limit(inner, 2)
		accepted := make(chan net.Conn, 10)
		go func() {
			defer close(accepted)
			for {
				conn, err := l.Accept()
				if err != nil {
					if !errors.Is(err, net.ErrClosed) {
						t.Error(err)
					}
					return
				}
				accepted <- conn
			}
		}()
		for closed, want := range []int{2, 3, 4} {
			synctest.Wait()
			if inner.came != want {
				t.Errorf("%d connections served and %d closed, want %d served", inner.came, closed, want)
			}
			conn := <-accepted
			conn.Close()
			conn.Close() // gives its place back once
		}
		synctest.Wait()
		l.Close() // ends the wait for a place
		for range accepted {
		}
	})
}
