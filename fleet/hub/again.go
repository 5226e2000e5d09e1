package hub

import (
	"context"
	"sync"

	"github.com/nats-io/nats.go"
)

// again reports that NATS is connected again. Requests from before are then without an answer.
type again struct {
	mu   sync.Mutex
	next chan struct{} // closed then
}

// run watches a connection until ctx ends.
func (a *again) run(ctx context.Context, conn *nats.Conn) {
	changes := conn.StatusChanged(nats.CONNECTED)
	defer conn.RemoveStatusListener(changes)
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
			a.connected()
		}
	}
}

func (a *again) connected() {
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.next)
	a.next = make(chan struct{})
}

// context returns a context that ends with ctx, and when the connection is there again.
func (a *again) context(ctx context.Context) (context.Context, context.CancelFunc) {
	a.mu.Lock()
	next := a.next
	a.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-next:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
