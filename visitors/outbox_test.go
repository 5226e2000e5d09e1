package visitors

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"player/e2e/must"
)

// contents returns the contents of messages, sorted.
func contents(messages []Message) []string {
	list := []string{}
	for _, m := range messages {
		list = append(list, fmt.Sprintf("%d %v", m.Subscription, m.Content))
	}
	slices.Sort(list)
	return list
}

func TestOutbox(t *testing.T) {
	o, now := newOutbox(0), time.Unix(1e9, 0)
	o.Put(1, "", 0, "nobody has subscribed")
	o.Subscribe(1, 10, 1, 0)
	o.Subscribe(2, 20, 2, 100*time.Millisecond)
	for i := range 4 {
		o.Put(1, "a", 0, i)
		o.Put(1, "b", 0, -i)
		o.Put(2, "", 0, i)
	}
	check := func(wantWait time.Duration, want ...string) {
		t.Helper()
		_, messages, wait := o.take(now)
		if got := contents(messages); !slices.Equal(got, want) || wait != wantWait {
			t.Errorf("%q and %v, want %q and %v", got, wait, want, wantWait)
		}
	}
	check(0, "10 -3", "10 3", "20 2", "20 3")
	check(0)
	// The first message of a topic with a rate is sent at once, the next one when it is due.
	now = now.Add(time.Millisecond)
	o.Put(2, "", 0, 4)
	check(99 * time.Millisecond)
	now = now.Add(119 * time.Millisecond)
	o.Put(2, "", 0, 5)
	check(0, "20 4", "20 5")
	o.Put(2, "", 0, 6)
	check(80 * time.Millisecond) // late ones do not lower the rate
	o.Put(2, "", 0, 7)
	now = now.Add(80 * time.Millisecond)
	check(0, "20 6", "20 7")
	o.Put(2, "", 0, 8)
	o.Pace(2, 0)
	check(0, "20 8")
	o.Put(1, "a", 0, 9)
	o.Unsubscribe(1)
	check(0)
}

// A renewed subscription does not send messages sooner than its period allows.
func TestOutboxRenewed(t *testing.T) {
	o, now := newOutbox(0), time.Unix(1e9, 0)
	o.Subscribe(1, 10, 1, time.Minute)
	o.Put(1, "", 0, "first")
	o.take(now)
	for _, r := range []struct{ period, wait time.Duration }{
		{time.Minute, time.Minute}, {time.Second, time.Second}, {time.Minute, time.Second}, // longer from the next message on
	} {
		o.Subscribe(1, 10, 1, r.period)
		o.Put(1, "", 0, "next")
		if _, messages, wait := o.take(now); len(messages) > 0 || wait != r.wait {
			t.Errorf("with a period of %v: %q and %v", r.period, contents(messages), wait)
		}
	}
	o.take(now.Add(time.Second))
	o.Put(1, "", 0, "last")
	if _, messages, wait := o.take(now.Add(time.Second)); len(messages) > 0 || wait != time.Minute {
		t.Errorf("%q and %v", contents(messages), wait)
	}
}

// With a window, messages wait for the visitor's acknowledgements, and replies do not.
func TestWindow(t *testing.T) {
	const window = 3
	o := newOutbox(window)
	o.Subscribe(0, 0, 1, 0)
	check := func(want int) {
		t.Helper()
		for sent := range window + 1 {
			o.Put(0, "", 0, nil)
			must.Do(t, o.Reply(true, nil))
			replies, messages, _ := o.take(time.Now())
			if len(replies) != 1 || len(messages) == 0 != (sent >= want) || len(messages) == 0 != o.Congested() && sent > want {
				t.Fatalf("%d messages, congested %v with %d sent", len(messages), o.Congested(), sent)
			}
			if len(messages) > 0 && messages[0].Number != o.sent {
				t.Errorf("message %d has the number %d", o.sent, messages[0].Number)
			}
		}
	}
	check(window)
	o.Acknowledge(1)
	check(1)
	o.sent = 1
	o.Acknowledge(0xffffffff) // the numbers have wrapped
	check(1)
}

func TestDeafViewer(t *testing.T) {
	o := newOutbox(0)
	for range maxReplies {
		must.Do(t, o.Reply(true, nil))
	}
	if err := o.Reply(true, nil); !errors.Is(err, ErrDeaf) {
		t.Error("too many replies wait")
	}
	o.take(time.Now())
	if o.Reply(true, make([]byte, replySize+1)) != nil || o.Reply(true, nil) == nil {
		t.Error("the size is not bounded")
	}
}
