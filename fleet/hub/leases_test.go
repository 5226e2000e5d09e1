package hub

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"player/fleet/bridge"
)

// slowStore answers one request after the other, also those that are waited for no more. It has no values.
type slowStore struct {
	store
	requests chan chan struct{} // closed for an answer
}

func (s slowStore) serve(each time.Duration) {
	for answer := range s.requests {
		time.Sleep(each)
		close(answer)
	}
}

func (s slowStore) last(ctx context.Context, _ string) (value []byte, sequence uint64, is condition, err error) {
	answer := make(chan struct{})
	s.requests <- answer
	select {
	case <-answer:
		return nil, 0, free, nil
	case <-ctx.Done():
		return nil, 0, free, ctx.Err()
	}
}

// A bridge finds the leases of a hundred robots in a bucket that needs longer than bucketLimit for all of them.
func TestSearchInASlowBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count, each = 300, 10 * time.Millisecond
		s := slowStore{requests: make(chan chan struct{}, 1000*count)}
		var store, all sync.WaitGroup
		store.Go(func() { s.serve(each) })
		h := newHub(Config{Log: zap.NewNop()}, world{clock: realTime{}})
		for group := range h.leases {
			h.leases[group].store = s
			h.leases[group].clock = h.clock
		}
		spec, _ := bridge.Named("position")
		ctx, cancel := context.WithTimeout(t.Context(), 10*count*each)
		defer cancel()
		var found atomic.Int32
		for i := range count {
			r := Robot{Name: fmt.Sprint("r", i)}
			all.Go(func() {
				if newController(h, r, spec, newState(r)).adopt(ctx) {
					found.Add(1)
				}
			})
		}
		all.Wait()
		close(s.requests)
		store.Wait()
		if found.Load() != count {
			t.Errorf("the leases of %d devices of %d are known", found.Load(), count)
		}
	})
}
