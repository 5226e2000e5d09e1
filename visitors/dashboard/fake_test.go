package dashboard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"player/server/status"
	"player/visitors"
	"player/visitors/roomtest"
)

// fakeServer is a server with two robots. A test sets its status.
type fakeServer struct {
	mu      sync.Mutex
	now     status.Status
	asked   int // for the status
	changes uint64
	stops   []string
}

func newFake() *fakeServer {
	return &fakeServer{now: status.Status{Robots: []status.Robot{
		{Name: "a", Port: 6665, Control: "newest"},
		{Name: "b", Port: 6666, Control: "first"},
	}}}
}

func (f *fakeServer) Status(time.Duration) status.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return f.now
}

func (f *fakeServer) ControlChanges() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes
}

func (f *fakeServer) EmergencyStop(_ time.Duration, port int, on bool, by string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stops = append(f.stops, fmt.Sprintf("%d %v %s", port, on, by))
	return slices.ContainsFunc(f.now.Robots, func(r status.Robot) bool { return r.Port == port })
}

func (f *fakeServer) set(fn func(now *status.Status)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn(&f.now)
}

// on returns the server confined to a loop.
func (f *fakeServer) on(post func(func(now time.Duration)) bool) visitors.Confined[visitors.Server] {
	return visitors.Confine[visitors.Server](post, f)
}

// config has the two robots, and one of another server.
func (f *fakeServer) config() Config {
	return Config{
		Common: visitors.Common{Server: f.on(roomtest.AtOnce(0)), Log: zap.NewNop()},
		Robots: []Robot{
			{Name: "a", Address: "localhost:6665", Port: 6665},
			{Name: "b", Address: "localhost:6666", Port: 6666},
			{Name: "c", Address: "far:6665"},
		},
	}
}

// request sends a request of a page of an origin, which may be empty, on another computer.
func request(page http.Handler, method, path, origin string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(method, path, nil), httptest.NewRecorder()
	r.Host, r.RemoteAddr = "localhost", "192.0.2.1:1234"
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	page.ServeHTTP(w, r)
	return w
}
