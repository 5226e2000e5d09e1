// Package tlsconn is TLS for clients. A handshake takes milliseconds, so it is done in
// a goroutine, with bounds on the work that strangers can cause. The result is a
// Conn: records in, records out, which the loop does itself.
//
// The protocol is TLS 1.3 only (RFC 8446): it has no renegotiation, and without
// tickets every connection proves the client's identity again.
package tlsconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"go.uber.org/zap"

	"player/config/rights"
	"player/formats/textfile"
	"player/process/descriptors"
	"player/timers/limited"
)

const (
	// handshakeLimit is how long a client may take for its handshake. It is enough for three
	// round trips on a bad radio network.
	handshakeLimit = 5 * time.Second
	// atOnce is how many handshakes may be under way, and perAddress how many of one address.
	// Each takes about 20 KB. A further client is disconnected at once.
	atOnce     = 128
	perAddress = atOnce / 2
	// period is the time from the computation of one handshake to the next one, of all clients
	// together. A computation takes a desktop 2 ms with a key on P-256 and 6 ms with RSA of
	// 2048 bits, and the loop waits for it.
	period = 20 * time.Millisecond
	// cost is how many descriptors a connection takes until it is detached: its own, and the
	// duplicate that Detach returns.
	cost = 2
	// acceptPause is how long no connection is accepted after accept has failed.
	acceptPause = 100 * time.Millisecond
)

// Reasons to refuse a client.
var (
	errMany    = errors.New("too many handshakes at a time")
	errAddress = errors.New("too many handshakes of this address at a time")
)

// Load returns the configuration of a server with the certificate and the key in
// two PEM files. clients is a PEM file with the authorities that clients need a
// certificate of; empty: clients need none.
func Load(cert, key, clients string) (*tls.Config, error) {
	chain, err := textfile.Read(cert)
	private, errKey := textfile.Read(key)
	var pair tls.Certificate
	if err = errors.Join(err, errKey); err == nil {
		pair, err = tls.X509KeyPair(chain, private)
	}
	if err != nil {
		return nil, fmt.Errorf("certificate %s and key %s: %w", cert, key, err)
	}
	config := &tls.Config{
		Certificates:           []tls.Certificate{pair},
		MinVersion:             tls.VersionTLS13,
		SessionTicketsDisabled: true,
		// A frame is one record and one packet.
		DynamicRecordSizingDisabled: true,
	}
	if clients == "" {
		return config, nil
	}
	text, err := textfile.Read(clients)
	if err != nil {
		return nil, fmt.Errorf("authority of clients: %w", err)
	}
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("authority of clients: there is no certificate in %s", clients)
	}
	return config, nil
}

// Handshakes does the handshakes of all listeners of a server.
type Handshakes struct {
	quota   *descriptors.Share
	log     *zap.Logger
	started time.Time

	mu        sync.Mutex
	config    *tls.Config // nil: no client may connect
	all       int
	addresses map[netip.Addr]int // handshakes under way, by computer
	next      time.Time          // when the next computation may begin
	refusals  limited.Line
}

// New returns handshakes with a configuration of Load, nil for none so far. Their descriptors
// are taken from quota.
func New(config *tls.Config, quota *descriptors.Share, log *zap.Logger) *Handshakes {
	h := &Handshakes{quota: quota, log: log, started: time.Now(), addresses: map[netip.Addr]int{}}
	h.Renew(config)
	return h
}

// Renew sets the configuration of Load for handshakes that begin from now on. With nil no client
// may connect from now on.
func (h *Handshakes) Renew(config *tls.Config) {
	if config != nil {
		config = config.Clone()
		// It is called when the client's first message has been read, before anything is
		// computed.
		config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
			time.Sleep(h.delay(time.Now()))
			return nil, nil
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.config = config
}

// Current returns the configuration of a handshake that begins now, nil if there is none. All
// handshakes with it are computed one after the other, also those that another package makes.
func (h *Handshakes) Current() *tls.Config {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.config
}

// delay reserves the time of the next computation, and returns how long until it begins.
func (h *Handshakes) delay(now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.next
	if now.After(at) {
		at = now
	}
	h.next = at.Add(period)
	return at.Sub(now)
}

// Serve accepts connections until the listener is closed. ready takes over each one
// whose handshake is done; it is called by goroutines.
func (h *Handshakes) Serve(l net.Listener, ready func(*Conn)) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			h.refused(l.Addr(), err)
			time.Sleep(acceptPause)
			continue
		}
		from := rights.Computer(conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr())
		if err := h.enter(from); err != nil {
			h.refused(conn.RemoteAddr(), err)
			_ = conn.Close() // nothing was sent
			continue
		}
		go func() {
			defer h.leave(from)
			w := &wire{Conn: conn}
			c := newConn(w, tls.Server(w, h.Current()), func() { h.quota.Return(cost) })
			if err := c.shake(); err != nil {
				h.refused(conn.RemoteAddr(), err)
				_ = c.Close() // err has the reason
				return
			}
			ready(c)
		}()
	}
}

// enter counts a handshake as under way, or returns why it is refused.
func (h *Handshakes) enter(from netip.Addr) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.all == atOnce:
		return errMany
	case h.addresses[from] == perAddress:
		return errAddress
	}
	if err := h.quota.Take(cost); err != nil {
		return err
	}
	h.all++
	h.addresses[from]++
	return nil
}

func (h *Handshakes) leave(from netip.Addr) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all--
	if h.addresses[from]--; h.addresses[from] == 0 {
		delete(h.addresses, from)
	}
}

// shake does the handshake.
func (c *Conn) shake() (err error) {
	defer c.caught(&err)
	if err := c.tls.SetDeadline(time.Now().Add(handshakeLimit)); err != nil {
		return err
	}
	if err := c.tls.Handshake(); err != nil {
		return err
	}
	if certs := c.tls.ConnectionState().PeerCertificates; len(certs) > 0 {
		c.Name = certs[0].Subject.CommonName
	}
	return nil
}

// refused logs that a client was refused.
func (h *Handshakes) refused(client net.Addr, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refusals.Warn(time.Since(h.started), h.log, "client refused", zap.Stringer("client", client), zap.NamedError("reason", why))
}
