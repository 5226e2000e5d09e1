package dashboard

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"player/codec"
	"player/config/rights"
	"player/e2e/must"
	"player/server/status"
	"player/visitors"
	"player/visitors/roomtest"
)

// newStatus returns a function that sends a request to the page of a server with rights, and returns the reply.
func newStatus(t *testing.T, f *fakeServer, may rights.Set) func(method, path, origin string) *httptest.ResponseRecorder {
	config := f.config()
	config.Version, config.Robots = "7", config.Robots[:1]
	config.Access = rights.Rules{{Allow: may, From: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}}
	page := site(t.Context(), config).Protected()
	return func(method, path, origin string) *httptest.ResponseRecorder {
		return request(page, method, path, origin)
	}
}

func TestStatus(t *testing.T) {
	f := newFake()
	ask := newStatus(t, f, rights.Read)
	w := ask("GET", "/status", "")
	if text := w.Body.String(); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || !strings.HasPrefix(text, `{"version":"7",`) {
		t.Errorf("%d, %s", w.Code, text)
	}
	for state, want := range map[status.State]int{status.Ready: 200, status.Idle: 200, status.Stale: 503, status.Failed: 503} {
		f.now.Robots[0].Devices = map[string]status.Device{"laser": {State: state}}
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
		f := newFake()
		w := newStatus(t, f, tt.may)(tt.method, tt.path, tt.origin)
		if got := strings.Join(f.stops, ";"); w.Code != tt.code || got != tt.want {
			t.Errorf("%s %s from %q: %d, %q; want %d, %q", tt.method, tt.path, tt.origin, w.Code, got, tt.code, tt.want)
		}
	}
}

// A stop of all robots fails if it does not reach one of them.
func TestEmergencyStopOfARobotThatIsGone(t *testing.T) {
	f := newFake()
	config := f.config()
	config.Robots = []Robot{{Name: "gone", Address: "localhost:6667", Port: 6667}, {Name: "r0", Address: "localhost:6665", Port: 6665}}
	page := site(t.Context(), config).Protected()
	for _, which := range []string{"all", "localhost:6667"} {
		w := request(page, "POST", "/stop?robot="+which, "")
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "does not serve gone any more") {
			t.Errorf("%s: %d, %s", which, w.Code, w.Body)
		}
	}
}

// The original server ignores the stop, and replies to all requests: the page must not
// believe that the robot has stopped.
func TestEmergencyStopThatIsIgnored(t *testing.T) {
	robot := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer robot.Close()
	go func() {
		conn, err := robot.Accept()
		if err != nil {
			return
		}
		roomtest.Answer(conn, func(m codec.Message) []byte {
			if m.Kind != codec.KindRequest {
				return nil
			}
			for i := 1; i < len(m.Payload); i += 2 {
				m.Payload[i] = codec.AccessError
			}
			return codec.AppendBlock(nil, codec.KindReply, m.Payload)
		})
	}()
	page := servePage(t, Config{Common: visitors.Common{Server: visitors.Confine[visitors.Server](roomtest.AtOnce(0), nil)}})
	reply, text := roomtest.Request(t, "POST", page+"/stop?robot="+robot.Addr().String(), nil)
	if reply.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "see whether the robot stands") {
		t.Errorf("%d, %s", reply.StatusCode, text)
	}
}
