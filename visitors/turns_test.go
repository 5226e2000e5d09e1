package visitors

import (
	"context"
	"errors"
	"testing"
)

// Each Wake leads to another turn, and the first error that is not that of a turn's
// context ends them. The end of the caller's context ends them, too.
func TestTurns(t *testing.T) {
	t.Parallel()
	var turns Turns
	turns.Wake() // nothing is under way
	failed := errors.New("failed")
	n := 0
	err := turns.Run(t.Context(), func(ctx context.Context) error {
		if n++; n == 3 {
			return failed
		}
		turns.Wake()
		<-ctx.Done()
		return ctx.Err()
	})
	if n != 3 || err != failed {
		t.Errorf("%d turns, %v", n, err)
	}
	if err := turns.Run(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("a turn without an error: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = turns.Run(ctx, func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("at the end: %v", err)
	}
}
