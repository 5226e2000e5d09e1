package line

import (
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// A tcp is a listener for one host after the other.
type tcp struct {
	line     *Line
	listener net.Listener
	gone     chan struct{} // closed by close
	done     chan struct{} // closed when serve has ended

	mu   sync.Mutex
	conn net.Conn // nil while no host is connected
}

// listen listens on the address of a line.
func listen(l *Line) (*tcp, error) {
	listener, err := net.Listen("tcp", l.opts.TCP)
	if err != nil {
		return nil, err
	}
	return &tcp{line: l, listener: listener, gone: make(chan struct{}), done: make(chan struct{})}, nil
}

// serve passes on the bytes of one host after the other, until close.
func (p *tcp) serve(to chan<- heard) {
	defer close(p.done)
	for {
		conn, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // for example out of descriptors: retry
			select {
			case <-p.gone:
				return
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		p.mu.Lock()
		p.conn = conn
		p.mu.Unlock()
		p.line.hosts.Add(1)
		p.line.Wake()
		for buf, closed := make([]byte, 4096), false; !closed; {
			n, err := conn.Read(buf)
			if closed = err != nil; closed {
				p.hangUp()
			}
			select {
			case to <- heard{from: p, data: slices.Clone(buf[:n]), baud: p.line.opts.Baud, closed: closed}:
			case <-p.gone:
				p.hangUp()
				return
			}
		}
	}
}

func (p *tcp) name() string { return p.listener.Addr().String() }

func (p *tcp) present() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn != nil
}

// speed is the device's: a network has none that the ends would agree on.
func (p *tcp) speed() int { return p.line.opts.Baud }

// write disconnects a host that does not read.
func (p *tcp) write(b []byte) int {
	p.mu.Lock()
	conn := p.conn
	p.mu.Unlock()
	if conn == nil {
		return 0
	}
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // Write has the error of a closed connection
	n, err := conn.Write(b)
	if err != nil {
		p.hangUp()
	}
	return n
}

func (p *tcp) dropUnread() error { return nil } // the bytes are the host's

// hangUp closes the connection, if there is one.
func (p *tcp) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		p.conn.Close()
		p.conn = nil
	}
}

func (p *tcp) close() {
	close(p.gone)
	p.listener.Close()
	p.hangUp()
	<-p.done
}
