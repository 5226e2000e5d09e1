package conformance

import (
	"encoding/json"
	"net"
	"testing"

	"player/e2e/must"
)

func TestMismatch(t *testing.T) {
	for _, c := range []struct {
		want, got string
		equal     bool
	}{
		{`{"ok": true}`, `{"ok": true, "text": "more"}`, true},
		{`{"ok": true}`, `{"ok": false}`, false},
		{`{"ok": true}`, `{}`, false},
		{`{"ok": true}`, `[]`, false},
		{`{"data": null}`, `{"data": {}}`, false},
		{`{"data": {}}`, `{"data": null}`, false},
		{`{"age_us": null}`, `{}`, false},
		{`{"x": 1}`, `{"x": 1.0}`, true},
		{`{"x": 4294967295}`, `{"x": 4294967294}`, false},
		{`{"x": 9007199254740991}`, `{"x": 9007199254740990}`, false},
		{`{"x": 1}`, `{"x": "1"}`, false},
		{`{"l": [1, 2]}`, `{"l": [1, 2, 3]}`, false},
		{`{"l": [1, 2]}`, `{"l": [1, 3]}`, false},
		{`{"l": [{"x": 1}]}`, `{"l": [{"x": 1, "y": 2}]}`, true},
		{`{"new": "sp"}`, `{"new": "pys"}`, true},
		{`{"new": "sp"}`, `{"new": "s"}`, false},
		{`{"new": "s"}`, `{"new": "sp"}`, false},
		{`{"why": {}}`, `{"why": {}}`, true},
		{`{"why": {}}`, `{}`, false},
		{`{"why": {}}`, `{"why": {"l": "off it"}}`, false},
		{`{"why": {"l": "off it"}}`, `{"why": {"l": "off it"}}`, true},
		{`{"why": {"l": "off it"}}`, `{"why": {"l": "off me"}}`, false},
	} {
		var want, got any
		must.Do(t, json.Unmarshal([]byte(c.want), &want))
		must.Do(t, json.Unmarshal([]byte(c.got), &got))
		if m := mismatch("answer", want, got); (m == "") != c.equal {
			t.Errorf("want %s, got %s: %q", c.want, c.got, m)
		}
	}
}

func TestUnread(t *testing.T) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	client := must.Get(net.Dial("tcp", listener.Addr().String()))(t)
	defer client.Close()
	conn := must.Get(listener.Accept())(t)
	defer conn.Close()
	q := openQueues(t)
	for i, want := range []int{3, 2, 1, 0} {
		if i == 0 {
			must.Get(conn.Write([]byte("abc")))(t)
		} else if _, err := client.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if n, err := q.unread(conn.(*net.TCPConn)); n != want || err != nil {
			t.Fatalf("%d bytes, %v, want %d", n, err, want)
		}
	}
}
