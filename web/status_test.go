package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/config/rights"
	"player/status"
)

// fakeServer has one robot, on port 6665, with a laser.
type fakeServer struct {
	laser status.State
	calls []string
}

func (f *fakeServer) Status(time.Duration) status.Status {
	return status.Status{Robots: []status.Robot{{Name: "robot", Port: 6665, Devices: map[string]status.Device{"laser": {State: f.laser}}}}}
}

func (f *fakeServer) EmergencyStop(_ time.Duration, port int, on bool, by string) bool {
	f.calls = append(f.calls, fmt.Sprintf("%d %v %s", port, on, by))
	return port == 6665
}

// newStatus returns a function that sends a request and returns the reply.
func newStatus(t *testing.T, f *fakeServer, may rights.Set) func(method, path, origin string) *httptest.ResponseRecorder {
	page := newHandler(t.Context(), Config{
		Server: f, Version: "7", Log: zap.NewNop(), Robots: []Robot{{Address: "localhost:6665", Port: 6665}},
		Post:   func(fn func(now time.Duration)) bool { fn(time.Second); return true },
		Access: rights.Rules{{Allow: may, From: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}},
	})
	return func(method, path, origin string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(method, path, nil), httptest.NewRecorder()
		r.Host, r.RemoteAddr = "localhost", "192.0.2.1:1234"
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		page.ServeHTTP(w, r)
		return w
	}
}

func TestStatus(t *testing.T) {
	f := &fakeServer{laser: status.Ready}
	ask := newStatus(t, f, rights.Read)
	w := ask("GET", "/status", "")
	if text := w.Body.String(); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || !strings.HasPrefix(text, `{"version":"7",`) {
		t.Errorf("%d, %s", w.Code, text)
	}
	for state, want := range map[status.State]int{status.Ready: 200, status.Idle: 200, status.Stale: 503, status.Failed: 503} {
		f.laser = state
		if w := ask("GET", "/healthz", ""); w.Code != want || !strings.Contains(w.Body.String(), `"laser":"`+string(state)+`"`) {
			t.Errorf("%s: %d, %s", state, w.Code, w.Body)
		}
	}
	if w := ask("GET", "/metrics", ""); w.Code != http.StatusOK || w.Header().Get("Content-Type") != status.ContentType || !strings.Contains(w.Body.String(), "player_clients{robot=\"6665\"} 0\n") {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
	ask = newStatus(t, f, rights.Write)
	for _, path := range []string{"/status", "/healthz", "/metrics"} {
		if w := ask("GET", path, ""); w.Code != http.StatusForbidden {
			t.Errorf("%s without the right to read: %d", path, w.Code)
		}
	}
}

func TestEmergencyStop(t *testing.T) {
	for _, tt := range []struct {
		may                  rights.Set
		method, path, origin string
		code                 int
		want                 string
	}{
		{rights.Write, "POST", "/stop?robot=6665", "", 204, "6665 true 192.0.2.1:1234"},
		{rights.Write, "POST", "/stop?robot=6665", "http://localhost", 204, "6665 true 192.0.2.1:1234"},
		{rights.Write, "POST", "/release?robot=6665", "", 204, "6665 false 192.0.2.1:1234"},
		{rights.Write, "POST", "/stop?robot=6666", "", 404, ""},
		{rights.Write, "POST", "/stop?robot=localhost:6665", "", 204, "6665 true 192.0.2.1:1234"},
		{rights.Write, "POST", "/stop?robot=all", "", 204, "6665 true 192.0.2.1:1234"},
		{rights.Write, "POST", "/release?robot=all", "", 204, "6665 false 192.0.2.1:1234"},
		{rights.All, "POST", "/stop?robot=10.0.0.7:6665", "", 503, ""}, // not for browsers elsewhere
		{rights.Write, "POST", "/stop", "", 400, ""},
		{rights.Write, "GET", "/stop?robot=6665", "", 404, ""},
		{rights.Write, "POST", "/stop?robot=6665", "http://evil.example", 403, ""},
		{rights.Write, "POST", "/release?robot=6665", "null", 403, ""},
		{rights.Read, "POST", "/stop?robot=6665", "", 403, ""},
		{rights.Read | rights.Config, "POST", "/release?robot=6665", "", 403, ""},
	} {
		f := &fakeServer{}
		w := newStatus(t, f, tt.may)(tt.method, tt.path, tt.origin)
		if got := strings.Join(f.calls, ";"); w.Code != tt.code || got != tt.want {
			t.Errorf("%s %s from %q: %d, %q; want %d, %q", tt.method, tt.path, tt.origin, w.Code, got, tt.code, tt.want)
		}
	}
}
