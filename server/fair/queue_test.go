package fair

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// newClients returns the clients of two addresses, named by address and number: "a0".
func newClients(q *Queue[string], perAddress ...int) []*Client[string] {
	var all []*Client[string]
	for i, n := range perAddress {
		a := &Address[string]{}
		for j := range n {
			c := &Client[string]{}
			c.Join(a, string(rune('a'+i))+string(rune('0'+j)))
			all = append(all, c)
		}
	}
	return all
}

// One address is served after the other, and one client of an address after the other.
func TestOrder(t *testing.T) {
	var q Queue[string]
	all := newClients(&q, 3, 1, 2)
	for _, c := range all {
		q.Push(c)
	}
	var got []string
	for !q.Empty() {
		owner := q.Next()
		got = append(got, owner)
		i := slices.IndexFunc(all, func(c *Client[string]) bool { return c.owner == owner })
		if all[i].Waits() || all[i].Served() == 0 {
			t.Errorf("%s waits while it is served, %d times so far", owner, all[i].Served())
		}
		if owner == "b0" && len(got) < 9 {
			q.Push(all[i]) // it has more
		}
	}
	if want := "a0 b0 c0 a1 b0 c1 a2 b0 b0"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", strings.Join(got, " "), want)
	}
}

// Little input does not wait, unless the address of the client sends much in all.
func TestAtOnce(t *testing.T) {
	var q Queue[string]
	all := newClients(&q, 2, 1)
	const now = time.Second
	for n, want := range map[int]bool{0: true, 1: true, SliceBytes: true, SliceBytes + 1: false} {
		all[0].address.spent = 0
		if got := all[0].AtOnce(now, n); got != want {
			t.Errorf("%d bytes at once: %v", n, got)
		}
	}
	a, b, other := all[0], all[1], all[2]
	a.address.period, a.address.spent = now, 0
	for range addressBytes / 8 / 2 {
		if !a.AtOnce(now, 8) || !b.AtOnce(now+addressPeriod-1, 8) {
			t.Fatal("an address has less than its part")
		}
	}
	if a.AtOnce(now+addressPeriod-1, 8) || b.AtOnce(now+addressPeriod-1, 8) {
		t.Error("an address has no limit")
	}
	if !other.AtOnce(now, 8) {
		t.Error("one address takes the part of another one")
	}
	if !a.AtOnce(now+addressPeriod, 8) {
		t.Error("the limit does not end")
	}
	q.Push(b)
	if b.AtOnce(now+2*addressPeriod, 1) {
		t.Error("input of a client that waits overtakes what waits")
	}
}

// Against a deliberately simple model: no client is lost or served twice when others leave.
func TestModel(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var q Queue[string]
		all := newClients(&q, 4, 1, 3, 2)
		waits := map[string]bool{}
		for range 300 {
			switch c := all[r.IntN(len(all))]; {
			case r.IntN(3) == 0:
				q.Leave(c)
				delete(waits, c.owner)
			case r.IntN(2) == 0 && !c.Waits():
				q.Push(c)
				waits[c.owner] = true
			case !q.Empty():
				owner := q.Next()
				if !waits[owner] {
					t.Fatalf("seed %d: %s is served, which does not wait", seed, owner)
				}
				delete(waits, owner)
			}
			for _, c := range all {
				if c.Waits() != waits[c.owner] {
					t.Fatalf("seed %d: %s waits: %v", seed, c.owner, c.Waits())
				}
			}
			if q.Empty() != (len(waits) == 0) {
				t.Fatalf("seed %d: the queue is empty: %v, %d wait", seed, q.Empty(), len(waits))
			}
		}
	}
}
