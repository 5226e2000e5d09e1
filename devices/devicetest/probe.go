package devicetest

import (
	"math/rand/v2"
	"testing"

	"player/devices"
)

// Probe tests that a Probe finds nothing in silence, in noise, or where a line returns its
// request. It returns a function that tests its answer to other bytes.
func Probe(t *testing.T, p *devices.Probe) (answers func(name, heard string, found bool, next, model string)) {
	t.Helper()
	answers = func(name, heard string, found bool, next, model string) {
		t.Helper()
		if a := p.Recognise([]byte(heard)); a.Found != found || string(a.Next) != next || a.Model != model {
			t.Errorf("%s: found %v, next % X, %s", name, a.Found, a.Next, a.Model)
		}
	}
	noise := make([]byte, 4096)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	answers("nothing", "", false, "", "")
	answers("noise", string(noise), false, "", "")
	if p.Recognise(p.Ask).Found {
		t.Error("found in its own request")
	}
	return answers
}
