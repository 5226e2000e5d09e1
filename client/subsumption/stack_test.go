package subsumption

import (
	"math/rand/v2"
	"testing"
	"time"
)

// scripted is a behaviour whose output the test sets. It records its input.
type scripted struct {
	Output
	acted   int
	signals Signals
}

func (b *scripted) Act(_ time.Duration, _ *Sensors, to Signals) Output {
	b.acted++
	b.signals = to
	return b.Output
}

// puppets returns n layers named a, b, c ... whose output is their number.
func puppets(n int) (layers []*Layer, behaviors []*scripted) {
	for i := range n {
		b := &scripted{Output: Output{Speed: i + 1}}
		behaviors = append(behaviors, b)
		layers = append(layers, NewLayer(string(rune('a'+i)), b))
	}
	return layers, behaviors
}

func bare(layers ...*Layer) *Stack {
	s := New(layers...)
	s.Motor = Motor{}
	return s
}

// substitute is Jones' and Flynn's arbiter: each layer, from the lowest to the
// highest, replaces the output so far.
func substitute(layers []*Layer) int {
	output := 0
	for i := len(layers) - 1; i >= 0; i-- {
		if l := layers[i]; l.Flag && !l.Suppressed || i == len(layers)-1 {
			output = l.Speed
		}
	}
	return output
}

// masked is SR04's arbiter: a flag word, shifted until its lowest bit is set.
func masked(layers []*Layer) int {
	flags, suppress := 0, 0
	for i, l := range layers {
		if l.Flag {
			flags |= 1 << i
		}
		if l.Suppressed {
			suppress |= 1 << i
		}
	}
	word, i := flags&^suppress, 0
	for word&1 == 0 && i < len(layers)-1 {
		word >>= 1
		i++
	}
	return layers[i].Speed
}

// TestArbitrationAgainstModels compares the arbiter with the article's three,
// for all flags, masks and jobs.
func TestArbitrationAgainstModels(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	sensors := NewSensors()
	for range 20000 {
		layers, behaviors := puppets(1 + random.IntN(9))
		for i, b := range behaviors {
			b.Flag = random.IntN(3) == 0
			layers[i].Disabled = random.IntN(6) == 0
			layers[i].Suppressed = random.IntN(4) == 0
		}
		stack := bare(layers...)
		job := layers
		if random.IntN(2) == 0 { // a job: some of the layers, in any order
			job = append([]*Layer(nil), layers...)
			random.Shuffle(len(job), func(i, j int) { job[i], job[j] = job[j], job[i] })
			job = job[:1+random.IntN(len(job))]
			stack.Switch(job...)
		}
		got := stack.Cycle(0, &sensors).Speed
		for name, model := range map[string]func([]*Layer) int{"substitution": substitute, "masks": masked} {
			if want := model(job); got != want {
				t.Fatalf("%s: got %d, want %d", name, got, want)
			}
		}
		for i, b := range behaviors {
			if ran := b.acted == 1; ran == layers[i].Disabled {
				t.Fatalf("layer %s, disabled %v: acted %d times", layers[i].Name, layers[i].Disabled, b.acted)
			}
		}
	}
}

func TestSignals(t *testing.T) {
	layers, b := puppets(3)
	stack := bare(layers...)
	s := NewSensors()
	b[0].Flag, b[1].Flag = true, true
	stack.Cycle(0, &s)
	if b[1].signals != (Signals{}) {
		t.Errorf("in the first cycle: %+v", b[1].signals)
	}
	layers[1].Inverted = true
	stack.Cycle(1, &s)
	first := Command{Speed: 1}
	for i, want := range []Signals{
		{Winner: layers[0], Command: first},
		{Winner: layers[0], Command: first, Subsumed: true, Inverted: true},
		{Winner: layers[0], Command: first}, // the default's flag is not set here
	} {
		if b[i].signals != want {
			t.Errorf("layer %s got signals %+v, want %+v", layers[i].Name, b[i].signals, want)
		}
	}
	layers[0].Suppressed = true
	stack.Cycle(2, &s)
	stack.Cycle(3, &s)
	if !b[0].signals.Subsumed {
		t.Error("a suppressed layer with its flag set was not subsumed")
	}
	if b[1].signals.Subsumed || b[1].signals.Winner != layers[1] || stack.Winner() != layers[1] {
		t.Errorf("the winner got signals %+v", b[1].signals)
	}
}

func TestSwitch(t *testing.T) {
	layers, b := puppets(4)
	for _, p := range b {
		p.Flag = true
	}
	stack := bare(layers...)
	s := NewSensors()
	won := func() string { stack.Cycle(0, &s); return stack.Winner().Name }
	for i, c := range []struct {
		job  []*Layer
		want string
	}{
		{layers, "a"},
		{[]*Layer{layers[2], layers[3]}, "c"},
		{[]*Layer{layers[3]}, "d"},
		{nil, "a"},
	} {
		stack.Switch(c.job...)
		if got := won(); got != c.want {
			t.Errorf("job %d: %s won, want %s", i, got, c.want)
		}
	}
	if b[0].acted != 4 {
		t.Errorf("a layer acted in %d of 4 cycles: it runs whatever the job", b[0].acted)
	}
	defer func() {
		if recover() == nil {
			t.Error("a job with a layer of another stack was accepted")
		}
	}()
	stack.Switch(NewLayer("stranger", Stop{}))
}

func TestEmptyStackStops(t *testing.T) {
	s := NewSensors()
	if got := bare().Cycle(0, &s); got != (Command{}) {
		t.Errorf("command %+v", got)
	}
}

func TestLayerByName(t *testing.T) {
	layers, _ := puppets(2)
	stack := bare(layers...)
	if stack.Layer("a") != layers[0] || stack.Layer("b") != layers[1] || stack.Layer("x") != nil {
		t.Error("layers are not found by name")
	}
}

// full returns all behaviours, in the article's order.
func full() *Stack {
	return New(
		NewLayer("user", User{}),
		NewLayer("radio", Radio{}),
		NewLayer("escape", &Escape{}),
		NewLayer("bump", &Bump{}),
		NewLayer("motion", &Motion{}),
		NewLayer("ir", &IR{}),
		NewLayer("boundary", &Boundary{Min: Target{-1e6, -1e6}, Max: Target{1e6, 1e6}}),
		NewLayer("sonar", &Sonar{}),
		NewLayer("xlate", &Xlate{Every: time.Minute}),
		NewLayer("perimeter", &Perimeter{}),
		NewLayer("photo", Photo{}),
		NewLayer("navigate", &Navigate{}),
		NewLayer("prowl", &Prowl{Targets: []Target{{5000, 0}}}),
		NewLayer("stop", Stop{}),
	)
}

func TestCycleDoesNotAllocate(t *testing.T) {
	stack, now, n := full(), time.Duration(0), 0
	scenes := []*Sensors{scene(), scene(thing(2, 300)), scene(bumped(BumpLeft)), scene(light(40)), scene(thing(0, 400)), scene(stalled)}
	if allocs := testing.AllocsPerRun(5000, func() {
		now += cycle
		n++
		stack.Cycle(now, scenes[n/40%len(scenes)])
	}); allocs != 0 {
		t.Errorf("%v allocations in a cycle", allocs)
	}
}

func BenchmarkCycle(b *testing.B) {
	stack, now, s := full(), time.Duration(0), NewSensors()
	for b.Loop() {
		now += cycle
		stack.Cycle(now, &s)
	}
}
