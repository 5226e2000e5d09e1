package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats.go"

	"player/codec"
	"player/e2e/certs"
	"player/e2e/must"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

// pageURL returns where the page of all robots is.
func pageURL(t *testing.T, p *programs.Program) string {
	t.Helper()
	for line := range strings.Lines(p.Output.String()) {
		var l struct{ Msg, URL string }
		if json.Unmarshal([]byte(line), &l) == nil && l.URL != "" {
			return l.URL
		}
	}
	t.Fatal("the program did not log where the page is")
	return ""
}

// While a visitor watches the page, the odometry and the battery of all robots are read,
// and nothing else; two messages a second with all robots come at most. When the page is closed nothing
// is read any more.
func TestPage(t *testing.T) {
	t.Parallel()
	a, b := startRobot(t, "a"), newRobot(t, "b")
	a.about = " page=http://example.org/ at=1,2,0"
	p, conn := startFleet(t, []robot{a, b}, "-http", "127.0.0.1:0")
	url := pageURL(t, p)
	status := subscribe(t, conn, "player.lab.a.status")
	for range 3 { // a round has found nobody
		must.Get(status.NextMsg(patience))(t)
	}
	if reading := a.readers(t); len(reading) != 0 {
		t.Fatalf("nobody watches, and somebody reads the robot: %+v", reading)
	}

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	count, began := 0, time.Now()
	ws, _, err := websocket.Dial(ctx, url+"/robots", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	type message struct {
		Fleet  string
		Robots []struct {
			Name, Page, State, Text string
			Volts                   *float64
			Age                     *int64 `json:"age_ms"`
			Place                   *[3]float64
		}
	}
	until := func(what string, ok func(message) bool) {
		t.Helper()
		for {
			_, text, err := ws.Read(ctx)
			if err != nil {
				t.Fatalf("no %s: %v", what, err)
			}
			var m message
			must.Do(t, json.Unmarshal(text, &m))
			if m.Robots == nil {
				continue // it has those that move
			}
			count++
			if ok(m) {
				return
			}
		}
	}
	until("data", func(m message) bool {
		return m.Fleet == "lab" && len(m.Robots) == 2 && m.Robots[0].Volts != nil && m.Robots[0].Place != nil && *m.Robots[0].Place == [3]float64{1, 2, 0} &&
			m.Robots[0].Page == "http://example.org/" && m.Robots[0].Age != nil && m.Robots[0].State == "well" &&
			m.Robots[1].State == "trouble" && strings.Contains(m.Robots[1].Text, "no server runs at "+b.address) && m.Robots[1].Place == nil
	})
	if clients := a.readers(t); len(clients) != 1 || clients[0].Devices["p"] != "r" || clients[0].Devices["m"] != "r" || clients[0].Devices["s"] == "r" {
		t.Errorf("for the page the robot has the clients %+v", clients)
	}
	letGo := drive(t, conn, acquire(t, conn, "anna"))
	defer letGo()
	until("driver", func(m message) bool { return m.Robots[0].State == "driven" && m.Robots[0].Text == "anna has control" })
	press := func(path string, code int, why ...string) {
		t.Helper()
		answer := must.Get(http.Post(url+path, "", nil))(t)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != code || len(why) > 0 && !strings.Contains(string(text), why[0]) {
			t.Errorf("POST %s: %s %s, %v", path, answer.Status, text, err)
		}
	}
	letGo()
	press("/stop?robot=a", http.StatusNoContent)
	until("stop", func(m message) bool { return m.Robots[0].State == "stopped" })
	press("/release?robot=a", http.StatusNoContent)
	until("release", func(m message) bool { return m.Robots[0].State != "stopped" })
	press("/stop", http.StatusNoContent)
	until("stop of all", func(m message) bool { return m.Robots[0].State == "stopped" })
	press("/release", http.StatusNoContent)
	until("release of all", func(m message) bool { return m.Robots[0].State != "stopped" })
	press("/stop?robot=a.b", http.StatusBadRequest)
	press("/stop?robot=b", http.StatusBadGateway, "no server runs at "+b.address)
	press("/stop?robot=c", http.StatusBadGateway, "no bridge serves")
	if most := int(time.Since(began)/(500*time.Millisecond)) + 1; count > most {
		t.Errorf("%d messages came in %v", count, time.Since(began))
	}
	must.Do(t, ws.Close(websocket.StatusNormalClosure, ""))
	waiting.Until(t, "end of reading", func() bool { return len(a.readers(t)) == 0 })
}

// plan asks for the floor plan of robot a.
func plan(t *testing.T, conn *nats.Conn, body []byte) (m *nats.Msg) {
	t.Helper()
	waiting.Until(t, "plan", func() (ok bool) {
		var err error
		m, err = conn.Request("player.lab.a.plan", body, patience)
		return err == nil
	})
	return m
}

// Robots whose servers have the same floor plan are on one map, with its walls.
func TestPlans(t *testing.T) {
	t.Parallel()
	a, b, c := startRobot(t, "a"), startRobot(t, "b"), startRobot(t, "c")
	a.about, b.about = " page=http://"+a.page+"/", " page=http://"+b.page+"/?x=1#y"
	p, conn := startFleet(t, []robot{a, b, c}, "-http", "127.0.0.1:0")
	code, _, want := get(t, "http://"+a.page+"/plan")
	digest := bridge.PlanDigest([]byte(want))
	if err := bridge.CheckPlan([]byte(want)); err != nil || code != http.StatusOK {
		t.Fatalf("the robot's plan: %d, %v", code, err)
	}
	if m := plan(t, conn, nil); string(m.Data) != want || m.Header.Get(bridge.HeaderPlan) != digest {
		t.Errorf("the plan has %d bytes, and the digest %s, want %d and %s", len(m.Data), m.Header.Get(bridge.HeaderPlan), len(want), digest)
	}
	if m := plan(t, conn, bridge.KnownPlans([]string{"x", digest})); len(m.Data) != 0 || m.Header.Get(bridge.HeaderPlan) != digest {
		t.Errorf("whoever has the plan is sent %d bytes, and the digest %s", len(m.Data), m.Header.Get(bridge.HeaderPlan))
	}
	if m := request(t, conn, "player.lab.c.plan", "", nil); !strings.Contains(m.Error, "no floor plan") {
		t.Errorf("a robot without a dashboard: %+v", m)
	}

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, pageURL(t, p)+"/robots", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	for planned := 0; planned < 2; {
		_, text, err := ws.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ Robots []struct{ Name, Plan string } }
		must.Do(t, json.Unmarshal(text, &m))
		planned = 0
		for _, r := range m.Robots {
			switch {
			case r.Plan == digest && r.Name != "c":
				planned++
			case r.Plan != "":
				t.Fatalf("robot %s has the plan %s", r.Name, r.Plan)
			}
		}
	}
	if code, _, got := get(t, pageURL(t, p)+"/plan?of="+digest); code != http.StatusOK || got != want {
		t.Errorf("the page has a plan of %d bytes, %d", len(got), code)
	}
	if code, _, _ := get(t, pageURL(t, p)+"/plan?of=x"); code != http.StatusNotFound {
		t.Errorf("a plan that nobody has: %d", code)
	}
}

// A dashboard is asked for a floor plan, and nothing else: not where it redirects to, and
// a reply that is no plan is refused.
func TestPlanOfStrangers(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 100)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	t.Cleanup(elsewhere.Close)
	reply := make(chan http.HandlerFunc, 1)
	dashboard := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (<-reply)(w, r) }))
	t.Cleanup(dashboard.Close)
	_, conn := startFleet(t, nil, "-robot", "a=127.0.0.1:1 page="+dashboard.URL)
	for what, handler := range map[string]http.HandlerFunc{
		"302":         func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"bytes":       func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 2<<20)) },
		"cells":       func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 40)) },
		"403":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"no floor pl": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
	} {
		reply <- handler
		if m := plan(t, conn, nil); !strings.Contains(string(m.Data), `"error"`) || !strings.Contains(string(m.Data), what) || m.Header.Get(bridge.HeaderPlan) != "" {
			t.Errorf("%s: %s", what, m.Data)
		}
	}
	if len(asked) > 0 {
		t.Errorf("the bridge follows a redirection: %s", <-asked)
	}
}

// Pages of other sites get nothing, whatever name they have given this address.
func TestPageIsGuarded(t *testing.T) {
	t.Parallel()
	p, _ := startFleet(t, []robot{newRobot(t, "a")}, "-http", "127.0.0.1:0")
	url := pageURL(t, p)
	for _, c := range []struct {
		path, host, origin string
		code               int
	}{
		{"/", "", "", http.StatusOK},
		{"/main.js", "", url, http.StatusOK},
		{"/visitors/dashboard/page/view.js", "", url, http.StatusOK},
		{"/visitors/dashboard/page/main.js", "", url, http.StatusNotFound}, // of the dashboard
		{"/", "evil.example.org", "", http.StatusForbidden},
		{"/robots", "evil.example.org", "http://evil.example.org", http.StatusForbidden},
		{"/robots", "", "http://evil.example.org", http.StatusForbidden},
	} {
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url+c.path, nil))(t)
		if request.Host = c.host; c.origin != "" {
			request.Header.Set("Origin", c.origin)
		}
		answer := must.Get(http.DefaultClient.Do(request))(t)
		_, err := io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != c.code {
			t.Errorf("%s of %q from %q: %s, %v", c.path, c.host, c.origin, answer.Status, err)
		}
		if !strings.Contains(answer.Header.Get("Content-Security-Policy"), "default-src 'self'") {
			t.Errorf("%s has no policy: %v", c.path, answer.Header)
		}
	}
}

// Messages that cannot be true neither end the program nor reach the page.
func TestForgedMessages(t *testing.T) {
	t.Parallel()
	p, conn := startFleet(t, nil, "-robot", "real=127.0.0.1:1", "-http", "127.0.0.1:0")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, pageURL(t, p)+"/robots", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	ws.SetReadLimit(1 << 20)
	publish := func(subject, header, text string) {
		m := nats.NewMsg(subject)
		m.Data = []byte(text)
		m.Header.Set(bridge.HeaderTime, header)
		m.Header.Set(bridge.HeaderAge, "-9223372036854775808")
		must.Do(t, conn.PublishMsg(m))
	}
	odometry := string((&codec.PositionData{X: 1 << 30, Heading: 359}).Append(nil))
	for range 2 { // before and after somebody watches
		for name, about := range map[string]string{
			"far":    `"origin":{"x":1e308,"y":-1e308,"heading":1e308}`,
			"script": `"page":"javascript:alert(1)"`,
			"long":   `"error":"` + strings.Repeat("x", 100<<10) + `"`,
			"other":  `"robot":"real"`,
			"number": `"holders":{"position":7}`,
		} {
			publish("player.lab."+name+".status", "", `{"robot":"`+name+`","connected":true,`+about+`}`)
			publish("player.lab."+name+".position.0.data", "now", odometry)
			publish("player.lab."+name+".misc.0.data", "now", odometry[:3])
		}
		publish("player.lab.fair.status", "", `{"robot":"fair","connected":true,"origin":{"x":1e8,"y":-1e8,"heading":-1e8}}`)
		publish("player.lab.fair.position.0.data", "now", odometry)
		for {
			_, text, err := ws.Read(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var m struct {
				Robots []struct {
					Name string
					Age  *int64 `json:"age_ms"`
				}
			}
			must.Do(t, json.Unmarshal(text, &m))
			names, aged := map[string]bool{}, false
			for _, r := range m.Robots {
				names[r.Name] = true
				aged = aged || r.Name == "fair" && r.Age != nil && *r.Age >= 0
			}
			if names["real"] && names["fair"] && aged {
				if len(names) != 2 {
					t.Errorf("the page shows %v", names)
				}
				break
			}
			publish("player.lab.fair.status", "", `{"robot":"fair","connected":true}`)
			publish("player.lab.fair.position.0.data", "now", odometry)
		}
	}
}

// Over TLS a visitor has the rights of the name in its certificate. Any visitor that the handshake admits may stop.
func TestPageOverTLS(t *testing.T) {
	t.Parallel()
	authority := certs.New(t, "lab")
	pair := authority.Issue("bridge", nil)
	rules := filepath.Join(t.TempDir(), "fleet.access")
	must.Do(t, os.WriteFile(rules, []byte(`access ( allow "read" from "127.0.0.1" ) access ( allow "write" name "ada" )`), 0o600))
	p, _ := startFleet(t, []robot{startRobot(t, "a")}, "-http", "127.0.0.1:0", "-access", rules, "-tls-cert", pair.Cert, "-tls-key", pair.Key, "-tls-clients", authority.File)
	plain := pageURL(t, p)
	secure := "https" + strings.TrimPrefix(plain, "http")
	press := func(url string, pairs ...certs.Pair) int {
		t.Helper()
		client := http.Client{Transport: &http.Transport{TLSClientConfig: authority.Client(pairs...)}, Timeout: patience}
		defer client.CloseIdleConnections()
		reply, err := client.Post(url, "", nil)
		if err != nil {
			return 0
		}
		defer reply.Body.Close()
		return reply.StatusCode
	}
	ada, eve := authority.Issue("ada", nil), authority.Issue("eve", nil)
	waiting.Until(t, "the robot", func() bool { return press(secure+"/stop?robot=a", eve) == http.StatusNoContent })
	for what, c := range map[string]struct{ got, want int }{
		"ada releases":                    {press(secure+"/release?robot=a", ada), http.StatusNoContent},
		"eve releases":                    {press(secure+"/release?robot=a", eve), http.StatusForbidden},
		"eve stops":                       {press(secure+"/stop", eve), http.StatusNoContent},
		"a browser without a certificate": {press(secure+"/stop", certs.Pair{}), 0},
		"this computer without TLS":       {press(plain + "/stop?robot=a"), http.StatusNoContent},
		"it releases":                     {press(plain + "/release"), http.StatusForbidden},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", what, c.got, c.want)
		}
	}
}
