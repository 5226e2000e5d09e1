package foxglove

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"player/server/status"
	"player/visitors"
	"player/visitors/roomtest"
)

// asked counts how often a server is asked for its status.
type asked struct {
	visitors.Server
	n atomic.Int64
}

func (a *asked) Status(time.Duration) status.Status { a.n.Add(1); return status.Status{} }

// The status is made once for all viewers of the control topic, and for all robots.
func TestStatusIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{}
		s := newServer(t.Context(), Config{Common: visitors.Common{Server: visitors.Confine[visitors.Server](roomtest.AtOnce(0), a)}})
		const span, viewers = 10 * time.Second, 100
		var all sync.WaitGroup
		for i := range viewers {
			all.Go(func() {
				time.Sleep(controlPeriod * time.Duration(i) / viewers)
				for begin := time.Now(); time.Since(begin) < span; time.Sleep(controlPeriod) {
					_, at, err := s.status(t.Context())
					if age := time.Since(at); err != nil || age >= statusAge {
						t.Errorf("%v old, %v", age, err)
					}
				}
			})
		}
		all.Wait()
		if n, most := a.n.Load(), int64((span+controlPeriod)/statusAge)+1; n > most {
			t.Errorf("the status was made %d times, want at most %d", n, most)
		}
	})
}
