package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"player/e2e/must"
	"player/e2e/npm"
	"player/e2e/ports"
	"player/e2e/waiting"
	"player/fleet/bridge"
	"player/fleet/schematest"
)

// strict returns a function that checks messages by a schema that is shipped.
func strict(t *testing.T, name string) (valid func([]byte) error) {
	t.Helper()
	text := must.Get(bridge.Schema(name))(t)
	return schematest.CompileStrict(t, text)
}

// A robot is driven by requests that are JSON, without headers. The messages fit the
// schemas.
func TestJSON(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	measured := a.watch(t)
	answered := strict(t, "answer")
	ask := func(last, format string, args ...any) (r reply) {
		t.Helper()
		body := fmt.Sprintf(format, args...)
		var m *nats.Msg
		waiting.Until(t, "answer to "+body, func() (ok bool) {
			var err error
			m, err = conn.Request("player.lab.a."+last, []byte(body), patience)
			return err == nil
		})
		if err := answered(m.Data); err != nil {
			t.Errorf("%s %s is answered %s: %v", last, body, m.Data, err)
		}
		must.Do(t, json.Unmarshal(m.Data, &r))
		return r
	}
	obeyed := func(last, format string, args ...any) {
		t.Helper()
		if r := ask(last, format, args...); !r.OK {
			t.Errorf("%s "+format+": %+v", append(append([]any{last}, args...), r)...)
		}
	}
	token := ask("position.0.lease", `{"holder":"alice"}`).Token
	stop := keep(t, conn, lease, token)
	obeyed("position.0.command", `{"speed":200,"turn":0,"token":%q}`, token)
	waiting.Until(t, "movement", func() bool { return measured() > 0 })
	if r := ask("position.0.lease", `{"token":%q}`, token); r.Token != token || r.Holder != "alice" {
		t.Errorf("a renewal: %+v", r)
	}
	for _, bad := range []string{`{"speed":200,"turn":0}`, `{"speed":200,"token":%q}`, `{"speed":1,"turn":0,"spin":1,"token":%q}`} {
		if r := ask("position.0.command", bad, token); r.OK || r.Error == "" {
			t.Errorf("%s: %+v", bad, r)
		}
	}
	stop()
	obeyed("position.0.lease", `{"token":%q,"release":true}`, token)
	waiting.Until(t, "stop of the robot", func() bool { return measured() == 0 })

	camera := ask("ptz.0.lease", `{}`).Token
	defer keep(t, conn, "player.lab.a.ptz.0.lease", camera)()
	obeyed("ptz.0.command", `{"pan":10,"tilt":5,"zoom":100,"token":%q}`, camera)
	claw := ask("gripper.0.lease", "bob").Token
	defer keep(t, conn, "player.lab.a.gripper.0.lease", claw)()
	obeyed("gripper.0.command", `{"command":"close","token":%q}`, claw)
	obeyed("position.0.config", `{"reset_odometry":true}`)
	obeyed("stop", "")
	obeyed("release", "")
	if r := ask("sonar.0.rate", `{"hz":25}`); r.Rate != 25 {
		t.Errorf("a rate: %+v", r)
	}

	data, status := strict(t, "data"), strict(t, "status")
	json, statuses := subscribe(t, conn, "player.lab.a.*.0.json"), subscribe(t, conn, "player.lab.a.status")
	seen := map[string]bool{}
	for len(seen) < 7 {
		m := next(t, json)
		seen[m.Subject] = true
		if err := data(m.Data); err != nil {
			t.Errorf("%s: %s: %v", m.Subject, m.Data, err)
		}
	}
	m, err := statuses.NextMsg(patience)
	if err == nil {
		err = status(m.Data)
	}
	if err != nil {
		t.Errorf("a status: %v", err)
	}
}

// listeners starts a server of NATS that speaks MQTT and WebSocket at these addresses.
func listeners(t *testing.T) (s *server.Server, topics, web string) {
	t.Helper()
	topics, web = fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1)), fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1))
	return documented(t, "listeners.conf", "/var/lib/nats", t.TempDir(), "127.0.0.1:4222", "127.0.0.1:-1", "127.0.0.1:1883", topics, "127.0.0.1:8081", web), topics, web
}

// npm's client of NATS drives a robot by a WebSocket, as a page in a browser does.
func TestWebSocket(t *testing.T) {
	t.Parallel()
	program := npm.Install(t, "examples/websocket")
	a := startRobot(t, "a")
	s, _, web := listeners(t)
	startFleet(t, []robot{a}, "-nats", s.ClientURL())
	if said := npm.Node(t, program, "drive.js", "ws://"+web, "lab", "a"); !slices.Equal(said, []string{"it moves", `{"ok":true}`}) {
		t.Errorf("the program says %q", said)
	}
	waiting.Until(t, "end of the lease", func() bool { return len(a.report(t).Clients) == 0 })
}

// A client of MQTT, which has neither headers nor requests, drives a robot through a server
// of NATS.
func TestMQTT(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	s, topics, _ := listeners(t)
	_, conn := startFleet(t, []robot{a}, "-nats", s.ClientURL())

	c := mqtt.NewClient(mqtt.NewClientOptions().AddBroker("tcp://" + topics).SetClientID("phone"))
	do := func(what string, token mqtt.Token) {
		t.Helper()
		if !token.WaitTimeout(patience) || token.Error() != nil {
			t.Fatalf("%s: %v", what, token.Error())
		}
	}
	do("connect", c.Connect())
	t.Cleanup(func() { c.Disconnect(0) })
	answers, positions := make(chan []byte, 16), make(chan []byte, 1024)
	into := func(to chan []byte) mqtt.MessageHandler {
		return func(_ mqtt.Client, m mqtt.Message) { to <- m.Payload() }
	}
	do("subscribe", c.Subscribe("player/lab/a/answer/phone", 0, into(answers)))
	do("subscribe", c.Subscribe("player/lab/a/position/0/json", 0, into(positions)))
	ask := func(last, format string, args ...any) (r reply) {
		t.Helper()
		for began := time.Now(); time.Since(began) < patience; { // a client of MQTT gets no answer until a bridge serves the robot
			do("publish", c.Publish("player/lab/a/position/0/"+last, 0, false, fmt.Sprintf(format, args...)))
			select {
			case text := <-answers:
				must.Do(t, json.Unmarshal(text, &r))
				return r
			case <-time.After(3 * bridge.TTL):
			}
		}
		t.Fatalf("%s is not answered", last)
		return r
	}
	token := ""
	drives := func() bool { // with a new lease if it has none, or its lease has ended
		if r := ask("command", `{"speed":100,"turn":0,"token":%q,"answer":"phone"}`, token); r.OK {
			return true
		}
		token = ask("lease", `{"holder":"phone","answer":"phone"}`).Token
		return false
	}
	waiting.Until(t, "command that is obeyed", drives)
	statusOf(t, subscribe(t, conn, "player.lab.a.status"), "holder", func(s bridge.RobotStatus) bool {
		return drives() && s.Holders["position"] == "phone"
	})
	waiting.Until(t, "movement", func() bool {
		drives()
		var p struct{ Data *struct{ Speed int } }
		must.Do(t, json.Unmarshal(<-positions, &p))
		return p.Data != nil && p.Data.Speed > 0
	})
	waiting.Until(t, "command that is obeyed", drives)
	if r := ask("lease", `{"token":%q,"release":true,"answer":"phone"}`, token); !r.OK {
		t.Errorf("the release: %+v", r)
	}
}
