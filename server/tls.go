package server

import (
	"errors"
	"io"
	"net"
	"time"

	"player/server/tlsconn"
)

// Clients that speak TLS. Package tlsconn has done the handshake. The loop owns the connection, so
// that pacing and liveness see the socket. Input is decrypted when it is carried out, so that a
// flood of records waits in the queue like other input.

// tlsConn is the connection of a client that speaks TLS.
type tlsConn struct {
	connection // a socket, or one of the simulation; nil until it is detached from tls
	tls        *tlsconn.Conn
	server     *Server
}

// Write implements connection. A frame becomes one record, which is written in one write.
func (c *tlsConn) Write(p []byte) { c.write(c.tls.Seal(c.server.sealed[:0], p)) }

func (c *tlsConn) write(records []byte) {
	c.server.sealed = records
	c.connection.Write(records)
}

// Close implements connection. A last record shows the client that the server has closed the
// connection, and not an attacker.
func (c *tlsConn) Close() {
	c.write(c.tls.Bye(c.server.sealed[:0]))
	c.connection.Close()
}

func (c *tlsConn) WireSize(n int) int      { return tlsconn.Size(n) }
func (c *tlsConn) LocalAddr() *net.TCPAddr { return c.tls.Local }
func (c *tlsConn) RemoteAddr() net.Addr    { return c.tls.Remote }

// AcceptTLS makes a client of a connection whose handshake is done, and takes the connection over.
// port is the port of the robot. A reload that is under way may remove the robot, so the connection
// waits for the end of the reload.
func (s *Server) AcceptTLS(now time.Duration, t *tlsconn.Conn, port int) {
	s.acceptTLS(now, t, port, func(c *client, begin func(now time.Duration)) (connection, error) {
		fd, err := t.Detach()
		if err != nil {
			return nil, err
		}
		d, err := s.loop.Adopt(fd, c, begin)
		return socket{d}, err
	})
}

// acceptTLS is AcceptTLS with the function that detaches the connection and has its input brought to the client. begin
// processes the input that came with the handshake.
func (s *Server) acceptTLS(now time.Duration, t *tlsconn.Conn, port int,
	detach func(c *client, begin func(now time.Duration)) (connection, error)) {
	if s.reload != nil {
		s.reload.waiting = append(s.reload.waiting, func(now time.Duration) { s.acceptTLS(now, t, port, detach) })
		return
	}
	conn := &tlsConn{tls: t, server: s}
	c := &client{conn: conn, tls: t, robot: s.robotOn(port)}
	if c.robot == nil || !s.admit(now, c) {
		_ = t.Close() // nothing was sent
		return
	}
	var err error
	conn.connection, err = detach(c, func(now time.Duration) {
		if !c.closed {
			c.processOrQueue(now, nil)
		}
	})
	if err != nil {
		c.Hangup(now, err)
	}
}

// processRecords is process for a client that speaks TLS: it decrypts records.
func (c *client) processRecords(now time.Duration, records []byte) (more bool) {
	plain := c.server.plain[:]
	n, err := c.tls.Read(records, plain)
	c.session.Receive(now, plain[:n])
	if c.tls.HasOwnRecords() {
		c.conn.Write(nil)
	}
	switch {
	case c.closed: // the write has failed
		return false
	case errors.Is(err, io.EOF) && c.session.More(): // the next Read returns io.EOF again
		return true
	case errors.Is(err, io.EOF):
		if c.server.settleClient(now, c); !c.closed { // it may still read
			c.server.closeClient(now, c, err)
		}
		return false
	case err != nil:
		c.server.disconnect(now, c, err)
		return false
	}
	return n == len(plain) || c.session.More()
}
