package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"player/e2e/certs"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/visitors"
)

// publicName is the name of the site in docs/OPERATIONS.md.
const publicName = "robots.example.org"

// proxied is a dashboard behind a proxy.
type proxied struct {
	*server
	page   string      // what browsers open
	origin string      // of page
	trust  *tls.Config // of clients
	proxy  string      // host:port
}

// startProxied starts a robot of this computer, which 127.0.0.2 may only watch, and a proxy in
// front of its dashboard: nginx or caddy, as docs/OPERATIONS.md describes it, on 127.0.0.1.
func startProxied(t *testing.T, kind, scheme, path string) proxied {
	t.Helper()
	program := needs.Program(t, kind)
	port, dir := ports.Free(t, 1), t.TempDir()
	p := proxied{origin: fmt.Sprintf("%s://%s:%d", scheme, publicName, port), proxy: fmt.Sprintf("127.0.0.1:%d", port)}
	p.page = p.origin + path
	p.server = start(t, "-http", "127.0.0.1:0", "-proxy", p.origin, write(t, dir, "robot.cfg", stageRoom(t)+`
		access ( allow ["read" "write" "config"] from "127.0.0.1" )
		access ( allow "read" from "127.0.0.2" )`))
	authority := certs.New(t, "lab")
	p.trust = authority.Client()
	pair := authority.Issue("robot", func(c *x509.Certificate) { c.DNSNames = append(c.DNSNames, publicName) })
	upstream := strings.TrimSuffix(strings.TrimPrefix(p.dashboard(t), "http://"), "/")
	conf := strings.NewReplacer("127.0.0.1:8080", upstream, "/robot1/", path).Replace(proxyPage(t, kind))

	var cmd *exec.Cmd
	switch kind {
	case "nginx":
		listen := "listen " + p.proxy
		if scheme == "https" {
			listen += " ssl"
		}
		conf = strings.NewReplacer("listen 443 ssl", listen, "/etc/ssl/robots.pem", pair.Cert, "/etc/ssl/robots.key", pair.Key).Replace(conf)
		temporary := ""
		for _, name := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
			temporary += fmt.Sprintf("%s_temp_path %s;\n", name, filepath.Join(dir, name))
		}
		conf = fmt.Sprintf("daemon off; pid %s; error_log stderr;\nevents {}\nhttp { access_log off;\n%s%s}\n", filepath.Join(dir, "pid"), temporary, conf)
		cmd = exec.Command(program, "-p", dir, "-c", write(t, dir, "nginx.conf", conf))
	case "caddy":
		site := p.origin + " {\n"
		if scheme == "https" {
			site += fmt.Sprintf("tls %s %s\n", pair.Cert, pair.Key)
		}
		conf = strings.Replace(conf, publicName+" {\n", site, 1)
		if path == "/" {
			conf = strings.Replace(conf, "redir /robot1 /\n", "", 1)
		}
		conf = "{\nadmin off\nauto_https disable_redirects\ndefault_bind 127.0.0.1\nskip_install_trust\n}\n" + conf
		cmd = exec.Command(program, "run", "--adapter", "caddyfile", "--config", write(t, dir, "Caddyfile", conf))
		cmd.Env = []string{"HOME=" + dir, "PATH=/usr/bin:/bin"}
	}
	t.Logf("%s reads:\n%s", kind, conf)
	programs.Start(t, cmd).Until(t, kind+" listens", func() bool { return !isFree(port) })
	return p
}

// proxyPage returns the configuration of a proxy in docs/OPERATIONS.md.
func proxyPage(t *testing.T, kind string) string {
	t.Helper()
	word := map[string]string{"nginx": "proxy_pass", "caddy": "reverse_proxy"}[kind]
	for _, b := range pageBlocks(t, "../docs/OPERATIONS.md") {
		if text := strings.Join(b.lines, "\n") + "\n"; slices.Contains(b.directives["run by"], "TestProxy") && strings.Contains(text, word) {
			return text
		}
	}
	t.Fatalf("the page has no configuration of %s", kind)
	return ""
}

// client returns a client that reaches the proxy from an address.
func (p proxied) client(from string) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	return &http.Client{Timeout: patience, Transport: &http.Transport{
		TLSClientConfig: p.trust, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, p.proxy)
		},
	}}
}

// ask sends a request of a page of an origin.
func (p proxied) ask(t *testing.T, from, method, what, origin string) (status int, text string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, p.page+what, nil))(t)
	r.Header.Set("X-Forwarded-For", "127.0.0.1") // what a visitor claims
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	reply := must.Get(p.client(from).Do(r))(t)
	defer reply.Body.Close()
	body := must.Get(io.ReadAll(reply.Body))(t)
	return reply.StatusCode, string(body)
}

// Behind nginx and Caddy, with TLS or without, at the root or below a path, a page has everything that it
// has without them, and each visitor the rights of its own address.
func TestProxy(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"nginx", "caddy"} {
		for _, scheme := range []string{"http", "https"} {
			for _, path := range []string{"/", "/robot1/"} {
				t.Run(kind+" "+scheme+" "+path, func(t *testing.T) {
					t.Parallel()
					p := startProxied(t, kind, scheme, path)
					for _, tt := range []struct {
						from, method, what, origin string
						status                     int
						has                        string
					}{
						{"127.0.0.1", "GET", "", "", http.StatusOK, `"you":"127.0.0.1","may":"read write config"`},
						{"127.0.0.2", "GET", "", "", http.StatusOK, `"you":"127.0.0.2","may":"read"`},
						{"127.0.0.2", "GET", "robots", "", http.StatusOK, `"you":"127.0.0.2","may":"read"`},
						{"127.0.0.3", "GET", "robots", "", http.StatusForbidden, visitors.NotAllowed},
						{"127.0.0.1", "POST", "stop?robot=" + p.address, p.origin, http.StatusNoContent, ""},
						{"127.0.0.2", "POST", "release?robot=" + p.address, p.origin, http.StatusForbidden, visitors.NotAllowed},
						{"127.0.0.1", "POST", "release?robot=" + p.address, "https://evil.example", http.StatusForbidden, visitors.OtherPage},
						{"127.0.0.1", "POST", "release?robot=" + p.address, p.origin, http.StatusNoContent, ""},
					} {
						if status, text := p.ask(t, tt.from, tt.method, tt.what, tt.origin); status != tt.status || !strings.Contains(text, tt.has) {
							t.Errorf("%s %s /%s of a page of %q: %d %s", tt.from, tt.method, tt.what, tt.origin, status, tail(text, 300))
						}
					}
					if reply, err := p.client("127.0.0.1").Get(strings.TrimSuffix(p.page, "/")); err != nil || reply.StatusCode != http.StatusOK || path != "/" && reply.Request.URL.String() != p.page {
						t.Errorf("without the slash at the end: %v, %v", reply, err)
					} else {
						reply.Body.Close()
					}
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					ws, _, err := websocket.Dial(ctx, strings.Replace(p.page, "http", "ws", 1)+"presence?page=abcd",
						&websocket.DialOptions{HTTPClient: p.client("127.0.0.2"), HTTPHeader: http.Header{"Origin": {p.origin}}})
					if err != nil {
						t.Fatal(err)
					}
					defer ws.CloseNow()
					if _, text, err := ws.Read(ctx); err != nil || !strings.Contains(string(text), "stopped") {
						t.Errorf("presence: %s, %v", text, err)
					}
					// The robot's computer needs no proxy.
					if text, err := getTLS(nil, p.dashboard(t)+"robots"); err != nil || !strings.Contains(text, `"you":"127.0.0.1","may":"read write config"`) {
						t.Errorf("without the proxy: %s, %v", text, err)
					}
				})
			}
		}
	}
}

// testProxied shows a robot below a path of a site with TLS in a browser, and stops it.
func testProxied(t *testing.T, _ browser) {
	chromium := startBrowser(t, chromedp.Flag("host-resolver-rules", "MAP "+publicName+" 127.0.0.1"), chromedp.Flag("ignore-certificate-errors", true))
	for _, kind := range []string{"nginx", "caddy"} {
		p := startProxied(t, kind, "https", "/robot1/")
		b := chromium.open(t, p.page)
		b.until(`globalThis.player?.shown?.data.l && player.world?.poses.length === 2 && player.presence.heard`)
		evaluate[chromedp.Void](b, `document.getElementById("stop").click()`)
		b.until(`!document.getElementById("alert").hidden`)
		b.close()
	}
	// A proxy without -proxy shows the page, and all that commands is refused: with the reason.
	_, page := startDashboard(t)
	chromium.open(t, passedOn(t, page, false)).until(`/^The server refuses this page: .*start it with -proxy ORIGIN$/.test(document.body.innerText.trim())`)
}

// below returns the address of a page below a path of another server, which passes on
// requests as if they had come from a browser on this computer.
func below(t *testing.T, page string) string {
	t.Helper()
	return passedOn(t, page, true)
}

// passedOn is below with the origin of the page, or with the browser's, as nginx passes it on.
func passedOn(t *testing.T, page string, origin bool) string {
	t.Helper()
	to := must.Get(url.Parse(page))(t)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		if origin && r.Out.Header.Get("Origin") != "" {
			r.Out.Header.Set("Origin", to.Scheme+"://"+to.Host)
		}
	}}
	front := httptest.NewServer(http.StripPrefix("/below", proxy))
	t.Cleanup(front.Close)
	return front.URL + "/below/"
}
