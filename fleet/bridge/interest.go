package bridge

// Interest finds out which subjects of one robot have listeners. It needs only the
// answer that any NATS server gives to any client: a message with a reply subject that no subscription
// matches is answered on that subject at once, with status 503. Answers to one
// connection come in the order of its messages. So a round is a message on each
// subject, then one to the bridge itself; the subjects that were not refused when that
// one arrives have listeners.
type Interest struct {
	listened map[string]bool
	pending  map[string]bool // asked about in this round, and not refused so far; nil: it has ended
	round    int
}

// Begin begins a round and returns its number; an unfinished one is forgotten.
func (i *Interest) Begin() int {
	i.pending = map[string]bool{}
	i.round++
	return i.round
}

// Asking reports whether a round has begun and not ended.
func (i *Interest) Asking() bool { return i.pending != nil }

// Ask notes that a message was sent in this round to find out about a subject.
func (i *Interest) Ask(subject string) { i.pending[subject] = true }

// Refused notes that a subject has no listener.
func (i *Interest) Refused(subject string) {
	delete(i.pending, subject)
	delete(i.listened, subject)
}

// End ends a round, unless it was forgotten: the answers of a later one may be missing.
func (i *Interest) End(round int) {
	if round != i.round {
		return
	}
	if i.listened == nil {
		i.listened = map[string]bool{}
	}
	for subject := range i.pending {
		i.listened[subject] = true
	}
	i.pending = nil
}

// Forget forgets all listeners: the connection to NATS was lost.
func (i *Interest) Forget() { i.listened, i.pending = nil, nil }

// Listened reports whether a subject has a listener.
func (i *Interest) Listened(subject string) bool { return i.listened[subject] }
