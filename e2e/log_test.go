package e2e

import (
	be "encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/readlog"
	"player/devices/writelog"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/waiting"
	"player/formats/logfile"
)

// readLog returns the messages of a log as "/laser payload", in order.
func readLog(t *testing.T, path string) (messages []string, damage error) {
	t.Helper()
	r := must.Get(logfile.Open(path))(t)
	defer r.Close()
	for {
		m, err := r.Next()
		if err == io.EOF {
			return messages, r.Damage()
		}
		messages = append(messages, fmt.Sprintf("%s %x", m.Channel.Topic(), m.Payload))
	}
}

// hasLogged reports whether a log exists and has at least n messages.
func hasLogged(t *testing.T, path string, n int) bool {
	if info, err := os.Stat(path); err != nil || info.Size() < 100 {
		return false
	}
	messages, _ := readLog(t, path)
	return len(messages) >= n
}

// A run is recorded, replayed, and the replay recorded: both logs have the same
// messages, byte by byte.
func TestRecordAndReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	world := must.Get(filepath.Abs(room))(t)
	first, second := filepath.Join(dir, "first.mcap"), filepath.Join(dir, "second.mcap")
	s := start(t, write(t, dir, "record.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q )
		driver ( name "writelog" file "first.mcap" requires ["position:0" "sonar:0"] )`, world)))
	if _, err := os.Stat(first); err == nil {
		t.Error("there is a log, though nobody uses the robot")
	}
	p := s.dial(t)
	p.request("pasr")
	p.drive(300, 20)
	p.message('x', 'p', 'm', 1)
	waiting.Until(t, "a log", func() bool { return hasLogged(t, first, 30) })
	seen := seenAt(p)
	p.conn.Close()
	s.Await(t, devices.LogStops)
	s.stop(t)
	recorded, damage := readLog(t, first)
	if damage != nil {
		t.Error(damage)
	}
	if !slices.Contains(recorded, seen) {
		t.Error("what the client was sent is not in the log")
	}
	for _, want := range []string{"/position/command 012c0014", "/position/configuration 6d01", "/position/command 00000000"} {
		if !slices.Contains(recorded, want) {
			t.Errorf("not in the log: %s", want)
		}
	}

	s = start(t, write(t, dir, "replay.cfg", `
		driver ( name "readlog" file "first.mcap" rate 5 )
		driver ( name "writelog" file "second.mcap" open 1 requires ["position:0" "sonar:0"] )`))
	p = s.dial(t)
	if reply := p.request("prsrlr"); reply != "prsrle" {
		t.Errorf("reply %q", reply)
	}
	s.Await(t, readlog.LogEnd)
	if got := seenAt(p); !slices.Contains(recorded, got) {
		t.Error("the client is sent what was never recorded")
	}
	s.stop(t)
	replayed, damage := readLog(t, second)
	if damage != nil {
		t.Error(damage)
	}
	recorded = slices.DeleteFunc(recorded, func(m string) bool { return strings.HasPrefix(m, "/position/") })
	if !slices.Equal(recorded, replayed) {
		t.Errorf("%d messages were recorded, %d replayed", len(recorded), len(replayed))
	}
}

func TestReplayStepByStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, write(t, dir, "record.cfg", `
		driver ( name "testpattern" rate 50 )
		driver ( name "writelog" file "run.mcap" open 1 requires ["position:0" "sonar:0"] )`))
	path := filepath.Join(dir, "run.mcap")
	waiting.Until(t, "a log", func() bool { return hasLogged(t, path, 20) })
	s.stop(t)

	s = start(t, write(t, dir, "replay.cfg", `driver ( name "readlog" file "run.mcap" step 1 )`))
	p := s.dial(t)
	p.message('x', 'y', 'n', 1) // only what is new
	p.message('x', 'y', 'f', 0, 100)
	if reply := p.request("pr"); reply != "pr" {
		t.Fatal(reply)
	}
	last := -1 // ms
	for range 5 {
		p.message('x', 'p', 's')
		letter, payload := p.block()
		var d codec.PositionData
		if err := d.Decode(payload); err != nil || letter != 'p' || int(d.Time) <= last {
			t.Fatalf("block %c: %+v after %d ms, %v", letter, d, last, err)
		}
		last = int(d.Time)
	}
	p.message('d', 'r') // nothing comes by itself
	if letter, _ := p.block(); letter != 'r' {
		t.Errorf("block %c without a step", letter)
	}
}

// A server that is killed, at any moment, leaves logs that can be read up to their
// last chunk, even while it begins a new file, and repaired.
func TestLogOfAKilledServer(t *testing.T) {
	t.Parallel()
	kills := 2
	if acceptance.Wanted() {
		kills = 12
	}
	for i := range kills {
		rate := []int{300, 2500}[i%2] // the second fills a file in half a second
		dir := t.TempDir()
		path := filepath.Join(dir, "run.mcap")
		s := start(t, write(t, dir, "record.cfg", fmt.Sprintf(`
			driver ( name "testpattern" rate %d )
			driver ( name "writelog" file "run.mcap" max_size 1 open 1 requires ["position:0" "laser:0"] )`, rate)))
		waiting.Until(t, "a log", func() bool { return hasLogged(t, path, 1) })
		time.Sleep(time.Duration(rand.IntN(int(800 * time.Millisecond)))) // any moment will do
		s.kill(t)
		files := []string{path}
		for n := 1; n < 8; n++ { // the oldest comes first
			files = slices.Insert(files, 0, filepath.Join(dir, fmt.Sprintf("run.%d.mcap", n)))
		}
		last, lost := uint32(0), 0
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.Size() < 8 { // not there, or just begun
				continue
			}
			messages, damage := readLog(t, file)
			if closed := damage == nil; !closed && file != path && !errors.Is(damage, logfile.ErrCut) {
				t.Errorf("%s: %v", file, damage)
			}
			if len(messages) == 0 {
				lost++
			}
			for _, m := range messages {
				last = checkMessage(t, m, last)
			}
			if len(messages) == 0 {
				continue
			}
			if out, err := exec.Command(binary, "repair", file).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if again, damage := readLog(t, file); damage != nil || !slices.Equal(again, messages) {
				t.Errorf("%s, repaired: %d messages of %d, %v", file, len(again), len(messages), damage)
			}
		}
		if lost > 1 || last == 0 {
			t.Errorf("round %d: %d logs are empty, the last message is of %d ms", i, lost, last)
		}
	}
}

// checkMessage checks that a message of the test pattern is whole and, if it is a
// position, not older than the last one. It returns the time of the last position
// in ms.
func checkMessage(t *testing.T, m string, last uint32) uint32 {
	t.Helper()
	topic, payload, _ := strings.Cut(m, " ")
	switch topic {
	case "/position":
		var d codec.PositionData
		if err := d.Decode(unhex(t, payload)); err != nil || d.Time < last || d.Time > last+1000 {
			t.Fatalf("position of %d ms after %d ms, %v", d.Time, last, err)
		}
		return d.Time
	case "/laser":
		if scan := unhex(t, payload); len(scan) != codec.LaserSize || be.BigEndian.Uint16(scan[720:]) != 2360 {
			t.Fatal("a damaged scan")
		}
	}
	return last
}

func unhex(t *testing.T, text string) (b []byte) {
	t.Helper()
	must.Get(fmt.Sscanf(text, "%x", &b))(t)
	return b
}

// When the disk is full, recording ends with one line in the log. The robot goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := filepath.Join(dir, "disk")
	must.Do(t, os.Mkdir(disk, 0o755))
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=512k"); err != nil {
		needs.Missing(t, "a full disk needs a mount: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := start(t, write(t, dir, "record.cfg", `
		driver ( name "testpattern" rate 500 )
		driver ( name "writelog" file "disk/run.mcap" open 1 requires ["laser:0"] )`), "-http", "127.0.0.1:0")
	page, file := s.dashboard(t), filepath.Join(disk, "run.mcap")
	has := func(path, text string) bool {
		reply := must.Get(http.Get(page + path))(t)
		defer reply.Body.Close()
		body := must.Get(io.ReadAll(reply.Body))(t)
		return strings.Contains(reply.Status+string(body), text)
	}
	p := s.dial(t)
	p.request("prlr")
	s.Await(t, writelog.LogStopped)
	for range 5 {
		if got := p.frame(2); got != "p21 l722" {
			t.Fatalf("frame %s", got)
		}
	}
	for path, text := range map[string]string{
		"healthz":                "503",
		"status":                 `"` + file + `":{"state":"failed","error":"write ` + file + `: no space left on device"`,
		"metrics":                `player_recorder_well{robot="` + strings.TrimPrefix(s.address, "127.0.0.1:") + `",file="` + file + `"} 0`,
		"run?robot=" + s.address: "no space left",
	} {
		if !has(path, text) {
			t.Errorf("/%s does not say %s", path, text)
		}
	}
	if got := says(t, newVisitor(page, "127.0.0.1").socket(t, "presence", ""), "", "trouble"); !strings.Contains(got, `"trouble":["recorder failed"]`) {
		t.Errorf("the page is sent %s", got)
	}
	if n := strings.Count(s.Output.String(), `"level":"error"`); n != 1 || !strings.Contains(s.Output.String(), "no space left on device") {
		t.Errorf("%d errors in the log", n)
	}
	messages, damage := readLog(t, filepath.Join(disk, "run.mcap"))
	if len(messages) < 300 || damage == nil {
		t.Errorf("%d messages, %v", len(messages), damage)
	}
	s.stop(t)
}

// The recorder of a robot on another port adds no robot of its own.
func TestRecordAnotherRobot(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(binary, "check", write(t, t.TempDir(), "two.cfg", `
		driver ( name "writelog" file "run.mcap" requires ["7001:sonar:0"] )
		driver ( name "testpattern" provides ["7001:sonar:0"] )`)).CombinedOutput()
	if err != nil || strings.Count(string(out), "robot on port") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}

// seenAt returns the next position that the client gets, in the format of readLog.
func seenAt(p *peer) string {
	d := p.position()
	return fmt.Sprintf("/position %x", d.Append(nil))
}
