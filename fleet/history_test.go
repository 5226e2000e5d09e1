package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"player/fleet/bridge"
)

// stopLimit is how long a robot may drive after its last command: the lease ends after
// a TTL, and docs/fleet/subjects.md promises 2 s. The rest is for a busy machine.
const stopLimit = 2*time.Second + 500*time.Millisecond

// action is the act of an operation.
type action int

const (
	acquired  action = iota // a lease was given
	commanded               // a command was sent
	released                // a lease was given up
	observed                // the robot's own record of the command that it obeys
	adopted                 // a bridge took the robot over, and goes on with its lease
)

// operation is an operation of a history. It has happened at one moment from call to
// ret, which are times since the history began.
type operation struct {
	action    action
	token     uint64 // fencing number of the lease, not of observed
	name      string // of the holder; of acquired and adopted
	value     int    // speed that was commanded, which no other command has; 0: stopped
	sure      bool   // it was answered that it has happened
	call, ret time.Duration
}

func (o operation) String() string {
	return fmt.Sprintf("%s(lease %d, value %d, sure %t) from %v to %v",
		[]string{"acquire", "command", "release", "observe", "adopt"}[o.action], o.token, o.value, o.sure, o.call, o.ret)
}

// history has the operations of commanders and of the robot's record.
type history struct {
	mu    sync.Mutex
	began time.Time
	all   []operation
	value int // of the newest command
}

func (h *history) now() time.Duration { return time.Since(h.began) }

func (h *history) add(o operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, o)
}

// next returns a value that no command has had.
func (h *history) next() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.value++
	return h.value
}

// count returns how many operations of a kind were answered that they have happened.
func (h *history) count(a action) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.all {
		if o.action == a && o.sure {
			n++
		}
	}
	return n
}

// register is the state of the model: the lease that was given last and has not ended,
// and the command that the robot obeys. A lease may end at any time, as may the robot
// stop, because failures end both early.
type register struct {
	holder uint64 // 0: nobody
	newest uint64 // the last lease that was given
	value  int
}

// step is the model: the newest lease is the only one whose commands are obeyed, its
// number is the greatest, and the robot obeys one command until it stops.
func step(state, input, _ any) (bool, any) {
	s, o := state.(register), input.(operation)
	switch o.action {
	case acquired:
		ok := o.token > s.newest
		return ok, register{holder: o.token, newest: o.token}
	case commanded:
		ok := o.token == s.holder
		s.value = o.value
		return ok, s
	case adopted:
		return o.token == s.holder, s
	case released:
		ok := o.token == s.holder
		s.holder = 0 // the robot stops soon
		return ok, s
	default:
		ok := o.value == 0 || o.value == s.value
		s.value = o.value
		return ok, s
	}
}

// check returns the fault of a history that is complete. The operations of one
// token do not overlap, but for adopted.
func check(all []operation) error {
	seen := map[int]bool{}
	for _, o := range all {
		if o.action == observed {
			seen[o.value] = true
		}
	}
	all = append(slices.Clone(all), untold(all)...)
	slices.SortStableFunc(all, func(a, b operation) int { return cmp.Compare(a.ret, b.ret) })
	// Each renewal that may have happened keeps the lease for a TTL. So does a bridge that
	// adopts it: it does not know when the holder has renewed it.
	ends := map[uint64]time.Duration{}
	obeyed := map[int]time.Duration{} // value: until when it may have been obeyed first
	var ops []porcupine.Operation
	for _, o := range all {
		switch {
		case o.action == acquired && !o.sure:
			continue // if the lease was given nevertheless, nobody has its token
		case o.action == acquired:
			ends[o.token] = o.ret + bridge.TTL
		case o.action == adopted: // if the bridge was paused, the lease has ended meanwhile
			ends[o.token] = min(o.ret, o.call+bridge.TTL) + bridge.TTL
		case o.action == commanded && o.sure:
			if o.call > ends[o.token] {
				return fmt.Errorf("%v was obeyed, but the lease ended at %v", o, ends[o.token])
			}
			ends[o.token] = o.ret + bridge.TTL
			obeyed[o.value] = o.ret
		case o.action == commanded:
			// A refusal may be another bridge's, and an answer may be lost. If it
			// was obeyed, it was before the lease ended.
			o.ret = max(o.call, ends[o.token])
			obeyed[o.value] = o.ret
			if o.call <= ends[o.token] {
				ends[o.token] += bridge.TTL
			}
			if !seen[o.value] {
				continue
			}
		case o.action == released && !o.sure:
			continue // the lease may have ended at any time
		}
		ops = append(ops, porcupine.Operation{Input: o, Call: int64(o.call), Return: int64(o.ret)})
	}
	for _, o := range all {
		if o.action != observed || o.value == 0 {
			continue
		}
		until, sent := obeyed[o.value]
		if late := o.call - until; !sent || late > stopLimit {
			return fmt.Errorf("%v: nobody has commanded it, or %v before", o, late)
		}
	}
	model := porcupine.Model{Init: func() any { return register{} }, Step: step}
	result, info := porcupine.CheckOperationsVerbose(model, ops, patience)
	switch result {
	case porcupine.Ok:
		return nil
	case porcupine.Illegal:
		fault := unexplained(ops, info)
		return fmt.Errorf("the history is not linearizable: %v has no place in it. Operations at that time:\n%s", fault, around(all, fault))
	}
	return fmt.Errorf("linearizability: %s", result)
}

// unexplained returns the operation that has no place in a history which is not linearizable: of those that
// are missing in the longest part that is, the one that ends first.
func unexplained(ops []porcupine.Operation, info porcupine.LinearizationInfo) operation {
	var longest []int
	for _, part := range slices.Concat(info.PartialLinearizations()...) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	var missing []operation
	for i, o := range ops {
		if !slices.Contains(longest, i) {
			missing = append(missing, o.Input.(operation))
		}
	}
	return slices.MinFunc(missing, func(a, b operation) int { return cmp.Compare(a.ret, b.ret) })
}

// around returns the operations that overlap the time from a second before a fault to a second after it, by the
// time of their calls, one a line.
func around(all []operation, fault operation) string {
	near := slices.DeleteFunc(slices.Clone(all), func(o operation) bool {
		return o.ret < fault.call-time.Second || o.call > fault.ret+time.Second
	})
	slices.SortStableFunc(near, func(a, b operation) int { return cmp.Compare(a.call, b.call) })
	var lines strings.Builder
	for _, o := range near {
		fmt.Fprintln(&lines, o)
	}
	return lines.String()
}

// untold returns the leases that were given, and adopted by another bridge, but whose
// holder got an error or nothing: the bridge that gave them was paused or cut off.
func untold(all []operation) (given []operation) {
	first := map[uint64]operation{} // the adoption of a lease, by its token
	for _, o := range all {
		if f, known := first[o.token]; o.action == adopted && (!known || o.ret < f.ret) {
			first[o.token] = o
		}
	}
	for _, o := range all {
		if o.action == acquired && o.sure {
			delete(first, o.token)
		}
	}
	for token, f := range first {
		i := slices.IndexFunc(all, func(o operation) bool { return o.action == acquired && !o.sure && o.name == f.name && o.call <= f.ret })
		if i >= 0 {
			given = append(given, operation{action: acquired, token: token, name: f.name, sure: true, call: all[i].call, ret: f.ret})
		}
	}
	return given
}

// The check finds forbidden histories.
func TestCheckOfHistories(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	at := func(a action, token uint64, value int, sure bool, call time.Duration) operation {
		return operation{action: a, token: token, value: value, sure: sure, call: call * ms, ret: (call + 10) * ms}
	}
	alice, first := at(acquired, 4, 0, true, 0), at(commanded, 4, 1, true, 20)
	bob, second := at(acquired, 9, 0, true, 1100), at(commanded, 9, 2, true, 1120)
	good := []operation{alice, first, at(observed, 0, 1, true, 40), at(observed, 0, 0, true, 1050), bob, second, at(observed, 0, 2, true, 1140)}
	if err := check(good); err != nil {
		t.Errorf("a good history: %v", err)
	}
	lost := at(commanded, 4, 3, false, 500)
	if err := check([]operation{alice, first, lost, at(observed, 0, 3, true, 900), at(commanded, 4, 4, true, 1200)}); err != nil {
		t.Errorf("a command whose answer was lost: %v", err)
	}
	adoption := at(adopted, 4, 0, true, 900)
	if err := check([]operation{alice, first, at(commanded, 4, 4, true, 1200), adoption}); err != nil {
		t.Errorf("a lease that goes on with another bridge: %v", err)
	}
	refused, ghost := at(acquired, 0, 0, false, 1100), at(adopted, 9, 0, true, 1900)
	if err := check([]operation{alice, first, refused, ghost, at(acquired, 12, 0, true, 3000)}); err != nil {
		t.Errorf("a lease that goes on, and of which its holder got no answer: %v", err)
	}
	for name, bad := range map[string][]operation{
		"an earlier lease is obeyed":            {alice, first, bob, second, at(commanded, 4, 3, true, 1130)},
		"a lost command of an earlier lease":    {alice, first, lost, bob, second, at(observed, 0, 2, true, 1140), at(observed, 0, 3, true, 1160)},
		"the command before the lease changed":  {alice, first, bob, at(observed, 0, 1, true, 1130)},
		"a token that is not greater":           {at(acquired, 9, 0, true, 0), at(acquired, 4, 0, true, 1100)},
		"a lease is obeyed after its end":       {alice, first, at(commanded, 4, 3, true, 1040)},
		"an adopted lease after its end":        {alice, first, adoption, at(commanded, 4, 3, true, 1920)},
		"an earlier lease is adopted":           {alice, bob, at(adopted, 4, 0, true, 1200)},
		"a lease that nobody has asked for":     {alice, first, ghost},
		"an earlier lease without an answer":    {refused, at(acquired, 12, 0, true, 1400), ghost},
		"a lease after its release":             {alice, at(released, 4, 0, true, 15), at(adopted, 4, 0, true, 500)},
		"a command after the release":           {alice, at(released, 4, 0, true, 15), at(commanded, 4, 1, true, 30)},
		"the robot drives on":                   {alice, first, at(observed, 0, 1, true, 40), at(observed, 0, 1, true, 3000)},
		"the robot moves again without command": {alice, first, at(observed, 0, 0, true, 40), at(observed, 0, 1, true, 60)},
		"a command that nobody has sent":        {alice, at(observed, 0, 7, true, 40)},
	} {
		if check(bad) == nil {
			t.Errorf("%s: it is not found", name)
		}
	}
}

// The error names the operation that has no place, and lists the others of that time in order.
func TestErrorOfHistories(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	at := func(a action, token uint64, value int, call time.Duration) operation {
		return operation{action: a, token: token, value: value, sure: true, call: call * ms, ret: (call + 10) * ms}
	}
	before := []operation{at(acquired, 4, 0, 0), at(commanded, 4, 1, 20)}
	refused := operation{action: acquired, call: 1250 * ms, ret: 1260 * ms} // which the check ignores
	fault := at(observed, 0, 2, 2230)
	near := []operation{at(acquired, 9, 0, 2100), at(commanded, 9, 2, 2120), at(acquired, 12, 0, 2200), fault, at(commanded, 12, 3, 2300)}
	near[1].ret = 2190 * ms
	later := at(observed, 0, 3, 3400)
	err := check(slices.Concat([]operation{later}, near, before, []operation{refused}))
	var want strings.Builder
	fmt.Fprintf(&want, "the history is not linearizable: %v has no place in it. Operations at that time:\n", fault)
	for _, o := range append([]operation{refused}, near...) {
		fmt.Fprintln(&want, o)
	}
	if err == nil || err.Error() != want.String() {
		t.Errorf("the error is\n%v\nwant\n%s", err, want.String())
	}
}
