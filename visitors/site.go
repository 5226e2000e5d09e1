package visitors

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"player/config/rights"
)

// LogOpen is the part of a message of the log by which tests find a site that other computers reach.
const LogOpen = " is open to the network"

const (
	// requestLimit is how long a browser may take to send a request. Connections without a
	// request are closed after it.
	requestLimit = 10 * time.Second
	// headerSize is the most bytes of a request's header, with the cookies that
	// other programs on this host have set in the browser.
	headerSize = 16 << 10
	// replyLimit is how long a reply may take to be sent, at most: a slow network
	// loads the dashboard in seconds. It does not apply to WebSockets.
	replyLimit = 30 * time.Second
	// idleLimit is how long a browser may keep an unused connection open. Chromium keeps one
	// as long (300 s): to load a page again through it takes one round trip less. A new
	// connection that needs the place gets it.
	idleLimit = 5 * time.Minute
)

// Site is a server for visitors: a page, or viewers.
type Site struct {
	Name    string   // a further host name; may be empty
	Origins []string // origins of pages on other sites that may use it, as ParseOrigin returns them
	Proxy   Proxy    // in front of it
	What    string   // name of the server in the log
	Flag    string   // that sets its address, for errors
	Can     string   // the act of visitors on the robots, for the log: "drive"
	Stop    string   // path of an emergency stop, which waits for no budget; may be empty
	// TLS returns the configuration of a new connection. Nil, or a function that returns
	// nil: the site has no TLS. With it, visitors on other computers must use it.
	TLS     func() *tls.Config
	Handler http.Handler
	Log     *zap.Logger
}

// Serve serves visitors on l within their budget until ctx ends; then it closes l and
// returns nil.
func (s Site) Serve(ctx context.Context, l net.Listener) error {
	if s.TLS == nil {
		s.TLS = func() *tls.Config { return nil }
	}
	if config := s.TLS(); !loopback(l.Addr()) && (config == nil || config.ClientCAs == nil) {
		s.Log.Warn(s.What+LogOpen+": every computer that reaches it can "+s.Can+" the robots", zap.Stringer("address", l.Addr()))
	}
	budget := newBudget(s.Log)
	server := http.Server{
		Handler:           throttle(s.requireTLS(s.Protected())),
		ConnContext:       withConn,
		ConnState:         budget.follow,
		ReadHeaderTimeout: requestLimit,
		ReadTimeout:       requestLimit,
		MaxHeaderBytes:    headerSize,
		WriteTimeout:      replyLimit,
		IdleTimeout:       idleLimit,
		ErrorLog:          zap.NewStdLog(s.Log.WithOptions(zap.IncreaseLevel(zap.ErrorLevel))),
	}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	err := server.Serve(&limited{l, budget, s.Stop, s.TLS})
	if ctx.Err() != nil && errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Protected returns the handler behind the gate, which refuses pages of other sites.
func (s Site) Protected() http.Handler {
	g := newGate(s.Name, s.Proxy)
	g.origins, g.flag = s.Origins, s.Flag
	return g.protect(s.Handler, s.Log)
}

// requireTLS calls next for requests that came by TLS, or need not, and replies to the
// others how to use it. A program on this computer may be a tunnel or a proxy, which uses TLS itself.
func (s Site) requireTLS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := connOf(r); c.byTLS == nil && !c.account.local() && s.TLS() != nil {
			http.Error(w, "this server encrypts: use https:// or wss:// instead of http:// or ws://", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Visitor is the sender of a request to a Site.
type Visitor struct {
	Address netip.Addr
	Name    string // in the certificate, which was verified; empty: the visitor has none
	account *account
	conn    *counted
}

// VisitorOf returns the sender of a request.
func VisitorOf(r *http.Request) Visitor {
	v := Visitor{Address: AddressOf(r.RemoteAddr)}
	if c := connOf(r); c != nil { // otherwise a test calls the handler itself
		v.account, v.conn = c.account, c
		if r.RemoteAddr == c.RemoteAddr().String() { // otherwise the certificate is a proxy's
			v.Name = c.name()
		}
	}
	return v
}

// Accept accepts a WebSocket with one of the subprotocols. The gate has checked its
// origin. After an error it has replied.
func (v Visitor) Accept(w http.ResponseWriter, r *http.Request, subprotocols []string) (*websocket.Conn, error) {
	v.account.pay(socketCost)
	return websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       subprotocols,
		InsecureSkipVerify: true,
		OnPingReceived:     func(context.Context, []byte) bool { v.account.pay(messageCost); return true },
	})
}

// Read reads a message.
func (v Visitor) Read(ctx context.Context, ws *websocket.Conn) (websocket.MessageType, []byte, error) {
	kind, message, err := ws.Read(ctx)
	if err == nil {
		v.account.pay(messageCost)
	}
	return kind, message, err
}

// WriteAll writes the next parts of a reply. The reply must not be chunked, and its header must have been flushed. On a
// connection without TLS, that is one system call without a copy.
func (v Visitor) WriteAll(w http.ResponseWriter, parts ...[]byte) error {
	if v.conn == nil { // a test calls the handler itself
		_, err := w.Write(bytes.Join(parts, nil))
		return err
	}
	return v.conn.writeAll(parts)
}

// Wait waits until the visitor may cause the work of a message. Many that would encode
// theirs at the same moment go on one by one, and the loop runs in between.
func (v Visitor) Wait() { v.account.pay(messageCost) }

// Owe adds work that was done for the visitor. Its next request waits for it, within limits.
func (v Visitor) Owe(work time.Duration) { v.account.owe(work) }

// OweReply adds the work of making a reply in JSON with so many bytes: a list of all topics of a
// hundred robots takes a thousand times as long as the request.
func (v Visitor) OweReply(bytes int) { v.Owe(time.Duration(bytes) * replyCost) }

// NotAllowed begins the error of Need.
const NotAllowed = "the robot's owner does not allow it"

// Need returns an error if a visitor lacks a right.
func Need(may, want rights.Set) error {
	if may.Has(want) {
		return nil
	}
	return Notice{Text: fmt.Sprintf("%s: your computer may %v, this needs %v", NotAllowed, may, want)}
}

// reasonLimit is how many bytes of a reason fit into a close frame (RFC 6455, 5.5.1).
const reasonLimit = 123

// CloseReason returns the part of a text that fits into the close frame of a WebSocket.
func CloseReason(text string) string {
	text = strings.ToValidUTF8(text, "?")
	return strings.ToValidUTF8(text[:min(len(text), reasonLimit)], "") // without half a letter at the end
}

// AddressOf returns the IP address of HOST:PORT, or an invalid one.
func AddressOf(hostPort string) netip.Addr {
	a, _ := netip.ParseAddrPort(hostPort) // fails for addresses of tests only
	return a.Addr().Unmap()
}
