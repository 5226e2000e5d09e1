package page

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"player/e2e/must"
	"player/fleet/bridge"
	"player/visitors"
)

// connected returns a connection to a server of NATS with a robot that obeys.
func connected(t *testing.T) *nats.Conn {
	t.Helper()
	s := must.Get(server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true}))(t)
	go s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("NATS does not start")
	}
	conn := must.Get(nats.Connect(s.ClientURL()))(t)
	t.Cleanup(conn.Close)
	must.Get(conn.Subscribe(bridge.Prefix("lab", "a")+".*", func(m *nats.Msg) { _ = m.Respond([]byte("{}")) }))(t)
	return conn
}

// Other computers watch and stop. They release only if a rule lets them.
func TestWhoMayRelease(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "fleet.access")
	must.Do(t, os.WriteFile(rules, []byte(`access ( allow ["read" "write"] from "10.0.0.5" )`), 0o600))
	conn := connected(t)
	for _, c := range []struct {
		access, from, method, path string
		code                       int
	}{
		{"", "10.0.0.5:1", "POST", "/release", http.StatusForbidden},
		{"", "[fd00::5]:1", "POST", "/release?robot=a", http.StatusForbidden},
		{"", "10.0.0.5:1", "POST", "/stop", http.StatusNoContent},
		{"", "10.0.0.5:1", "POST", "/stop?robot=a", http.StatusNoContent},
		{"", "10.0.0.5:1", "GET", "/healthz", http.StatusOK},
		{"", "127.0.0.1:1", "POST", "/release", http.StatusNoContent},
		{"", "[::1]:1", "POST", "/release?robot=a", http.StatusNoContent},
		{rules, "10.0.0.5:1", "POST", "/release?robot=a", http.StatusNoContent},
		{rules, "10.0.0.6:1", "POST", "/release?robot=a", http.StatusForbidden},
		{rules, "10.0.0.6:1", "GET", "/healthz", http.StatusForbidden},
		{rules, "10.0.0.6:1", "GET", "/robots", http.StatusForbidden},
		{rules, "10.0.0.6:1", "GET", "/", http.StatusOK},
		{rules, "10.0.0.6:1", "POST", "/stop?robot=a", http.StatusNoContent},
	} {
		common := commonOf(t, c.access)
		well := func(http.ResponseWriter, *http.Request) {}
		s := newSite(t.Context(), Config{Common: common, NATS: conn, Fleet: "lab", Health: well, Metrics: well})
		request := httptest.NewRequest(c.method, c.path, nil)
		request.RemoteAddr = c.from
		reply := httptest.NewRecorder()
		s.handler().ServeHTTP(reply, request)
		if reply.Code != c.code || c.code == http.StatusForbidden && !strings.Contains(reply.Body.String(), visitors.NotAllowed) {
			t.Errorf("%s %s of %s with -access %q: %d %s, want %d", c.method, c.path, c.from, c.access, reply.Code, reply.Body, c.code)
		}
	}
}

func commonOf(t *testing.T, access string) visitors.Common {
	t.Helper()
	var flags visitors.Flags
	set := flag.NewFlagSet("", flag.ContinueOnError)
	flags.Add(set)
	if access != "" {
		must.Do(t, set.Parse([]string{"-access", access}))
	}
	return must.Get(flags.Common("127.0.0.1:0", zap.NewNop()))(t)
}
