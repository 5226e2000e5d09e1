package e2e

import (
	"context"
	le "encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"player/devices"
	"player/e2e/must"
	"player/e2e/npm"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/formats/foxglove"
	viewers "player/visitors/foxglove"
)

// viewers waits until the log has the address of the server for viewers.
func (s *server) viewers(t *testing.T) (url string) {
	t.Helper()
	line := regexp.MustCompile(`"msg":"foxglove","address":"([^"]+)"`)
	waiting.Until(t, "the address for viewers in the log", func() bool {
		match := line.FindStringSubmatch(s.Output.String())
		if match != nil {
			url = "ws://" + match[1]
		}
		return match != nil
	})
	return url
}

// A viewer made of npm's @foxglove/ws-protocol is offered everything, sees it, calls
// services, drives the robot, and stops it when it is killed.
func TestFoxglove(t *testing.T) {
	t.Parallel()
	directory := npm.Install(t, "../visitors/foxglove/viewer")
	for _, subprotocol := range foxglove.Subprotocols() {
		t.Run(subprotocol, func(t *testing.T) {
			t.Parallel()
			s := start(t, "-stage", room, "-foxglove", "127.0.0.1:0")
			p := s.dial(t) // the world stands still without clients
			p.request("prmr")
			url := s.viewers(t)
			viewer := exec.Command("node", "view.js", url, subprotocol)
			viewer.Dir = directory
			running := programs.Start(t, viewer)
			out := running.Output
			want := []string{
				"serverInfo clientPublish,parameters,parametersSubscribe,services json",
				"topic /r0/laser json foxglove.LaserScan jsonschema", "topic /r0/tf json foxglove.FrameTransform jsonschema", "topic /log json foxglove.Log jsonschema",
				"message /r0/laser timely 361", "message /r0/position timely ", "message /r0/sonar timely ", "message /r0/sonar/ranges timely 16",
				"message /r0/tf timely ", "message /r0/vision timely ", "message /r0/gripper timely ", "message /r0/misc/battery timely ", "message /log timely ",
				"service /r0/motors true true", "service /r0/reset_odometry true true", "service /r0/emergency_stop true true", "service /r0/release true true",
				`parameters set [{"name":"/r0.rate","value":20,"type":"float64"}]`, "parameters all [",
			}
			for _, line := range want {
				waiting.Until(t, line, func() bool { return strings.Contains("\n"+out.String(), "\n"+line) })
			}
			speed := func() int { return int(p.position().Speed) }
			waiting.Until(t, "motion", func() bool { return speed() > 50 })
			running.Signal(t, os.Kill)
			waiting.Until(t, "the stop", func() bool { return speed() == 0 })
			s.Await(t, viewers.LogDisconnected)
			for _, bad := range []string{"error", "closed", "ms old", "status"} {
				if strings.Contains(out.String(), "\n"+bad) || strings.Contains(out.String(), bad+"\n") {
					t.Errorf("%s in: %s", bad, out.String())
				}
			}
		})
	}
}

// A viewer sees a replayed log in the log's own time, pauses it and seeks.
func TestFoxglovePlayback(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	world := must.Get(filepath.Abs(room))(t)
	recorder := start(t, write(t, dir, "record.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q )
		driver ( name "writelog" file "run.mcap" requires ["position:0"] )`, world)))
	p := recorder.dial(t)
	p.request("pr")
	waiting.Until(t, "a log", func() bool { return hasLogged(t, filepath.Join(dir, "run.mcap"), 40) })
	p.conn.Close()
	recorder.Await(t, devices.LogStops)
	recorder.stop(t)

	s := start(t, write(t, dir, "replay.cfg", `driver ( name "readlog" file "run.mcap" )`), "-foxglove", "127.0.0.1:0")
	ws, _, err := websocket.Dial(t.Context(), s.viewers(t), &websocket.DialOptions{Subprotocols: foxglove.Subprotocols()[:1]})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	// next reads until a message comes that begins so.
	next := func(begin string) []byte {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		for {
			_, message, err := ws.Read(ctx)
			if err != nil {
				t.Fatalf("waiting for %q: %v", begin, err)
			}
			if strings.HasPrefix(string(message), begin) {
				return message
			}
		}
	}
	var info foxglove.ServerInfo
	if err := json.Unmarshal(next(`{"op":"serverInfo"`), &info); err != nil || !slices.Contains(info.Capabilities, "playbackControl") || info.DataStart >= info.DataEnd {
		t.Fatalf("%+v, %v", info, err)
	}
	var offer struct{ Channels []foxglove.Channel }
	must.Do(t, json.Unmarshal(next(`{"op":"advertise"`), &offer))
	channel := slices.IndexFunc(offer.Channels, func(c foxglove.Channel) bool { return c.Topic == "/robot/position" })
	send := func(kind websocket.MessageType, message []byte) {
		must.Do(t, ws.Write(t.Context(), kind, message))
	}
	send(websocket.MessageText, fmt.Appendf(nil, `{"op":"subscribe","subscriptions":[{"id":1,"channelId":%d}]}`, offer.Channels[channel].ID))
	// data returns when the next data was taken.
	data := func() int64 {
		at := int64(le.LittleEndian.Uint64(next("\x01")[5:]))
		if slack := int64(1e9); at < info.DataStart-slack || at > info.DataEnd {
			t.Errorf("data of %d in a log from %d to %d", at, info.DataStart, info.DataEnd)
		}
		return at
	}
	data()
	// control sends a request and returns the state that answers it.
	control := func(command byte, seek int64, id string) (state byte, at int64, sought byte) {
		request := []byte{3, command, 0, 0, 0x80, 0x3f, 0}
		if seek != 0 {
			request[6] = 1
		}
		request = le.LittleEndian.AppendUint64(request, uint64(seek))
		request = le.LittleEndian.AppendUint32(request, uint32(len(id)))
		send(websocket.MessageBinary, append(request, id...))
		for {
			if m := next("\x05"); strings.HasSuffix(string(m), id) {
				return m[1], int64(le.LittleEndian.Uint64(m[2:])), m[14]
			}
		}
	}
	if state, _, sought := control(1, 0, "pause"); state != foxglove.Paused || sought != 0 {
		t.Errorf("pause: state %d, sought %d", state, sought)
	}
	middle := (info.DataStart + info.DataEnd) / 2
	if state, at, sought := control(1, middle, "seek"); state != foxglove.Paused || at != middle || sought != 1 {
		t.Errorf("seek to %d: state %d, at %d, sought %d", middle, state, at, sought)
	}
	if state, _, _ := control(0, info.DataStart, "play"); state != foxglove.Playing {
		t.Errorf("play: state %d", state)
	}
	for data() >= middle { // that of the seek may still come
	}
	for next("\x05")[1] != foxglove.Ended { // nobody has asked
	}
}

// After a reload viewers are offered the new devices, with the new rights.
func TestFoxgloveReload(t *testing.T) {
	t.Parallel()
	const one = `driver ( name "testpattern" provides ["laser:0"] )`
	s := startFile(t, launch{}, one, "-foxglove", "127.0.0.1:0")
	url := s.viewers(t)
	// offer connects and returns the topics.
	offer := func() (topics []string, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{Subprotocols: foxglove.Subprotocols()})
		if err != nil {
			return nil, err
		}
		defer ws.CloseNow()
		ws.SetReadLimit(1 << 20)
		for {
			_, message, err := ws.Read(ctx)
			if err != nil {
				return nil, err
			}
			var offer struct {
				Op       string
				Channels []foxglove.Channel
			}
			if err := json.Unmarshal(message, &offer); err != nil {
				return nil, err
			}
			if offer.Op == "advertise" {
				for _, c := range offer.Channels {
					topics = append(topics, c.Topic)
				}
				return topics, nil
			}
		}
	}
	if topics, err := offer(); err != nil || !slices.Contains(topics, "/robot/laser") {
		t.Errorf("%q, %v", topics, err)
	}
	s.reload(t, `driver ( name "testpattern" provides ["sonar:0"] )`)
	if topics, err := offer(); err != nil || slices.Contains(topics, "/robot/laser") || !slices.Contains(topics, "/robot/sonar") {
		t.Errorf("%q, %v", topics, err)
	}
	s.reload(t, one+` access ( allow "write" from "127.0.0.1" )`)
	if topics, err := offer(); err == nil {
		t.Errorf("a viewer without the right to read is offered %q", topics)
	}
}
