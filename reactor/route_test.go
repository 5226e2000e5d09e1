package reactor

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The line against a slice that is moved for each one that is served.
func TestLine(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var l line
	var model []*client
	for range 10_000 {
		switch {
		case len(model) > 0 && random.IntN(2) == 0:
			if c := l.pop(); c != model[0] {
				t.Fatal("not the first one is served")
			}
			model = model[1:]
		case len(model) > 0 && random.IntN(4) == 0:
			i := random.IntN(len(model))
			l.remove(model[i])
			model = slices.Delete(model, i, i+1)
		default:
			c := &client{}
			l.push(c)
			model = append(model, c)
		}
		if l.len() != len(model) || !slices.Equal(l.clients[l.head:], model) {
			t.Fatalf("%d wait, want %d", l.len(), len(model))
		}
	}
	for l.len() > 0 {
		l.pop()
	}
	if len(l.clients) != 0 || l.head != 0 {
		t.Errorf("an empty line keeps %d places", len(l.clients))
	}
}
