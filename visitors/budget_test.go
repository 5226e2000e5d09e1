package visitors

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	logs "go.uber.org/zap/zaptest/observer"
)

// newBudgetLog returns a budget, and its log.
func newBudgetLog() (*budget, *logs.ObservedLogs) {
	core, lines := logs.New(zap.WarnLevel)
	return newBudget(zap.New(core)), lines
}

// join reserves a place for a connection of an address.
func join(t *testing.T, b *budget, address string) *account {
	t.Helper()
	a := b.enter(netip.MustParseAddr(address))
	if a == nil {
		t.Fatalf("no place for %s", address)
	}
	return a
}

// The connection that has been idle for longest gives its place away.
func TestLongestIdle(t *testing.T) {
	b, _ := newBudgetLog()
	var all []*counted
	for range perAddress {
		all = append(all, &counted{account: join(t, b, "10.0.0.1")})
		b.follow(all[len(all)-1], http.StateIdle)
	}
	b.follow(all[0], http.StateActive)
	b.follow(all[0], http.StateIdle)
	b.follow(all[1], http.StateActive)
	if _, idle := b.take(netip.MustParseAddr("10.0.0.1")); idle != all[2] {
		t.Errorf("connection %d gives way, want 2", slices.Index(all, idle))
	}
}

// An address works through its burst and then within its part, however many of its
// connections work. Another address does not wait for it.
func TestAddressPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, lines := newBudgetLog()
		const each, workers = 100, 10
		begin := time.Now()
		var done sync.WaitGroup
		for range workers {
			a := join(t, b, "10.0.0.1")
			done.Go(func() {
				for range each {
					a.pay(time.Millisecond)
				}
			})
		}
		time.Sleep(time.Second) // the burst is used up
		other := time.Now()
		join(t, b, "10.0.0.2").pay(time.Millisecond)
		if d := time.Since(other); d > 2*totalPart*time.Millisecond {
			t.Errorf("another address waited %v", d)
		}
		done.Wait()
		want := (each*workers*time.Millisecond - addressBurst) * addressPart
		if d := time.Since(begin); d < want || d > want+want/100 {
			t.Errorf("it took %v, want %v", d, want)
		}
		if lines.Len() != 1 {
			t.Errorf("%d lines in the log, want 1", lines.Len())
		}
	})
}

// All addresses together get their part, one piece of work after the other.
func TestTotalPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBudgetLog()
		begin := time.Now()
		var mu sync.Mutex
		var at []time.Time
		var done sync.WaitGroup
		for i := range 50 {
			a := join(t, b, fmt.Sprintf("10.0.0.%d", i))
			done.Go(func() {
				for range 10 {
					a.pay(time.Millisecond)
					mu.Lock()
					at = append(at, time.Now())
					mu.Unlock()
				}
			})
		}
		done.Wait()
		if d, want := time.Since(begin), 499*totalPart*time.Millisecond; d != want {
			t.Errorf("it took %v, want %v", d, want)
		}
		for i := 1; i < len(at); i++ {
			if d := at[i].Sub(at[i-1]); d != totalPart*time.Millisecond {
				t.Fatalf("%v between two pieces of work", d)
			}
		}
	})
}

// Work that has been done delays the next.
func TestOwe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBudgetLog()
		a := join(t, b, "10.0.0.1")
		begin := time.Now()
		Visitor{}.Owe(time.Hour) // of a test without a site
		Visitor{account: a}.Owe(addressBurst)
		if time.Since(begin) != 0 {
			t.Error("Owe waits")
		}
		a.pay(time.Millisecond)
		if d, want := time.Since(begin), addressBurst*totalPart; d < want {
			t.Errorf("paid after %v, want at least %v", d, want)
		}
	})
}

// A reply costs as much as its bytes: a request for all topics of a hundred robots delays the next.
func TestOweReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBudgetLog()
		a := join(t, b, "10.0.0.1")
		const bytes = 10_000_000
		Visitor{account: a}.OweReply(bytes)
		begin := time.Now()
		a.pay(0)
		if d, want := time.Since(begin), (bytes*replyCost-addressBurst)*addressPart; d < want {
			t.Errorf("paid after %v, want at least %v", d, want)
		}
	})
}

// After any work that was not paid before, its address waits for a second beyond its burst,
// and other addresses as long as their burst.
func TestDebtIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBudgetLog()
		a, other := join(t, b, "10.0.0.1"), join(t, b, "10.0.0.2")
		for range 1000 {
			a.owe(time.Second)
		}
		begin := time.Now()
		other.pay(time.Millisecond)
		if d := time.Since(begin); d != 0 {
			t.Errorf("another address waited %v", d)
		}
		a.pay(time.Millisecond)
		if d, most := time.Since(begin), maxDebt+time.Millisecond*addressPart+maxOwed*totalPart; d < maxDebt || d > most {
			t.Errorf("the address waited %v, want %v to %v", d, maxDebt, most)
		}
		begin = time.Now()
		other.pay(time.Millisecond)
		if d := time.Since(begin); d > maxOwed*totalPart {
			t.Errorf("another address waited %v", d)
		}
	})
}

func TestPlaces(t *testing.T) {
	b, lines := newBudgetLog()
	enter := func(address string) *account { return b.enter(netip.MustParseAddr(address)) }
	var of1 []*account
	for range perAddress {
		of1 = append(of1, join(t, b, "10.0.0.1"))
	}
	if enter("10.0.0.1") != nil || enter("::ffff:10.0.0.1") != nil {
		t.Error("an address has more than half of the places")
	}
	for range places - keptPlaces - perAddress {
		join(t, b, "2001:db8::1")
	}
	if enter("10.0.0.2") != nil || enter("2001:db8::2") != nil {
		t.Error("a place of this computer is given away")
	}
	for range keptPlaces {
		join(t, b, "::1")
	}
	if enter("127.0.0.1") != nil {
		t.Error("there is a place too many")
	}
	of1[0].leave()
	join(t, b, "127.0.0.1")
	if got := lines.Len(); got != 4 { // 10.0.0.1, 10.0.0.2, 2001:db8::/64, 127.0.0.1
		t.Errorf("%d lines in the log: %v", got, lines.All())
	}
	if b.open != places {
		t.Errorf("%d open", b.open)
	}
}

// Addresses that left are forgotten.
func TestAccountsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newBudgetLog()
		for i := range 10_000 {
			a := join(t, b, fmt.Sprintf("10.0.%d.%d", i/250, i%250))
			a.pay(requestCost)
			a.leave()
			if len(b.accounts) > 10 {
				t.Fatalf("%d accounts", len(b.accounts))
			}
		}
	})
}
