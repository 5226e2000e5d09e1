package visitors

import (
	"context"
	"errors"
	"sync"
)

// passes are made by a goroutine again and again while it reads a robot. Others give it
// something to do, and wake it. The zero value is ready.
type passes struct {
	mu        sync.Mutex
	interrupt context.CancelFunc // of the pass under way
}

// wake ends the context of the pass under way. The next pass has everything that the
// goroutine was given before.
func (p *passes) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.interrupt != nil {
		p.interrupt()
	}
}

// run calls pass until it returns nil, or an error that is not that of its context alone.
func (p *passes) run(ctx context.Context, pass func(ctx context.Context) error) error {
	for {
		inner, interrupt := context.WithCancel(ctx)
		p.mu.Lock()
		p.interrupt = interrupt
		p.mu.Unlock()
		err := pass(inner)
		interrupt()
		if ctx.Err() != nil || !errors.Is(err, context.Canceled) {
			return err
		}
	}
}
