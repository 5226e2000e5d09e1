package visitors

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"player/config/rights"
)

// Guest is a visitor at a WebSocket that watches and drives robots of this server, and the
// goroutines that serve it: a reader and a writer, and one for each robot that it watches or
// commands. One goroutine calls its methods, but for Start.
type Guest struct {
	Visitor Visitor
	WS      *websocket.Conn
	May     rights.Set
	From    string // HOST:PORT
	Outbox  *Outbox
	Ctx     context.Context // ends with the guest

	server context.Context // ends with the server
	fail   context.CancelCauseFunc
	name   string // for the robots
	common Common
	wheels map[int]*Wheels // by robot
}

// Admit makes a guest of a visitor that may read, until ctx ends. It asks for one of the
// subprotocols, and robots are told a word for its kind. Nil: the visitor was refused.
func (c Common) Admit(ctx context.Context, w http.ResponseWriter, r *http.Request, kind string, subprotocols []string) *Guest {
	may := c.RightsOf(r)
	if err := Need(may, rights.Read); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return nil
	}
	visitor := VisitorOf(r)
	ws, err := visitor.Accept(w, r, subprotocols)
	if err != nil {
		return nil // Accept has replied
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr) // the request has it from the connection
	g := &Guest{Visitor: visitor, WS: ws, May: may, From: r.RemoteAddr, Outbox: NewOutbox(),
		server: ctx, name: kind + " " + host, common: c, wheels: map[int]*Wheels{}}
	g.Ctx, g.fail = context.WithCancelCause(ctx)
	return g
}

// Serve reads and writes until the guest disconnects, or fails. An error is sent to it as the
// reason of closing. When Serve returns, the connections to the robots are about to be closed,
// and their server stops the wheels.
func (g *Guest) Serve(read, write func(context.Context) error) error {
	defer g.fail(nil)
	// Reading does not use the guest's context: its end would close the connection before
	// the guest gets the reason.
	g.Start(func(context.Context) error { return read(g.server) })
	g.Start(write)
	<-g.Ctx.Done()
	err := context.Cause(g.Ctx)
	if websocket.CloseStatus(err) != -1 || errors.Is(err, context.Canceled) {
		return nil // the guest has closed, or the server ends
	}
	_ = g.WS.Close(websocket.StatusInternalError, CloseReason(err.Error()))
	return err
}

// Start runs fn in a goroutine; its error ends the guest.
func (g *Guest) Start(fn func(ctx context.Context) error) {
	go func() {
		if err := Recovered(func() error { return fn(g.Ctx) }); err != nil {
			g.fail(err)
		}
	}()
}

// Wheels returns the wheels of the robot with a number, and starts them if necessary. A
// command is good for silence; report tells the guest an error.
func (g *Guest) Wheels(number int, robot Robot, silence time.Duration, report func(error) error) *Wheels {
	w := g.wheels[number]
	if w == nil {
		w = NewWheels(silence, g.common.Dialer(robot.Address, g.name), func(err error) error { return report(fmt.Errorf("%s: %w", robot.Name, err)) })
		g.wheels[number] = w
		g.Start(w.Run)
	}
	return w
}

// Stand stops the robot with a number if the guest drives it.
func (g *Guest) Stand(number int) {
	if w := g.wheels[number]; w != nil {
		w.Drive(0, 0)
	}
}
