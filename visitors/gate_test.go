package visitors

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/zap"

	"player/e2e/must"
)

func TestGate(t *testing.T) {
	const none = "-"
	g := gate{names: []string{"localhost", "tanis"}, origins: []string{"https://app.example"}, flag: "-site"}
	for _, tt := range []struct {
		host, origin string
		allowed      bool
	}{
		{"localhost:8080", none, true},
		{"LocalHost:8080", none, true},
		{"localhost", none, true},
		{"127.0.0.1:8080", none, true},
		{"[::1]:8080", none, true},
		{"[::1]", none, true},
		{"[fe80::1%25wlan0]:8080", none, true},
		{"192.168.1.7:8080", none, true},
		{"tanis:8080", none, true},

		// A name that its owner can let point here.
		{"evil.example:8080", none, false},
		{"evil.example:8080", "http://evil.example:8080", false},
		{"localhost.evil.example", none, false},
		{"127.0.0.1.evil.example:8080", none, false},
		{"tanis.evil.example", none, false},
		{"localhost.:8080", none, false},
		{"", none, false},
		{":8080", none, false},
		{"[]:8080", none, false},

		{"localhost:8080", "http://localhost:8080", true},
		{"localhost:8080", "HTTP://LOCALHOST:8080", true},
		{"tanis", "http://tanis", true},
		{"tanis", "https://tanis", true}, // behind a proxy
		{"[::1]:8080", "http://[::1]:8080", true},

		// Another page.
		{"localhost:8080", "http://evil.example", false},
		{"localhost:8080", "http://localhost", false},
		{"localhost:8080", "http://localhost:3000", false},
		{"localhost:8080", "http://127.0.0.1:8080", false},
		{"localhost:8080", "http://localhost:8080.evil.example", false},
		{"localhost:8080", "http://localhost:8080@evil.example", false},
		{"localhost:8080", "ftp://localhost:8080", false},
		{"localhost:8080", "localhost:8080", false},
		{"localhost:8080", "null", false},
		{"localhost:8080", "", false},
		{"localhost:8080", "file://", false},
		{"localhost:8080", "http://%zz", false},

		// A page elsewhere that may use the site. Names of hosts that others own stay refused.
		{"localhost:8765", "https://app.example", true},
		{"192.168.1.7:8765", "https://app.example", true},
		{"localhost:8765", "http://app.example", false},
		{"localhost:8765", "https://app.example.evil.example", false},
		{"evil.example:8765", "https://app.example", false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = tt.host
		if tt.origin != none {
			r.Header.Set("Origin", tt.origin)
		}
		if err := g.check(r); (err == nil) != tt.allowed {
			t.Errorf("host %q origin %q: %v", tt.host, tt.origin, err)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Host = "localhost"
	r.Header["Origin"] = []string{"http://localhost", "http://evil.example"}
	if g.check(r) == nil {
		t.Error("two origins are allowed")
	}
}

func TestGateNames(t *testing.T) {
	if g := newGate("Tanis.Example", Proxy{}); !strings.Contains(strings.Join(g.names, " "), "localhost tanis.example") {
		t.Errorf("names %q", g.names)
	}
}

func TestProtect(t *testing.T) {
	reached := false
	h := gate{names: []string{"localhost"}}.protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }), zap.NewNop())
	for _, tt := range []struct {
		host   string
		status int
	}{{"localhost", http.StatusOK}, {"evil.example", http.StatusForbidden}} {
		reached = false
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = tt.host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status || reached != (tt.status == http.StatusOK) {
			t.Errorf("%s: status %d, reached %v", tt.host, w.Code, reached)
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", tt.host, csp)
		}
	}
}

// A text of a browser is quoted only in part.
func TestQuote(t *testing.T) {
	for _, text := range []string{"cats.example", strings.Repeat("x", 900), strings.Repeat("\xff", 900), strings.Repeat("\U0010ffff", 300)} {
		if got := Quote(text); len(got) > 242 {
			t.Errorf("%d bytes: %s", len(got), got)
		}
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:80": true, "127.9.9.9:80": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true,
		"0.0.0.0:80": false, "[::]:80": false, "192.168.1.7:80": false,
	} {
		a := must.Get(net.ResolveTCPAddr("tcp", address))(t)
		if loopback(a) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
}
