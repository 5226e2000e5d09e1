package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"player/client"
	"player/codec"
	"player/e2e/must"
	"player/e2e/waiting"
)

// Bad input about devices without letters: each has a clear answer, and the client and the other devices go on.

// awaitNew reads rounds until a device has new data.
func awaitNew(t *testing.T, c *client.Client, device byte) {
	t.Helper()
	for limit := 0; limit < 100; limit++ {
		must.Do(t, c.Read(t.Context()))
		if c.New(device) {
			return
		}
	}
	t.Fatalf("nothing comes from device %q", device)
}

// dialGo connects a Go client that has the odometry.
func dialGo(t *testing.T, address string) *client.Client {
	t.Helper()
	c := must.Get(client.Dial(t.Context(), address))(t)
	t.Cleanup(func() { c.Close() })
	must.Do(t, c.Request(t.Context(), "pr"))
	awaitNew(t, c, codec.Position)
	return c
}

// A byte that no device has had is refused, and commands and configurations to it have no effect.
func TestUnknownByte(t *testing.T) {
	t.Parallel()
	p := start(t, "-stage", room).dial(t)
	p.request("pr")
	for _, pairs := range []string{"\xC8r", "\xFFa", "\x01w"} {
		p.message('c', pairs[0], 1, 2, 3)
		p.message('x', pairs[0], 1, 2, 3)
		if reply := p.request(pairs); reply != pairs[:1]+"e" {
			t.Errorf("reply %q to %q", reply, pairs)
		}
	}
	if reply := p.request("\xC8rsr"); reply != "\xC8esr" {
		t.Errorf("reply %q", reply)
	}
	p.position()
	p.sonar()
}

// A device that went with a reload is refused with its name until another reload brings it back, with the byte that it had.
// Its clients are disconnected, other clients stay.
func TestDeviceThatWentWithAReload(t *testing.T) {
	t.Parallel()
	const wheels = "driver ( name \"testpattern\" provides [\"position:0\"] )\n"
	const lasers = "driver ( name \"testpattern\" provides [\"laser:1\"] )\n"
	s := startFile(t, launch{}, wheels+lasers)
	stays, c := dialGo(t, s.address), dialGo(t, s.address)
	code := must.Get(c.Open(t.Context(), "laser:1", codec.AccessRead, nil))(t)
	awaitNew(t, c, code)
	s.reload(t, wheels)
	awaitNew(t, stays, codec.Position)
	waiting.Until(t, "the end of the connection", func() bool { return c.Read(t.Context()) != nil })

	p := s.dial(t)
	request := string([]byte{code, codec.AccessRead})
	if reply := p.request(request); reply != string([]byte{code, codec.AccessError}) {
		t.Errorf("reply %q", reply)
	}
	if lines := p.ask(codec.QuestionRefusals); len(lines) != 1 || !strings.HasPrefix(lines[0], "laser:1 missing ") {
		t.Errorf("reasons %q", lines)
	}
	s.reload(t, wheels+lasers)
	if reply := p.request(request); reply != request {
		t.Errorf("reply %q", reply)
	}
	p.payload(code)
	awaitNew(t, stays, codec.Position)
}

// A robot with more devices than bytes is refused, by the server and by player check; one with a hundred works.
func TestThreeHundredDevices(t *testing.T) {
	t.Parallel()
	config := func(n int) string {
		text := "driver ( name \"testpattern\" provides [\"position:0\"] )\n"
		for i := range n {
			kind := []string{"io", "imu", "gps"}[i/100]
			text += fmt.Sprintf("driver ( name \"testpattern\" provides [\"%s:%d\"] )\n", kind, i%100)
		}
		return write(t, t.TempDir(), "robot.cfg", text)
	}
	if code, out, errs := uses(t, "check", config(300)); code == 0 || !strings.Contains(out+errs, "too many devices: a robot has at most") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	c := dialGo(t, start(t, config(100)).address)
	seen := map[byte]bool{}
	for i := range 100 {
		seen[must.Get(c.Open(t.Context(), fmt.Sprintf("io:%d", i), codec.AccessRead, nil))(t)] = true
	}
	for device := range seen {
		awaitNew(t, c, device)
	}
	if len(seen) != 100 {
		t.Errorf("%d bytes", len(seen))
	}
}

// A ranger cannot have 100,000 readings: configurations say how many it can have, worlds warn, and a plugin that sends
// more is stopped with a line in the log. The robot drives on.
func TestRangerOfManyReadings(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "robot.cfg", "driver ( name \"testpattern\" ranger_readings 100000 )\n")
	if code, out, errs := uses(t, "check", file); code == 0 || !strings.Contains(out+errs, "8192") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	dir := t.TempDir()
	plugin := write(t, dir, "many.py", `#!/usr/bin/env python3
import struct, sys, time
sys.stdout.buffer.write(struct.pack(">cH", b"\x80", 60002) + struct.pack(">H", 1) + bytes(60000))
sys.stdout.flush()
time.sleep(60)
`)
	s := start(t, write(t, dir, "robot.cfg", fmt.Sprintf(
		"driver ( name \"testpattern\" provides [\"position:0\"] )\ndriver ( name \"many\" plugin %q provides [\"ranger:0\"] )\n", plugin)))
	c := dialGo(t, s.address)
	_, err := c.Open(t.Context(), "ranger:0", codec.AccessRead, nil)
	if refused, ok := errors.AsType[*client.AccessError](err); !ok || !strings.Contains(refused.Devices[0].Reason(), "60002") {
		t.Errorf("%v", err)
	}
	awaitNew(t, c, codec.Position)
}

// A driver may have another number of readings from one moment to the next. Each client gets each size, and records and
// their tables lose nothing.
func TestReadingsChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plugin := write(t, dir, "changes.py", `#!/usr/bin/env python3
import struct, sys, time
n = 0
while True:
    n = n % 5 + 1
    line = f"ranger:0 0 {n} 0 0 0 1 0 8000 0"
    sys.stdout.buffer.write(struct.pack(">cHc", b"Y", len(line) + 1, b"r") + line.encode())
    sys.stdout.buffer.write(struct.pack(">cHH", b"\x80", 2 + 2 * n, 1) + struct.pack(f">{n}H", *range(1, n + 1)))
    sys.stdout.flush()
    time.sleep(0.05)
`)
	s := start(t, write(t, dir, "robot.cfg", fmt.Sprintf(
		"driver ( name \"testpattern\" provides [\"position:0\"] )\ndriver ( name \"changes\" plugin %q provides [\"ranger:0\"] )\n", plugin)))
	c := dialGo(t, s.address)
	must.Do(t, c.SetFrequency(50))
	var data codec.RangerData
	code := must.Get(c.Open(t.Context(), "ranger:0", codec.AccessRead, &data))(t)
	sizes := map[int]bool{}
	waiting.Until(t, "all sizes", func() bool {
		awaitNew(t, c, code)
		for i, r := range data.Ranges {
			if int(r) != i+1 {
				t.Fatalf("ranges %d", data.Ranges)
			}
		}
		sizes[len(data.Ranges)] = true
		return len(sizes) == 5
	})
	rays := must.Get(c.Rays(t.Context()))(t)
	if len(rays) != 1 || rays[0].Count < 1 || rays[0].Count > 5 {
		t.Errorf("rays %+v", rays)
	}
	log := filepath.Join(dir, "log.mcap")
	recording := startTool(t, nil, "record", s.address, "ranger", "-o", log, "-for", "2s")
	if code := recording.Code(t); code != 0 {
		t.Fatalf("exit %d, %s", code, recording.errors)
	}
	tables := filepath.Join(dir, "tables") + "/"
	if code, _, errs := uses(t, "export", log, tables); code != 0 {
		t.Fatalf("exit %d, %s", code, errs)
	}
	rows := map[int]bool{}
	for line := range strings.Lines(string(must.Get(os.ReadFile(filepath.Join(tables, "ranger.csv")))(t))) {
		fields := strings.Split(strings.TrimSpace(line), ",")[3:]
		n := 0
		for n < len(fields) && fields[n] == strconv.Itoa(n+1) {
			n++
		}
		if fields[0] != "range0" && strings.Join(fields[n:], "") != "" {
			t.Errorf("row %q", line)
		}
		rows[n] = true
	}
	if len(rows) != 6 { // with that of the names
		t.Errorf("rows of %v readings", rows)
	}
}
