package line

import (
	"context"
	"sync"
)

// Changes wakes goroutines that wait for a change. The zero value is ready.
type Changes struct {
	mu   sync.Mutex
	next chan struct{} // closed by the next change; nil while no goroutine waits
}

// Notify is called after every change.
func (c *Changes) Notify() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// Wait returns when cond holds, with ErrClosed when closed is, or with the error of ctx. It
// checks cond after every change.
func (c *Changes) Wait(ctx context.Context, closed <-chan struct{}, cond func() bool) error {
	for {
		c.mu.Lock()
		if c.next == nil {
			c.next = make(chan struct{})
		}
		next := c.next
		c.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-next:
		case <-closed:
			if cond() { // at last
				return nil
			}
			return ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
