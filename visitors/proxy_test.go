package visitors

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/zap"

	"player/e2e/must"
)

// An origin is taken as browsers send it, whichever way it is written, or the right form is named.
func TestParseOrigin(t *testing.T) {
	for _, tt := range []struct{ text, want, problem string }{
		{text: "http://viewer.lab:8080", want: "http://viewer.lab:8080"},
		{text: "http://viewer.lab:8080/", want: "http://viewer.lab:8080"},
		{text: "HTTP://Viewer.Lab:8080", want: "http://viewer.lab:8080"},
		{text: "https://viewer.lab:443", want: "https://viewer.lab"},
		{text: "http://viewer.lab:80/", want: "http://viewer.lab"},
		{text: "http://viewer.lab:443", want: "http://viewer.lab:443"},
		{text: "https://viewer.lab:8443", want: "https://viewer.lab:8443"},
		{text: "https://[2001:DB8::1]:443/", want: "https://[2001:db8::1]"},
		{text: "vscode-webview://abc", want: "vscode-webview://abc"},
		{text: "http://viewer.lab:0080", want: "http://viewer.lab"},
		{text: "http://viewer.lab:08080", want: "http://viewer.lab:8080"},
		{text: "http://viewer.lab:/", want: "http://viewer.lab"},
		{text: "http://viewer.lab:0", want: "http://viewer.lab:0"},
		{text: "file://", want: "file://"},
		{text: "null", want: "null"},
		{text: "", problem: "is not an origin"},
		{text: "*", problem: "as in http://viewer.lab:8080"},
		{text: "http://*.lab", problem: "is not an origin"},
		{text: "viewer.lab:8080", problem: "with http:// or https://"},
		{text: "viewer.lab", problem: "with http:// or https://"},
		{text: "http://", problem: "is not an origin"},
		{text: "http://:80", problem: "is not an origin"},
		{text: "https://:8080", problem: "is not an origin"},
		{text: "http://viewer.lab:80800", problem: "is not an origin"},
		{text: "http://ann@viewer.lab", problem: "is not an origin"},
		{text: "http://viewer.lab, http://other.lab", problem: "is not an origin"},
		{text: "http://Viewer.lab/page", problem: "browsers send http://viewer.lab"},
		{text: "http://viewer.lab?x", problem: "browsers send http://viewer.lab"},
		{text: "http://röbot.lab", problem: "xn--"},
	} {
		got, err := ParseOrigin(tt.text)
		if got != tt.want || (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%q: %q, %v", tt.text, got, err)
		}
	}
}

func TestProxyFlag(t *testing.T) {
	for text, want := range map[string]string{
		"https://Robots.example/":         "[https://robots.example] [127.0.0.0/8 ::1/128]",
		"https://robots.example,10.0.0.2": "[https://robots.example] [10.0.0.2/32]",
		"https://a.example,http://b.example,::1,10.0.0.0/24,::ffff:10.1.0.0/112": "[https://a.example http://b.example] [::1/128 10.0.0.0/24 10.1.0.0/16]",
		"":                                  "",
		"10.0.0.2":                          "",
		"robots.example":                    "",
		"file://":                           "",
		"https://robots.example,":           "",
		"https://robots.example,10.0.0.1/8": "",
	} {
		var p Proxy
		err := p.Set(text)
		got := ""
		if err == nil {
			var networks []string
			for _, n := range p.Addresses {
				networks = append(networks, n.String())
			}
			got = "[" + strings.Join(p.Origins, " ") + "] [" + strings.Join(networks, " ") + "]"
		}
		if got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
		if again := p.Set("https://second.example"); (again == nil) == (want != "") {
			t.Errorf("%q: a second -proxy: %v", text, again)
		}
	}
}

// A visitor behind a proxy has its own address, and no visitor gets the rights of this computer because
// a proxy runs on it.
func TestForwarded(t *testing.T) {
	const local, near, far = "127.0.0.1:4000", "10.0.0.2:4000", "203.0.113.9:4000"
	here, elsewhere := "https://robots.example", "https://robots.example,10.0.0.2"
	for _, tt := range []struct {
		name, proxy, from, host, origin string
		chain                           []string
		want                            string // RemoteAddr, or a part of the error
	}{
		{name: "directly", proxy: here, from: local, host: "localhost:8080", want: local},
		{name: "directly from elsewhere", proxy: here, from: far, host: "10.0.0.1:8080", want: far},
		{name: "forwarded", proxy: here, from: local, host: "robots.example", origin: here, chain: []string{"203.0.113.9"}, want: "203.0.113.9:0"},
		{name: "forwarded with the host of the server", proxy: here, from: local, host: "127.0.0.1:8080", origin: here, chain: []string{"203.0.113.9"}, want: "203.0.113.9:0"},
		{name: "IPv6", proxy: here, from: "[::1]:4000", host: "robots.example", chain: []string{"2001:db8::7"}, want: "[2001:db8::7]:0"},
		{name: "from this computer", proxy: here, from: local, host: "robots.example", chain: []string{"127.0.0.1"}, want: "127.0.0.1:0"},
		{name: "two proxies", proxy: here, from: local, host: "robots.example", chain: []string{"203.0.113.9, 127.0.0.1"}, want: "203.0.113.9:0"},
		{name: "what the visitor claims", proxy: here, from: local, host: "robots.example", chain: []string{"127.0.0.1, 203.0.113.9"}, want: "203.0.113.9:0"},
		{name: "what the visitor claims, in a line", proxy: here, from: local, host: "robots.example", chain: []string{"127.0.0.1", "203.0.113.9"}, want: "203.0.113.9:0"},
		{name: "a proxy elsewhere", proxy: elsewhere, from: near, host: "robots.example", chain: []string{"203.0.113.9"}, want: "203.0.113.9:0"},
		{name: "not a proxy", proxy: here, from: far, host: "robots.example", origin: here, chain: []string{"127.0.0.1"}, want: far},
		{name: "the proxy does not say whose", proxy: here, from: local, host: "robots.example", want: "has to send the address in X-Forwarded-For"},
		{name: "nor whose page", proxy: here, from: local, host: "127.0.0.1:8080", origin: here, want: "has to send the address in X-Forwarded-For"},
		{name: "a proxy elsewhere does not say whose", proxy: elsewhere, from: near, host: "10.0.0.1:8080", want: "has to send the address in X-Forwarded-For"},
		{name: "rubbish", proxy: here, from: local, host: "robots.example", chain: []string{"unknown"}, want: "X-Forwarded-For, not \"unknown\""},
		{name: "behind rubbish", proxy: here, from: local, host: "robots.example", chain: []string{"x, 203.0.113.9"}, want: "203.0.113.9:0"},
		{name: "a proxy without -proxy", from: local, host: "localhost:8080", chain: []string{"203.0.113.9"}, want: "-proxy ORIGIN"},
		{name: "a proxy without -proxy, for this computer", from: local, host: "localhost:8080", chain: []string{"127.0.0.1, ::1"}, want: local},
		{name: "a proxy without -proxy, with a claim", from: local, host: "localhost:8080", chain: []string{"127.0.0.1, 203.0.113.9"}, want: "-proxy ORIGIN"},
		{name: "a proxy without -proxy, with rubbish", from: local, host: "localhost:8080", chain: []string{"unknown"}, want: "-proxy ORIGIN"},
		{name: "another proxy here", proxy: elsewhere, from: local, host: "localhost:8080", chain: []string{"203.0.113.9"}, want: "-proxy ORIGIN"},
		{name: "a name of others", proxy: here, from: local, host: "evil.example", chain: []string{"203.0.113.9"}, want: "is not a name of this server"},
		{name: "a page of others", proxy: here, from: local, host: "robots.example", origin: "https://evil.example", chain: []string{"203.0.113.9"}, want: "may not use this server"},
	} {
		site := Site{Log: zap.NewNop(), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.RemoteAddr)) })}
		if tt.proxy != "" {
			must.Do(t, site.Proxy.Set(tt.proxy))
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host = tt.from, tt.host
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		for _, line := range tt.chain {
			r.Header.Add("X-Forwarded-For", line)
		}
		w := httptest.NewRecorder()
		site.Protected().ServeHTTP(w, r)
		if got := w.Body.String(); w.Code == http.StatusOK && got != tt.want || w.Code != http.StatusOK && !strings.Contains(got, tt.want) {
			t.Errorf("%s: %d %q, want %q", tt.name, w.Code, got, tt.want)
		}
	}
}
