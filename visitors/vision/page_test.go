package main

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/zap"

	"player/e2e/must"
	"player/visitors"
)

// Other computers see the page. They may change the colours, and so the robot's vision data,
// only if a rule allows it.
func TestWhoMayCalibrate(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "vision.access")
	must.Do(t, os.WriteFile(rules, []byte(`access ( allow ["read" "config"] from "10.0.0.5" )`), 0o600))
	const allowed = http.StatusUnprocessableEntity // there is no picture, and nothing to undo
	for _, c := range []struct {
		access, from, method, path string
		code                       int
	}{
		{"", "10.0.0.5:1", "POST", "/take?picture=1", http.StatusForbidden},
		{"", "10.0.0.5:1", "POST", "/undo", http.StatusForbidden},
		{"", "10.0.0.5:1", "GET", "/picture?picture=1", http.StatusNotFound},
		{"", "127.0.0.1:1", "POST", "/take?picture=1", allowed},
		{"", "127.0.0.1:1", "POST", "/undo", allowed},
		{rules, "10.0.0.5:1", "POST", "/take?picture=1", allowed},
		{rules, "10.0.0.6:1", "POST", "/take?picture=1", http.StatusForbidden},
		{rules, "10.0.0.6:1", "GET", "/picture?picture=1", http.StatusForbidden},
		{rules, "10.0.0.6:1", "GET", "/seen", http.StatusForbidden},
	} {
		var flags visitors.Flags
		set := flag.NewFlagSet("", flag.ContinueOnError)
		flags.Add(set)
		must.Do(t, set.Parse([]string{"-access", c.access}))
		l, common, err := listen("127.0.0.1:0", flags, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		p := &page{common, &colors{path: filepath.Join(t.TempDir(), "colors.cfg"), none: true, log: zap.NewNop()}, newShown()}
		request := httptest.NewRequest(c.method, c.path, nil)
		request.RemoteAddr = c.from
		reply := httptest.NewRecorder()
		p.handler().ServeHTTP(reply, request)
		if reply.Code != c.code {
			t.Errorf("%s %s of %s with -access %q: %d %s, want %d", c.method, c.path, c.from, c.access, reply.Code, reply.Body, c.code)
		}
	}
}
