package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"player/e2e/must"
	"player/e2e/promtool"
	"player/e2e/waiting"
	"player/fleet/bridge"
	"player/fleet/hub"
	"player/server/status"
)

// everyMetric has all metrics that a bridge can have.
func everyMetric() observation {
	on := true
	return observation{
		fleet: "lab", bridge: "x", recorded: true, uptime: time.Minute,
		report:     &hub.Report{Bridges: 1, Robots: []hub.RobotReport{{Name: "a", Served: true, Status: bridge.RobotStatus{Stopped: &on}}}},
		connection: connection{connected: true, rtt: time.Millisecond},
		server:     &embedded{},
	}
}

// The dashboard for Grafana and the alerts use only metrics that exist.
func TestMetricsInDocs(t *testing.T) {
	t.Parallel()
	metrics := string(everyMetric().metrics())
	promtool.Names(t, []byte(metrics))
	for page, least := range map[string]int{"fleet-grafana.json": 15, "fleet-alerts.yml": 15} {
		text := must.Get(os.ReadFile("../docs/" + page))(t)
		if strings.HasSuffix(page, ".json") && !json.Valid(text) {
			t.Errorf("%s is not JSON", page)
		}
		used := map[string]bool{}
		for _, name := range regexp.MustCompile(`player_[a-z_]+`).FindAllString(string(text), -1) {
			if used[name] = true; !strings.Contains(metrics, "# TYPE "+name+" ") {
				t.Errorf("%s: there is no metric %s", page, name)
			}
		}
		if len(used) < least {
			t.Errorf("%s uses only %v", page, used)
		}
	}
}

// Prometheus takes the alerts and the metrics of a bridge, and the expressions of its dashboard.
func TestPrometheusOfFleet(t *testing.T) {
	t.Parallel()
	promtool.Check(t, "../docs/fleet-alerts.yml", "../docs/fleet-grafana.json", everyMetric().metrics())
}

// OPERATIONS has a remedy for each alert.
func TestAlertsInDocs(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("../docs/fleet-alerts.yml")
	page, missing := os.ReadFile("../docs/OPERATIONS.md")
	must.Do(t, errors.Join(err, missing))
	alerts := regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1)
	if len(alerts) < 10 {
		t.Errorf("the alerts are %q", alerts)
	}
	for _, alert := range alerts {
		if !strings.Contains(string(page), "| `"+alert[1]+"` |") {
			t.Errorf("OPERATIONS.md lacks %s", alert[1])
		}
	}
}

// get returns a page of the program.
func get(t *testing.T, url string) (code int, kind, body string) {
	t.Helper()
	answer := must.Get(http.Get(url))(t)
	defer answer.Body.Close()
	text := must.Get(io.ReadAll(answer.Body))(t)
	return answer.StatusCode, answer.Header.Get("Content-Type"), string(text)
}

// awaitMetrics waits until /metrics has all lines.
func awaitMetrics(t *testing.T, url string, lines ...string) {
	t.Helper()
	var body string
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(body)
		}
	})
	for _, line := range lines {
		waiting.Until(t, line, func() bool {
			_, _, body = get(t, url+"/metrics")
			return strings.Contains(body, line+"\n")
		})
	}
}

// until waits until /healthz has the code, and the text in its body.
func until(t *testing.T, url string, code int, text string) (v verdict) {
	t.Helper()
	waiting.Until(t, text, func() bool {
		is, _, body := get(t, url+"/healthz")
		v = verdict{}
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		return is == code && strings.Contains(body, text)
	})
	return v
}

// A bridge reports its own state, and the states of its robots and of the server of NATS in it.
func TestObserved(t *testing.T) {
	t.Parallel()
	p, conn := startFleet(t, []robot{startRobot(t, "a"), newRobot(t, "b")}, "-http", "127.0.0.1:0", "-record", "a.position")
	url := pageURL(t, p)
	if v := until(t, url, http.StatusOK, `"well":true`); len(v.Problems) != 0 || v.Fleet != "lab" || v.Bridge == "" {
		t.Errorf("the verdict is %+v", v)
	}
	if _, kind, _ := get(t, url+"/metrics"); kind != status.ContentType {
		t.Errorf("the metrics are %s", kind)
	}
	awaitMetrics(t, url, "player_fleet_well 1", `player_fleet_bridges{fleet="lab"} 1`, "player_fleet_nats_connected 1", "player_fleet_nats_dropped_total 0",
		"player_fleet_leases_well 1", "player_fleet_recording_well 1", "player_fleet_recording_max_bytes 1.073741824e+09",
		"player_fleet_server_clients 2", // the bridge's, and the test's
		"player_fleet_server_jetstream 1", "player_fleet_server_slow_total 0",
		`player_fleet_robot_served{fleet="lab",robot="a"} 1`, `player_fleet_robot_well{fleet="lab",robot="a"} 1`,
		`player_fleet_leases_total{fleet="lab",robot="a"} 0`)

	request(t, conn, command, "made up", speed(100))
	token := acquire(t, conn, "anna")
	request(t, conn, command, token, speed(0))
	awaitMetrics(t, url, `player_fleet_commands_refused_total{fleet="lab",robot="a"} 1`, `player_fleet_commands_total{fleet="lab",robot="a"} 1`,
		`player_fleet_leases_total{fleet="lab",robot="a"} 1`,
		`player_fleet_leases_lapsed_total{fleet="lab",robot="a"} 1`) // it is not renewed

	subscribe(t, conn, "player.lab.*.status")
	request(t, conn, "player.lab.a.stop", "", nil)
	awaitMetrics(t, url, `player_fleet_robot_stopped{fleet="lab",robot="a"} 1`)
	// A robot that cannot be reached is not the bridge's fault.
	subscribe(t, conn, "player.lab.b.position.0.data")
	awaitMetrics(t, url, `player_fleet_robot_well{fleet="lab",robot="b"} 0`)
	if v := until(t, url, http.StatusOK, "no server runs"); v.Robots["b"] == "" || len(v.Robots) != 1 {
		t.Errorf("robots in trouble: %v", v.Robots)
	}
	if _, _, body := get(t, url+"/metrics"); strings.Contains(body, `robot_stopped{fleet="lab",robot="b"}`) || !strings.Contains(body, "\nplayer_fleet_nats_rtt_seconds ") ||
		!regexp.MustCompile(`(?m)^player_fleet_messages_bytes_total\{fleet="lab",robot="a"\} [1-9]`).MatchString(body) {
		t.Errorf("the metrics are\n%s", body)
	}
}

// A bridge is not well while NATS is gone, or has no JetStream, and well again afterwards.
func TestObservedWithoutNATS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	natsServer, err := startServer("127.0.0.1:0", dir, "")
	if err != nil {
		t.Fatal(err)
	}
	address := natsServer.Addr().String()
	defer func() { natsServer.Shutdown() }()
	url := pageURL(t, start(t, program, "-fleet", "lab", "-nats", "nats://"+address, "-http", "127.0.0.1:0", "-robot", "a=127.0.0.1:1"))
	until(t, url, http.StatusOK, `"well":true`)
	must.Do(t, natsServer.DisableJetStream())
	until(t, url, http.StatusServiceUnavailable, "no program gets a lease")
	awaitMetrics(t, url, "player_fleet_well 0", "player_fleet_leases_well 0", "player_fleet_nats_connected 1")
	natsServer.Shutdown()
	natsServer.WaitForShutdown()
	if v := until(t, url, http.StatusServiceUnavailable, "connection to NATS is lost"); len(v.Problems) != 1 {
		t.Errorf("the problems are %q", v.Problems)
	}
	awaitMetrics(t, url, "player_fleet_nats_connected 0")
	if natsServer, err = startServer(address, dir, ""); err != nil {
		t.Fatal(err)
	}
	until(t, url, http.StatusOK, `"well":true`)
	awaitMetrics(t, url, "player_fleet_nats_reconnects_total 1", "player_fleet_well 1")
	if _, _, body := get(t, url+"/metrics"); strings.Contains(body, "player_fleet_server_") {
		t.Error("a bridge has metrics of a server of NATS that is not in it")
	}
}

// Faults on the connection to NATS are counted: messages that were dropped because
// the program is too slow, and missing rights.
func TestTroubles(t *testing.T) {
	t.Parallel()
	natsServer := startNATS(t, &server.Options{Users: []*server.User{
		{Username: "bridge", Password: "secret", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"forbidden"}}}},
	}})
	var o observer
	conn := must.Get(connect(options{access: access{nats: "nats://bridge:secret@" + natsServer.Addr().String()}}, zap.NewNop(), &o.troubles))(t)
	t.Cleanup(conn.Close)
	o.conn = conn
	must.Get(conn.ChanSubscribe("flood", make(chan *nats.Msg, 1)))(t) // nobody reads it
	for _, subject := range []string{"flood", "flood", "flood", "forbidden"} {
		must.Do(t, conn.Publish(subject, nil))
	}
	var c connection
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	waiting.Until(t, "trouble", func() bool {
		c = o.connection(ctx)
		return c.dropped > 0 && c.errors > 0
	})
	if c.dropped != 1 || c.errors != 1 || !c.connected || c.rtt <= 0 || c.out != 4 || c.in == 0 {
		t.Errorf("the connection: %+v", c)
	}
}

// JetStream in the program ends when the disk is full.
func TestObservedJetStream(t *testing.T) {
	t.Parallel()
	natsServer := startEmbedded(t)
	o := observer{server: natsServer}
	if s := o.embedded(); s.off || s.most <= 0 {
		t.Errorf("the server: %+v", s)
	}
	must.Do(t, natsServer.DisableJetStream())
	seen := everyMetric()
	seen.server = o.embedded()
	if problems := seen.problems(); len(problems) != 1 || !strings.Contains(problems[0], "disk") {
		t.Errorf("the problems are %q", problems)
	}
	if text := string(seen.metrics()); !strings.Contains(text, "player_fleet_server_jetstream 0\n") || !strings.Contains(text, "player_fleet_well 0\n") {
		t.Errorf("the metrics are\n%s", text)
	}
}

// A bridge that starts, or hangs, is not well.
func TestObservedBeforeItServes(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody has answered in time
	o := observer{reports: make(chan chan<- hub.Report)}
	seen := observation{report: o.ask(ctx), connection: connection{connected: true, rtt: time.Millisecond}}
	if v := seen.verdict(); v.Well || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], "starts") {
		t.Errorf("the verdict is %+v", v)
	}
	if text := string(seen.metrics()); !strings.Contains(text, "player_fleet_well 0\n") || strings.Contains(text, "robot") {
		t.Errorf("the metrics are\n%s", text)
	}
}
