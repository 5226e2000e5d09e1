package visitors

import (
	"context"
	"errors"
	"sync"
)

// Turns are what a goroutine does again and again while it reads a robot. Others give it
// something to do, and Wake it. The zero value is ready.
type Turns struct {
	mu        sync.Mutex
	interrupt context.CancelFunc // of the turn under way
}

// Wake ends the context of the turn under way. The next turn has everything that the
// goroutine was given before.
func (t *Turns) Wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.interrupt != nil {
		t.interrupt()
	}
}

// Run calls turn until it returns nil, or an error that is not that of its context alone.
func (t *Turns) Run(ctx context.Context, turn func(ctx context.Context) error) error {
	for {
		inner, interrupt := context.WithCancel(ctx)
		t.mu.Lock()
		t.interrupt = interrupt
		t.mu.Unlock()
		err := turn(inner)
		interrupt()
		if ctx.Err() != nil || !errors.Is(err, context.Canceled) {
			return err
		}
	}
}
