package e2e

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"player/e2e/certs"
	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/waiting"
)

// getTLS gets a page by https. err is the connection's.
func getTLS(config *tls.Config, url string) (text string, err error) {
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
	reply, err := (&http.Client{Transport: transport, Timeout: patience}).Get(url)
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	return string(body), err
}

// Pages and viewers use TLS with the certificates of -tls, and have the rights of the name
// in theirs. On this computer they need not. A reload applies to them.
func TestTLSOfVisitors(t *testing.T) {
	t.Parallel()
	authority, others := certs.New(t, "lab"), certs.New(t, "others")
	port := ports.Free(t, 1)
	world := stageRoom(t) + "access ( allow [\"read\" \"write\"] from \"127.0.0.1\" )\n"
	text := func(a *certs.Authority) string {
		pair := a.Issue("robot", nil)
		return world + "access ( allow \"config\" name [\"ada\" \"cleo\"] )\n" + fmt.Sprintf("tls ( listen \"127.0.0.1:%d\" cert %q key %q clients %q )", port, pair.Cert, pair.Key, a.File)
	}
	s := startFile(t, launch{}, text(authority), "-http", "127.0.0.1:0", "-foxglove", "127.0.0.1:0", "-rosbridge", "127.0.0.1:0")
	p := s.dial(t)
	p.mustOpen("pr", "pr")
	plain := s.dashboard(t) + "robots"
	https := strings.Replace(plain, "http:", "https:", 1)
	ada := authority.Client(authority.Issue("ada", nil))
	may := func(url string, config *tls.Config, want string) {
		t.Helper()
		if text, err := getTLS(config, url); err != nil || !strings.Contains(text, `"may":"`+want+`"`) {
			t.Errorf("%s: %s, %v, want that it may %s", url, text, err, want)
		}
	}
	may(plain, nil, "read write")
	may(https, authority.Client(authority.Issue("ben", nil)), "read write")
	may(https, ada, "read write config")
	for name, config := range map[string]*tls.Config{"none": authority.Client(), "foreign": authority.Client(others.Issue("ada", nil))} {
		if text, err := getTLS(config, https); err == nil {
			t.Errorf("certificate %s: %s", name, text)
		}
	}
	for name, open := range map[string]func(*testing.T, *server, *tls.Config) frontend{"page": openPage, "viewer": openViewer, "program": openProgram} {
		f := open(t, s.server, ada)
		waiting.Until(t, name+" drives", func() bool { f.drive(0, 40); return p.position().TurnRate >= 38 })
		_ = f.CloseNow()
		waiting.Until(t, name+" is gone, and the robot stops", func() bool { return p.position().TurnRate == 0 })
	}
	ws, _, err := websocket.Dial(t.Context(), strings.Replace(s.rosbridge(t), "ws:", "wss:", 1),
		&websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: ada}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if got, ok := (&rosProgram{t, ws}).call("/motors", `{"data":true}`); !ok {
		t.Errorf("a program of ROS with a name: %s", got)
	}

	s.reload(t, text(others))
	if _, err := getTLS(ada, https); err == nil {
		t.Error("the old certificate is still in use")
	}
	may(https, others.Client(others.Issue("cleo", nil)), "read write config")
	s.reload(t, world)
	if text, err := getTLS(others.Client(others.Issue("cleo", nil)), https); err == nil {
		t.Errorf("TLS without certificates: %s", text)
	}
	may(plain, nil, "read write")
}

// Visitors of other computers use TLS if there is a certificate.
func TestTLSOfVisitorsElsewhere(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	authority := certs.New(t, "lab")
	pair := authority.Issue("robot", nil)
	s := n.start(t, "-stage", room, "-http", robotAddress+":8080", "-foxglove", robotAddress+":8765",
		"-tls", fmt.Sprintf(":%d", robotTLS), "-tls-cert", pair.Cert, "-tls-key", pair.Key)
	s.Await(t, `"url":"https://`+robotAddress+`:8080"`)
	in(t, n.client, func() {
		for _, address := range []string{robotAddress + ":8080/robots", robotAddress + ":8765/layout.json"} {
			for scheme, secret := range map[string]bool{"http": false, "https": true} {
				// A goroutine of http.Transport would connect in the network of the test.
				tcp := must.Get(net.Dial("tcp", strings.SplitN(address, "/", 2)[0]))(t)
				conn := tcp
				if secret {
					conn = tls.Client(tcp, authority.Client())
				}
				host, path, _ := strings.Cut(address, "/")
				_, err := fmt.Fprintf(conn, "GET /%s HTTP/1.0\r\nHost: %s\r\n\r\n", path, host)
				text, readErr := io.ReadAll(conn)
				if tcp.Close(); err != nil || readErr != nil || strings.Contains(string(text), " 200 OK") != secret || strings.Contains(string(text), "use https:// or wss://") == secret {
					t.Errorf("%s://%s: %v, %v: %s", scheme, address, err, readErr, text)
				}
			}
		}
	})
}
