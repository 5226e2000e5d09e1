package visitors

import (
	"context"
	"errors"
	"testing"
)

// Each Wake leads to another pass, and the first error that is not that of a pass's
// context ends them. The end of the caller's context also ends them.
func TestPasses(t *testing.T) {
	t.Parallel()
	var p passes
	p.wake() // nothing is under way
	failed := errors.New("failed")
	n := 0
	err := p.run(t.Context(), func(ctx context.Context) error {
		if n++; n == 3 {
			return failed
		}
		p.wake()
		<-ctx.Done()
		return ctx.Err()
	})
	if n != 3 || err != failed {
		t.Errorf("%d passes, %v", n, err)
	}
	if err := p.run(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("a pass without an error: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = p.run(ctx, func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("at the end: %v", err)
	}
}
