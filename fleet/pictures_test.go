package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"player/e2e/must"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

// viewers returns how many watch the robot's camera, and how many pictures it has had.
func (r robot) viewers(t *testing.T, camera string) (viewers int, pictures uint64) {
	t.Helper()
	reply := must.Get(http.Get("http://" + r.page + "/status"))(t)
	defer reply.Body.Close()
	var all struct {
		Cameras map[string]struct {
			Viewers  int
			Pictures uint64
		}
	}
	must.Do(t, json.NewDecoder(reply.Body).Decode(&all))
	return all.Cameras[camera].Viewers, all.Cameras[camera].Pictures
}

// simulated is the camera of a simulated robot.
func (r robot) simulated() string {
	return "simulated-" + r.address[strings.LastIndexByte(r.address, ':')+1:]
}

// Pictures come while a program asks for them and listens, whole, at the rate that is asked for.
func TestPictures(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	a.about = " page=http://" + a.page + "/"
	camera := a.simulated()
	_, conn := startFleet(t, []robot{a, startRobot(t, "b")})
	rate, picture := bridge.CameraSubject("lab", "a", camera, bridge.Rate), bridge.CameraSubject("lab", "a", camera, bridge.Picture)
	if want := "player.lab.a.camera." + camera + ".picture"; picture != want {
		t.Fatalf("%s, want %s", picture, want)
	}
	sub := subscribe(t, conn, "player.lab.*.camera.*.picture")
	for _, tt := range []struct{ subject, body, want string }{
		{"player.lab.a.camera.rear.rate", "2", `no camera "rear"; there is ` + camera},
		{"player.lab.a.camera.0.rate", "2", `no camera "0"`},
		{"player.lab.b.camera.front.rate", "2", "-robot b=" + "127.0.0.1"},
		{rate, "0", "must be 1 to"},
		{rate, "fast", "not a number"},
	} {
		if r := request(t, conn, tt.subject, "", []byte(tt.body)); !strings.Contains(r.Error, tt.want) {
			t.Errorf("%s of %s: %+v, want %s", tt.subject, tt.body, r, tt.want)
		}
	}
	if viewers, pictures := a.viewers(t, camera); viewers+int(pictures) != 0 {
		t.Errorf("nobody asks: %d watch, %d pictures", viewers, pictures)
	}
	for body, want := range map[string]int{`{"hz":100}`: bridge.MaxPictures, "4": bridge.MaxPictures} { // in any order
		if r := request(t, conn, rate, "", []byte(body)); r.Error != "" || r.Rate != want && r.Rate != 4 {
			t.Errorf("asked for %s: %+v", body, r)
		}
	}
	var before uint64
	for range 3 {
		m := next(t, sub)
		if size, err := jpeg.DecodeConfig(bytes.NewReader(m.Data)); err != nil || size.Width != 320 || m.Subject != picture {
			t.Fatalf("%s: %d bytes: %v", m.Subject, len(m.Data), err)
		}
		var sequence uint64
		if _, err := fmt.Sscan(m.Header.Get(bridge.HeaderSequence), &sequence); err != nil || sequence <= before {
			t.Errorf("sequence %d after %d: %v", sequence, before, err)
		}
		before = sequence
		taken, err := time.Parse(time.RFC3339Nano, m.Header.Get(bridge.HeaderTime))
		if err != nil || time.Since(taken).Abs() > time.Minute || m.Header.Get(bridge.HeaderAge) == "" || m.Header.Get(bridge.HeaderSchema) != "player.picture" {
			t.Errorf("%v: %v", m.Header, err)
		}
	}
	// A program that still asks gets the robot no viewer while there is no listener.
	must.Do(t, sub.Unsubscribe())
	waiting.Until(t, "end of watching", func() bool {
		n, before := a.viewers(t, camera)
		time.Sleep(300 * time.Millisecond)
		_, after := a.viewers(t, camera)
		return n == 0 && before == after
	})
	if r := request(t, conn, rate, "", []byte("4")); r.Rate == 0 {
		t.Errorf("asked again: %+v", r)
	}
	next(t, subscribe(t, conn, picture))
}

// Pictures that NATS does not carry are not sent, and the asking program learns why. The same holds
// for pictures that the robot's dashboard refuses the bridge.
func TestPicturesRefused(t *testing.T) {
	t.Parallel()
	small := startNATS(t, &server.Options{JetStream: true, StoreDir: t.TempDir(), MaxPayload: 2000})
	a, b := startRobot(t, "a"), newRobot(t, "b")
	config := filepath.Join(t.TempDir(), "robot.cfg")
	text := `driver ( name "testpattern" ) camera ( name "front" command ["sleep" "1000"] ) access ( allow "read" from ["127.0.0.9"] )`
	must.Do(t, os.WriteFile(config, []byte(text), 0o600))
	start(t, player, "-bind", "127.0.0.1", "-gp", b.address[strings.LastIndexByte(b.address, ':')+1:], "-http", b.page, config)
	a.about, b.about = " page=http://"+a.page+"/", " page=http://"+b.page+"/"
	_, conn := startFleet(t, []robot{a, b}, "-nats", small.ClientURL())
	rate := bridge.CameraSubject("lab", "a", a.simulated(), bridge.Rate)
	pictures := subscribe(t, conn, "player.lab.*.camera.*.picture")
	waiting.Until(t, "refusal", func() bool { return strings.Contains(request(t, conn, rate, "", []byte("2")).Error, "max_payload") })
	if r := request(t, conn, "player.lab.b.camera.front.rate", "", []byte("2")); !strings.Contains(r.Error, "403") || !strings.Contains(r.Error, "does not allow") {
		t.Errorf("a bridge that may not read: %+v", r)
	}
	for {
		m, err := pictures.NextMsg(10 * time.Millisecond)
		if err != nil {
			break
		}
		if len(m.Data) > 0 {
			t.Errorf("%s: %d bytes", m.Subject, len(m.Data))
		}
	}
}
