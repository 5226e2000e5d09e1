package rosbridge

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// A topic is sent as fast as the most eager subscription wants; with a period, messages do not wait in a queue.
func TestPaceOf(t *testing.T) {
	all := subscriptions{}
	for i, tt := range []struct {
		topic int
		pace  pace
		want  pace // of topic 0
	}{
		{1, pace{0, 9}, pace{}},
		{0, pace{2 * time.Second, 5}, pace{2 * time.Second, 1}},
		{0, pace{time.Second, 3}, pace{time.Second, 1}},
		{0, pace{3 * time.Second, 7}, pace{time.Second, 1}},
		{0, pace{0, 2}, pace{0, 7}},
	} {
		all[subscription{tt.topic, identity(fmt.Sprint(i))}] = tt.pace
		if got := all.paceOf(0); got != tt.want {
			t.Errorf("%d subscriptions: %v, want %v", i+1, got, tt.want)
		}
	}
}

// Arguments are an object, a list of values, or an object in a list, as in rosbridge.
func TestArguments(t *testing.T) {
	s := service{fields: []string{"type", "node"}}
	for text, want := range map[string]string{
		`{"type":"a","node":"b"}`: "a b", `["a","b","c"]`: "a b", `["a"]`: "a ", `[{"node":"b"}]`: " b", `[]`: " ", ``: " ", `"a"`: " ",
		`{"type":1}`: "error",
	} {
		args, err := s.arguments(json.RawMessage(text))
		got := args.Type + " " + args.Node
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
