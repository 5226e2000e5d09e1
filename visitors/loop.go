package visitors

import (
	"context"
	"time"
)

// Confined is a value that only the loop may use: no function but OnLoop reaches it.
type Confined[T any] struct {
	post  func(func(now time.Duration)) bool
	value T
}

// Confine confines a value to the loop on which post calls functions. post reports whether the loop still
// runs. The caller no longer uses the parts of the value that the loop changes.
func Confine[T any](post func(func(now time.Duration)) bool, value T) Confined[T] {
	return Confined[T]{post, value}
}

// ErrEnded reports that the loop has ended.
var ErrEnded = Notice{Text: "the server has stopped"}

// OnLoop calls fn with a confined value on its loop, and returns the result of fn. After the end of ctx it does
// not wait for that: fn may still run then, so only its result may pass data to the caller. All results that
// are pointers use one copy of OnLoop in the program, which keeps it small.
func OnLoop[T, R any](ctx context.Context, c Confined[T], fn func(value T, now time.Duration) R) (result R, err error) {
	done := make(chan R, 1)
	if !c.post(func(now time.Duration) { done <- fn(c.value, now) }) {
		return result, ErrEnded
	}
	select {
	case result = <-done:
		return result, nil
	case <-ctx.Done():
		return result, ctx.Err()
	}
}

// Do is OnLoop for a function that hands nothing over.
func Do[T any](ctx context.Context, c Confined[T], fn func(value T, now time.Duration)) error {
	_, err := OnLoop(ctx, c, func(value T, now time.Duration) *struct{} { fn(value, now); return nil })
	return err
}
