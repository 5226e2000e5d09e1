package conformance

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// dashboard is a server that answers requests for its simulation as a test says.
type dashboard struct {
	*httptest.Server
	mu     sync.Mutex // requests come in goroutines of the server
	status int
	text   string
	asked  *http.Request
}

func (d *dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = r
	if d.status == 0 { // the connection ends without an answer of HTTP
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, err = fmt.Fprint(conn, d.text)
			err = errors.Join(err, conn.Close())
		}
		if err != nil {
			panic(err)
		}
		return
	}
	w.WriteHeader(d.status)
	fmt.Fprint(w, d.text)
}

// TestSimulation has answers that a real server hardly gives (TestReal has the others): a state with all letters and with
// members of a later server, refusals that a terminal would obey, and servers that are no dashboard.
func TestSimulation(t *testing.T) {
	t.Parallel()
	forEachLanguage(t, func(t *testing.T, l language) {
		a := l.adapters(t)(t)
		d := new(dashboard)
		d.Server = httptest.NewServer(d)
		defer d.Close()
		asked := func() *http.Request {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.asked
		}
		request := func(port, timeout int, order Object) Object {
			r := Object{"op": "simulation", "host": "127.0.0.1", "port": port, "timeout_ms": timeout}
			if order != nil {
				r["order"] = order
			}
			return a.call(t, r)
		}
		answering := func(status int, text string, order Object) Object {
			d.mu.Lock()
			d.status, d.text = status, text
			d.mu.Unlock()
			return request(d.Listener.Addr().(*net.TCPAddr).Port, patience, order)
		}
		const state = `{"time":1.5,"speed":0,"paused":true,"finished":false,"seed":7,"later":[{"a":[]},null,-1e5,"}"],
			"movers":[{"name":"a \"&b\u00e9é","robot":true,"x":1,"y":-2.5e0,"heading":90,"later":1,
			"sees":[{"name":"c, d","id":3,"range":2.5,"bearing":-90,"later":2}]},
			{"name":"e","robot":false,"x":0,"y":0,"heading":0}]}`
		want := Object{"ok": true, "state": Object{"time": 1.5, "speed": 0.0, "paused": true, "finished": false, "seed": 7.0,
			"movers": []any{
				Object{"name": `a "&béé`, "robot": true, "x": 1.0, "y": -2.5, "heading": 90.0,
					"sees": []any{Object{"name": "c, d", "id": 3.0, "range": 2.5, "bearing": -90.0}}},
				Object{"name": "e", "robot": false, "x": 0.0, "y": 0.0, "heading": 0.0},
			}}}
		m := mismatch("the state", want, answering(200, state, nil))
		if m != "" || asked().Method != http.MethodGet || asked().URL.Path != "/simulation" {
			t.Errorf("%v: %s", asked().URL, m)
		}
		order := Object{"reset": true, "seed": 7.0, "speed": 0.0, "pause": false, "step": 5.0, "move": []any{
			Object{"name": `a "+b%`, "x": 1.0, "y": 2.5, "heading": -90.0},
			Object{"name": "c", "x": 0.0, "y": 0.0, "heading": 0.0}}}
		if m := mismatch("the state", want, answering(200, state, order)); m != "" {
			t.Error(m)
		}
		var got Object
		err := json.Unmarshal([]byte(asked().URL.Query().Get("order")), &got)
		if m := mismatch("the order", order, got); err != nil || m != "" || asked().Method != http.MethodPost {
			t.Errorf("%s %v, %v, %s", asked().Method, asked().URL, err, m)
		}
		fails := func(kind, said string, got Object) {
			t.Helper()
			text, _ := got["text"].(string)
			e, _ := got["error"].(string)
			if kind == "usage" && l.name == "go" { // its client has a kind for refusals only
				kind = "protocol"
			}
			if e != kind || !strings.Contains(text, said) || kind == "refused" && !strings.HasSuffix(text, said) {
				t.Errorf("%d %q: %v, want error %s that says %q", d.status, d.text, got, kind, said)
			}
		}
		reset := Object{"reset": true}
		for _, c := range []struct {
			status     int
			text       string
			kind, said string
		}{
			{409, "there is no room for r0\n", "refused", "there is no room for r0"},
			{400, "write step 0 to 1000", "refused", "write step 0 to 1000"},
			{403, "your computer may read", "usage", "your computer may read"},
			{404, "404 page not found", "usage", "start the server with -stage and -http"},
			{503, "the server has stopped", "protocol", "the server has stopped"},
			{200, "<html>", "protocol", "no dashboard of Player"},
			{200, "[]", "protocol", "no dashboard of Player"},
			{200, `{"movers":`, "protocol", "no dashboard of Player"},
			{200, "1 2", "protocol", "no dashboard of Player"},
			{0, "", "closed", ""},
			{0, "prprprprprprprprpr", "closed", ""},
		} {
			fails(c.kind, c.said, answering(c.status, c.text, reset))
		}
		for text, lenient := range map[string]string{"null": "go", `{"movers":[{}]}`: "go c cpp javascript"} {
			if !slices.Contains(strings.Fields(lenient), l.name) {
				fails("protocol", "no dashboard of Player", answering(200, text, reset))
			}
		}
		// C and C++ leave letters for direction, and Go quotes.
		printable := map[string]string{"go": `no\x1b[2J\u202e`, "c": "no?[2J\u202e", "cpp": "no?[2J\u202e"}
		fails("refused", cmp.Or(printable[l.name], "no?[2J?"), answering(409, "no\x1b[2J\u202e", reset))
		fails("timeout", "", request(silent(t), soon, nil))
		fails("closed", "127.0.0.1:1", request(1, patience, nil))
	})
}
