package visitors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"player/codec"
	"player/config/rights"
)

// Guest is a visitor at a WebSocket that watches and drives robots, and the goroutines that
// serve it: a reader and a writer, and one for each robot that it watches or commands. One
// goroutine calls its methods, except Start and SendJSON.
type Guest struct {
	Visitor Visitor
	WS      *websocket.Conn
	May     rights.Set
	From    string // HOST:PORT
	Outbox  *Outbox
	Ctx     context.Context   // ends with the guest
	Report  func(error) error // shows an error to the guest. It is set before the guest watches or commands a robot

	server   context.Context // ends with the server
	fail     context.CancelCauseFunc
	terms    Terms
	common   Common
	commands map[commanded]*Commands
	feeds    map[int]*Feed // by robot
}

// commanded is a device of a robot.
type commanded struct {
	robot  int // its number
	device byte
}

// Terms are how a server treats its guests.
type Terms struct {
	Name         string // of the guest, for the robots
	Subprotocols []string
	MessageLimit int64         // of the guest's messages, bytes
	Silence      time.Duration // how long a command of Wheels is good
	// Window is how many messages of the outbox the guest may have to acknowledge, by Outbox.Acknowledge.
	// 0: its answer to a ping acknowledges all that was sent.
	Window uint32
	// Reason returns the status and the reason of closing after an error.
	Reason func(error) (websocket.StatusCode, string)
}

// NameOf returns the name for a guest of a kind of programs.
func NameOf(kind string, r *http.Request) string {
	host, _, _ := net.SplitHostPort(r.RemoteAddr) // the request has it from the connection
	return kind + " " + host
}

// Admit makes a guest of a visitor that may read, until ctx ends. Nil: the visitor was refused.
func (c Common) Admit(ctx context.Context, w http.ResponseWriter, r *http.Request, terms Terms) *Guest {
	if err := Need(c.RightsOf(r), rights.Read); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return nil
	}
	return c.Accept(ctx, w, r, terms)
}

// Accept makes a guest of a visitor, whatever its rights. Nil: the request is not accepted.
func (c Common) Accept(ctx context.Context, w http.ResponseWriter, r *http.Request, terms Terms) *Guest {
	visitor := VisitorOf(r)
	ws, err := visitor.Accept(w, r, terms.Subprotocols)
	if err != nil {
		return nil // Accept has replied
	}
	ws.SetReadLimit(terms.MessageLimit)
	g := &Guest{Visitor: visitor, WS: ws, May: c.RightsOf(r), From: r.RemoteAddr, Outbox: newOutbox(terms.Window),
		server: ctx, terms: terms, common: c, commands: map[commanded]*Commands{}, feeds: map[int]*Feed{}}
	g.Ctx, g.fail = context.WithCancelCause(ctx)
	return g
}

// Take takes a message of a guest.
type Take func(kind websocket.MessageType, message []byte) error

// Serve gives take each message of the guest, and runs the other functions, until the guest disconnects or one
// of them fails. The error is sent to the guest as the reason of closing. When Serve returns, the connections to
// the robots are about to be closed, and their server stops the wheels. While take blocks, a closed socket goes
// unnoticed.
func (g *Guest) Serve(take Take, run ...func(context.Context) error) error {
	// Reading and pinging do not use the guest's context: its end would close the connection before
	// the guest gets the reason.
	g.Start(func(context.Context) error { return g.read(g.server, take) })
	if g.terms.Window > 0 {
		g.Start(g.probe)
	}
	for _, fn := range run {
		g.Start(fn)
	}
	<-g.Ctx.Done()
	err := context.Cause(g.Ctx)
	if websocket.CloseStatus(err) != -1 || errors.Is(err, context.Canceled) {
		return nil // the guest has closed, or the server ends
	}
	return g.Close(err)
}

// End ends the guest and its connection. A server that has accepted a guest calls it.
func (g *Guest) End() {
	g.fail(nil)
	g.WS.CloseNow()
}

// Close closes the connection of the guest with an error as the reason, and returns the error.
func (g *Guest) Close(err error) error {
	status, reason := websocket.StatusInternalError, err.Error()
	if g.terms.Reason != nil {
		status, reason = g.terms.Reason(err)
	}
	_ = g.WS.Close(status, CloseReason(reason)) // fails if the guest has gone
	return err
}

func (g *Guest) read(ctx context.Context, take Take) error {
	for {
		kind, message, err := g.Visitor.Read(ctx, g.WS)
		if err == nil {
			err = take(kind, message)
		}
		if err != nil {
			return err
		}
	}
}

// probe pings the guest until it does not answer or ctx ends. A browser also answers for a slow or hidden page.
func (g *Guest) probe(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(probePeriod):
		}
		if err := ping(g.server, g.WS); err != nil {
			return err
		}
	}
}

// Every calls fn at once and then in each period, until ctx ends or fn fails.
func Every(ctx context.Context, period time.Duration, fn func() error) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		if err := fn(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// SendJSON writes a message with a value in JSON.
func (g *Guest) SendJSON(ctx context.Context, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	g.Visitor.OweReply(len(text))
	return g.WS.Write(ctx, websocket.MessageText, text)
}

// Start runs fn in a goroutine; its error ends the guest.
func (g *Guest) Start(fn func(ctx context.Context) error) {
	go func() {
		if err := Recovered(func() error { return fn(g.Ctx) }); err != nil {
			g.fail(err)
		}
	}()
}

// Watch sets the devices of the robot with a number that the guest watches, by their letters, and the rate in Hz. If
// the robot was not watched, Watch starts the feed that open returns.
func (g *Guest) Watch(number int, devices string, rate int, open func() *Feed) {
	f := g.feeds[number]
	if f == nil {
		if devices == "" {
			return
		}
		f = open()
		g.feeds[number] = f
		defer g.Start(f.Run)
	}
	f.Want(devices, rate)
	if devices == "" {
		delete(g.feeds, number) // it ends
	}
}

// Wheels returns the commands to the wheels of the robot with a number, and starts them if necessary.
func (g *Guest) Wheels(number int, robot Robot) *Commands {
	return g.Commands(number, robot, codec.Position)
}

// Commands returns the commands to a device of the robot with a number, and starts them if necessary. The guest keeps a
// device other than the wheels until Release or until it goes: then the robot's server stops servos that it moves.
func (g *Guest) Commands(number int, robot Robot, device byte) *Commands {
	c := g.commands[commanded{number, device}]
	if c == nil {
		name, silence := "wheels", g.terms.Silence
		if device != codec.Position {
			name, silence = robot.Devices[robot.Device(device)].Interface, 0
		}
		dial := g.common.Dialer(robot.Address, g.terms.Name)
		c = NewCommands(device, name, silence, dial, g.reportOnce(robot.Name))
		g.commands[commanded{number, device}] = c
		g.Start(c.Run)
	}
	return c
}

// Release gives a device up that the guest commands.
func (g *Guest) Release(number int, device byte) {
	if c := g.commands[commanded{number, device}]; c != nil {
		c.Release()
	}
}

// reportOnce returns a function that shows the guest the errors of a robot. A refused command is repeated ten times
// a second; its error is shown once in repeatPeriod.
func (g *Guest) reportOnce(robot string) Result {
	var limiter Limiter
	return func(err error, _ bool) error {
		if err == nil || err == ErrSilent || !limiter.Allow(err.Error()) {
			return nil
		}
		return g.Report(fmt.Errorf("%s: %w", robot, err))
	}
}

// Stand stops the robot with a number if the guest drives it.
func (g *Guest) Stand(number int) {
	if c := g.commands[commanded{number, codec.Position}]; c != nil {
		c.Drive(0, 0)
	}
}
