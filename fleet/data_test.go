package main

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

func TestData(t *testing.T) {
	t.Parallel()
	robots := []robot{startRobot(t, "a"), startRobot(t, "b")}
	_, conn := startFleet(t, robots)

	wild := subscribe(t, conn, "player.lab.*.sonar.0.data")
	seen := map[string]bool{}
	for len(seen) < 2 {
		m := next(t, wild)
		seen[m.Subject] = true
		if len(m.Data) != codec.SonarSize || m.Header.Get(bridge.HeaderSchema) != "player.sonar" ||
			m.Header.Get(bridge.HeaderAge) == "" || m.Header.Get(bridge.HeaderSequence) == "" {
			t.Fatalf("%s: %d bytes, headers %v", m.Subject, len(m.Data), m.Header)
		}
		if at, err := time.Parse(time.RFC3339Nano, m.Header.Get(bridge.HeaderTime)); err != nil || time.Since(at).Abs() > time.Minute {
			t.Fatalf("measured at %v: %v", at, err)
		}
	}
	if !seen["player.lab.a.sonar.0.data"] || !seen["player.lab.b.sonar.0.data"] {
		t.Errorf("data of %v", seen)
	}

	// All devices of one robot, in both forms.
	all := subscribe(t, conn, "player.lab.b.>")
	binaries, texts := map[string][]byte{}, map[string]bool{}
	for len(texts) < 7 {
		m := next(t, all)
		key := m.Header.Get(bridge.HeaderSchema) + " " + m.Header.Get(bridge.HeaderSequence)
		if strings.HasSuffix(m.Subject, "."+bridge.Data) {
			binaries[key] = m.Data
			continue
		}
		payload := binaries[key]
		if payload == nil {
			continue
		}
		var j struct {
			Schema string
			Data   struct{ Ranges []int }
		}
		if err := json.Unmarshal(m.Data, &j); err != nil || !strings.HasPrefix(key, j.Schema+" ") {
			t.Fatalf("%s: %s, %v", m.Subject, m.Data, err)
		}
		texts[j.Schema] = true
		for i, mm := range j.Data.Ranges {
			if want := int(binary.BigEndian.Uint16(payload[2*i:])); mm != want {
				t.Fatalf("%s: range %d is %d in JSON and %d in the payload", m.Subject, i, mm, want)
			}
		}
	}

	status := subscribe(t, conn, "player.lab.*.status")
	waiting.Until(t, "status of a robot that is read", func() bool {
		m := must.Get(status.NextMsg(patience))(t)
		var s struct {
			Robot     string
			Connected bool
			Reading   []string
		}
		must.Do(t, json.Unmarshal(m.Data, &s))
		return s.Robot == "a" && s.Connected && slices.Equal(s.Reading, []string{"sonar"})
	})
}

func TestOnlyWhatSomebodyListensToIsRead(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	reads := func(devices string) func() bool {
		return func() bool {
			clients := a.report(t).Clients
			// A listener to the status causes a connection that opens nothing.
			clients = slices.DeleteFunc(clients, func(c visitor) bool { return len(c.Devices) == 0 })
			if devices == "" || len(clients) == 0 {
				return len(clients) == 0 && devices == ""
			}
			var open []string
			for letter, access := range clients[0].Devices {
				if access == "r" {
					open = append(open, letter)
				}
			}
			slices.Sort(open)
			return len(clients) == 1 && strings.Join(open, "") == devices && clients[0].Name == "fleet lab"
		}
	}
	status := subscribe(t, conn, "player.lab.a.status")
	for range 2 { // a round has found nobody
		must.Get(status.NextMsg(patience))(t)
	}
	if !reads("")() {
		t.Fatalf("nobody listens, and the robot has clients: %+v", a.report(t))
	}
	sonar := subscribe(t, conn, "player.lab.a.sonar.0.data")
	waiting.Until(t, "reading of sonar", reads("sy"))
	next(t, sonar)
	laser := subscribe(t, conn, "player.*.*.laser.*.json")
	waiting.Until(t, "reading of sonar and laser", reads("lsy"))
	next(t, laser)
	must.Do(t, sonar.Unsubscribe())
	waiting.Until(t, "reading of laser", reads("ly"))
	must.Do(t, laser.Unsubscribe())
	waiting.Until(t, "end of reading", reads(""))
}

func TestRateOfTheFastest(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	subscribe(t, conn, "player.lab.a.sonar.0.data")
	rate := func(want float64) func() bool {
		return func() bool {
			clients := a.report(t).Clients
			return len(clients) == 1 && clients[0].Rate == want
		}
	}
	waiting.Until(t, "default rate", rate(bridge.DefaultRate))
	const subject = "player.lab.a.sonar.0.rate"
	if r := request(t, conn, subject, "", []byte("25")); r.Rate != 25 {
		t.Errorf("asked for 25 Hz: %+v", r)
	}
	if r := request(t, conn, subject, "", []byte("5")); r.Rate != 25 {
		t.Errorf("somebody else asked for 5 Hz: %+v", r)
	}
	waiting.Until(t, "rate of 25 Hz", rate(25))
	for _, body := range []string{"", "0", "1001", "fast"} {
		if r := request(t, conn, subject, "", []byte(body)); r.Error == "" {
			t.Errorf("a rate of %q is accepted", body)
		}
	}
	waiting.Until(t, "rate of 5 Hz or the default, after the requests have expired", func() bool { return rate(5)() || rate(bridge.DefaultRate)() })
}

// A robot whose server restarts is read and commanded again.
func TestRobotRestarts(t *testing.T) {
	t.Parallel()
	a := newRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	status := subscribe(t, conn, "player.lab.a.status")
	sonar := subscribe(t, conn, "player.lab.a.sonar.0.data")
	unreachable := func() bool {
		m := must.Get(status.NextMsg(patience))(t)
		var s struct {
			Connected bool
			Error     string
		}
		must.Do(t, json.Unmarshal(m.Data, &s))
		return !s.Connected && s.Error != ""
	}
	waiting.Until(t, "status of a robot that cannot be reached", unreachable)
	if r := request(t, conn, lease, "", []byte("alice")); r.Error == "" || r.Token != "" {
		t.Errorf("the lease of a robot that cannot be reached: %+v", r)
	}
	first := a.serve(t)
	next(t, sonar)
	token := acquire(t, conn, "alice")
	defer keep(t, conn, lease, token)()
	if r := request(t, conn, command, token, speed(100)); !r.OK {
		t.Errorf("a command: %+v", r)
	}
	first.End(t, syscall.SIGKILL)
	waiting.Until(t, "status of a robot that has gone", unreachable)
	if r := request(t, conn, command, token, speed(100)); r.Error == "" {
		t.Errorf("a command to a robot that has gone: %+v", r)
	}
	a.serve(t)
	for {
		if _, err := sonar.NextMsg(time.Nanosecond); err != nil {
			break // the data of before is taken
		}
	}
	next(t, sonar)
	waiting.Until(t, "command after the restart", func() bool { return request(t, conn, command, token, speed(100)).OK })
}
