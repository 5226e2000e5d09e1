package web

import (
	"context"
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

// serve serves visitors on l within their budget until ctx ends; then it closes l and
// returns nil. For the log, what names the server, and can is what a visitor can do.
func serve(ctx context.Context, l net.Listener, handler http.Handler, what, can string, log *zap.Logger) error {
	if !loopback(l.Addr()) {
		log.Warn(what+" is open to the network: anybody who reaches it can "+can+" the robots", zap.Stringer("address", l.Addr()))
	}
	server := http.Server{
		Handler:           throttle(handler),
		ConnContext:       withConn,
		ReadHeaderTimeout: requestLimit,
		ReadTimeout:       requestLimit,
		MaxHeaderBytes:    headerSize,
		WriteTimeout:      replyLimit,
		IdleTimeout:       idleLimit,
		ErrorLog:          zap.NewStdLog(log.WithOptions(zap.IncreaseLevel(zap.ErrorLevel))),
	}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	err := server.Serve(&limited{l, newBudget(log)})
	if ctx.Err() != nil && errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Site is another server for visitors, with the guard and the budget of the dashboard.
type Site struct {
	Name    string   // a further host name; may be empty
	Origins []string // of pages elsewhere that may use it
	What    string   // name of the server in the log
	Flag    string   // that sets its address, for errors
	Watches bool     // visitors cannot drive the robots
	Handler http.Handler
	Log     *zap.Logger
}

// Serve serves the site on l until ctx ends; then it closes l and returns nil.
func (s Site) Serve(ctx context.Context, l net.Listener) error {
	g := newGuard(s.Name)
	g.origins, g.flag = s.Origins, s.Flag
	can := "drive"
	if s.Watches {
		can = "watch"
	}
	return serve(ctx, l, g.protect(s.Handler, s.Log), s.What, can, s.Log)
}

// Visitor is who sent a request to a Site.
type Visitor struct {
	Address netip.Addr
	account *account
}

// VisitorOf returns who sent a request.
func VisitorOf(r *http.Request) Visitor { return Visitor{addressOf(r.RemoteAddr), accountOf(r)} }

// Accept accepts a WebSocket with one of the subprotocols. The guard has checked its
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

// Turn waits until the visitor may cause the work of a message. Many that would encode
// theirs at the same moment get their turns one by one, and the loop runs in between.
func (v Visitor) Turn() { v.account.pay(messageCost) }

// Need returns an error if a visitor lacks a right.
func Need(may, want rights.Set) error {
	if may.Has(want) {
		return nil
	}
	return notice{text: fmt.Sprintf("the robot's owner does not allow it: your computer may %v, this needs %v", may, want)}
}

// reasonLimit is how many bytes of a reason fit into a close frame (RFC 6455, 5.5.1).
const reasonLimit = 123

// CloseReason returns the part of a text that fits into the close frame of a WebSocket.
func CloseReason(text string) string {
	text = strings.ToValidUTF8(text, "?")
	return strings.ToValidUTF8(text[:min(len(text), reasonLimit)], "") // without half a letter at the end
}

// OnLoop calls fn on the loop by its Post, and waits until it has returned.
func OnLoop(ctx context.Context, post func(func(now time.Duration)) bool, fn func(now time.Duration)) error {
	done := make(chan struct{})
	if !post(func(now time.Duration) {
		fn(now)
		close(done)
	}) {
		return errEnded
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
